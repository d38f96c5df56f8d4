import Tally

/// Everything that `stats` reports, read from one snapshot.
struct StatisticsReport {
  let statistics: Statistics
  let options: StatisticsOptions
  /// The list that was named, if it still exists.
  let list: TaskList?
  /// The completions of each day of the last 53 weeks up to today; a day that the zone skipped is missing.
  let year: WeekGrid
  /// The clock whose days are those of the statistics.
  let clock: LocalClock

  /// The weeks of a heat map: a whole year for any first weekday.
  static let weekCount = 53

  init<Base: ~Copyable>(
    _ options: StatisticsOptions, clock: LocalClock, in transaction: borrowing StoreTransaction<Base>
  ) throws {
    self.options = options
    self.clock = clock
    list = try transaction.list(withID: options.listID)
    statistics = try transaction.statistics(options)
    var daily = options
    daily.unit = .day
    daily.from = WeekGrid.firstDay(weekCount: Self.weekCount, to: clock.today, weekStart: statistics.weekStart)
    daily.to = clock.today
    year = WeekGrid(try transaction.heatMap(daily), today: clock.today, weekStart: statistics.weekStart)
  }

  /// Whether nothing was ever completed, in the list if one was named.
  var isEmpty: Bool { statistics.completed.allTime == 0 }
}
