internal import Tally

/// Reads content lines: a line that begins with a blank continues the one before it (RFC 5545, section 3.1).
///
/// Folds may cut a scalar in two, so lines are joined as bytes.
struct ContentLineReader: ~Copyable {
  private var input: JSONInput
  private let remarks: RemarkLog

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.input = input
    remarks = context.remarks
  }

  var byteCount: Int64 { input.consumedByteCount }

  /// The next line that is not empty, and the number of its first line; `nil` at the end.
  mutating func next() throws -> (line: ContentLine, number: Int)? {
    while true {
      let number = input.position.line
      guard try input.peek() != nil else { return nil }
      let bytes = try readFolded()
      if bytes.isEmpty { continue }
      let (text, isUTF8) = DecodedText.text(bytes)
      if !isUTF8 { remarks.add("encoding", text, at: TextPosition(line: number, column: 1)) }
      if let line = ContentLine(text) { return (line, number) }
      remarks.add("line", text, at: TextPosition(line: number, column: 1))
    }
  }

  private mutating func readFolded() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let byte = try input.peek() {
      guard byte == UInt8(ascii: "\n") else {
        input.skipByte()
        bytes.append(byte)
        continue
      }
      input.skipLineFeed()
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      guard let next = try input.peek(), next == 0x20 || next == 0x09 else { return bytes }
      input.skipByte()
    }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    return bytes
  }
}
