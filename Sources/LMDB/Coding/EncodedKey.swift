/// Encodes a key on the stack.
@inlinable
@inline(__always)
func withEncoded<Key: KeyCodable, R>(
  _ key: Key,
  _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
) throws(LMDBError) -> R {
  let byteCount = key.encodedByteCount
  guard byteCount >= 1, byteCount <= LMDBLimits.keySizeInBytes else { throw LMDBLimits.badKeySize(byteCount) }
  // The buffer ends with the closure, which passes on what the codec wrote and keeps nothing.
  return try unsafe withUnsafeTemporaryAllocation(byteCount: LMDBLimits.keySizeInBytes, alignment: 8) {
    (buffer: UnsafeMutableRawBufferPointer) throws(LMDBError) -> R in
    var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
    key.encode(into: &output)
    // Only what the codec wrote is passed on: the rest of the buffer is not initialised.
    let written = unsafe output.finalize(for: buffer)
    guard written == byteCount else { throw LMDBLimits.badKeySize(written) }
    return try unsafe body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: written))
  }
}

/// The sizes of keys and values that liblmdb can store.
@usableFromInline
enum LMDBLimits {
  /// The longest key; opening an environment compares it with what liblmdb was built for.
  @usableFromInline static let keySizeInBytes = 511
  /// The longest value: the system's liblmdb fails a commit with values of more than about 2 GiB.
  static let valueSizeInBytes = 0x7FFF_0000

  @usableFromInline
  static func badKeySize(_ byteCount: Int) -> LMDBError {
    LMDBError(
      .badKeySize,
      operation: "encode the key",
      message: "A key must have 1 to 511 bytes, this one has \(byteCount)"
    )
  }
}
