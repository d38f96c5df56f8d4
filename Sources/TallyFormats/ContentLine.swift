import Tally
import TallyEngine

/// A property of iCalendar: a name, parameters and a value (RFC 5545, section 3.1).
struct ContentLine: Equatable {
  /// The name in upper case.
  let name: String
  /// Everything between the name and the value, as written: `;TZID=Europe/Berlin`.
  let parameters: String
  let value: String

  init(_ name: String, parameters: String = "", _ value: String) {
    (self.name, self.parameters, self.value) = (name, parameters, value)
  }

  /// Reads an unfolded line; `nil` for one without a name or a colon.
  ///
  /// Scalars are compared, not characters: a combining mark may follow the colon.
  init?(_ text: String) {
    var isQuoted = false
    var nameEnd: String.Index?
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      switch scalars[index] {
      case "\"": isQuoted.toggle()
      case ";" where !isQuoted && nameEnd == nil: nameEnd = index
      case ":" where !isQuoted:
        let end = nameEnd ?? index
        guard end > text.startIndex else { return nil }
        let value = scalars[scalars.index(after: index)...]
        self.init(String(scalars[..<end]).uppercased(), parameters: String(scalars[end..<index]), String(value))
        return
      default: break
      }
    }
    return nil
  }

  /// The unfolded line.
  var text: String { "\(name)\(parameters):\(value)" }

  /// The value of a parameter, without quotes; `nil` if it is not there.
  func parameter(_ wanted: String) -> String? {
    var isQuoted = false
    let parts = parameters.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == ";" && !isQuoted
    }
    for part in parts {
      guard let equals = part.firstIndex(of: "="), part[..<equals].uppercased() == wanted else { continue }
      return part[part.index(after: equals)...].filter { $0 != "\"" }
    }
    return nil
  }

  /// The value as a text, without its escapes (RFC 5545, section 3.3.11).
  var unescaped: String { unescaped(splittingAt: nil)[0] }

  /// The values of a list of texts with commas between them.
  var unescapedList: [String] { unescaped(splittingAt: ",") }

  private func unescaped(splittingAt separator: Unicode.Scalar?) -> [String] {
    var (texts, text, isEscaped) = ([String](), String.UnicodeScalarView(), false)
    for scalar in value.unicodeScalars {
      if isEscaped {
        text.append(scalar == "n" || scalar == "N" ? "\n" : scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == separator {
        texts.append(String(text))
        text = String.UnicodeScalarView()
      } else {
        text.append(scalar)
      }
    }
    if isEscaped { text.append("\\") }
    return texts + [String(text)]
  }

  /// A text with the escapes that it needs; control characters, which the format forbids, become blanks.
  static func escape(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\\", ";", ",":
        result.append("\\")
        result.append(scalar)
      case "\t": result.append(scalar)
      default: result.append(scalar.isControl ? " " : scalar)
      }
    }
    return String(result)
  }

  /// Appends the line in pieces of at most 75 octets, none of which cuts a scalar, with CRLF.
  ///
  /// No piece begins with a single colon: Radicale takes the blank before it for a part of a value after a `TZID`.
  func append(to bytes: inout [UInt8]) {
    var length = 0
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      let octets = UTF8.encode(scalars[index]) ?? UTF8.encodedReplacementCharacter
      let isBeforeColon = scalars[scalars.index(after: index)...].first == ":"
      if length + octets.count > (isBeforeColon ? 74 : 75) {
        bytes += [0x0D, 0x0A, 0x20]
        length = 1
      }
      bytes += octets
      length += octets.count
    }
    bytes += [0x0D, 0x0A]
  }
}

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
