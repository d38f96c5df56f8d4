internal import Tally

/// Reads the lines of a text, one after the other, with their numbers.
struct LineReader: ~Copyable {
  private(set) var input: JSONInput
  private var bytes: [UInt8] = []

  /// The longest line: a text in it has to fit in memory.
  private static let lengthLimitInBytes = 1 << 30

  init(_ input: consuming JSONInput) {
    self.input = input
  }

  var byteCount: Int64 { input.consumedByteCount }

  /// The next line without its end, a line feed with or without a carriage return; `nil` after the last one.
  ///
  /// - Throws: `malformedDocument` with the place of bytes that are not UTF-8; the errors of the source.
  mutating func next() throws -> Line? {
    let number = input.position.line
    guard try input.peek() != nil else { return nil }
    bytes.removeAll(keepingCapacity: true)
    while let byte = try input.peek() {
      if byte == UInt8(ascii: "\n") {
        input.skipLineFeed()
        break
      }
      input.skipByte()
      bytes.append(byte)
      guard bytes.count <= Self.lengthLimitInBytes else {
        throw TallyError.malformed("The line is longer than a gibibyte", line: number)
      }
    }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let column = String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix { $0 != "\u{FFFD}" }.count + 1
      throw TallyError.malformed("The bytes are not UTF-8", line: number, column: column)
    }
    return Line(number: number, text: text)
  }
}

/// One line of a document.
struct Line {
  /// From 1.
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

  /// The same error, with a place if it has none.
  func placed(at position: TextPosition) -> TallyError {
    self.position == nil ? TallyError(code, message, remedy: remedy, at: position, cause: cause) : self
  }
}
