package import LMDB

/// Records whose bytes could not be read, moved here by a repair so that views work again and nothing is lost.
///
/// The first repair that needs the table creates it. The key is the name of the record's table, a zero byte and the
/// record's key; the value is the record with its bytes unchanged.
package struct SetAsideTable {
  package let rows: Database<[UInt8], [UInt8]>

  /// Stored: do not change.
  package static let name = "setAside"
  /// The longest key that liblmdb can store, in bytes.
  private static let maximumKeyByteCount = 511

  /// Opens the table; `nil` if no repair has created it yet.
  package init?(openingIn environment: LMDBEnvironment) throws(LMDBError) {
    do throws(LMDBError) {
      rows = try Database(opening: Self.name, in: environment)
    } catch {
      guard error.code == .databaseNotFound else { throw error }
      return nil
    }
  }

  /// Opens the table, and creates it if necessary.
  package init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    rows = try Database(opening: Self.name, creating: true, in: &transaction)
  }

  /// Stores a record with any bytes.
  package func put(_ record: [UInt8], of table: String, key: [UInt8], in transaction: inout WriteTransaction)
    throws(LMDBError)
  {
    // No key of Tally's is so long that it would be cut; a damaged key carries no information.
    let key = (Array(table.utf8) + [0] + key).prefix(Self.maximumKeyByteCount)
    try rows.put(record, forKey: Array(key), in: &transaction)
  }
}
