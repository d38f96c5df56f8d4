import Foundation
public import TallyEngine

/// A number of tasks to complete each day or each week.
///
/// ```swift
/// var options = StatisticsOptions()
/// options.goal = .perDay(5)
/// let progress = try store.statistics(options).goal
/// ```
public struct Goal: Hashable, Sendable {
  /// The period for which a goal is set.
  public enum Period: String, CaseIterable, Hashable, Sendable {
    /// A local day.
    case day
    /// Seven days, beginning with the calendar's first weekday.
    case week

    var unit: Series.Unit { self == .day ? .day : .week }
  }

  /// The number of tasks to complete, at least 1.
  public let target: Int
  /// The period in which to complete them.
  public let period: Period

  /// Creates a goal for each day.
  public static func perDay(_ target: Int) -> Goal { Goal(target: target, period: .day) }

  /// Creates a goal for each week.
  public static func perWeek(_ target: Int) -> Goal { Goal(target: target, period: .week) }
}

extension Goal: TextCodable {
  /// The number and the period: `5/day`, `20/week`.
  public var text: String { "\(target)/\(period.rawValue)" }

  /// Parses a number and a period.
  ///
  /// - Throws: `invalidGoal` for any other text, and for a number below 1.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let target = Int(parts[0]), let period = Period(rawValue: String(parts[1])) else {
      throw .invalidGoal("The text names no goal")
    }
    self.init(target: target, period: period)
    try validate()
  }

  /// Checks that the goal is at least one task.
  func validate() throws(TallyError) {
    guard target >= 1 else { throw .invalidGoal("A goal of \(target) tasks is always met") }
  }
}

extension TallyError {
  fileprivate static func invalidGoal(_ message: String) -> TallyError {
    TallyError(.invalidGoal, message, remedy: "Give at least one task per day or week, as in 5/day or 20/week")
  }
}

/// The progress towards a goal, and how often it was met.
public struct GoalProgress: Hashable, Codable, Sendable {
  /// The goal.
  public let goal: Goal
  /// The number of tasks completed in the whole current day or week.
  public let completed: Int
  /// The number of days or weeks in which the goal was met, out of `periodCount`.
  public let metCount: Int
  /// The number of days or weeks that count, up to the current one.
  ///
  /// They are those with a named day or, if no days are named, all since the first completion. A week counts as
  /// a whole even if only some of its days are named.
  public let periodCount: Int
  /// The consecutive days or weeks in which the goal was met, over the whole history up to the current one.
  public let streak: Streak

  /// Whether the goal is met in the current day or week.
  public var isMet: Bool { completed >= goal.target }
}

extension GoalProgress {
  /// Evaluates a goal period by period.
  init(_ goal: Goal, _ daily: DailyCounts, _ context: StatisticsContext) {
    func period(containing day: Int32) -> ClosedRange<Int32> {
      StatisticsPeriods.period(goal.period.unit, containing: day, calendar: context.calendar)
    }
    let current = period(containing: context.periods.today)
    let named = context.namedDays
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

/// Finds streaks of consecutive periods.
struct StreakRun {
  private var current = 0
  private var longest = 0
  private var longestEnd: Int32?

  /// Adds a period; the current one never breaks a streak, because the goal may still be met.
  mutating func add(_ isMet: Bool, isCurrent: Bool, lastDay: Int32) {
    if isMet { current += 1 } else if !isCurrent { current = 0 }
    if current > longest { (longest, longestEnd) = (current, lastDay) }
  }

  /// The streaks found so far.
  var streak: Streak {
    Streak(current: current, longest: longest, longestEnded: longestEnd.map { CalendarDay(clamping: Int64($0)) })
  }
}
