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
    list = try options.listID.flatMap { try transaction.list($0) }
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

extension StatisticsReport {
  /// The report as names and values.
  var facts: Facts {
    let (completed, open, cycleTime) = (statistics.completed, statistics.open, statistics.cycleTime)
    return [
      "asOf": .instant(clock.now), "timeZone": .text(clock.zone.name),
      "weekStart": .text(Self.weekdayName(statistics.weekStart)),
      "scope": [
        "listID": .id(options.listID), "list": .text(list?.name), "filter": .text(options.filterText),
        "path": .text(statistics.path.rawValue),
      ],
      "completed": [
        "today": .count(completed.today),
        "thisWeek": .count(completed.thisWeek), "lastWeek": .count(completed.lastWeek),
        "thisMonth": .count(completed.thisMonth), "lastMonth": .count(completed.lastMonth),
        "thisYear": .count(completed.thisYear), "allTime": .count(completed.allTime),
      ],
      "messages": [
        "today": .text(completed.todayMessage), "thisWeek": .text(completed.weekMessage),
        "thisMonth": .text(completed.monthMessage),
      ],
      "trend": ["month": Self.facts(of: statistics.monthTrend), "week": Self.facts(of: statistics.weekTrend)],
      "streak": Self.facts(of: statistics.streak), "goal": goal,
      "open": [
        "total": .count(open.total), "active": .count(open.active), "overdue": .count(open.overdue),
        "scheduledToday": .count(open.scheduledToday), "completedOfToday": .count(open.completedOfToday),
      ],
      "cycleTime": [
        "count": .count(cycleTime.count), "medianSeconds": .integer(cycleTime.medianInSeconds),
        "p90Seconds": .integer(cycleTime.percentile90InSeconds),
      ],
      "byWeekday": .array(
        statistics.byWeekday.map(Facts.count),
        labels: statistics.byWeekday.indices.map { Self.weekdayName((statistics.weekStart + $0 - 1) % 7 + 1) }),
      "byHour": .array(
        statistics.byHour.map(Facts.count), labels: statistics.byHour.indices.map { String($0) }),
      "byList": .array(
        statistics.byList.map {
          ["listID": .id($0.listID), "name": .text($0.name), "completed": .count($0.completed)]
        }),
      "byTag": .array(statistics.byTag.map { ["tag": .text($0.tag), "completed": .count($0.completed)] }),
      "byPriority": .array(
        statistics.byPriority.map {
          ["priority": .text($0.priority == .none ? nil : $0.priority.name), "completed": .count($0.completed)]
        }),
      "series": series,
    ]
  }

  private static func weekdayName(_ number: Int) -> String { WeekdayName.full[number - 1].lowercased() }

  private static func facts(of trend: Trend) -> Facts {
    [
      "direction": .text(trend.direction.rawValue), "message": .text(trend.message),
      "sameElapsed": ["current": .count(trend.elapsedCurrent), "previous": .count(trend.elapsedPrevious)],
    ]
  }

  private static func facts(of streak: Streak) -> Facts {
    [
      "current": .count(streak.current), "longest": .count(streak.longest), "longestEnded": .day(streak.longestEnded),
    ]
  }

  private var goal: Facts {
    guard let progress = statistics.goal else { return .text(nil) }
    return [
      "target": .count(progress.goal.target), "per": .text(progress.goal.period.rawValue),
      "completed": .count(progress.completed), "isMet": .flag(progress.isMet), "met": .count(progress.metCount),
      "periods": .count(progress.periodCount), "streak": Self.facts(of: progress.streak),
    ]
  }

  private var series: Facts {
    let buckets = statistics.series.buckets.map { bucket -> Facts in
      [
        "start": .day(bucket.start), "completed": .count(bucket.completed), "created": .count(bucket.created),
        "open": .count(bucket.open),
      ]
    }
    return [
      "by": .text(statistics.series.by.rawValue), "from": .day(statistics.series.from),
      "to": .day(statistics.series.to), .init("buckets", onlyIn: .json): .array(buckets),
      .init("bucket", onlyIn: .plain): .array(buckets),
    ]
  }
}

extension StatisticsReport {
  /// A list, a tag or a priority, with the completions in it; the name is not escaped.
  typealias RankedGroup = (name: String, completed: Int)

  /// The lists with completions, most first, with a name for every one.
  var rankedLists: [RankedGroup] {
    statistics.byList.enumerated()
      .sorted { ($1.element.completed, $0.offset) < ($0.element.completed, $1.offset) }
      .map { _, count in
        let missing = count.listID.map { "deleted list \($0.shownEnd)" } ?? "no list"
        let name = count.isDeleted ? count.name.map { "\($0) (deleted)" } : count.name
        return (name ?? missing, count.completed)
      }
  }

  /// The tags with completions, most first.
  var rankedTags: [RankedGroup] { statistics.byTag.map { ($0.tag, $0.completed) } }

  /// The priorities with completions, the highest first.
  var rankedPriorities: [RankedGroup] { statistics.byPriority.map { ($0.priority.name, $0.completed) } }
}

// Words that the text and the page share.

extension StatisticsReport {
  var title: String { list.map { "Statistics of \($0.name.escapedForDisplay())" } ?? "Statistics" }

  /// When and where the report was made: `Sat 21 Nov 2026, 15:00 · Europe/Istanbul`.
  var asOfInWords: String {
    let time = clock.wallTime(at: statistics.asOf)
    return "\(WeekdayName.short[time.day.weekday - 1]) \(time.day.day) \(MonthName.short[time.day.month - 1])"
      + " \(time.day.year), \(time.clock) · \(clock.zone.name)"
  }

  /// The options that change the numbers, in words.
  var conditions: [String] {
    var conditions: [String] = []
    let minutes = options.dayStartInMinutes
    if minutes > 0 { conditions.append("days begin at \(WallTime.clock(ofMinute: minutes))") }
    if options.usesRecordedOffsets { conditions.append("days in the time zone where the work was done") }
    if let text = options.filterText {
      let path = statistics.path == .counters ? "the counters" : "a walk over the ledger"
      conditions.append("only \(text.escapedForDisplay()), by \(path)")
    }
    if options.listID != nil, list == nil { conditions.append("a deleted list") }
    return conditions
  }

  /// The open tasks in words; `nil` if there are none.
  var openInWords: String? {
    let open = statistics.open
    guard open.total > 0 || open.scheduledToday > 0 else { return nil }
    var text = "\(open.total.counted("open task")): \(open.active.grouped) active, \(open.overdue.grouped) overdue"
    if open.scheduledToday > 0 {
      text += "; \(open.scheduledToday.grouped) scheduled for today, \(open.completedOfToday.grouped) of them done"
    }
    return text
  }

  /// How long tasks took from creation to completion; `nil` if none was completed.
  var cycleTimeInWords: String? {
    let cycleTime = statistics.cycleTime
    guard let median = cycleTime.medianInSeconds, let percentile90 = cycleTime.percentile90InSeconds else { return nil }
    return "From creation to completion (\(coveredDays)): half within \(median.inWordsAsSeconds), nine in ten within "
      + percentile90.inWordsAsSeconds
  }

  /// The sentences of the current day, week and month.
  var messages: [String] {
    let completed = statistics.completed
    return [completed.todayMessage, completed.weekMessage, completed.monthMessage]
  }

  /// The current and the longest number of days in a row.
  var streakInWords: String { "Streak: \(inWords(statistics.streak, of: "day"))" }

  /// How often the goal was met; empty without one.
  var goalInWords: [String] {
    guard let progress = statistics.goal else { return [] }
    let (goal, period) = (progress.goal, progress.goal.period.rawValue)
    let now = goal.period == .day ? "today" : "this week"
    return [
      "Goal: \(goal.target.counted("task")) a \(period), \(progress.completed.grouped) completed \(now)",
      "Goal met in \(progress.metCount.grouped) of \(progress.periodCount.counted(period)) (\(coveredDays)); "
        + inWords(progress.streak, of: period),
    ]
  }

  private func inWords(_ streak: Streak, of period: String) -> String {
    let ended = streak.longestEnded.map { ", ended \($0.shortName(asOf: clock.today))" } ?? ""
    let isLongest = streak.current == streak.longest && streak.current > 0
    let longest = isLongest ? "the longest so far" : "longest \(streak.longest.counted(period))\(ended)"
    return "\(streak.current.counted(period)) in a row, \(longest)"
  }
}
