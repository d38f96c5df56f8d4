import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Reopening and undoing a completion, and completing on two copies.
@Suite struct SeriesReversalTests {
  private func withCompletedTask(_ body: (TaskStore, TaskItem, TaskItem, TestClock) throws -> Void) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try RepeatingTaskTests.add(to: &$0) }
      try store.writeAndWait { _ = try $0.complete(task.id) }
      try body(store, task, try #require(try store.read { try $0.successor(of: task) }), clock)
    }
  }

  @Test func reopeningDeletesTheNextTask() throws {
    try withCompletedTask { store, task, next, _ in
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.view(.all).tasks.map(\.id) } == [task.id])
    }
  }

  @Test func reopeningKeepsANextTaskThatHasBeenChanged() throws {
    let changes: [(UUID, inout StoreWriteTransaction) throws -> Void] = [
      { try $1.update($0) { $0.title = "Water the roses" } }, { try $1.start($0) }, { try $1.complete($0) },
    ]
    for change in changes {
      try withCompletedTask { store, task, next, _ in
        try store.writeAndWait { try change(next.id, &$0) }
        let changed = try store.read { try $0.task(next.id) }
        try store.writeAndWait { _ = try $0.reopen(task.id) }
        #expect(try store.read { try $0.task(next.id) } == changed)
      }
    }
  }

  @Test func reopeningDeletesANextTaskThatIsLikeANewOne() throws {
    try withCompletedTask { store, task, next, _ in
      try store.writeAndWait { _ = try $0.complete(next.id) }
      try store.writeAndWait { _ = try $0.reopen(next.id) }
      // The completed task may have changed since.
      try store.writeAndWait { _ = try $0.update(task.id) { $0.sortOrder += 1 } }
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 1)
    }
    try withCompletedTask { store, task, _, _ in
      try store.writeAndWait { _ = try $0.update(task.id) { $0.notes = "Done in an hour" } }
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  @Test func completingAgainMakesTheSameTaskAgain() throws {
    try withCompletedTask { store, task, next, clock in
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      clock.now = clock.now.adding(seconds: 3 * 86_400)
      try store.writeAndWait { _ = try $0.complete(task.id) }
      #expect(try store.read { try $0.successor(of: task) }?.id == next.id)
      #expect(try store.read { try $0.taskCount } == 2)
    }
  }

  @Test func completingAgainLeavesAChangedNextTaskAlone() throws {
    try withCompletedTask { store, task, next, _ in
      let changed = try store.writeAndWait { try $0.update(next.id) { $0.title = "Water the roses" } }
      try store.writeAndWait { transaction in
        try transaction.reopen(task.id)
        try transaction.complete(task.id)
      }
      #expect(try store.read { try $0.task(next.id) } == changed)
      #expect(try store.read { try $0.taskCount } == 2)
    }
  }

  @Test func undoingDeletesTheNextTaskAndRedoingMakesItAgain() throws {
    try withCompletedTask { store, task, next, _ in
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.view(.all).tasks.map(\.id) } == [task.id])
      try store.writeAndWait { _ = try $0.redo() }
      #expect(try store.read { try $0.task(next.id) }?.scheduledDate == next.scheduledDate)
      // Redone, the next task still counts as untouched.
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  @Test func undoingAcrossAChangeOfTheNextTaskIsRefused() throws {
    try withCompletedTask { store, task, next, _ in
      let completion = try store.read { try $0.undoableChange }
      try store.writeAndWait { _ = try $0.start(next.id) }
      let error = #expect(throws: TallyError.self) { try store.writeAndWait { _ = try $0.undo(completion) } }
      #expect(error?.code == .undoConflict)
      #expect(try store.read { try $0.task(task.id) }?.isCompleted == true)
    }
  }

  @Test func twoCopiesMakeOneTask() throws {
    let clocks = [TestClock.noon, TestClock.noon]
    clocks[1].now = clocks[1].now.adding(seconds: 20 * 86_400)
    let parts = try (0..<3).map { number in
      TaskItem(title: "part \(number)", createdAt: try Timestamp(iso8601: "2026-11-20T00:00:00Z"))
    }
    let task = TaskItem(title: "Water", createdAt: parts[0].createdAt)
    let ids = try clocks.map { clock in
      try withStore(.testing(clock: clock)) { store in
        try store.writeAndWait { transaction in
          try transaction.insert(contentsOf: [task] + parts)
          try transaction.update(task.id) { $0.recurrence = try Recurrence(phrase: "every monday") }
          for part in parts { try transaction.update(part.id) { $0.parentID = task.id } }
          try transaction.complete(task.id)
        }
        return try store.read { try Set($0.view(.all).tasks.map(\.id)) }
      }
    }
    #expect(ids[0] == ids[1])
    #expect(ids[0].count == 8)
  }

  @Test func aSeriesHasOneOpenTaskWhateverIsDoneToIt() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aSeriesHasOneOpenTaskWhateverIsDoneToIt"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let first = try store.writeAndWait { try RepeatingTaskTests.add("every 2 days", to: &$0) }
      for step in 0..<300 {
        let tasks = try store.read { try $0.view(.all).tasks }.sorted {
          ($0.series?.index ?? 0) < ($1.series?.index ?? 0)
        }
        let open = tasks.filter { !$0.isCompleted }
        #expect(open.map(\.id) == [tasks.last?.id], "step \(step)")
        for (index, task) in tasks.enumerated() {
          #expect(task.series?.index == index && task.series?.taskID == task.id && task.series?.id == first.id)
        }
        clock.now = clock.now.adding(seconds: .random(in: 0...200_000, using: &generator))
        guard let last = open.first else { continue }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1: try store.writeAndWait { _ = try $0.complete(last.id) }
        case 2: if tasks.count > 1 { try store.writeAndWait { _ = try $0.reopen(tasks[tasks.count - 2].id) } }
        default: if tasks.count > 1 { try store.writeAndWait { _ = try $0.undo() } }
        }
      }
    }
  }
}
