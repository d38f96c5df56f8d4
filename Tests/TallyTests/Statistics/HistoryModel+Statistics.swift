import Foundation
import TallyTestSupport

@testable import Tally

/// Statistics by their definitions, from every life of every task.
struct BruteForceStatistics {
  struct Completed {
    let instant: Int64
    /// The local time: in the zone, or as recorded.
    let local: Int64
    let day: Int64
    let life: HistoryModel.Life
  }

  let model: HistoryModel
  let now: Int64
  let options: StatisticsOptions
  let days: BruteForceDays
  let filter: HistoryFilter
  let lives: [HistoryModel.Life]
  let completed: [Completed]
  let today: Int64

  init(
    _ model: HistoryModel, now: Timestamp, days: BruteForceDays, options: StatisticsOptions, filter: HistoryFilter
  ) {
    (self.model, self.options, self.days, self.filter) = (model, options, days, filter)
    self.now = now.microsecondsSince1970
    lives = model.lives.filter { (options.listID == nil || $0.listID == options.listID) && filter.holds($0) }
    completed = lives.compactMap { life in
      guard let completedAt = life.completedAt else { return nil }
      let instant = completedAt.instant.microsecondsSince1970
      let recorded = instant + Int64(completedAt.utcOffsetInMinutes) * 60_000_000
      let local = options.usesRecordedOffsets ? recorded : days.local(instant)
      return Completed(instant: instant, local: local, day: days.dayNumber(ofLocal: local), life: life)
    }
    today = days.dayNumber(of: now.microsecondsSince1970)
  }

  func count(_ range: ClosedRange<Int64>) -> Int {
    completed.count { range.contains($0.day) }
  }

  func before(_ unit: Series.Unit) -> ClosedRange<Int64> {
    days.days(unit, around: days.days(unit, around: today).lowerBound - 1)
  }

  var counts: CompletedCounts {
    CompletedCounts(
      today: count(today...today),
      thisWeek: count(days.days(.week, around: today)),
      lastWeek: count(before(.week)),
      thisMonth: count(days.days(.month, around: today)),
      lastMonth: count(before(.month)),
      thisYear: count(days.days(.year, around: today)),
      allTime: completed.count
    )
  }

  func sentence(_ unit: Series.Unit) -> String {
    let (this, last) = (count(days.days(unit, around: today)), count(before(unit)))
    if completed.isEmpty { return "No data available yet" }
    if last == 0 { return "No data from last \(unit)" }
    let tasks = this == 1 ? "1 task this \(unit)" : "\(this) tasks this \(unit)"
    if this == last { return "\(tasks), same as last \(unit)" }
    return this > last ? "\(tasks), up from \(last) last \(unit)" : "\(tasks), down from \(last) last \(unit)"
  }

  func direction(_ unit: Series.Unit) -> Trend.Direction {
    let (this, last) = (count(days.days(unit, around: today)), count(before(unit)))
    if last == 0 { return .none }
    return this == last ? .same : this > last ? .up : .down
  }

  /// The completions of the period so far, and those of the same part of the one before.
  func elapsed(_ unit: Series.Unit) -> (Int, Int) {
    let (this, last) = (days.days(unit, around: today), before(unit))
    let clock = options.usesRecordedOffsets ? days.local(now) : now
    let timeOfDay = days.local(now) - days.dayStart - today * BruteForceDays.day
    let lastDay = last.lowerBound + (today - this.lowerBound)
    let current = completed.count { item in
      (this.lowerBound...today).contains(item.day) && (options.usesRecordedOffsets ? item.local : item.instant) <= clock
    }
    let previous = completed.count { item in
      guard last.contains(item.day), item.day <= lastDay else { return false }
      return item.day < lastDay || item.local - days.dayStart - item.day * BruteForceDays.day <= timeOfDay
    }
    return (current, previous)
  }

  var streak: Streak {
    let busy = Set(completed.map(\.day))
    var (run, longest) = (0, 0)
    var longestEnded: Int64?
    guard let first = busy.min(), first <= today else { return Streak(current: 0, longest: 0, longestEnded: nil) }
    for day in first...today {
      if busy.contains(day) { run += 1 } else if day < today, days.exists(day) { run = 0 }
      if run > longest { (longest, longestEnded) = (run, day) }
    }
    return Streak(current: run, longest: longest, longestEnded: longestEnded.map { CalendarDay(clamping: $0) })
  }

  /// The progress of the options' goal, by a look at every day or week that there is.
  var goal: GoalProgress? {
    guard let goal = options.goal else { return nil }
    let unit: Series.Unit = goal.period == .day ? .day : .week
    let current = days.days(unit, around: today)
    let named = options.from == nil && options.to == nil ? nil : seriesDays
    var (metCount, periodCount, run, longest) = (0, 0, 0, 0)
    var longestEnded: Int64?
    let busy = completed.map(\.day).min()
    let first = [busy, named?.lowerBound].compactMap(\.self).min() ?? .max
    for day in first...max(first, current.upperBound) where day <= current.upperBound {
      let period = days.days(unit, around: day)
      // A period counts at the last of its days.
      guard day == period.upperBound, count(period) > 0 || period.contains(where: days.exists) else { continue }
      let isMet = count(period) >= goal.target
      if isMet { run += 1 } else if period != current { run = 0 }
      if run > longest { (longest, longestEnded) = (run, day) }
      guard named?.overlaps(period) ?? true else { continue }
      periodCount += 1
      if isMet { metCount += 1 }
    }
    let ended = longestEnded.map { CalendarDay(clamping: $0) }
    return GoalProgress(
      goal: goal, completed: count(current), metCount: metCount, periodCount: periodCount,
      streak: Streak(current: run, longest: longest, longestEnded: ended))
  }

  var open: OpenCounts {
    // Completed tasks, too, as they are now.
    let tasks = model.tasks.values.filter { task in
      let life = HistoryModel.Life(
        createdAt: task.createdAt.microsecondsSince1970, completedAt: task.completedAt,
        classification: task.classification, task: task)
      return (options.listID == nil || task.listID == options.listID) && filter.holds(life)
    }
    let open = tasks.filter { !$0.state.isClosed }
    // Nobody can do yet what waits, but it is open.
    let day = CalendarDay(clamping: today)
    let started = open.filter { !TaskModel.isWaiting($0, on: day) }
    let ofToday = tasks.filter {
      $0.state != .cancelled && $0.scheduledDate == day && !TaskModel.isWaiting($0, on: day)
    }
    return OpenCounts(
      total: open.count,
      active: started.count { $0.state == .active },
      overdue: started.count { $0.dueDate.map { $0.microsecondsSince1970 < now } ?? false },
      scheduledToday: ofToday.count,
      completedOfToday: ofToday.count { $0.isCompleted }
    )
  }
}
