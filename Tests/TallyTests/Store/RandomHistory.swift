import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// A store and its model, changed together.
struct RandomHistory {
  let store: TaskStore
  let clock: TestClock
  var model = TaskModel()
  var refusalCount = 0
  var rollbackCount = 0
  var undoCount = 0
  /// The tasks that completing another one of their series has made.
  var successorIDs: Set<UUID> = []
  /// The models before the transactions that can be undone, and after those that can be redone, with what these touched.
  private var past: [(model: TaskModel, touched: Set<UUID>)] = []
  private var future: [(model: TaskModel, touched: Set<UUID>)] = []

  private struct RolledBack: Error {}

  init(store: TaskStore, clock: TestClock) {
    self.store = store
    self.clock = clock
  }

  var calendar: Calendar { store.configuration.calendar }

  /// Runs one transaction of a few changes, sometimes rolled back; or undoes one, or redoes it.
  mutating func step(using generator: inout SeededGenerator) throws {
    advanceClock(using: &generator)
    switch Int.random(in: 0..<20, using: &generator) {
    case 0, 1: try undo()
    case 2: try redo()
    case 3, 4: try change(isRolledBack: true, using: &generator)
    default: try change(isRolledBack: false, using: &generator)
    }
    for task in model.tasks.values where (task.series?.index ?? 0) > 0 { successorIDs.insert(task.id) }
  }

  private mutating func change(isRolledBack: Bool, using generator: inout SeededGenerator) throws {
    let before = try store.read { try $0.sequence }
    var changed = model
    changed.beginTransaction()
    var refusals = 0
    do {
      try store.writeAndWait { transaction in
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let now = clock.now
          let change = RandomChange.next(in: changed, now: now, calendar: calendar, using: &generator)
          let expected = changed.apply(change, now: now, timeZone: calendar.timeZone)
          let actual = Self.outcome { try change.apply(to: &transaction) }
          #expect(actual == expected, "\(change)")
          if expected != nil { refusals += 1 }
        }
        if isRolledBack { throw RolledBack() }
      }
      // A transaction without a change leaves nothing to undo.
      if try store.read({ try $0.sequence }) != before {
        // One whose changes cancel out is skipped by undo; nothing before it is undone here.
        past = changed.differs(from: model, in: changed.touched) ? past + [(model, changed.touched)] : []
        future = []
      }
      model = changed
    } catch is RolledBack {
      rollbackCount += 1
    }
    refusalCount += refusals
  }

  private mutating func undo() throws {
    guard let (previous, touched) = past.popLast() else { return }
    try store.writeAndWait { _ = try $0.undo() }
    future.append((model, touched))
    model.undo(to: previous, touched: touched, now: clock.now)
    undoCount += 1
  }

  private mutating func redo() throws {
    guard let (next, touched) = future.popLast() else { return }
    try store.writeAndWait { _ = try $0.redo() }
    past.append((model, touched))
    model.undo(to: next, touched: touched, now: clock.now)
  }

  private static func outcome(_ body: () throws -> Void) -> TallyError.Code? {
    do {
      try body()
      return nil
    } catch let error as TallyError {
      return error.code
    } catch {
      return .internalFault
    }
  }

  /// Mostly some seconds; now and then the same instant again, or more than a day.
  private func advanceClock(using generator: inout SeededGenerator) {
    let seconds = [0, 1, 60, 3_600, 40_000, 100_000].randomElement(using: &generator) ?? 1
    clock.now = clock.now.adding(seconds: Int64(seconds))
  }

  func compareViews(at step: Int) throws {
    let now = clock.now
    let today = CalendarDay(containing: now, in: calendar)
    let hour: Int64 = 3_600_000_000
    let interval = try Timestamp(microsecondsSince1970: now.microsecondsSince1970 - 50 * hour)..<now
    var views = TaskModel.views(dueOn: today, completedIn: interval) + [.due(on: try today.adding(days: 1))]
    views += model.orderedLists.map { .list($0.id) }
    try store.read { transaction in
      for view in views {
        let expected = model.tasks(in: view, now: now, calendar: calendar)
        let actual = try transaction.view(view)
        try #require(actual.tasks == expected, "\(view.name) after \(step) transactions")
        #expect(actual.completedCount == expected.count(where: \.isCompleted))
        if view.hasDaySections {
          #expect(actual.sections.allSatisfy { part in part.tasks.allSatisfy { $0.scheduledDate == part.day } })
        }
        if step.isMultiple(of: 25) { try comparePages(of: view, with: expected, in: transaction) }
      }
      #expect(try transaction.lists() == model.orderedLists)
      #expect(try transaction.taskCount == model.tasks.count)
    }
  }

  private func comparePages(
    of view: TaskView, with expected: [TaskItem], in transaction: borrowing StoreReadTransaction
  ) throws {
    var found: [TaskItem] = []
    var position: ViewPosition?
    repeat {
      let page = try transaction.page(of: view, after: position, limit: 3)
      #expect(page.tasks.count == 3 || page.next == nil)
      found += page.tasks
      position = page.next
    } while position != nil
    #expect(found == expected, "pages of \(view.name)")
  }
}

extension TaskModel {
  /// Whether any of some tasks and lists is not as in another model.
  fileprivate func differs(from other: TaskModel, in ids: Set<UUID>) -> Bool {
    ids.contains { id in
      let (task, otherTask) = (tasks[id], other.tasks[id])
      let isSameTask = task.map { otherTask?.isIdentical(to: $0) ?? false } ?? (otherTask == nil)
      return !isSameTask || lists[id] != other.lists[id]
    }
  }
}
