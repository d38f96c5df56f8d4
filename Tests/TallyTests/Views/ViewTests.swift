import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Views by example; the random test compares them with a model.
@Suite struct ViewTests {
  @Test func theInboxHoldsWhatHasNeitherListNorDay() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        _ = try transaction.add("inbox", to: .inbox)
        _ = try transaction.add("today", to: .today)
        _ = try transaction.add("list", to: .list(list.id))
        let done = try transaction.add("done", to: .inbox)
        try transaction.complete(done.id)
      }
      #expect(try titles(of: .inbox, in: store) == ["inbox", "done"])
    }
  }

  /// A task due at this very instant is not overdue yet, in the view as in the key that observations follow.
  @Test func aRangeHasItsLowerBoundAndNotItsUpperOne() throws {
    let (start, end) = (TestClock.noon.now, TestClock.noon.now.adding(seconds: 1))
    let range = try #require(KeyRange.openDue(start, end, in: .gmt).first)
    for (instant, isInside) in [
      (start.adding(microseconds: -1), false), (start, true), (end.adding(microseconds: -1), true), (end, false),
    ] {
      let key = DueKey(.open, .start(at: instant.microsecondsSince1970))
      #expect(range.contains(KeyBytes(key)) == isInside)
    }
    try withStore { store in
      let task = try store.writeAndWait { try $0.add(TaskDraft(title: "now", dueDate: $0.now)) }
      try store.read { transaction in
        let record = try #require(try transaction.record(TaskRecord.self, task.id))
        #expect(try transaction.definition(of: .overdue).key(record) == nil)
      }
      #expect(try titles(of: .overdue, in: store).isEmpty)
    }
  }

  /// The bug: of a key with an impossible state the view began the same day again, for ever.
  @Test(
    arguments: [
      (UInt8(0), Int32(30_000), UInt8(9)), (2, 30_000, 0), (2, 1, 3), (0, .max, 0), (0, .min, 9), (1, .max, 9),
    ] as [(UInt8, Int32, UInt8)])
  func aDayKeyThatCannotBeDoesNotKeepAViewFromItsEnd(isCompleted: UInt8, dayNumber: Int32, rank: UInt8) throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let task = try withStore(at: path) { store in
        try store.writeAndWait { transaction in
          try transaction.add(TaskDraft(title: "later", scheduledDate: transaction.today.adding(days: 1)))
        }
      }
      let days = [dayNumber, try #require(task.scheduledDate).dayNumber]
      try change("byDay", at: path) { table, transaction in
        for day in days {
          var key = DayKey(isCompleted: false, dayNumber: day, rankRawValue: 0, order: OrderKey(of: task)).encodedBytes
          (key[0], key[5]) = (isCompleted, rank)
          try table.put([], forKey: key, in: &transaction)
        }
      }
      let store = try TaskStore(at: path, configuration: .testing())
      for view in [TaskView.upcoming, .past] {
        // Whatever it holds, it comes to an end.
        let count = try store.read { try $0.view(view).tasks.count }
        #expect(count <= 3)
      }
      try store.close()
    }
  }

  @Test func everyViewHasActiveTasksFirstAndCompletedOnesLast() throws {
    try withStore { store in
      let list = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        for (title, state) in [("c", TaskState.completed), ("n", .notStarted), ("a", .active), ("n2", .notStarted)] {
          for draft in [
            TaskDraft(title: title), TaskDraft(title: title, scheduledDate: transaction.today),
            TaskDraft(title: title, dueDate: transaction.now, listID: list.id),
          ] {
            let task = try transaction.add(draft)
            try transaction.setState(state, of: task.id)
          }
        }
        return list
      }
      let today = try store.read { $0.today }
      for view in [TaskView.inbox, .list(list.id), .due(on: today)] {
        #expect(try titles(of: view, in: store) == ["a", "n", "n2", "c"], "\(view.name)")
      }
      // Those that are planned for today, and those that are due.
      #expect(try titles(of: .today, in: store) == ["a", "a", "n", "n", "n2", "n2", "c", "c"])
      #expect(try store.read { try $0.view(.today).completedCount } == 2)
      #expect(try titles(of: .active, in: store) == ["a", "a", "a"])
    }
  }

  @Test func midnightChangesTheViewsAndNoTask() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("today", to: .today)
        _ = try transaction.add("tomorrow", to: .upcoming)
        try transaction.complete(try transaction.add("done today", to: .today).id)
      }
      let before = try store.read { try $0.view(.all).tasks }
      clock.now = try Timestamp(iso8601: "2026-11-21T20:59:59.999999Z")
      #expect(try titles(of: .today, in: store) == ["today", "done today"])
      #expect(try titles(of: .past, in: store).isEmpty)
      clock.now = try Timestamp(iso8601: "2026-11-21T21:00:00Z")
      #expect(try titles(of: .today, in: store) == ["tomorrow"])
      #expect(try titles(of: .upcoming, in: store).isEmpty)
      #expect(try titles(of: .past, in: store) == ["today"], "finished ones are history")
      #expect(try store.read { try $0.view(.all).tasks } == before)
    }
  }

  @Test func upcomingAndPastHaveASectionADay() throws {
    try withStore { store in
      let today = try store.read { $0.today }
      try store.writeAndWait { transaction in
        for offset in [-30, -2, -1, 0, 1, 2, 400] {
          for number in 1...2 {
            let draft = TaskDraft(title: "\(offset).\(number)", scheduledDate: try today.adding(days: offset))
            _ = try transaction.add(draft)
          }
        }
        let done = TaskDraft(title: "3.done", scheduledDate: try today.adding(days: 3))
        try transaction.complete(try transaction.add(done).id)
      }
      let upcoming = try store.read { try $0.view(.upcoming).sections }
      #expect(
        upcoming.map { $0.tasks.map(\.title) } == [["1.1", "1.2"], ["2.1", "2.2"], ["3.done"], ["400.1", "400.2"]])
      #expect(try upcoming.map(\.day) == [1, 2, 3, 400].map { try today.adding(days: $0) })
      let past = try store.read { try $0.view(.past).sections }
      #expect(past.map { $0.tasks.map(\.title) } == [["-1.1", "-1.2"], ["-2.1", "-2.2"], ["-30.1", "-30.2"]])
      #expect(try past.map(\.day) == [-1, -2, -30].map { try today.adding(days: $0) })
    }
  }

  @Test func overdueBeginsWhenTheInstantHasPassed() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let due = clock.now
      try store.writeAndWait { transaction in
        _ = try transaction.add(TaskDraft(title: "now", dueDate: due))
        _ = try transaction.add(TaskDraft(title: "long ago", dueDate: .earliest))
        let done = try transaction.add(TaskDraft(title: "done", dueDate: .earliest))
        try transaction.complete(done.id)
      }
      #expect(try titles(of: .overdue, in: store) == ["long ago"])
      clock.now = due.adding(microseconds: 1)
      #expect(try titles(of: .overdue, in: store) == ["long ago", "now"], "oldest first")
    }
  }

  @Test func completedTasksOfAnIntervalComeNewestFirst() throws {
    try withStore { store in
      let start = try Timestamp(iso8601: "2026-11-01T00:00:00Z")
      try store.writeAndWait { transaction in
        for day in 0..<5 {
          let task = try transaction.add("\(day)", to: .inbox)
          try transaction.complete(task.id, at: OffsetTimestamp(start.adding(seconds: Int64(day) * 86_400), in: .gmt))
        }
        let deleted = try transaction.add("deleted", to: .inbox)
        try transaction.complete(deleted.id, at: OffsetTimestamp(start.adding(seconds: 86_401), in: .gmt))
        try transaction.delete(deleted.id)
      }
      let interval = start.adding(seconds: 86_400)..<start.adding(seconds: 3 * 86_400)
      #expect(try titles(of: .completed(interval), in: store) == ["2", "1"], "the end is not part of it")
      #expect(try titles(of: .completed(nil), in: store) == ["4", "3", "2", "1", "0"])
      #expect(try titles(of: .completed(start..<start), in: store).isEmpty)
    }
  }

  @Test func allTasksComeInTheOrderOfTheirCreation() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      for seconds in [0, 10, -20, 5] as [Int64] {
        clock.now = TestClock.noon.now.adding(seconds: seconds)
        try store.writeAndWait { _ = try $0.add("\(seconds)", to: seconds == 5 ? .today : .inbox) }
      }
      #expect(try titles(of: .all, in: store) == ["-20", "0", "5", "10"])
    }
  }

  @Test func aListThatDoesNotExistHasNoView() throws {
    try withStore { store in
      let view = TaskView.list(UUID())
      #expect(code { _ = try store.read { try $0.view(view) } } == .listNotFound)
      #expect(code { _ = try store.read { try $0.page(of: view, limit: 1) } } == .listNotFound)
      #expect(code { try store.read { try $0.forEachTask(in: view) { _, _ in true } } } == .listNotFound)
    }
  }

  @Test func aWalkEndsWhenItsClosureSaysSo() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<5 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      var seen: [String] = []
      try store.read { snapshot in
        try snapshot.forEachTask(in: .inbox) { task, _ in
          seen.append(task.title)
          return seen.count < 3
        }
      }
      #expect(seen == ["0", "1", "2"])
    }
  }

  @Test func aWalkEndsWithTheErrorOfItsClosure() throws {
    struct Enough: Error {}
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<5 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      var seen: [String] = []
      #expect(throws: Enough.self) {
        try store.read { transaction in
          try transaction.forEachTask(in: .inbox) { task, _ in
            seen.append(task.title)
            if seen.count == 2 { throw Enough() }
            return true
          }
        }
      }
      #expect(seen == ["0", "1"])
    }
  }
}

/// The titles of a view's tasks, in order.
func titles(of view: TaskView, in store: TaskStore) throws -> [String] {
  try store.read { try $0.view(view).tasks.map(\.title) }
}
