/// Bytes as digits and letters that people do not confuse (Crockford's Base 32, without its check digit).
///
/// The letters i, l, o and u are not used; on reading, i and l are ones and o is a zero.
enum Base32 {
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  /// Writes bytes, the last digit filled with zero bits.
  static func text(of bytes: [UInt8]) -> String {
    var (text, buffer, bitCount): ([UInt8], UInt16, Int) = ([], 0, 0)
    for byte in bytes {
      buffer = buffer << 8 | UInt16(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        text.append(digits[Int(buffer >> UInt16(bitCount)) & 31])
      }
      buffer &= (1 << UInt16(bitCount)) - 1
    }
    if bitCount > 0 { text.append(digits[Int(buffer << UInt16(5 - bitCount)) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads digits.
  ///
  /// - Parameter text: Digits, in either case.
  /// - Returns: The bytes, or `nil` if a character is not a digit or the text does not end as ``text(of:)`` ends it.
  static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var (bytes, buffer, bitCount): ([UInt8], UInt16, Int) = ([], 0, 0)
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      buffer = buffer << 5 | value
      bitCount += 5
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt16(bitCount)))
      buffer &= (1 << UInt16(bitCount)) - 1
    }
    return bitCount < 5 && buffer == 0 ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt16? {
    let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
    let lower = isCapital ? character + 32 : character
    switch lower {
    case UInt8(ascii: "i"), UInt8(ascii: "l"): return 1
    case UInt8(ascii: "o"): return 0
    default: return digits.firstIndex(of: lower).map { UInt16($0) }
    }
  }
}
