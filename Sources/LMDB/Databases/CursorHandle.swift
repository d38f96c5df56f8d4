import CLMDB

/// The part of a cursor that is not generic.
@safe
@usableFromInline
struct CursorHandle {
  // Valid until `close`; the cursor that owns this closes it once, in its `deinit`.
  private let handle: OpaquePointer
  private let core: TransactionCore

  @usableFromInline
  init(of database: DatabaseHandle, in core: TransactionCore) throws(LMDBError) {
    // The handle is live: the core has just checked it.
    try unsafe self.init(
      of: database.index, in: core, core.usableHandle(for: database, "open cursor"))
  }

  /// Opens a cursor of the database without a name, whose keys are the names of all others.
  init(ofNamesIn core: TransactionCore) throws(LMDBError) {
    // liblmdb gives it this number always, so that it needs no handle. As above.
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
  }

  @usableFromInline
  func close() {
    // The owner calls this once, and nothing afterwards.
    unsafe mdb_cursor_close(handle)
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
    // liblmdb only reads the key it is given, and then lets both point into the map.
    var keyBytes = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(handle, &keyBytes, &value, move.operation)
    // Pages of the map, which stay while the transaction is borrowed.
    if result == MDB_SUCCESS { return unsafe (keyBytes.bytes, value.bytes) }
    if result == MDB_NOTFOUND { return nil }
    throw core.failed(result, "move the cursor")
  }
}

/// The moves the binding uses.
@usableFromInline
enum CursorMove: Sendable {
  case first, last, next, previous, exactly, atOrAfter

  fileprivate var operation: MDB_cursor_op {
    switch self {
    case .first: MDB_FIRST
    case .last: MDB_LAST
    case .next: MDB_NEXT
    case .previous: MDB_PREV
    case .exactly: MDB_SET_KEY
    case .atOrAfter: MDB_SET_RANGE
    }
  }
}
