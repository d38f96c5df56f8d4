import Foundation

extension TaskItem: Codable {
  /// Reads a task as an export writes it, whose keys may come in any order; unknown ones are ignored.
  ///
  /// Nothing is checked that ``validate()`` checks.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: FieldKey.self)
    self.init(id: .lowest, title: "", createdAt: .earliest)
    for field in TaskField.all {
      let key = FieldKey(field)
      guard try container.contains(key) && !container.decodeNil(forKey: key) else {
        if field.isOptional { continue }
        throw DecodingError.keyNotFound(
          key, .init(codingPath: container.codingPath, debugDescription: "Every task has this field."))
      }
      self[field] = try container.decode(field.kind, forKey: key)
    }
  }

  /// Writes a task as an export does, without the fields that it lacks.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FieldKey.self)
    for field in TaskField.all {
      if let value = self[field] { try container.encode(value, forKey: FieldKey(field)) }
    }
  }
}

/// The name of a field as a key.
private struct FieldKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ field: TaskField) {
    stringValue = field.name.description
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) {
    nil
  }
}

extension KeyedDecodingContainer {
  fileprivate func decode(_ kind: FieldKind, forKey key: Key) throws -> FieldValue {
    switch kind {
    case .text: .text(try decode(String.self, forKey: key))
    case .state: .state(try decode(TaskState.self, forKey: key))
    case .integer: .integer(try decode(Int64.self, forKey: key))
    case .instant: .instant(try decode(Timestamp.self, forKey: key))
    case .offsetInstant: .offsetInstant(try decode(OffsetTimestamp.self, forKey: key))
    case .day: .day(try decode(CalendarDay.self, forKey: key))
    case .id: .id(try decode(IDText.self, forKey: key).id)
    case .priority: .priority(try Priority(name: try decode(String.self, forKey: key)))
    case .tags: .tags(TagSet(try decode([String].self, forKey: key)))
    case .recurrence: .recurrence(try decode(Recurrence.self, forKey: key))
    case .series: .series(try decode(RecurrenceSeries.self, forKey: key))
    case .attributes: .attributes(try decode([String: AttributeValue].self, forKey: key))
    }
  }
}

extension KeyedEncodingContainer {
  fileprivate mutating func encode(_ value: FieldValue, forKey key: Key) throws {
    switch value {
    case .text(let value): try encode(value, forKey: key)
    case .state(let value): try encode(value, forKey: key)
    case .integer(let value): try encode(value, forKey: key)
    case .instant(let value): try encode(value, forKey: key)
    case .offsetInstant(let value): try encode(value, forKey: key)
    case .day(let value): try encode(value, forKey: key)
    case .id(let value): try encode(IDText(value), forKey: key)
    case .priority(let value): try encode(value.name, forKey: key)
    case .tags(let value): try encode(Array(value), forKey: key)
    case .recurrence(let value): try encode(value.text, forKey: key)
    case .series(let value): try encode(value, forKey: key)
    case .attributes(let value): try encode(value, forKey: key)
    }
  }
}
