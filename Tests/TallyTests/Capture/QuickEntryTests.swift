import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct QuickEntryTests {
  private func parse(_ text: String, now: String = DateExpressionTests.now) throws -> QuickEntry {
    QuickEntry.parse(text, reference: try DateExpressionTests.reference(now))
  }

  @Test func theCalendarGivesTheZoneAndTheWeek() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
    calendar.firstWeekday = 1
    let entry = QuickEntry.parse(
      "Call Ann tomorrow 9am due eow", calendar: calendar, now: try Timestamp(iso8601: "2026-11-21T16:00:00Z"))
    // In Tokyo it is Sunday, with which the week begins.
    #expect(entry.scheduledDate?.iso8601 == "2026-11-23")
    #expect(entry.reminderDate?.iso8601 == "2026-11-23T00:00:00Z")
    #expect(entry.dueDay?.iso8601 == "2026-11-28")
  }

  @Test func anotherTodayCounts() throws {
    let reference = try DateExpressionTests.reference()
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = reference.timeZone
    let late = DateReference(now: reference.now, today: try CalendarDay(iso8601: "2026-11-20"), calendar: calendar)
    #expect(QuickEntry.parse("Call Ann today", reference: late).scheduledDate?.iso8601 == "2026-11-20")
  }

  @Test func aSentenceLooksForwardWhateverTheReferenceSays() throws {
    let backward = try DateExpressionTests.reference(looking: .backward)
    #expect(QuickEntry.parse("Call Ann friday", reference: backward).scheduledDate?.iso8601 == "2026-11-27")
  }

  @Test func aReminderTodayMayHavePassed() throws {
    let entry = try parse("Call Ann today 9am")
    #expect(entry.reminderDate?.iso8601 == "2026-11-21T08:00:00Z")
  }

  /// The parts of a repetition mean the same in any order.
  @Test(
    arguments: [
      (
        ["every weekday", "from 1 april", "until 30 april", "at 9", "except 23 april"],
        "Call Ann | on 2027-04-01 | remind 2027-04-01 09:00 | every weekday, until 30 April 2027, except 23 April 2027"
      ),
      (
        ["biweekly", "for 3 times", "starting monday", "#home"],
        "Call Ann | on 2026-11-23 | #home | every 2 weeks, 3 times"
      ),
      (
        ["due daily", "except sundays", "till 12 dec", "5pm"],
        "Call Ann | due 2026-11-21 17:00 | every day except Sunday, until 12 December 2026"
      ),
      (
        ["every 3 days", "after completion", "from friday", "!high"],
        "Call Ann | on 2026-11-27 | !high | 3 days after completion"
      ),
    ])
  func theOrderOfThePartsOfARepetitionDoesNotMatter(parts: [String], summary: String) throws {
    let reference = try DateExpressionTests.reference()
    for order in Self.orders(of: parts) {
      let sentence = "Call Ann " + order.joined(separator: " ")
      let entry = QuickEntry.parse(sentence, reference: reference)
      #expect(entry.summary(in: reference.timeZone) == summary, "\(sentence)")
      #expect(entry.leftovers.isEmpty, "\(sentence)")
    }
  }

  /// A list of days is read whatever its length, and named if no rule can leave out as many.
  @Test(arguments: [12, 13, 48, 100, 366, 367, 500])
  func aLongListOfDaysIsReadOrNamed(count: Int) throws {
    let first = try CalendarDay(iso8601: "2027-01-01")
    let days = try (0..<count).map { try first.adding(days: 2 * $0) }
    let names = days.map { "\($0.day) \(CalendarNames.months[$0.month - 1]) \($0.year)" }
    for list in [
      names.joined(separator: ", "), names.joined(separator: " and "), days.map(\.iso8601).joined(separator: ", "),
    ] {
      for sentence in [
        "x every day except \(list)", "x every day #a except \(list)", "except \(list), every day x",
        "x except \(list) every day",
      ] {
        let entry = try parse(sentence)
        guard count <= RecurrenceRule.mostExceptions else {
          #expect(!entry.leftovers.isEmpty, "\(sentence.prefix(80))")
          continue
        }
        guard case .rule(let rule)? = entry.recurrence else {
          Issue.record("\(sentence.prefix(80)): \(entry.recurrence?.words ?? "none")")
          continue
        }
        #expect(rule.exceptions == days && entry.title == "x", "\(sentence.prefix(80))")
      }
    }
  }

  private static func orders(of parts: [String]) -> [[String]] {
    guard parts.count > 1 else { return [parts] }
    return parts.indices.flatMap { index in
      var others = parts
      let part = others.remove(at: index)
      return orders(of: others).map { [part] + $0 }
    }
  }

  @Test func aTimeThatTheClocksSkipIsMovedForward() throws {
    let entry = try parse("Feed the cat tomorrow 2:30", now: "2026-03-28T12:00:00Z")
    #expect(entry.reminderDate?.iso8601 == "2026-03-29T01:30:00Z")
    #expect(entry.scheduledDate?.iso8601 == "2026-03-29")
  }

  /// The bug: `at ` 16,000 times took 12 s, and four times that for twice as many; it was also read by recursion.
  ///
  /// Steps are counted instead of time: twice the words may take twice the steps, and no word more than some hundreds.
  @Test(arguments: [
    "at ", "for Work ", "for work ", "#a ", "#a \\#b ", "list:“ ", "list:\" ", ". ", ".", "1d", "1d ", "friday ",
    "every ", "a ", "in 2 ", "the monday, ", "remind me to ", "until ", "tomorrow at ", "\\", "“ ", "(",
    "2026-11-21T1 ",
    "every day until friday ", "for ", "due on by ", "at for Work in 3 days #a ", "3pm-", "3pm-4pm ", "3pm - 4pm - ",
    "from 3pm to ", "24.12. ", "1/2/", "for 2 hours ", "every! ", "every 8 hours ", "every 2, ", "every 14 jan, ",
    "p1 ",
    "p:high ", "+home ", "@home", "deadline ", "someday ", "half an ", "a couple of ", "2 days before ",
    "next week on ",
    "end of next ", "the 15th of ", "between 2 and ", "tom ", "ev ", "monday next week ", "3 days after 3 days ",
    "deadline 31 nov ", "for 3 weeks ", "every day for 3 weeks ", "mid-", "due every ", "deadline due ",
    "until easter ",
    "every day until easter ", "from 1 april to ", "3 times ", "except sunday ", "every day except ",
    "3 times every day ", "3 times a day ", "until friday, except sundays, ", "for 3 weeks, ", "on the 1st, ",
    "except 1 may, ", "twice daily ",
  ])
  func aLongSentenceTakesTimeInProportionToItsLength(words: String) throws {
    let byteCount = TestSize.pick(quick: 800, long: 4_000)
    let (half, whole) = (try steps(words, byteCount: byteCount), try steps(words, byteCount: 2 * byteCount))
    #expect(whole.steps <= 1_500 * whole.tokens + 1_000, "\(words): \(whole)")
    #expect(whole.steps <= half.steps * 21 / 10 + 1_000, "\(words): \(half), \(whole)")
  }

  /// The tokens of words that are repeated, and how often the parser looks at one.
  private func steps(_ words: String, byteCount: Int) throws -> (tokens: Int, steps: Int) {
    let reference = try DateExpressionTests.reference()
    let text = String(repeating: words, count: byteCount / words.utf8.count)
    var parser = QuickEntryParser(text, reference: reference, lists: ["Work", "Work for Work", "Home"])
    #expect(!parser.read().title.isEmpty)
    _ = try? DateExpression(text)
    _ = try? Recurrence(phrase: text)
    return (parser.tokens.count, parser.work.stepCount)
  }

  @Test func randomWordsTakeStepsInProportionToTheirNumber() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomWordsTakeStepsInProportion"))
    let vocabulary = [
      "at", "every", "for", "in", "2", "days", "friday", "the", "15th", "of", "april", "from", "3pm", "-", "4pm", ",",
      "and", "due", "by", "deadline", "remind", "me", "until", "next", "week", "a", "half", "before", "after", "24/12",
      "1.2.", "p1", "#a", "for Work", "tom", "every!", "someday", "on", "first", "last", "other", "month", "+3d", "(",
    ]
    for _ in 0..<12 {
      let words = (0..<Int.random(in: 2...6, using: &random)).compactMap { _ in vocabulary.randomElement(using: &random)
      }
      let (tokens, steps) = try steps(words.joined(separator: " ") + " ", byteCount: 3_000)
      #expect(steps <= 1_500 * tokens + 1_000, "\(words): \(steps) steps for \(tokens) tokens")
    }
  }

  @Test func aSentenceIsAtMost65536BytesLong() throws {
    let longest = String(repeating: "x", count: 65_529) + " friday"
    try QuickEntry.validate(longest)
    #expect(try parse(longest).scheduledDate?.iso8601 == "2026-11-27")
    expect(.valueOutOfRange) { try QuickEntry.validate("x" + longest) }
    let entry = try parse("x" + longest + " ")
    #expect(entry.scheduledDate == nil && entry.title == "x" + longest)
  }

  /// Whether a list counts depends on what follows, which may be another one.
  @Test(
    arguments: [
      ("x for Work", "Work", "x"), ("x for Work for Home", "Work", "x for Home"),
      ("x for Work for Home party", nil, "x for Work for Home party"), ("x for Work party", nil, "x for Work party"),
      ("x list:home", "Home", "x"), ("x list:\"house work\" y", "House work", "x y"),
      ("x for House work", "House work", "x"),
      ("x for House workers", nil, "x for House workers"), ("x for C++ tomorrow", "C++", "x"),
      ("x list:“unknown”", nil, "x list:“unknown”"),
    ] as [(String, String?, String)])
  func knownListsAreFound(text: String, list: String?, title: String) throws {
    let lists = ["Home", "Work", "House work", "C++"]
    let entry = QuickEntry.parse(text, reference: try DateExpressionTests.reference(), lists: lists)
    #expect(entry.listName == list)
    #expect(entry.title == title)
  }

  @Test func atMostAsManyTagsAsATaskCanHaveAreUnderstood() throws {
    let entry = try parse("x " + (1...70).map { "#t\($0)" }.joined(separator: " "))
    #expect(entry.tags.count == TagSet.maximumCount)
    #expect(entry.title == "x #t65 #t66 #t67 #t68 #t69 #t70")
    let long = String(repeating: "a", count: TagSet.maximumLengthInCharacters + 1)
    #expect(try parse("x #\(long)").title == "x #\(long)")
  }

  @Test func theTitleIsBlankOnlyIfTheSentenceIs() throws {
    for blank in ["", " ", "\n\t"] { #expect(try parse(blank).title.isEmpty) }
    for text in ["tomorrow", "#a !1", "\u{301}", " \u{301}", "tomorrow \u{301}", "\u{200B}", ".", "\\", "\"", "#", "!"]
    {
      #expect(!(try parse(text).title.isEmpty), "\(text)")
    }
  }

  @Test func nothingIsDueBothAtAnInstantAndOnADay() throws {
    for text in ["x due friday 5pm due monday", "x due friday due 5pm", "x tomorrow 9am due friday remind me 8am"] {
      let entry = try parse(text)
      #expect(entry.dueDate == nil || entry.dueDay == nil, "\(text)")
    }
  }

  @Test(arguments: [
    "\"", "“", "#", "#a", "!", "1.", ".", "every ", "in ", "+1d", "1d", "due ", "for ", "\\", "until ", "(",
  ])
  func longTextsAreReadInLinearTime(piece: String) throws {
    // Quadratic time would take minutes.
    let entry = try parse("a" + String(repeating: " " + piece, count: 1_000) + String(repeating: piece, count: 4_000))
    #expect(!entry.title.isEmpty)
  }
}
