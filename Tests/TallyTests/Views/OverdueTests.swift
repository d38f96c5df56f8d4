import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct OverdueTests {
  /// The overdue tasks at an instant in a zone.
  private func titles(
    at now: String, in zone: String, _ fill: (inout StoreWriteTransaction) throws -> Void
  ) throws -> [String] {
    try withStore(.testing(clock: TestClock(try Timestamp(iso8601: now)), timeZone: zone)) { store in
      try store.writeAndWait(fill)
      let open = try store.read { try $0.statistics().open }
      let titles = try store.read { try $0.view(.overdue).tasks.map(\.title) }
      #expect(open.overdue == titles.count, "the counters agree")
      let pages = try store.read { transaction in
        var (found, position) = ([String](), ViewPosition?.none)
        repeat {
          let page = try transaction.page(of: .overdue, after: position, limit: 1)
          found += page.tasks.map(\.title)
          position = page.next
        } while position != nil
        return found
      }
      #expect(pages == titles)
      return titles
    }
  }

  /// In Newfoundland the clocks went back from 00:01 to 23:01, so that the day came again for an hour.
  @Test(arguments: [("2006-10-29T02:30:30Z", true), ("2006-10-29T02:40:00Z", false), ("2006-10-29T03:30:00Z", true)])
  func aDueDayThatComesAgainHasNotEnded(now: String, isOverdue: Bool) throws {
    let zone = "America/St_Johns"
    let found = try titles(at: now, in: zone) { transaction in
      let task = try transaction.add("day") { $0.dueDay = try CalendarDay(iso8601: "2006-10-28") }
      let timeZone = try #require(TimeZone(identifier: zone))
      #expect(task.isOverdue(at: try Timestamp(iso8601: now), in: timeZone) == isOverdue)
    }
    #expect(found.isEmpty != isOverdue)
  }

  /// Instants, days and reminders in one order, the oldest first, in two zones in which the order differs.
  @Test(arguments: [("UTC", ["reminder", "instant", "day"]), ("Europe/Istanbul", ["reminder", "day", "instant"])])
  func instantsDaysAndRemindersAreOneOrder(zone: String, expected: [String]) throws {
    let found = try titles(at: "2026-11-21T12:00:00Z", in: zone) { transaction in
      _ = try transaction.add("day") { $0.dueDay = try CalendarDay(iso8601: "2026-11-20") }
      _ = try transaction.add("instant") { $0.dueDate = try Timestamp(iso8601: "2026-11-20T23:00:00Z") }
      _ = try transaction.add("reminder") { $0.reminderDate = try Timestamp(iso8601: "2026-11-19T23:00:00Z") }
      _ = try transaction.add("reminder of a due task") { task in
        task.reminderDate = .earliest
        task.dueDay = try CalendarDay(iso8601: "2026-11-30")
      }
    }
    #expect(found == expected)
  }

  @Test(arguments: [
    ("2026-11-20T20:59:59Z", "Europe/Istanbul", false), ("2026-11-20T21:00:00Z", "Europe/Istanbul", true),
    ("2026-11-21T07:59:59Z", "America/Los_Angeles", false), ("2026-11-21T08:00:00Z", "America/Los_Angeles", true),
  ])
  func aDayEndsWhereItsOwnerIs(now: String, zone: String, isOverdue: Bool) throws {
    let found = try titles(at: now, in: zone) { transaction in
      _ = try transaction.add("day") { $0.dueDay = try CalendarDay(iso8601: "2026-11-20") }
    }
    #expect(found == (isOverdue ? ["day"] : []))
  }

  @Test(arguments: ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
  func aTaskDueOnADayIsDueOnItEverywhere(zone: String) throws {
    try withStore(.testing(timeZone: zone)) { store in
      let day = try CalendarDay(iso8601: "2026-11-20")
      try store.writeAndWait { t in _ = try t.add("day") { $0.dueDay = day } }
      #expect(try store.read { try $0.view(.due(on: day)).tasks.map(\.title) } == ["day"])
      #expect(try store.read { try $0.view(.due(on: day.adding(days: 1))).tasks.isEmpty })
    }
  }

  @Test func settingOneKindOfDueDateClearsTheOther() throws {
    var task = TaskItem(title: "x", createdAt: .earliest)
    task.dueDay = .earliest
    task.dueDate = .latest
    #expect(task.dueDay == nil && task.dueDate == .latest)
    task.dueDay = .latest
    #expect(task.dueDate == nil && task.dueDay == .latest)
    task.dueDate = nil
    #expect(task.dueDay == .latest)
  }
}
