import Tally
import TallyEngine

/// Texts in the encodings that other programs write: UTF-8, UTF-16 with its mark, and what Windows used before.
enum DecodedText {
  /// The beginning of a document as text.
  static func text(ofDocumentBeginningWith head: [UInt8]) -> String {
    guard let isBigEndian = isUTF16(head) else { return text(head).text }
    var units: [UInt16] = []
    for index in stride(from: 2, to: head.count - 1, by: 2) {
      units.append(unit(head[index], head[index + 1], isBigEndian))
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// Bytes as text, by UTF-8 or, where they are not UTF-8, by Windows' code page 1252.
  static func text(_ bytes: [UInt8]) -> (text: String, isUTF8: Bool) {
    if let text = String(validating: bytes, as: UTF8.self) { return (text, true) }
    var text = String.UnicodeScalarView()
    for byte in bytes { text.append(byte < 0x80 || byte >= 0xA0 ? Unicode.Scalar(byte) : windows[Int(byte) - 0x80]) }
    return (String(text), false)
  }

  /// The scalars of the bytes from 0x80 to 0x9F (the table of Unicode's `CP1252.TXT`); those without one stay controls.
  private static let windows: [Unicode.Scalar] = [
    "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2C6}", "\u{2030}",
    "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}", "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}",
    "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}", "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}", "\u{9D}",
    "\u{17E}", "\u{178}",
  ]

  /// The input in UTF-8, if it begins with the mark of UTF-16; else as it is.
  static func input(_ input: consuming JSONInput) throws -> JSONInput {
    // Neither byte of the mark begins a text in UTF-8.
    guard let first = try input.peek(), first == 0xFE || first == 0xFF else { return input }
    input.skipByte()
    guard let second = try input.peek(), let isBigEndian = isUTF16([first, second]) else {
      throw TallyError.malformed("The document is not a text", line: 1)
    }
    input.skipByte()
    let decoder = UTF16Decoder(input, isBigEndian: isBigEndian)
    return JSONInput { try decoder.read(into: &$0) }
  }

  private static func isUTF16(_ head: [UInt8]) -> Bool? {
    head.starts(with: [0xFE, 0xFF]) ? true : head.starts(with: [0xFF, 0xFE]) ? false : nil
  }

  fileprivate static func unit(_ first: UInt8, _ second: UInt8, _ isBigEndian: Bool) -> UInt16 {
    isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
  }
}

/// Reads UTF-16 as UTF-8, piece by piece.
private final class UTF16Decoder {
  private var input: JSONInput
  private let isBigEndian: Bool
  private var waiting: [UInt8] = []
  private var high: UInt16?

  init(_ input: consuming JSONInput, isBigEndian: Bool) {
    self.input = input
    self.isBigEndian = isBigEndian
  }

  /// Puts the next bytes at the beginning of a buffer and returns their number; none at the end.
  func read(into buffer: inout [UInt8]) throws -> Int {
    while waiting.count < buffer.count, try step() {}
    let count = min(waiting.count, buffer.count)
    buffer.replaceSubrange(0..<count, with: waiting.prefix(count))
    waiting.removeFirst(count)
    return count
  }

  /// Decodes one unit, half of a pair as a replacement character; false at the end.
  private func step() throws -> Bool {
    guard let first = try input.peek() else {
      // Half of a pair at the end.
      guard high.take() != nil else { return false }
      waiting += Array("\u{FFFD}".utf8)
      return true
    }
    input.skipByte()
    let second = try input.peek()
    if second != nil { input.skipByte() }
    let unit = DecodedText.unit(first, second ?? 0, isBigEndian)
    let units = (high.take().map { [$0] } ?? []) + [unit]
    if UTF16.isLeadSurrogate(unit) {
      if units.count > 1 { waiting += Array("\u{FFFD}".utf8) }
      high = unit
    } else {
      waiting += Array(String(decoding: units, as: UTF16.self).utf8)
    }
    return true
  }
}

/// Reads the lines of a text, one after the other, with their numbers.
struct LineReader: ~Copyable {
  private(set) var input: JSONInput
  private var bytes: [UInt8] = []
  private let remarks: RemarkLog

  /// The longest line: a text in it has to fit in memory.
  private static let lengthLimitInBytes = 1 << 30

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.input = input
    remarks = context.remarks
  }

  var byteCount: Int64 { input.consumedByteCount }

  /// The next line without its end, a line feed, a carriage return or both; `nil` after the last one.
  ///
  /// A line that is not UTF-8 is read by Windows' code page 1252, with a remark.
  ///
  /// - Throws: `malformedDocument` for a line without an end; the errors of the source.
  mutating func next() throws -> TextLine? {
    let number = input.position.line
    guard try input.peek() != nil else { return nil }
    bytes.removeAll(keepingCapacity: true)
    while !(try input.skipLineEnd()), let byte = try input.peek() {
      input.skipByte()
      bytes.append(byte)
      guard bytes.count <= Self.lengthLimitInBytes else {
        throw TallyError.malformed("The line is longer than a gibibyte", line: number)
      }
    }
    let (text, isUTF8) = DecodedText.text(bytes)
    if !isUTF8 { remarks.add("encoding", text, at: TextPosition(line: number, column: 1)) }
    return TextLine(number: number, text: text)
  }
}

/// One line of a document.
struct TextLine {
  /// The number of the line, from 1.
  let number: Int
  var text: String

  var position: TextPosition { TextPosition(line: number, column: 1) }
}

extension TallyError {
  /// A breach of a format at a place.
  static func malformed(_ message: String, line: Int, column: Int = 1) -> TallyError {
    TallyError(
      .malformedDocument, message, remedy: "Correct the document there; nothing was imported",
      at: TextPosition(line: line, column: column))
  }
}
