package import LMDB

/// The collections of an application in a store of another kind, beside that store's own tables.
///
/// They share its header, its history and its commits. The store has the required feature `ownCollections` from the
/// first opening with a schema on, because a program without collections could not undo what has changed them.
package struct CollectionsBeside: Sendable {
  private let layout: SchemaLayout

  package init(_ schema: Schema) {
    layout = SchemaLayout(schema: schema)
  }

  package var isEmpty: Bool { layout.schema.collections.isEmpty }
  /// The number of named databases for which there must be room.
  package var maximumTableCount: Int { isEmpty ? 0 : layout.maximumTableCount }

  package func check() throws { try layout.check() }

  /// Opens the tables, which are made and brought up to date if the store may be changed.
  ///
  /// - Returns: the tables; `nil` without a schema, and if the store has none and must not be changed.
  /// - Throws: `databaseNotFound` if a table has been lost; `duplicateKey` if a new unique index has two records with one
  ///   key.
  package func open(
    in environment: LMDBEnvironment, _ configuration: StoreConfiguration, isWritable: Bool
  ) throws -> StoreTables? {
    guard !isEmpty else { return nil }
    if try StoreOpening.header(in: environment)?.requiredFeatures.contains(.ownCollections) != true {
      guard isWritable else { return nil }
      try environment.write { transaction in try create(in: &transaction) }
    }
    return try layout.openTables(in: environment, configuration, isWritable: isWritable) as? StoreTables
  }

  private func create(in transaction: inout WriteTransaction) throws {
    let meta = try StoreHeader.table(creatingIn: &transaction)
    guard var header = try meta.value(forKey: .header, in: transaction) else {
      throw TallyError.missingRecord(of: StoreHeader.tableName)
    }
    try layout.createTables(in: &transaction)
    header.requiredFeatures.insert(.ownCollections)
    try meta.put(header, forKey: .header, in: &transaction)
  }

  /// The refusal of a repair, if something is missing from which everything else follows, or if a newer version of the
  /// program has given a collection another version.
  package func refusalOfRepair(on environment: LMDBEnvironment) throws -> TallyError? {
    let header = try StoreOpening.header(in: environment)
    guard header?.requiredFeatures.contains(.ownCollections) == true else { return nil }
    return try report(on: environment).refusalOfRepair ?? layout.newerVersion(in: environment)
  }

  /// Compares the tables with the records, and names the collections that the schema does not have.
  package func report(on environment: LMDBEnvironment) throws -> StoreReport {
    let header = try StoreOpening.header(in: environment)
    guard header?.requiredFeatures.contains(.ownCollections) == true else { return StoreReport() }
    return try StoreCheck.run(on: environment, layout)
  }

  /// Whether a store, whose header may be lost, has collections.
  package static func areStored(in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    do throws(LMDBError) {
      _ = try Database<[UInt8], [UInt8]>(opening: Catalogue.tableName, creating: false, in: &transaction)
      return true
    } catch {
      guard error.code == .databaseNotFound else { throw error }
      return false
    }
  }

  /// Sets damaged records aside, and builds everything else from the others.
  ///
  /// - Parameters:
  ///   - sequence: the last commit that anything else of the store names.
  ///   - isHeaderLost: whether the header is lost, which would name the last one.
  ///   - transaction: the transaction of the repair.
  /// - Returns: the commit of the repair, how many records were set aside, and whether the store has collections.
  /// - Throws: what ``Store/repair(at:schema:configuration:settingUndecodableAside:)`` throws.
  package func repair(
    after sequence: UInt64, isHeaderLost: Bool, in transaction: inout WriteTransaction
  ) throws -> (sequence: UInt64, setAsideCount: Int, areStored: Bool) {
    guard try Self.areStored(in: &transaction) else {
      return (min(sequence, StoreHeader.lastSequence - 1) + 1, 0, false)
    }
    let result = try StoreRepair(layout: layout, takesUndecodable: false).repairCollections(
      after: sequence, isHeaderLost: isHeaderLost, in: &transaction)
    return (result.sequence, result.setAsideCount, true)
  }
}
