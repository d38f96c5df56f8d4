/// Bytes as two lower-case hexadecimal digits each, as ids and the names in a folder have them.
enum HexDigits {
  private static let digits = Array("0123456789abcdef")

  /// The digits of some bytes.
  static func text(of bytes: some Sequence<UInt8>) -> String {
    String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] })
  }

  /// The bytes of some digits; `nil` if there is anything else, upper case included.
  static func bytes(of text: some StringProtocol) -> [UInt8]? {
    let values = text.utf8.map(value)
    guard values.count.isMultiple(of: 2), !values.contains(nil) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { (values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0) }
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
