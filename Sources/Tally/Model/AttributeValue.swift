import Foundation
public import TallyEngine

/// The value of a task attribute: a field that an application or a person has added.
///
/// ```swift
/// try store.writeAndWait { try $0.update(id) { $0.attributes["estimate"] = .integer(90) } }
/// ```
public enum AttributeValue: Hashable, Sendable {
  /// Any text.
  case text(String)
  /// A whole number within ±(2^53 - 1), which every JSON reader represents exactly.
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

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// Creates a text value.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Creates an integer value.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a real value.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// Creates a flag value.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension AttributeValue {
  /// The maximum length of an attribute's name in characters.
  public static let maximumNameLengthInCharacters = 64
  static let maximumNameLengthInBytes = 1_024
  /// The maximum size of all attributes of one task in bytes, including their names.
  public static let maximumSizeInBytes = 64 << 10

  /// Checks that the attributes of a task obey the model's rules.
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
  /// The size of the stored value in bytes.
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

extension AttributeValue {
  /// The value as a text that `--set` reads back, except for bytes.
  package var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .flag(let isTrue): String(isTrue)
    case .instant(let instant): instant.iso8601
    case .day(let day): day.iso8601
    case .bytes(let bytes): Data(bytes).base64EncodedString()
    }
  }
}

extension AttributeValue: Codable {
  private enum Kind: String, CodingKey {
    case instant, day, bytes
  }

  /// Decodes a value in the form of an export.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Kind.self) {
      if let day = try container.decodeIfPresent(CalendarDay.self, forKey: .day) {
        self = .day(day)
      } else if let instant = try container.decodeIfPresent(Timestamp.self, forKey: .instant) {
        self = .instant(instant)
      } else {
        self = .bytes([UInt8](try container.decode(Data.self, forKey: .bytes)))
      }
      return
    }
    let container = try decoder.singleValueContainer()
    if let isTrue = try? container.decode(Bool.self) {
      self = .flag(isTrue)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  /// Encodes texts, numbers and flags as themselves, and other values as an object whose key names the kind.
  ///
  /// `JSONEncoder` writes 1.0 as 1, which is read back as an integer; exports keep the difference.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .text(let text): try encodeAlone(text, to: encoder)
    case .integer(let number): try encodeAlone(number, to: encoder)
    case .real(let number): try encodeAlone(number, to: encoder)
    case .flag(let isTrue): try encodeAlone(isTrue, to: encoder)
    case .instant(let instant): try encode(instant, as: .instant, to: encoder)
    case .day(let day): try encode(day, as: .day, to: encoder)
    case .bytes(let bytes): try encode(Data(bytes), as: .bytes, to: encoder)
    }
  }

  private func encodeAlone(_ value: some Encodable, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  private func encode(_ value: some Encodable, as kind: Kind, to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Kind.self)
    try container.encode(value, forKey: kind)
  }
}
