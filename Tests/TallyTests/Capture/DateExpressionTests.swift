import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct DateExpressionTests {
  /// Saturday, 13:00 in Berlin; the week begins on Monday.
  static let now = "2026-11-21T12:00:00Z"

  static func reference(
    _ now: String = now, zone: String = "Europe/Berlin", weekStart: Int = 2,
    looking direction: DateReference.Direction = .forward
  ) throws -> DateReference {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    calendar.firstWeekday = weekStart
    return DateReference(now: try Timestamp(iso8601: now), calendar: calendar, direction: direction)
  }

  private func resolved(_ text: String, _ reference: DateReference) throws -> String {
    switch try DateExpression(text).resolved(against: reference) {
    case .day(let day): day.iso8601
    case .instant(let instant): instant.iso8601
    }
  }

  @Test(
    arguments: [
      // Names of days.
      ("today", "today", "2026-11-21"), ("Tomorrow", "tomorrow", "2026-11-22"), ("tmrw", "tomorrow", "2026-11-22"),
      ("yesterday", "yesterday", "2026-11-20"), ("the day after tomorrow", "today+2d", "2026-11-23"),
      // Weekdays: never today itself.
      ("saturday", "sat", "2026-11-28"), ("SUN", "sun", "2026-11-22"), ("monday", "mon", "2026-11-23"),
      ("tues", "tue", "2026-11-24"), ("thurs", "thu", "2026-11-26"), ("weds", "wed", "2026-11-25"),
      ("next monday", "next-mon", "2026-11-23"), ("next sunday", "next-sun", "2026-11-29"),
      ("next saturday", "next-sat", "2026-11-28"), ("this saturday", "this-sat", "2026-11-21"),
      ("this sun", "this-sun", "2026-11-22"), ("last saturday", "last-sat", "2026-11-14"),
      ("last friday", "last-fri", "2026-11-20"), ("last-sun", "last-sun", "2026-11-15"),
      // Dates.
      ("2026-12-31", "2026-12-31", "2026-12-31"), ("2026-12-31-1d", "2026-12-31-1d", "2026-12-30"),
      ("25 nov", "25nov", "2026-11-25"), ("nov 25", "25nov", "2026-11-25"), ("25nov", "25nov", "2026-11-25"),
      ("nov25", "25nov", "2026-11-25"), ("21 november", "21nov", "2026-11-21"), ("20 nov", "20nov", "2027-11-20"),
      ("25th of november", "25nov", "2026-11-25"), ("November 25th", "25nov", "2026-11-25"),
      ("25 nov 2027", "2027-11-25", "2027-11-25"), ("nov 25, 2027", "2027-11-25", "2027-11-25"),
      ("29 feb", "29feb", "2028-02-29"), ("sept 1", "1sep", "2027-09-01"), ("5 may", "5may", "2027-05-05"),
      ("the 1st", "1st", "2026-12-01"), ("21st", "21st", "2026-11-21"), ("22nd", "22nd", "2026-11-22"),
      ("23rd", "23rd", "2026-11-23"), ("31th", "31st", "2026-12-31"), ("11th", "11th", "2026-12-11"),
      // Distances.
      ("+3d", "today+3d", "2026-11-24"), ("-2w", "today-2w", "2026-11-07"), ("today+3d", "today+3d", "2026-11-24"),
      ("+1d", "tomorrow", "2026-11-22"), ("today-1d", "yesterday", "2026-11-20"), ("+0d", "today", "2026-11-21"),
      ("in 3 days", "today+3d", "2026-11-24"), ("in 2 weeks", "today+2w", "2026-12-05"),
      ("in a week", "today+1w", "2026-11-28"), ("in two months", "today+2mo", "2027-01-21"),
      ("3 days ago", "today-3d", "2026-11-18"), ("2w ago", "today-2w", "2026-11-07"),
      ("+1y-1d", "today+1y-1d", "2027-11-20"), ("+14d", "today+2w", "2026-12-05"),
      ("+18mo", "today+18mo", "2028-05-21"),
      ("fri+1w", "fri+1w", "2026-12-04"), ("mon-1d", "mon-1d", "2026-11-22"), ("tomorrow+1w", "today+8d", "2026-11-29"),
      // Periods.
      ("eow", "eow", "2026-11-22"), ("eom", "eom", "2026-11-30"), ("eoy", "eoy", "2026-12-31"),
      ("sow", "sow", "2026-11-16"), ("som", "som", "2026-11-01"), ("soy", "soy", "2026-01-01"),
      ("end of the month", "eom", "2026-11-30"), ("end of week", "eow", "2026-11-22"),
      ("next week", "sow+1w", "2026-11-23"), ("next month", "som+1mo", "2026-12-01"),
      ("next year", "soy+1y", "2027-01-01"),
      ("end of next month", "som+2mo-1d", "2026-12-31"), ("beginning of next week", "sow+1w", "2026-11-23"),
      ("end of next week", "eow+1w", "2026-11-29"), ("end of next year", "eoy+1y", "2027-12-31"),
      ("end of march", "1apr-1d", "2027-03-31"), ("end of december", "1jan-1d", "2026-12-31"),
      ("start of june", "1jun", "2027-06-01"), ("end of day", "today", "2026-11-21"),
      // As Todoist's people write.
      ("tom", "tomorrow", "2026-11-22"), ("tod", "today", "2026-11-21"), ("this weekend", "this-sat", "2026-11-21"),
      ("next weekend", "next-sat", "2026-11-28"), ("friday next week", "next-fri", "2026-11-27"),
      ("next week on friday", "next-fri", "2026-11-27"), ("the 15th of april", "15apr", "2027-04-15"),
      ("the first of april", "1apr", "2027-04-01"), ("april the 15th", "15apr", "2027-04-15"),
      ("mid january", "15jan", "2027-01-15"), ("15th of next month", "som+1mo+2w", "2026-12-15"),
      ("15th of the month", "15th", "2026-12-15"), ("3 days before dec 24", "24dec-3d", "2026-12-21"),
      ("a week from friday", "fri+1w", "2026-12-04"), ("2 weeks after eom", "eom+2w", "2026-12-14"),
      ("3 days from now", "today+3d", "2026-11-24"), ("in a couple of weeks", "today+2w", "2026-12-05"),
      // In digits.
      ("24/12", "24dec", "2026-12-24"), ("12/24", "24dec", "2026-12-24"), ("24.12.", "24dec", "2026-12-24"),
      ("24.12", "24dec", "2026-12-24"), ("24.12.2026", "2026-12-24", "2026-12-24"),
      ("3.4.", "3apr", "2027-04-03"), ("24/12/26", "2026-12-24", "2026-12-24"), ("7/7", "7jul", "2027-07-07"),
      ("2026/12/24", "2026-12-24", "2026-12-24"), ("24-12-2026", "2026-12-24", "2026-12-24"),
      ("2026.12.24", "2026-12-24", "2026-12-24"), ("29/2", "29feb", "2028-02-29"),
      ("last month", "som-1mo", "2026-10-01"), ("last week", "sow-1w", "2026-11-09"),
      ("eom-2d", "eom-2d", "2026-11-28"),
    ] as [(String, String, String)])
  func aDayIsRead(text: String, canonical: String, day: String) throws {
    let expression = try DateExpression(text, as: .day)
    #expect(expression.description == canonical)
    #expect(expression.kind == .day)
    #expect(try resolved(text, Self.reference()) == day)
    #expect(try DateExpression(canonical) == expression)
  }

  @Test(
    arguments: [
      // The clock shows 13:00.
      ("17:00", "17:00", "2026-11-21T16:00:00Z"), ("5pm", "17:00", "2026-11-21T16:00:00Z"),
      ("9:00", "09:00", "2026-11-22T08:00:00Z"), ("13:00", "13:00", "2026-11-22T12:00:00Z"),
      ("at 9", "09:00", "2026-11-22T08:00:00Z"), ("5:30 PM", "17:30", "2026-11-21T16:30:00Z"),
      ("12am", "00:00", "2026-11-21T23:00:00Z"), ("12pm", "12:00", "2026-11-22T11:00:00Z"),
      ("noon", "12:00", "2026-11-22T11:00:00Z"), ("midnight", "00:00", "2026-11-21T23:00:00Z"),
      ("today 5pm", "today@17:00", "2026-11-21T16:00:00Z"), ("tomorrow 9", "tomorrow@09:00", "2026-11-22T08:00:00Z"),
      ("friday 14:00", "fri@14:00", "2026-11-27T13:00:00Z"), ("today 9:00", "today@09:00", "2026-11-21T08:00:00Z"),
      ("today at noon", "today@12:00", "2026-11-21T11:00:00Z"),
      ("17:00 tomorrow", "tomorrow@17:00", "2026-11-22T16:00:00Z"),
      ("5 pm on friday", "fri@17:00", "2026-11-27T16:00:00Z"), ("tonight", "today@20:00", "2026-11-21T19:00:00Z"),
      ("tonight at 9", "today@21:00", "2026-11-21T20:00:00Z"), ("this evening", "today@18:00", "2026-11-21T17:00:00Z"),
      ("tomorrow morning", "tomorrow@09:00", "2026-11-22T08:00:00Z"),
      ("25 nov 17", "25nov@17:00", "2026-11-25T16:00:00Z"),
      ("nov 25 5:30pm", "25nov@17:30", "2026-11-25T16:30:00Z"), ("+3d 17:00", "today+3d@17:00", "2026-11-24T16:00:00Z"),
      ("in 3 days at 5pm", "today+3d@17:00", "2026-11-24T16:00:00Z"),
      ("2026-12-31 23:59", "2026-12-31@23:59", "2026-12-31T22:59:00Z"),
      ("next-mon@9", "next-mon@09:00", "2026-11-23T08:00:00Z"),
      // From now on.
      ("now", "now", "2026-11-21T12:00:00Z"), ("10m", "now+10m", "2026-11-21T12:10:00Z"),
      ("2h", "now+2h", "2026-11-21T14:00:00Z"), ("1d12h", "now+1d+12h", "2026-11-23T00:00:00Z"),
      ("90 minutes", "now+90m", "2026-11-21T13:30:00Z"), ("in 2 hours", "now+2h", "2026-11-21T14:00:00Z"),
      ("in 1h30m", "now+90m", "2026-11-21T13:30:00Z"), ("in an hour", "now+1h", "2026-11-21T13:00:00Z"),
      ("+2h", "now+2h", "2026-11-21T14:00:00Z"), ("now-30s", "now-30s", "2026-11-21T11:59:30Z"),
      ("2 hours ago", "now-2h", "2026-11-21T10:00:00Z"), ("3d", "now+3d", "2026-11-24T12:00:00Z"),
      ("now+1mo", "now+1mo", "2026-12-21T12:00:00Z"), ("+1d-2h", "now+1d-2h", "2026-11-22T10:00:00Z"),
      ("in half an hour", "now+30m", "2026-11-21T12:30:00Z"), ("1.5h", "now+90m", "2026-11-21T13:30:00Z"),
      ("in an hour and a half", "now+90m", "2026-11-21T13:30:00Z"),
      ("2 hours from now", "now+2h", "2026-11-21T14:00:00Z"),
      ("in two and a half hours", "now+150m", "2026-11-21T14:30:00Z"), ("9.30am", "09:30", "2026-11-22T08:30:00Z"),
      ("24/12 at 17:00", "24dec@17:00", "2026-12-24T16:00:00Z"), ("24.12. 9am", "24dec@09:00", "2026-12-24T08:00:00Z"),
      // ISO 8601.
      ("2026-11-21T15:00:00+03:00", "2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z"),
      ("2026-11-21t12:00z", "2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z"),
      ("2026-11-21T12:00:00.25Z", "2026-11-21T12:00:00.25Z", "2026-11-21T12:00:00.25Z"),
    ] as [(String, String, String)])
  func anInstantIsRead(text: String, canonical: String, instant: String) throws {
    let expression = try DateExpression(text)
    #expect(expression.description == canonical)
    #expect(expression.kind == .instant)
    #expect(try resolved(text, Self.reference()) == instant)
    #expect(try DateExpression(canonical) == expression)
    #expect(throws: TallyError.self) { try DateExpression(text, as: .day) }
  }

  @Test(
    arguments: [
      ("saturday", "2026-11-21"), ("friday", "2026-11-20"), ("sunday", "2026-11-15"), ("25 nov", "2025-11-25"),
      ("20 nov", "2026-11-20"), ("29 feb", "2024-02-29"), ("22nd", "2026-10-22"), ("31st", "2026-10-31"),
      ("17:00", "2026-11-20T16:00:00Z"), ("9:00", "2026-11-21T08:00:00Z"), ("13:00", "2026-11-21T12:00:00Z"),
      ("saturday 9:00", "2026-11-21T08:00:00Z"), ("saturday 17:00", "2026-11-14T16:00:00Z"),
      ("today 17:00", "2026-11-21T16:00:00Z"), ("next monday", "2026-11-23"),
    ] as [(String, String)])
  func lookingBackFindsTheLatest(text: String, expected: String) throws {
    #expect(try resolved(text, Self.reference(looking: .backward)) == expected)
  }

  @Test(
    arguments: [
      (1, "eow", "2026-11-21"), (1, "sow", "2026-11-15"), (2, "eow", "2026-11-22"), (7, "sow", "2026-11-21"),
      (1, "next sunday", "2026-11-22"), (2, "next sunday", "2026-11-29"), (7, "next friday", "2026-12-04"),
    ] as [(Int, String, String)])
  func theWeekStartDecidesWhereAWeekEnds(foundationWeekday: Int, text: String, expected: String) throws {
    #expect(try resolved(text, Self.reference(weekStart: foundationWeekday)) == expected)
  }

  @Test(
    arguments: [
      // Clocks go from 2:00 to 3:00 on 2026-03-29, and from 3:00 to 2:00 on 2026-10-25.
      ("2026-03-28T12:00:00Z", "tomorrow 2:30", "2026-03-29T01:30:00Z"),
      ("2026-03-28T12:00:00Z", "now+1d", "2026-03-29T11:00:00Z"),
      ("2026-03-28T12:00:00Z", "now+24h", "2026-03-29T12:00:00Z"),
      ("2026-03-28T01:30:00.5Z", "1d", "2026-03-29T01:30:00.5Z"),
      ("2026-10-24T12:00:00Z", "tomorrow 2:30", "2026-10-25T00:30:00Z"),
      ("2026-03-29T00:59:00Z", "2:30", "2026-03-29T01:30:00Z"),
      // The second 2:30 of that night stays the second.
      ("2026-10-25T01:30:00Z", "10m", "2026-10-25T01:40:00Z"),
    ] as [(String, String, String)])
  func clockChangesMoveASkippedTimeForward(now: String, text: String, expected: String) throws {
    #expect(try resolved(text, Self.reference(now)) == expected)
  }

  @Test func aDayTheMonthDoesNotHaveBecomesItsLast() throws {
    let reference = try Self.reference("2027-12-31T12:00:00Z")
    #expect(try resolved("+2mo", reference) == "2028-02-29")
    #expect(try resolved("+2mo+1d", reference) == "2028-03-01")
    #expect(try resolved("-1mo", reference) == "2027-11-30")
  }

  @Test func aGivenTodayCountsInsteadOfTheWallsDay() throws {
    let reference = try Self.reference()
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = reference.timeZone
    let late = DateReference(now: reference.now, today: try CalendarDay(iso8601: "2026-11-20"), calendar: calendar)
    #expect(try resolved("today", late) == "2026-11-20")
    #expect(try resolved("tomorrow 9:00", late) == "2026-11-21T08:00:00Z")
    #expect(try resolved("17:00", late) == "2026-11-21T16:00:00Z")
  }

  @Test(arguments: [
    "", " ", "x", "31 nov", "nov 31", "30 feb", "2026-02-30", "2026-13-01", "0 nov", "32nd", "0th", "25:00", "5:60",
    "13pm", "0am", "9", "march", "nov", "friday friday", "today tomorrow", "today+", "today+3", "today + 3d", "+3",
    "3 d d", "31/11", "13/13", "1/2/3/4", "24.12.x", "24/12/", "24.12.26.1", "half", "a couple", "end of", "mid",
    "3 days before", "weekend", "3pm-4pm", "the", "+3x", "in", "in 3", "days ago", "next", "next x",
    "tomorrow midnight", "friday+2h", "12:30:15",
    "2026-11-21T12:00", "2026-11-21T12:00:00", "2026-11-21T25:00Z", "2026-1-1", "today@", "@9", "5 pm pm",
    "99999999d", "25 nov 27", "٣ days", "today\u{0}", "in -3 days", "- 3d", "today 9x", "9:5",
  ])
  func anythingElseIsRefused(text: String) throws {
    #expect(throws: TallyError.self) { try DateExpression(text) }
  }

  @Test(
    arguments: [
      ("31 nov", DateExpression.Kind.day, TallyError.Code.invalidDay, "the calendar does not have"),
      ("25:00", .instant, .invalidInstant, "The time of day does not exist"),
      ("2026-11-21x", .day, .invalidDay, "is not a day"), ("2026-11-21T", .instant, .invalidInstant, "HH:MM"),
      ("tomorrow midnight", .instant, .invalidInstant, "two days"),
      ("tomorow", .day, .invalidDay, "Did you mean 'tomorrow'?"), ("firday 9", .instant, .invalidInstant, "'friday'"),
      ("17:00", .day, .invalidDay, "is a time"), ("0000-01-01", .day, .valueOutOfRange, "year"),
      ("2026-11-21T12:00", .instant, .invalidInstant, "offset"), ("qqqqqq", .day, .invalidDay, "Write a day as in"),
    ] as [(String, DateExpression.Kind, TallyError.Code, String)])
  func anErrorSaysWhatWasExpected(text: String, kind: DateExpression.Kind, code: TallyError.Code, part: String) throws {
    let error = try #require(throws: TallyError.self) { try DateExpression(text, as: kind) }
    #expect(error.code == code)
    #expect(error.description.contains(part))
  }

  /// The bug: values that are only too large were called misspelt.
  @Test(
    arguments: [
      ("today+99999999d", TallyError.Code.valueOutOfRange), ("+99999999999999999999d", .valueOutOfRange),
      ("in 99999999 days", .valueOutOfRange), ("99999999 days ago", .valueOutOfRange),
      ("now+99999999h", .valueOutOfRange),
      ("99999999h", .valueOutOfRange), ("1d99999999h", .valueOutOfRange), ("friday+12345678w", .valueOutOfRange),
      ("eom-99999999mo", .valueOutOfRange), ("10000-01-01", .valueOutOfRange), ("31 dec 10000", .valueOutOfRange),
      ("dec 31, 123456", .valueOutOfRange), ("12026-11-21T12:00:00Z", .valueOutOfRange), ("100 nov", .invalidDay),
      ("nov 100", .invalidDay), ("100th", .invalidDay), ("100:00", .invalidInstant), ("123pm", .invalidInstant),
      ("friday 100:00", .invalidInstant),
    ] as [(String, TallyError.Code)])
  func whatIsTooLargeIsSaidToBe(text: String, code: TallyError.Code) throws {
    let error = try #require(throws: TallyError.self) { try DateExpression(text) }
    #expect(error.code == code, "\(text): \(error)")
    for word in ["misspelt", "is not a", "Did you mean"] {
      #expect(!error.description.contains(word), "\(text): \(error)")
    }
  }

  @Test(
    arguments: [
      ("3/4", "3apr", "4mar"), ("3/4/2027", "2027-04-03", "2027-03-04"), ("12/11/26", "2026-11-12", "2026-12-11"),
      ("13/4", "13apr", "13apr"), ("4/13", "13apr", "13apr"), ("3.4.", "3apr", "3apr"),
      ("3.4.2027", "2027-04-03", "2027-04-03"),
      ("1/2 9am", "1feb@09:00", "2jan@09:00"),
    ] as [(String, String, String)])
  func theOrderOfDatesInDigitsDecides(text: String, dayFirst: String, monthFirst: String) throws {
    #expect(try DateExpression(text, dateOrder: .dayFirst).description == dayFirst)
    #expect(try DateExpression(text, dateOrder: .monthFirst).description == monthFirst)
  }

  @Test(arguments: ["3/4", "3/4/2027", "on 1/2", "11/12 9am"])
  func aDateThatCanBeTwoIsRefusedWithoutAnOrder(text: String) throws {
    let error = try #require(throws: TallyError.self) {
      try DateExpression(text.replacing("on ", with: ""), as: text.contains("am") ? .instant : .day)
    }
    #expect(error.description.contains("two days") && error.description.contains("YYYY-MM-DD"), "\(error)")
  }

  @Test(
    arguments: [
      ("en_US", DateOrder.monthFirst), ("en_GB", .dayFirst), ("de_DE", .dayFirst), ("en_CA", .monthFirst),
      ("fr_CA", .dayFirst), ("ja_JP", .monthFirst), ("zh_Hant_TW", .monthFirst), ("tr_TR", .dayFirst),
      ("de", .dayFirst),
      ("es_PR", .monthFirst), ("es_MX", .dayFirst), ("hu", .monthFirst), ("en", nil), ("", nil),
    ] as [(String, DateOrder?)])
  func theLocaleDecidesTheOrder(identifier: String, order: DateOrder?) {
    #expect(DateOrder(of: Locale(identifier: identifier)) == order)
  }

  @Test func everyErrorAboutADayOrATimeNamesTheForm() throws {
    for (text, kind) in [
      ("x", DateExpression.Kind.day), ("x", .instant), ("tomorow", .day), ("17:00", .day), ("3/4", .day),
    ] {
      let error = try #require(throws: TallyError.self) { try DateExpression(text, as: kind) }
      #expect(error.description.contains("YYYY-MM-DD"), "\(error)")
    }
  }

  @Test func daysAndInstantsOfIso8601BeyondTheYear9999AreOutOfRange() {
    for text in ["10000-01-01", "123456-12-31"] {
      #expect(throws: TallyError.self) { try CalendarDay(iso8601: text) }
      expect(.valueOutOfRange) { _ = try CalendarDay(iso8601: text) }
      expect(.valueOutOfRange) { _ = try Timestamp(iso8601: text + "T00:00:00Z") }
    }
    for text in ["20261-1-01", "12345", "12345-x", "2026112"] {
      expect(.invalidDay) { _ = try CalendarDay(iso8601: text) }
    }
  }

  @Test(arguments: ["every 99999999999 days", "after 99999999999 weeks", "every day for 99999999999 times"])
  func aRecurrenceWithATooLargeNumberSaysSo(text: String) throws {
    let error = try #require(throws: TallyError.self) { try Recurrence(phrase: text) }
    #expect(error.code == .invalidRecurrence && error.description.contains("too large"), "\(error)")
  }

  @Test(arguments: ["FREQ=DAILY;INTERVAL=99999999999", "FREQ=DAILY;COUNT=99999999999"])
  func aRuleWithATooLargeNumberSaysSo(text: String) throws {
    let error = try #require(throws: TallyError.self) { try Recurrence(text: text) }
    #expect(error.code == .invalidRecurrence && error.description.contains("too large"), "\(error)")
  }

  @Test func daysOutsideTheCalendarAreRefused() throws {
    let reference = try Self.reference()
    for text in ["+9999y", "-9999y", "+9999999d", "-9999999w", "9999-12-31+1d", "0001-01-01-1d"] {
      #expect(throws: TallyError.self) { try resolved(text, reference) }
    }
    let end = try Self.reference("9999-12-31T12:00:00Z")
    for text in ["tomorrow", "29 feb", "1st", "next monday", "next year"] {
      #expect(throws: TallyError.self) { try resolved(text, end) }
    }
    #expect(try resolved("eoy", end) == "9999-12-31")
    #expect(try resolved("eom", end) == "9999-12-31")
    #expect(try resolved("+9999999h", reference) == "3167-09-08T03:00:00Z")
  }

  @Test func anExpressionIsCodableAsItsText() throws {
    let expressions = try ["in 3 days at 5pm", "next monday"].map { try DateExpression($0) }
    let json = try JSONEncoder().encode(expressions)
    #expect(String(decoding: json, as: UTF8.self) == #"["today+3d@17:00","next-mon"]"#)
    #expect(try JSONDecoder().decode([DateExpression].self, from: json) == expressions)
  }

  @Test func aDayStandsForAnInstantAtTheCallersTime() throws {
    let reference = try Self.reference()
    let today = DateExpression.today
    #expect(try today.instant(against: reference, bareDay: .start).iso8601 == "2026-11-20T23:00:00Z")
    #expect(try today.instant(against: reference, bareDay: .end).iso8601 == "2026-11-21T22:59:59.999999Z")
    #expect(try today.instant(against: reference, bareDay: .minute(540)).iso8601 == "2026-11-21T08:00:00Z")
    #expect(throws: TallyError.self) { try today.instant(against: reference, bareDay: .required) }
    #expect(throws: TallyError.self) { try DateExpression("now").day(against: reference) }
    #expect(try DateExpression.tomorrow.day(against: reference).iso8601 == "2026-11-22")
  }
}
