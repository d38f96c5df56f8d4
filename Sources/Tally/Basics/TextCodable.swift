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

  init(textFrom decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    do {
      try self.init(text: text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
  }

  func encodeText(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension TallyError {
  static func invalidToken(_ kind: String) -> TallyError {
    TallyError(
      .invalidToken, "The text names no \(kind)", remedy: "Use a text that Tally has given, whole and unchanged")
  }
}
