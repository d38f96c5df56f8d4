public import Foundation
import LMDB

// Every number in a key or a record is big-endian. In keys, signed numbers have their sign bit flipped, so that
// the byte order (`memcmp`, LMDB's default) is the order of the values. Records use the same encoding, so that
// there is only one.

extension OutputRawSpan {
  /// Appends an unsigned number, most significant byte first.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(bigEndian value: some FixedWidthInteger & UnsignedInteger & BitwiseCopyable) {
    // Unsafe only by its signature: an integer has no padding bytes.
    unsafe append(value.bigEndian, as: type(of: value))
  }

  /// Appends a signed number in an encoding whose byte order is numeric order.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(ordered value: Int64) {
    append(bigEndian: UInt64(bitPattern: value) ^ (1 << 63))
  }

  /// Appends a signed number in an encoding whose byte order is numeric order.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(ordered value: Int32) {
    append(bigEndian: UInt32(bitPattern: value) ^ (1 << 31))
  }

  /// Appends the 16 bytes of an identifier, in the byte order of RFC 9562.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(_ id: UUID) {
    let words = id.words
    append(bigEndian: words.high)
    append(bigEndian: words.low)
  }
}

extension RawSpan {
  /// Copies the bytes from an offset to the end; the caller has checked that the span reaches that far.
  @inlinable
  package func bytes(from offset: Int) -> [UInt8] {
    // The buffer does not outlive the closure; the array copies it.
    unsafe extracting(offset..<byteCount).withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// The unsigned number at an offset; the caller has checked that the span reaches that far.
  @inlinable
  package func load<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    bigEndianAt offset: Int, as type: Value.Type = Value.self
  ) -> Value {
    // Unsafe only by its signature: every bit pattern is an integer, and the load checks its bounds.
    Value(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The signed number at an offset, written by `append(ordered:)`.
  @inlinable
  package func load(orderedInt64At offset: Int) -> Int64 {
    Int64(bitPattern: load(bigEndianAt: offset, as: UInt64.self) ^ (1 << 63))
  }

  /// The signed number at an offset, written by `append(ordered:)`.
  @inlinable
  package func load(orderedInt32At offset: Int) -> Int32 {
    Int32(bitPattern: load(bigEndianAt: offset, as: UInt32.self) ^ (1 << 31))
  }

  /// The identifier at an offset.
  @inlinable
  package func load(idAt offset: Int) -> UUID {
    UUID(high: load(bigEndianAt: offset), low: load(bigEndianAt: offset + 8))
  }

  /// The bytes as a text; malformed UTF-8, which Tally never writes, is read as replacement characters.
  @inlinable package var text: String {
    // The buffer does not outlive the closure; the string copies it.
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the bytes are well-formed UTF-8.
  @inlinable package var isWellFormedText: Bool {
    // The buffer does not outlive the closure; any bytes may be read as bytes.
    unsafe withUnsafeBytes { unsafe (try? UTF8Span(validating: $0.assumingMemoryBound(to: UInt8.self).span)) != nil }
  }

  /// The bytes as a text; `nil` if they are not well-formed UTF-8.
  @inlinable package var wellFormedText: String? {
    // The buffer does not outlive the closure; the string copies it.
    try? unsafe withUnsafeBytes {
      unsafe String(copying: try UTF8Span(validating: $0.assumingMemoryBound(to: UInt8.self).span))
    }
  }
}

extension UUID {
  /// The identifier as two numbers whose order is the byte order.
  ///
  /// The bytes are read directly, because Foundation's accessor is a call for each byte that cannot be inlined.
  @inlinable package var words: (high: UInt64, low: UInt64) {
    // A UUID is 16 plain bytes; the cast traps if it ever has another size.
    let words = unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
    return (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
  }

  /// Creates an identifier from its two words.
  @inlinable
  package init(high: UInt64, low: UInt64) {
    // As in `words`: a UUID is 16 plain bytes.
    self = unsafe unsafeBitCast((high.bigEndian, low.bigEndian), to: UUID.self)
  }

  /// The identifier before all others, as a lower bound in ranges.
  package static let lowest = UUID(high: 0, low: 0)

  /// Whether this identifier sorts before another in byte order.
  @inlinable
  package func precedes(_ other: UUID) -> Bool {
    words < other.words
  }
}

extension FixedWidthInteger {
  /// The bytes of the number, most significant first.
  @inlinable package var bigEndianBytes: [UInt8] {
    // The pointer does not outlive the closure; the array copies the bytes.
    unsafe withUnsafeBytes(of: bigEndian) { unsafe Array($0) }
  }
}
