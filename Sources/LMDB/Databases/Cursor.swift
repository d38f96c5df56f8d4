/// A position in a database, which can be moved.
///
/// It reads only: it holds the borrow of its transaction, so nothing can change under it. To delete while walking,
/// collect the keys and remove them afterwards.
///
/// A cursor that has run off an end stays there: `next()` remains after the last entry, `previous()` returns to it.
///
/// ```swift
/// var cursor = try names.cursor(in: transaction)
/// var isAtEntry = try cursor.move(toFirstAtOrAfter: 100)
/// while isAtEntry {
///   show(try cursor.key(), try cursor.value())
///   isAtEntry = try cursor.next()
/// }
/// ```
@safe
public struct Cursor<Key: KeyCodable, Value: BinaryCodable>: ~Copyable, ~Escapable {
  // Opened with this value and closed with it, so before the end of the transaction it depends on.
  @usableFromInline
  let handle: CursorHandle
  @usableFromInline
  var place = CursorPlace.nowhere
  // Pages of the file, which stay as they are while the transaction is borrowed; empty away from an entry.
  @usableFromInline
  var keyBuffer = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  // As for the key.
  @usableFromInline
  var valueBuffer = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

  @usableFromInline
  @_lifetime(borrow transaction)
  init<T: Transaction & ~Copyable>(of database: DatabaseHandle, in transaction: borrowing T) throws(LMDBError) {
    handle = try CursorHandle(of: database, in: transaction.core)
  }

  deinit {
    handle.close()
  }
}

/// Where a cursor is.
@usableFromInline
enum CursorPlace: Sendable {
  case nowhere, beforeFirst, atEntry, afterLast
}

extension Database {
  /// Opens a cursor, which is at no entry yet.
  ///
  /// Throws `badDatabase`, `badTransaction`, `outOfMemory`.
  ///
  /// The corresponding C function is `mdb_cursor_open`.
  @_lifetime(borrow transaction)
  public func cursor<T: Transaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> Cursor<Key, Value> {
    try Cursor(of: handle, in: transaction)
  }
}
