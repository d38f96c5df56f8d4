extension Database {
  /// Stores many values, each in place of the one its key has.
  ///
  /// The keys should ascend: the search for a key's place then begins where the last one's ended, and what lies behind
  /// all that there was is appended, which leaves full pages. In any other order the result is the same, at the price of
  /// storing them one by one.
  ///
  /// Throws as ``put(_:forKey:in:)``.
  ///
  /// The corresponding C function is `mdb_cursor_put`, with `MDB_APPEND` where it applies.
  @inlinable
  public func put(
    contentsOf entries: some Sequence<(Key, Value)>,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let core = transaction.core
    let cursor = try CursorHandle(of: handle, in: core)
    // Nothing else is done with it, and the transaction is still live then.
    defer { cursor.close() }
    var end = try cursor.endOfKeys()
    for (key, value) in entries {
      // The pointers of key and page are used only within the call.
      unsafe try withEncoded(key) { (encoded) throws(LMDBError) in
        if let last = end, unsafe last.isBefore(encoded) { end = nil }
        unsafe try store(value, forKey: encoded, isBehindAll: end == nil, core, cursor)
      }
    }
  }

  @inlinable
  func store(
    _ value: Value,
    forKey key: UnsafeRawBufferPointer,
    isBehindAll: Bool,
    _ core: TransactionCore,
    _ cursor: CursorHandle
  ) throws(LMDBError) {
    let byteCount = value.encodedByteCount
    // The room lies in a page of the transaction, and is used before the next change.
    var page = unsafe isBehindAll ? try core.reserve(byteCount, for: key, .append, in: handle, by: cursor) : nil
    // A key that cannot be appended does not ascend.
    if unsafe page == nil { unsafe page = try core.reserve(byteCount, for: key, .replace, in: handle, by: cursor) }
    guard let page = unsafe page else { return }
    unsafe try fill(page, with: value, core)
  }
}

extension CursorHandle {
  /// The greatest key there is; `nil` if there is none.
  @usableFromInline
  func endOfKeys() throws(LMDBError) -> [UInt8]? {
    // No key is read in this move; what it finds is copied.
    guard let entry = unsafe try move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0)) else { return nil }
    return unsafe [UInt8](entry.key)
  }
}

extension [UInt8] {
  /// Whether an encoded key comes behind this one.
  @inlinable
  func isBefore(_ key: UnsafeRawBufferPointer) -> Bool {
    unsafe lexicographicallyPrecedes(key)
  }
}
