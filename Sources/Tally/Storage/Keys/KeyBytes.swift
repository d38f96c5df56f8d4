import LMDB
import TallyEngine

/// The bytes of an index's key, or of a position in a view, which are ordered bytewise.
///
/// They are stored inline: a walk over days needs several bounds for each day, and an array would be an allocation.
struct KeyBytes: KeyCodable, Hashable, Comparable {
  /// Room for the longest key of an index with the longest prefix of a position, in bytes.
  static let capacity = 64
  private var storage = InlineArray<64, UInt8>(repeating: 0)
  private(set) var encodedByteCount = 0

  init() {}

  /// The encoding of a key or of a value.
  init(_ value: some BinaryCodable) {
    append(value)
  }

  /// A key above every key of an index.
  static let highest = KeyBytes([UInt8](repeating: .max, count: capacity))

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount <= Self.capacity else {
      throw .undecodable("an index key has \(bytes.byteCount) bytes, more than \(Self.capacity)")
    }
    append { $0.append(copying: bytes) }
  }

  /// The bytes, in place.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    // Unsafe by signature only: bytes have no padding.
    get { unsafe storage.span.bytes.extracting(first: encodedByteCount) }
  }

  /// Appends the encoding of a value; there must be room for it.
  mutating func append(_ value: some BinaryCodable) {
    assert(encodedByteCount + value.encodedByteCount <= Self.capacity, "a key is too long")
    append { value.encode(into: &$0) }
  }

  private mutating func append(_ encode: (inout OutputRawSpan) -> Void) {
    let start = encodedByteCount
    var span = storage.mutableSpan
    // The encoder writes into the rest of the array, and only the bytes that it wrote are counted.
    encodedByteCount = unsafe span.withUnsafeMutableBytes { buffer in
      var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: start)
      encode(&output)
      return unsafe output.finalize(for: buffer)
    }
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(copying: bytes)
  }

  /// The bytes between two offsets.
  subscript(range: Range<Int>) -> KeyBytes {
    var part = KeyBytes()
    part.append { $0.append(copying: bytes.extracting(range)) }
    return part
  }

  /// The bytes with every bit flipped, which reverses their order because no key is a prefix of another.
  var flipped: KeyBytes {
    var flipped = self
    for offset in storage.indices { flipped.storage[offset] = ~storage[offset] }
    return flipped
  }

  static func == (left: KeyBytes, right: KeyBytes) -> Bool {
    left.encodedByteCount == right.encodedByteCount && !left.bytes.precedes(right.bytes)
      && !right.bytes.precedes(left.bytes)
  }

  static func < (left: KeyBytes, right: KeyBytes) -> Bool { left.bytes.precedes(right.bytes) }

  func hash(into hasher: inout Hasher) {
    // The buffer is only read within the closure.
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}

/// A range of an index's keys, as bytes: from a lower bound up to but not including an upper one.
struct KeyRange: Sendable {
  let lower: KeyBytes
  let upper: KeyBytes

  /// The range from `lower` up to `upper`, or to the end of the index if `upper` is `nil`.
  init<Key: IndexKey>(_ lower: Key, _ upper: Key?) {
    self.lower = KeyBytes(lower)
    self.upper = upper.map { KeyBytes($0) } ?? .highest
  }

  func contains(_ key: KeyBytes) -> Bool {
    key >= lower && key < upper
  }
}
