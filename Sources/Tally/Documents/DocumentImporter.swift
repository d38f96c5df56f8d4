import Foundation
import LMDB
import TallyEngine

/// Compares the records of a document with a store, batch by batch; the caller may write the batches.
///
/// Memory does not grow with the document, except for two things: 16 bytes and their hashing for each record, to detect
/// duplicate ids, and the completions of existing tasks that come before the tasks.
struct DocumentImporter<Source: DocumentSource & ~Copyable>: ~Copyable {
  private let options: ImportOptions
  private let observer: ImportedRecord.Observer?
  private var source: Source
  private var isAtEnd = false
  private var hasTasks = false

  private var taskIDs = ImportedIDs()
  /// The ids that appeared more than once, and how often.
  private var duplicates: [UUID: Int] = [:]
  /// The last task that the store had before the import; `.some(nil)` if it had none, `nil` until that is known.
  private var lastStored: UUID??
  private var listIDs: Set<UUID> = []
  private var filterKeys: Set<String> = []
  private var references = ListReferences()
  private var subtasks = SubtaskReferences()
  private var placement = ImportPlacement()
  private var deletions = DeletionDates()
  /// The tasks whose recurrence differs from that in the store, with the store's version.
  private var changedRules: [(old: TaskItem, new: TaskItem)] = []
  /// The series of the document that are taken as they are.
  private var takenSeries: Set<UUID> = []
  /// The completions whose tasks may still come.
  private var deferredCompletions: [Completion] = []
  private(set) var summary: ImportSummary

  init(_ source: consuming Source, options: ImportOptions, report: ImportedRecord.Observer? = nil) {
    self.source = source
    self.options = options
    observer = report
    summary = ImportSummary()
    summary.isDryRun = options.isDryRun
  }

  /// The number of bytes read so far.
  var byteCount: Int64 { source.byteCount }

  /// Reads until a batch is full or the document ends; returns `nil` after its end.
  ///
  /// - Throws: the error of the document, with its position. The importer must not be used after that.
  mutating func nextBatch(
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> ImportBatch? {
    guard !isAtEnd else { return nil }
    var batch = ImportBatch()
    while !isAtEnd, !batch.isFull { try step(&batch, in: transaction) }
    return batch
  }
}

extension DocumentImporter where Source: ~Copyable {
  /// Checks what only the whole document can show, after its last batch has been written.
  mutating func resolveSubtasks(in transaction: inout StoreWriteTransaction) throws {
    try add(subtasks.resolve(in: &transaction, isForeign: source.isForeign && !options.isStrict))
  }

  /// Changes the stored series of the tasks whose recurrence has changed, unless the document has the series itself.
  func changeSeries(in transaction: inout StoreWriteTransaction) throws {
    for (old, new) in changedRules {
      if let place = old.series, takenSeries.contains(place.id) { continue }
      try transaction.adoptImported(new, replacing: old)
    }
  }

  /// Checks what only the whole document can show, in a dry run, which has written nothing.
  mutating func checkWhole(in transaction: borrowing StoreReadTransaction) throws {
    let isTolerant = source.isForeign && !options.isStrict
    try add(subtasks.checkAllKnown(among: taskIDs, in: transaction, isForeign: isTolerant))
  }

  /// Adds the sub-tasks whose parents are not in the store to the account.
  private mutating func add(_ orphans: [(parent: String, line: Int)]) {
    for (parent, line) in orphans { summary.account.add(DocumentRemark("parent", parent), at: line) }
  }

  /// Reads one record.
  private mutating func step(
    _ batch: inout ImportBatch, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard let (record, position) = try source.next() else { return try finish(&batch) }
    batch.readCount += 1
    do {
      switch record {
      case .list(let list): try read(list, at: position, &batch, in: transaction)
      case .task(let task): try read(task, at: position, &batch, in: transaction)
      case .completion(let completion): try read(completion, &batch, in: transaction)
      case .filter(let filter): try read(filter, &batch, in: transaction)
      case .series(let series): try read(series, &batch, in: transaction)
      case .remark(let remark): try add(remark, at: position)
      }
    } catch let error as TallyError where error.position == nil && error.isOfDocument {
      // The errors of values do not contain the record's position.
      throw error.at(position)
    }
  }

  /// Adds something that was not understood to the account; a strict import fails instead.
  private mutating func add(_ remark: DocumentRemark, at position: TextPosition) throws {
    guard !options.isStrict else { throw TallyError.notUnderstood(remark).at(position) }
    summary.account.add(remark, at: position.line)
  }

  private mutating func finish(_ batch: inout ImportBatch) throws {
    try references.checkAllKnown()
    batch.completions += deferredCompletions
    deferredCompletions = []
    isAtEnd = true
  }

  private func merge(at now: Timestamp) -> ImportMerge {
    ImportMerge(overwrites: options.overwrites, exportDate: source.exportDate, now: now)
  }
}

extension DocumentImporter where Source: ~Copyable {
  private mutating func read(
    _ document: TaskDocument, at position: TextPosition, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    hasTasks = true
    var document = document
    if let remark = document.leaveOutRuleWithoutDays() { try add(remark, at: position) }
    if source.isForeign { for remark in document.leaveOutInvalid() { try add(remark, at: position) } }
    let id = try newID(of: document, at: position, in: transaction)
    let merge = merge(at: transaction.now)
    let record = try storedTask(id, in: transaction)
    let old = record?.item.shown(in: transaction.calendar.timeZone)
    let missing = source.isForeign ? document.setAsideMissingParent(as: old) : nil
    let deletion = old == nil && !options.overwrites ? try deletions.date(.task, id, in: transaction) : nil
    let isIdentifiedByContent = document.isIdentifiedByContent
    if let deletion,
      merge.staysDeleted(
        changedAt: document.updatedAt, isIdentifiedByContent: isIdentifiedByContent, since: deletion)
    {
      summary.tasks.keptNewer += 1
      subtasks.recordDeletion(id)
      return try report(.keptDeleted, .task, id, document[.text]?.text)
    }
    let listed = try withList(document, old, &batch, in: transaction)
    var task = try listed.task(
      replacing: old, id: id, now: transaction.now, date: merge.date, in: transaction.calendar
    ) { try placement.orderAtEnd(for: $0, in: transaction) }
    let series = document.seriesValues?.series(of: task)
    if let series, document.seriesValues?.describedZone != nil {
      task.letFloat(in: series, transaction.calendar.timeZone)
    }
    let outcome = merge.outcome(of: document, &task, replacing: old)
    if outcome == .keptNewer { subtasks.hasKept = true }
    if let listID = task.listID { try references.record(listID, at: position, in: transaction) }
    subtasks.record(task, replacing: old, elsewhere: document.keptParent, missing: missing, at: position)
    placement.record(task)
    summary.tasks.count(outcome)
    try report(ImportedRecord.Outcome(rawValue: outcome.rawValue), .task, id, task.title)
    if outcome.isWritten { batch.add(task, replacing: record, at: transaction.commitSequence) }
    if outcome == .changed, let old, old.recurrence != task.recurrence { changedRules.append((old, task)) }
    if let series, let place = task.series, place.id == series.id {
      let days = document.describedDays.filter { $0 > place.occurrence }
      try read(series, leavingOut: days, &batch, in: transaction)
    }
  }

  /// The id for a task of the document; each id is given out only once.
  ///
  /// In another program's document an id may appear again. The second task then gets an id derived from it, so that
  /// neither task is lost and importing the document again changes nothing.
  private mutating func newID(
    of document: TaskDocument, at position: TextPosition,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> UUID {
    let id = document.id ?? transaction.ids.next(at: transaction.now)
    if taskIDs.insert(id) { return id }
    guard source.isForeign else { throw TallyError.duplicate("task", id) }
    try add(DocumentRemark("duplicate", id.uuidString.lowercased()), at: position)
    while true {
      let ordinal = duplicates[id, default: 1] + 1
      duplicates[id] = ordinal
      let other = UUID(namedBy: id.uuidString, "duplicate", "\(ordinal)")
      if taskIDs.insert(other) { return other }
    }
  }

  /// Reads the store's version of a task.
  ///
  /// The lookup is skipped if the id comes after all ids stored before the import, which writes no id twice.
  private mutating func storedTask(
    _ id: UUID, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> TaskRecord? {
    if lastStored == nil { lastStored = .some(try transaction.tables.tasks.lastKey(in: transaction.base)?.id) }
    guard case .some(.some(let last)) = lastStored, id.words <= last.words else { return nil }
    return try transaction.record(TaskRecord.self, id)
  }

  /// The document of a task with the id of the list that it names.
  ///
  /// The list is added if the store has none of that name. If the list was deleted here since, the task gets no list.
  private mutating func withList(
    _ document: TaskDocument, _ old: TaskItem?, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> TaskDocument {
    var document = document
    if let name = document.listName {
      let (id, isNew) = try references.id(
        ofListNamed: name, preferring: document[.listID]?.id, in: transaction)
      document[.listID] = .id(id)
      if isNew { try read(ListDocument(id: id, name: name), at: nil, &batch, in: transaction) }
    } else if let id = document[.listID]?.id, references.isDeleted(id) {
      document[.listID] = old?.listID.map { .id($0) }
    }
    return document
  }

  /// Reports a record, unless it is unchanged.
  private func report(
    _ outcome: @autoclosure () -> ImportedRecord.Outcome?, _ kind: ImportedRecord.Kind, _ id: UUID?, _ name: String?
  ) throws {
    guard let observer, let outcome = outcome() else { return }
    try observer(ImportedRecord(kind: kind, id: id, name: name ?? "", outcome: outcome))
  }

  private mutating func read(
    _ document: ListDocument, at position: TextPosition?, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let id = document.id
    guard listIDs.insert(id).inserted else { throw TallyError.duplicate("list", id) }
    let merge = merge(at: transaction.now)
    let old = try transaction.record(ListRecord.self, id)
    // A deleted list that a task needs is restored with the task.
    let isDeletable = old == nil && !options.overwrites && position != nil && !references.isAwaited(id)
    let deletion = isDeletable ? try deletions.date(.list, id, in: transaction) : nil
    if let deletion, merge.staysDeleted(changedAt: document.updatedAt, since: deletion) {
      summary.lists.keptNewer += 1
      references.recordDeletion(id)
      return try report(.keptDeleted, .list, id, document.name)
    }
    var list = try document.list(replacing: old?.item, now: transaction.now, date: merge.date) {
      try placement.listOrderAtEnd(in: transaction)
    }
    let outcome = merge.outcome(of: document, &list, replacing: old?.item)
    references.define(id)
    placement.record(list)
    summary.lists.count(outcome)
    try report(ImportedRecord.Outcome(rawValue: outcome.rawValue), .list, id, list.name)
    if outcome.isWritten { batch.lists.append(RecordChange(from: old, to: list, at: transaction.commitSequence)) }
  }

  private mutating func read(
    _ completion: Completion, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let isRecorded = try transaction.isRecorded(completion)
    summary.completions.count(isRecorded.map { $0 ? .unchanged : .changed } ?? .added)
    // If the task was completed in another list, this changes the task's own entry, which must therefore exist first.
    if completion.isTaskDeleted || hasTasks {
      batch.completions.append(completion)
    } else {
      deferredCompletions.append(completion)
    }
  }
}

extension DocumentImporter where Source: ~Copyable {
  private mutating func read(
    _ filter: SavedFilter, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard filterKeys.insert(SavedFilter.key(of: filter.name)).inserted else {
      throw TallyError(
        .malformedDocument, "Two filters of the document have the same name", remedy: "Rename or remove one of them")
    }
    let merge = merge(at: transaction.now)
    let old = try transaction.savedFilter(named: filter.name)
    let isDeletable = old == nil && !options.overwrites
    let deletion = isDeletable ? try deletions.date(ofFilterNamed: filter.name, in: transaction) : nil
    if let deletion, merge.staysDeleted(changedAt: filter.updatedAt, since: deletion) {
      summary.filters.keptNewer += 1
      return try report(.keptDeleted, .filter, nil, filter.name)
    }
    let outcome = merge.outcome(of: filter, replacing: old)
    summary.filters.count(outcome)
    try report(ImportedRecord.Outcome(rawValue: outcome.rawValue), .filter, nil, filter.name)
    if outcome.isWritten { batch.filters.append(filter) }
  }
}

extension DocumentImporter where Source: ~Copyable {
  /// Reads a series; for a person, a series is not a record of its own, so it is neither counted nor reported.
  private mutating func read(
    _ series: TaskSeries, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let old = try transaction.storedSeries(series.id)
    guard old != series, options.overwrites || old.map({ $0.updatedAt <= series.updatedAt }) ?? true else { return }
    takenSeries.insert(series.id)
    batch.series.append(series)
  }

  /// Reads the series that comes with a task in another format.
  ///
  /// It must be newer than the stored series: another program that has changed the task knows nothing of the series.
  /// The days that the document describes as tasks of their own are left out of the stored series in any case, or each
  /// would be there twice.
  private mutating func read(
    _ series: TaskSeries, leavingOut days: Set<CalendarDay>, _ batch: inout ImportBatch,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard !options.overwrites, var stored = try transaction.storedSeries(series.id),
      stored.updatedAt >= series.updatedAt
    else { return try read(series, &batch, in: transaction) }
    let skipped = days.union(stored.skippedDays).sorted()
    guard skipped != stored.skippedDays else { return }
    stored.skippedDays = skipped
    stored.touch(at: max(transaction.now, stored.updatedAt.adding(microseconds: 1)))
    batch.series.append(stored)
  }
}

extension ImportSummary.Counts {
  fileprivate mutating func count(_ outcome: MergeOutcome) {
    switch outcome {
    case .added: added += 1
    case .changed: changed += 1
    case .unchanged: unchanged += 1
    case .keptNewer: keptNewer += 1
    }
  }
}

extension TallyError {
  fileprivate static func duplicate(_ kind: String, _ id: UUID) -> TallyError {
    TallyError(
      .duplicateID, "The \(kind) \(id.uuidString.lowercased()) appears twice in the document",
      remedy: "Remove one of them, or give one another id")
  }

  /// Whether the error is caused by a value of the document, and not by the store.
  fileprivate var isOfDocument: Bool {
    ![.damagedStore, .storageFailed, .internalFault, .cancelled, .diskFull].contains(code)
  }
}

/// A batch of changes from a document: the records that differ from the stored ones, and completions.
struct ImportBatch {
  /// The most tasks in a batch: enough to write each table in key order, and few enough to fit in memory.
  private static let taskLimit = 4_096
  /// The most bytes of texts in a batch, so that a batch of long texts is full earlier.
  private static let textLimitInBytes = 1 << 22

  var lists: [RecordChange<ListRecord>] = []
  var newTasks: [TaskRecord] = []
  var changedTasks: [RecordChange<TaskRecord>] = []
  var completions: [Completion] = []
  var filters: [SavedFilter] = []
  var series: [TaskSeries] = []
  /// The number of records read, including those that need no change.
  var readCount = 0
  var textSizeInBytes = 0

  var isFull: Bool { readCount >= Self.taskLimit || textSizeInBytes >= Self.textLimitInBytes }

  /// Adds a task that is new or differs from the stored one.
  mutating func add(_ task: TaskItem, replacing old: TaskRecord?, at sequence: UInt64) {
    textSizeInBytes += task.title.utf8.count + (task.notes?.utf8.count ?? 0)
    if let old {
      changedTasks.append(RecordChange(from: old, to: task, at: sequence))
    } else {
      newTasks.append(TaskRecord(item: task, stamp: ChangeStamp(replacing: nil, at: sequence)))
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Writes a batch: lists before their tasks, and completions after them; the caller writes the counters at the end.
  mutating func apply(_ batch: ImportBatch, counting deltas: inout CounterDeltas) throws {
    for list in batch.lists { try write(list) }
    for task in batch.newTasks { try checkSendable(task.item, replacing: nil) }
    for change in batch.changedTasks { try checkSendable(change.new?.item, replacing: change.old?.item) }
    var changes = try TaskBatch(with: recordWriter, in: base)
    try changes.insert(batch.newTasks, counting: &deltas)
    for change in batch.changedTasks { try changes.add(change, counting: &deltas) }
    try write(&changes, counting: &deltas)
    for completion in batch.completions { try record(completion, counting: &deltas) }
    for filter in batch.filters { try put(filter) }
    for series in batch.series { try write(series) }
  }
}

/// One import, which may have to start again after the store's map has grown.
struct ImportSession<Source: DocumentSource & ~Copyable>: ~Copyable {
  let input: ReplayableInput
  let options: ImportOptions
  let observer: InterchangeProgress.Observer?
  /// Creates the source that reads the document.
  let source: (consuming JSONInput) throws -> Source

  /// Reads the document from its beginning, and writes it.
  func run(in transaction: inout StoreWriteTransaction) throws -> ImportSummary {
    var importer = try begin()
    var deltas = CounterDeltas()
    while let batch = try importer.nextBatch(in: transaction) {
      try transaction.apply(batch, counting: &deltas)
      try reportProgress(importer.summary, importer.byteCount)
    }
    try transaction.apply(deltas)
    try importer.resolveSubtasks(in: &transaction)
    try importer.changeSeries(in: &transaction)
    if options.mustBeUndoable, !transaction.isUndoable { throw TallyError.irreversible }
    return importer.summary
  }

  /// Reads the document without writing anything.
  func runDry(
    in transaction: borrowing StoreReadTransaction, report: ImportedRecord.Observer?
  ) throws -> ImportSummary {
    var importer = try begin(report)
    while try importer.nextBatch(in: transaction) != nil {
      try reportProgress(importer.summary, importer.byteCount)
    }
    try importer.checkWhole(in: transaction)
    return importer.summary
  }

  private func begin(_ report: ImportedRecord.Observer? = nil) throws -> DocumentImporter<SourceAhead<Source>> {
    try TallyError.checkCancellation()
    try input.rewind()
    let ahead = SourceAhead(try source(JSONInput(source: input.read)))
    return DocumentImporter(ahead, options: options, report: report)
  }

  private func reportProgress(_ summary: ImportSummary, _ byteCount: Int64) throws {
    try TallyError.checkCancellation()
    let counts = summary.tasks
    try observer?(
      InterchangeProgress(
        taskCount: counts.added + counts.changed + counts.unchanged + counts.keptNewer, totalTaskCount: nil,
        byteCount: byteCount, totalByteCount: input.byteCount))
  }
}

extension ImportSession where Source == JSONDocumentSource {
  /// Creates an import of one of Tally's own formats.
  init(
    _ input: ReplayableInput, format: InterchangeFormat, options: ImportOptions,
    observer: InterchangeProgress.Observer? = nil
  ) throws {
    var lateDate: Timestamp?
    if format == .json, !options.overwrites {
      try input.rewind()
      lateDate = try JSONDocumentSource.lateExportDate(JSONInput(source: input.read))
    }
    self.init(input: input, options: options, observer: observer) { bytes in
      JSONDocumentSource(bytes, format: format, isLenient: options.isLenient, exportDate: lateDate)
    }
  }
}

/// When tasks, lists and saved filters were deleted here, as far as the store knows.
///
/// A deletion leaves a permanent tombstone with its commit. The date of the commit is in the history, which is bounded:
/// an older deletion is known to be before the oldest entry, and counts as made then. Therefore a task that was deleted
/// long ago stays deleted and does not return by mistake; overwriting restores it. A saved filter leaves no tombstone:
/// only the history knows that it was deleted.
struct DeletionDates {
  private var hasTombstones: Bool?
  private var datesOfCommits: [UInt64: Timestamp] = [:]
  private var datesOfFilters: [ValueKey: Timestamp]?
  private var oldest: (sequence: UInt64, date: Timestamp)?

  /// The latest time at which an object may have been deleted; `nil` if it never was, or exists again.
  mutating func date(
    _ kind: ObjectKind, _ id: UUID, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Timestamp? {
    if hasTombstones == nil { try load(in: transaction) }
    guard hasTombstones == true,
      let tombstone = try transaction.tables.tombstones.value(forKey: TombstoneKey(kind, id), in: transaction.base)
    else { return nil }
    let sequence = tombstone.stamp.changed
    if let date = datesOfCommits[sequence] { return date }
    return oldest.flatMap { sequence < $0.sequence ? $0.date : nil } ?? transaction.now
  }

  /// When a saved filter that does not exist was deleted; `nil` if the history does not say.
  mutating func date(
    ofFilterNamed name: String, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Timestamp? {
    var dates = datesOfFilters ?? [:]
    if datesOfFilters == nil {
      // Newest first: the first image of a filter that does not exist belongs to its deletion.
      for entry in try transaction.historyEntries() {
        try transaction.forEachImage(of: entry.id) { key, presence, _ in
          guard presence == .present, key.kind == .value, case let key = try key.value,
            key.namespace == SavedFilter.namespace
          else { return }
          if dates[key] == nil { dates[key] = entry.date }
        }
      }
      datesOfFilters = dates
    }
    return dates[try ValueKey(SavedFilter.key(of: name), in: SavedFilter.namespace)]
  }

  private mutating func load(in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws {
    hasTombstones = try transaction.tables.tombstones.count(in: transaction.base) > 0
    guard hasTombstones == true else { return }
    for entry in try transaction.historyEntries() {
      let sequence = entry.id.sequence
      // Several writes may share a commit.
      datesOfCommits[sequence] = max(entry.date, datesOfCommits[sequence] ?? entry.date)
      oldest = (sequence, entry.date)
    }
  }
}

/// The ids of a document's tasks, to detect duplicates.
///
/// Exports have them in ascending order. Those are appended to an array, which is cheaper than hashing them.
struct ImportedIDs {
  private var ascending: [UUID] = []
  private var others: Set<UUID> = []

  /// Inserts an id; returns false if it is present already.
  mutating func insert(_ id: UUID) -> Bool {
    if let last = ascending.last, id.words <= last.words {
      return !isAscending(id) && others.insert(id).inserted
    }
    guard others.isEmpty || !others.contains(id) else { return false }
    ascending.append(id)
    return true
  }

  func contains(_ id: UUID) -> Bool { isAscending(id) || others.contains(id) }

  private func isAscending(_ id: UUID) -> Bool {
    var (low, high) = (0, ascending.count)
    while low < high {
      let middle = (low + high) / 2
      if ascending[middle].words < id.words { low = middle + 1 } else { high = middle }
    }
    return low < ascending.count && ascending[low] == id
  }
}
