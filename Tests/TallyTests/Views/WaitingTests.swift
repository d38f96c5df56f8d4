import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Until its start day a task is in no view of what there is to do.
@Suite struct WaitingTests {
  private static let now = "2026-11-21T12:00:00Z"

  /// The views that leave waiting tasks out, for tasks that would be in all of them.
  private static func views(of list: UUID, on today: CalendarDay) -> [TaskView] {
    [
      .list(list), .today, .due(on: today), .overdue, .active, .next, .matching(.tag("home"), by: .place),
      .matching(.is(.open), by: .created), .matching(.text(contains: "roof"), by: .priority),
    ]
  }

  /// A task that asks for attention everywhere.
  private static func busy(_ list: UUID, _ today: CalendarDay, _ start: TaskStart?) -> (inout TaskItem) -> Void {
    { task in
      (task.listID, task.state, task.tags, task.start) = (list, .active, ["home"], start)
      (task.scheduledDate, task.dueDate) = (today, Timestamp(clamping: 1_795_219_200_000_000))
    }
  }

  @Test func aWaitingTaskIsInNoViewOfWhatToDoUnlessAskedFor() throws {
    let clock = TestClock(try Timestamp(iso8601: Self.now))
    try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      let (list, today) = try store.writeAndWait { (try $0.addList(name: "Home").id, $0.today) }
      let tomorrow = try today.adding(days: 1)
      try store.writeAndWait { transaction in
        _ = try transaction.add("roof now", Self.busy(list, today, nil))
        _ = try transaction.add("roof today", Self.busy(list, today, .day(today)))
        _ = try transaction.add("roof tomorrow", Self.busy(list, today, .day(tomorrow)))
        _ = try transaction.add("roof someday", Self.busy(list, today, .someday))
      }
      for view in Self.views(of: list, on: today) {
        try store.read { transaction in
          let shown = try transaction.view(view).tasks
          #expect(Set(shown.map(\.title)) == ["roof now", "roof today"], "\(view.text)")
          transaction.showsWaiting = true
          #expect(try transaction.view(view).tasks.count == 4, "\(view.text) with those that wait")
        }
      }
      try store.read { transaction in
        #expect(try transaction.view(.all).tasks.count == 4)
        #expect(try transaction.view(.waiting).tasks.map(\.title) == ["roof tomorrow", "roof someday"])
        #expect(try transaction.agenda().waitingCount == 2)
        #expect(try transaction.agenda().tasks.count == 2)
        #expect(try transaction.tags().map(\.openCount) == [2])
        let open = try transaction.statistics().open
        #expect((open.total, open.active, open.overdue, open.scheduledToday) == (4, 2, 2, 2))
      }
      clock.now = clock.now.adding(seconds: 86_400)
      #expect(try store.read { try $0.view(.list(list)).tasks.count } == 3)
      #expect(try store.read { try $0.view(.waiting).tasks.map(\.title) } == ["roof someday"])
    }
  }

  @Test func countsLeaveOutWhatWaitsWhateverAnswersThem() throws {
    try withStore(.testing(clock: TestClock(try Timestamp(iso8601: Self.now)), timeZone: "UTC")) { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home").id }
      try store.writeAndWait { transaction in
        let today = transaction.today
        for start in [nil, .day(today), .day(try today.adding(days: 1)), TaskStart?.some(.someday)] {
          _ = try transaction.add("roof", Self.busy(list, today, start))
        }
      }
      let filters: [(TaskFilter, Int, all: Int)] = [
        (.is(.open), 2, 4), (.tag("home") && .is(.open), 2, 4), (.list(list) && .is(.open), 2, 4),
        (.is(.overdue), 2, 4), (.text(contains: "roof"), 2, 4), (.is(.done), 0, 0), (.all, 4, 4),
        (.is(.waiting), 2, 2), (.is(.someday), 1, 1), (.has(.start), 3, 3), (!.has(.start), 1, 1),
        (.date(.start, .atMost, .tomorrow), 2, 2), (.is(.open) || .is(.waiting), 4, 4),
      ]
      for (filter, expected, all) in filters {
        try store.read { transaction in
          let count = try transaction.count(filter)
          #expect(count == expected, "\(filter)")
          #expect(try transaction.tasks(TaskQuery(filter, by: .due)).tasks.count == expected, "\(filter)")
          #expect(try transaction.explain(TaskQuery(filter)).foundCount == expected, "\(filter)")
          transaction.showsWaiting = true
          #expect(try transaction.count(filter) == all, "\(filter)")
        }
      }
    }
  }

  /// A start is a day, wherever its owner is, and days begin when the store says.
  @Test(arguments: [("Pacific/Auckland", 0, false), ("UTC", 0, true), ("Pacific/Auckland", 240, true)])
  func aStartDayComesWhereTheAskerIs(zone: String, dayStart: Int, waits: Bool) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-11-21T12:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("a") { $0.start = .day(try CalendarDay(iso8601: "2026-11-22")) }
      }
      let found = try store.read { transaction in
        var calendar = transaction.calendar
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        transaction.countDays(in: calendar, startingAtMinute: dayStart)
        return try transaction.view(.inbox).tasks.isEmpty
      }
      #expect(found == waits)
    }
  }

  @Test func aTaskEntersAnObservedViewWhenItsDayComesAndWhenItsStartIsCleared() throws {
    let clock = TestClock(try Timestamp(iso8601: Self.now))
    try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home").id }
      let (today, someday) = try store.writeAndWait { transaction in
        let today = transaction.today
        _ = try transaction.add("tomorrow", Self.busy(list, today, .day(try today.adding(days: 1))))
        return (today, try transaction.add("someday", Self.busy(list, today, .someday)).id)
      }
      for view in Self.views(of: list, on: today)
      where view != .today && view != .matching(.text(contains: "roof"), by: .priority) {
        clock.now = try Timestamp(iso8601: Self.now)
        try store.writeAndWait { _ = try $0.update(someday) { $0.start = .someday } }
        var observed = try store.read { try ObservedView(view, in: $0) }
        #expect(observed.count == 0, "\(view.text)")
        clock.now = clock.now.adding(seconds: 86_400)
        _ = try store.read { try observed.follow($0) }
        #expect(observed.tasks.map(\.title) == ["tomorrow"], "\(view.text)")
        try store.writeAndWait { _ = try $0.update(someday) { $0.start = nil } }
        _ = try store.read { try observed.follow($0) }
        #expect(Set(observed.tasks.map(\.title)) == ["tomorrow", "someday"], "\(view.text)")
        clock.now = clock.now.adding(seconds: -86_400)
        _ = try store.read { try observed.follow($0) }
        #expect(observed.tasks.map(\.title) == ["someday"], "\(view.text), with the clock set back")
      }
    }
  }

  @Test func theTimelineOfAWidgetShowsATaskFromItsStartDayOn() throws {
    let clock = TestClock(try Timestamp(iso8601: Self.now))
    try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      try store.writeAndWait { transaction in
        let today = transaction.today
        _ = try transaction.add("late") {
          ($0.dueDay, $0.start) = (try today.adding(days: -3), .day(try today.adding(days: 1)))
        }
        _ = try transaction.add("never") { ($0.dueDay, $0.start) = (today, .someday) }
        _ = try transaction.add("later") { ($0.dueDay, $0.start) = (today, .day(try today.adding(days: 1))) }
      }
      let entries = try store.read { try $0.timeline() }
      #expect(entries.map(\.date.iso8601) == ["2026-11-21T12:00:00Z", "2026-11-22T00:00:00Z"])
      #expect(entries.map { $0.overdue.map(\.title) } == [[], ["late", "later"]])
      #expect(entries.allSatisfy { $0.dueToday.isEmpty })
    }
  }

  @Test func aListWithWaitingTasksIsDeletedWithThem() throws {
    try withStore { store in
      let lists = try store.writeAndWait { transaction in
        try ["Home", "Work", "Garden"].map { try transaction.addList(name: $0).id }
      }
      try store.writeAndWait { transaction in
        for list in lists { _ = try transaction.add("waits", to: .list(list)) { $0.start = .someday } }
        #expect(try transaction.deleteList(lists[0]) == 1)
        #expect(try transaction.mergeList(lists[1], into: lists[2]) == 1)
      }
      #expect(try store.read { try $0.view(.all).tasks.allSatisfy { $0.listID == lists[2] } })
      #expect(try store.read { try $0.taskCount } == 2)
      #expect(try store.verify().isSound)
    }
  }

  /// The start keeps its distance; someday belongs to one occurrence.
  @Test(arguments: [("2026-11-19", "2026-11-26"), ("2026-11-23", "2026-11-30"), (nil, nil)])
  func theNextOccurrenceStartsAsLongBeforeItsDay(start: String?, next: String?) throws {
    let clock = TestClock(try Timestamp(iso8601: Self.now))
    try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      let day = try CalendarDay(iso8601: "2026-11-23")
      let starts = try [start, next].map { try $0.map { TaskStart.day(try CalendarDay(iso8601: $0)) } }
      let found = try store.writeAndWait { transaction in
        let task = try transaction.add("bins") {
          $0.scheduledDate = day
          $0.recurrence = try Recurrence(text: "FREQ=WEEKLY")
          $0.start = starts[0] ?? .someday
        }
        return try transaction.successor(of: try transaction.complete(task.id))
      }
      #expect(found?.scheduledDate == (try CalendarDay(iso8601: "2026-11-30")))
      #expect(found?.start == starts[1])
    }
  }

  @Test func aStartIsUndoneRedoneExportedAndImported() throws {
    try withStore { store in
      let day = try store.read { try $0.today.adding(days: 3) }
      let id = try store.writeAndWait { try $0.add("a") { $0.start = .day(day) } }.id
      try store.writeAndWait { _ = try $0.update(id) { $0.start = .someday } }
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.task(id)?.start } == .day(day))
      try store.writeAndWait { _ = try $0.redo() }
      #expect(try store.read { try $0.task(id)?.start } == .someday)
      #expect(try store.read { try $0.header().requiredFeatures.contains(.taskLife) })
      let text = try JSONEncoder().encode(try store.read { try $0.task(id) })
      #expect(String(decoding: text, as: UTF8.self).contains("\"someday\":true"))
      #expect(try JSONDecoder().decode(TaskItem.self, from: text).start == .someday)
    }
  }

  @Test func aStoreWithoutStartsIsThatOfAnEarlierVersion() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("a") { $0.dueDay = .latest } }.id
      #expect(try store.read { try !$0.header().requiredFeatures.contains(.taskLife) })
      #expect(try store.read { try $0.tables.byDue.count(in: $0.base) } == 1)
      try store.writeAndWait { _ = try $0.update(id) { $0.start = .day(.latest) } }
      #expect(try store.read { try $0.tables.byDue.count(in: $0.base) } == 2)
      try store.writeAndWait { _ = try $0.complete(id) }
      #expect(try store.read { try $0.tables.byDue.count(in: $0.base) } == 1)
      #expect(try store.verify().isSound)
    }
  }
}
