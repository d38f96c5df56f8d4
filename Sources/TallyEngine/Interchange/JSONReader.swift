/// Reads JSON (RFC 8259) token by token from bytes that arrive in pieces.
///
/// It is a pull parser: each call of ``next()`` returns one token, and the reader holds only one piece of input and the
/// longest text so far, so a document may be larger than memory. Foundation's `JSONDecoder` is not used because it
/// needs the whole document at once and its errors have no line.
///
/// It is strict: UTF-8 and surrogate pairs are validated, nothing may follow the document, and every error has its line
/// and column. One byte order mark at the very start is skipped, as RFC 8259 allows. Detecting keys that appear twice
/// in an object is left to the caller, which knows which ones matter.
package struct JSONReader: ~Copyable {
  /// How values follow each other in the input.
  package enum Framing {
    /// The input is one value.
    case document
    /// Each line has one value or none, as in newline-delimited JSON.
    case lines
  }

  package enum Token: Equatable {
    case beginObject, endObject, beginArray, endArray
    /// A key of an object; its text is in `text`.
    case key
    /// A string; its text is in `text`.
    case string
    /// A number without fraction and exponent that an `Int64` represents exactly.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    case boolean(Bool)
    case null
    /// The end of a valid input.
    case end
  }

  /// The tokens that the grammar allows next.
  enum Expectation {
    case value, firstElement, firstKey, key, separator, nothing
  }

  /// The deepest nesting that is accepted; the formats read here need three levels.
  static let depthLimit = 256

  /// The unescaped UTF-8 of the latest key or string; valid until the next token is read.
  package var text: [UInt8] = []
  /// The position at which the latest token begins.
  package private(set) var tokenPosition = TextPosition(line: 1, column: 1)

  /// The most bytes of a key or a string; one that is longer is a fault.
  package var textByteLimit = Int.max
  package var input: JSONInput
  package let framing: Framing
  var expectation = Expectation.value
  /// The containers around the next token, outermost first; true for an object, false for an array.
  var containers: [Bool] = []
  /// The line on which the latest outermost value ended, for `Framing.lines`.
  private var valueEndLine = 0

  package init(_ input: consuming JSONInput, framing: Framing = .document) {
    self.input = input
    self.framing = framing
  }

  /// Reads the next token.
  ///
  /// - Throws: `malformedDocument` with the position if the input is not JSON or is cut off, and the errors of the
  ///   source of bytes. The reader must not be used after that.
  package mutating func next() throws -> Token {
    while true {
      try skipWhiteSpace()
      tokenPosition = input.position
      guard let byte = try input.peek() else { return try end() }
      switch expectation {
      case .value: return try value(byte)
      case .firstElement: return try byte == UInt8(ascii: "]") ? close(object: false) : value(byte)
      case .firstKey: return try byte == UInt8(ascii: "}") ? close(object: true) : key(byte)
      case .key: return try key(byte)
      case .separator: if let token = try separator(byte) { return token }
      case .nothing: throw fault("There is more text after the end of the document")
      }
    }
  }

  /// Checks that nothing follows the value of a line, which has ended.
  package mutating func finishLine() throws {
    while let byte = try input.peek(), byte != UInt8(ascii: "\n") {
      guard byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") else {
        throw fault("There is more text after the end of the line's object", at: input.position)
      }
      input.skipBlanks()
    }
  }

  /// Abandons a line that has a fault, so that the next token is that of the next line.
  package mutating func skipLine() throws {
    while let byte = try input.peek(), byte != UInt8(ascii: "\n") { input.skipByte() }
    containers = []
    expectation = .value
  }

  /// Skips the value that began with a token, at any depth.
  package mutating func skipValue(beginningWith token: Token) throws {
    guard token == .beginObject || token == .beginArray else { return }
    let depth = containers.count - 1
    while containers.count > depth { _ = try next() }
  }
}

extension JSONReader {
  /// Whether the document's value is complete.
  package var isAtEndOfDocument: Bool { containers.isEmpty && expectation == .nothing }

  private mutating func value(_ byte: UInt8) throws -> Token {
    if containers.isEmpty, framing == .lines, input.line == valueEndLine {
      throw fault("There is more text after the end of the line's object")
    }
    switch byte {
    case UInt8(ascii: "{"): return try open(object: true)
    case UInt8(ascii: "["): return try open(object: false)
    case UInt8(ascii: "\""):
      try readString()
      return finish(.string)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return finish(try readNumber())
    case UInt8(ascii: "t"): return finish(try readLiteral("true", .boolean(true)))
    case UInt8(ascii: "f"): return finish(try readLiteral("false", .boolean(false)))
    case UInt8(ascii: "n"): return finish(try readLiteral("null", .null))
    default: throw fault("A value is expected here")
    }
  }

  /// Skips the next key of an object if it is the expected one; otherwise ``next()`` reads the next token.
  ///
  /// Objects of one kind mostly have their keys in the same order: comparing them in place avoids copying each.
  package mutating func skipKey(inQuotes key: [UInt8]) throws -> Bool {
    if expectation == .separator, containers.last == true {
      try skipWhiteSpace()
      guard try input.peek() == UInt8(ascii: ",") else { return false }
      input.skipByte()
      expectation = .key
    }
    guard expectation == .key || expectation == .firstKey else { return false }
    try skipWhiteSpace()
    tokenPosition = input.position
    guard input.skip(key) else { return false }
    try readColon()
    return true
  }

  /// Skips the value of a key if it is `null`; returns whether it is.
  package mutating func skipNull() throws -> Bool {
    guard expectation == .value, !containers.isEmpty else { return false }
    try skipWhiteSpace()
    tokenPosition = input.position
    guard input.skip(Self.nullBytes) else { return false }
    expectation = .separator
    return true
  }

  private mutating func key(_ byte: UInt8) throws -> Token {
    guard byte == UInt8(ascii: "\"") else { throw fault("A key in quotes is expected here") }
    try readString()
    try readColon()
    return .key
  }

  private mutating func readColon() throws {
    try skipWhiteSpace()
    guard let colon = try input.peek() else { throw truncation() }
    guard colon == UInt8(ascii: ":") else { throw fault("A colon is expected here", at: input.position) }
    input.skipByte()
    expectation = .value
  }

  /// Skips a comma, or closes the container.
  private mutating func separator(_ byte: UInt8) throws -> Token? {
    let isObject = containers.last == true
    switch byte {
    case UInt8(ascii: ","):
      input.skipByte()
      expectation = isObject ? .key : .value
      return nil
    case UInt8(ascii: "}") where isObject: return close(object: true)
    case UInt8(ascii: "]") where !isObject: return close(object: false)
    default: throw fault(isObject ? "A comma or } is expected here" : "A comma or ] is expected here")
    }
  }

  private mutating func open(object isObject: Bool) throws -> Token {
    guard containers.count < Self.depthLimit else { throw fault("The document is nested too deeply") }
    input.skipByte()
    containers.append(isObject)
    expectation = isObject ? .firstKey : .firstElement
    return isObject ? .beginObject : .beginArray
  }

  private mutating func close(object isObject: Bool) -> Token {
    input.skipByte()
    containers.removeLast()
    return finish(isObject ? .endObject : .endArray)
  }

  /// Records that a value is complete.
  private mutating func finish(_ token: Token) -> Token {
    guard containers.isEmpty else {
      expectation = .separator
      return token
    }
    valueEndLine = input.line
    expectation = framing == .lines ? .value : .nothing
    return token
  }

  private func end() throws -> Token {
    guard containers.isEmpty, framing == .lines || expectation == .nothing else { throw truncation() }
    return .end
  }

  private mutating func skipWhiteSpace() throws {
    while let byte = try input.peek() {
      switch byte {
      case UInt8(ascii: "\n"):
        if framing == .lines, !containers.isEmpty {
          throw fault("The line ends inside its object", at: input.position)
        }
        input.skipLineFeed()
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): input.skipBlanks()
      default: return
      }
    }
  }
}

/// Reads numbers and the words `true`, `false` and `null`.
extension JSONReader {
  /// The most bytes of a number: numbers are collected before they are parsed, so their length must be limited.
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

/// Reads strings: escapes and UTF-8.
extension JSONReader {
  /// Reads a string into `text`.
  mutating func readString() throws {
    input.skipByte()
    text.removeAll(keepingCapacity: true)
    while true {
      input.readPlainText(into: &text)
      guard text.count <= textByteLimit else { throw fault("The text is too long") }
      guard let byte = try input.peek() else { throw truncation() }
      switch byte {
      case UInt8(ascii: "\""):
        input.skipByte()
        return
      case UInt8(ascii: "\\"): try readEscape()
      case 0x80...: try readScalar(leadByte: byte)
      case 0x00..<0x20: throw fault("A control character in a text must be escaped", at: input.position)
      default:
        // Unescaped text continues at the beginning of the next piece of input.
        continue
      }
    }
  }

  private mutating func readEscape() throws {
    let position = input.position
    input.skipByte()
    guard let byte = try input.peek() else { throw truncation() }
    // A line feed must stay where it is, for whoever goes on with the next line.
    if byte != UInt8(ascii: "\n") { input.skipByte() }
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

  /// Reads the scalar of one `\uXXXX`, or of two that form a surrogate pair.
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

  /// Reads one unescaped scalar beyond ASCII, by the table of well-formed byte sequences (Unicode, table 3-7).
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

/// The errors of a document, with their positions.
extension JSONReader {
  /// The error for invalid JSON, at a position or else at the latest token.
  package func fault(
    _ message: String, at position: TextPosition? = nil,
    remedy: String = "Correct the document there; nothing was imported"
  ) -> TallyError {
    TallyError(.malformedDocument, message, remedy: remedy, at: position ?? tokenPosition)
  }

  /// The error for input that ends before the document does.
  package func truncation() -> TallyError {
    let remedy = "The file may be cut off: get it whole and try again"
    return fault("The document ends too early", at: input.position, remedy: remedy)
  }
}

/// The bytes of a document: the current piece, the source of the next one, and the position as line and column.
package struct JSONInput: ~Copyable {
  /// Reads the next bytes into the beginning of a buffer and returns their number; zero at the end of the input.
  package typealias Source = (inout [UInt8]) throws -> Int

  /// The size of a piece, in bytes: 256 KiB would not be faster, and a page would mean a call for every ten tasks.
  package static let pieceSizeInBytes = 1 << 16

  private let source: Source
  private var piece: [UInt8]
  private var index = 0
  private var count = 0
  private var isAtEnd = false
  private var isAtStart = true

  /// The number of bytes before `piece`.
  private(set) var byteCountBefore: Int64 = 0
  /// The line of the next byte, from 1.
  private(set) var line = 1
  /// The offset of the first byte of the current line.
  private var lineStart: Int64 = 0
  /// The number of bytes in the current line that do not begin a scalar, because columns count scalars.
  private var continuationByteCount: Int64 = 0

  package init(pieceSizeInBytes: Int = JSONInput.pieceSizeInBytes, source: @escaping Source) {
    self.source = source
    piece = [UInt8](repeating: 0, count: max(4, pieceSizeInBytes))
  }

  /// The number of bytes read so far.
  package var consumedByteCount: Int64 { byteCountBefore + Int64(index) }

  /// The column of the next byte, from 1, in scalars.
  var column: Int { Int(consumedByteCount - lineStart - continuationByteCount) + 1 }

  /// The position of the next byte.
  package var position: TextPosition { TextPosition(line: line, column: column) }

  /// Returns the next byte without consuming it; `nil` at the end.
  @inline(__always)
  package mutating func peek() throws -> UInt8? {
    if index < count { return piece[index] }
    return try refill() ? piece[index] : nil
  }

  /// Skips the peeked byte, which must not be a line feed.
  @inline(__always)
  package mutating func skipByte() {
    index += 1
  }

  /// Skips a byte within a scalar.
  package mutating func skipContinuationByte() {
    index += 1
    continuationByteCount += 1
  }

  /// Skips spaces, tabs and carriage returns, up to the end of the piece.
  mutating func skipBlanks() {
    while index < count, Self.isBlank(piece[index]) { index += 1 }
  }

  @inline(__always)
  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// Skips some ASCII bytes if they come next in this piece; returns false, and skips nothing, if they do not.
  mutating func skip(_ bytes: [UInt8]) -> Bool {
    guard count - index >= bytes.count else { return false }
    for offset in bytes.indices where piece[index + offset] != bytes[offset] { return false }
    index += bytes.count
    return true
  }

  /// Skips a line feed.
  package mutating func skipLineFeed() {
    index += 1
    beginLine()
  }

  /// Skips the end of a line: a line feed, a carriage return (as old spreadsheets write it), or both.
  ///
  /// - Returns: false, with nothing skipped, if no line ends here.
  package mutating func skipLineEnd() throws -> Bool {
    switch try peek() {
    case UInt8(ascii: "\n"): skipLineFeed()
    case UInt8(ascii: "\r"):
      index += 1
      if try peek() == UInt8(ascii: "\n") { skipLineFeed() } else { beginLine() }
    default: return false
    }
    return true
  }

  private mutating func beginLine() {
    line += 1
    lineStart = consumedByteCount
    continuationByteCount = 0
  }

  /// Moves ASCII to `text`, up to a quote, a backslash, a control character or the end of the piece.
  mutating func readPlainText(into text: inout [UInt8]) {
    let start = index
    while index < count, Self.isPlain(piece[index]) { index += 1 }
    if index > start { text.append(contentsOf: piece[start..<index]) }
  }

  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Reads the next piece; returns false at the end.
  private mutating func refill() throws -> Bool {
    while !isAtEnd {
      byteCountBefore += Int64(count)
      (index, count) = (0, 0)
      count = try source(&piece)
      isAtEnd = count == 0
      if isAtStart { try skipByteOrderMark() }
      // A piece may contain nothing but the byte order mark.
      if index < count { return true }
    }
    return false
  }

  /// Skips a byte order mark, which may be split between pieces.
  private mutating func skipByteOrderMark() throws {
    isAtStart = false
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    guard count > 0, piece[0] == mark[0] else { return }
    var head = Array(piece[..<count])
    while head.count < mark.count, !isAtEnd {
      let more = try source(&piece)
      isAtEnd = more == 0
      head += piece[..<more]
    }
    piece.replaceSubrange(0..<min(head.count, piece.count), with: head)
    count = head.count
    guard head.starts(with: mark) else { return }
    index = mark.count
    lineStart = Int64(mark.count)
  }
}
