import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The sub-tasks of a task that repeats.
@Suite struct RepeatingPartsTests {
  /// A task for today that repeats weekly, with a sub-task due tomorrow that has one itself.
  private func addTasks(to transaction: inout StoreWriteTransaction) throws -> (task: TaskItem, part: TaskItem) {
    let task = try transaction.add("Clean", to: .today) { $0.recurrence = try Recurrence(phrase: "every week") }
    let part = try transaction.add("Kitchen") { part in
      part.parentID = task.id
      part.dueDay = try CalendarDay(iso8601: "2026-11-22")
      part.state = .completed
    }
    try transaction.add("Oven") { $0.parentID = part.id }
    return (task, part)
  }

  private func parts(of id: UUID, in transaction: borrowing StoreWriteTransaction) throws -> [TaskItem] {
    try transaction.view(.all).tasks.filter { $0.parentID == id }
  }

  @Test func subtasksAreCopiedFresh() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let (task, part) = try addTasks(to: &transaction)
        try transaction.complete(task.id)
        let next = try #require(try transaction.successor(of: task))
        let copies = try parts(of: next.id, in: transaction)
        #expect(copies.map(\.title) == ["Kitchen"] && copies.map(\.state) == [.notStarted])
        #expect(copies.map(\.dueDay) == [try CalendarDay(iso8601: "2026-11-29")])
        #expect(copies.map(\.id) == [UUID(derivedFrom: part.id, index: 1)])
        #expect(try parts(of: copies[0].id, in: transaction).map(\.title) == ["Oven"])
        #expect(try transaction.taskCount == 6)
      }
    }
  }

  /// The series has another list than the task: a sub-task that goes on below the next task takes its own along.
  @Test func whatGoesOnBelowTheNextTaskIsInItsList() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let home = try transaction.addList(name: "Home")
        let task = try addTasks(to: &transaction).task
        let dust = try transaction.add("Dust", to: .today) { part in
          part.recurrence = try Recurrence(phrase: "every day")
        }
        try transaction.update(dust.id) { $0.parentID = task.id }
        try transaction.complete(dust.id)
        let tomorrow = try #require(try transaction.successor(of: dust))
        let cloth = try transaction.add("Cloth") { $0.parentID = tomorrow.id }
        // Of this task alone.
        try transaction.update(task.id) { $0.listID = home.id }
        try transaction.complete(task.id)
        let next = try #require(try transaction.successor(of: task))
        #expect(next.listID == nil)
        #expect(try transaction.task(tomorrow.id)?.parentID == next.id)
        #expect(try transaction.task(tomorrow.id)?.listID == nil && (try transaction.task(cloth.id)?.listID) == nil)
      }
      try checkInvariants(of: store)
    }
  }

  @Test func reopeningDeletesTheCopiesToo() throws {
    try withStore { store in
      let task = try store.writeAndWait { try addTasks(to: &$0).task }
      try store.writeAndWait { _ = try $0.complete(task.id) }
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 3)
    }
  }

  @Test func reopeningKeepsEverythingIfACopyHasBeenChanged() throws {
    try withStore { store in
      let task = try store.writeAndWait { try addTasks(to: &$0).task }
      try store.writeAndWait { _ = try $0.complete(task.id) }
      let next = try #require(try store.read { try $0.successor(of: task) })
      try store.writeAndWait { transaction in
        let copy = try #require(try parts(of: next.id, in: transaction).first)
        let oven = try #require(try parts(of: copy.id, in: transaction).first)
        try transaction.start(oven.id)
      }
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 6)
    }
  }

  @Test func reopeningKeepsEverythingIfTheNextTaskHasAnotherSubtask() throws {
    try withStore { store in
      let task = try store.writeAndWait { try addTasks(to: &$0).task }
      try store.writeAndWait { _ = try $0.complete(task.id) }
      let next = try #require(try store.read { try $0.successor(of: task) })
      try store.writeAndWait { _ = try $0.add("Windows") { $0.parentID = next.id } }
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 7)
    }
  }

  @Test func aSubtaskThatRepeatsMakesTheNextOneUnlessItsTaskIsDone() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("Move house")
        let part = try RepeatingTaskTests.add("every day", to: &transaction, parent: task.id)
        try transaction.complete(part.id)
        let next = try #require(try transaction.successor(of: part))
        #expect(next.parentID == task.id)
        try transaction.complete(task.id)
        #expect(try transaction.task(next.id)?.isCompleted == true)
        #expect(try transaction.successor(of: next) == nil)
      }
    }
  }

  /// What is still to come has not been done: it moves to the next task, and what is for today is closed.
  @Test(arguments: [0, 1, 3])
  func aSeriesAmongTheSubtasksGoesOnWhereItIs(doneCount: Int) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let (task, _) = try addTasks(to: &transaction)
        var part = try transaction.add("Bin", to: .today) { part in
          part.parentID = task.id
          part.recurrence = try Recurrence(phrase: "every day")
        }
        for _ in 0..<doneCount {
          try transaction.complete(part.id)
          part = try #require(try transaction.successor(of: part))
        }
        try transaction.complete(task.id)
        let next = try #require(try transaction.successor(of: task))
        let bins = try parts(of: next.id, in: transaction).filter { $0.title == "Bin" }
        let day = doneCount == 0 ? "2026-11-28" : "2026-11-2\(1 + doneCount)"
        #expect(bins.map(\.scheduledDate) == [try CalendarDay(iso8601: day)])
        #expect((bins.map(\.id) == [part.id]) == (doneCount > 0))
        #expect(try transaction.task(part.id)?.isOpen == (doneCount > 0))
      }
    }
  }
}
