/// The time that a day alone means where an instant is expected.
public enum TimeOfBareDay: Hashable, Sendable {
  /// The first instant of the day.
  case start
  /// The last microsecond of the day.
  case end
  /// A time on the clock, in minutes since midnight.
  case minute(Int)
  /// None: the time is required.
  case required

  /// 09:00, for a reminder: midnight would wake people up.
  public static let morning = TimeOfBareDay.minute(DateExpression.TimeOfDay.morning.minute)
}

extension DateExpression {
  /// Whether it matters with which day a week begins.
  package var countsWeeks: Bool {
    switch form {
    case .day(let day), .dayAndTime(let day, _):
      switch day.base {
      case .weekday(_, .next), .start(.week), .end(.week): true
      default: false
      }
    case .time, .sinceNow, .instant: false
    }
  }
}

extension DateExpression {
  /// The day that the expression means at a moment.
  ///
  /// - Throws: `invalidDay` for an instant, `valueOutOfRange` outside the years 1 to 9999.
  public func day(against reference: DateReference) throws(TallyError) -> CalendarDay {
    guard case .day(let day) = try resolved(against: reference) else {
      throw TallyError(.invalidDay, "The text is a time, not a day", remedy: "Leave the time out")
    }
    return day
  }

  /// The instant that the expression means at a moment.
  ///
  /// - Parameters:
  ///   - reference: The present.
  ///   - bareDay: The time of a day alone.
  /// - Returns: The instant.
  /// - Throws: `invalidInstant` for a day where the time is required, `valueOutOfRange` outside the years 1 to 9999.
  public func instant(against reference: DateReference, bareDay: TimeOfBareDay) throws(TallyError) -> Timestamp {
    let day: CalendarDay
    switch try resolved(against: reference) {
    case .instant(let instant): return instant
    case .day(let bare): day = bare
    }
    switch bareDay {
    case .start: return day.start(in: reference.timeZone)
    case .end:
      guard let next = try? day.adding(days: 1) else { return .latest }
      return next.start(in: reference.timeZone).adding(microseconds: -1)
    case .minute(let minute): return day.instant(atMinute: minute, in: reference.timeZone)
    case .required:
      throw TallyError(.invalidInstant, "The text is a day without a time", remedy: "Add a time, as in 'today 17:00'")
    }
  }
}
