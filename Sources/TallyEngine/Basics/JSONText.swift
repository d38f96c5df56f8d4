extension OutputSpan<UInt8> {
  /// Appends a byte of a text that JSON wants to be escaped; at most 6 bytes.
  @_lifetime(self: copy self)
  package mutating func append(escaped byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      append("u00")
      append(hex: byte)
    }
  }
}

extension Span<UInt8> {
  /// The number of consecutive bytes, from an index, that need no escape.
  ///
  /// JSON requires escapes for quotes, backslashes and control characters. Eight bytes are compared at a time, because
  /// nearly all texts need no escapes.
  @inlinable
  package func countOfPlainBytes(from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    var index = start
    // Unsafe by signature only: bytes have no padding.
    let bytes = unsafe self.bytes
    while index + 8 <= count {
      // Unsafe by signature only: every bit pattern is a number, and the load checks its bounds.
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
      // A byte borrows into its highest bit if it is less than the subtrahend; a byte that already had that bit set is
      // not a match.
      let controls = (word &- ones &* 0x20) & ~word
      let matches = controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
      if matches & high != 0 { break }
      index += 8
    }
    while index < count, !self[index].mustBeEscaped { index += 1 }
    return index - start
  }
}

extension UInt8 {
  @inlinable package var mustBeEscaped: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}
