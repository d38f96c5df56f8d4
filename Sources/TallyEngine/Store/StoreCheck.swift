import LMDB

/// The result of a verification of a store.
public struct StoreReport: Hashable, Sendable {
  /// One inconsistency; it never contains what a person wrote.
  public struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// The kind of inconsistency.
    public enum Kind: String, Hashable, Sendable {
      /// A table is missing.
      case missingTable
      /// The header is missing or impossible.
      case damagedHeader
      /// A table lacks an entry for a record.
      case missingEntry
      /// An entry belongs to no record.
      case danglingEntry
      /// A measure does not match the records.
      case wrongCounter
      /// A record's bytes cannot be read.
      case unreadableRecord
      /// The history cannot be read.
      case unreadableHistory
    }

    /// The kind.
    public let kind: Kind
    /// The table, or the collection, with a dot and the member if it is one of a member.
    public let place: String
    /// The kind and the place.
    public var description: String { "\(kind.rawValue) in \(place)" }
  }

  /// The faults, at most the first thousand; empty for a sound store.
  public internal(set) var faults: [Fault] = []
  /// The number of faults, including those after the first thousand.
  public internal(set) var faultCount = 0
  /// The number of records checked.
  public internal(set) var recordCount = 0
  /// The collections in the store that the schema does not have, and that were not checked.
  public internal(set) var unknownCollections: [String] = []
  /// The number of unreadable records that repairs have set aside.
  public internal(set) var setAsideCount = 0
  /// Whether there are no faults.
  public var isSound: Bool { faultCount == 0 }

  mutating func add(_ kind: Fault.Kind, _ place: String) {
    faultCount += 1
    if faults.count < 1_000 { faults.append(Fault(kind: kind, place: place)) }
  }
}

/// Compares every table of a store with the records, in one snapshot.
struct StoreCheck {
  let catalogue: Catalogue
  private let tables: StoreTables
  private(set) var report = StoreReport()
  /// The rows of the log of changes that belong to no record seen so far.
  private var changes: [ChangeLog.Object: UInt64] = [:]

  var recordCount: Int {
    get { report.recordCount }
    set { report.recordCount = newValue }
  }

  mutating func add(_ kind: StoreReport.Fault.Kind, _ place: String) { report.add(kind, place) }

  /// Whether the log of changes has the right row of a record.
  mutating func expect(_ object: ChangeLog.Object, _ stamp: ChangeLog.Stamp) -> Bool {
    changes.removeValue(forKey: object) == stamp.changed && stamp.created <= stamp.changed
  }

  func isStale(_ number: UInt16, version: Int, in view: borrowing TransactionView) throws -> Bool {
    try tables.isStale(number, version: version, in: view)
  }

  /// Checks an environment that may lack tables; if it does, nothing else is checked.
  static func run(on environment: LMDBEnvironment, _ schema: Schema) throws -> StoreReport {
    try run(on: environment, SchemaLayout(schema: schema))
  }

  static func run(on environment: LMDBEnvironment, _ layout: SchemaLayout) throws -> StoreReport {
    let missing = try layout.namesOfLostTables(in: environment)
    guard missing.isEmpty else {
      var report = StoreReport()
      for name in missing { report.add(.missingTable, name) }
      return report
    }
    let contents = try layout.openTables(in: environment, StoreConfiguration(), isWritable: false)
    guard let tables = contents as? StoreTables else { return StoreReport() }
    var report = try environment.read { transaction in
      try run(on: tables, in: TransactionView(of: transaction))
    }
    if try StoreOpening.header(in: environment)?.hasNextSequence != true {
      report.add(.damagedHeader, StoreHeader.tableName)
    }
    if let setAside = try SetAsideTable(openingIn: environment) {
      report.setAsideCount = try environment.read { transaction in try setAside.rows.count(in: transaction) }
    }
    return report
  }

  /// Checks everything in one snapshot.
  static func run(on tables: StoreTables, in view: borrowing TransactionView) throws -> StoreReport {
    var check = StoreCheck(catalogue: tables.catalogue, tables: tables)
    var deletions: [ChangeLog.Object: ChangeLog.Stamp] = [:]
    try tables.log.forEach(since: 0, in: view) { object, sequence, created in
      if let created {
        deletions[object] = ChangeLog.Stamp(created: created, changed: sequence)
      } else if check.changes.updateValue(sequence, forKey: object) != nil {
        check.add(.danglingEntry, ChangeLog.tableNames[0])
      }
    }
    try tables.log.deleted.raw.forEach(in: view) { key, value in
      let (object, stamp) = (try ChangeLog.Object(key: key), try ChangeLog.Stamp(value))
      // A record that has been created again keeps the row of its deletion.
      if deletions.removeValue(forKey: object) != stamp, check.changes[object] == nil {
        check.add(.danglingEntry, ChangeLog.tableNames[1])
      }
      return true
    }
    for _ in deletions { check.add(.missingEntry, ChangeLog.tableNames[1]) }
    for collection in tables.collections { try collection.check(&check, in: view) }
    let known = Set(tables.collections.compactMap(\.number))
    let surplus = check.changes.keys.filter { known.contains($0.collection) }
    for _ in surplus { check.add(.danglingEntry, ChangeLog.tableNames[0]) }
    let names = Set(tables.collections.map(\.name))
    check.report.unknownCollections = try tables.catalogue.entries(.collection, in: view).keys
      .filter { !names.contains($0) }.sorted()
    if try !HistoryRecord.areReadable(tables.history, in: view) { check.add(.unreadableHistory, "history") }
    return check.report
  }

  private init(catalogue: Catalogue, tables: StoreTables) {
    (self.catalogue, self.tables) = (catalogue, tables)
  }
}

extension StoreSnapshot {
  /// Compares the tables of the collections with the records.
  package func report() throws -> StoreReport { try StoreCheck.run(on: tables, in: view) }
}

extension HistoryRecord {
  /// Whether all records of a history and their images can be read.
  static func areReadable<T: LMDBTransaction & ~Copyable>(
    _ history: Database<HistoryKey, HistoryRecord>, in transaction: borrowing T
  ) throws -> Bool {
    do {
      try history.forEach(in: transaction) { key, value in
        _ = try HistoryKey(decoding: key)
        _ = try HistoryRecord(headOf: value)
        var images = ImageReader(try HistoryRecord.images(of: value))
        try images.forEach { _, _, _ in }
        return true
      }
      return true
    } catch let error as LMDBError where error.code == .undecodable {
      return false
    }
  }
}

extension SchemaLayout {
  /// The tables that a store must have and has lost.
  fileprivate func namesOfLostTables(in environment: LMDBEnvironment) throws -> [String] {
    let missing = try missingTableNames(in: environment)
    guard missing.isEmpty else { return missing }
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, in: environment))
    let required = try environment.read { transaction in
      try declared.flatMap { try $0.requiredTableNames(catalogue, in: transaction) }
    }
    return try Self.missing(required, in: environment)
  }
}
