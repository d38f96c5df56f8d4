/// Texts in quotes: escapes and UTF-8.
extension JSONReader {
  /// Reads a text in quotes into `text`.
  mutating func readString() throws {
    input.skipByte()
    text.removeAll(keepingCapacity: true)
    while true {
      input.takePlainText(into: &text)
      guard let byte = try input.peek() else { throw truncation() }
      switch byte {
      case UInt8(ascii: "\""):
        input.skipByte()
        return
      case UInt8(ascii: "\\"): try readEscape()
      case 0x80...: try readScalar(leadByte: byte)
      case 0x00..<0x20: throw fault("A control character in a text must be escaped", at: input.position)
      default:
        // Plain text again, at the beginning of a new piece of input.
        continue
      }
    }
  }

  private mutating func readEscape() throws {
    let position = input.position
    input.skipByte()
    guard let byte = try input.peek() else { throw truncation() }
    input.skipByte()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: try readEscapedScalar(at: position).utf8)
    default: throw fault("There is no such escape in JSON", at: position)
    }
  }

  /// The scalar of one `\uXXXX`, or of two that form a surrogate pair.
  private mutating func readEscapedScalar(at position: TextPosition) throws -> Unicode.Scalar {
    let first = try readFourHexDigits(at: position)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, try input.peek() == UInt8(ascii: "\\") else { throw loneSurrogate(at: position) }
    input.skipByte()
    guard try input.peek() == UInt8(ascii: "u") else { throw loneSurrogate(at: position) }
    input.skipByte()
    let second = try readFourHexDigits(at: position)
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw loneSurrogate(at: position) }
    return scalar
  }

  private mutating func readFourHexDigits(at position: TextPosition) throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = try input.peek() else { throw truncation() }
      guard let digit = byte.hexDigitValue else { throw fault("\\u wants four hexadecimal digits", at: position) }
      value = value << 4 | UInt32(digit)
      input.skipByte()
    }
    return value
  }

  private func loneSurrogate(at position: TextPosition) -> TallyError {
    fault("A \\u escape is half of a surrogate pair without the other half", at: position)
  }

  /// Reads one unescaped scalar beyond ASCII, by the table of well-formed sequences (Unicode, table 3-7).
  private mutating func readScalar(leadByte: UInt8) throws {
    let position = input.position
    let secondBytes: ClosedRange<UInt8>
    let continuationCount: Int
    switch leadByte {
    case 0xC2...0xDF: (secondBytes, continuationCount) = (0x80...0xBF, 1)
    case 0xE0: (secondBytes, continuationCount) = (0xA0...0xBF, 2)
    case 0xED: (secondBytes, continuationCount) = (0x80...0x9F, 2)
    case 0xE1...0xEF: (secondBytes, continuationCount) = (0x80...0xBF, 2)
    case 0xF0: (secondBytes, continuationCount) = (0x90...0xBF, 3)
    case 0xF1...0xF3: (secondBytes, continuationCount) = (0x80...0xBF, 3)
    case 0xF4: (secondBytes, continuationCount) = (0x80...0x8F, 3)
    default: throw malformedUTF8(at: position)
    }
    text.append(leadByte)
    input.skipByte()
    for number in 0..<continuationCount {
      guard let byte = try input.peek() else { throw truncation() }
      guard (number == 0 ? secondBytes : 0x80...0xBF).contains(byte) else { throw malformedUTF8(at: position) }
      text.append(byte)
      input.skipContinuationByte()
    }
  }

  private func malformedUTF8(at position: TextPosition) -> TallyError {
    fault("The bytes are not UTF-8", at: position)
  }
}
