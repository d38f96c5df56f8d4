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
    var places = SectionPlaces(of: view)
    _ = try scan(view, after: nil) { id, day in
      places.append(id, on: day)
      return true
    }
    var completedCount = 0
    let sections = try places.sections { id in
      let task = try indexedTask(id)
      if task.isCompleted { completedCount += 1 }
      return task
    }
    return ViewResult(
      view: view, asOf: now, timeZone: calendar.timeZone, completedCount: completedCount, sections: sections)
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
    try checkPage(of: view, after: position, limit: limit)
    var places = SectionPlaces(of: view)
    var count = 0
    let next = try scan(view, after: position?.key, limit: limit) { id, day in
      guard count < limit else { return false }
      count += 1
      places.append(id, on: day)
      return true
    }
    let sections = try places.sections { try indexedTask($0) }
    return ViewPage(sections: sections, next: next.map { ViewPosition(view: view, key: $0) })
  }

  /// Ensures that a page has room for a task, and that a position belongs to the view.
  func checkPage(of view: TaskView, after position: ViewPosition?, limit: Int) throws(TallyError) {
    guard limit > 0 else {
      throw TallyError(.valueOutOfRange, "A page of \(limit) tasks", remedy: "Ask for at least one task")
    }
    guard position.map({ $0.view == view }) ?? true else {
      throw TallyError(
        .valueOutOfRange, "The position belongs to another view",
        remedy: "Go on with the position of a page of the same view, or begin without one")
    }
  }

  /// Hands each task of a view to a closure, one after the other, with its section's day; nothing is collected.
  ///
  /// ```swift
  /// var firstLong: TaskItem?
  /// try store.read { snapshot in
  ///   try snapshot.forEachTask(in: .all) { task, _ in
  ///     if task.title.count > 80 { firstLong = task }
  ///     return firstLong == nil
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - view: the view to look at.
  ///   - body: returns whether to go on.
  /// - Throws: what the closure throws, which ends the walk; `listNotFound` for a list that does not exist.
  public func forEachTask(in view: TaskView, _ body: (TaskItem, CalendarDay?) throws -> Bool) throws {
    _ = try scan(view, after: nil) { id, day in try body(try indexedTask(id), day) }
  }
}

/// Which tasks stand in which section, as the index names them.
///
/// The tasks are read when their number is known: an array of them that grows moves them again and again.
private struct SectionPlaces {
  private let hasDays: Bool
  private var finished: [(day: CalendarDay?, ids: [UUID])] = []
  private var day: CalendarDay?
  private var ids: [UUID] = []

  init(of view: TaskView) {
    hasDays = view.hasDaySections
  }

  mutating func append(_ id: UUID, on taskDay: CalendarDay?) {
    if hasDays, taskDay != day {
      if !ids.isEmpty { finished.append((day, ids)) }
      (day, ids) = (taskDay, [])
    }
    // A small view grows once.
    if ids.isEmpty { ids.reserveCapacity(32) }
    ids.append(id)
  }

  /// Gives the sections; a view without days has one even if it is empty.
  consuming func sections(reading task: (UUID) throws -> TaskItem) rethrows -> [ViewSection] {
    if !hasDays || !ids.isEmpty { finished.append((day, ids)) }
    return try finished.map { ViewSection(day: $0.day, tasks: try $0.ids.map(task)) }
  }
}
