internal import Tally

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
  mutating func next() throws -> Line? {
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
