package import LMDB

extension LMDBError {
  /// The error for stored bytes that no known version of Tally writes.
  package static func undecodable(_ message: String) -> LMDBError {
    LMDBError(.undecodable, operation: "read a record", message: message, remedy: "Restore the store from a backup")
  }
}
