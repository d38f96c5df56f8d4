import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct TimestampTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0),
      ("1969-12-31T23:59:59.999999Z", -1),
      ("2026-11-21T12:00:00Z", 1_795_262_400_000_000),
      ("2026-11-21T15:00:00+03:00", 1_795_262_400_000_000),
      ("2026-11-21T15:00:00+0300", 1_795_262_400_000_000),
      ("2026-11-21t12:00:00z", 1_795_262_400_000_000),
      ("2026-11-21T12:00Z", 1_795_262_400_000_000),
      ("2026-11-21T12:00:00-00:00", 1_795_262_400_000_000),
      ("2026-11-20T12:01:00-23:59", 1_795_262_400_000_000),
      ("2026-11-21T12:00:00.5Z", 1_795_262_400_500_000),
      ("2026-11-21T12:00:00.123456789Z", 1_795_262_400_123_456),
      ("2024-02-29T23:59:59Z", 1_709_251_199_000_000),
      ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
      ("0001-01-01T03:00:00+03:00", -62_135_596_800_000_000),
      ("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999_999),
    ] as [(String, Int64)])
  func acceptedFormsGiveTheirInstant(text: String, microseconds: Int64) throws {
    #expect(try Timestamp(iso8601: text).microsecondsSince1970 == microseconds)
  }

  @Test(arguments: [
    "", "2026", "2026-11-21", "2026-11-21T", "2026-11-21 12:00:00Z", "2026-11-21T12:00:00", "2026-11-21T12",
    "2026-11-21T12Z", "2026-11-21T12:00:", "2026-11-21T12:00:0Z", "2026-11-21T120000Z", "20261121T120000Z",
    "2026-1-21T12:00:00Z", "2026-11-21T1:00:00Z", "2026-02-30T12:00:00Z", "2023-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-21T24:00:00Z",
    "2026-11-21T25:00:00Z", "2026-11-21T12:60:00Z", "2016-12-31T23:59:60Z", "2026-11-21T12:00:61Z",
    "2026-11-21T12:00:00.Z", "2026-11-21T12:00:00.1234567890Z", "2026-11-21T12:00:00,5Z",
    "2026-11-21T12:00:00+3", "2026-11-21T12:00:00+03", "2026-11-21T12:00:00+03:0", "2026-11-21T12:00:00+24:00",
    "2026-11-21T12:00:00+03:60", "2026-11-21T12:00:00Z ", " 2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z\u{0}",
    "2026-11-21T12:00:00UTC", "+2026-11-21T12:00:00Z", "-026-11-21T12:00:00Z", "２０２６-11-21T12:00:00Z", "now",
  ])
  func everythingElseIsRefused(text: String) {
    let error = #expect(throws: TallyError.self) { try Timestamp(iso8601: text) }
    #expect(error?.code == .invalidInstant)
  }

  @Test(arguments: [
    "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0001-01-01T00:59:59+01:00",
  ])
  func instantsOutsideTheRangeAreRefusedAsSuch(text: String) {
    let error = #expect(throws: TallyError.self) { try Timestamp(iso8601: text) }
    #expect(error?.code == .valueOutOfRange)
  }

  @Test func leapSecondsAreNamedInTheMessage() {
    let error = #expect(throws: TallyError.self) { try Timestamp(iso8601: "2016-12-31T23:59:60Z") }
    #expect(error?.message.contains("leap second") == true)
  }

  @Test func everyPrefixOfAnInstantIsRefused() {
    let text = "2026-11-21T15:00:00.123456+03:00"
    for count in 0..<text.utf8.count {
      // The seconds and their fraction may be left out, but an offset is required.
      #expect(throws: TallyError.self, "\(count) characters") { try Timestamp(iso8601: String(text.prefix(count))) }
    }
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"), (1_000, "1970-01-01T00:00:00.001Z"),
      (120_000, "1970-01-01T00:00:00.12Z"), (500_000, "1970-01-01T00:00:00.5Z"),
      (10, "1970-01-01T00:00:00.00001Z"), (1_001, "1970-01-01T00:00:00.001001Z"),
      (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
      (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ] as [(Int64, String)])
  func fractionsArePrintedOnlyAsLongAsNeeded(microseconds: Int64, text: String) throws {
    #expect(try Timestamp(microsecondsSince1970: microseconds).iso8601 == text)
  }

  @Test func textRoundTripsAndKeepsTheOrder() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "textRoundTripsAndKeepsTheOrder"))
    for _ in 0..<5_000 {
      let first = Timestamp(clamping: .random(in: Timestamp.microsecondsRange, using: &generator))
      let second = Timestamp(clamping: .random(in: Timestamp.microsecondsRange, using: &generator))
      #expect(try Timestamp(iso8601: first.iso8601) == first)
      // Equally long texts sort as the instants do.
      let (left, right) = (first.iso8601.prefix(19), second.iso8601.prefix(19))
      if left != right { #expect((left < right) == (first < second)) }
    }
  }

  @Test func textAgreesWithFoundation() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "textAgreesWithFoundation"))
    let style = Date.ISO8601FormatStyle()
    for _ in 0..<1_000 {
      let seconds = Int64.random(in: -10_000_000_000...250_000_000_000, using: &generator)
      let instant = Timestamp(clamping: seconds * 1_000_000)
      // Foundation's default calendar is Julian before 1582; ours is always Gregorian.
      guard instant.microsecondsSince1970 > -12_219_292_800_000_000 else { continue }
      #expect(style.format(instant.date) == instant.iso8601)
    }
  }

  @Test func arithmeticStopsAtTheEnds() {
    #expect(Timestamp.latest.adding(microseconds: 1) == .latest)
    #expect(Timestamp.earliest.adding(microseconds: -1) == .earliest)
    #expect(Timestamp.earliest.adding(seconds: .max) == .latest)
    #expect(Timestamp.latest.adding(seconds: .min) == .earliest)
    #expect(Timestamp.latest.adding(microseconds: .max) == .latest)
    #expect(Timestamp(clamping: 0).adding(seconds: -1).microsecondsSince1970 == -1_000_000)
    #expect(Timestamp.latest.microseconds(since: .earliest) == 315_537_897_599_999_999)
  }

  @Test func countsOutsideTheRangeAreRefused() {
    for count in [Int64.min, -62_135_596_800_000_001, 253_402_300_800_000_000, .max] {
      let error = #expect(throws: TallyError.self) { try Timestamp(microsecondsSince1970: count) }
      #expect(error?.code == .valueOutOfRange)
    }
  }

  @Test func datesRoundTripToTheMicrosecondInLivingMemory() throws {
    var generator = SeededGenerator(
      seed: SeededGenerator.chooseSeed(for: "datesRoundTripToTheMicrosecondInLivingMemory")
    )
    let livingMemory: Range<Int64> = -3_200_000_000_000_000..<5_200_000_000_000_000
    for _ in 0..<5_000 {
      let instant = Timestamp(clamping: .random(in: livingMemory, using: &generator))
      #expect(try Timestamp(instant.date) == instant)
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e12, 252_423_993_600, -63_113_904_001])
  func datesThatAreNoInstantAreRefused(secondsSince2001: Double) {
    #expect(throws: TallyError.self) { try Timestamp(Date(timeIntervalSinceReferenceDate: secondsSince2001)) }
  }
}

struct OffsetTimestampTests {
  @Test(arguments: [
    "2026-11-21T15:00:00+03:00", "2026-11-21T12:00:00Z", "2026-11-21T02:15:00.25-09:45", "0001-01-01T23:59:00+23:59",
    "9999-12-31T00:00:59.999999-23:59",
  ])
  func offsetsAreKept(text: String) throws {
    #expect(try OffsetTimestamp(iso8601: text).iso8601 == text)
  }

  @Test func minusZeroBecomesUTC() throws {
    #expect(try OffsetTimestamp(iso8601: "2026-11-21T12:00:00-00:00").iso8601 == "2026-11-21T12:00:00Z")
  }

  @Test func equalityCountsTheOffset() throws {
    let here = try OffsetTimestamp(iso8601: "2026-11-21T15:00:00+03:00")
    let there = try OffsetTimestamp(iso8601: "2026-11-21T12:00:00Z")
    #expect(here != there)
    #expect(here.instant == there.instant)
  }

  @Test func localTimesOutsideTheRangeAreRefused() {
    for (instant, offset) in [(Timestamp.earliest, -1), (.latest, 1), (Timestamp(clamping: 0), 1_440), (.latest, .max)]
    {
      let error = #expect(throws: TallyError.self) { try OffsetTimestamp(instant, utcOffsetInMinutes: offset) }
      #expect(error?.code == .valueOutOfRange)
    }
  }

  @Test func oddOffsetsAreRoundedToTheMinute() throws {
    // Monrovia was 44 minutes and 30 seconds behind UTC until 1972-01-07.
    let zone = try #require(TimeZone(identifier: "Africa/Monrovia"))
    let instant = try Timestamp(iso8601: "1972-01-01T00:00:00Z")
    let offset = OffsetTimestamp(instant, in: zone).utcOffsetInMinutes
    #expect(offset == -45 || offset == -44)
  }

  @Test func theEndsOfTimeFallBackToUTC() throws {
    let zone = try #require(TimeZone(secondsFromGMT: 3_600))
    #expect(OffsetTimestamp(.latest, in: zone).utcOffsetInMinutes == 0)
    #expect(OffsetTimestamp(.earliest, in: zone).utcOffsetInMinutes == 60)
  }

  @Test func textRoundTrips() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "textRoundTrips"))
    for _ in 0..<5_000 {
      let instant = Timestamp(clamping: .random(in: Timestamp.microsecondsRange, using: &generator))
      let offset = Int.random(in: OffsetTimestamp.utcOffsetsInMinutes, using: &generator)
      guard let value = try? OffsetTimestamp(instant, utcOffsetInMinutes: offset) else { continue }
      #expect(try OffsetTimestamp(iso8601: value.iso8601) == value)
      #expect(try Timestamp(iso8601: value.iso8601) == instant)
    }
  }

  @Test func anyDateHasANearestInstant() {
    let date = Date(timeIntervalSince1970: 1_795_262_400.25)
    #expect(Timestamp(clamping: date).microsecondsSince1970 == 1_795_262_400_250_000)
    #expect(Timestamp(clamping: .distantFuture) <= .latest && Timestamp(clamping: .distantPast) >= .earliest)
    for seconds in [1e11, 1e12, 1e18, .infinity] {
      #expect(Timestamp(clamping: Date(timeIntervalSince1970: seconds * 10)) == .latest)
      #expect(Timestamp(clamping: Date(timeIntervalSince1970: -seconds * 10)) == .earliest)
    }
    #expect(Timestamp(clamping: Date(timeIntervalSince1970: .nan)).microsecondsSince1970 == 0)
  }
}
