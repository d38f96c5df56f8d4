import Foundation
import TestSupport
import Testing

@testable import Tally

struct RecurrenceSeriesTests {
  private let id = UUID(high: 0x0199_0000_0000_7ABC, low: 0x8123_4567_89AB_CDEF)

  private func next(
    _ text: String, start: String = "2026-11-16", occurrence: String, completed: String, today: String? = nil
  ) throws -> String? {
    let series = RecurrenceSeries(
      id: id, start: try CalendarDay(iso8601: start), occurrence: try CalendarDay(iso8601: occurrence), index: 3)
    let completed = try CalendarDay(iso8601: completed)
    let next = series.next(
      by: try Recurrence(text: text), completedOn: completed,
      today: try today.map(CalendarDay.init(iso8601:)) ?? completed)
    if let next { #expect(next.id == id && next.index == 4 && next.start == series.start) }
    return next?.occurrence.iso8601
  }

  @Test(
    arguments: [
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-16", "2026-11-16", "2026-11-23"),  // on its day
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-16", "2026-11-10", "2026-11-23"),  // early: the one after this one
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-16", "2026-11-18", "2026-11-23"),  // late
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-16", "2026-12-15", "2026-12-21"),  // four missed ones do not pile up
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-16", "2026-11-23", "2026-11-23"),  // that of today is still to come
      ("FREQ=DAILY", "2026-11-16", "2026-11-21", "2026-11-21"),
      ("FREQ=MONTHLY;BYMONTHDAY=31", "2026-10-31", "2026-11-01", "2026-12-31"),
      ("FREQ=DAILY;INTERVAL=3", "2026-11-16", "2026-11-18", "2026-11-19"),
      ("FREQ=DAILY;INTERVAL=3", "2026-11-16", "2026-11-19", "2026-11-19"),
      ("after 3 days", "2026-11-16", "2026-11-18", "2026-11-21"),
      ("after 3 days", "2026-11-16", "2026-11-10", "2026-11-13"),
      ("after 2 weeks", "2026-11-16", "2026-11-18", "2026-12-02"),
      ("after 1 month", "2026-11-16", "2027-01-31", "2027-02-28"),
      ("after 1 year", "2026-11-16", "2024-02-29", "2025-02-28"),
      ("after 4 years", "2026-11-16", "2024-02-29", "2028-02-29"),
    ] as [(String, String, String, String)])
  func theNextOccurrenceFollowsThisOneAndTheCompletion(
    text: String, occurrence: String, completed: String, expected: String
  ) throws {
    #expect(try next(text, occurrence: occurrence, completed: completed) == expected)
  }

  @Test func aCompletionInThePastMakesNoOccurrenceInThePastByARule() throws {
    let today = "2026-12-02"
    #expect(try next("FREQ=DAILY", occurrence: "2026-11-16", completed: "2026-11-17", today: today) == today)
    #expect(try next("after 3 days", occurrence: "2026-11-16", completed: "2026-11-17", today: today) == "2026-11-20")
  }

  @Test func aSeriesEnds() throws {
    #expect(try next("FREQ=DAILY;COUNT=2", occurrence: "2026-11-16", completed: "2026-11-16") == "2026-11-17")
    #expect(try next("FREQ=DAILY;COUNT=2", occurrence: "2026-11-17", completed: "2026-11-17") == nil)
    #expect(try next("FREQ=DAILY;UNTIL=20261117", occurrence: "2026-11-16", completed: "2026-11-18") == nil)
    #expect(try next("after 1 year", occurrence: "9999-11-16", completed: "9999-11-17") == nil)
    #expect(try next("FREQ=YEARLY", occurrence: "9999-11-16", completed: "9999-11-17") == nil)
  }

  @Test func aRuleThatDoesNotMatchTheStartBeginsWithItsFirstDay() throws {
    let days = try next(
      "FREQ=WEEKLY;BYDAY=TH;COUNT=1", start: "2026-11-16", occurrence: "2026-11-16", completed: "2026-11-16")
    #expect(days == "2026-11-19")
  }

  @Test func theIdFollowsFromSeriesAndIndexAlone() throws {
    let series = RecurrenceSeries(startingWith: id, on: try CalendarDay(iso8601: "2026-11-16"))
    #expect(series.taskID == id)
    let rule = try Recurrence(text: "FREQ=DAILY")
    let completions = try ["2026-11-16", "2026-11-20"].map(CalendarDay.init(iso8601:))
    let nexts = completions.compactMap { series.next(by: rule, completedOn: $0, today: $0) }
    #expect(nexts.count == 2 && nexts[0].occurrence != nexts[1].occurrence)
    #expect(nexts[0].taskID == nexts[1].taskID)
    // Ids are stored and compared between versions: these must never change.
    #expect(nexts[0].taskID.uuidString == "01990000-0000-844B-9FC1-E609A82AA673")
    #expect(UUID(derivedFrom: id, index: 1_000_000).uuidString == "01990000-0000-8919-A5AC-7345AB9C2E38")
  }

  @Test func derivedIdsAreOfVersion8AndBeginAsTheirOrigin() throws {
    var generator = SeededGenerator(
      seed: SeededGenerator.chooseSeed(for: "derivedIdsAreOfVersion8AndBeginAsTheirOrigin"))
    for _ in 0..<1_000 {
      let origin = generator.uuid()
      let (high, low) = UUID(derivedFrom: origin, index: generator.next()).words
      #expect(high >> 16 == origin.words.high >> 16)
      #expect(high >> 12 & 0xF == 8 && low >> 62 == 0b10)
    }
  }

  @Test func neighbouringSeriesAndNumbersHaveDifferentIds() {
    var ids: Set<UUID> = []
    for series in 0..<200 as Range<UInt64> {
      let id = UUID(high: id.words.high, low: id.words.low ^ series)
      for index in 1...200 as ClosedRange<UInt64> { ids.insert(UUID(derivedFrom: id, index: index)) }
    }
    #expect(ids.count == 200 * 200)
    // The last digits are what people type.
    #expect(Set(ids.map { $0.words.low & 0xFFFF_FFFF }).count > 39_900)
  }

  @Test func aChangedBitOfTheOriginOrTheNumberChangesHalfTheBits() {
    var differences: [Int] = []
    for bit in 0..<60 as Range<UInt64> {
      let other = UUID(high: id.words.high, low: id.words.low ^ 1 << bit)
      for pair in [(other, 7), (id, 7 ^ 1 << bit)] as [(UUID, UInt64)] {
        let (first, second) = (UUID(derivedFrom: id, index: 7).words, UUID(derivedFrom: pair.0, index: pair.1).words)
        differences.append((first.high ^ second.high).nonzeroBitCount + (first.low ^ second.low).nonzeroBitCount)
      }
    }
    let mean = Double(differences.reduce(0, +)) / Double(differences.count)
    #expect((34...40).contains(mean), "of 74 bits")
    #expect((differences.min() ?? 0) > 15)
  }
}
