import CLMDB
import SystemPackage

extension TransactionCore {
  /// Creates the error of a failed call, and remembers whether only an abort is left.
  ///
  /// liblmdb marks a transaction as bad in most such places, not in all: a transaction whose last change was only half
  /// done must not be committed.
  func failed(_ returnCode: Int32, _ operation: String) -> LMDBError {
    if returnCode == Errno.invalidArgument.rawValue {
      // The arguments are sound: the handle is younger than the transaction.
      let message = "The transaction began before the database was opened"
      return LMDBError(.badDatabase, operation: operation, message: message, returnCode: returnCode)
    }
    // The owner keeps the environment alive.
    let error = unsafe environment.explain(returnCode, operation)
    if isWrite && !Self.harmless.contains(returnCode) { fail(error.code) }
    return error
  }

  /// Marks the transaction as one that can only be aborted.
  ///
  /// A full map is the environment's trouble, not the nested transaction's: it marks the parents too, so that somebody
  /// who swallows a nested failure still has the whole run again on a larger map.
  func fail(_ code: LMDBError.Code) {
    if failure == nil { failure = code }
    if code == .mapFull { parent?.fail(code) }
  }

  /// Codes that mean that the call did nothing.
  private static let harmless: [Int32] = [MDB_NOTFOUND, MDB_KEYEXIST, MDB_BAD_VALSIZE, MDB_DBS_FULL, MDB_INCOMPATIBLE]
}
