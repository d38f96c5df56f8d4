public import LMDB
public import TallyEngine

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
  /// - Throws: as ``save(_:)``, `duplicateID` if the closure changes the id, and what the closure throws.
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
