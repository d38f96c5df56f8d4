/// Numbers and the words `true`, `false` and `null`.
extension JSONReader {
  /// Numbers are collected before they are read, so their length must have a bound.
  private static let numberLengthLimit = 1_000

  mutating func readNumber() throws -> Token {
    text.removeAll(keepingCapacity: true)
    while let byte = try input.peek(), Self.isPartOfNumber(byte) {
      guard text.count < Self.numberLengthLimit else { throw fault("The number has too many digits") }
      text.append(byte)
      input.skipByte()
    }
    guard let isInteger = Self.grammar(of: text) else { throw fault("The number is not written as JSON wants it") }
    if isInteger, let integer = Int64(String(decoding: text, as: UTF8.self)) { return .integer(integer) }
    guard let double = Double(String(decoding: text, as: UTF8.self)), double.isFinite else {
      throw fault("The number is too large")
    }
    return .double(double)
  }

  static let nullBytes = Array("null".utf8)

  mutating func readLiteral(_ word: String, _ token: Token) throws -> Token {
    for expected in word.utf8 {
      guard let byte = try input.peek() else { throw truncation() }
      guard byte == expected else { throw fault("A value is expected here") }
      input.skipByte()
    }
    return token
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// Whether a number is an integer; `nil` if it breaks the grammar.
  private static func grammar(of bytes: [UInt8]) -> Bool? {
    var rest = bytes[...]
    func skipDigits() -> Int {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let startsWithZero = rest.first == UInt8(ascii: "0")
    let digitCount = skipDigits()
    guard digitCount > 0, digitCount == 1 || !startsWithZero else { return nil }
    guard !rest.isEmpty else { return true }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard skipDigits() > 0 else { return nil }
    }
    if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
      rest.removeFirst()
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
      guard skipDigits() > 0 else { return nil }
    }
    return rest.isEmpty ? false : nil
  }
}
