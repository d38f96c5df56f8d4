internal import Foundation

/// Numbers and ids written straight into bytes, without a text in between.
extension [UInt8] {
  /// Appends a byte as two hexadecimal digits in lower case.
  mutating func append(hex byte: UInt8) {
    append(Self.hexDigit(byte >> 4))
    append(Self.hexDigit(byte & 0x0F))
  }

  /// Appends a UUID in its usual form, in lower case.
  mutating func append(_ id: UUID) {
    let bytes = id.uuid
    append(hex: bytes.0, bytes.1, bytes.2, bytes.3)
    append(UInt8(ascii: "-"))
    append(hex: bytes.4, bytes.5)
    append(UInt8(ascii: "-"))
    append(hex: bytes.6, bytes.7)
    append(UInt8(ascii: "-"))
    append(hex: bytes.8, bytes.9)
    append(UInt8(ascii: "-"))
    append(hex: bytes.10, bytes.11)
    append(hex: bytes.12, bytes.13, bytes.14, bytes.15)
  }

  /// Appends an integer in decimal.
  mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var divisor: UInt64 = 1
    let magnitude = number.magnitude
    while magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      divisor /= 10
    }
  }

  private mutating func append(hex first: UInt8, _ second: UInt8) {
    append(hex: first)
    append(hex: second)
  }

  private mutating func append(hex first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
    append(hex: first, second)
    append(hex: third, fourth)
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
