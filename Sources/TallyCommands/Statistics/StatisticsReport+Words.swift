import Tally

// What the text and the page word the same way.

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
    if minutes > 0 {
      conditions.append("days begin at \(WallTime.clock(ofMinute: minutes))")
    }
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

  /// Days in a row.
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
