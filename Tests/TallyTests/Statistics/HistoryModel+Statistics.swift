import Foundation

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
  let lives: [HistoryModel.Life]
  let completed: [Completed]
  let today: Int64

  init(_ model: HistoryModel, now: Timestamp, days: BruteForceDays, options: StatisticsOptions) {
    (self.model, self.options, self.days) = (model, options, days)
    self.now = now.microsecondsSince1970
    lives = model.lives.filter { options.listID == nil || $0.listID == options.listID }
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

  var open: OpenCounts {
    let tasks = model.tasks.values.filter { options.listID == nil || $0.listID == options.listID }
    let open = tasks.filter { !$0.isCompleted }
    let ofToday = tasks.filter { $0.scheduledDate.map { Int64($0.dayNumber) } == today }
    return OpenCounts(
      total: open.count,
      active: open.count { $0.state == .active },
      overdue: open.count { $0.dueDate.map { $0.microsecondsSince1970 < now } ?? false },
      scheduledToday: ofToday.count,
      completedOfToday: ofToday.count { $0.isCompleted }
    )
  }
}
