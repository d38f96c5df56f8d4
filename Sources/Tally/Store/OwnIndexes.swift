public import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The tasks of an application's index, in the order of their keys.
  ///
  /// ```swift
  /// let found = try transaction.tasks(in: byTicket, .prefix("T-"), limit: 20)
  /// ```
  ///
  /// A task with several keys in the range appears several times.
  ///
  /// - Parameters:
  ///   - index: an index with which the store was opened.
  ///   - range: the keys to read.
  ///   - reversed: whether the last key comes first.
  ///   - limit: the most tasks to return.
  /// - Returns: the tasks, in the order of their keys.
  /// - Throws: `invalidIndex` if the index is not registered; what the storage throws.
  /// - Complexity: linear in the number of tasks returned and of tasks that another program has changed since this
  ///   one's last write.
  public func tasks(
    in index: TaskIndex, _ range: TaskIndexRange = .all, reversed: Bool = false, limit: Int = .max
  ) throws -> [TaskItem] {
    try page(of: index, range, reversed: reversed, limit: limit).tasks
  }

  /// A page of tasks from an application's index with their keys, starting after a position.
  ///
  /// ```swift
  /// let first = try transaction.page(of: byTicket, limit: 50)
  /// let second = try transaction.page(of: byTicket, after: first.next, limit: 50)
  /// ```
  ///
  /// - Parameters:
  ///   - index: an index with which the store was opened.
  ///   - range: the keys to read.
  ///   - position: the ``TaskIndexPage/next`` of the previous page; `nil` for the first page.
  ///   - reversed: whether the last key comes first; it must be the same for all pages.
  ///   - limit: the most tasks to return.
  /// - Returns: the tasks with their keys, and the position of the next page.
  /// - Throws: what ``tasks(in:_:reversed:limit:)`` throws.
  /// - Complexity: as ``tasks(in:_:reversed:limit:)``.
  public func page(
    of index: TaskIndex, _ range: TaskIndexRange = .all, after position: TaskIndexPosition? = nil,
    reversed: Bool = false, limit: Int
  ) throws -> TaskIndexPage {
    let own = try registered(index)
    var entries: [TaskIndexPage.Entry] = []
    var (last, isMore) = (position, false)
    try scan(own, range, after: position, reversed: reversed) { entry in
      guard entries.count < limit else {
        isMore = true
        return false
      }
      entries.append(.init(key: try own.givenKey(entry.key), task: try indexedTask(entry.id)))
      last = TaskIndexPosition(bytes: Array(entry.encodedBytes.dropFirst(OwnIndexID.width)))
      return true
    }
    return TaskIndexPage(entries: entries, next: isMore ? last : nil)
  }

  /// The number of entries in a range of an application's index.
  ///
  /// - Throws: what ``tasks(in:_:reversed:limit:)`` throws.
  /// - Complexity: linear in the number of entries counted; no task is read.
  public func count(of index: TaskIndex, _ range: TaskIndexRange = .all) throws -> Int {
    var count = 0
    try scan(registered(index), range, after: nil, reversed: false) { _ in
      count += 1
      return true
    }
    return count
  }

  private func registered(_ index: TaskIndex) throws -> OwnIndex {
    let own = tables.ownIndexes.registered.first {
      $0.definition.name == index.name && $0.definition.version == index.version
    }
    guard let own else { throw TallyError.unregisteredIndex(index.name) }
    return own
  }

  private func scan(
    _ index: OwnIndex, _ range: TaskIndexRange, after position: TaskIndexPosition?, reversed: Bool,
    _ body: (OwnEntryKey) throws -> Bool
  ) throws {
    var bounds = index.bounds(of: range)
    // Bounds longer than any entry can be truncated: the same entries lie between them.
    bounds.lower = Array(bounds.lower.prefix(OwnEntryKey.maximumByteCount + 1))
    bounds.upper = Array(bounds.upper.prefix(OwnEntryKey.maximumByteCount + 1))
    if let position {
      let entry = index.id.encodedBytes + position.bytes.prefix(OwnEntryKey.maximumByteCount - OwnIndexID.width)
      // The smallest bytes above an entry are the entry and a zero byte.
      if reversed { bounds.upper = min(bounds.upper, entry) } else { bounds.lower = max(bounds.lower, entry + [0]) }
    }
    guard bounds.lower.lexicographicallyPrecedes(bounds.upper) else { return }
    try tables.ownIndexes.scan(index, within: bounds, reversed: reversed, tables, in: base, body)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Removes everything that a store has of an application's index, in every version.
  ///
  /// It is for an index that no program registers any more; one that is still registered is rebuilt by the next write.
  ///
  /// - Parameter name: the index's name.
  /// - Returns: whether anything was removed.
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of the index's entries.
  @discardableResult
  public mutating func removeIndex(named name: String) throws -> Bool {
    var ids: [OwnIndexID] = []
    try tables.ownIndexes.states.forEach(in: base) { key, value in
      if try OwnIndexState(decoding: value).name == name { ids.append(try OwnIndexID(decoding: key)) }
      return true
    }
    guard !state.isHalfDone else { throw TallyError.halfDone }
    // This is not a change of the data and cannot be undone; but it must not be committed by half.
    state.isHalfDone = true
    for id in ids { try tables.ownIndexes.remove(id, in: &base) }
    state.isHalfDone = false
    return !ids.isEmpty
  }
}

extension OwnEntryKey {
  /// The longest entry, in bytes.
  static let maximumByteCount = OwnIndexID.width + TaskIndex.maximumKeyByteCount + IDKey.width
}

extension TallyError {
  fileprivate static func unregisteredIndex(_ name: String) -> TallyError {
    TallyError(
      .invalidIndex, "The store was opened without the index '\(name)', or with another version of it",
      remedy: "Add it to the configuration's indexes")
  }
}

private func min(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { left.lexicographicallyPrecedes(right) ? left : right }

private func max(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { left.lexicographicallyPrecedes(right) ? right : left }

// The application's collections, of the schema in the store's configuration. What the engine asks of records works in
// every transaction; what it changes of them belongs to the same write as the tasks.

extension StoreTransaction: RecordQueries where Base: ~Copyable {
  /// The snapshot of the collections; for the library only.
  public var snapshot: StoreSnapshot {
    get throws {
      guard let records else { throw TallyError.noCollections }
      return records
    }
  }

  /// The changes of the application's records by any process since a position.
  ///
  /// - Parameter last: the position of an earlier snapshot.
  /// - Returns: the changes, by collection.
  /// - Throws: what the storage throws.
  /// - Complexity: one lookup for each record that has changed since.
  public func recordChanges(since last: StorePosition) throws -> RecordChanges {
    try snapshot.changes(since: last)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a record of the application, in place of the one with its id if there is one.
  ///
  /// Fields that a later version of the type has stored stay. Saving a record as it is stored writes nothing.
  ///
  /// - Returns: whether anything changed.
  /// - Throws: `duplicateKey` if another record has the same key in a unique index; `invalidKey` if the id or a key is
  ///   too long; `unchangeableRecord` if the collection is a log of events and has the record; `invalidIndex` if the
  ///   schema has no collection of the type; what the record's encoding and the storage throw. If a measure overflows, the
  ///   write itself throws `valueOutOfRange` after the closure.
  @discardableResult
  public mutating func save<Record: StoredRecord>(_ record: Record) throws -> Bool {
    try withWriter { try $0.save(record) }
  }

  /// Stores new records of the application; several times faster than one after the other.
  ///
  /// - Throws: `duplicateID` if an id is in use or occurs twice; otherwise as ``save(_:)``. On an error nothing is
  ///   stored.
  public mutating func insert<Record: StoredRecord>(contentsOf records: some Sequence<Record>) throws {
    try withWriter { try $0.insert(contentsOf: records) }
  }

  /// Stores a new record of the application.
  ///
  /// - Throws: `duplicateID` if the id is in use; otherwise as ``save(_:)``.
  public mutating func insert<Record: StoredRecord>(_ record: Record) throws {
    try withWriter { try $0.insert(record) }
  }

  /// Changes a stored record of the application.
  ///
  /// - Returns: the record as stored; `nil` if there is none with the id.
  /// - Throws: what ``save(_:)`` throws, `duplicateID` if the closure changes the id, and what the closure throws.
  @discardableResult
  public mutating func update<Record: StoredRecord>(
    _ type: Record.Type, _ id: Record.ID, _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    try withWriter { try $0.update(type, id, change) }
  }

  /// Deletes a record of the application.
  ///
  /// - Returns: whether there was one with the id.
  /// - Throws: what the storage throws.
  @discardableResult
  public mutating func delete<Record: StoredRecord>(_ type: Record.Type, _ id: Record.ID) throws -> Bool {
    try withWriter { try $0.delete(type, id) }
  }

  /// Deletes records of the application.
  ///
  /// - Returns: how many of the ids had one.
  /// - Throws: what the storage throws.
  @discardableResult
  public mutating func delete<Record: StoredRecord>(
    _ type: Record.Type, _ ids: some Sequence<Record.ID>
  ) throws -> Int {
    try withWriter { try $0.delete(type, ids) }
  }

  /// Deletes the records in a range of an index of one part, such as the events of more than a year ago.
  ///
  /// - Returns: how many were deleted.
  /// - Throws: `invalidIndex` if the collection does not list the index; what the storage throws.
  @discardableResult
  public mutating func deleteRecords<Record, A>(
    in index: TallyEngine.Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil
  ) throws -> Int {
    try withWriter { try $0.deleteRecords(in: index, from: lower, upTo: upper) }
  }

  /// Continues the write as one of the engine.
  mutating func withWriter<R>(_ body: (inout Writer) throws -> R) throws -> R {
    let snapshot = try snapshot
    return try Writer.continuing(&base, snapshot, &state, body)
  }
}

extension TallyError {
  fileprivate static let noCollections = TallyError(
    .invalidIndex, "The store has been opened without collections of an application",
    remedy: "Give its configuration a schema, and open it for writing once")
}
