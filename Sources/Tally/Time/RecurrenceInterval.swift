/// A distance on the calendar: a number of days, weeks, months or years.
public struct RecurrenceInterval: Hashable, Sendable {
  /// The number of units, within ``counts``.
  public let count: Int
  /// The unit that is counted.
  public let unit: RecurrenceUnit

  /// The numbers of units that an interval can have.
  public static let counts = 1...9_999

  /// Creates an interval.
  ///
  /// - Throws: `invalidRecurrence` unless `count` is within ``counts``.
  public init(_ count: Int, _ unit: RecurrenceUnit) throws(TallyError) {
    guard Self.counts.contains(count) else {
      throw .invalidRecurrence("The interval is not between 1 and 9999", remedy: "Give a number from 1 to 9999")
    }
    self.count = count
    self.unit = unit
  }
}

/// What an interval counts.
public enum RecurrenceUnit: CaseIterable, Hashable, Sendable {
  /// Days.
  case day
  /// Weeks.
  case week
  /// Months.
  case month
  /// Years.
  case year
}

extension RecurrenceUnit {
  /// The unit's name in English, for one of it.
  var name: String {
    switch self {
    case .day: "day"
    case .week: "week"
    case .month: "month"
    case .year: "year"
    }
  }

  /// The unit's name as `FREQ` of RFC 5545.
  var frequency: String {
    switch self {
    case .day: "DAILY"
    case .week: "WEEKLY"
    case .month: "MONTHLY"
    case .year: "YEARLY"
    }
  }
}

extension RecurrenceInterval {
  /// The interval in English: `day`, `2 weeks`.
  var words: String { count == 1 ? unit.name : counted }

  /// The interval in English, with its number always: `1 day`, `2 weeks`.
  var counted: String { "\(count) \(unit.name)\(count == 1 ? "" : "s")" }

  /// The day this much later; the last day of the month where that month is too short, as February 29 after January 31.
  ///
  /// - Returns: `nil` after the year 9999.
  func day(after day: CalendarDay) -> CalendarDay? {
    switch unit {
    case .day: return try? day.adding(days: count)
    case .week: return try? day.adding(days: 7 * count)
    case .month, .year:
      let month = CivilMonth(of: day).adding(months: unit == .year ? 12 * count : count)
      guard let days = month.days else { return nil }
      return CalendarDay(clamping: Int64(min(days.lowerBound + day.day - 1, days.upperBound)))
    }
  }
}
