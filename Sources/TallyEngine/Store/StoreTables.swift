import Foundation
import LMDB
import Logging
import TallySystem

/// The open tables of a store of collections.
package final class StoreTables: StoreContents {
  let meta: Database<MetaKey, StoreHeader>
  let catalogue: Catalogue
  let log: ChangeLog
  let history: Database<HistoryKey, HistoryRecord>
  /// In the order of the schema: a schema has few, and looking through them is quicker than hashing.
  let collections: [any ManagedTables]
  package let writeRefusal: TallyError?
  /// The versions of the members that may be read, as of a generation of the catalogue.
  private let readableMembers = Monitor((generation: UInt64.max, versions: [UInt16: UInt32]()))

  /// The longest id, in bytes.
  static let maximumIDByteCount = 240
  /// The longest key of an index with the record's id, in bytes: what liblmdb can store.
  static let maximumKeyByteCount = 511

  static let tableNames = [StoreHeader.tableName, Catalogue.tableName] + ChangeLog.tableNames + ["history"]

  init(
    in environment: LMDBEnvironment, _ declared: [any ManagedTables], writeRefusal: TallyError?
  ) throws {
    meta = try StoreHeader.table(in: environment)
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, in: environment))
    log = ChangeLog(
      changes: try Database(opening: ChangeLog.tableNames[0], in: environment),
      deleted: try Database(opening: ChangeLog.tableNames[1], in: environment))
    history = try Database(opening: "history", in: environment)
    collections = try environment.read { transaction in
      try declared.map { try $0.opened(catalogue, in: transaction, environment) }
    }
    self.catalogue = catalogue
    self.writeRefusal = writeRefusal
  }

  /// The tables of the collection of a type of records.
  func tables<Record: StoredRecord>(of type: Record.Type) throws -> RecordTables<Record> {
    let wanted = ObjectIdentifier(type)
    for tables in collections where tables.recordType == wanted {
      // The type of the records decides that of the tables.
      return unsafe unsafeDowncast(tables, to: RecordTables<Record>.self)
    }
    throw TallyError(
      .invalidIndex, "The schema has no collection of \(Record.self)", remedy: "Add the collection to the schema")
  }

  func tables(number: UInt16) -> (any ManagedTables)? { collections.first { $0.number == number } }

  /// Whether a member must be built again before it is read: another program has written without knowing it, or has
  /// built another version of it, or has built it of records that another version of the collection reads.
  func isStale<T: LMDBTransaction & ~Copyable>(
    _ number: UInt16, version: Int, in transaction: borrowing T
  ) throws -> Bool {
    if number == .max { return true }
    let generation = try catalogue.generation(in: transaction)
    let known = readableMembers.withLock(\.self)
    if known.generation == generation { return known.versions[number].map(Int.init) != version }
    var versions: [UInt16: UInt32] = [:]
    let stored = try catalogue.entries(.collection, in: transaction)
    for collection in collections where stored[collection.name].map({ Int($0.version) }) == collection.version {
      for kind in [Catalogue.Kind.index, .measure] {
        for entry in try catalogue.entries(kind, below: collection.name, in: transaction).values where !entry.isStale {
          versions[entry.number] = entry.version
        }
      }
    }
    let found = (generation: generation, versions: versions)
    readableMembers.withLock { $0 = found }
    return versions[number].map(Int.init) != version
  }
}

/// The layout of a store of collections.
struct SchemaLayout: StoreLayout {
  let schema: Schema

  var tableNames: [String] { StoreTables.tableNames }
  /// Room for what other programs have in the store, too.
  var maximumTableCount: Int { 32 + 2 * declared.reduce(0) { $0 + $1.tableNames.count } }
  var requiredFeatures: StoreFeatures { [.taggedRecords, .collections] }
  /// A store of collections has had no older format.
  var migrations: MigrationTable { MigrationTable(current: StoreHeader.currentMajorFormat, steps: []) }

  var declared: [any ManagedTables] {
    // Only collections conform, and they make such tables.
    schema.collections.compactMap { $0.makeTables() as? any ManagedTables }
  }

  func check() throws {
    try schema.check()
  }

  func admit(_ header: StoreHeader) throws {
    if header.requiredFeatures.contains(.ownCollections) {
      throw TallyError(
        .notAStore, "The store has more than collections", remedy: "Open it with the kind of program that has made it")
    }
    guard header.requiredFeatures.contains(.collections) else {
      throw TallyError(
        .notAStore, "The store has no collections", remedy: "Give the directory of another store, or a new one")
    }
  }

  func createTables(in transaction: inout WriteTransaction) throws {
    for name in tableNames where name != StoreHeader.tableName {
      _ = try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
    }
  }

  func openTables(
    in environment: LMDBEnvironment, _ configuration: StoreConfiguration, isWritable: Bool
  ) throws -> any StoreContents {
    let declared = declared
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, in: environment))
    let (refusal, isWorkNeeded) = try environment.read { transaction in
      let refusal = try newerVersion(declared, catalogue, in: transaction)
      return (refusal, try declared.contains { try $0.needsWork(catalogue, in: transaction) })
    }
    if isWritable, refusal == nil, isWorkNeeded {
      try environment.write { transaction in
        for tables in declared { try tables.prepare(catalogue, in: &transaction) }
      }
      configuration.logger.notice("brought the tables of the collections up to date")
    }
    return try StoreTables(in: environment, declared, writeRefusal: refusal)
  }

  /// The refusal of writes, if a newer version of the program has given a collection another version.
  private func newerVersion<T: LMDBTransaction & ~Copyable>(
    _ declared: [any ManagedTables], _ catalogue: Catalogue, in transaction: borrowing T
  ) throws -> TallyError? {
    for collection in schema.collections {
      let entry = try catalogue.entry(Catalogue.row(.collection, collection.name), in: transaction)
      guard let entry, Int(entry.version) > collection.version else { continue }
      return .newerCollection(collection.name, Int(entry.version), known: collection.version)
    }
    return nil
  }

  /// The refusal of writes, if a newer version of the program has given a collection another version.
  func newerVersion(in environment: LMDBEnvironment) throws -> TallyError? {
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, in: environment))
    return try environment.read { transaction in try newerVersion(declared, catalogue, in: transaction) }
  }

  func isSound(_ environment: LMDBEnvironment) throws -> Bool {
    try StoreCheck.run(on: environment, schema).isSound
  }
}

extension TallyError {
  static func newerCollection(_ name: String, _ version: Int, known: Int) -> TallyError {
    TallyError(
      .newerFormat, "The collection '\(name)' has version \(version), and this program knows \(known)",
      remedy: "Use a newer version of the program to change it; it can be read")
  }
}
