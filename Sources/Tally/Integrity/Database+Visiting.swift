import LMDB

extension Database {
  /// Hands over the bytes of some entries, from a key on that an earlier visit ended before.
  ///
  /// - Returns: the key to go on from; `nil` at the end of the table.
  func visit<T: Transaction & ~Copyable>(
    from position: [UInt8]?, limit: Int, in transaction: borrowing T, _ body: (RawSpan, RawSpan) throws -> Void
  ) throws -> [UInt8]? {
    // Unsafe by signature only: bytes have no padding.
    let start = try position.map { unsafe try Key(decoding: $0.span.bytes) }
    var (count, next) = (0, nil as [UInt8]?)
    try forEach(from: start, in: transaction) { key, value in
      // Bytes that are no key cannot be returned to: the visit goes on to one that is.
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
  /// Reads a key; `nil` for bytes that are none, or that encoding it again would not give.
  init?(canonically bytes: RawSpan) {
    guard let key = try? Self(decoding: bytes), key.encodedBytes == bytes.bytes(from: 0) else { return nil }
    self = key
  }
}
