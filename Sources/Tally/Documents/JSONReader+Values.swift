internal import Foundation

extension JSONReader {
  /// Reads a value; `nil` for a `null`, where that is allowed.
  ///
  /// - Throws: an error that names the key and has the value's position.
  mutating func read(_ kind: FieldKind, for key: some DocumentKey, orNull: Bool = false) throws -> FieldValue? {
    if orNull, try skipNull() { return nil }
    let token = try next()
    // One that is divided between two pieces of the input.
    if orNull, token == .null { return nil }
    do {
      switch kind {
      case .tags: if token == .beginArray { return .tags(try readTags()) }
      case .series: if token == .beginObject { return .series(try readSeries()) }
      case .attributes: if token == .beginObject { return .attributes(try readAttributes()) }
      default: if let value = try FieldValue(kind, token, text) { return value }
      }
    } catch let error as TallyError where error.position != nil {
      throw error
    } catch let error as TallyError {
      throw error.at(tokenPosition, key: key.text)
    }
    throw fault("The value of \(key.text) is not \(kind.expectation)")
  }

  /// Reads `true` or `false`.
  mutating func readFlag(for key: some DocumentKey) throws -> Bool {
    guard case .boolean(let isTrue) = try next() else { throw fault("The value of \(key.text) is not true or false") }
    return isTrue
  }
}

extension TallyError {
  /// The same error, with a position in a document.
  func at(_ position: TextPosition, key: String? = nil) -> TallyError {
    let subject = key.map { "The value of \($0) is refused: " } ?? ""
    return TallyError(code, subject + message, remedy: remedy, at: position, cause: cause)
  }
}

extension FieldValue {
  /// The value that a token stands for, with its text; `nil` for a token of the wrong kind, an error without a position
  /// for a text that is not valid.
  fileprivate init?(_ kind: FieldKind, _ token: JSONReader.Token, _ text: [UInt8]) throws {
    guard token == .string || kind == .integer else { return nil }
    switch kind {
    case .text: self = .text(String(decoding: text, as: UTF8.self))
    case .state: self = .state(try TaskState(name: String(decoding: text, as: UTF8.self)))
    case .integer:
      guard let number = token.integer else { return nil }
      self = .integer(number)
    case .instant: self = .instant(try Timestamp(iso8601: text.span))
    case .offsetInstant: self = .offsetInstant(try OffsetTimestamp(iso8601: text.span))
    case .day: self = .day(try CalendarDay(iso8601: text.span))
    case .id:
      guard let id = UUID(text: text) else { return nil }
      self = .id(id)
    case .priority: self = .priority(try Priority(name: String(decoding: text, as: UTF8.self)))
    case .recurrence: self = .recurrence(try Recurrence(text: String(decoding: text, as: UTF8.self)))
    case .tags, .series, .attributes: return nil
    }
  }
}

extension JSONReader.Token {
  fileprivate var integer: Int64? {
    switch self {
    case .integer(let value): value
    // JSON does not distinguish 1 from 1.0.
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }
}

extension FieldKind {
  /// The expected value, worded to follow "is not".
  fileprivate var expectation: String {
    switch self {
    case .text: "a text"
    case .state: "a task state"
    case .integer: "an integer"
    case .instant, .offsetInstant: "an instant"
    case .day: "a day"
    case .id: "a UUID"
    case .priority: "a priority"
    case .tags: "an array of tags"
    case .recurrence: "a recurrence"
    case .series: "an object with id, start, occurrence and index"
    case .attributes: "an object of attributes"
    }
  }
}
