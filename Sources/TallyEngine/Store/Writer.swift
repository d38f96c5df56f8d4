import Foundation
package import LMDB
import Synchronization

/// A snapshot of a store together with changes that take effect together or not at all.
///
/// ```swift
/// try await store.write { writer in
///   try writer.save(workout)
///   try writer.delete(Shoe.self, shoe.id)
/// }
/// ```
///
/// It also reads, and sees its own changes.
public struct Writer: ~Copyable, StoreQueries {
  var base: WriteTransaction
  /// The snapshot that it reads; for the library only.
  public let snapshot: StoreSnapshot
  /// What has been done so far.
  var state: WriteState

  init(base: consuming WriteTransaction, tables: StoreTables, now: Timestamp, state: WriteState) {
    self.init(base: base, StoreSnapshot(of: base, tables, now: now), state)
  }

  private init(base: consuming WriteTransaction, _ snapshot: StoreSnapshot, _ state: WriteState) {
    (self.snapshot, self.state) = (snapshot, state)
    self.base = base
  }

  /// Continues the write of another kind of store.
  ///
  /// - Parameters:
  ///   - base: the transaction.
  ///   - snapshot: what is read of it.
  ///   - state: what has been done in it so far.
  ///   - body: changes records.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  package static func continuing<Result>(
    _ base: inout WriteTransaction, _ snapshot: StoreSnapshot, _ state: inout WriteState,
    _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    // The state moves, because a copy of it would copy the images.
    let own = state
    state = WriteState(commitSequence: own.commitSequence)
    var writer = Writer(base: base, snapshot, own)
    let result = Swift.Result { try body(&writer) }
    state = writer.state
    base = writer.base
    return try result.get()
  }
}

extension Writer {
  /// Stores a record, in place of the one with its id if there is one.
  ///
  /// Fields that a later version of the type has stored stay. Saving a record as it is stored writes nothing.
  ///
  /// - Returns: whether anything changed.
  /// - Throws: `duplicateKey` if another record has the same key in a unique index; `invalidKey` if the id or a key is
  ///   too long; `unchangeableRecord` if the collection is a log of events and has the record; what the record's
  ///   encoding and the storage throw.
  @discardableResult
  public mutating func save<Record: StoredRecord>(_ record: Record) throws -> Bool {
    let tables = try prepared(Record.self)
    let key = try RecordTables<Record>.key(of: record.id)
    var batch = try RecordBatch(tables, in: &self)
    if let old = try tables.stored(record.id, key: key, fieldTable(of: tables), in: base) {
      guard !tables.collection.isEventLog else { throw TallyError.unchangeable(tables.collection.name) }
      guard try batch.replace(old, by: record) else { return false }
    } else {
      try batch.insert([record])
    }
    try batch.apply(in: &self)
    return true
  }

  /// Stores a new record.
  ///
  /// - Throws: `duplicateID` if the id is in use; otherwise as ``save(_:)``.
  public mutating func insert<Record: StoredRecord>(_ record: Record) throws {
    try insert(contentsOf: CollectionOfOne(record))
  }

  /// Stores new records.
  ///
  /// It is several times faster than saving one after the other, because each table is written once, in the order of
  /// its keys.
  ///
  /// - Throws: `duplicateID` if an id is in use or occurs twice; otherwise as ``save(_:)``. On an error nothing is
  ///   stored.
  public mutating func insert<Record: StoredRecord>(contentsOf records: some Sequence<Record>) throws {
    let tables = try prepared(Record.self)
    var batch = try RecordBatch(tables, in: &self)
    try batch.insert(Array(records))
    try batch.apply(in: &self)
  }

  /// Changes a stored record.
  ///
  /// ```swift
  /// try store.writeAndWait { try $0.update(Workout.self, id) { $0.minutes += 5 } }
  /// ```
  ///
  /// - Returns: the record as stored; `nil` if there is none with the id.
  /// - Throws: what ``save(_:)`` throws, `duplicateID` if the closure changes the id, and what the closure throws.
  @discardableResult
  public mutating func update<Record: StoredRecord>(
    _ type: Record.Type, _ id: Record.ID, _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    guard var record = try record(type, id) else { return nil }
    try change(&record)
    guard record.id.isSameKey(as: id) else { throw TallyError.foreignRecord }
    try save(record)
    return record
  }

  /// Deletes a record.
  ///
  /// - Returns: whether there was one with the id.
  /// - Throws: what the storage throws.
  @discardableResult
  public mutating func delete<Record: StoredRecord>(_ type: Record.Type, _ id: Record.ID) throws -> Bool {
    try delete(type, [id]) > 0
  }

  /// Deletes the stored record with the id of another one.
  ///
  /// - Returns: whether there was one.
  /// - Throws: what the storage throws.
  @discardableResult
  public mutating func delete<Record: StoredRecord>(_ record: Record) throws -> Bool {
    try delete(Record.self, record.id)
  }

  /// Deletes records.
  ///
  /// - Returns: how many of the ids had one.
  /// - Throws: what the storage throws.
  @discardableResult
  public mutating func delete<Record: StoredRecord>(
    _ type: Record.Type, _ ids: some Sequence<Record.ID>
  ) throws -> Int {
    let tables = try prepared(type)
    var (batch, count, seen) = (try RecordBatch(tables, in: &self), 0, Set<Record.ID>())
    let names = try fieldTable(of: tables)
    for id in ids where seen.insert(id).inserted {
      guard let old = try tables.stored(id, key: RecordTables<Record>.key(of: id), names, in: base) else { continue }
      _ = try batch.replace(old, by: nil)
      count += 1
    }
    try batch.apply(in: &self)
    return count
  }

  /// Names the action of this write, for the history and for a menu item such as "Undo Archive".
  ///
  /// - Parameter name: at most 254 bytes of UTF-8; `nil` for no name.
  /// - Throws: `valueOutOfRange` if the name is longer.
  public mutating func setActionName(_ name: String?) throws {
    try state.setActionName(name)
  }
}

extension Writer {
  /// The tables of a collection, after a look at what other programs keep of it.
  mutating func prepared<Record: StoredRecord>(_ type: Record.Type) throws -> RecordTables<Record> {
    try snapshot.checkIsLive()
    let tables = try snapshot.tables.tables(of: type)
    guard let handles = tables.handles else { throw TallyError.missingCollection(tables.collection.name) }
    if !state.checkedCollections.contains(handles.number) {
      try markForeignMembers(of: tables)
      state.checkedCollections.insert(handles.number)
    }
    return tables
  }

  /// Builds what is stale of a collection, and marks the members that only other programs know as stale.
  private mutating func markForeignMembers<Record: StoredRecord>(of tables: RecordTables<Record>) throws {
    let catalogue = snapshot.tables.catalogue
    let generation = try catalogue.generation(in: base)
    if tables.checkedGeneration.load(ordering: .relaxed) == generation { return }
    let (name, version) = (tables.collection.name, tables.collection.version)
    if let entry = try catalogue.entry(tables.row, in: base), Int(entry.version) > version {
      // A newer program has opened the store since this one did.
      throw TallyError.newerCollection(name, Int(entry.version), known: version)
    }
    let needsWork = try tables.needsWork(catalogue, in: base)
    // What has been built in part must not be committed.
    guard !state.isHalfDone else { throw TallyError.halfDone }
    state.isHalfDone = true
    if needsWork { try tables.prepare(catalogue, in: &base) }
    let (indexes, measures) = (tables.collection.indexes.map(\.name), tables.collection.measures.map(\.name))
    try tables.markAsStale(in: catalogue, in: &base) { kind, name in
      !(kind == .index ? indexes : measures).contains(name)
    }
    state.isHalfDone = false
    tables.checkedGeneration.store(try catalogue.generation(in: base), ordering: .relaxed)
  }

  /// The names of a collection's fields, as this transaction knows them.
  mutating func fieldTable<Record>(of tables: RecordTables<Record>) throws -> FieldTable {
    try snapshot.input(of: tables).names
  }

  mutating func setFieldTable<Record>(_ names: FieldTable, of tables: RecordTables<Record>) {
    snapshot.setFields(names, of: tables)
  }

  /// Changes tables; if the closure throws, the transaction can no longer commit.
  mutating func change(_ body: (inout Writer) throws -> Void) throws {
    // A change that succeeds does not repair an earlier one that failed.
    guard !state.isHalfDone else { throw TallyError.halfDone }
    state.isHalfDone = true
    try body(&self)
    state.isHalfDone = false
    (state.hasChanges, state.hasUnrecordedChanges) = (true, true)
  }

  /// Adds amounts of a measure, which are written with the commit.
  mutating func add(_ groups: MeasureDeltas, _ all: MeasureDeltas, to rows: MeasureRows) {
    for added in [groups, all] where !added.isEmpty {
      state.deltas[rows.number, default: (rows, MeasureDeltas())].deltas.append(added)
      snapshot.pending[rows.number, default: MeasureDeltas()].append(added)
    }
  }

  /// Writes the amounts that were gathered, so that a long write need not hold them all.
  mutating func writeAmounts() throws {
    try snapshot.storeAmounts(&state, in: &base)
  }

  /// Writes what was gathered, the history and the header, and checks that only whole changes are committed.
  mutating func prepareCommit() throws {
    guard !state.isHalfDone else { throw TallyError.halfDone }
    guard state.hasChanges else { return try snapshot.storeFields(in: &base) }
    try recordHistory()
    try snapshot.store(&state, in: &base)
    var header = try snapshot.header()
    header.sequence = state.commitSequence
    try snapshot.tables.meta.put(header, forKey: .header, in: &base)
  }

  /// Runs a closure as a separate write beside others in this transaction, with its own entry in the history.
  ///
  /// - Throws: the closure's error if it has changed nothing; otherwise `EntangledWrites`.
  mutating func beside(_ body: (inout Writer) throws -> Void) throws {
    let hadChanges = state.beginBeside()
    defer { state.hasChanges = state.hasChanges || hadChanges }
    do {
      try body(&self)
      guard !state.isHalfDone else { throw TallyError.halfDone }
      try recordHistory()
    } catch {
      throw state.failure(error)
    }
  }

  /// Runs a closure in a nested transaction: if it throws, only its own changes are rolled back.
  mutating func nested(_ body: (inout Writer) throws -> Void) throws {
    let (tables, now) = (snapshot.tables, snapshot.now)
    var own = WriteState(commitSequence: state.commitSequence)
    own.entersHistory = state.entersHistory
    let didChange = try base.nested { child in
      var writer = Writer(base: child, tables: tables, now: now, state: own)
      let result = Result {
        try body(&writer)
        try writer.prepareCommit()
        return writer.state.hasChanges
      }
      writer.snapshot.end()
      child = writer.base
      return try result.get()
    }
    snapshot.forgetFields()
    state.hasChanges = state.hasChanges || didChange
  }
}

extension MeasureDeltas {
  /// Adds the amounts of others.
  mutating func append(_ other: MeasureDeltas) {
    for (number, group) in other.groups.enumerated() {
      key = group
      if last < 0 || groups[last] != key { selectColumn() }
      columns[last] += other.columns[number]
    }
  }
}

extension TallyError {
  static func unchangeable(_ collection: String) -> TallyError {
    TallyError(
      .unchangeableRecord, "The collection '\(collection)' is a log of events, and has a record with this id",
      remedy: "Insert another event, or delete this one first")
  }

  fileprivate static let foreignRecord = TallyError(
    .duplicateID, "A closure changed the id of the record that it was given",
    remedy: "Keep the id; save a copy under another id, and delete the old record")
}
