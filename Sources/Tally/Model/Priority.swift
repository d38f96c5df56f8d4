/// How important a task is.
public enum Priority: UInt8, CaseIterable, Comparable, Sendable {
  // The raw values are stored: do not change them.
  /// None given.
  case none = 0
  /// Low: 6 to 9 in iCalendar (RFC 5545, section 3.8.1.9).
  case low = 1
  /// Medium: 5 in iCalendar.
  case medium = 2
  /// High: 1 to 4 in iCalendar.
  case high = 3

  /// The name in documents and on the command line.
  public var name: String {
    switch self {
    case .none: "none"
    case .low: "low"
    case .medium: "medium"
    case .high: "high"
    }
  }

  /// Creates a priority from its name.
  ///
  /// - Throws: `invalidPriority` for any other text.
  public init(name: String) throws(TallyError) {
    guard let priority = Self.allCases.first(where: { $0.name == name }) else {
      throw TallyError(
        .invalidPriority, "The text is not a priority", remedy: "Write none, low, medium or high")
    }
    self = priority
  }

  /// A priority as people and other programs write it, in any case: its name, `med`, `h`, `m`, `l`, or 1 for high to 4 for
  /// none.
  package init?(written text: String) {
    switch text.lowercased() {
    case "high", "h", "1": self = .high
    case "medium", "med", "m", "2": self = .medium
    case "low", "l", "3": self = .low
    case "none", "4": self = .none
    default: return nil
    }
  }

  /// Whether the first priority is lower.
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
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
