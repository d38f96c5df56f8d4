import LMDB

/// The bytes a codec writes.
func encoded<T: BinaryCodable>(_ value: T) -> [UInt8] {
  // The codec writes into the array's own memory, whose size it announced.
  unsafe [UInt8](unsafeUninitializedCapacity: value.encodedByteCount) { buffer, written in
    let bytes = UnsafeMutableRawBufferPointer(buffer)
    var output = unsafe OutputRawSpan(buffer: bytes, initializedCount: 0)
    value.encode(into: &output)
    written = unsafe output.finalize(for: bytes)
  }
}

/// What a codec makes of bytes.
func decoded<T: BinaryCodable>(_ bytes: [UInt8], as type: T.Type = T.self) throws -> T {
  // The span is used within the call only.
  try unsafe T(decoding: bytes.span.bytes)
}
