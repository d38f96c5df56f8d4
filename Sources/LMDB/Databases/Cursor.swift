/// A position in a database, which can be moved; a ``Cursor`` only reads, a ``WriteCursor`` can also remove.
///
/// It holds the borrow of its transaction, so nothing else can change under it.
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
public struct DatabaseCursor<Key: KeyCodable, Value: BinaryCodable, Access: CursorAccess>: ~Copyable, ~Escapable {
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
  init<T: LMDBTransaction & ~Copyable>(of database: DatabaseHandle, in transaction: borrowing T) throws(LMDBError) {
    handle = try CursorHandle(of: database, in: transaction.core)
  }

  deinit {
    handle.close()
  }
}

/// A cursor of a read transaction, or of a write transaction in which nothing changes meanwhile.
public typealias Cursor<Key: KeyCodable, Value: BinaryCodable> = DatabaseCursor<Key, Value, ReadAccess>

/// A cursor that has a write transaction to itself, and can remove the entry at which it is.
public typealias WriteCursor<Key: KeyCodable, Value: BinaryCodable> = DatabaseCursor<Key, Value, WriteAccess>

/// What a cursor may do: ``ReadAccess`` or ``WriteAccess``.
public protocol CursorAccess {}

/// The access of a cursor that only reads.
public enum ReadAccess: CursorAccess {}

/// The access of a cursor that can also remove.
public enum WriteAccess: CursorAccess {}

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
  public func cursor<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> Cursor<Key, Value> {
    try Cursor(of: handle, in: transaction)
  }

  /// Opens a cursor that can remove entries, and is at none yet; the transaction is its own until its last use.
  ///
  /// ```swift
  /// var cursor = try names.writeCursor(in: &transaction)
  /// var isAtEntry = try cursor.moveToFirst()
  /// while isAtEntry {
  ///   isAtEntry = try isObsolete(cursor.value()) ? cursor.remove() : cursor.next()
  /// }
  /// ```
  ///
  /// Throws `badDatabase`, `badTransaction`, `outOfMemory`.
  ///
  /// The corresponding C function is `mdb_cursor_open`.
  @_lifetime(&transaction)
  public func writeCursor(in transaction: inout WriteTransaction) throws(LMDBError) -> WriteCursor<Key, Value> {
    try WriteCursor(of: handle, in: &transaction)
  }
}

extension DatabaseCursor where Access == WriteAccess {
  @_lifetime(&transaction)
  fileprivate init(of database: DatabaseHandle, in transaction: inout WriteTransaction) throws(LMDBError) {
    handle = try CursorHandle(of: database, in: transaction.core)
  }

  /// Removes the entry at which the cursor is, moves to the one after it, and returns whether there is one.
  ///
  /// If there is none the cursor is after the last entry, as after ``next()``.
  ///
  /// Throws `notPositioned`, and changes nothing, if the cursor is at no entry; otherwise as
  /// ``Database/put(_:forKey:in:)``.
  ///
  /// The corresponding C function is `mdb_cursor_del`.
  @_lifetime(self: copy self)
  public mutating func remove() throws(LMDBError) -> Bool {
    guard isAtEntry else { throw LMDBError(.notPositioned, operation: "remove") }
    // Copied, because the page changes.
    let key = try [UInt8](decoding: keyBytes)
    place = .nowhere
    try handle.remove()
    // By the key and not by `MDB_NEXT`, which has had faults in liblmdb where a removal had emptied a page.
    return try move(.atOrAfter, encoding: key, otherwise: .afterLast)
  }
}
