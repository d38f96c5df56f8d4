import Foundation
import LMDB

// The tasks behind the other two lines of a series: those created on some days, and those open at the end of one.

extension StoreTransaction where Base: ~Copyable {
  /// Hands each task that a series counts as created to a closure, newest first, until it returns false.
  ///
  /// Days, list and filter are those of the options, as in ``series(_:)``. Tasks that have been deleted since are counted
  /// there, if they had been completed, but have no task to hand over.
  ///
  /// - Throws: errors of the closure, which end the walk; else as `statistics(_:)`.
  /// - Complexity: the tasks created on the days, those that the options leave out included.
  public func forEachCreatedTask(matching options: StatisticsOptions, _ body: (TaskItem) throws -> Bool) throws {
    let frame = try emptyFrame(options, needsHistory: false)
    let spans = frame.zoneDays(frame.seriesDays).intervals.map { $0.start..<$0.end }
    try forEachTask(createdIn: spans, frame) { try body($0) }
  }

  /// Hands each task that a series counts as open at the end of its last day to a closure, newest first, until it returns
  /// false.
  ///
  /// List and filter are those of the options, the day is the last one of the series.
  ///
  /// - Throws: errors of the closure, which end the walk; else as `statistics(_:)`.
  /// - Complexity: the tasks created up to the day, those completed by then included, until the closure returns false.
  public func forEachOpenTask(atEndOf options: StatisticsOptions, _ body: (TaskItem) throws -> Bool) throws {
    let frame = try emptyFrame(options, needsHistory: false)
    let days = frame.seriesDays
    guard let end = frame.zoneDays(days).ends(of: [days]).first else { return }
    try forEachTask(createdIn: [-QuarterHour.endOfTime..<end], frame) { task in
      if let completed = task.completedAt, completed.instant.microsecondsSince1970 < end { return true }
      return try body(task)
    }
  }

  /// The tasks of the selection that were created in some ascending spans of time, newest first.
  private func forEachTask(
    createdIn spans: [Range<Int64>], _ frame: StatisticsFrame, _ body: (TaskItem) throws -> Bool
  ) throws {
    var tester = frame.selection.predicate.map(EventTester.init)
    var goesOn = true
    for span in spans.reversed() where goesOn {
      let range = KeyRange(InstantKey.start(at: span.lowerBound), InstantKey.start(at: span.upperBound))
      var cursor = try tables.byCreated.rawIndex.cursor(in: base)
      var walk = RangeWalk(isReversed: true, after: nil)
      try walk.run(range, prefix: KeyBytes(), by: &cursor) { id in
        let task = try indexedTask(id)
        if try isCounted(task, in: frame.scope, &tester) { goesOn = try body(task) }
        return goesOn
      }
    }
  }

  /// Whether the statistics count a task: by what the ledger keeps of its completion, else as it is now.
  private func isCounted(_ task: TaskItem, in scope: CounterScope, _ tester: inout EventTester?) throws -> Bool {
    if let key = CompletionKey(of: task), let entry = try tables.completions.bytes(forKey: key, in: base) {
      guard scope.contains(try CompletionRecord(decoding: entry).classification) else { return false }
      return try passes(&tester, key, entry)
    }
    return try scope.contains(task.classification) && passes(&tester, task.id)
  }
}
