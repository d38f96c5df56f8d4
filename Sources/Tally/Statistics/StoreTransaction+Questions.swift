public import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The number of tasks completed in an interval, exact to the microsecond.
  ///
  /// - Parameters:
  ///   - interval: its end is not part of it; `nil` for all time.
  ///   - listID: only those completed in a list; `nil` for all.
  /// - Returns: the number of completions, those of deleted tasks included.
  /// - Throws: errors of the storage.
  /// - Complexity: the days of the interval, and the completions of the quarter hours that its ends cut.
  @_specialize(where Base == ReadTransaction)
  public func completionCount(in interval: Range<Timestamp>? = nil, list listID: UUID? = nil) throws -> Int {
    let scope = listID.map { CounterScope.list($0) } ?? .all
    guard let interval else { return try total(.completed, scope) }
    let (start, end) = (interval.lowerBound.microsecondsSince1970, interval.upperBound.microsecondsSince1970)
    return try count(.completed, scope, from: start, to: end)
  }

  /// The number of tasks completed on one local day.
  ///
  /// - Complexity: a few small reads, independent of the size of the store and its history.
  @_specialize(where Base == ReadTransaction)
  public func completionCount(on day: CalendarDay, list listID: UUID? = nil) throws -> Int {
    var options = StatisticsOptions()
    options.listID = listID
    options.from = day
    options.to = day
    return try heatMap(options).reduce(0) { $0 + $1.completed }
  }

  /// Completions, creations and open tasks over time, by day, week, month or year.
  ///
  /// - Throws: as `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func series(_ options: StatisticsOptions) throws -> Series {
    try series(statisticsFrame(options))
  }

  /// The completions of each local day: of the days that the options name, else of the last 30.
  ///
  /// - Returns: a count per day, zeros included; a day that the zone skipped is left out.
  /// - Throws: as `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func heatMap(_ options: StatisticsOptions) throws -> [DayCount] {
    let frame = try statisticsFrame(options)
    return try dailyCounts(frame.series, frame.seriesDays, frame).existing.map { day, count in
      DayCount(day: CalendarDay(clamping: Int64(day)), completed: count)
    }
  }

  /// Days in a row with a completion, over the whole history up to today.
  ///
  /// - Throws: as `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func streak(_ options: StatisticsOptions = StatisticsOptions()) throws -> Streak {
    let frame = try statisticsFrame(options, needsHistory: true)
    return Streak(try dailyCompletions(frame).0, today: frame.periods.today)
  }

  /// The time from creation to completion: of the completions on the days that the options name, else of all.
  ///
  /// - Throws: as `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func cycleTime(_ options: StatisticsOptions = StatisticsOptions()) throws -> CycleTime {
    try cycleTime(statisticsFrame(options))
  }
}

/// The number of tasks completed on a day.
public struct DayCount: Hashable, Sendable {
  /// The local day.
  public let day: CalendarDay
  /// The number of completions.
  public let completed: Int
}

extension TaskStore {
  /// All statistics, as of an instant and in a calendar of the caller's choice.
  ///
  /// - Parameters:
  ///   - instant: the instant that counts as now; `nil` for the store's clock.
  ///   - calendar: the calendar, time zone and first weekday; `nil` for the store's.
  ///   - options: the selection.
  /// - Returns: the statistics of one snapshot.
  /// - Throws: as `StoreTransaction.statistics(_:)`.
  public func statistics(
    asOf instant: Timestamp? = nil,
    calendar: Calendar? = nil,
    _ options: StatisticsOptions = StatisticsOptions()
  ) throws -> Statistics {
    try connection.use { store in
      let transaction = StoreReadTransaction(
        base: try store.environment.beginRead(), tables: store.tables, now: instant ?? configuration.now(),
        calendar: calendar ?? configuration.calendar, dayStartInMinutes: configuration.dayStart, ids: configuration.ids,
        commitSequence: 0)
      return try transaction.statistics(options)
    }
  }
}
