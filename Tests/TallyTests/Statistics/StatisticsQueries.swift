import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Queries to a store, each also answered by brute force.
struct StatisticsQueries {
  let sample: ZoneSample
  let timeZone: TimeZone
  let changes: [Int64]
  var history: StatisticsHistory
  private var days: [String: BruteForceDays] = [:]

  init(sample: ZoneSample, timeZone: TimeZone, changes: [Int64], history: StatisticsHistory) {
    (self.sample, self.timeZone, self.changes, self.history) = (sample, timeZone, changes, history)
  }

  /// Queries everything; the first weekday follows from the number of the query, the rest is random.
  mutating func compare(_ number: Int) throws {
    let calendar = drawCalendar(firstWeekday: number % 7 + 1)
    let filter = history.generator.oneIn(2) ? HistoryFilter.all[number % HistoryFilter.all.count] : .none
    var options = drawOptions()
    options.filter = filter.filter
    let now = drawNow()
    let store = history.store
    let key = "\(calendar.identifier) \(calendar.firstWeekday) \(options.dayStartInMinutes)"
    let days = days[key] ?? BruteForceDays(sample, calendar: calendar, dayStartInMinutes: options.dayStartInMinutes)
    self.days[key] = days
    let expected = BruteForceStatistics(history.model, now: now, days: days, options: options, filter: filter)
    let actual = try store.statistics(asOf: now, calendar: calendar, options)
    let question = "\(sample.identifier) \(now) \(key) \(options)"
    Self.compareCounts(actual, expected, question)
    Self.compareProfiles(actual, expected, question)
    #expect(actual.asOf == now && actual.timeZone == timeZone)
    let isPair = options.listID != nil && filter.filter != .all
    #expect(actual.path == (isPair ? .ledger : filter.path), "\(question)")
    try compareSingleQuestions(actual, calendar: calendar, now: now, options)
    let (created, open) = try seriesTasks(calendar: calendar, now: now, options)
    #expect(created == expected.seriesTasks.created && open == expected.seriesTasks.open, "\(question)")
  }

  /// The tasks behind the series.
  private func seriesTasks(
    calendar: Calendar, now: Timestamp, _ options: StatisticsOptions
  ) throws -> (created: [UUID], open: [UUID]) {
    let store = history.store
    let transaction = StoreReadTransaction(
      base: try store.environment.beginRead(), tables: try store.tables, now: now, calendar: calendar,
      dayStartInMinutes: 0, ids: store.configuration.ids)
    var (created, open): ([UUID], [UUID]) = ([], [])
    try transaction.forEachCreatedTask(matching: options) { task in
      created.append(task.id)
      return true
    }
    try transaction.forEachOpenTask(atEndOf: options) { task in
      open.append(task.id)
      return true
    }
    return (created, open)
  }

  private static func compareCounts(
    _ actual: Statistics,
    _ expected: BruteForceStatistics,
    _ question: String
  ) {
    #expect(actual.completed == expected.counts, "\(question)")
    for (unit, trend) in [(Series.Unit.month, actual.monthTrend), (.week, actual.weekTrend)] {
      #expect(trend.message == expected.sentence(unit), "\(question)")
      #expect(trend.direction == expected.direction(unit), "\(question)")
      let elapsed = expected.elapsed(unit)
      #expect(trend.elapsedCurrent == elapsed.0, "\(unit) \(question)")
      #expect(trend.elapsedPrevious == elapsed.1, "\(unit) \(question)")
    }
    #expect(actual.streak == expected.streak, "\(question)")
    #expect(actual.goal == expected.goal, "\(question)")
    #expect(actual.open == expected.open, "\(question)")
  }

  private static func compareProfiles(
    _ actual: Statistics,
    _ expected: BruteForceStatistics,
    _ question: String
  ) {
    #expect(actual.byWeekday == expected.byWeekday, "\(question)")
    #expect(actual.byHour == expected.byHour, "\(question)")
    #expect(actual.byList == expected.byList, "\(question)")
    #expect(actual.byTag == expected.byTag, "\(question)")
    #expect(actual.byPriority == expected.byPriority, "\(question)")
    #expect(actual.series == expected.series, "\(question)")
    let durations = expected.durations
    let count = durations.count
    #expect(actual.cycleTime.count == count, "\(question)")
    let median = count == 0 ? nil : (durations[(count - 1) / 2] + durations[count / 2]) / 2
    let percentile = count == 0 ? nil : durations[Int((0.9 * Double(count)).rounded(.up)) - 1]
    #expect(isNear(actual.cycleTime.medianInSeconds, median), "\(question)")
    #expect(isNear(actual.cycleTime.percentile90InSeconds, percentile), "\(question)")
  }

  /// Within 1%, exact below two minutes.
  private static func isNear(_ actual: Int64?, _ expected: Int64?) -> Bool {
    guard let actual, let expected else { return actual == expected }
    return expected < 120 ? actual == expected : abs(actual - expected) * 100 <= expected
  }

  /// Single queries have the same results.
  private func compareSingleQuestions(
    _ whole: Statistics,
    calendar: Calendar,
    now: Timestamp,
    _ options: StatisticsOptions
  ) throws {
    let store = history.store
    let transaction = StoreReadTransaction(
      base: try store.environment.beginRead(), tables: try store.tables, now: now, calendar: calendar,
      dayStartInMinutes: 0, ids: store.configuration.ids)
    #expect(try transaction.streak(options) == whole.streak)
    #expect(try transaction.series(options) == whole.series)
    #expect(try transaction.cycleTime(options) == whole.cycleTime)
    var found = 0
    try transaction.forEachCompletedTask(matching: options) { _ in found += 1 }
    found += try transaction.completionCountOfDeletedTasks(matching: options)
    #expect(try transaction.completionCount(matching: options) == found)
    if options.from != nil, options.to != nil { #expect(whole.byHour.reduce(0, +) == found) }
    if options.from == nil, options.to == nil { #expect(whole.completed.allTime == found) }
    if options.unit == .day {
      let cells = try transaction.heatMap(options)
      #expect(cells.map(\.day) == whole.series.buckets.map(\.start))
      #expect(cells.map(\.completed) == whole.series.buckets.map(\.completed))
    }
  }

  /// Counts of intervals with ends at any microsecond.
  mutating func compareIntervals(_ count: Int) throws {
    let lives = history.model.lives
    for _ in 0..<count {
      let ends = [drawNow(), drawNow()].sorted()
      let list = history.generator.oneIn(2) ? nil : drawListID()
      let expected = lives.count { life in
        guard let instant = life.completedAt?.instant, list == nil || life.listID == list else { return false }
        return ends[0] <= instant && instant < ends[1]
      }
      let actual = try history.store.read { try $0.completionCount(in: ends[0]..<ends[1], list: list) }
      #expect(actual == expected, "\(ends) in \(list?.uuidString ?? "all")")
    }
  }
}

extension StatisticsQueries {
  private mutating func drawCalendar(firstWeekday: Int) -> Calendar {
    let others: [Calendar.Identifier] = [.islamicCivil, .hebrew, .persian]
    let isOther = history.generator.oneIn(4)
    var calendar = Calendar(
      identifier: isOther ? others.randomElement(using: &history.generator) ?? .hebrew : .gregorian
    )
    calendar.timeZone = timeZone
    calendar.firstWeekday = firstWeekday
    return calendar
  }

  private mutating func drawOptions() -> StatisticsOptions {
    var options = StatisticsOptions()
    options.unit = Series.Unit.allCases.randomElement(using: &history.generator) ?? .day
    options.dayStartInMinutes = [0, 0, 240, 240, 30, 1_425].randomElement(using: &history.generator) ?? 0
    options.usesRecordedOffsets = history.generator.oneIn(3)
    if history.generator.oneIn(3) { options.listID = drawListID() }
    let target = Int.random(in: 1...4, using: &history.generator)
    options.goal = [nil, .perDay(target), .perWeek(target)].randomElement(using: &history.generator) ?? nil
    let named = [drawNow(), drawNow()].sorted().map { CalendarDay(containing: $0, in: .gmt) }
    if history.generator.oneIn(2) { options.from = named[0] }
    if history.generator.oneIn(2) { options.to = named[1] }
    return options
  }

  /// A list that has ever had an event.
  private mutating func drawListID() -> UUID? {
    let ids = Set(history.model.lives.compactMap(\.listID)).union(history.model.lists.map(\.id))
    return ids.sorted { $0.uuidString < $1.uuidString }.randomElement(using: &history.generator)
  }

  /// Mostly among the events, at times before or after all of them.
  private mutating func drawNow() -> Timestamp {
    let instant = sample.instant(near: changes, using: &history.generator)
    let years = Int64.random(in: 1...3, using: &history.generator) * 366 * 86_400
    switch Int.random(in: 0..<12, using: &history.generator) {
    case 0: return instant.adding(seconds: -years)
    case 1: return instant.adding(seconds: years)
    default: return instant
    }
  }
}
