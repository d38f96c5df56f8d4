/// The value of a field that an application or a person has added to a task.
///
/// ```swift
/// try store.writeAndWait { try $0.update(id) { $0.attributes["estimate"] = .integer(90) } }
/// ```
public enum AttributeValue: Hashable, Sendable {
  /// Any text.
  case text(String)
  /// A whole number that every JSON reader keeps: within 2^53 - 1 either way.
  case integer(Int64)
  /// A finite number.
  case real(Double)
  /// Yes or no.
  case flag(Bool)
  /// An instant.
  case instant(Timestamp)
  /// A calendar day without a time.
  case day(CalendarDay)
  /// Any bytes.
  case bytes([UInt8])
}

extension AttributeValue: ExpressibleByStringLiteral {
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
}

extension AttributeValue: ExpressibleByIntegerLiteral {
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension AttributeValue: ExpressibleByFloatLiteral {
  /// A number.
  public init(floatLiteral value: Double) { self = .real(value) }
}

extension AttributeValue: ExpressibleByBooleanLiteral {
  /// Yes or no.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension AttributeValue {
  /// The most characters of an attribute's name.
  public static let maximumNameLengthInCharacters = 64
  static let maximumNameLengthInBytes = 1_024
  /// The most bytes that all attributes of one task take, with their names.
  public static let maximumSizeInBytes = 64 << 10

  /// Ensures that the attributes of a task obey the model's rules.
  static func validate(_ attributes: [String: AttributeValue]) throws(TallyError) {
    for (name, value) in attributes {
      guard (1...maximumNameLengthInCharacters).contains(name.count), name.utf8.count <= maximumNameLengthInBytes,
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else {
        throw TallyError(
          .invalidAttribute, "The name of an attribute is empty, has more than 64 characters or a control character",
          remedy: "Give it 1 to 64 characters")
      }
      try value.validate(named: name)
    }
    guard FieldValue.attributes(attributes).storedByteCount <= maximumSizeInBytes else {
      throw TallyError(
        .invalidAttribute, "The attributes of the task take more than 64 KiB", remedy: "Keep large contents elsewhere")
    }
  }

  private func validate(named name: String) throws(TallyError) {
    switch self {
    case .integer(let number) where !TaskItem.sortOrders.contains(number):
      throw TallyError(
        .invalidAttribute, "A whole number of an attribute is not within 9007199254740991 either way",
        remedy: "Give a smaller number, or a text")
    case .real(let number) where !number.isFinite:
      throw TallyError(.invalidAttribute, "A number of an attribute is not finite", remedy: "Give a finite number")
    default: break
    }
  }
}

extension AttributeValue {
  /// How many bytes the stored value takes.
  var storedByteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .integer, .real, .instant: 8
    case .flag: 1
    case .day: 4
    case .bytes(let bytes): bytes.count
    }
  }
}
