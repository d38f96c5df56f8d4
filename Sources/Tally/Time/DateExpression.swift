/// A day or an instant in words, such as `today+3d`, `next monday` or `friday 14:00`.
///
/// The value stays relative until it is resolved: a saved filter with `today` means another day tomorrow. Two texts that
/// mean the same are equal values, and ``description`` is their common text.
///
/// ```swift
/// let expression = try DateExpression("in 3 days at 5pm")
/// expression.description                                  // "today+3d@17:00"
/// let reference = DateReference(now: Timestamp.now(), calendar: .current)
/// try expression.resolved(against: reference)             // .instant(2026-11-25T17:00:00Z)
/// ```
///
/// English only. The grammar is in <doc:CapturingTasks>.
public struct DateExpression: Hashable, Sendable {
  /// Whether an expression means a day or an instant.
  public enum Kind: Hashable, Sendable {
    /// A calendar day without a time.
    case day
    /// A point in time.
    case instant
  }

  /// The parts of the expression.
  let form: Form

  enum Form: Hashable, Sendable {
    case day(Day)
    case time(TimeOfDay)
    case dayAndTime(Day, TimeOfDay)
    case sinceNow(Offset)
    case instant(Timestamp)
  }

  init(_ form: Form) {
    self.form = form
  }

  /// Whether the expression means a day or an instant.
  public var kind: Kind {
    if case .day = form { .day } else { .instant }
  }
}

extension DateExpression {
  /// The day that contains the present.
  public static let today = DateExpression(.day(Day(.today)))
  /// The day after today.
  public static let tomorrow = DateExpression(.day(Day(.today, days: 1)))
  /// The day before today.
  public static let yesterday = DateExpression(.day(Day(.today, days: -1)))

  /// A fixed day.
  public static func day(_ day: CalendarDay) -> DateExpression {
    DateExpression(.day(Day(.date(day))))
  }

  /// A fixed instant.
  public static func instant(_ instant: Timestamp) -> DateExpression {
    DateExpression(.instant(instant))
  }
}

extension DateExpression {
  /// A day, as a base and a distance from it.
  struct Day: Hashable, Sendable {
    var base: Base
    /// Without seconds.
    var offset: Offset

    init(_ base: Base, months: Int = 0, days: Int = 0) {
      self.base = base
      offset = Offset(months: months, days: days)
    }
  }

  enum Base: Hashable, Sendable {
    case today
    /// A weekday by its number in ISO 8601.
    case weekday(Int, Occurrence)
    case date(CalendarDay)
    case dayOfYear(month: Int, day: Int)
    case dayOfMonth(Int)
    case start(Period)
    case end(Period)
  }

  /// Which one of a weekday's days is meant.
  enum Occurrence: Hashable, Sendable {
    /// The first after today, or the last up to today, as the reference says.
    case nearest
    /// The first from today on.
    case this
    /// The one in the week after this one.
    case next
    /// The last before today.
    case last
  }

  enum Period: Character, Hashable, Sendable {
    case week = "w"
    case month = "m"
    case year = "y"
  }

  /// A distance in time; its parts may have different signs.
  struct Offset: Hashable, Sendable {
    var months = 0
    var days = 0
    var seconds = 0

    static let zero = Offset()
    /// Far more than the years 1 to 9999 hold, and far from overflow.
    static let largestCount = 10_000_000
  }

  /// A time on the clock.
  struct TimeOfDay: Hashable, Sendable {
    /// Minutes since midnight, below 1440.
    let minute: Int

    static let noon = TimeOfDay(minute: 12 * 60)
    static let midnight = TimeOfDay(minute: 0)

    init(minute: Int) {
      self.minute = minute
    }

    /// `nil` beyond 23:59.
    init?(hour: Int, minute: Int) {
      guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
      self.minute = 60 * hour + minute
    }
  }
}
