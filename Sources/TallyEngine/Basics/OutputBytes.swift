package import Foundation

/// Writes ids directly as bytes.
extension OutputSpan<UInt8> {
  /// Appends a byte as two hexadecimal digits in lower case.
  @_lifetime(self: copy self)
  package mutating func append(hex byte: UInt8) {
    append(UInt8(hexDigit: byte >> 4))
    append(UInt8(hexDigit: byte & 0x0F))
  }

  /// Appends a UUID in its usual form, in lower case; 36 bytes.
  @_lifetime(self: copy self)
  package mutating func append(_ id: UUID) {
    let (high, low) = id.words
    let (first, second) = (hexDigits(of: high >> 32), hexDigits(of: high))
    let (third, fourth) = (hexDigits(of: low >> 32), hexDigits(of: low))
    append(bytesOf: first)
    append(UInt8(ascii: "-"))
    append(bytesOf: UInt32(truncatingIfNeeded: second >> 32))
    append(UInt8(ascii: "-"))
    append(bytesOf: UInt32(truncatingIfNeeded: second))
    append(UInt8(ascii: "-"))
    append(bytesOf: UInt32(truncatingIfNeeded: third >> 32))
    append(UInt8(ascii: "-"))
    append(bytesOf: UInt32(truncatingIfNeeded: third))
    append(bytesOf: fourth)
  }
}

/// The eight hexadecimal digits of the lower half of a word as ASCII, the first digit in the highest byte.
///
/// All eight are computed at once: digit by digit, the ids took a tenth of an export.
private func hexDigits(of word: UInt64) -> UInt64 {
  // Each step moves the upper half of every group up, until each digit has its own byte.
  var digits = word & 0xFFFF_FFFF
  digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
  digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
  digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
  // Adding six carries values from ten on into the upper half of the byte, so that one bit marks the letters.
  let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
  let distance = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
  return digits &+ 0x3030_3030_3030_3030 &+ letters &* distance
}

extension UUID {
  package static let textByteCount = 36
  fileprivate static let middleDashOffset = 18

  fileprivate static func isDash(at offset: Int) -> Bool {
    offset == 8 || offset == 13 || offset == middleDashOffset || offset == 23
  }

  /// Reads a UUID in its usual form, in either case; `nil` for any other form.
  ///
  /// `UUID(uuidString:)` is not used: where it is built on `sscanf` it accepts blanks, signs and `0x`, and it
  /// takes a fifth of an import's time.
  package init?(text bytes: [UInt8]) {
    guard bytes.count == Self.textByteCount else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for index in bytes.indices {
      guard !Self.isDash(at: index) else {
        guard bytes[index] == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = bytes[index].hexDigitValue else { return nil }
      if index < Self.middleDashOffset { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
    }
    self.init(high: high, low: low)
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit in either case.
  @inlinable package var hexDigitValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The hexadecimal digit of a value below 16, in lower case.
  fileprivate init(hexDigit value: UInt8) {
    self = value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ value &- 10
  }
}

extension UUID {
  /// The last hexadecimal digits of the id, in lower case and without dashes.
  ///
  /// Views print one for each task, and filtering the usual form takes ten times as long.
  package func lastDigits(_ count: Int) -> String {
    let (high, low) = words
    let digits = (0..<count).reversed().map { (place: Int) -> UInt8 in
      let word = place < 16 ? low : high
      return UInt8(hexDigit: UInt8(word >> UInt64(place % 16 * 4) & 0x0F))
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

extension OutputSpan<UInt8> {
  /// Appends many bytes at once; traps if they do not fit, like appending one.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(copying bytes: Span<UInt8>) {
    precondition(bytes.count <= freeCapacity, "more bytes than there is room for")
    // The pointers do not outlive the closures, and the check above has measured the free part that is written.
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe bytes.withUnsafeBufferPointer { source in
        guard let start = buffer.baseAddress, let bytes = source.baseAddress else { return }
        unsafe (start + count).initialize(from: bytes, count: source.count)
        count += source.count
      }
    }
  }

  /// Appends the bytes of a number, most significant byte first.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(bytesOf number: Number) {
    precondition(MemoryLayout<Number>.size <= freeCapacity, "more bytes than there is room for")
    // The check above has measured the free part behind the initialized bytes.
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      unsafe bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: Number.self)
      count += MemoryLayout<Number>.size
    }
  }

  /// Appends a literal text.
  @_lifetime(self: copy self)
  @inlinable
  package mutating func append(_ text: StaticString) {
    // The pointer is used only during the call.
    text.withUTF8Buffer { unsafe append(copying: $0.span) }
  }
}

extension String {
  /// Creates a text from the bytes that a closure appends, up to a capacity in bytes.
  @inlinable
  package init(capacity: Int, writing write: (inout OutputSpan<UInt8>) -> Void) {
    // The output is the string's own storage, and does not outlive the closure.
    self = unsafe String(unsafeUninitializedCapacity: capacity) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      write(&output)
      return unsafe output.finalize(for: buffer)
    }
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII digit.
  @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
