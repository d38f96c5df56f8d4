internal import Foundation

/// How one kind of value is read from a token.
struct DocumentValue<Value> {
  /// The expected value, worded to follow "is not".
  let expectation: String
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
      if let made = try value.make(token, text) { return made }
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

extension DocumentValue {
  /// A value that is written as a text.
  private static func written(_ expectation: String, _ make: @escaping ([UInt8]) throws -> Value?) -> Self {
    Self(expectation: expectation) { token, text in token == .string ? try make(text) : nil }
  }
}

extension DocumentValue<String> {
  static var text: Self { written("a text") { String(decoding: $0, as: UTF8.self) } }
}

extension DocumentValue<UUID> {
  static var id: Self { written("a UUID") { UUID(text: $0) } }
}

extension DocumentValue<Timestamp> {
  static var instant: Self { written("an instant") { try Timestamp(iso8601: $0.span) } }
}

extension DocumentValue<OffsetTimestamp> {
  static var offsetInstant: Self { written("an instant") { try OffsetTimestamp(iso8601: $0.span) } }
}

extension DocumentValue<CalendarDay> {
  static var day: Self { written("a day") { try CalendarDay(iso8601: $0.span) } }
}

extension DocumentValue<TaskState> {
  static var state: Self { written("a task state") { try TaskState(name: String(decoding: $0, as: UTF8.self)) } }
}

extension DocumentValue<Int64> {
  static var integer: Self {
    Self(expectation: "an integer") { token, _ in
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
    Self(expectation: "true or false") { token, _ in
      guard case .boolean(let value) = token else { return nil }
      return value
    }
  }
}
