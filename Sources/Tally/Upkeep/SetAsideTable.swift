import LMDB

/// Records whose bytes could not be read, moved here by a repair so that views work again and nothing is lost.
///
/// Created by the first repair that needs it. The key is the name of the record's table, a zero byte and the record's
/// key; the value is the record with its bytes unchanged.
struct SetAsideTable {
  private typealias Rows = Database<[UInt8], [UInt8]>
  private let rows: Rows

  /// Stored: do not change.
  static let name = "setAside"
  /// The longest key that liblmdb stores.
  private static let maximumKeyByteCount = 511

  /// Opens the table; `nil` if no repair has created it.
  init?(openingIn environment: LMDBEnvironment) throws(LMDBError) {
    do throws(LMDBError) {
      rows = try Rows(opening: Self.name, in: environment)
    } catch {
      guard error.code == .databaseNotFound else { throw error }
      return nil
    }
  }

  /// Opens the table, or creates it.
  init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    rows = try Rows(opening: Self.name, creating: true, in: &transaction)
  }

  func count<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int {
    try rows.count(in: transaction)
  }

  /// Stores a record, whatever its bytes.
  func put(_ record: [UInt8], of table: String, key: [UInt8], in transaction: inout WriteTransaction) throws(LMDBError)
  {
    // No key of Tally's is so long that its end is lost; that of a damaged one says nothing.
    let key = (Array(table.utf8) + [0] + key).prefix(Self.maximumKeyByteCount)
    try rows.put(record, forKey: Array(key), in: &transaction)
  }
}
