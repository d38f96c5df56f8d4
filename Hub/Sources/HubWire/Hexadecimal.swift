/// Bytes as hexadecimal digits in lower case.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits for each byte.
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The bytes of a text; `nil` if it has anything but pairs of such digits.
  package static func bytes(of text: some StringProtocol) -> [UInt8]? {
    let values = text.utf8.map { digit in digits.firstIndex(of: digit) }
    guard values.count.isMultiple(of: 2), values.allSatisfy({ $0 != nil }) else { return nil }
    let known = values.compactMap { $0.map(UInt8.init) }
    return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
  }
}
