/// One period compared with the one before.
public struct Trend: Hashable, Codable, Sendable {
  /// The direction of a change.
  public enum Direction: String, Hashable, Codable, Sendable {
    /// More than in the period before.
    case up
    /// Fewer than in the period before.
    case down
    /// The same number as in the period before.
    case same
    /// There is nothing to compare with.
    case none
  }

  /// The direction of the change.
  public let direction: Direction
  /// The comparison as a sentence: `45 tasks this month, up from 38 last month`.
  public let message: String
  /// The count from the period's start to now.
  public let elapsedCurrent: Int
  /// The count of the same part of the period before: the same number of local days and the same time of day, cut at its
  /// end.
  public let elapsedPrevious: Int

  /// Compares two periods; the unit is `month` or `week`, as in the sentence.
  init(unit: String, current: Int, previous: Int, allTime: Int, elapsed: (current: Int, previous: Int)) {
    elapsedCurrent = elapsed.current
    elapsedPrevious = elapsed.previous
    let tasks = current == 1 ? "1 task" : "\(current) tasks"
    switch (allTime, previous) {
    case (0, _): (direction, message) = (.none, "No data available yet")
    case (_, 0): (direction, message) = (.none, "No data from last \(unit)")
    case (_, current): (direction, message) = (.same, "\(tasks) this \(unit), same as last \(unit)")
    case (_, ..<current):
      (direction, message) = (.up, "\(tasks) this \(unit), up from \(previous) last \(unit)")
    default: (direction, message) = (.down, "\(tasks) this \(unit), down from \(previous) last \(unit)")
    }
  }
}
