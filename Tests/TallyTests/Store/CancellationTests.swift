import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Tasks that are closed without being done.
@Suite struct CancellationTests {
  @Test func cancellingAParentCancelsItsOpenSubtasksAndOneUndoReopensAll() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        let parent = try transaction.add("parent")
        let parts = try ["open", "done", "below"].map { title in
          try transaction.add(title) { $0.parentID = parent.id }
        }
        try transaction.update(parts[2].id) { $0.parentID = parts[0].id }
        try transaction.complete(parts[1].id)
        return [parent.id] + parts.map(\.id)
      }
      let when = try OffsetTimestamp(iso8601: "2026-11-02T10:00:00+03:00")
      try store.writeAndWait { try $0.cancel(ids[0], at: when) }
      let tasks = try store.read { transaction in try ids.compactMap { try transaction.task($0) } }
      #expect(tasks.map(\.state) == [.cancelled, .cancelled, .completed, .cancelled])
      #expect(tasks.map(\.cancelledAt) == [when, when, nil, when])
      #expect(tasks.allSatisfy { $0.isClosed && !$0.isOpen })
      try store.writeAndWait { _ = try $0.undo() }
      let states = try store.read { transaction in try ids.map { try transaction.task($0)?.state } }
      #expect(states == [.notStarted, .notStarted, .completed, .notStarted])
      try store.writeAndWait { try $0.cancel(ids[0], includingSubtasks: false) }
      #expect(try store.read { try $0.task(ids[1])?.isOpen } == true)
    }
  }

  @Test func aCompletedTaskIsNotCancelledAndACancelledOneIsCompletedOrReopened() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let id = try store.writeAndWait { try $0.add("x").id }
      try store.writeAndWait { try $0.complete(id) }
      expect(.inconsistentTask) { try store.writeAndWait { _ = try $0.cancel(id) } }
      try store.writeAndWait { try $0.reopen(id) }
      let first = try store.writeAndWait { try $0.cancel(id) }
      #expect(first.cancelledAt?.instant == clock.now && first.completedAt == nil)
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.writeAndWait { try $0.cancel(id) } == first, "cancelled is cancelled")
      let done = try store.writeAndWait { try $0.complete(id) }
      #expect(done.isCompleted && done.cancelledAt == nil && done.completedAt?.instant == clock.now)
      #expect(try store.statistics().completed.allTime == 1)
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.task(id) }?.cancelledAt == first.cancelledAt)
      #expect(try store.statistics().completed.allTime == 0)
      let reopened = try store.writeAndWait { try $0.reopen(id) }
      #expect(reopened.isOpen && reopened.cancelledAt == nil)
      try store.writeAndWait { try $0.cancel(id) }
      #expect(try store.writeAndWait { try $0.advanceState(of: id) }.state == .notStarted)
    }
  }

  @Test func aCancelledTaskLeavesTheOpenOnesAtItsInstantInEveryZone() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let created = clock.now.adding(seconds: -10 * 86_400)
      // Twenty seconds before midnight in a zone whose offset is no number of quarters.
      let when = OffsetTimestamp(try Timestamp(iso8601: "2026-11-19T19:22:40Z"), in: .gmt)
      let id = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "list")
        let id = UUID()
        try transaction.insert(contentsOf: [
          TaskItem(id: id, title: "x", listID: list.id, createdAt: created, tags: ["tag"])
        ])
        try transaction.cancel(id, at: when)
        return id
      }
      let zone = try #require(TimeZone(secondsFromGMT: 4 * 3_600 + 37 * 60))
      func open(_ timeZone: TimeZone, _ filter: TaskFilter = .all) throws -> [Int] {
        var options = StatisticsOptions()
        (options.from, options.to) = (try CalendarDay(iso8601: "2026-11-18"), try CalendarDay(iso8601: "2026-11-20"))
        options.filter = filter
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return try store.statistics(calendar: calendar, options).series.buckets.map(\.open)
      }
      for filter in [TaskFilter.all, .tag("tag"), .tag("tag") && .priority(.none)] {
        #expect(try open(.gmt, filter) == [1, 0, 0] && open(zone, filter) == [1, 0, 0], "\(filter)")
      }
      // Twenty-two seconds later it is the next day there.
      try store.writeAndWait { try $0.cancel(id, at: OffsetTimestamp(when.instant.adding(seconds: 22), in: .gmt)) }
      for filter in [TaskFilter.all, .tag("tag"), .tag("tag") && .priority(.none)] {
        #expect(try open(.gmt, filter) == [1, 0, 0] && open(zone, filter) == [1, 1, 0], "\(filter)")
      }
      #expect(try store.statistics().open.total == 0)
      #expect(try store.read { try $0.tags().map { [$0.openCount, $0.completedCount] } } == [[0, 0]])
      // Deleting it takes it out of the whole curve, as an open one.
      try store.writeAndWait { _ = try $0.delete(id) }
      #expect(try open(.gmt) == [0, 0, 0])
      try store.writeAndWait { try $0.undo() }
      #expect(try open(zone) == [1, 1, 0])
      try store.writeAndWait { try $0.reopen(id) }
      #expect(try open(.gmt) == [1, 1, 1] && store.statistics().open.total == 1)
    }
  }

  @Test func aCancelledOccurrenceIsFollowedByTheSameTaskAsACompletedOne() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try RepeatingTaskTests.add(to: &$0) }
      try store.writeAndWait { try $0.complete(task.id) }
      let next = try #require(try store.read { try $0.successor(of: task) })
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.cancel(task.id) }
      let other = try #require(try store.read { try $0.successor(of: task) })
      #expect(other.id == next.id && other.scheduledDate == next.scheduledDate && other.isOpen)
      #expect(other.cancelledAt == nil && other.completedAt == nil)
      try store.writeAndWait { try $0.complete(task.id) }
      #expect(try store.read { try $0.taskCount } == 2, "the next one is there already")
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 1)
      try store.writeAndWait { try $0.cancel(task.id) }
      try store.writeAndWait { _ = try $0.update(next.id) { $0.title = "changed" } }
      try store.writeAndWait { try $0.reopen(task.id) }
      #expect(try store.read { try $0.taskCount } == 2, "a changed one stays")
    }
  }

  @Test func viewsShowACancelledTaskAmongTheCompletedOnes() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let ids = try store.writeAndWait { transaction in
        let now = transaction.now
        return try (0..<3).map { number in
          try transaction.add("\(number)", to: .today) { task in
            (task.dueDate, task.reminderDate) = (now.adding(seconds: -60), now.adding(seconds: -30))
          }.id
        }
      }
      try store.writeAndWait { transaction in
        try transaction.cancel(ids[0])
        try transaction.complete(ids[1])
      }
      try store.read { transaction in
        let today = try transaction.view(.today)
        #expect(today.tasks.map(\.id) == [ids[2], ids[0], ids[1]] && today.completedCount == 1)
        #expect(try transaction.view(.overdue).tasks.map(\.id) == [ids[2]])
        #expect(try transaction.view(.completed(nil)).tasks.map(\.id) == [ids[1]])
        #expect(try transaction.view(.next).tasks.map(\.id) == [ids[2]])
        #expect(try transaction.agenda().tasks.map(\.id) == [ids[2]] && transaction.agenda().completedCount == 1)
        #expect(try transaction.scheduledReminders(from: .earliest).map(\.task.id) == [ids[2]])
        let open = try transaction.statistics(StatisticsOptions()).open
        #expect(open.total == 1 && open.overdue == 1 && open.scheduledToday == 2 && open.completedOfToday == 1)
        for (filter, expected) in [
          ("is:cancelled", [0]), ("state:cancelled", [0]), ("is:done", [1]), ("is:open", [2]), ("-is:open", [0, 1]),
          ("cancelled>=today", [0]), ("cancelled<today", []), ("has:cancelled", [0]), ("-state:completed", [0, 2]),
          ("list:none is:done", [1]), ("day:today -is:cancelled", [1, 2]),
        ] {
          let found = try transaction.view(.matching(TaskFilter(text: filter), by: .created)).tasks.map(\.id)
          #expect(Set(found) == Set(expected.map { ids[$0] }), "\(filter)")
        }
      }
    }
  }

  @Test func onlyACancelledTaskRequiresTheFeatureAndHasAFieldInAnExport() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("x").id }
      try store.writeAndWait { try $0.complete(id) }
      #expect(try store.read { try $0.header().requiredFeatures.contains(.taskLife) } == false)
      #expect(try !store.exportedText(.json).contains("cancelled"))
      try store.writeAndWait { try $0.reopen(id) }
      try store.writeAndWait { try $0.cancel(id) }
      #expect(try store.read { try $0.header().requiredFeatures.contains(.taskLife) })
      let text = try store.exportedText(.json)
      #expect(text.contains("\"state\": \"cancelled\"") && text.contains("\"cancelledAt\": \"2026"))
      try withStore { other in
        try other.importText(text)
        #expect(try other.read { try $0.task(id) } == store.read { try $0.task(id) })
        // The same document with the task done is newer than a cancellation; one with the task open is older.
        #expect(try other.read { try $0.header().requiredFeatures.contains(.taskLife) })
      }
    }
  }

  @Test func anImportCancelsAnOpenTaskAndNeverACompletedOne() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let ids = try store.writeAndWait { t in try (0..<2).map { try t.add("\($0)").id } }
      try store.writeAndWait { try $0.complete(ids[1]) }
      for id in ids {
        let fields =
          #""state":"cancelled","cancelledAt":"2026-11-30T10:00:00+03:00","updatedAt":"2026-11-30T07:00:00Z""#
        try store.importText(#"{"id":"\#(id)","text":"imported",\#(fields)}"#, .ndjson)
      }
      let tasks = try store.read { transaction in try ids.compactMap { try transaction.task($0) } }
      #expect(tasks.map(\.state) == [.cancelled, .completed] && tasks.allSatisfy { $0.title == "imported" })
      // A document that says only that it is open reopens it.
      let fields = #""state":"notStarted","updatedAt":"2026-12-01T07:00:00Z""#
      try store.importText(#"{"id":"\#(ids[0])","text":"again",\#(fields)}"#, .ndjson)
      #expect(try store.read { try $0.task(ids[0]) }?.state == .notStarted)
      expect(.inconsistentTask) {
        try store.importText(#"{"text":"a","state":"active","cancelledAt":"2026-01-01T00:00:00Z"}"#, .ndjson)
      }
    }
  }
}
