import LMDB

extension LMDBError {
  /// Stored bytes that no version of Tally known here writes.
  static func undecodable(_ message: String) -> LMDBError {
    LMDBError(.undecodable, operation: "read a record", message: message, remedy: "Restore the store from a backup")
  }
}
