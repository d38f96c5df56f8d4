import LMDB

/// The bytes of a key or a record, as they are stored.
func encoded(_ value: some BinaryCodable) -> [UInt8] {
  // The codec writes into the array's own memory, exactly the number of bytes that it announced.
  unsafe [UInt8](unsafeUninitializedCapacity: value.encodedByteCount) { buffer, count in
    let bytes = UnsafeMutableRawBufferPointer(buffer)
    var output = unsafe OutputRawSpan(buffer: bytes, initializedCount: 0)
    value.encode(into: &output)
    count = unsafe output.finalize(for: bytes)
  }
}

/// The value of stored bytes.
func decoded<Value: BinaryCodable>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws -> Value {
  // Unsafe by signature only: bytes have no padding.
  try unsafe Value(decoding: bytes.span.bytes)
}
