/// A number of tasks to complete on each day, or in each week.
///
/// ```swift
/// var options = StatisticsOptions()
/// options.goal = .perDay(5)
/// let progress = try store.statistics(options).goal
/// ```
public struct Goal: Hashable, Sendable {
  /// The time for which a goal is set.
  public enum Period: String, CaseIterable, Hashable, Sendable {
    /// A local day.
    case day
    /// Seven days from the first weekday of the calendar on.
    case week

    var unit: Series.Unit {
      switch self {
      case .day: .day
      case .week: .week
      }
    }
  }

  /// The number of tasks, at least 1.
  public let target: Int
  /// The time in which to complete them.
  public let period: Period

  /// A number of tasks on each day.
  public static func perDay(_ target: Int) -> Goal { Goal(target: target, period: .day) }

  /// A number of tasks in each week.
  public static func perWeek(_ target: Int) -> Goal { Goal(target: target, period: .week) }
}

extension Goal: TextCodable {
  /// The number and the period: `5/day`, `20/week`.
  public var text: String { "\(target)/\(period.rawValue)" }

  /// Reads a number and a period.
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

  /// Ensures that the goal can be missed.
  func validate() throws(TallyError) {
    guard target >= 1 else { throw .invalidGoal("A goal of \(target) tasks is always met") }
  }
}

extension TallyError {
  fileprivate static func invalidGoal(_ message: String) -> TallyError {
    TallyError(.invalidGoal, message, remedy: "Give at least one task per day or week, as in 5/day or 20/week")
  }
}
