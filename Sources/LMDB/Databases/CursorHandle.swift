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
    // The handle is live: the core has just checked it. The cursor is closed before its transaction ends.
    let transaction = try unsafe core.usableHandle(for: database, "open cursor")
    var opened: OpaquePointer?
    let result = unsafe mdb_cursor_open(transaction, database.index, &opened)
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
