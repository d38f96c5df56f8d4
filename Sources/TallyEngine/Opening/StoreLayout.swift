package import LMDB

/// The tables of an open store, as its layout knows them.
package protocol StoreContents: AnyObject, Sendable {
  /// Why writing is refused; `nil` if it is allowed.
  var writeRefusal: TallyError? { get }

  /// Brings up what lags behind the records, in short writes; called by the thread that merges a log.
  func bringUp(in environment: LMDBEnvironment) throws
}

extension StoreContents {
  package func bringUp(in environment: LMDBEnvironment) throws {}
  package var writeRefusal: TallyError? { nil }
}

/// A kind of store: its tables, and how they are created, opened, migrated and checked.
///
/// Opening is the same for every kind of store; it asks the layout wherever the tables matter.
package protocol StoreLayout: Sendable {
  /// The tables that every store of this kind has.
  var tableNames: [String] { get }
  /// The number of named databases for which a store has room.
  var maximumTableCount: Int { get }
  /// The features that a new store requires of every program that opens it.
  var requiredFeatures: StoreFeatures { get }
  /// The migrations from older formats.
  var migrations: MigrationTable { get }

  /// The names of files beside the data file that a restored store must not continue with, because the backup may be
  /// older than what they describe.
  var namesOfOneStoreOnly: [String] { get }

  /// Checks what the application has declared, before anything is opened.
  func check() throws

  /// Refuses a store of another kind.
  func admit(_ header: StoreHeader) throws

  /// Creates the tables of a new store.
  func createTables(in transaction: inout WriteTransaction) throws

  /// Opens the tables of an existing store, after bringing up to date what another program or version has left behind.
  ///
  /// - Parameters:
  ///   - environment: the store's environment.
  ///   - configuration: how the store is opened.
  ///   - isWritable: whether anything may be changed.
  /// - Returns: the tables.
  /// - Throws: `databaseNotFound` if a table is missing.
  func openTables(
    in environment: LMDBEnvironment, _ configuration: StoreConfiguration, isWritable: Bool
  ) throws -> any StoreContents

  /// Whether a check of the whole store finds no fault.
  func isSound(_ environment: LMDBEnvironment) throws -> Bool
}

extension StoreLayout {
  package var namesOfOneStoreOnly: [String] { [] }

  /// The names of the tables that are missing in an environment.
  package func missingTableNames(in environment: LMDBEnvironment) throws(LMDBError) -> [String] {
    try Self.missing(tableNames, in: environment)
  }

  /// The names of tables that an environment does not have.
  static func missing(_ names: [String], in environment: LMDBEnvironment) throws(LMDBError) -> [String] {
    var missing: [String] = []
    for name in names {
      do throws(LMDBError) {
        _ = try Database<[UInt8], [UInt8]>(opening: name, in: environment)
      } catch {
        guard error.code == .databaseNotFound else { throw error }
        missing.append(name)
      }
    }
    return missing
  }
}
