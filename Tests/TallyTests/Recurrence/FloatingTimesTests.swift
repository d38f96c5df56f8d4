import Foundation
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// The times of an open task of a series are those that clocks show where the person is.
@Suite struct FloatingTimesTests {
  private static func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  private static func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

  /// The configuration of a store in a time zone.
  private static func configuration(in zone: String, _ clock: TestClock) throws -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.calendar.timeZone = try self.zone(zone)
    return configuration
  }

  /// Runs a body with a store in a time zone, at an instant.
  private static func withStore(
    in zone: String, at now: String, _ body: (TaskStore, TestClock) throws -> Void
  ) throws {
    let clock = TestClock(try instant(now))
    try TallyTestSupport.withStore(configuration(in: zone, clock)) { try body($0, clock) }
  }

  /// Reads a store in another zone.
  private static func read<R>(
    _ store: TaskStore, in zone: String, _ body: (borrowing StoreReadTransaction) throws -> R
  ) throws -> R {
    let timeZone = try self.zone(zone)
    return try store.read { transaction in
      var calendar = transaction.calendar
      calendar.timeZone = timeZone
      transaction.countDays(in: calendar, startingAtMinute: 0)
      return try body(transaction)
    }
  }

  /// Writes to a store in another zone.
  private static func write<R: Sendable>(
    _ store: TaskStore, in zone: String, _ body: (inout StoreWriteTransaction) throws -> R
  ) throws -> R {
    let timeZone = try self.zone(zone)
    return try store.writeAndWait { transaction in
      var calendar = transaction.calendar
      calendar.timeZone = timeZone
      transaction.countDays(in: calendar, startingAtMinute: 0)
      return try body(&transaction)
    }
  }

  private static func addPills(_ transaction: inout StoreWriteTransaction, at first: String) throws -> TaskItem {
    try transaction.add("Pills") { task in
      task.recurrence = try Recurrence(text: "FREQ=DAILY")
      task.dueDate = try instant(first)
      task.reminderDate = try instant(first)
      task.otherReminders = [
        .at(try instant(first).adding(seconds: -1_800)), .before(try RelativeReminder(minutesBefore: 5)),
      ]
    }
  }

  @Test(arguments: [
    ("America/New_York", "2026-05-04T09:00:00-04:00"), ("Asia/Kathmandu", "2026-05-04T09:00:00+05:45"),
    ("Pacific/Kiritimati", "2026-05-04T09:00:00+14:00"), ("Pacific/Pago_Pago", "2026-05-04T09:00:00-11:00"),
  ])
  func nineIsNineWhereThePersonIs(zone: String, nine: String) throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-05-01T06:00:00Z") { store, clock in
      let id = try store.writeAndWait { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      let due = try Self.instant(nine)
      clock.now = due.adding(seconds: -60)
      try Self.read(store, in: zone) { transaction in
        let found = try transaction.task(id)
        let task = try #require(found)
        #expect(task.dueDate == due && task.reminderDate == due)
        let reminders = task.reminderInstants(in: try Self.zone(zone))
        #expect(reminders == [-1_800, -300, 0].map { due.adding(seconds: $0) })
        #expect(try transaction.view(.today).tasks == [task] && transaction.view(.overdue).tasks.isEmpty)
        #expect(try transaction.tasks(TaskQuery(try TaskFilter(text: "due:today"))).tasks == [task])
        #expect(try transaction.count(try TaskFilter(text: "is:overdue")) == 0)
        let scheduled = try transaction.scheduledReminders()
        #expect(scheduled.map(\.date) == [due])
      }
      clock.now = due.adding(seconds: 60)
      try Self.read(store, in: zone) { transaction in
        let overdue = try transaction.view(.overdue).tasks
        let missed = try transaction.missedReminders(since: due)
        #expect(overdue.map(\.id) == [id] && missed.map(\.id) == [id])
        #expect(try transaction.count(try TaskFilter(text: "is:overdue")) == 1)
        #expect(try transaction.statistics(StatisticsOptions()).open.overdue == 1)
      }
    }
  }

  /// What one of the tasks gets from a person is an instant; what it gets back from its series floats again.
  @Test func aMovedTaskStaysWhereItWasPut() throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-05-04T06:00:00Z") { store, _ in
      let id = try store.writeAndWait { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      let moved = try Self.instant("2026-05-04T11:30:00+02:00")
      try store.writeAndWait { try $0.update(id, keepingReminder: true) { $0.dueDate = moved } }
      let there = try #require(try Self.read(store, in: "Asia/Tokyo") { try $0.task(id) })
      #expect(there.dueDate == moved)
      #expect(there.reminderDate == (try Self.instant("2026-05-04T09:00:00+09:00")))
      try store.writeAndWait { transaction in
        try transaction.update(id, keepingReminder: true) {
          $0.dueDate = try Self.instant("2026-05-04T09:00:00+02:00")
        }
      }
      let back = try #require(try Self.read(store, in: "Asia/Tokyo") { try $0.task(id) })
      let nine = try Self.instant("2026-05-04T09:00:00+09:00")
      #expect(back.dueDate == nine && back.reminderDate == nine)
    }
  }

  @Test func aTaskThatIsDoneKeepsTheInstantsThatItShowed() async throws {
    let clock = TestClock(try Self.instant("2026-05-04T06:00:00Z"))
    try await TallyTestSupport.withStore(Self.configuration(in: "Europe/Berlin", clock)) { store in
      let id = try await store.write { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      clock.now = try Self.instant("2026-05-04T13:10:00Z")
      let next = try Self.completeInNewYork(id, in: store)
      func due(_ id: UUID) throws -> Timestamp? { try store.read { try $0.task(id)?.dueDate } }
      #expect(try due(id) == Self.instant("2026-05-04T09:00:00-04:00"))
      #expect(try next.dueDate == Self.instant("2026-05-05T09:00:00-04:00"))
      #expect(try due(next.id) == Self.instant("2026-05-05T09:00:00+02:00"))
      let done = try store.read { try #require(try $0.task(id)) }
      for reminder in done.otherReminders.compactMap(\.instant) {
        let filter = try TaskFilter(text: "is:done reminder:\(reminder.iso8601)")
        let found = try Self.read(store, in: "Asia/Tokyo") { try $0.tasks(TaskQuery(filter)).tasks }
        #expect(found.map(\.id) == [id])
      }
      // Reopened by undo, it floats again.
      _ = try await store.undo()
      #expect(try due(id) == Self.instant("2026-05-04T09:00:00+02:00"))
      let inTokyo = try Self.read(store, in: "Asia/Tokyo") { try $0.task(id)?.dueDate }
      #expect(try inTokyo == Self.instant("2026-05-04T09:00:00+09:00"))
    }
  }

  private static func completeInNewYork(_ id: UUID, in store: TaskStore) throws -> TaskItem {
    try write(store, in: "America/New_York") { transaction in
      let task = try transaction.complete(id)
      let next = try transaction.successor(of: task)
      return try #require(next)
    }
  }

  @Test func aFixedZoneEndsIt() throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-05-04T06:00:00Z") { store, _ in
      let id = try store.writeAndWait { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      let nine = try Self.instant("2026-05-04T09:00:00+02:00")
      try store.writeAndWait { try $0.setTimeZone(try Self.zone("Europe/Berlin"), ofSeriesWith: id) }
      #expect(try Self.read(store, in: "Asia/Tokyo") { try $0.task(id)?.dueDate } == nine)
      try store.writeAndWait { try $0.setTimeZone(nil, ofSeriesWith: id) }
      #expect(
        try Self.read(store, in: "Asia/Tokyo") { try $0.task(id)?.dueDate }
          == (try Self.instant("2026-05-04T09:00:00+09:00")))
    }
  }

  /// A change in another zone that concerns neither time leaves the record's instants, which others have.
  @Test func aChangeElsewhereLeavesTheInstantsOfTheRecord() throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-05-04T06:00:00Z") { store, _ in
      let id = try store.writeAndWait { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      let stored = try #require(try store.read { try $0.storedTask(id) })
      let changed = try Self.write(store, in: "America/New_York") { try $0.update(id) { $0.title = "Vitamins" } }
      #expect(changed.dueDate == (try Self.instant("2026-05-04T09:00:00-04:00")))
      let now = try #require(try store.read { try $0.storedTask(id) })
      #expect(TaskItem.differences(stored, now) == .title)
      // An application may give the whole task back as it has read it.
      #expect(try Self.write(store, in: "America/New_York") { try $0.put(changed) } == false)
    }
  }

  /// The instant pairs the time with what older devices read, so a device elsewhere must not write another one.
  @Test(arguments: [TaskField.floatingDue, .floatingReminder, .floatingReminders])
  func theSameTimeKeepsTheInstantOfTheRecord(field: TaskField) throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-11-21T09:00:00Z") { store, _ in
      let id = try store.writeAndWait { transaction in
        let task = try Self.addPills(&transaction, at: "2026-11-23T09:00:00+01:00")
        let extra = Reminder.at(try Self.instant("2026-11-23T10:00:00+01:00"))
        return try transaction.updateSeries(of: task.id) { $0.reminders.append(extra) }.id
      }
      var (there, here) = (
        try #require(try Self.read(store, in: "America/New_York") { try $0.task(id) }),
        try #require(try store.read { try $0.task(id) })
      )
      let time = try #require(there[field])
      there[field] = time
      #expect(there.stored == here.stored && there.dueDate != here.dueDate)
      // Another time is paired with what the task shows.
      here.floating = nil
      here[field] = time
      #expect(here[field] == time)
    }
  }

  @Test func anExportBringsTheTimesBack() throws {
    try Self.withStore(in: "Europe/Berlin", at: "2026-05-04T06:00:00Z") { store, _ in
      let id = try store.writeAndWait { try Self.addPills(&$0, at: "2026-05-04T09:00:00+02:00").id }
      try withTemporaryDirectory { directory in
        let file = directory.appending("export.json")
        try store.export(to: file)
        try Self.withStore(in: "Asia/Tokyo", at: "2026-05-04T06:00:00Z") { other, _ in
          _ = try other.importDocument(from: file)
          let task = try #require(try other.read { try $0.task(id) })
          let nine = try Self.instant("2026-05-04T09:00:00+09:00")
          #expect(task.dueDate == nine && task.reminderDate == nine)
          let half = try Self.instant("2026-05-04T08:30:00+09:00")
          #expect(task.otherReminders.first == .at(half))
          // The same document changes nothing.
          #expect(try other.importDocument(from: file).tasks.changed == 0)
        }
      }
    }
  }

  /// Every view, filter and count is that of the instants which the tasks show, in any zone, whatever its clocks do.
  @Test func everythingFollowsTheShownInstants() throws {
    let seed = SeededGenerator.chooseSeed(for: "wall-clock times")
    var generator = SeededGenerator(seed: seed)
    let zones = [
      "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Asia/Kathmandu",
      "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Santiago", "Antarctica/Troll",
    ]
    // Days on which clocks change in some of them.
    let days = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-04-24", "2026-10-25", "2026-11-01"]
    let calendar = try CalendarDay(iso8601: days.randomElement(using: &generator) ?? days[0])
    let noon = Timestamp(clamping: Int64(calendar.dayNumber) * 86_400_000_000 + 43_200_000_000)
    try Self.withStore(in: zones[0], at: noon.adding(seconds: -5 * 86_400).iso8601) { store, clock in
      for number in 0..<40 {
        let zone = zones.randomElement(using: &generator) ?? zones[0]
        let time = noon.adding(seconds: Int64.random(in: -900...900, using: &generator) * 180)
        let kind = Int.random(in: 0..<5, using: &generator)
        try Self.write(store, in: zone) { transaction in
          let task = try transaction.add("task \(number)") { task in
            if kind != 3 { task.recurrence = try Recurrence(text: "FREQ=DAILY") }
            if kind != 1 { task.dueDate = time } else { task.reminderDate = time }
            if kind == 2 { task.otherReminders = [.at(time.adding(seconds: -3_600))] }
            if number % 7 == 0 { task.start = .day(calendar) }
          }
          if kind == 4 { try transaction.setTimeZone(transaction.calendar.timeZone, ofSeriesWith: task.id) }
        }
      }
      for _ in 0..<25 {
        let name = zones.randomElement(using: &generator) ?? zones[0]
        clock.now = noon.adding(seconds: Int64.random(in: -200_000...200_000, using: &generator))
        try Self.expectShown(of: store, in: name, at: clock.now, "\(seed) in \(name) at \(clock.now)")
      }
    }
  }

  private static func expectShown(of store: TaskStore, in name: String, at now: Timestamp, _ comment: Comment) throws {
    let zone = try self.zone(name)
    let today = CalendarDay(containing: now, in: zone)
    try read(store, in: name) { transaction in
      let all = try transaction.view(.all).tasks
      let shown = all.filter { !$0.isWaiting(on: today) }
      func ids(_ tasks: [TaskItem]) -> Set<UUID> { Set(tasks.map(\.id)) }
      let overdue = shown.filter { $0.isOverdue(at: now, in: zone) }
        .sorted { ($0.overdueDate ?? now, $0.id.uuidString) < ($1.overdueDate ?? now, $1.id.uuidString) }
      #expect(try transaction.view(.overdue).tasks.map(\.id) == overdue.map(\.id), comment)
      var (paged, position) = ([UUID](), ViewPosition?.none)
      repeat {
        let page = try transaction.page(of: .overdue, after: position, limit: 3)
        paged += page.tasks.map(\.id)
        position = page.next
      } while position != nil
      #expect(paged == overdue.map(\.id), comment)
      #expect(try transaction.count(try TaskFilter(text: "is:overdue")) == overdue.count, comment)
      #expect(try transaction.statistics(StatisticsOptions()).open.overdue == overdue.count, comment)
      for offset in -2...2 {
        let day = try today.adding(days: offset)
        let due = ids(shown.filter { $0.dueDay(in: zone) == day })
        #expect(ids(try transaction.view(.due(on: day)).tasks) == due, comment)
        #expect(ids(try transaction.tasks(TaskQuery(try TaskFilter(text: "due:\(day)"))).tasks) == due, comment)
        let before = ids(shown.filter { task in task.dueDay(in: zone).map { $0 < day } ?? false })
        #expect(ids(try transaction.tasks(TaskQuery(try TaskFilter(text: "due<\(day)"))).tasks) == before, comment)
        let reminded = ids(
          shown.filter { task in
            task.reminderInstants(in: zone).contains { CalendarDay(containing: $0, in: zone) == day }
          })
        #expect(
          ids(try transaction.tasks(TaskQuery(try TaskFilter(text: "reminder:\(day)"))).tasks) == reminded, comment)
      }
      let byDue = try transaction.tasks(TaskQuery(try TaskFilter(text: "has:due"), by: .due)).tasks
      #expect(byDue.compactMap(\.dueDate) == byDue.compactMap(\.dueDate).sorted(), comment)
      let reminders = all.flatMap { $0.reminderInstants(in: zone) }.filter { $0 >= now }.sorted()
      #expect(try transaction.scheduledReminders().map(\.date) == reminders, comment)
      let entries = try transaction.timeline()
      let entry = try #require(entries.first)
      #expect(
        ids(entry.overdue) == ids(overdue) && ids(entry.dueToday) == ids(shown.filter { $0.dueDay(in: zone) == today }),
        comment)
    }
  }
}
