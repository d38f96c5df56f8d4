import Foundation
import LMDB
import TallyEngine

/// Compares every table with the contents that the records define.
///
/// Each entry that a record should have is looked up and counted. A table that has more entries than that contains some
/// without a record. Only then, or if writers were active between two snapshots, are its entries checked one by one.
/// Memory does not grow with the store, except for four bytes for each event that the counters count.
struct IntegrityCheck {
  let tables: Tables
  var report = VerificationReport()
  /// The expected counters, from the records read so far.
  private(set) var deltas = CounterDeltas()
  /// The number of entries of each index that belong to the records read so far.
  private(set) var foundCounts: [TableName: Int] = [:]
  /// The indexes that have more entries than that, by their positions in the catalogue.
  var surplusIndexes: [Int] = []
  /// The sequence of the last commit; an unreadable header is reported as its own fault.
  private var lastSequence = UInt64.max
  /// The number of commits in progress: one inside a write transaction, else zero.
  private let uncommittedCount: UInt64

  /// The parts that are read one after the other, in as many snapshots as necessary.
  enum Pass: Hashable {
    case lists, tasks, completions, tombstones
    case entries(ofIndexAt: Int)
  }

  /// The passes over the records, which also count their entries.
  static let recordPasses: [Pass] = [.lists, .tasks, .completions, .tombstones]

  init(tables: Tables, uncommittedCount: UInt64 = 0) {
    self.tables = tables
    self.uncommittedCount = uncommittedCount
  }

  /// Runs a pass from a position.
  ///
  /// - Returns: the position to continue from; `nil` at the end.
  mutating func run<T: LMDBTransaction & ~Copyable>(
    _ pass: Pass, from position: [UInt8]?, limit: Int, in transaction: borrowing T
  ) throws -> [UInt8]? {
    // The header of this snapshot is needed, because writers continue between two snapshots.
    let header = try? tables.meta.value(forKey: .header, in: transaction)
    lastSequence = header.map { $0.sequence + uncommittedCount } ?? .max
    switch pass {
    case .lists:
      return try check(ListRecord.self, from: position, limit, in: transaction) { check, record, bytes in
        check.checkObject(record, isSound: record.item.isSound(in: bytes))
      }
    case .tasks:
      return try check(TaskRecord.self, from: position, limit, in: transaction) { check, record, bytes in
        try check.checkTask(record, bytes, in: transaction)
      }
    case .completions:
      return try check(LedgerEntry.self, from: position, limit, in: transaction) { check, entry, _ in
        try check.checkEntry(entry, in: transaction)
      }
    case .tombstones:
      return try check(Tombstone.self, from: position, limit, in: transaction) { check, tombstone, _ in
        try check.checkDeletion(tombstone, in: transaction)
      }
    case .entries(let number):
      let index = tables.indexes[number]
      return try index.checkEntries(of: tables, from: position, limit: limit, in: transaction) { kind, id in
        add(kind, index.name.rawValue, id)
      }
    }
  }

  /// Runs all passes in one snapshot.
  mutating func runWhole<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    for pass in Self.recordPasses { _ = try run(pass, from: nil, limit: .max, in: transaction) }
    try finish(in: transaction)
    for index in surplusIndexes { _ = try run(.entries(ofIndexAt: index), from: nil, limit: .max, in: transaction) }
  }

  /// Compares the search index with the records of one snapshot.
  mutating func checkSearchIndex<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    // An unreadable header is reported as its own fault.
    let header = try? tables.meta.value(forKey: .header, in: transaction)
    let check = try SearchIndexCheck(
      tables, lastSequence: header.map { $0.sequence + uncommittedCount } ?? .max, in: transaction)
    for fault in check.faults { report.add(fault) }
  }

  mutating func add(_ kind: StoreFault.Kind, _ table: String, _ id: UUID?) {
    report.add(StoreFault(kind: kind, table: table, id: id))
  }
}

extension IntegrityCheck {
  /// Checks the rows of one table, and looks up their entries in the indexes.
  private mutating func check<Record: IndexedRecord, T: LMDBTransaction & ~Copyable>(
    _ type: Record.Type, from position: [UInt8]?, _ limit: Int, in transaction: borrowing T,
    _ checkContents: (inout IntegrityCheck, Record, RawSpan) throws -> Void
  ) throws -> [UInt8]? {
    try Record.table(in: tables).visit(from: position, limit: limit, in: transaction) { key, value in
      count(Record.tableName)
      guard let record = Record(checking: key, value) else {
        return add(.unreadableRecord, Record.tableName.rawValue, (try? Record.PrimaryKey(decoding: key))?.id)
      }
      try checkContents(&self, record, value)
      for index in Record.indexes(in: tables).compactMap(\.table) {
        let (expected, missing) = try index.look(for: record, in: transaction)
        foundCounts[index.name, default: 0] += expected - missing
        for _ in 0..<missing { add(.missingEntry, index.name.rawValue, record.key.id) }
      }
    }
  }

  private mutating func count(_ table: TableName) {
    switch table {
    case .tasks: report.taskCount += 1
    case .lists: report.listCount += 1
    case .completions: report.completionCount += 1
    default: break
    }
  }

  private mutating func checkObject<Record: ObjectRecord>(_ record: Record, isSound: Bool) {
    guard !isSound || !record.stamp.isPossible(upTo: lastSequence) else { return }
    add(.invalidRecord, Record.tableName.rawValue, record.item.id)
  }

  private mutating func checkTask<T: LMDBTransaction & ~Copyable>(
    _ record: TaskRecord, _ bytes: RawSpan, in transaction: borrowing T
  ) throws {
    let task = record.item
    checkObject(record, isSound: task.isSound(in: bytes))
    if let listID = task.listID, try !tables.lists.contains(IDKey(listID), in: transaction) {
      add(.unknownList, "tasks", task.id)
    }
    if try task.hasInvalidParent(in: tables, transaction) { add(.invalidParent, "tasks", task.id) }
    guard let key = CompletionKey(of: task) else { return deltas.count(CountedTask(uncompleted: task), sign: 1) }
    if try !tables.completions.contains(key, in: transaction) { add(.missingEntry, "completions", task.id) }
  }

  private mutating func checkDeletion<T: LMDBTransaction & ~Copyable>(
    _ tombstone: Tombstone, in transaction: borrowing T
  ) throws {
    let isThere = try tombstone.isOfExistingObject(in: tables, transaction)
    if isThere || !tombstone.record.stamp.isPossible(upTo: lastSequence) {
      add(.invalidRecord, "tombstones", tombstone.key.id)
    }
  }

  private mutating func checkEntry<T: LMDBTransaction & ~Copyable>(
    _ entry: LedgerEntry, in transaction: borrowing T
  ) throws {
    deltas.count(CountedTask(entry.key, entry.record), sign: 1)
    if entry.key.isTaskDeleted { return }
    switch try TaskRecord.look(for: IDKey(entry.key.id), in: tables, transaction) {
    case .missing: add(.danglingEntry, "completions", entry.key.id)
    // An unreadable record is reported as its own fault.
    case .unreadable: return
    case .readable(let record): try compare(entry, with: record.item, in: transaction)
    }
  }

  private mutating func compare<T: LMDBTransaction & ~Copyable>(
    _ entry: LedgerEntry, with task: TaskItem, in transaction: borrowing T
  ) throws {
    // The list is the one at the time of completion, which is not stored in the task.
    let expected = CompletionRecord(of: task, keeping: entry.record)
    guard let key = CompletionKey(of: task), key == entry.key else {
      let isRightOneThere = try CompletionKey(of: task).map { try tables.completions.contains($0, in: transaction) }
      return add(isRightOneThere == true ? .duplicateEntry : .wrongEntry, "completions", task.id)
    }
    if expected != entry.record { add(.wrongEntry, "completions", task.id) }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    if try tables.completions.contains(deletedKey, in: transaction) { add(.duplicateEntry, "completions", task.id) }
  }
}

extension Tombstone {
  /// Whether the object of a tombstone exists, which is a contradiction.
  func isOfExistingObject<T: LMDBTransaction & ~Copyable>(
    in tables: Tables, _ transaction: borrowing T
  ) throws(LMDBError) -> Bool {
    let isTask = key.kindRawValue == ObjectKind.task.rawValue
    return try (isTask ? tables.tasks.raw : tables.lists.raw).contains(IDKey(key.id).encodedBytes, in: transaction)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// All inconsistencies between the tables in this snapshot, for tests that also examine its contents.
  ///
  /// - Complexity: reads every record.
  package func inconsistencies() throws -> [StoreFault] {
    var check = IntegrityCheck(tables: tables, uncommittedCount: commitSequence > 0 ? 1 : 0)
    try check.runWhole(in: base)
    // A write adds to the rows of measures only when it commits.
    if commitSequence == 0, let records { check.report.add(try records.report()) }
    return check.report.faults
  }
}

extension TaskItem {
  /// Whether the task breaks the rules of sub-tasks; an unreadable record on the way is reported as its own fault.
  func hasInvalidParent<T: LMDBTransaction & ~Copyable>(in tables: Tables, _ transaction: borrowing T) throws -> Bool {
    guard parentID != nil else { return false }
    do {
      try SubtaskRules.check(id, Parentage(of: self)) { try tables.parentage(of: $0, in: transaction) }
    } catch let error as TallyError where error.code == .invalidParent {
      return true
    } catch let error as LMDBError where error.code == .undecodable {
      return false
    }
    return false
  }

  /// Whether the task obeys the model's rules, and its stored texts are well-formed.
  fileprivate func isSound(in record: RawSpan) -> Bool {
    guard (try? validate()) != nil, let fields = try? TaskFields(record) else { return false }
    return fields.hasWellFormedTexts
  }
}

extension TaskList {
  /// Whether the list obeys the model's rules, and its stored name is well-formed.
  fileprivate func isSound(in record: RawSpan) -> Bool {
    guard (try? validate()) != nil, let name = try? ListRecord.nameBytes(of: record) else { return false }
    return name.isWellFormedText
  }
}

extension IntegrityCheck {
  /// Compares the counts of entries and the counters with the records, all of which must be of the same snapshot.
  mutating func finish<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    for (position, index) in tables.indexes.enumerated() {
      let count = try index.count(in: transaction)
      // Missing entries have already been found by looking them up.
      if count > foundCounts[index.name, default: 0] { surplusIndexes.append(position) }
    }
    try compareCounters(with: deltas, in: transaction)
    try checkRest(in: transaction)
  }

  /// Recomputes the counters from one snapshot and compares them with the stored ones.
  mutating func checkCountersAnew<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try checkRest(in: transaction)
    do {
      try compareCounters(with: CounterRebuild(tables: tables).deltas(in: transaction), in: transaction)
    } catch let error as LMDBError where error.code == .undecodable {
      // An unreadable record is reported as its own fault, and leaves nothing to compare with.
    }
  }

  /// Checks the tables that cannot be derived from the records.
  private mutating func checkRest<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    if try !HistoryCheck.passes(tables, in: transaction) { add(.invalidRecord, "history", nil) }
    try checkSearchIndex(in: transaction)
    try OwnDataCheck.run(tables, in: transaction) { add($0, $1.rawValue, $2) }
  }

  /// Compares the counters, byte for byte, with those computed from the records.
  private mutating func compareCounters<T: LMDBTransaction & ~Copyable>(
    with rebuilt: CounterDeltas, in transaction: borrowing T
  ) throws {
    var blocks = try rebuilt.blockCounts()
    try tables.counts.forEach(in: transaction) { key, value in
      let expected = BlockCountsKey(canonically: key).flatMap { blocks.removeValue(forKey: $0) }
      if expected?.encodedBytes != value.bytes(from: 0) { add(.wrongCounter, "counts", nil) }
      return true
    }
    var totals = rebuilt.totalCounts()
    try tables.totals.forEach(in: transaction) { key, value in
      let expected = TotalKey(canonically: key).flatMap { totals.removeValue(forKey: $0) }
      if expected == nil || expected != (try? Total(decoding: value))?.count { add(.wrongCounter, "totals", nil) }
      return true
    }
    for _ in blocks { add(.wrongCounter, "counts", nil) }
    for _ in totals { add(.wrongCounter, "totals", nil) }
    try checkTagNames(countedBy: rebuilt, in: transaction)
  }

  /// Checks that exactly the tags that are counted have a text, and that each text belongs to its tag.
  private mutating func checkTagNames<T: LMDBTransaction & ~Copyable>(
    countedBy rebuilt: CounterDeltas, in transaction: borrowing T
  ) throws {
    var expected = rebuilt.countedTagIDs
    try tables.tagNames.forEach(in: transaction) { key, value in
      let id = IDKey(canonically: key)?.id
      let isOwnText = id.map { value.isWellFormedText && TagID.of(value.text) == $0 } ?? false
      if id.flatMap({ expected.remove($0) }) == nil || !isOwnText { add(.wrongEntry, "tagNames", nil) }
      return true
    }
    for _ in expected { add(.missingEntry, "tagNames", nil) }
  }
}

/// Checks that the history can be read and is within its bounds.
struct HistoryCheck {
  private var isSound = true
  private var expectedSize: UInt64?
  private var keptSizeInBytes: UInt64 = 0
  private var previous: (key: HistoryKey, head: HistoryRecord)?

  /// Whether every entry of the table is one that a write may have written.
  static func passes<T: LMDBTransaction & ~Copyable>(_ tables: Tables, in transaction: borrowing T) throws -> Bool {
    var check = HistoryCheck()
    // An unreadable header is reported as its own fault.
    let sequence = (try? tables.meta.value(forKey: .header, in: transaction))?.sequence ?? .max
    try tables.history.forEach(in: transaction) { key, value in
      do {
        try check.check(try HistoryKey(decoding: key), value, lastSequence: sequence)
      } catch is LMDBError {
        check.isSound = false
      }
      return check.isSound
    }
    guard check.isSound, let last = check.previous else { return check.isSound }
    let bounds = HistoryBounds(after: last.head)
    return try tables.history.count(in: transaction) <= bounds.maximumPartCount
      && check.keptSizeInBytes <= bounds.maximumSizeInBytes
  }

  private mutating func check(_ key: HistoryKey, _ value: RawSpan, lastSequence: UInt64) throws {
    let head = try HistoryRecord(headOf: value)
    let bytes = try HistoryRecord.images(of: value)
    var images = ImageReader(bytes)
    try images.forEach(Self.decode)
    let isNextPart = previous.map { $0.key.change == key.change && $0.key.part + 1 == key.part } ?? false
    let size = UInt64(bytes.byteCount)
    isSound =
      key.change.sequence <= lastSequence && (key.part == 0 || isNextPart)
      && (expectedSize ?? head.precedingSizeInBytes) == head.precedingSizeInBytes
      && (head.target.map { $0 < key.change } ?? true)
    expectedSize = head.precedingSizeInBytes &+ size
    keptSizeInBytes += size
    previous = (key, head)
  }

  private static func decode(_ key: ImageKey, _ presence: ImagePresence, _ bytes: RawSpan) throws {
    if key.kind == .value { _ = try key.value }
    guard presence != .absent else { return }
    switch key.kind {
    case .task: _ = try TaskRecord(id: key.id, decoding: bytes)
    case .list: _ = try ListRecord(id: key.id, decoding: bytes)
    case .completion, .deletedCompletion: _ = try CompletionRecord(decoding: bytes)
    default: break
    }
  }
}

/// Checks the values and the indexes of applications.
///
/// A row of an index counts only if its task has not changed since the index was current. Whether rows match the
/// application's function can be checked only for a registered index; whether rows and entries agree can be checked for
/// every index.
struct OwnDataCheck {
  let tables: Tables
  private let report: (StoreFault.Kind, TableName, UUID?) -> Void

  private var ownIndexes: OwnIndexTables { tables.ownIndexes }

  /// Checks everything in one snapshot, and reports each fault.
  static func run<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, in transaction: borrowing T, _ report: (StoreFault.Kind, TableName, UUID?) -> Void
  ) throws {
    try withoutActuallyEscaping(report) { report in
      let check = OwnDataCheck(tables: tables, report: report)
      try check.checkValues(in: transaction)
      try check.checkStates(in: transaction)
      try check.checkRows(in: transaction)
      try check.checkEntries(in: transaction)
      for index in check.ownIndexes.registered { try check.checkTasks(of: index, in: transaction) }
    }
  }

  private func checkValues<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try tables.values.forEach(in: transaction) { key, value in
      if ValueKey(canonically: key) == nil || TaskSeries.isUnreadable(key, value) {
        report(.unreadableRecord, .values, nil)
      }
      return true
    }
  }

  private func checkStates<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    // An unreadable header is reported as its own fault.
    let last = (try? tables.meta.value(forKey: .header, in: transaction))?.sequence ?? .max
    try ownIndexes.states.forEach(in: transaction) { key, value in
      let state = try? OwnIndexState(decoding: value)
      let isRight = state.map { state in
        state.sequence <= last
          && OwnIndexID(canonically: key) == OwnIndexID(name: state.name, version: state.version)
      }
      if isRight != true { report(.invalidRecord, .ownIndexes, nil) }
      return true
    }
  }

  /// Checks that each row can be read and that its entries exist.
  private func checkRows<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try ownIndexes.keys.forEach(in: transaction) { key, value in
      guard let row = OwnKeysKey(canonically: key), let keys = try? OwnKeys(decoding: value).keys, !keys.isEmpty else {
        report(.unreadableRecord, .ownIndexKeys, nil)
        return true
      }
      for key in keys where key.count <= TaskIndex.maximumKeyByteCount {
        let entry = OwnEntryKey(index: OwnIndexID(row), key: key, id: row.id)
        if try !ownIndexes.entries.contains(entry, in: transaction) {
          report(.missingEntry, .ownIndexEntries, row.id)
        }
      }
      return true
    }
  }

  /// Checks that each entry belongs to a row.
  private func checkEntries<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try ownIndexes.entries.forEach(in: transaction) { bytes, _ in
      guard let entry = try? OwnEntryKey(decoding: bytes) else {
        report(.danglingEntry, .ownIndexEntries, nil)
        return true
      }
      let row = try? ownIndexes.keys.value(forKey: OwnKeysKey(entry.index, entry.id), in: transaction)
      if row?.keys.contains(entry.key) != true { report(.danglingEntry, .ownIndexEntries, entry.id) }
      return true
    }
  }

  /// Checks the rows of the tasks that have not changed since a registered index was current.
  private func checkTasks<T: LMDBTransaction & ~Copyable>(of index: OwnIndex, in transaction: borrowing T) throws {
    let last = (try? ownIndexes.sequence(of: index, in: transaction)) ?? 0
    try tables.tasks.forEach(in: transaction) { key, value in
      guard let id = IDKey(canonically: key)?.id, let fields = try? TaskFields(value), fields.stamp.changed <= last,
        let task = try? fields.item(id: id)
      else { return true }
      let row = try? ownIndexes.keys.value(forKey: OwnKeysKey(index.id, id), in: transaction)
      if try index.keys(of: task) != row?.keys ?? [] { report(.wrongEntry, .ownIndexKeys, id) }
      return true
    }
    try ownIndexes.keys.forEach(from: OwnKeysKey(index.id, .lowest), in: transaction) { bytes, _ in
      guard let row = OwnKeysKey(canonically: bytes), row.index == index.id.hash else { return false }
      guard try !tables.tasks.contains(IDKey(row.id), in: transaction) else { return true }
      let tombstone = try? tables.tombstones.value(forKey: TombstoneKey(.task, row.id), in: transaction)
      if (tombstone?.stamp.changed ?? 0) <= last { report(.danglingEntry, .ownIndexKeys, row.id) }
      return true
    }
  }
}

extension OwnIndexID {
  fileprivate init(_ row: OwnKeysKey) {
    self.init(hash: row.index)
  }
}
