import Foundation
import Tally

/// Says what a write changed, for the history and for notices.
struct ChangeSentences {
  let clock: DateReference

  /// At most a few sentences, one for each record.
  func callAsFunction(
    _ change: HistoryChange, limit: Int = 5, in transaction: borrowing StoreReadTransaction
  ) throws -> [String] {
    // The next task of a series is named with the one that it follows.
    let repeating = Set(change.tasks.compactMap(\.before?.series?.id))
    let isNext = { (difference: HistoryChange.Difference<TaskItem>) in
      difference.before == nil && difference.after?.series.map { repeating.contains($0.id) } ?? false
    }
    let tasks = change.tasks.filter { !isNext($0) } + change.tasks.filter(isNext)
    var sentences = try tasks.prefix(limit).map { try sentence($0, in: transaction) + next(of: $0, in: change) }
    sentences += change.series.map { difference in
      let title = (difference.after ?? difference.before)?.template.title.quotable() ?? ""
      return "Changed the time zone of the series “\(title)”"
    }
    sentences += change.lists.map { difference in
      let name = (difference.after ?? difference.before)?.name.quotable() ?? ""
      return Self.verb(difference.before == nil, difference.after == nil, "Changed") + " list “\(name)”"
    }
    sentences += change.savedFilters.map { difference in
      let name = (difference.after ?? difference.before)?.name.quotable() ?? ""
      return Self.verb(difference.before == nil, difference.after == nil, "Saved") + " filter “\(name)”"
    }
    if !change.values.isEmpty { sentences.append("Changed \(change.values.count.counted("value"))") }
    if change.tasks.count > limit { sentences.append("and \((change.tasks.count - limit).counted("other task"))") }
    if change.kind == .undo, sentences.isEmpty { sentences.append("Too large to record, so that it cannot be redone") }
    if change.kind == .cut { sentences.append("Too large to record, so that it cannot be undone") }
    return sentences
  }

  private func sentence(
    _ difference: HistoryChange.Difference<TaskItem>, in transaction: borrowing StoreReadTransaction
  ) throws -> String {
    guard let task = difference.task else { return "" }
    let title = "“\(task.title.quotable())”"
    guard let before = difference.before, let after = difference.after else {
      return Self.verb(difference.before == nil, difference.after == nil, "") + " \(title)"
    }
    if before.state != after.state {
      switch (before.state, after.state) {
      case (_, .completed): return "Completed \(title)"
      case (_, .cancelled): return "Cancelled \(title)"
      case (.completed, _), (.cancelled, _): return "Reopened \(title)"
      case (_, .active): return "Started \(title)"
      case (_, .notStarted): return "Stopped \(title)"
      }
    }
    let reminder = reminderWords(before, after)
    if before.start != after.start {
      let start = after.start.map { $0.day.map { "starts \(clock.relativeName(of: $0))" } ?? "waits for someday" }
      return "Changed \(title); it \(start ?? "has no start any more")\(reminder)"
    }
    if before.dependsOn != after.dependsOn {
      return "Changed \(title); \(try dependencyWords(before, after, in: transaction))\(reminder)"
    }
    if before.scheduledDate != after.scheduledDate {
      return "Planned \(title) for \(after.scheduledDate.map(clock.relativeName) ?? "no day")\(reminder)"
    }
    if before.listID != after.listID { return "Moved \(title) to another list\(reminder)" }
    return (before.sortOrder == after.sortOrder ? "Changed \(title)" : "Moved \(title)") + reminder
  }

  /// `it waits for “Dig the bed”`.
  private func dependencyWords(
    _ before: TaskItem, _ after: TaskItem, in transaction: borrowing StoreReadTransaction
  ) throws -> String {
    func names(_ ids: [UUID]) throws -> String {
      guard ids.count == 1 else { return "\(ids.count) other tasks" }
      return try transaction.task(ids[0]).map { "“\($0.title.quotable())”" } ?? "a deleted task"
    }
    let added = after.dependsOn.filter { !before.dependsOn.contains($0) }
    let removed = before.dependsOn.filter { !after.dependsOn.contains($0) }
    let words = [
      added.isEmpty ? nil : "it waits for \(try names(added))",
      removed.isEmpty ? nil : "it does not wait for \(try names(removed)) any more",
    ]
    return words.compactMap(\.self).joined(separator: ", ")
  }

  /// Words about the next task of a series, which came when its open one was closed or deleted.
  private func next(of difference: HistoryChange.Difference<TaskItem>, in change: HistoryChange) -> String {
    guard let before = difference.before, before.isOpen, before.recurrence != nil, difference.after?.isClosed ?? true
    else { return "" }
    let next = change.tasks.first { $0.before == nil && $0.after?.series?.id == before.series?.id }?.after
    guard let next else { return difference.after == nil ? "; no other one of its series follows" : "" }
    let day = next.scheduledDate ?? next.dueDay(in: clock.timeZone)
    return "; the next one is \(day.map(clock.relativeName) ?? "there")"
  }

  /// Words about the reminder of a task that got another day or due date.
  private func reminderWords(_ before: TaskItem, _ after: TaskItem) -> String {
    let moves = after.reminderMoves(from: before, in: clock.timeZone)
    return moves.map { move in
      switch move {
      case .moved(let instant):
        "; \(moves.count > 1 ? "a" : "its") reminder moves to \(clock.relativeName(of: instant))"
      case .stayed(let instant):
        "; \(moves.count > 1 ? "a" : "its") reminder stays: \(clock.relativeName(of: instant))"
      case .ended(let relative): "; “\(relative)” has no date to count from now"
      }
    }.joined()
  }

  private static func verb(_ isNew: Bool, _ isGone: Bool, _ otherwise: String) -> String {
    isNew ? "Added" : isGone ? "Deleted" : otherwise
  }
}
