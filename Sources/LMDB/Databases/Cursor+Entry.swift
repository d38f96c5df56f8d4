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
    // As for the key.
    unsafe isAtEntry ? valueBuffer : UnsafeRawBufferPointer(start: nil, count: 0)
  }
}
