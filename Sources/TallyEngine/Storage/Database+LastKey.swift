package import LMDB

extension Database {
  /// The last key of the table; `nil` in an empty one.
  package func lastKey<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Key? {
    var cursor = try cursor(in: transaction)
    return try cursor.moveToLast() ? try cursor.key() : nil
  }
}
