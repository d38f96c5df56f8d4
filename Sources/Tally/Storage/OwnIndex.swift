import Foundation
import LMDB
import TallyEngine

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

/// The key of `ownIndexes`, and the prefix of every key of the other two tables: a hash of name and version; 8 bytes.
///
/// A hash needs no table that assigns numbers. It is stored: do not change it.
struct OwnIndexID: KeyCodable, Hashable {
  static let width = 8
  let hash: UInt64

  init(hash: UInt64) {
    self.hash = hash
  }

  init(name: String, version: UInt32) {
    hash = SipHash128.hash(Array(name.utf8) + version.encodedBytes).low
  }

  var encodedByteCount: Int { Self.width }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a key of an own index has the wrong size") }
    hash = bytes.load(bigEndianAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) { output.append(bigEndian: hash) }
}

/// The key of `ownIndexEntries`: the index, the key from the application's function, and the task.
///
/// Keys of variable length have an end mark, as in `Leading`, so that the id after them does not disturb the order.
struct OwnEntryKey: KeyCodable, Hashable {
  let index: OwnIndexID
  let key: [UInt8]
  let id: UUID

  var encodedByteCount: Int { OwnIndexID.width + key.count + IDKey.width }

  init(index: OwnIndexID, key: [UInt8], id: UUID) {
    (self.index, self.key, self.id) = (index, key, id)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    let keyEnd = bytes.byteCount - IDKey.width
    guard keyEnd >= OwnIndexID.width else { throw .undecodable("an entry of an own index is too short") }
    index = try OwnIndexID(decoding: bytes.extracting(first: OwnIndexID.width))
    key = bytes.extracting(OwnIndexID.width..<keyEnd).bytes(from: 0)
    id = bytes.load(idAt: keyEnd)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    index.encode(into: &output)
    key.encode(into: &output)
    output.append(id)
  }
}

/// The key of `ownIndexKeys`: the index and the task; 24 bytes.
struct OwnKeysKey: IndexKey {
  static let width = OwnIndexID.width + IDKey.width
  let index: UInt64
  let id: UUID

  init(_ index: OwnIndexID, _ id: UUID) {
    (self.index, self.id) = (index.hash, id)
  }

  init(fields bytes: RawSpan) {
    index = bytes.load(bigEndianAt: 0)
    id = bytes.load(idAt: OwnIndexID.width)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: index)
    output.append(id)
  }
}

/// The value of `ownIndexKeys`: the keys of one task, in ascending order, each preceded by its length in 2 bytes.
struct OwnKeys: BinaryCodable, Hashable {
  var keys: [[UInt8]] = []

  var encodedByteCount: Int { keys.reduce(0) { $0 + 2 + $1.count } }

  init(_ keys: [[UInt8]]) {
    self.keys = keys
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    var offset = 0
    while offset < bytes.byteCount {
      guard offset + 2 <= bytes.byteCount else { throw .undecodable("the keys of a task end within a length") }
      let end = offset + 2 + Int(bytes.load(bigEndianAt: offset, as: UInt16.self))
      guard end <= bytes.byteCount else { throw .undecodable("the keys of a task end within a key") }
      keys.append(bytes.extracting((offset + 2)..<end).bytes(from: 0))
      offset = end
    }
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    for key in keys {
      output.append(bigEndian: UInt16(key.count))
      key.encode(into: &output)
    }
  }
}

/// The value of `ownIndexes`.
///
/// ```
/// offset size
///      0    8  the commit up to which the index is current
///      8    4  version
///     12       name
/// ```
struct OwnIndexState: BinaryCodable, Hashable {
  var sequence: UInt64
  let version: UInt32
  let name: String

  var encodedByteCount: Int { 12 + name.utf8.count }

  init(of index: TaskIndex, at sequence: UInt64) {
    (self.sequence, version, name) = (sequence, index.version, index.name)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount > 12 else { throw .undecodable("the state of an own index is too short") }
    sequence = bytes.load(bigEndianAt: 0)
    version = bytes.load(bigEndianAt: 8)
    name = try String(decoding: bytes.extracting(droppingFirst: 12))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: sequence)
    output.append(bigEndian: version)
    name.encode(into: &output)
  }
}

/// The tasks that have changed since an index was current, with the keys that they have now.
///
/// A read merges them into its walk over the entries, and ignores the stored entries of these tasks.
struct OwnIndexTail {
  private(set) var ids: Set<UUID> = []
  /// The entries that the changed tasks should have in a range, in the direction of the walk.
  private(set) var entries: [[UInt8]] = []

  /// Reads the tasks that have changed since commit `last`.
  init<T: LMDBTransaction & ~Copyable>(
    of index: OwnIndex, since last: UInt64, within bounds: (lower: [UInt8], upper: [UInt8]), reversed: Bool,
    _ tables: Tables, in transaction: borrowing T
  ) throws {
    try tables.byChange.forEach(from: .start(after: last), in: transaction) { bytes, _ in
      let key = try ChangeKey(decoding: bytes)
      guard key.kind == .task || key.kind == .deletedTask else { return true }
      ids.insert(key.id)
      guard let task = try tables.readableTask(key.id, in: transaction) else { return true }
      for key in try index.keys(of: task) {
        let entry = OwnEntryKey(index: index.id, key: key, id: task.id).encodedBytes
        let isBefore = entry.lexicographicallyPrecedes(bounds.lower)
        if !isBefore, entry.lexicographicallyPrecedes(bounds.upper) { entries.append(entry) }
      }
      return true
    }
    entries.sort { $0.lexicographicallyPrecedes($1) != reversed }
  }
}

extension OwnIndexTables {
  /// Calls a closure with the entries of an index within bounds, up to date, until it returns `false`.
  func scan<T: LMDBTransaction & ~Copyable>(
    _ index: OwnIndex, within bounds: (lower: [UInt8], upper: [UInt8]), reversed: Bool, _ tables: Tables,
    in transaction: borrowing T, _ body: (OwnEntryKey) throws -> Bool
  ) throws {
    let last = try sequence(of: index, in: transaction)
    let header = try tables.meta.value(forKey: .header, in: transaction)
    guard header?.sequence != last else {
      return try entries.raw.forEach(from: bounds.lower, upTo: bounds.upper, reversed: reversed, in: transaction) {
        bytes, _ in try body(OwnEntryKey(decoding: bytes))
      }
    }
    let tail = try OwnIndexTail(of: index, since: last, within: bounds, reversed: reversed, tables, in: transaction)
    var rest = tail.entries[...]
    var isWanted = true
    // Visits the changed tasks that come before an entry, or all of them if there is none.
    func takeTail(before entry: [UInt8]?) throws {
      while isWanted, let first = rest.first {
        if let entry, first.lexicographicallyPrecedes(entry) == reversed { return }
        rest.removeFirst()
        // Unsafe by signature only: bytes have no padding.
        isWanted = try unsafe body(OwnEntryKey(decoding: first.span.bytes))
      }
    }
    try entries.raw.forEach(from: bounds.lower, upTo: bounds.upper, reversed: reversed, in: transaction) { bytes, _ in
      let entry = try OwnEntryKey(decoding: bytes)
      guard !tail.ids.contains(entry.id) else { return true }
      try takeTail(before: bytes.bytes(from: 0))
      if isWanted { isWanted = try body(entry) }
      return isWanted
    }
    if isWanted { try takeTail(before: nil) }
  }
}

/// Brings the registered indexes of an application up to date with a commit.
///
/// It removes other versions of them, and reads the tasks that have changed since each index was current. A new index
/// starts at commit 0, so this also builds it.
struct OwnIndexCatchUp {
  let tables: Tables
  /// The sequence of the last commit.
  let sequence: UInt64

  /// How many changed tasks are gathered before their rows are written.
  private static let batchCount = 16_384

  private var own: OwnIndexTables { tables.ownIndexes }

  /// Whether an index is behind or has an old version.
  func isNeeded<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> Bool {
    for index in own.registered where try own.sequence(of: index, in: transaction) != sequence { return true }
    return try !supersededIDs(in: transaction).isEmpty
  }

  /// Brings the indexes up to date, and removes other versions of them.
  func run(in transaction: inout WriteTransaction) throws {
    for id in try supersededIDs(in: transaction) { try own.remove(id, in: &transaction) }
    try catchUp(in: &transaction)
  }

  /// Brings the indexes up to date; costs one lookup for each registered index if there is nothing to do.
  func catchUp(in transaction: inout WriteTransaction) throws {
    for index in own.registered {
      let last = try own.sequence(of: index, in: transaction)
      guard last != sequence else { continue }
      try catchUp(index, since: last, in: &transaction)
      try own.states.put(OwnIndexState(of: index.definition, at: sequence), forKey: index.id, in: &transaction)
    }
  }

  /// Marks the indexes that are current as current up to the commit that is about to be made.
  func advance(to next: UInt64, in transaction: inout WriteTransaction) throws(LMDBError) {
    for index in own.registered where try own.sequence(of: index, in: transaction) == sequence {
      try own.states.put(OwnIndexState(of: index.definition, at: next), forKey: index.id, in: &transaction)
    }
  }

  private func catchUp(_ index: OwnIndex, since last: UInt64, in transaction: inout WriteTransaction) throws {
    var position: ChangeKey? = .start(after: last)
    while let start = position {
      var changes = OwnIndexChanges(of: index)
      position = try gather(&changes, from: start, in: transaction)
      try changes.apply(to: own, in: &transaction)
    }
  }

  /// Gathers the keys of some changed tasks; returns the key to continue from.
  private func gather(
    _ changes: inout OwnIndexChanges, from start: ChangeKey, in transaction: borrowing WriteTransaction
  ) throws -> ChangeKey? {
    var (count, next) = (0, nil as ChangeKey?)
    try tables.byChange.forEach(from: start, in: transaction) { bytes, _ in
      let key = try ChangeKey(decoding: bytes)
      guard count < Self.batchCount else {
        next = key
        return false
      }
      guard key.kind == .task || key.kind == .deletedTask else { return true }
      count += 1
      try changes.add(tables.readableTask(key.id, in: transaction), key.id)
      return true
    }
    return next
  }

  /// The ids of other versions of the registered indexes.
  private func supersededIDs<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> [OwnIndexID] {
    let current = Dictionary(own.registered.map { ($0.definition.name, $0.id) }) { first, _ in first }
    var superseded: [OwnIndexID] = []
    try own.states.forEach(in: transaction) { key, value in
      let id = try OwnIndexID(decoding: key)
      if let present = current[try OwnIndexState(decoding: value).name], present != id { superseded.append(id) }
      return true
    }
    return superseded
  }
}

extension Tables {
  /// The update of the registered indexes to the last commit; `nil` without a readable header.
  func catchUp<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> OwnIndexCatchUp? {
    guard let header = try meta.value(forKey: .header, in: transaction) else { return nil }
    return OwnIndexCatchUp(tables: self, sequence: header.sequence)
  }

  /// Reads a task for an application's index; `nil` if it does not exist or cannot be read, which `verify` reports.
  func readableTask<T: LMDBTransaction & ~Copyable>(_ id: UUID, in transaction: borrowing T) throws -> TaskItem? {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return nil }
    return try? TaskFields(bytes).item(id: id)
  }
}
