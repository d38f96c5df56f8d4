/// A weekday of a rule, or one of those of a month or year: Monday, the second Monday, the last Friday.
///
/// RFC 5545, section 3.3.10, calls it `weekdaynum`: `MO`, `2MO`, `-1FR`.
public struct RecurrenceWeekday: Hashable, Sendable {
  /// The day of the week, from 1 for Monday to 7 for Sunday, as ISO 8601 numbers it.
  public let weekday: Int
  /// Which one of its month or year: 1 for the first, -1 for the last; `nil` for each.
  public let ordinal: Int?

  /// Creates a weekday.
  ///
  /// - Throws: `invalidRecurrence` unless `weekday` is from 1 to 7 and `ordinal` from 1 to 53 or from -53 to -1.
  public init(_ weekday: Int, ordinal: Int? = nil) throws(TallyError) {
    guard (1...7).contains(weekday) else {
      throw .invalidRecurrence("The weekday is not between 1 and 7", remedy: "Use 1 for Monday to 7 for Sunday")
    }
    guard ordinal.map({ $0 != 0 && abs(clamping: $0) <= 53 }) ?? true else {
      throw .invalidRecurrence(
        "The ordinal of a weekday is not between 1 and 53, or -53 and -1",
        remedy: "Use 1 for the first weekday of its kind, -1 for the last")
    }
    self.weekday = weekday
    self.ordinal = ordinal
  }
}

extension RecurrenceWeekday {
  /// The weekday of a day, without an ordinal.
  init(of day: CalendarDay) {
    (weekday, ordinal) = (day.weekday, nil)
  }

  /// The names that RFC 5545 gives to the weekdays, from Monday on.
  static let codes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  /// The weekday as RFC 5545 writes it.
  var text: String { (ordinal.map { "\($0)" } ?? "") + Self.codes[weekday - 1] }

  /// The order in which a rule lists its weekdays: each, first, second and so on, second to last, last; then by weekday.
  static func precedes(_ left: RecurrenceWeekday, _ right: RecurrenceWeekday) -> Bool {
    (left.ordinal ?? 0).ordinalRank == (right.ordinal ?? 0).ordinalRank
      ? left.weekday < right.weekday : (left.ordinal ?? 0).ordinalRank < (right.ordinal ?? 0).ordinalRank
  }
}

extension Int {
  /// Orders ordinals as a reader expects them: 1, 2, 3, then -3, -2, -1.
  var ordinalRank: UInt { UInt(bitPattern: self) }
}

/// The absolute value of a number; the greatest number for the least one, which has none.
func abs(clamping number: Int) -> Int {
  number == .min ? .max : abs(number)
}
