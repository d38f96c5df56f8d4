extension TransactionCore {
  /// Stores entries in the order of their keys.
  @usableFromInline
  func put(_ batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) {
    batch.sort()
    let cursor = try CursorHandle(of: database, in: self)
    // Nothing else is done with it, and the transaction is still live then.
    defer { cursor.close() }
    if try isDense(batch, in: database, by: cursor) { return try merge(batch, into: database, by: cursor) }
    // The pointers are used only within the closure, in which the batch does not change.
    try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      // No key is read in this move.
      let end = unsafe try cursor.move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0))?.key
      // What liblmdb has found is copied, as the page may go with the first change.
      var last = unsafe end.map { unsafe [UInt8]($0) }
      for entry in batch.entries {
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.key])
        if let end = last, unsafe end.lexicographicallyPrecedes(key) { last = nil }
        let value = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.value])
        unsafe try store(value, forKey: key, isAfterAll: last == nil, in: database, by: cursor)
      }
    }
  }

  /// Removes the keys of entries, in their order.
  func remove(_ batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) {
    batch.sort()
    // The pointers are used only within the closure, in which the batch does not change.
    try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      for entry in batch.entries {
        _ = unsafe try remove(UnsafeRawBufferPointer(rebasing: bytes[entry.key]), in: database)
      }
    }
  }

  func store(
    _ value: UnsafeRawBufferPointer,
    forKey key: UnsafeRawBufferPointer,
    isAfterAll: Bool,
    in database: DatabaseHandle,
    by cursor: CursorHandle
  ) throws(LMDBError) {
    assert(unsafe value.count <= LMDBLimits.valueSizeInBytes && !key.isEmpty, "an entry that was not checked")
    // The room lies in a page of the transaction, and is used before the next change.
    var page = unsafe isAfterAll ? try reserve(value.count, for: key, .append, in: database, by: cursor) : nil
    // A key that cannot be appended is in the batch twice.
    if unsafe page == nil { unsafe page = try reserve(value.count, for: key, .replace, in: database, by: cursor) }
    unsafe page?.copyMemory(from: value)
  }

  /// The first key that is in a batch twice or is stored already.
  @usableFromInline
  func firstTakenKey(of batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) -> [UInt8]? {
    batch.sort()
    for (entry, next) in zip(batch.entries, batch.entries.dropFirst()) {
      let key = batch.bytes[entry.key]
      if key.elementsEqual(batch.bytes[next.key]) { return Array(key) }
    }
    let cursor = try CursorHandle(of: database, in: self)
    // As for storing.
    defer { cursor.close() }
    return try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> [UInt8]? in
      for (index, entry) in batch.entries.enumerated() {
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.key])
        // If nothing stored lies at or after the first key, no later key is stored either.
        let move = index == 0 ? CursorMove.atOrAfter : .exactly
        guard let found = unsafe try cursor.move(move, key: key) else {
          if index == 0 { return nil }
          continue
        }
        if unsafe found.key.elementsEqual(key) { return unsafe [UInt8](key) }
      }
      return nil
    }
  }
}
