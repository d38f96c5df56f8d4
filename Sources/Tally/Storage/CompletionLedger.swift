import Foundation
import LMDB
import TallyEngine

/// The permanent record of completions: their times, and the lists, tags and priorities of the tasks at those times.
///
/// | change of a task | change of the ledger |
/// | --- | --- |
/// | completed | an entry with its list, tags and priority at that moment |
/// | reopened | the entry is removed |
/// | completed at another time | the entry moves; its list, tags and priority stay |
/// | cancelled | none |
/// | moved to another list | none: the work was done in the old list |
/// | deleted | the entry stays, marked as deleted |
/// | restored by an import, with the same completion | the marked entry becomes the live one |
///
/// The counters are updated in the same step: each life of a task counts as `CountedTask` defines.
struct CompletionLedger {
  let tables: Tables
  /// Records which completions of deleted tasks change; `nil` if the store does not synchronise.
  let syncNotes: SyncNotes?

  /// Updates the ledger for one change of a task.
  func apply(
    _ change: RecordChange<TaskRecord>, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let (old, new) = (change.old?.item, change.new?.item)
    if let old, let new, Self.countsTheSame(old, new) { return }
    var entry: LedgerEntry?
    if let old { entry = try liveEntry(of: old, in: transaction) }
    guard let new else {
      if let entry {
        try markDeleted(entry, recording: &images, in: &transaction)
      } else if let old {
        deltas.count(CountedTask(uncompleted: old), sign: -1)
      }
      return
    }
    if let entry {
      try remove(entry, counting: &deltas, recording: &images, in: &transaction)
    } else if let old {
      deltas.count(CountedTask(uncompleted: old), sign: -1)
    }
    try add(new, replacing: entry?.record, counting: &deltas, recording: &images, in: &transaction)
  }

  /// Whether two states of a task have equal entries and equal counts.
  private static func countsTheSame(_ old: TaskItem, _ new: TaskItem) -> Bool {
    old.completedAt == new.completedAt && old.createdAt == new.createdAt
      && (new.isCompleted || CountedTask(uncompleted: old) == CountedTask(uncompleted: new))
  }

  /// Adds the entry of a completed task, or counts any other.
  ///
  /// The entry keeps the list, tags and priority of the task's previous entry, `replaced`; without one it gets the
  /// task's own.
  private func add(
    _ task: TaskItem, replacing replaced: CompletionRecord?, counting deltas: inout CounterDeltas,
    recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let key = CompletionKey(of: task) else { return deltas.count(CountedTask(uncompleted: task), sign: 1) }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    let deleted = try tables.completions.value(forKey: deletedKey, in: transaction)
    if let deleted {
      let entry = LedgerEntry(key: deletedKey, record: deleted)
      try remove(entry, counting: &deltas, recording: &images, in: &transaction)
    }
    guard let entry = LedgerEntry(of: task, keeping: deleted ?? replaced) else { return }
    images.add(key, nil)
    try put(entry, counting: &deltas, in: &transaction)
  }

  private func liveEntry(
    of task: TaskItem, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> LedgerEntry? {
    guard let key = CompletionKey(of: task), let record = try tables.completions.value(forKey: key, in: transaction)
    else { return nil }
    return LedgerEntry(key: key, record: record)
  }

  /// Marks the entry of a deleted task; its completion still counts.
  private func markDeleted(
    _ entry: LedgerEntry, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let key = CompletionKey(isTaskDeleted: true, completed: entry.key.completed)
    images.add(entry.key, entry.record)
    images.add(key, nil)
    _ = try tables.completions.remove(forKey: entry.key, in: &transaction)
    try put(LedgerEntry(key: key, record: entry.record), in: &transaction)
  }

  /// Writes a new entry and counts it.
  private func put(
    _ entry: LedgerEntry, counting deltas: inout CounterDeltas, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    deltas.count(CountedTask(entry.key, entry.record), sign: 1)
    try put(entry, in: &transaction)
  }

  /// Writes a new entry that has been counted already.
  private func put(_ entry: LedgerEntry, in transaction: inout WriteTransaction) throws(LMDBError) {
    try tables.completions.put(entry.record, forKey: entry.key, in: &transaction)
    guard entry.key.isTaskDeleted else { return }
    try syncNotes?.note(detached: entry.key.completed, in: &transaction)
    for index in tables.ledgerIndexes { try index.replace(RecordChange(old: nil, new: entry), &transaction) }
  }

  /// Removes an entry and subtracts it from the counters.
  private func remove(
    _ entry: LedgerEntry, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    deltas.count(CountedTask(entry.key, entry.record), sign: -1)
    images.add(entry.key, entry.record)
    _ = try tables.completions.remove(forKey: entry.key, in: &transaction)
    guard entry.key.isTaskDeleted else { return }
    try syncNotes?.note(detached: entry.key.completed, in: &transaction)
    for index in tables.ledgerIndexes { try index.replace(RecordChange(old: entry, new: nil), &transaction) }
  }
}

extension LedgerEntry {
  /// The entry of a completed task; `nil` for an open one.
  fileprivate init?(of task: TaskItem, keeping recorded: CompletionRecord? = nil) {
    guard let key = CompletionKey(of: task), let record = CompletionRecord(of: task, keeping: recorded) else {
      return nil
    }
    self.init(key: key, record: record)
  }
}

extension CompletionLedger {
  /// Adds the completion of a deleted task, or sets the list, tags and priority with which a live task was completed.
  ///
  /// - Returns: whether anything changed. It is false if the ledger has the completion already, if the entry is for a
  ///   deleted task but the task exists and was completed at that instant, or the other way round.
  func record(
    _ completed: InstantKey, _ record: CompletionRecord, isTaskDeleted: Bool, counting deltas: inout CounterDeltas,
    recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    var record = record
    let liveKey = CompletionKey(isTaskDeleted: false, completed: completed)
    let live = try tables.completions.value(forKey: liveKey, in: transaction)
    guard (live == nil) == isTaskDeleted else { return false }
    if let live {
      // The UTC offset and the creation time come from the task itself; the entry gives only the classification.
      var changed = live
      changed.classification = record.classification
      guard changed != live else { return false }
      deltas.count(CountedTask(liveKey, live), sign: -1)
      deltas.count(CountedTask(liveKey, changed), sign: 1)
      images.add(liveKey, live)
      try tables.completions.put(changed, forKey: liveKey, in: &transaction)
      try syncNotes?.note(.completion, of: TombstoneKey(.task, completed.id), in: &transaction)
    } else {
      let key = CompletionKey(isTaskDeleted: true, completed: completed)
      if let known = try tables.completions.value(forKey: key, in: transaction) {
        record.unknown = known.unknown
        guard known != record else { return false }
        let entry = LedgerEntry(key: key, record: known)
        try remove(entry, counting: &deltas, recording: &images, in: &transaction)
      } else {
        images.add(key, nil)
      }
      try put(LedgerEntry(key: key, record: record), counting: &deltas, in: &transaction)
    }
    return true
  }

  /// Whether an entry can be inserted in a batch: it is new and of a live task, whose entries are in no index.
  func isNew(_ key: CompletionKey, in transaction: borrowing WriteTransaction) throws(LMDBError) -> Bool {
    guard !key.isTaskDeleted else { return false }
    return try !tables.completions.contains(key, in: transaction)
  }

  /// Restores an entry to an earlier state: a record, or nothing.
  func restore(
    _ key: CompletionKey, to record: CompletionRecord?, counting deltas: inout CounterDeltas,
    recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let current = try tables.completions.value(forKey: key, in: transaction)
    guard current != record else { return }
    if let current {
      let entry = LedgerEntry(key: key, record: current)
      try remove(entry, counting: &deltas, recording: &images, in: &transaction)
    } else {
      images.add(key, nil)
    }
    if let record { try put(LedgerEntry(key: key, record: record), counting: &deltas, in: &transaction) }
  }

  /// Erases completions of deleted tasks permanently: no images of them are kept, neither new nor older ones.
  func purge(
    _ entries: [CompletionKey], recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    images.forget()
    var deltas = CounterDeltas()
    for key in entries {
      guard let record = try tables.completions.value(forKey: key, in: transaction) else { continue }
      let entry = LedgerEntry(key: key, record: record)
      try remove(entry, counting: &deltas, recording: &images, in: &transaction)
    }
    try deltas.apply(to: tables, in: &transaction)
  }
}

/// Many changes of different tasks, gathered to update the ledger at once.
struct LedgerBatch {
  private let ledger: CompletionLedger
  /// Whether the ledger has entries of deleted tasks, so that a new task may be one of them returning.
  private let hasDeletedEntries: Bool
  private var images = BeforeImages()
  /// The entries of new tasks.
  private var created = EntryBatch<CompletionKey, CompletionRecord>()
  /// Changes for which the ledger must be read.
  private var others: [(completed: Int64, change: RecordChange<TaskRecord>)] = []

  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    ledger = writer.ledger
    var cursor = try writer.tables.completions.cursor(in: transaction)
    hasDeletedEntries = try cursor.move(
      toFirstAtOrAfter: CompletionKey(isTaskDeleted: true, completed: .start(at: .min)))
  }

  /// Adds a new task.
  mutating func insert(
    _ record: TaskRecord, counting deltas: inout CounterDeltas
  ) throws(LMDBError) {
    guard let entry = LedgerEntry(of: record.item) else {
      // A new open task, the most common case, has no entry that could conflict.
      return deltas.count(CountedTask(uncompleted: record.item), sign: 1)
    }
    if hasDeletedEntries { return add(RecordChange(old: nil, new: record)) }
    images.add(entry.key, nil)
    deltas.count(CountedTask(entry.key, entry.record), sign: 1)
    try created.add(entry.record, forKey: entry.key)
  }

  /// Adds one change.
  mutating func add(_ change: RecordChange<TaskRecord>) {
    guard let item = change.new?.item ?? change.old?.item else { return }
    // Many changes are applied faster in the order of their positions in the table.
    let completedAt = item.completedAt ?? change.old?.item.completedAt
    others.append((completedAt?.instant.microsecondsSince1970 ?? .min, change))
  }

  /// Writes the changes, in the ledger's own order.
  mutating func apply(
    to tables: Tables, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    images.append(self.images)
    others.sort { $0.completed < $1.completed }
    for (_, change) in others {
      try ledger.apply(change, counting: &deltas, recording: &images, in: &transaction)
    }
    try tables.completions.put(&created, in: &transaction)
  }
}

/// The groups of a task or a completion in the counters: its list (or none), its tags and its priority.
struct Classification: Hashable, Sendable {
  var listID: UUID?
  var tags = TagSet()
  var priority = Priority.none
}

extension TaskItem {
  var classification: Classification {
    guard let extras = extrasBox?.extras else { return Classification(listID: listID) }
    return Classification(listID: listID, tags: extras.tags, priority: extras.priority)
  }
}

extension TaskFields {
  /// The classification, read in place without decoding the other fields.
  var classification: Classification {
    get throws(LMDBError) {
      var classification = Classification()
      var cursor = cursor
      if try cursor.advance(to: TaskField.listID.tag) { classification.listID = try cursor.value.storedID() }
      if try cursor.advance(to: TaskField.priority.tag) { classification.priority = try cursor.value.storedPriority() }
      if try cursor.advance(to: TaskField.tags.tag) { classification.tags = try TagSet(stored: cursor.value) }
      return classification
    }
  }
}

extension CounterScope {
  /// Whether this scope counts a task or completion with the classification.
  func contains(_ classification: Classification) -> Bool {
    switch self {
    case .all: true
    case .noList: classification.listID == nil
    case .list(let id): classification.listID == id
    case .tag(let id): classification.tags.contains { TagID.of($0) == id }
    case .priority(let priority): classification.priority == priority
    }
  }
}
