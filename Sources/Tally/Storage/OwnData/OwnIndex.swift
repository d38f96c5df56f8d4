import Foundation
import LMDB

/// An application's index, as it is registered.
struct OwnIndex: Sendable {
  let definition: TaskIndex
  let id: OwnIndexID

  init(_ definition: TaskIndex) {
    self.definition = definition
    id = OwnIndexID(name: definition.name, version: definition.version)
  }

  /// The stored keys of a task: in ascending order and without duplicates.
  func keys(of task: TaskItem) throws(LMDBError) -> [[UInt8]] {
    var keys = definition.keys(task).map(storedKey)
    for key in keys where key.count > TaskIndex.maximumKeyByteCount {
      throw LMDBError(
        .badKeySize, operation: "index",
        message: "The index '\(definition.name)' gives a key of \(key.count) bytes, more than an index can have",
        remedy: "Let its function give shorter keys, and give the index another version")
    }
    guard keys.count > 1 else { return keys }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    return keys.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// The stored form of a key: keys of variable width get an end mark.
  func storedKey(_ bytes: [UInt8]) -> [UInt8] {
    definition.hasFixedWidth ? bytes : Leading(bytes).encodedBytes
  }

  /// The key as the application's function gave it, without the end mark.
  func givenKey(_ stored: [UInt8]) throws(LMDBError) -> [UInt8] {
    // Unsafe by signature only: bytes have no padding.
    definition.hasFixedWidth ? stored : unsafe try Leading<[UInt8]>(decoding: stored.span.bytes).value
  }

  /// The stored form of a prefix of keys.
  private func storedPrefix(_ bytes: [UInt8]) -> [UInt8] {
    definition.hasFixedWidth ? bytes : storedKey(bytes).dropLast(2)
  }

  /// The first entry of a range and the end of the range, as bytes.
  func bounds(of range: TaskIndexRange) -> (lower: [UInt8], upper: [UInt8]) {
    let all = id.encodedBytes
    switch range.kind {
    case .all: return (all, all.successor)
    case .key(let key):
      let lower = all + storedKey(key.encodedBytes)
      return (lower, lower.successor)
    case .prefix(let key):
      let lower = all + storedPrefix(key.encodedBytes)
      return (lower, lower.successor)
    case .bounds(let lower, let upper):
      return (
        all + (lower.map { storedKey($0.encodedBytes) } ?? []),
        upper.map { all + storedKey($0.encodedBytes) } ?? all.successor
      )
    }
  }
}

extension [UInt8] {
  /// The smallest bytes above all those that begin with these; if all are 255, as a hash could be, a longer run of 255.
  fileprivate var successor: [UInt8] {
    guard let last = lastIndex(where: { $0 < .max }) else { return [UInt8](repeating: .max, count: count + 1) }
    return self[..<last] + [self[last] + 1]
  }
}

/// The tables of the applications' indexes.
struct OwnIndexTables: Sendable {
  let states: Database<OwnIndexID, OwnIndexState>
  let entries: Database<OwnEntryKey, NoValue>
  let keys: Database<OwnKeysKey, OwnKeys>
  /// The indexes that this process maintains.
  let registered: [OwnIndex]

  init(
    states: Database<OwnIndexID, OwnIndexState>, entries: Database<OwnEntryKey, NoValue>,
    keys: Database<OwnKeysKey, OwnKeys>, registered: [TaskIndex]
  ) {
    (self.states, self.entries, self.keys) = (states, entries, keys)
    self.registered = registered.map { OwnIndex($0) }
  }

  /// The sequence of the commit up to which an index is current.
  func sequence<T: LMDBTransaction & ~Copyable>(
    of index: OwnIndex, in transaction: borrowing T
  ) throws(LMDBError) -> UInt64 {
    try states.value(forKey: index.id, in: transaction)?.sequence ?? 0
  }

  /// The state of every stored index.
  func information<T: LMDBTransaction & ~Copyable>(
    at last: UInt64, in transaction: borrowing T
  ) throws -> [TaskIndexInformation] {
    var found: [TaskIndexInformation] = []
    try states.forEach(in: transaction) { _, value in
      let state = try OwnIndexState(decoding: value)
      let lag = Int(clamping: last - min(last, state.sequence))
      found.append(TaskIndexInformation(name: state.name, version: state.version, lagInCommits: lag))
      return true
    }
    return found.sorted { ($0.name, $0.version) < ($1.name, $1.version) }
  }

  /// Removes an index: its entries, its keys and its state.
  func remove(_ id: OwnIndexID, in transaction: inout WriteTransaction) throws(LMDBError) {
    try entries.removeAll(withPrefix: id, in: &transaction)
    try keys.removeAll(withPrefix: id, in: &transaction)
    _ = try states.remove(forKey: id, in: &transaction)
  }

  /// Removes all indexes of applications.
  func removeAll(in transaction: inout WriteTransaction) throws(LMDBError) {
    try entries.removeAll(in: &transaction)
    try keys.removeAll(in: &transaction)
    try states.removeAll(in: &transaction)
  }
}

/// The new keys of some tasks in one index, gathered so that each table is written once, in key order.
struct OwnIndexChanges {
  private let index: OwnIndex
  private var changes: [(id: UUID, keys: [[UInt8]])] = []

  init(of index: OwnIndex) {
    self.index = index
  }

  /// Adds a change of a task, unless it leaves the task's keys unchanged.
  mutating func add(_ change: RecordChange<TaskRecord>) throws(LMDBError) {
    guard let id = change.new?.item.id ?? change.old?.item.id else { return }
    changes.append((id, try change.new.map { (record) throws(LMDBError) in try index.keys(of: record.item) } ?? []))
  }

  /// Adds the current state of a task; `nil` if it was deleted.
  mutating func add(_ task: TaskItem?, _ id: UUID) throws(LMDBError) {
    changes.append((id, try task.map { (task) throws(LMDBError) in try index.keys(of: task) } ?? []))
  }

  /// Replaces the rows of the tasks; which rows are old is read from the table of keys.
  mutating func apply(to tables: OwnIndexTables, in transaction: inout WriteTransaction) throws(LMDBError) {
    var (removed, inserted) = (EntryBatch<OwnEntryKey, NoValue>(), EntryBatch<OwnEntryKey, NoValue>())
    var (removedRows, rows) = (EntryBatch<OwnKeysKey, NoValue>(), EntryBatch<OwnKeysKey, OwnKeys>())
    for (id, keys) in changes {
      let row = OwnKeysKey(index.id, id)
      let old = try tables.keys.value(forKey: row, in: transaction)?.keys ?? []
      guard old != keys else { continue }
      let (former, present) = (Set(old), Set(keys))
      for key in former.subtracting(present) {
        try removed.add(NoValue(), forKey: OwnEntryKey(index: index.id, key: key, id: id))
      }
      for key in present.subtracting(former) {
        try inserted.add(NoValue(), forKey: OwnEntryKey(index: index.id, key: key, id: id))
      }
      if keys.isEmpty { try removedRows.add(NoValue(), forKey: row) } else { try rows.add(OwnKeys(keys), forKey: row) }
    }
    changes = []
    try tables.entries.remove(&removed, in: &transaction)
    try tables.entries.put(&inserted, in: &transaction)
    try tables.keys.remove(&removedRows, in: &transaction)
    try tables.keys.put(&rows, in: &transaction)
  }
}
