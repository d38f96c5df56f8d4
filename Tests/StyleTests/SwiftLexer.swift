/// Splits Swift source into the tokens that the style rules need.
///
/// It knows comments (nested ones too), string literals (raw, of several lines, with interpolation, whose code is read
/// like any other) and regular expressions on one line. It is not swift-syntax, which takes minutes to build in a clean
/// checkout. Source that it cannot read is reported as a ``problem``, so that a rule never passes because the lexer
/// failed.
struct SwiftLexer {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var openMarks: [UInt8] = []
  private(set) var tokens: [SourceToken] = []
  /// The line and reason where the lexer failed, if it did.
  private(set) var problem: (line: Int, reason: String)?

  init(reading text: String) {
    bytes = Array(text.utf8)
    readCode(insideInterpolation: false)
    if problem == nil, !openMarks.isEmpty { fail("a bracket is never closed") }
  }

  private mutating func readCode(insideInterpolation: Bool) {
    let depthAtStart = openMarks.count
    while problem == nil, let byte = peek() {
      if insideInterpolation, byte == UInt8(ascii: ")"), openMarks.count == depthAtStart {
        advance()
        return
      }
      readOne(byte)
    }
    if insideInterpolation, problem == nil { fail("an interpolation is never closed") }
  }

  private mutating func readOne(_ byte: UInt8) {
    if byte.isSpace {
      advance()
    } else if byte.isWordPart {
      readWhile(.word) { $0.isWordPart }
    } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
      readWhile(.comment) { $0 != UInt8(ascii: "\n") }
    } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
      readBlockComment()
    } else if let poundCount = poundCountOfString() {
      readString(poundCount: poundCount)
    } else if byte == UInt8(ascii: "/"), beginsRegularExpression() {
      readRegularExpression()
    } else {
      matchBrackets(byte)
      let start = position
      advance()
      append(.mark, from: start, line: line)
    }
  }

  private mutating func matchBrackets(_ byte: UInt8) {
    let closings: [UInt8: UInt8] = [
      UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "["): UInt8(ascii: "]"), UInt8(ascii: "{"): UInt8(ascii: "}"),
    ]
    if let closing = closings[byte] {
      openMarks.append(closing)
    } else if closings.values.contains(byte), openMarks.popLast() != byte {
      fail("a closing bracket has no partner")
    }
  }

  private mutating func readWhile(_ kind: SourceToken.Kind, _ belongs: (UInt8) -> Bool) {
    let start = position
    while let byte = peek(), belongs(byte) { advance() }
    append(kind, from: start, line: line)
  }

  private mutating func readBlockComment() {
    let (start, firstLine) = (position, line)
    var depth = 0
    repeat {
      guard let byte = peek() else { return fail("a comment is never closed") }
      let pair = (byte, peek(1))
      let opens = pair == (UInt8(ascii: "/"), UInt8(ascii: "*"))
      let closes = pair == (UInt8(ascii: "*"), UInt8(ascii: "/"))
      depth += opens ? 1 : closes ? -1 : 0
      advance(opens || closes ? 2 : 1)
    } while depth > 0
    append(.comment, from: start, line: firstLine)
  }

  // MARK: String literals

  /// The number of `#` before the quote that opens a string here; `nil` where none does.
  private func poundCountOfString() -> Int? {
    var count = 0
    while peek(count) == UInt8(ascii: "#") { count += 1 }
    return peek(count) == UInt8(ascii: "\"") ? count : nil
  }

  private mutating func readString(poundCount: Int) {
    let pounds = [UInt8](repeating: UInt8(ascii: "#"), count: poundCount)
    advance(poundCount)
    let isMultiline = stands("\"\"\"")
    let quotes: [UInt8] = .init(repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1)
    advance(quotes.count)
    while problem == nil {
      guard let byte = peek(), isMultiline || byte != UInt8(ascii: "\n") else {
        return fail("a string is never closed")
      }
      if stands(quotes + pounds) { return advance(quotes.count + pounds.count) }
      if stands([UInt8(ascii: "\\")] + pounds) {
        advance(1 + poundCount)
        let interpolates = peek() == UInt8(ascii: "(")
        advance()
        if interpolates { readCode(insideInterpolation: true) }
      } else {
        advance()
      }
    }
  }

  // MARK: Regular expressions

  /// Whether the slash is where a value begins, so that it cannot divide, and is closed on its line.
  private func beginsRegularExpression() -> Bool {
    let previous = tokens.last { $0.kind != .comment }
    let endsValue =
      previous.map { $0.kind == .word ? $0.text != "return" : [")", "]", "}"].contains($0.text) } ?? false
    guard !endsValue, let next = peek(1), !next.isSpace else { return false }
    return bytes[(position + 1)...].prefix { $0 != UInt8(ascii: "\n") }.contains(UInt8(ascii: "/"))
  }

  private mutating func readRegularExpression() {
    advance()
    while let byte = peek(), byte != UInt8(ascii: "/") { advance(byte == UInt8(ascii: "\\") ? 2 : 1) }
    advance()
  }

  // MARK: Reading bytes

  private func peek(_ distance: Int = 0) -> UInt8? {
    position + distance < bytes.count ? bytes[position + distance] : nil
  }

  private func stands(_ text: String) -> Bool { stands(Array(text.utf8)) }
  private func stands(_ expected: [UInt8]) -> Bool { bytes[position...].starts(with: expected) }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
  }

  private mutating func append(_ kind: SourceToken.Kind, from start: Int, line: Int) {
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    let followsSpace = start == 0 || bytes[start - 1].isSpace
    tokens.append(SourceToken(kind: kind, text: text, line: line, followsSpace: followsSpace))
  }

  private mutating func fail(_ reason: String) {
    problem = problem ?? (line, reason)
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

  /// Letters, digits, `_`, `$`, back-quotes around a name, and every byte beyond ASCII.
  fileprivate var isWordPart: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
      true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "`"): true
    default: false
    }
  }
}
