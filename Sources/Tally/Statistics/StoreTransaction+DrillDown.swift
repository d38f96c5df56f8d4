import Foundation

// The tasks behind the numbers of completions: the same days, the same lists, the same ledger as the counts.

extension StoreTransaction where Base: ~Copyable {
  /// Hands each task that the statistics count as completed to a closure, newest first; nothing is collected.
  ///
  /// Days, list and filter are those of the options; the list is the one in which a task was completed, wherever it is
  /// now.
  /// An end of the days that is not named is open. Completions of tasks that have been deleted since are counted by
  /// `completionCount(matching:)` but have no task to hand over.
  ///
  /// ```swift
  /// var options = StatisticsOptions()
  /// options.from = today
  /// try transaction.forEachCompletedTask(matching: options) { print($0.title) }
  /// ```
  ///
  /// - Throws: errors of the closure, which end the walk; else as `statistics(_:)`.
  /// - Complexity: the completions in the days, those that the options leave out included.
  public func forEachCompletedTask(
    matching options: StatisticsOptions,
    _ body: (TaskItem) throws -> Void
  ) throws {
    try forEachCompletion(isTaskDeleted: false, emptyFrame(options, needsHistory: true)) {
      try body(try indexedTask($0))
    }
  }

  /// The number of completions that the statistics count and whose task has been deleted.
  ///
  /// - Throws: as `statistics(_:)`.
  /// - Complexity: those completions.
  public func completionCountOfDeletedTasks(matching options: StatisticsOptions) throws -> Int {
    var count = 0
    try forEachCompletion(isTaskDeleted: true, emptyFrame(options, needsHistory: true)) { _ in count += 1 }
    return count
  }

  /// The number of completions that the statistics count, those of deleted tasks included.
  ///
  /// - Throws: as `statistics(_:)`.
  /// - Complexity: the number of days in the options, not the number of tasks; with a filter that no counter has, all
  ///   completions are looked at.
  public func completionCount(matching options: StatisticsOptions) throws -> Int {
    let frame = try statisticsFrame(options, needsHistory: true)
    return try completionSpans(frame).reduce(0) { sum, span in
      sum + (try count(frame.series, frame, from: span.lowerBound, to: span.upperBound))
    }
  }

  private func forEachCompletion(isTaskDeleted: Bool, _ frame: StatisticsFrame, _ body: (UUID) throws -> Void) throws {
    for span in try completionSpans(frame).reversed() {
      try forEachCompletion(
        frame.series, frame.scope, passing: frame.selection.predicate, from: span.lowerBound, to: span.upperBound,
        ofDeletedTasks: [isTaskDeleted], reversed: true
      ) { _, key, _ in try body(key.id) }
    }
  }

  /// The time of the named days within the history, neighbours joined; of the recorded clocks if those count.
  private func completionSpans(_ frame: StatisticsFrame) throws -> [Range<Int64>] {
    guard let history = frame.historyDays else { return [] }
    let first = max(history.lowerBound, frame.options.from?.dayNumber ?? .min)
    let last = min(history.upperBound, frame.options.to?.dayNumber ?? .max)
    guard first <= last else { return [] }
    var spans: [Range<Int64>] = []
    for interval in frame.completionDays(first...last).intervals {
      if let previous = spans.last, previous.upperBound == interval.start {
        spans[spans.count - 1] = previous.lowerBound..<interval.end
      } else {
        spans.append(interval.start..<interval.end)
      }
    }
    return spans
  }
}
