internal import Foundation

/// Ids and integers written straight into bytes.
extension [UInt8] {
  /// Appends a byte as two hexadecimal digits in lower case.
  mutating func append(hex byte: UInt8) {
    append(UInt8(hexDigit: byte >> 4))
    append(UInt8(hexDigit: byte & 0x0F))
  }

  /// Appends a UUID in its usual form, in lower case.
  mutating func append(_ id: UUID) {
    append(count: UUID.textByteCount) { bytes, start in
      var (word, next) = id.words
      for index in 0..<UUID.textByteCount {
        guard !UUID.isDash(at: index) else {
          bytes[start + index] = UInt8(ascii: "-")
          // The third dash stands between the halves.
          if index == UUID.middleDashOffset { word = next }
          continue
        }
        bytes[start + index] = UInt8(hexDigit: UInt8(truncatingIfNeeded: word >> 60))
        word <<= 4
      }
    }
  }

  /// Appends an integer in decimal.
  mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var count = 1
    var limit: UInt64 = 10
    // No magnitude has more than 19 digits; one step more would overflow the limit.
    while count < 19, number.magnitude >= limit {
      count += 1
      limit &*= 10
    }
    append(count: count) { bytes, start in
      var rest = number.magnitude
      for index in (start..<start + count).reversed() {
        bytes[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
    }
  }
}

extension UUID {
  fileprivate static let textByteCount = 36
  fileprivate static let middleDashOffset = 18

  fileprivate static func isDash(at offset: Int) -> Bool {
    offset == 8 || offset == 13 || offset == middleDashOffset || offset == 23
  }

  /// Reads a UUID in its usual form, in either case, and in no other.
  ///
  /// `UUID(uuidString:)` was not taken: where it is built on `sscanf` it lets blanks, signs and `0x` through, and takes a
  /// fifth of an import.
  init?(text bytes: [UInt8]) {
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
  var hexDigitValue: UInt8? {
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
