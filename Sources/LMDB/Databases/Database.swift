/// A typed handle of a named database.
///
/// Open each once, near the start, and keep it: it is a number, costs nothing to copy, and is valid as long as the
/// environment. A handle of another environment, of an opening that was aborted, or of a database that was dropped
/// throws `badDatabase`.
public struct Database<Key: KeyCodable, Value: BinaryCodable>: Sendable {
  @usableFromInline
  let handle: DatabaseHandle

  init(_ handle: DatabaseHandle) {
    self.handle = handle
  }

  /// The same database with its keys and values as bytes, for walks that do not depend on their types.
  package var raw: Database<[UInt8], [UInt8]> { raw(keyedBy: [UInt8].self) }

  /// The same database with its values as bytes, and its keys as bytes in another type.
  package func raw<Bytes: KeyCodable>(keyedBy: Bytes.Type) -> Database<Bytes, [UInt8]> {
    Database<Bytes, [UInt8]>(handle)
  }

  /// Opens a database within a write transaction, which must be committed for the handle to last.
  ///
  /// Throws `databaseNotFound` if there is none and `creating` is false; `databasesFull`; `incompatible` if it has
  /// flags this binding does not use, such as several values per key.
  ///
  /// The corresponding C function is `mdb_dbi_open`.
  public init(opening name: String, creating: Bool, in transaction: inout WriteTransaction) throws(LMDBError) {
    handle = try transaction.core.openDatabase(named: name, creating: creating)
  }

  /// Opens a database that exists; transactions that begin afterwards can use it.
  ///
  /// It takes a short read transaction of its own. One that is live already would not know the handle, which is why
  /// none is taken as a parameter.
  ///
  /// Throws as the other initialiser, and `busy` while this thread has opened databases in a write transaction.
  ///
  /// The corresponding C function is `mdb_dbi_open`.
  public init(opening name: String, in environment: LMDBEnvironment) throws(LMDBError) {
    handle = try environment.openDatabase(named: name)
  }
}
