import Foundation
import TallyEngine
import Testing

/// An amount at an instant and on a day.
private struct Payment: StoredRecord, Codable {
  var id: Int
  var payer = "a"
  var at: Date
  var cents: Int

  static let byTime = index("byTime") { ($0.payer, $0.at) }
  static let paid = sum("paid", of: \.cents, over: byTime)
  static let all = sum("all", of: \.cents, at: \.at)
  static let byDay = sum("byDay", of: \.cents, at: { CalendarDay(containing: Timestamp(clamping: $0.at), in: .gmt) })
  static let sizes = distribution("sizes", of: \.cents)
  static let collection = Collection<Payment>("payments") {
    byTime
    paid
    all
    byDay
    sizes
  }
}

/// Sums at the limits of numbers, of days and of what clocks show.
struct MeasureBoundaryTests {
  /// A store with payments of some amounts at some instants, and what a closure reads of it at an instant.
  private func reading<Result>(
    _ payments: [(at: String, cents: Int)], at now: String = "2026-01-01T00:00:00Z",
    _ read: (borrowing Reader) throws -> Result
  ) throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tally-payments-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let present = try Timestamp(iso8601: now)
    var configuration = StoreConfiguration()
    configuration.durability = .relaxed
    configuration.now = { present }
    let store = try Store(at: directory, schema: Schema(Payment.collection), configuration: configuration)
    defer { try? store.close() }
    for (number, payment) in payments.enumerated() {
      let at = try Timestamp(iso8601: payment.at).date
      try store.writeAndWait { try $0.save(Payment(id: number, at: at, cents: payment.cents)) }
    }
    return try store.read(read)
  }

  private func range(_ lower: String, _ upper: String) throws -> Range<Date> {
    try Timestamp(iso8601: lower).date..<Timestamp(iso8601: upper).date
  }

  private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

  // MARK: Numbers

  @Test func aSumOfSeveralMonthsBeyond64BitsIsRefused() throws {
    let payments = [("2025-01-01T00:00:00Z", Int.max), ("2025-03-01T00:00:00Z", Int.max)]
    let error = #expect(throws: TallyError.self) {
      try reading(payments) { try $0.total(Payment.paid, for: "a") }
    }
    #expect(error?.code == .valueOutOfRange)
    let profile = try range("2025-01-01T00:00:00Z", "2025-04-01T00:00:00Z")
    // 2025-01-01 and 2025-03-05 are Wednesdays.
    let error2 = #expect(throws: TallyError.self) {
      try reading([payments[0], ("2025-03-05T00:00:00Z", Int.max)]) {
        try $0.profile(Payment.paid, for: "a", over: profile, in: .gmt)
      }
    }
    #expect(error2?.code == .valueOutOfRange)
  }

  @Test func aSumMayExceed64BitsOnTheWay() throws {
    let payments = [
      ("2025-01-01T00:00:00Z", Int.max), ("2025-03-01T00:00:00Z", Int.max), ("2025-05-01T00:00:00Z", -Int.max),
    ]
    #expect(try reading(payments) { try $0.total(Payment.paid, for: "a") } == .max)
    let part = try range("2025-02-01T00:00:00Z", "2025-04-01T00:00:00Z")
    #expect(try reading(payments) { try $0.total(Payment.paid, for: "a", over: part) } == .max)
  }

  @Test func amountsOfOneWriteThatAreTooLargeTogetherAreRefused() throws {
    let temporary = try TemporaryStore(Schema(Payment.collection))
    let at = Date(timeIntervalSince1970: 1_700_000_000)
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { writer in
        try writer.insert(contentsOf: (0..<2).map { Payment(id: $0, at: at, cents: .max) })
      }
    }
    #expect(error?.code == .valueOutOfRange)
    #expect(try temporary.store.read { try $0.count(Payment.self) } == 0)
  }

  @Test func theLeastAmountCanBeTakenAway() throws {
    let temporary = try TemporaryStore(Schema(Payment.collection))
    let at = Date(timeIntervalSince1970: 1_700_000_000)
    try temporary.store.writeAndWait { try $0.save(Payment(id: 1, at: at, cents: .min)) }
    #expect(try temporary.store.read { try $0.total(Payment.all) } == .min)
    try temporary.store.writeAndWait { try $0.update(Payment.self, 1) { $0.cents = .max } }
    #expect(try temporary.store.read { try $0.total(Payment.all) } == .max)
    try temporary.store.writeAndWait { try $0.save(Payment(id: 1, at: at, cents: .min)) }
    try temporary.store.writeAndWait { writer in
      try writer.delete(Payment.self, 1)
      #expect(try writer.total(Payment.all) == 0)
    }
    #expect(try temporary.store.read { try $0.total(Payment.all) } == 0)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aDistributionHasNoTimes() throws {
    let week = try range("2025-01-01T00:00:00Z", "2025-01-08T00:00:00Z")
    let error = #expect(throws: TallyError.self) {
      try reading([("2025-01-01T00:00:00Z", 5)]) { try $0.series(Payment.sizes, by: .day, over: week, in: .gmt) }
    }
    #expect(error?.code == .invalidIndex)
  }

  // MARK: Clocks

  @Test func aDayThatAZoneHasSkippedIsNoneAndEndsNoStreak() throws {
    // The day before and the day after December 30, 2011, which Samoa did not have.
    let payments = [("2011-12-29T20:00:00Z", 1), ("2011-12-30T20:00:00Z", 2)]
    let apia = try zone("Pacific/Apia")
    let days = try range("2011-12-29T20:00:00Z", "2011-12-31T00:00:00Z")
    let series = try reading(payments) { try $0.series(Payment.all, by: .day, over: days, in: apia) }
    #expect(series.map(\.value) == [1, 2])
    let streak = try reading(payments, at: "2011-12-31T00:00:00Z") { try $0.streak(Payment.all, in: apia) }
    #expect(streak.current == 2 && streak.longest == 2)
  }

  @Test func aDayBeginsOnceThoughClocksShowItsMidnightTwice() throws {
    // At 00:01 on November 7, 2010, the clocks went back to 23:01.
    let (zone, payments) = (try zone("America/St_Johns"), [("2010-11-07T02:30:30Z", 3), ("2010-11-07T02:40:00Z", 4)])
    let part = try range("2010-11-07T02:00:00Z", "2010-11-07T02:45:00Z")
    let series = try reading(payments) { try $0.series(Payment.all, by: .day, over: part, in: zone) }
    #expect(series.map(\.value) == [0, 7])
    let rest = try range("2010-11-07T02:45:00Z", "2010-11-07T05:00:00Z")
    #expect(try reading(payments) { try $0.series(Payment.all, by: .day, over: rest, in: zone) }.count == 1)
  }

  @Test func anHourBeginsWhereTheOffsetChanges() throws {
    // At 02:00 on April 4, 2021, 15:00 on the day before in UTC, the clocks went back to 01:30.
    let part = try range("2021-04-03T15:10:00Z", "2021-04-03T15:40:00Z")
    let zone = try zone("Australia/Lord_Howe")
    let series = try reading([("2021-04-03T15:20:00Z", 3)]) {
      try $0.series(Payment.all, by: .hour, over: part, in: zone)
    }
    #expect(
      try series.map(\.start)
        == ["2021-04-03T15:00:00Z", "2021-04-03T15:30:00Z"].map { try Timestamp(iso8601: $0).date })
  }

  @Test func theLastSecondOfADayBelongsToIt() throws {
    // 2025-01-06 is a Monday.
    let payments = [("2025-01-06T12:00:00Z", 1), ("2025-01-08T12:00:00Z", 1)]
    let streak = try reading(payments, at: "2025-01-08T23:59:59.5Z") {
      try $0.streak(Payment.all, in: .gmt, restDays: [2])
    }
    #expect(streak.current == 2 && streak.longest == 2)
  }

  // MARK: Days

  @Test func aDayHasItsWeekdayInEveryZone() throws {
    let (zone, week) = (try zone("America/New_York"), try range("2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z"))
    let profile = try reading([("2025-01-06T00:00:00Z", 5)]) { try $0.profile(Payment.byDay, over: week, in: zone) }
    #expect(profile[0][0] == 5 && profile.joined().reduce(0, +) == 5)
  }

  @Test func aRangeHasADayIfItHasItsFirstInstant() throws {
    let payments = [("2025-01-06T00:00:00Z", 5)]
    for (lower, upper, sum) in [
      ("2025-01-06T00:07:00Z", "2025-01-07T00:00:00Z", 0), ("2025-01-05T00:00:00Z", "2025-01-06T00:07:00Z", 5),
      ("2025-01-06T00:00:00Z", "2025-01-06T00:00:01Z", 5), ("2025-01-05T23:59:59Z", "2025-01-06T00:00:00Z", 0),
    ] {
      let part = try range(lower, upper)
      #expect(try reading(payments) { try $0.total(Payment.byDay, over: part) } == sum, "\(lower) to \(upper)")
    }
  }

  @Test func daysAreComparedWithThoseOfTheYearBefore() throws {
    // Summer time began on March 11, 2007, and on April 2 in the year before.
    let payments = [("2006-03-20T00:00:00Z", 5), ("2006-03-21T00:00:00Z", 7), ("2007-03-20T00:00:00Z", 11)]
    let (zone, day) = (try zone("America/New_York"), try range("2007-03-20T00:00:00Z", "2007-03-21T00:00:00Z"))
    let both = try reading(payments) { try $0.comparisonWithYearBefore(Payment.byDay, over: day, in: zone) }
    #expect(both.value == 11 && both.earlier == 5)
  }

  @Test func todayIsThatOfTheZone() throws {
    let payments = [("2025-01-06T00:00:00Z", 1), ("2025-01-07T00:00:00Z", 1), ("2025-01-08T00:00:00Z", 1)]
    // In the evening of the 8th, and in the morning of the 8th.
    let evening = try reading(payments, at: "2025-01-09T02:00:00Z") {
      try $0.streak(Payment.byDay, in: zone("America/New_York"))
    }
    let morning = try reading(payments, at: "2025-01-07T20:00:00Z") {
      try $0.streak(Payment.byDay, in: zone("Pacific/Auckland"))
    }
    // A day that has not begun does not count, and the present one does not end a streak.
    let before = try reading(payments, at: "2025-01-09T04:00:00Z") {
      try $0.streak(Payment.byDay, in: zone("America/Los_Angeles"))
    }
    let after = try reading(payments, at: "2025-01-10T04:00:00Z") {
      try $0.streak(Payment.byDay, in: zone("America/Los_Angeles"))
    }
    #expect([evening, morning, before, after].map(\.current) == [3, 3, 3, 3])
  }
}
