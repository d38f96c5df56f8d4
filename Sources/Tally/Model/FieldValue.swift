package import Foundation

/// The kinds of values that fields have.
package enum FieldKind: Sendable {
  case text, state, integer, instant, offsetInstant, day, id, priority, tags, recurrence, series, attributes
}

/// The value of one field, whichever it is.
package enum FieldValue: Hashable, Sendable {
  case text(String)
  case state(TaskState)
  case integer(Int64)
  case instant(Timestamp)
  case offsetInstant(OffsetTimestamp)
  case day(CalendarDay)
  case id(UUID)
  case priority(Priority)
  case tags(TagSet)
  case recurrence(Recurrence)
  case series(RecurrenceSeries)
  case attributes([String: AttributeValue])

  package var text: String? { if case .text(let value) = self { value } else { nil } }
  package var state: TaskState? { if case .state(let value) = self { value } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var instant: Timestamp? { if case .instant(let value) = self { value } else { nil } }
  package var offsetInstant: OffsetTimestamp? { if case .offsetInstant(let value) = self { value } else { nil } }
  package var day: CalendarDay? { if case .day(let value) = self { value } else { nil } }
  package var id: UUID? { if case .id(let value) = self { value } else { nil } }
  package var priority: Priority? { if case .priority(let value) = self { value } else { nil } }
  package var tags: TagSet? { if case .tags(let value) = self { value } else { nil } }
  package var recurrence: Recurrence? { if case .recurrence(let value) = self { value } else { nil } }
  package var series: RecurrenceSeries? { if case .series(let value) = self { value } else { nil } }
  package var attributes: [String: AttributeValue]? { if case .attributes(let value) = self { value } else { nil } }

  /// How many bytes the stored value takes.
  var storedByteCount: Int {
    switch self {
    case .text(let value): value.utf8.count
    case .state: 1
    case .integer, .instant: 8
    case .offsetInstant: 10
    case .day: 4
    case .id: 16
    case .priority: 1
    case .tags(let tags): tags.storedByteCount
    case .recurrence(let recurrence): recurrence.text.utf8.count
    case .series: RecurrenceSeries.storedByteCount
    case .attributes(let attributes): Self.storedByteCount(of: attributes)
    }
  }

  /// How many bytes attributes take.
  static func storedByteCount(of attributes: [String: AttributeValue]) -> Int {
    attributes.reduce(0) { $0 + 7 + $1.key.utf8.count + $1.value.storedByteCount }
  }
}
