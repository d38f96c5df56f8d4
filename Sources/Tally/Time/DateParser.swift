public import Foundation
public import TallyEngine

/// Reads date expressions from tokens.
///
/// Each method that reads a part returns `nil` and leaves the position unchanged if the tokens contain something else.
struct DateParser {
  let tokens: [CaptureToken]
  /// The next token to read.
  var index: Int
  /// Whether a bare number is an hour where a time may follow.
  var allowsBareHours = true
  /// How `3/4` is read; if `nil`, it is ambiguous.
  var dateOrder: DateOrder?
  /// Whether `24.12` is a date, as in places where only a date can occur.
  var allowsDecimals = false
  /// Whether the last time read was a bare number.
  var hasBareHour = false
  /// The error for a text that has the form of a date but no meaning, such as 31 November.
  var fault: TallyError?

  /// Counts the tokens read, for tests.
  private let work: CaptureWork?

  init(_ tokens: [CaptureToken], at index: Int = 0, dateOrder: DateOrder? = nil, counting work: CaptureWork? = nil) {
    self.tokens = tokens
    self.index = index
    self.dateOrder = dateOrder
    self.work = work
  }

  /// Reads the longest expression at the current position.
  mutating func expression() -> DateExpression? {
    if let instant = instant() { return .instant(instant) }
    if let offset = offsetFromNow() { return DateExpression(.sinceNow(offset)) }
    if let form = partOfToday() { return DateExpression(form) }
    if let day = day() {
      return DateExpression(attempt { $0.time(after: day) }.map { .dayAndTime(day, $0) } ?? .day(day))
    }
    guard let time = time() else { return nil }
    let day = attempt { parser in
      _ = parser.skip("on")
      return parser.day()
    }
    return DateExpression(day.map { .dayAndTime($0, time) } ?? .time(time))
  }

  /// Reads an ISO 8601 instant, which contains no blanks.
  private mutating func instant() -> Timestamp? {
    attempt { parser in
      guard let day = parser.isoDay(), parser.token(isGlued: true)?.kind == .word else { return nil }
      var text = day.iso8601
      while let token = parser.token(isGlued: true) {
        // A full stop or a comma after the instant belongs to the sentence.
        guard token.kind != .symbol || parser.tokens[(parser.index + 1)...].first?.isGlued == true else { break }
        text += token.text
        parser.index += 1
      }
      do throws(TallyError) {
        return try Timestamp(iso8601: text)
      } catch {
        parser.fault = error
        return nil
      }
    }
  }
}

/// Counts the parser's steps; tests check that they grow linearly with the sentence.
final class CaptureWork {
  /// The number of tokens read.
  var stepCount = 0
}

extension DateParser {
  /// Runs a step, and restores the position if the step reads nothing.
  mutating func attempt<Result>(_ step: (inout DateParser) -> Result?) -> Result? {
    let start = index
    let result = step(&self)
    if result == nil { index = start }
    return result
  }

  /// The next token; `nil` at the end, or if `isGlued` is true and a blank comes before the token.
  func token(isGlued: Bool = false) -> CaptureToken? {
    work?.stepCount += 1
    guard index < tokens.count, !isGlued || tokens[index].isGlued else { return nil }
    return tokens[index]
  }

  /// Skips the next token if it has this text.
  mutating func skip(_ text: String, isGlued: Bool = false) -> Bool {
    guard token(isGlued: isGlued)?.text == text else { return false }
    index += 1
    return true
  }

  /// Skips the next tokens if they are these words in this order.
  mutating func skip(words: String...) -> Bool {
    attempt { parser in
      words.allSatisfy { parser.skip($0) } ? true : nil
    } ?? false
  }

  /// Reads the next token if it is a word for which the closure returns a meaning.
  mutating func word<Meaning>(isGlued: Bool = false, _ meaning: (String) -> Meaning?) -> Meaning? {
    guard let token = token(isGlued: isGlued), token.kind == .word, let meaning = meaning(token.text) else {
      return nil
    }
    index += 1
    return meaning
  }

  /// Reads a number whose count of digits is in a range.
  mutating func number(digits: ClosedRange<Int>, isGlued: Bool = false) -> Int? {
    guard let token = token(isGlued: isGlued), token.kind == .number, digits.contains(token.text.utf8.count),
      let number = Int(token.text)
    else { return nil }
    index += 1
    return number
  }

  /// Sets a fault if the next token is a number with too many digits, and what follows shows that a date or a
  /// time was meant.
  mutating func setFaultIfTooLarge(
    digits: Int, isGlued: Bool = false, _ fault: @autoclosure () -> TallyError,
    if follows: (inout DateParser) -> Bool
  ) {
    guard let token = token(isGlued: isGlued), token.kind == .number, token.text.utf8.count > digits else { return }
    var ahead = self
    ahead.index += 1
    if follows(&ahead) { self.fault = fault() }
  }
}

extension DateParser {
  /// Reads `YYYY-MM-DD`.
  mutating func isoDay() -> CalendarDay? {
    setFaultIfTooLarge(digits: 4, ISO8601Fault.yearOutOfRange.dayError) { ahead in
      ahead.skip("-", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
        && ahead.skip("-", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
    }
    return attempt { parser in
      guard let year = parser.number(digits: 4...4), parser.skip("-", isGlued: true),
        let month = parser.number(digits: 2...2, isGlued: true), parser.skip("-", isGlued: true),
        let day = parser.number(digits: 2...2, isGlued: true)
      else { return nil }
      return parser.existing(year: year, month: month, day: day)
    }
  }

  /// Reads a day and a month name, in either order, with or without a year.
  mutating func dayOfYear() -> DateExpression.Base? {
    attempt { parser in
      guard let (month, day) = parser.dayThenMonth() ?? parser.monthThenDay() else { return nil }
      return parser.base(year: parser.year(), month: month, day: day)
    }
  }

  /// Reads `25 nov`, `25th of november`, `25nov`.
  private mutating func dayThenMonth() -> (month: Int, day: Int)? {
    setFaultIfTooLarge(digits: 2, ISO8601Fault.impossibleDay.dayError) { ahead in
      if ahead.ordinalEnding() { return true }
      return ahead.word { CalendarNames.commonMonth($0) } != nil
    }
    return attempt { parser in
      _ = parser.skip("the")
      guard let day = parser.dayNumber() else { return nil }
      return parser.word { CalendarNames.commonMonth($0) }.map { ($0, day) }
    }
  }

  /// Reads the day before a month name: `25`, `25th of`, `first of`.
  private mutating func dayNumber() -> Int? {
    attempt { parser in
      if let day = parser.word({ Int.ordinalWords.firstIndex(of: $0) }) { return parser.skip("of") ? day + 1 : nil }
      guard let day = parser.number(digits: 1...2) else { return nil }
      if parser.ordinalEnding() { _ = parser.skip("of") }
      return day
    }
  }

  /// Reads `mid january` and `mid-january`, which mean its 15th day.
  mutating func middleOfMonth() -> DateExpression.Base? {
    attempt { parser in
      guard parser.skip("mid") else { return nil }
      _ = parser.skip("-", isGlued: true)
      return parser.word { CalendarNames.commonMonth($0) }.map { .dayOfYear(month: $0, day: 15) }
    }
  }

  /// Reads `nov 25`, `november 25th`, `nov25`.
  private mutating func monthThenDay() -> (month: Int, day: Int)? {
    attempt { parser in
      guard let month = parser.word({ CalendarNames.commonMonth($0) }) else { return nil }
      _ = parser.skip("the")
      parser.setFaultIfTooLarge(digits: 2, ISO8601Fault.impossibleDay.dayError) { _ in true }
      guard let day = parser.number(digits: 1...2) else { return nil }
      _ = parser.ordinalEnding()
      return (month, day)
    }
  }

  /// Reads a year of four digits, with or without a comma before it.
  private mutating func year() -> Int? {
    attempt { parser in
      _ = parser.skip(",", isGlued: true)
      parser.setFaultIfTooLarge(digits: 4, ISO8601Fault.yearOutOfRange.dayError) { _ in true }
      return parser.number(digits: 4...4)
    }
  }

  /// Reads `15th`, `the first`, `15th of the month` and `15th of next month`.
  mutating func dayOfMonth() -> DateExpression.Day? {
    attempt { parser in
      let hasArticle = parser.skip("the")
      guard let day = parser.ordinal(allowsWords: hasArticle) else { return nil }
      guard (1...31).contains(day) else {
        parser.fault = ISO8601Fault.impossibleDay.dayError
        return nil
      }
      if parser.skip(words: "of", "next", "month") {
        return DateExpression.Day(.start(.month), months: 1, days: day - 1)
      }
      _ = parser.skip(words: "of", "the", "month") || parser.skip(words: "of", "this", "month")
      return DateExpression.Day(.dayOfMonth(day))
    }
  }

  private mutating func ordinal(allowsWords: Bool) -> Int? {
    attempt { parser in
      if allowsWords, let index = parser.word({ Int.ordinalWords.firstIndex(of: $0) }) { return index + 1 }
      guard let day = parser.number(digits: 1...2), parser.ordinalEnding() else { return nil }
      return day
    }
  }

  private mutating func ordinalEnding() -> Bool {
    word(isGlued: true) { ["st", "nd", "rd", "th"].contains($0) ? true : nil } ?? false
  }

  private mutating func existing(year: Int, month: Int, day: Int) -> CalendarDay? {
    do throws(TallyError) {
      return try CalendarDay(year: year, month: month, day: day)
    } catch {
      fault = error
      return nil
    }
  }
}

// Dates in digits: with dots the day always comes first, and four digits at the start are a year.
extension DateParser {
  /// Reads `24/12`, `12/24/2026`, `24.12.`, `24.12.2026`, `24-12-2026` and `2026/12/24`.
  mutating func numericDay() -> DateExpression.Base? {
    attempt { parser in
      if let year = parser.number(digits: 4...4) {
        guard let separator = parser.separator(among: ["/", "."]), let month = parser.digits(),
          parser.skip(separator, isGlued: true), let day = parser.digits(), !parser.isInNumber
        else { return nil }
        return parser.existing(year: year, month: month, day: day).map { .date($0) }
      }
      guard let first = parser.number(digits: 1...2), let separator = parser.separator(among: ["/", ".", "-"]),
        let second = parser.digits()
      else { return nil }
      let year = parser.year(behind: separator)
      // `24.12` is a decimal number, and `24-12` a span.
      guard year != nil || separator == "/" || separator == "." && parser.endsDottedDay(), !parser.isInNumber,
        let (day, month) = parser.dayAndMonth(first, second, hasDots: separator == ".")
      else { return nil }
      return parser.base(year: year, month: month, day: day)
    }
  }

  private mutating func base(year: Int?, month: Int, day: Int) -> DateExpression.Base? {
    if let year { return existing(year: year, month: month, day: day).map { .date($0) } }
    // The year 2000 allows 29 February, so that only days that no year has are refused.
    guard CivilDate(year: 2_000, month: month, day: day).exists else {
      fault = ISO8601Fault.impossibleDay.dayError
      return nil
    }
    return .dayOfYear(month: month, day: day)
  }

  private mutating func digits() -> Int? { number(digits: 1...2, isGlued: true) }

  private mutating func separator(among separators: [String]) -> String? {
    separators.first { skip($0, isGlued: true) }
  }

  /// Reads a year of four digits, or of two digits in this century; after a hyphen, only of four.
  private mutating func year(behind separator: String) -> Int? {
    attempt { parser in
      guard parser.skip(separator, isGlued: true) else { return nil }
      if let year = parser.number(digits: 4...4, isGlued: true) { return year }
      return separator == "-" ? nil : parser.number(digits: 2...2, isGlued: true).map { 2_000 + $0 }
    }
  }

  /// Reads the last dot of `24.12.`, which a blank must follow.
  private mutating func endsDottedDay() -> Bool {
    let hasDot = attempt { $0.skip(".", isGlued: true) && $0.token(isGlued: true) == nil ? true : nil }
    return hasDot ?? (allowsDecimals && token(isGlued: true) == nil)
  }

  /// Whether more digits or letters follow, as in `1/2/3/4` and `24/12x`.
  private var isInNumber: Bool {
    guard let next = token(isGlued: true) else { return false }
    return next.kind != .symbol || ["/", "-", "%", "°"].contains(next.text)
  }

  /// Which of two numbers is the day: the one that cannot be a month, or else the one that the order says.
  private mutating func dayAndMonth(_ first: Int, _ second: Int, hasDots: Bool) -> (day: Int, month: Int)? {
    let (months, days) = (1...12, 1...31)
    let canBeDayFirst = days.contains(first) && months.contains(second)
    let canBeMonthFirst = !hasDots && months.contains(first) && days.contains(second)
    switch (canBeDayFirst, canBeMonthFirst) {
    case (true, false): return (first, second)
    case (false, true): return (second, first)
    case (false, false):
      fault = ISO8601Fault.impossibleDay.dayError
      return nil
    case (true, true) where first == second || dateOrder == .dayFirst: return (first, second)
    case (true, true) where dateOrder == .monthFirst: return (second, first)
    case (true, true):
      fault = TallyError(
        .invalidDay, "The date can mean two days",
        remedy: "Write the month as a word, as in 3 apr, or the date as YYYY-MM-DD")
      return nil
    }
  }
}

extension DateParser {
  /// Reads a day: a name or a date with distances from it, or distances from today alone.
  mutating func day() -> DateExpression.Day? {
    attempt { parser in
      if let day = parser.distanceInWords() { return day }
      let base = parser.base()
      let offset = parser.offset(hasBase: base != nil)
      guard base != nil || offset != nil else { return nil }
      var day = base ?? DateExpression.Day(.today)
      guard let offset else { return day }
      // Hours count from an instant, and a day has none to count from.
      guard offset.seconds == 0 else { return nil }
      day.offset = day.offset.adding(offset, times: 1)
      return day
    }
  }

  mutating func base() -> DateExpression.Day? {
    if let date = isoDay() { return DateExpression.Day(.date(date)) }
    if let base = numericDay() ?? dayOfYear() ?? middleOfMonth() { return DateExpression.Day(base) }
    if let day = dayOfMonth() { return day }
    if let base = weekday() ?? weekend() { return DateExpression.Day(base) }
    return edgeOfPeriod() ?? namedDay() ?? relativePeriod()
  }

  private mutating func namedDay() -> DateExpression.Day? {
    let dayAfterTomorrow = attempt { parser in
      _ = parser.skip("the")
      return parser.skip(words: "day", "after", "tomorrow") ? DateExpression.Day(.today, days: 2) : nil
    }
    return dayAfterTomorrow
      ?? word { name in
        switch name {
        case "today", "tod", "eod": DateExpression.Day(.today)
        case "tomorrow", "tom", "tmr", "tmrw": DateExpression.Day(.today, days: 1)
        case "yesterday": DateExpression.Day(.today, days: -1)
        default: nil
        }
      }
  }

  /// Reads `friday`, `next friday` or `friday next week`.
  private mutating func weekday() -> DateExpression.Base? {
    attempt { parser in
      let occurrence = parser.occurrence() ?? .nearest
      guard let weekday = parser.word({ CalendarNames.commonWeekday($0) }) else { return nil }
      let isNextWeek = occurrence == .nearest && parser.skip(words: "next", "week")
      return .weekday(weekday, isNextWeek ? .next : occurrence)
    }
  }

  /// Reads `this weekend` and the like, which mean its Saturday.
  private mutating func weekend() -> DateExpression.Base? {
    attempt { parser in
      let isThis = parser.skip(words: "at", "the") || parser.skip("the")
      guard let occurrence = isThis ? .this : parser.occurrence(), parser.skip("weekend") else { return nil }
      return .weekday(6, occurrence)
    }
  }

  /// Reads `eom`, `end of the month`, `beginning of next week` or `end of march`.
  private mutating func edgeOfPeriod() -> DateExpression.Day? {
    attempt { parser in
      if let base = parser.word({ Self.edges[$0] }) { return DateExpression.Day(base) }
      _ = parser.skip(words: "at", "the") || parser.skip("the")
      guard let isEnd = parser.word({ ["end": true, "start": false, "beginning": false][$0] }), parser.skip("of")
      else { return nil }
      if let month = parser.word({ CalendarNames.commonMonth($0) }) { return Self.edge(ofMonth: month, isEnd: isEnd) }
      let isNext = parser.skip("next")
      _ = isNext || parser.skip("the") || parser.skip("this")
      if isEnd, !isNext, parser.skip("day") { return DateExpression.Day(.today) }
      return parser.word { Self.periods[$0] }.map { Self.edge(of: $0, isEnd: isEnd, isNext: isNext) }
    }
  }

  /// The first or the last day of a month; the last day is written as the day before the next month.
  private static func edge(ofMonth month: Int, isEnd: Bool) -> DateExpression.Day {
    isEnd
      ? DateExpression.Day(.dayOfYear(month: month % 12 + 1, day: 1), days: -1)
      : DateExpression.Day(.dayOfYear(month: month, day: 1))
  }

  private static func edge(of period: DateExpression.Period, isEnd: Bool, isNext: Bool) -> DateExpression.Day {
    guard isNext else { return DateExpression.Day(isEnd ? .end(period) : .start(period)) }
    switch period {
    case .week: return DateExpression.Day(isEnd ? .end(.week) : .start(.week), days: 7)
    // Months have different lengths, so their last day is counted back from the following month.
    case .month: return DateExpression.Day(.start(.month), months: isEnd ? 2 : 1, days: isEnd ? -1 : 0)
    case .year: return DateExpression.Day(isEnd ? .end(.year) : .start(.year), months: 12)
    }
  }

  /// Reads `this`, `next` or `last`, followed by a blank or a hyphen.
  private mutating func occurrence() -> DateExpression.Occurrence? {
    let occurrence = word { ["this": DateExpression.Occurrence.this, "next": .next, "last": .last][$0] }
    if occurrence != nil { _ = skip("-", isGlued: true) }
    return occurrence
  }

  /// Reads `next week` and the like, which mean the first day of the period, or `next week on friday`.
  private mutating func relativePeriod() -> DateExpression.Day? {
    attempt { parser in
      guard let occurrence = parser.occurrence(), occurrence != .this,
        let period = parser.word({ Self.periods[$0] })
      else { return nil }
      let sign = occurrence == .next ? 1 : -1
      switch period {
      case .week:
        if occurrence == .next, let weekday = parser.weekdayOfWeek() {
          return DateExpression.Day(.weekday(weekday, .next))
        }
        return DateExpression.Day(.start(period), days: 7 * sign)
      case .month: return DateExpression.Day(.start(period), months: sign)
      case .year: return DateExpression.Day(.start(period), months: 12 * sign)
      }
    }
  }

  /// Reads the weekday that follows `next week`.
  private mutating func weekdayOfWeek() -> Int? {
    attempt { parser in
      _ = parser.skip("on")
      return parser.word { CalendarNames.commonWeekday($0) }
    }
  }

  private static let periods: [String: DateExpression.Period] = ["week": .week, "month": .month, "year": .year]
  private static let edges: [String: DateExpression.Base] = [
    "sow": .start(.week), "som": .start(.month), "soy": .start(.year),
    "eow": .end(.week), "eom": .end(.month), "eoy": .end(.year),
  ]
}

/// Which of the two numbers in a date such as `3/4` is the day.
public enum DateOrder: String, CaseIterable, Hashable, Sendable {
  /// The day comes first: `3/4` is 3 April, as most people write it.
  case dayFirst = "dmy"
  /// The month comes first: `3/4` is 4 March, as in the United States and where dates begin with the year.
  case monthFirst = "mdy"

  /// The order used in a locale; `nil` if neither its region nor its language determines one.
  ///
  /// Taken from the short date formats of the Common Locale Data Repository, version 45.
  public init?(of locale: Locale) {
    self.init(language: locale.language.languageCode?.identifier, region: locale.region?.identifier)
  }

  /// The order for a language and a region, given by their ISO 639 and ISO 3166 codes.
  package init?(language: String?, region: String?) {
    let language = language.flatMap { $0.isEmpty ? nil : $0.lowercased() }
    if let language, Self.monthFirstLanguages.contains(language) {
      self = .monthFirst
    } else if let region, language == nil || language == "en" || region.uppercased() != "CA" {
      self = Self.monthFirstRegions.contains(region.uppercased()) ? .monthFirst : .dayFirst
    } else if let language {
      // Only English is written in both orders.
      guard language != "en" else { return nil }
      self = .dayFirst
    } else {
      return nil
    }
  }

  private static let monthFirstLanguages: Set = ["eu", "hu", "ja", "ko", "lt", "mn", "zh"]
  private static let monthFirstRegions: Set = [
    "AS", "CA", "FM", "GU", "MH", "MP", "PA", "PR", "PW", "UM", "US", "VI",
  ]
}

/// Names days and instants in English, as people say them: the inverse of reading a ``DateExpression``.
///
/// ```swift
/// let words = try store.read { $0.dateReference.relativeName(of: deadline) }  // tomorrow 14:00
/// ```
public protocol DateNaming {
  /// The present.
  var now: Timestamp { get }
  /// The day that `today` means.
  var today: CalendarDay { get }
  /// The time zone of days and times of day.
  var timeZone: TimeZone { get }
  /// The number of minutes after midnight at which a day begins.
  var dayStartInMinutes: Int { get }
}

extension DateReference: DateNaming {}

extension DateNaming {
  /// The name of a day: `Sat 21 Nov`, with the year if it is not the current year.
  public func name(of day: CalendarDay) -> String {
    "\(CalendarNames.weekdays[day.weekday - 1].prefix(3)) \(day.shortName(asOf: today))"
  }

  /// A day for use in a sentence: `today`, `tomorrow`, `yesterday`, or its name.
  public func relativeName(of day: CalendarDay) -> String {
    switch Int(day.dayNumber) - Int(today.dayNumber) {
    case 0: "today"
    case 1: "tomorrow"
    case -1: "yesterday"
    default: name(of: day)
    }
  }

  /// The heading for the tasks of a day: `Tomorrow · Sun 22 Nov`.
  public func heading(of day: CalendarDay) -> String {
    let (relative, name) = (relativeName(of: day), name(of: day))
    return relative == name ? name : relative.prefix(1).uppercased() + relative.dropFirst() + " · " + name
  }

  /// An instant for use in a sentence: `today 14:00`; only the day if the instant is in a day's last second.
  public func relativeName(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    let day = relativeDayName(of: instant)
    return time.isLastSecondOfDay ? day : "\(day) \(time.clock)"
  }

  /// The day of an instant, for use in a sentence.
  ///
  /// If days begin after midnight, a night belongs to the day before it. A night still to come is the
  /// exception: it is named by its calendar day, as people type it: 'tomorrow 02:00'.
  public func relativeDayName(of instant: Timestamp) -> String {
    let written = wallTime(at: instant).day
    let relative = written > wallTime(at: now).day ? written : day(of: instant)
    return abs(relative.dayNumber - today.dayNumber) <= 1 ? relativeName(of: relative) : name(of: written)
  }

  /// An instant on its own: `Sat 21 Nov 14:00`; only the day if the instant is in a day's last second.
  public func name(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    return time.isLastSecondOfDay ? name(of: time.day) : "\(name(of: time.day)) \(time.clock)"
  }

  /// The local time at an instant.
  public func wallTime(at instant: Timestamp) -> WallTime { WallTime(at: instant, in: timeZone) }

  /// The local day that contains an instant, where days begin at `dayStartInMinutes`.
  public func day(of instant: Timestamp) -> CalendarDay {
    CalendarDay(containing: instant, in: timeZone, startingAtMinute: dayStartInMinutes)
  }
}

extension CalendarDay {
  /// The day without its weekday: `21 Nov`, with the year if it differs from that of `today`.
  public func shortName(asOf today: CalendarDay) -> String {
    "\(day) \(CalendarNames.months[month - 1].prefix(3))" + (year == today.year ? "" : " \(year)")
  }
}
