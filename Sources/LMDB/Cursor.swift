import CLMDB

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
  // Pages of the file, like the key.
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

/// The access that a cursor has: ``ReadAccess`` or ``WriteAccess``.
public protocol CursorAccess {}

/// The access of a cursor that only reads.
public enum ReadAccess: CursorAccess {}

/// The access of a cursor that can also remove.
public enum WriteAccess: CursorAccess {}

/// The position of a cursor.
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

extension DatabaseCursor {
  /// Moves to the first entry, and returns whether there is one.
  ///
  /// Throws `badTransaction`, `ioFailure`, `corrupted`.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_FIRST`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func moveToFirst() throws(LMDBError) -> Bool {
    try move(.first, otherwise: .afterLast)
  }

  /// Moves to the last entry, and returns whether there is one.
  ///
  /// Throws what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_LAST`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func moveToLast() throws(LMDBError) -> Bool {
    try move(.last, otherwise: .beforeFirst)
  }

  /// Moves to the next entry, or to the first one if the cursor was not moved yet, and returns whether there is one.
  ///
  /// Throws what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_NEXT`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func next() throws(LMDBError) -> Bool {
    switch place {
    case .atEntry: try move(.next, otherwise: .afterLast)
    case .nowhere, .beforeFirst: try moveToFirst()
    case .afterLast: false
    }
  }

  /// Moves to the previous entry, or to the last one if the cursor was not moved yet, and returns whether there is one.
  ///
  /// Throws what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_PREV`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func previous() throws(LMDBError) -> Bool {
    switch place {
    case .atEntry: try move(.previous, otherwise: .beforeFirst)
    case .nowhere, .afterLast: try moveToLast()
    case .beforeFirst: false
    }
  }

  /// Moves to the entry of a key, and returns whether there is one; if not, the cursor is at no entry.
  ///
  /// Throws `badKeySize`, and what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_KEY`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(to key: Key) throws(LMDBError) -> Bool {
    try move(.exactly, encoding: key, otherwise: .nowhere)
  }

  /// Moves to the first entry at or after a key, and returns whether there is one.
  ///
  /// Throws `badKeySize`, and what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_RANGE`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(toFirstAtOrAfter key: Key) throws(LMDBError) -> Bool {
    try move(.atOrAfter, encoding: key, otherwise: .afterLast)
  }

  /// Moves to the last entry before a key, and returns whether there is one.
  ///
  /// Throws `badKeySize`, and what ``moveToFirst()`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_RANGE`, then `MDB_PREV`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(toLastBefore key: Key) throws(LMDBError) -> Bool {
    try move(.lastBefore, encoding: key, otherwise: .beforeFirst)
  }
}

extension DatabaseCursor {
  /// Moves without a key.
  @usableFromInline
  @_lifetime(self: copy self)
  mutating func move(_ move: CursorMove, otherwise elsewhere: CursorPlace) throws(LMDBError) -> Bool {
    // No key is read in these moves.
    try unsafe setEntry(handle.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)), otherwise: elsewhere)
  }

  /// Moves by a key.
  @inlinable
  @_lifetime(self: copy self)
  mutating func move(
    _ move: CursorMove,
    encoding key: some KeyCodable,
    otherwise elsewhere: CursorPlace
  ) throws(LMDBError) -> Bool {
    // The encoded key lives on the stack, and is used only within the call.
    let handle = handle
    let found = unsafe try withEncoded(key) { (bytes) throws(LMDBError) in unsafe try handle.move(move, key: bytes) }
    return unsafe setEntry(found, otherwise: elsewhere)
  }

  @inlinable
  @_lifetime(self: copy self)
  mutating func setEntry(
    _ entry: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?,
    otherwise elsewhere: CursorPlace
  ) -> Bool {
    // What liblmdb points to stays until the cursor moves, which replaces both.
    guard let entry = unsafe entry else {
      place = elsewhere
      return false
    }
    place = .atEntry
    unsafe keyBuffer = entry.key
    unsafe valueBuffer = entry.value
    return true
  }
}

extension DatabaseCursor {
  /// Whether the cursor is at an entry.
  @inlinable public var isAtEntry: Bool { place == .atEntry }

  /// The bytes of the key, uncopied, until the cursor moves; empty if it is at no entry.
  @inlinable public var keyBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      // The pages stay while the transaction is borrowed, which is longer than the cursor is.
      unsafe _overrideLifetime(currentKey.bytes, borrowing: self)
    }
  }

  /// The bytes of the value, uncopied, until the cursor moves; empty if it is at no entry.
  @inlinable public var valueBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      // The pages stay while the transaction is borrowed, which is longer than the cursor is.
      unsafe _overrideLifetime(currentValue.bytes, borrowing: self)
    }
  }

  /// Decodes the key.
  ///
  /// Throws `notPositioned` if the cursor is at no entry, and what decoding throws.
  @inlinable
  public func key() throws(LMDBError) -> Key {
    guard isAtEntry else { throw LMDBError(.notPositioned, operation: "read the key") }
    return try Key(decoding: keyBytes)
  }

  /// Decodes the value.
  ///
  /// Throws `notPositioned` if the cursor is at no entry, and what decoding throws.
  @inlinable
  public func value() throws(LMDBError) -> Value {
    guard isAtEntry else { throw LMDBError(.notPositioned, operation: "read the value") }
    return try Value(decoding: valueBytes)
  }

  @usableFromInline var currentKey: UnsafeRawBufferPointer {
    // Both buffers are the entry's own while the cursor is at one, and stale elsewhere.
    unsafe isAtEntry ? keyBuffer : UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @usableFromInline var currentValue: UnsafeRawBufferPointer {
    // The buffers are the entry's own here, as in `currentKey`.
    unsafe isAtEntry ? valueBuffer : UnsafeRawBufferPointer(start: nil, count: 0)
  }
}

/// The part of a cursor that is not generic.
@safe
@usableFromInline
struct CursorHandle {
  // Valid until `close`; the cursor that owns this closes it once, in its `deinit`.
  private let handle: OpaquePointer
  private let core: TransactionCore
  // The cursor over tree and tail: for a write with an overlay, and for a snapshot whose tail has the database. All copies
  // of this handle share it, and `close` frees it. Not an object, whose counting and checks of access each move would pay for.
  private var merged: UnsafeMutablePointer<MergedCursor>?

  @usableFromInline
  init(of database: DatabaseHandle, in core: TransactionCore) throws(LMDBError) {
    // The handle is live: the core has just checked it.
    try unsafe self.init(
      of: database.index, in: core, core.usableHandle(for: database, "open cursor"))
    guard let overlay = core.overlay else { return }
    let tables: [LogTable]
    do throws(LMDBError) { tables = try overlay.tables(of: database) } catch {
      close()
      throw error
    }
    guard !tables.isEmpty || overlay.write != nil else { return }
    let cursor = MergedCursor(cursor: LogCursor(over: self, tables, at: overlay.limit), database: database)
    // Freed by `close`.
    let place = UnsafeMutablePointer<MergedCursor>.allocate(capacity: 1)
    unsafe place.initialize(to: cursor)
    unsafe merged = place
  }

  /// Opens a cursor of the database without a name, whose keys are the names of all others.
  init(ofNamesIn core: TransactionCore) throws(LMDBError) {
    // liblmdb always numbers it 1, so it needs no handle. As above.
    try unsafe self.init(of: 1, in: core, core.usableHandle("open cursor"))
  }

  private init(
    of index: UInt32, in core: TransactionCore, _ transaction: OpaquePointer
  ) throws(LMDBError) {
    var opened: OpaquePointer?
    // The caller has checked the transaction; the cursor is closed before it ends.
    let result = unsafe mdb_cursor_open(transaction, index, &opened)
    guard result == MDB_SUCCESS, let opened = unsafe opened else { throw core.failed(result, "open cursor") }
    // Opened above, and closed once, by `close`.
    unsafe handle = opened
    self.core = core
    unsafe merged = nil
  }

  @usableFromInline
  func close() {
    // The owner calls this once, and nothing afterwards.
    unsafe mdb_cursor_close(handle)
    guard let merged = unsafe merged else { return }
    unsafe merged.deinitialize(count: 1)
    unsafe merged.deallocate()
  }

  /// Stores a value, and returns liblmdb's code.
  func put(_ key: inout MDB_val, _ value: inout MDB_val, _ flags: UInt32) -> Int32 {
    // The cursor is open; the caller has checked the transaction, and ensures that both point to live memory.
    unsafe mdb_cursor_put(handle, &key, &value, flags)
  }

  /// Removes the entry at which the cursor is; afterwards the cursor must be moved by a key or to an end.
  ///
  /// The corresponding C function is `mdb_cursor_del`.
  @usableFromInline
  func remove() throws(LMDBError) {
    // Asked only for whether the transaction may still be used.
    _ = try unsafe core.usableHandle("remove")
    if let merged = unsafe merged { return try unsafe merged.pointee.remove(in: core) }
    // The cursor is open.
    let result = unsafe mdb_cursor_del(handle, 0)
    guard result == MDB_SUCCESS else { throw core.failed(result, "remove") }
  }

  /// Moves to the first entry at or after a key, or to the first of all without one.
  func moveToFirst(
    atOrAfter lower: [UInt8]?
  ) throws(LMDBError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    guard let lower else {
      // No key is read in this move.
      return try unsafe move(.first, key: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    // liblmdb reads the key within the call only.
    return try unsafe lower.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      try unsafe move(.atOrAfter, key: bytes)
    }
  }

  /// Moves, and returns the entry, or `nil` if there is none.
  @usableFromInline
  func move(
    _ move: CursorMove,
    key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    // Asked only for whether the transaction may still be used.
    _ = try unsafe core.usableHandle("move the cursor")
    if let merged = unsafe merged { return unsafe try merged.pointee.cursor.move(move, key: key) }
    // liblmdb only reads the key it is given, and then lets both point into the map.
    var keyBytes = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    var result = unsafe mdb_cursor_get(handle, &keyBytes, &value, move.operation)
    if move == .lastBefore, result == MDB_SUCCESS || result == MDB_NOTFOUND {
      result = unsafe mdb_cursor_get(handle, &keyBytes, &value, result == MDB_SUCCESS ? MDB_PREV : MDB_LAST)
    }
    // Pages of the map, which stay while the transaction is borrowed.
    if result == MDB_SUCCESS { return unsafe (keyBytes.bytes, value.bytes) }
    if result == MDB_NOTFOUND { return nil }
    throw core.failed(result, "move the cursor")
  }
}

/// The moves the binding uses.
@usableFromInline
enum CursorMove: Sendable {
  case first, last, next, previous, exactly, atOrAfter, lastBefore

  fileprivate var operation: MDB_cursor_op {
    switch self {
    case .first: MDB_FIRST
    case .last: MDB_LAST
    case .next: MDB_NEXT
    case .previous: MDB_PREV
    case .exactly: MDB_SET_KEY
    case .atOrAfter, .lastBefore: MDB_SET_RANGE
    }
  }
}
