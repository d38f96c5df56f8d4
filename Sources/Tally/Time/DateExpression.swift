public import Foundation
public import TallyEngine

/// A day or an instant in words, such as `today+3d`, `next monday` or `friday 14:00`.
///
/// The value stays relative until it is resolved: in a saved filter, `today` means another day tomorrow. Two
/// texts with the same meaning give equal values, and ``description`` is their canonical text.
///
/// ```swift
/// let expression = try DateExpression("in 3 days at 5pm")
/// expression.description                                  // "today+3d@17:00"
/// let reference = DateReference(now: Timestamp.now(), calendar: .current)
/// try expression.resolved(against: reference)             // .instant(2026-11-25T17:00:00Z)
/// ```
///
/// English only. <doc:CapturingTasks> has the rules.
///
/// ## Grammar
///
/// ```
/// expression = instant | distance | part | day [time] | time [["on"] day]
/// instant    = ISO 8601 with its offset, as in 2026-11-21T12:00:00Z
/// day        = base {sign duration} | sign duration {sign duration} | "in" amount | amount "ago"
///            | amount ("before" | "after" | "from") base | amount "from now"
/// base       = "today" | "tod" | "eod" | "tomorrow" | "tom" | "tmr" | "tmrw"
///            | "yesterday" | ["the"] "day after tomorrow"
///            | ["next" | "last" | "this"] WEEKDAY | WEEKDAY "next week" | "next week" ["on"] WEEKDAY
///            | ("this" | "next" | "last" | "the" | "at the") "weekend"
///            | YYYY-MM-DD | digits | date [[","] YYYY] | "mid" ["-"] MONTH
///            | ["the"] ordinal ["of" ("the" | "this" | "next") "month"]
///            | "eow" | "eom" | "eoy" | "sow" | "som" | "soy"
///            | ["at the" | "the"] ("end" | "start" | "beginning") "of" (["the" | "this" | "next"] period | MONTH)
///            | ("next" | "last") period
/// digits     = D "/" M ["/" year] | D "." M "." [year] | D "-" M "-" YYYY | YYYY "/" M "/" D | YYYY "." M "." D
/// date       = ["the"] D [ending ["of"]] MONTH | ["the"] "first" … "fifth" "of" MONTH | MONTH ["the"] D [ending]
/// ordinal    = D ending | "the first" … "the fifth"
/// ending     = "st" | "nd" | "rd" | "th"
/// period     = "week" | "month" | "year"
/// distance   = "now" {sign duration} | sign duration {sign duration} | "in" amount | amount ["ago"]
/// amount     = duration | count UNIT | "half an hour" | "an hour and a half" | N "and a half hours" | N.N "hours"
///            | "a couple of" UNIT
/// duration   = N UNIT {N UNIT}, without blanks, as in 1d12h
/// count      = N | "a" | "an" | "one" … "twelve"
/// sign       = "+" | "-"
/// UNIT       = s, m (minutes), h, d, w, mo (months), y, or their names
/// time       = ["at" | "@"] (clock | "noon" | "midnight") | name [["at"] clock]
/// clock      = H ":" MM | H [(":" | ".") MM] ("am" | "pm") | H
/// part       = "tonight" [["at"] clock] | "this" name [["at"] clock]
/// name       = "morning" | "afternoon" | "evening" | "night"
/// ```
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
    /// Its seconds are zero.
    var offset: Offset

    init(_ base: Base, months: Int = 0, days: Int = 0) {
      self.base = base
      offset = Offset(months: months, days: days)
    }
  }

  enum Base: Hashable, Sendable {
    case today
    /// A weekday by its ISO 8601 number.
    case weekday(Int, Occurrence)
    case date(CalendarDay)
    case dayOfYear(month: Int, day: Int)
    case dayOfMonth(Int)
    case start(Period)
    case end(Period)
  }

  /// Which occurrence of a weekday is meant.
  enum Occurrence: Hashable, Sendable {
    /// The first after today, or the last up to today, depending on the reference's direction.
    case nearest
    /// The first one from today on.
    case this
    /// The one in the week after the current week.
    case next
    /// The last one before today.
    case last
  }

  enum Period: Character, Hashable, Sendable {
    case week = "w"
    case month = "m"
    case year = "y"
  }

  /// A distance in time, whose parts may have different signs.
  struct Offset: Hashable, Sendable {
    var months = 0
    var days = 0
    var seconds = 0

    static let zero = Offset()
  }

  /// A time of day.
  struct TimeOfDay: Hashable, Sendable {
    /// Minutes since midnight, below 1440.
    let minute: Int

    static let noon = TimeOfDay(minute: 12 * 60)
    static let midnight = TimeOfDay(minute: 0)

    init(minute: Int) {
      self.minute = minute
    }

    /// Returns `nil` beyond 23:59.
    init?(hour: Int, minute: Int) {
      guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
      self.minute = 60 * hour + minute
    }
  }
}

/// The time of day that a bare day stands for where an instant is expected.
public enum TimeOfBareDay: Hashable, Sendable {
  /// The first instant of the day.
  case start
  /// The last microsecond of the day.
  case end
  /// A time of day, in minutes since midnight.
  case minute(Int)
  /// No time: the expression must include one.
  case required

  /// At 09:00, for a reminder: one at midnight would wake people up.
  public static let morning = TimeOfBareDay.minute(DateExpression.TimeOfDay.morning.minute)
}

extension DateExpression {
  /// The time of an expression that is nothing else, in minutes since midnight: `14:00`; `nil` for any other.
  package var minuteOfDay: Int? {
    if case .time(let time) = form { time.minute } else { nil }
  }

  /// Whether the meaning depends on the first day of the week.
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
  /// The day that the expression means relative to a reference.
  ///
  /// - Throws: `invalidDay` for an instant, `valueOutOfRange` outside the years 1 to 9999.
  public func day(against reference: DateReference) throws(TallyError) -> CalendarDay {
    guard case .day(let day) = try resolved(against: reference) else {
      throw TallyError(.invalidDay, "The text is a time, not a day", remedy: "Leave the time out")
    }
    return day
  }

  /// The instant that the expression means relative to a reference.
  ///
  /// - Parameters:
  ///   - reference: The present.
  ///   - bareDay: The time of day for an expression that is only a day.
  /// - Returns: The instant.
  /// - Throws: `invalidInstant` for a bare day where a time is required, `valueOutOfRange` outside the years 1 to 9999.
  public func instant(against reference: DateReference, bareDay: TimeOfBareDay) throws(TallyError) -> Timestamp {
    let day: CalendarDay
    switch try resolved(against: reference) {
    case .instant(let instant): return instant
    case .day(let bare): day = bare
    }
    switch bareDay {
    case .start: return day.start(in: reference.timeZone)
    case .end: return day.end(in: reference.timeZone)
    case .minute(let minute): return day.instant(atMinute: minute, in: reference.timeZone)
    case .required:
      throw TallyError(.invalidInstant, "The text is a day without a time", remedy: "Add a time, as in 'today 17:00'")
    }
  }
}

extension CalendarDay {
  /// Returns the day some months and then some days later; if the month is too short for the day, its last day counts.
  func adding(_ offset: DateExpression.Offset) throws(TallyError) -> CalendarDay {
    guard offset.months != 0 else { return try adding(days: offset.days) }
    guard let days = CivilMonth(of: self).adding(months: offset.months).days else {
      throw ISO8601Fault.yearOutOfRange.dayError
    }
    return try CalendarDay(clamping: Int64(min(days.lowerBound + day - 1, days.upperBound))).adding(days: offset.days)
  }
}

extension Timestamp {
  /// Returns the instant at the same local time some months and days later, and then some seconds after that.
  ///
  /// A day is not always 24 hours: a task snoozed for a day over a clock change comes at the same time of day.
  func adding(_ offset: DateExpression.Offset, in reference: DateReference) throws(TallyError) -> Timestamp {
    // Moving the second of two equal local times by zero days would turn it into the first.
    guard offset.months != 0 || offset.days != 0 else { return adding(seconds: Int64(offset.seconds)) }
    let day = CalendarDay(containing: self, in: reference.timeZone)
    return moved(from: day, to: try day.adding(offset), in: reference.timeZone).adding(seconds: Int64(offset.seconds))
  }
}

extension DateExpression {
  /// Reads an expression, in any case; the whole text must be one expression.
  ///
  /// ```swift
  /// try DateExpression("next monday")
  /// try DateExpression("25 nov 17:00")
  /// try DateExpression("31 nov")                 // throws: the calendar has no such day
  /// ```
  ///
  /// - Parameters:
  ///   - text: The expression.
  ///   - kind: The kind that the caller expects. A day may stand for an instant: the caller then chooses its time, see
  ///     ``instant(against:bareDay:)``. An instant never stands for a day.
  ///   - dateOrder: How `3/4` is read; with `nil`, such a date is refused.
  /// - Throws: `invalidDay` or `invalidInstant`, by the kind; `valueOutOfRange` for a year outside 1 to 9999.
  public init(_ text: String, as kind: Kind = .instant, dateOrder: DateOrder? = nil) throws(TallyError) {
    var parser = DateParser(CaptureToken.all(of: text), dateOrder: dateOrder)
    parser.allowsDecimals = true
    guard let expression = parser.expression(), parser.index == parser.tokens.count else {
      // An error about an instant does not help where a day is expected.
      let fault = parser.fault.flatMap { kind == .day && $0.code == .invalidInstant ? nil : $0 }
      throw fault ?? Self.notUnderstood(parser.tokens, as: kind)
    }
    guard kind == .instant || expression.kind == .day else {
      throw TallyError(.invalidDay, "The text is a time, not a day", remedy: "Write \(Self.examplesOfDays)")
    }
    self = expression
  }

  private static let examplesOfDays = "a day as in today, friday, 25 nov, +3d or YYYY-MM-DD (2026-11-21)"
  private static let examplesOfTimes = "a time as in 17:00, tomorrow 9:00, friday 5pm, 2h or YYYY-MM-DD 17:00"

  private static func notUnderstood(_ tokens: [CaptureToken], as kind: Kind) -> TallyError {
    let unknown = tokens.first { $0.kind == .word && !names.contains($0.text) }
    let near = unknown.map { $0.text.nearNames(among: names, limit: 1) } ?? []
    let guess = near.first.map { "Did you mean '\($0)'? " } ?? ""
    return switch kind {
    case .day: TallyError(.invalidDay, "The text is not a day", remedy: "\(guess)Write \(examplesOfDays)")
    case .instant: TallyError(.invalidInstant, "The text is not a time", remedy: "\(guess)Write \(examplesOfTimes)")
    }
  }

  /// The words that a mistyped word is compared with.
  private static let names =
    ["today", "tomorrow", "yesterday", "tonight", "noon", "midnight", "next", "last", "days", "weeks", "months"]
    + CalendarNames.weekdays.map { $0.lowercased() } + CalendarNames.months.map { $0.lowercased() }
}

/// The day or the instant that a ``DateExpression`` means relative to a reference.
public enum ResolvedDate: Hashable, Sendable {
  /// A calendar day without a time.
  case day(CalendarDay)
  /// A point in time.
  case instant(Timestamp)
}

extension DateExpression {
  /// The day or the instant that the expression means relative to a reference.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public func resolved(against reference: DateReference) throws(TallyError) -> ResolvedDate {
    switch form {
    case .day(let day): .day(try day.resolved(against: reference))
    case .time(let time): .instant(reference.instant(of: time))
    case .dayAndTime(let day, let time): .instant(try reference.instant(of: day, at: time))
    case .sinceNow(let offset): .instant(try reference.now.adding(offset, in: reference))
    case .instant(let instant): .instant(instant)
    }
  }
}

extension DateExpression.Day {
  func resolved(against reference: DateReference) throws(TallyError) -> CalendarDay {
    try base.resolved(against: reference).adding(offset)
  }
}

extension DateExpression.Base {
  fileprivate func resolved(against reference: DateReference) throws(TallyError) -> CalendarDay {
    let today = reference.today
    switch self {
    case .today: return today
    case .weekday(let weekday, let occurrence): return try reference.day(of: weekday, occurrence)
    case .date(let day): return day
    case .dayOfYear(let month, let day):
      // The next 29 February is at most eight years away.
      return try reference.firstDay(day, among: 0...8) { CivilMonth(year: today.year + $0, month: month) }
    case .dayOfMonth(let day):
      return try reference.firstDay(day, among: 0...2) { CivilMonth(of: today).adding(months: $0) }
    case .start(let period): return try reference.start(of: period)
    case .end(.week): return try reference.start(of: .week).adding(days: 6)
    case .end(.month): return CivilMonth(of: today).days.map { CalendarDay(clamping: Int64($0.upperBound)) } ?? today
    case .end(.year): return try CalendarDay(year: today.year, month: 12, day: 31)
    }
  }
}

extension DateReference {
  fileprivate func day(of weekday: Int, _ occurrence: DateExpression.Occurrence) throws(TallyError) -> CalendarDay {
    let daysAhead = (weekday - today.weekday + 7) % 7
    let daysAfterToday = daysAhead == 0 ? 7 : daysAhead
    switch occurrence {
    case .nearest where direction == .forward: return try today.adding(days: daysAfterToday)
    case .nearest: return try today.adding(days: daysAhead == 0 ? 0 : daysAhead - 7)
    case .this: return try today.adding(days: daysAhead)
    case .next: return try start(of: .week).adding(days: 7 + (weekday - weekStart + 7) % 7)
    case .last: return try today.adding(days: daysAfterToday - 7 == 0 ? -7 : daysAfterToday - 7)
    }
  }

  /// The nearest day with a given day of the month, today included, in the following or the preceding months.
  fileprivate func firstDay(
    _ number: Int, among distances: ClosedRange<Int>, month: (Int) -> CivilMonth
  ) throws(TallyError) -> CalendarDay {
    for distance in distances {
      guard let days = month(direction == .forward ? distance : -distance).days, number <= days.count else { continue }
      let day = CalendarDay(clamping: Int64(days.lowerBound + number - 1))
      if direction == .forward ? day >= today : day <= today { return day }
    }
    throw ISO8601Fault.yearOutOfRange.dayError
  }

  fileprivate func start(of period: DateExpression.Period) throws(TallyError) -> CalendarDay {
    switch period {
    case .week: try today.adding(days: -((today.weekday - weekStart + 7) % 7))
    case .month: try CalendarDay(year: today.year, month: today.month, day: 1)
    case .year: try CalendarDay(year: today.year, month: 1, day: 1)
    }
  }
}

extension DateReference {
  /// The next instant after the present at which clocks show a time, or the last one up to the present.
  fileprivate func instant(of time: DateExpression.TimeOfDay) -> Timestamp {
    let day = Int64(CalendarDay(containing: now, in: timeZone).dayNumber)
    func instant(_ distance: Int64) -> Timestamp {
      CalendarDay(clamping: day + distance).instant(atMinute: time.minute, in: timeZone)
    }
    let today = instant(0)
    switch direction {
    case .forward: return today > now ? today : instant(1)
    case .backward: return today <= now ? today : instant(-1)
    }
  }

  fileprivate func instant(
    of day: DateExpression.Day, at time: DateExpression.TimeOfDay
  ) throws(TallyError) -> Timestamp {
    let resolved = try day.resolved(against: self)
    let instant = resolved.instant(atMinute: time.minute, in: timeZone)
    // Looking backward on a Friday morning, 'friday 17:00' means a week ago.
    guard direction == .backward, instant > now, case .weekday(_, .nearest) = day.base, day.offset == .zero else {
      return instant
    }
    return try resolved.adding(days: -7).instant(atMinute: time.minute, in: timeZone)
  }
}

extension DateExpression: CustomStringConvertible {
  /// The canonical text: without blanks, in lower case except for the letters of an ISO 8601 instant.
  ///
  /// Reading it gives an equal value.
  public var description: String {
    switch form {
    case .day(let day): day.text
    case .time(let time): time.text
    case .dayAndTime(let day, let time): "\(day.text)@\(time.text)"
    case .sinceNow(let offset): "now" + offset.text
    case .instant(let instant): instant.iso8601
    }
  }
}

extension DateExpression: TextCodable {
  /// The same as ``description``.
  public var text: String { description }

  /// Reads an expression; the same as ``init(_:as:dateOrder:)``.
  public init(text: String) throws(TallyError) { try self.init(text) }
}

extension DateExpression.Day {
  fileprivate var text: String {
    switch (base, offset) {
    case (.today, .init(days: 1)): "tomorrow"
    case (.today, .init(days: -1)): "yesterday"
    default: base.text + offset.text
    }
  }
}

extension DateExpression.Base {
  fileprivate var text: String {
    switch self {
    case .today: "today"
    case .weekday(let number, let occurrence):
      occurrence.prefix + CalendarNames.weekdays[number - 1].prefix(3).lowercased()
    case .date(let day): day.iso8601
    case .dayOfYear(let month, let day): "\(day)" + CalendarNames.months[month - 1].prefix(3).lowercased()
    case .dayOfMonth(let day): "\(day)\(day.ordinalEnding)"
    case .start(let period): "so\(period.rawValue)"
    case .end(let period): "eo\(period.rawValue)"
    }
  }
}

extension DateExpression.Occurrence {
  fileprivate var prefix: String {
    switch self {
    case .nearest: ""
    case .this: "this-"
    case .next: "next-"
    case .last: "last-"
    }
  }
}

extension DateExpression.Offset {
  /// The non-zero parts, each in the largest unit that divides it exactly: `+1y`, `-2w`, `+1d+12h`.
  fileprivate var text: String {
    let months = part(months, units: [(12, "y"), (1, "mo")])
    let days = part(days, units: [(7, "w"), (1, "d")])
    return months + days + part(seconds, units: [(3_600, "h"), (60, "m"), (1, "s")])
  }

  private func part(_ count: Int, units: [(size: Int, name: String)]) -> String {
    guard count != 0, let unit = units.first(where: { count.isMultiple(of: $0.size) }) else { return "" }
    return "\(count < 0 ? "-" : "+")\(abs(count) / unit.size)\(unit.name)"
  }
}

extension DateExpression.TimeOfDay {
  fileprivate var text: String {
    WallTime.clock(ofMinute: minute)
  }
}

/// The present to which words such as `today` and `friday` are relative.
public struct DateReference: Hashable, Sendable {
  /// The direction in which an expression without a date is resolved.
  public enum Direction: Hashable, Sendable {
    /// To the future, for plans: `friday` is the first Friday after today, `17:00` is the next time that clocks
    /// show it.
    case forward
    /// To the past, for finished work: `friday` is the last Friday up to today, `17:00` is the last time that
    /// clocks showed it.
    case backward
  }

  /// The present.
  public let now: Timestamp
  /// The day that `today` means.
  public let today: CalendarDay
  /// The time zone of days and times of day.
  public let timeZone: TimeZone
  /// How dates in digits such as `3/4` are read; if `nil`, the order is unknown and only unambiguous ones such
  /// as `24/12` are dates.
  public var dateOrder: DateOrder?
  /// The first day of the week as ISO 8601 numbers it, from 1 for Monday to 7 for Sunday.
  public let weekStart: Int
  /// The direction in which an expression without a date is resolved.
  public var direction: Direction
  /// The number of minutes after midnight at which a day begins; the hours before belong to the previous day.
  public let dayStartInMinutes: Int

  /// Creates a reference from the present and a calendar, of which the time zone and the first weekday are used.
  ///
  /// - Parameters:
  ///   - now: The present.
  ///   - today: The day that `today` means; by default the one that contains `now`. Give another one for people
  ///     whose day begins hours after midnight.
  ///   - calendar: Provides the time zone and the first day of the week.
  ///   - direction: The direction in which an expression without a date is resolved.
  ///   - dateOrder: How dates in digits are read.
  ///   - dayStartInMinutes: The number of minutes after midnight at which a day begins.
  public init(
    now: Timestamp, today: CalendarDay? = nil, calendar: Calendar, direction: Direction = .forward,
    dateOrder: DateOrder? = nil, dayStartInMinutes: Int = 0
  ) {
    self.now = now
    self.today =
      today ?? CalendarDay(containing: now, in: calendar.timeZone, startingAtMinute: dayStartInMinutes)
    self.dayStartInMinutes = dayStartInMinutes
    timeZone = calendar.timeZone
    weekStart = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    self.direction = direction
    self.dateOrder = dateOrder
  }
}
