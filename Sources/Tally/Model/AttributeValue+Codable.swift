import Foundation

extension AttributeValue: Codable {
  private enum Kind: String, CodingKey {
    case instant, day, bytes
  }

  /// Reads a value as an export writes it.
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

  /// Writes texts, numbers and flags as themselves, other values as an object with the name of the kind.
  ///
  /// `JSONEncoder` writes 1.0 as 1, which comes back as a whole number; exports keep the difference.
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

extension RecurrenceSeries: Codable {
  private enum Key: String, CodingKey {
    case id, start, occurrence, index
  }

  /// Reads a place in a series as an export writes it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      id: try container.decode(IDText.self, forKey: .id).id,
      start: try container.decode(CalendarDay.self, forKey: .start),
      occurrence: try container.decode(CalendarDay.self, forKey: .occurrence),
      index: try container.decode(Int.self, forKey: .index))
  }

  /// Writes a place in a series as an export does.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(IDText(id), forKey: .id)
    try container.encode(start, forKey: .start)
    try container.encode(occurrence, forKey: .occurrence)
    try container.encode(index, forKey: .index)
  }
}
