/// Reads JSON (RFC 8259) token by token from bytes that arrive in pieces.
///
/// The caller pulls: each call of ``next()`` returns one token, and the reader keeps only one piece of input and the
/// longest text so far, so a document may be larger than memory. Foundation's `JSONDecoder` is not used: it needs the
/// whole document at once, and its errors have no line.
///
/// Strict: UTF-8 and surrogate pairs are validated, nothing may follow the document, and every fault has its line and
/// column. One byte order mark at the very start is skipped, as RFC 8259 allows. Detecting keys that come twice in an
/// object is left to the caller, which knows which ones matter.
package struct JSONReader: ~Copyable {
  /// How values follow each other.
  package enum Framing {
    /// The input is one value.
    case document
    /// Each line holds one value or none, as in newline-delimited JSON.
    case lines
  }

  package enum Token: Equatable {
    case beginObject, endObject, beginArray, endArray
    /// A key of an object; its text is in `text`.
    case key
    /// A text, which is in `text`.
    case string
    /// A number without fraction and exponent that an `Int64` holds exactly.
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

  /// Deeper nesting is refused; the formats read here need three levels.
  static let depthLimit = 256

  /// The unescaped UTF-8 of the latest key or string, until the next token is read.
  package var text: [UInt8] = []
  /// Where the latest token begins.
  package private(set) var tokenPosition = TextPosition(line: 1, column: 1)

  package var input: JSONInput
  package let framing: Framing
  var expectation = Expectation.value
  /// The containers around the next token, outermost first; true for an object.
  var containers: [Bool] = []
  /// The line on which the latest outermost value ended, for `Framing.lines`.
  private var valueEndLine = 0

  package init(_ input: consuming JSONInput, framing: Framing = .document) {
    self.input = input
    self.framing = framing
  }

  /// Reads the next token.
  ///
  /// - Throws: `malformedDocument` with the position for input that is not JSON or is cut off, and the errors of the
  ///   source of bytes. The reader cannot be used afterwards.
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

  /// Skips the value that began with a token, however deep.
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

  /// Skips the next key of an object if it is the one that is expected; otherwise ``next()`` reads what comes.
  ///
  /// Objects of one kind mostly have their keys in one order: comparing them in place saves copying each.
  mutating func skipKey(inQuotes key: [UInt8]) throws -> Bool {
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

  /// Skips the value of a key if it is `null`.
  mutating func skipNull() throws -> Bool {
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
