internal import Foundation

/// How one kind of value is read from a token.
struct DocumentValue<Value> {
  /// The expected value, worded to follow "is not".
  let expectation: String
  /// Whether only a text in quotes can be the value.
  var isText = true
  /// Creates the value; `nil` for a token of the wrong kind, an error without a position for a text that is not valid.
  let make: (JSONReader.Token, [UInt8]) throws -> Value?
}

extension JSONReader {
  /// Reads a required value.
  ///
  /// - Throws: an error that names the key and has the value's position.
  mutating func read<Value>(_ value: DocumentValue<Value>, for key: some DocumentKey) throws -> Value {
    try make(value, of: try next(), for: key)
  }

  /// Reads a value, or `null`.
  mutating func readOptional<Value>(_ value: DocumentValue<Value>, for key: some DocumentKey) throws -> Value? {
    let token = try next()
    return token == .null ? nil : try make(value, of: token, for: key)
  }

  /// Reads the value of a field of a task, or `null` if the field is optional.
  mutating func read(_ field: TaskField) throws -> FieldValue? {
    let token = try next()
    if token == .null, field.isOptional { return nil }
    return switch field.kind {
    case .text: .text(try make(.text, of: token, for: field))
    case .state: .state(try make(.state, of: token, for: field))
    case .integer: .integer(try make(.integer, of: token, for: field))
    case .instant: .instant(try make(.instant, of: token, for: field))
    case .offsetInstant: .offsetInstant(try make(.offsetInstant, of: token, for: field))
    case .day: .day(try make(.day, of: token, for: field))
    case .id: .id(try make(.id, of: token, for: field))
    }
  }

  private func make<Value>(
    _ value: DocumentValue<Value>,
    of token: Token,
    for key: some DocumentKey
  ) throws -> Value {
    do {
      if !value.isText || token == .string, let made = try value.make(token, text) { return made }
    } catch let error as TallyError {
      throw error.at(tokenPosition, key: key.text)
    }
    throw fault("The value of \(key.text) is not \(value.expectation)")
  }
}

extension TallyError {
  /// The same error, with a position in a document.
  func at(_ position: TextPosition, key: String? = nil) -> TallyError {
    let subject = key.map { "The value of \($0) is refused: " } ?? ""
    return TallyError(code, subject + message, remedy: remedy, at: position, cause: cause)
  }
}

extension DocumentValue<String> {
  static var text: Self { Self(expectation: "a text") { String(decoding: $1, as: UTF8.self) } }
}

extension DocumentValue<UUID> {
  static var id: Self { Self(expectation: "a UUID") { UUID(text: $1) } }
}

extension DocumentValue<Timestamp> {
  static var instant: Self { Self(expectation: "an instant") { try Timestamp(iso8601: $1.span) } }
}

extension DocumentValue<OffsetTimestamp> {
  static var offsetInstant: Self { Self(expectation: "an instant") { try OffsetTimestamp(iso8601: $1.span) } }
}

extension DocumentValue<CalendarDay> {
  static var day: Self { Self(expectation: "a day") { try CalendarDay(iso8601: $1.span) } }
}

extension DocumentValue<TaskState> {
  static var state: Self {
    Self(expectation: "a task state") { try TaskState(name: String(decoding: $1, as: UTF8.self)) }
  }
}

extension DocumentValue<Int64> {
  static var integer: Self {
    Self(expectation: "an integer", isText: false) { token, _ in
      switch token {
      case .integer(let value): value
      // JSON does not distinguish 1 from 1.0.
      case .double(let value): Int64(exactly: value)
      default: nil
      }
    }
  }
}

extension DocumentValue<Bool> {
  static var boolean: Self {
    Self(expectation: "true or false", isText: false) { token, _ in
      guard case .boolean(let value) = token else { return nil }
      return value
    }
  }
}
