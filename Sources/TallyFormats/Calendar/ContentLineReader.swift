internal import Tally

/// Reads content lines: a line that begins with a blank continues the one before it (RFC 5545, section 3.1).
///
/// Folds may cut a scalar in two, so lines are joined as bytes.
struct ContentLineReader: ~Copyable {
  private var input: JSONInput

  init(_ input: consuming JSONInput) {
    self.input = input
  }

  var byteCount: Int64 { input.consumedByteCount }

  /// The next line that is not empty, and the number of its first line; `nil` at the end.
  mutating func next() throws -> (line: ContentLine, number: Int)? {
    while true {
      let number = input.position.line
      guard try input.peek() != nil else { return nil }
      let bytes = try readFolded()
      if bytes.isEmpty { continue }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw TallyError.malformed("The bytes are not UTF-8", line: number)
      }
      guard let line = ContentLine(text) else {
        throw TallyError.malformed("The line has no name with a colon behind it", line: number)
      }
      return (line, number)
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
