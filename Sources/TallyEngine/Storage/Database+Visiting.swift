public import LMDB

extension Database {
  /// The last key of the table; `nil` in an empty one.
  @inlinable
  package func lastKey<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Key? {
    var cursor = try cursor(in: transaction)
    return try cursor.moveToLast() ? try cursor.key() : nil
  }

  /// Calls a closure with the bytes of some entries, at least `limit` if there are so many, from a position on.
  ///
  /// - Returns: the key to continue from; `nil` at the end of the table.
  @inlinable
  package func visit<T: LMDBTransaction & ~Copyable>(
    from position: [UInt8]?, limit: Int, in transaction: borrowing T, _ body: (RawSpan, RawSpan) throws -> Void
  ) throws -> [UInt8]? {
    // Unsafe by signature only: bytes have no padding.
    let start = try position.map { unsafe try Key(decoding: $0.span.bytes) }
    var (count, next) = (0, nil as [UInt8]?)
    try forEach(from: start, in: transaction) { key, value in
      // A visit can resume only from a valid key, so it continues past the limit until it reaches one.
      if count >= limit, Key(canonically: key) != nil {
        next = key.bytes(from: 0)
        return false
      }
      count += 1
      try body(key, value)
      return true
    }
    return next
  }
}

extension KeyCodable {
  /// Decodes a key; `nil` if the bytes are not a key, or if encoding the key again would give other bytes.
  @inlinable
  package init?(canonically bytes: RawSpan) {
    guard let key = try? Self(decoding: bytes), key.encodedBytes == bytes.bytes(from: 0) else { return nil }
    self = key
  }
}

extension LMDBError {
  /// The error for stored bytes that no known version of Tally writes.
  @usableFromInline
  package static func undecodable(_ message: String) -> LMDBError {
    LMDBError(.undecodable, operation: "read a record", message: message, remedy: "Restore the store from a backup")
  }
}
