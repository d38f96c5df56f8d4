package import Foundation

/// The kinds of values that fields have.
package enum FieldKind: Sendable {
  case text, state, integer, instant, offsetInstant, day, id
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

  var text: String? { if case .text(let value) = self { value } else { nil } }
  var state: TaskState? { if case .state(let value) = self { value } else { nil } }
  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  var instant: Timestamp? { if case .instant(let value) = self { value } else { nil } }
  var offsetInstant: OffsetTimestamp? { if case .offsetInstant(let value) = self { value } else { nil } }
  var day: CalendarDay? { if case .day(let value) = self { value } else { nil } }
  var id: UUID? { if case .id(let value) = self { value } else { nil } }
}
