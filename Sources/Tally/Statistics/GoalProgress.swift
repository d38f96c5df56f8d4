import Foundation

/// How often a goal was met.
public struct GoalProgress: Hashable, Codable, Sendable {
  /// The goal.
  public let goal: Goal
  /// The tasks completed in the current day or week, all of it.
  public let completed: Int
  /// The days or weeks in which the goal was met, among the `periodCount` ones.
  public let metCount: Int
  /// The days or weeks from that of the first completion or named day up to the current one or that of the last named
  /// day; a week that the named days cut counts as a whole.
  public let periodCount: Int
  /// Days or weeks in a row in which the goal was met, over the whole history up to the current one.
  public let streak: Streak

  /// Whether the goal is met in the current day or week.
  public var isMet: Bool { completed >= goal.target }
}

extension GoalProgress {
  /// Follows a goal from period to period.
  init(_ goal: Goal, _ daily: DailyCounts, _ frame: StatisticsFrame) {
    func period(containing day: Int32) -> ClosedRange<Int32> {
      StatisticsPeriods.period(goal.period.unit, containing: day, calendar: frame.calendar)
    }
    let current = period(containing: frame.periods.today)
    let named = frame.namedDays
    var (metCount, periodCount) = (0, 0)
    var run = StreakRun()
    let first = [named?.lowerBound, daily.existing.first { $0.1 > 0 }?.0].compactMap(\.self).min()
    var next = first.map { period(containing: $0).lowerBound } ?? current.upperBound + 1
    while next <= current.upperBound {
      let days = period(containing: next)
      next = days.upperBound + 1
      guard daily.contains(anyOf: days) else { continue }
      let isMet = daily.sum(days) >= goal.target
      run.add(isMet, isCurrent: days == current, lastDay: days.upperBound)
      guard named?.overlaps(days) ?? true else { continue }
      periodCount += 1
      metCount += isMet ? 1 : 0
    }
    self.init(
      goal: goal, completed: daily.sum(current), metCount: metCount, periodCount: periodCount, streak: run.streak)
  }
}

/// Finds periods in a row, one period after the other.
struct StreakRun {
  private var current = 0
  private var longest = 0
  private var longestEnd: Int32?

  /// Adds a period; the current one does not break a streak, as it may still be met.
  mutating func add(_ isMet: Bool, isCurrent: Bool, lastDay: Int32) {
    if isMet { current += 1 } else if !isCurrent { current = 0 }
    if current > longest { (longest, longestEnd) = (current, lastDay) }
  }

  /// The streaks so far.
  var streak: Streak {
    Streak(current: current, longest: longest, longestEnded: longestEnd.map { CalendarDay(clamping: Int64($0)) })
  }
}
