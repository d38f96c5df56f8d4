import Foundation
import TestSupport
import Testing

@testable import Tally

struct WallClockTests {
  @Test(
    arguments: [
      // Nine in the morning stays nine in the morning when summer time begins.
      ("Europe/Amsterdam", "2026-03-28T08:00:00Z", "2026-03-28", "2026-03-29", "2026-03-29T07:00:00Z"),
      // The distance to the day is kept, and so is the fraction.
      ("Europe/Amsterdam", "2026-03-27T08:00:00.25Z", "2026-03-28", "2026-03-31", "2026-03-30T07:00:00.25Z"),
      // 02:30 does not exist: one hour later.
      ("Europe/Amsterdam", "2026-03-28T01:30:00Z", "2026-03-28", "2026-03-29", "2026-03-29T01:30:00Z"),
      // The first instant after the gap is itself.
      ("Europe/Amsterdam", "2026-03-28T02:00:00Z", "2026-03-28", "2026-03-29", "2026-03-29T01:00:00Z"),
      // 02:30 occurs twice: the first one.
      ("Europe/Amsterdam", "2026-10-24T00:30:00Z", "2026-10-24", "2026-10-25", "2026-10-25T00:30:00Z"),
      ("Australia/Lord_Howe", "2026-10-02T15:45:00Z", "2026-10-03", "2026-10-04", "2026-10-03T15:45:00Z"),
      // Apia skipped 30 December 2011: the day after at the same time.
      ("Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-29", "2011-12-30", "2011-12-30T20:00:00Z"),
      ("America/Sao_Paulo", "2018-11-03T03:00:00Z", "2018-11-03", "2018-11-04", "2018-11-04T03:00:00Z"),
      ("UTC", "1969-12-31T23:59:59.999999Z", "1970-01-01", "1969-12-31", "1969-12-30T23:59:59.999999Z"),
      ("UTC", "9999-12-31T12:00:00Z", "2026-01-01", "2026-01-02", "9999-12-31T23:59:59.999999Z"),
    ] as [(String, String, String, String, String)])
  func anInstantKeepsItsLocalTimeAndDistance(
    zone: String, instant: String, day: String, newDay: String, expected: String
  ) throws {
    let moved = try Timestamp(iso8601: instant).moved(
      from: CalendarDay(iso8601: day), to: CalendarDay(iso8601: newDay), in: try #require(TimeZone(identifier: zone)))
    #expect(moved.iso8601 == expected)
  }

  @Test func movingToTheSameDayChangesAtMostTheSecondOfTwoTimes() throws {
    var generator = SeededGenerator(
      seed: SeededGenerator.chooseSeed(for: "movingToTheSameDayChangesAtMostTheSecondOfTwoTimes"))
    let zones = try ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia"].map {
      try #require(TimeZone(identifier: $0))
    }
    for _ in 0..<3_000 {
      let zone = try #require(zones.randomElement(using: &generator))
      let instant = Timestamp(clampingSeconds: .random(in: 0...2_000_000_000, using: &generator))
      let moved = instant.moved(from: .earliest, to: .earliest, in: zone)
      let back = zone.secondsFromGMT(at: moved) - zone.secondsFromGMT(at: instant)
      #expect(moved == instant || (back > 0 && moved == instant.adding(seconds: -back)))
    }
  }
}
