/// A value that one text can stand for: in JSON, in an address or in a file of settings.
///
/// ```swift
/// let position = try ViewPosition(text: "…")     // as of an address's query
/// let json = try JSONEncoder().encode(TaskView.today)  // "today"
/// ```
///
/// Every such value is `Codable` as that text.
public protocol TextCodable: Codable {
  /// The text.
  var text: String { get }

  /// Reads the text.
  ///
  /// - Throws: a `TallyError` for any other text.
  init(text: String) throws(TallyError)
}

extension TextCodable {
  /// Reads the text; throws `DecodingError.dataCorrupted` for any other.
  public init(from decoder: any Decoder) throws {
    try self.init(textFrom: decoder)
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    try encodeText(to: encoder)
  }

  fileprivate init(textFrom decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    do {
      try self.init(text: text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
  }

  fileprivate func encodeText(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension Timestamp: TextCodable {
  /// The instant in UTC, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension OffsetTimestamp: TextCodable {
  /// The instant with its offset, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension CalendarDay: TextCodable {
  /// The day, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension TaskState: TextCodable {
  /// The state's ``name``.
  public var text: String { name }

  /// As ``init(name:)``.
  public init(text: String) throws(TallyError) { try self.init(name: text) }

  // Otherwise its number would be coded, as it has one.

  /// Reads the state's name.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Writes the state's name.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension Priority: TextCodable {
  /// The priority's ``name``.
  public var text: String { name }

  /// As ``init(name:)``.
  public init(text: String) throws(TallyError) { try self.init(name: text) }

  /// Reads the priority's name.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Writes the priority's name.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension ChangeID: TextCodable {
  /// The commit and the position, as `42.0`.
  public var text: String { "\(sequence).\(position)" }

  /// Reads the commit and the position; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = UInt64(parts[0]), let position = Int(parts[1]),
      (0...Self.maximumPosition).contains(position)
    else { throw .invalidToken("write") }
    self.init(sequence: sequence, position: position)
  }
}

extension TallyError {
  static func invalidToken(_ kind: String) -> TallyError {
    TallyError(
      .invalidToken, "The text names no \(kind)", remedy: "Use a text that Tally has given, whole and unchanged")
  }
}
