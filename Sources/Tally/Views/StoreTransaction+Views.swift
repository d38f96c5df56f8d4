import Foundation
import LMDB

// Callers of other modules reach generic code, which asks the runtime for types at each row: a quarter of a view's time.
// So reads of snapshots are specialized; inlinable code would be no slower, and would show the storage.

extension StoreTransaction where Base: ~Copyable {
  /// All of a view.
  ///
  /// ```swift
  /// let today = try store.read { try $0.view(.today) }
  /// ```
  ///
  /// - Throws: `listNotFound` for a list that does not exist.
  /// - Complexity: what the view shows, whatever the size of the store.
  @_specialize(where Base == ReadTransaction)
  public func view(_ view: TaskView) throws -> ViewResult {
    var sections = SectionBuilder(view: view)
    _ = try scan(view, after: nil) { id, day in
      sections.append(try indexedTask(id), on: day)
      return true
    }
    return ViewResult(
      view: view, asOf: now, timeZone: calendar.timeZone, completedCount: sections.completedCount,
      sections: sections.finish())
  }

  /// The next `limit` tasks of a view.
  ///
  /// ```swift
  /// var position: ViewPosition?
  /// repeat {
  ///   let page = try store.read { try $0.page(of: .all, after: position, limit: 50) }
  ///   show(page.tasks)
  ///   position = page.next
  /// } while position != nil
  /// ```
  ///
  /// - Parameters:
  ///   - view: the view to look at.
  ///   - position: the `next` of the page before; `nil` for the first page.
  ///   - limit: how many tasks at most; at least one.
  /// - Returns: the tasks, and where to go on.
  /// - Throws: `listNotFound` for a list that does not exist; `valueOutOfRange` for a limit below one or for the
  ///   position of another view.
  /// - Complexity: what the page shows, however far into the view it lies.
  @_specialize(where Base == ReadTransaction)
  public func page(of view: TaskView, after position: ViewPosition? = nil, limit: Int) throws -> ViewPage {
    guard limit > 0 else {
      throw TallyError(.valueOutOfRange, "A page of \(limit) tasks", remedy: "Ask for at least one task")
    }
    guard position.map({ $0.view == view }) ?? true else { throw TallyError.foreignPosition }
    var sections = SectionBuilder(view: view)
    var count = 0
    let next = try scan(view, after: position?.key) { id, day in
      guard count < limit else { return false }
      count += 1
      sections.append(try indexedTask(id), on: day)
      return true
    }
    return ViewPage(sections: sections.finish(), next: ViewPosition(in: view, at: next))
  }

  /// Hands each task of a view to a closure, one after the other, with its section's day; nothing is collected.
  ///
  /// - Throws: what the closure throws, which ends the walk; `listNotFound` for a list that does not exist.
  public func forEachTask(in view: TaskView, _ body: (TaskItem, CalendarDay?) throws -> Void) throws {
    _ = try scan(view, after: nil) { id, day in
      try body(try indexedTask(id), day)
      return true
    }
  }
}

/// Puts tasks into sections as they come.
///
/// The section in the making lies apart: reached through the array of all it would be checked twice for each task.
private struct SectionBuilder {
  private let hasDays: Bool
  private var finished: [ViewSection] = []
  private var day: CalendarDay?
  private var tasks: [TaskItem] = []
  private(set) var completedCount = 0

  init(view: TaskView) {
    hasDays = view.hasDaySections
  }

  mutating func append(_ task: consuming TaskItem, on taskDay: CalendarDay?) {
    if taskDay != day, hasDays {
      endSection()
      day = taskDay
    }
    if task.isCompleted { completedCount += 1 }
    tasks.append(task)
  }

  /// Gives the sections; a view without days has one even if it is empty.
  consuming func finish() -> [ViewSection] {
    if !hasDays || !tasks.isEmpty { finished.append(ViewSection(day: day, tasks: tasks)) }
    return finished
  }

  private mutating func endSection() {
    if !tasks.isEmpty { finished.append(ViewSection(day: day, tasks: tasks)) }
    tasks = []
  }
}
