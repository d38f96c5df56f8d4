import CLMDB

/// What storing does about an existing value.
@usableFromInline
enum StoreMode: Sendable {
  case replace, insert, append
}

extension TransactionCore {
  /// Finds the bytes of a key; they belong to the transaction.
  @usableFromInline
  func find(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> UnsafeRawBufferPointer? {
    let transaction = try unsafe usableHandle(for: database, "get")
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let result = unsafe mdb_get(transaction, database.index, &keyBytes, &value)
    // A page of the map: the caller ties it to the transaction.
    if result == MDB_SUCCESS { return unsafe value.bytes }
    if result == MDB_NOTFOUND { return nil }
    throw failed(result, "get")
  }

  /// Reserves room for a value and returns it to be written, or `nil` if the mode forbids it.
  ///
  /// With a cursor of the database, the search for the place begins where the cursor is.
  @usableFromInline
  func reserve(
    _ byteCount: Int,
    for key: UnsafeRawBufferPointer,
    _ mode: StoreMode,
    in database: DatabaseHandle,
    by cursor: CursorHandle? = nil
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    // The handle is live: it has just been checked.
    let transaction = try unsafe usableHandle(for: database, "put")
    guard byteCount >= 0, byteCount <= LMDBLimits.valueSizeInBytes else {
      throw LMDBError(.badValueSize, operation: "put")
    }
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    // With MDB_RESERVE only the size is read, and the address of the room is returned.
    var value = unsafe MDB_val(mv_size: byteCount, mv_data: nil)
    let result =
      if let cursor {
        unsafe cursor.put(&keyBytes, &value, mode.flags)
      } else {
        unsafe mdb_put(transaction, database.index, &keyBytes, &value, mode.flags)
      }
    if result == MDB_SUCCESS { return unsafe UnsafeMutableRawBufferPointer(start: value.mv_data, count: byteCount) }
    if result == MDB_KEYEXIST { return nil }
    throw failed(result, "put")
  }

  /// Clears a value whose codec stopped early, and returns the error to throw.
  @usableFromInline
  func failShortValue(_ written: Int, of page: UnsafeMutableRawBufferPointer) -> LMDBError {
    for index in written..<page.count { unsafe page[index] = 0 }
    fail(.badValueSize)
    return LMDBError(
      .badValueSize,
      operation: "put",
      message: "The codec announced \(page.count) bytes and wrote \(written)"
    )
  }

  /// Removes a key, and returns whether there was one.
  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> Bool {
    let transaction = try unsafe usableHandle(for: database, "remove")
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    let result = unsafe mdb_del(transaction, database.index, &keyBytes, nil)
    if result == MDB_SUCCESS { return true }
    if result == MDB_NOTFOUND { return false }
    throw failed(result, "remove")
  }

  /// Removes the keys of a range, and returns how many there were.
  @usableFromInline
  func removeAll(within bounds: EncodedBounds, in database: DatabaseHandle) throws(LMDBError) -> Int {
    let cursor = try CursorHandle(of: database, in: self)
    // Nothing else is done with it, and the transaction is still live then.
    defer { cursor.close() }
    var count = 0
    while true {
      // By the bound and not by `MDB_NEXT`, which has had faults in liblmdb where a removal had emptied a page.
      // The key is read before anything changes.
      let key = unsafe try cursor.moveToFirst(atOrAfter: bounds.lower)?.key
      guard let key = unsafe key, unsafe !reaches(key.bytes, bounds.upper) else { return count }
      try cursor.remove()
      count += 1
    }
  }

  /// Removes every key of a database.
  func removeAll(in database: DatabaseHandle) throws(LMDBError) {
    let transaction = try unsafe usableHandle(for: database, "remove all")
    // Zero empties; one would delete the database and its handle, which may be in use.
    let result = unsafe mdb_drop(transaction, database.index, 0)
    guard result == MDB_SUCCESS else { throw failed(result, "remove all") }
  }
}

extension StoreMode {
  fileprivate var flags: UInt32 {
    switch self {
    case .replace: UInt32(MDB_RESERVE)
    case .insert: UInt32(MDB_RESERVE | MDB_NOOVERWRITE)
    case .append: UInt32(MDB_RESERVE | MDB_APPEND)
    }
  }
}

extension MDB_val {
  /// A view of bytes that liblmdb will only read.
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  /// The bytes liblmdb points to.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
