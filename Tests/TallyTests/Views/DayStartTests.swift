import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Days that begin some hours after midnight.
struct DayStartTests {
  @Test func aDayBeginsByTheClockOnTheWall() throws {
    let zone = try #require(TimeZone(identifier: "Europe/Amsterdam"))
    // On these nights the clock jumps at 02:00 and at 03:00.
    for (instant, day) in [
      ("2026-03-29T01:59:59Z", "2026-03-28"), ("2026-03-29T02:00:00Z", "2026-03-29"),
      ("2026-10-25T02:59:59Z", "2026-10-24"), ("2026-10-25T03:00:00Z", "2026-10-25"),
      ("2026-11-21T02:59:59.999999Z", "2026-11-20"), ("2026-11-21T03:00:00Z", "2026-11-21"),
    ] {
      let found = CalendarDay(containing: try Timestamp(iso8601: instant), in: zone, startingAtMinute: 240)
      #expect(found.iso8601 == day, "\(instant)")
    }
  }

  /// Views that are followed past midnight and past the start of the day are those that are read then.
  @Test func followedViewsChangeWhenTheDayBegins() throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-11-21T20:00:00Z"))
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.dayStartInMinutes = 240
    try withStore(configuration) { (store: TaskStore) throws in
      let today = try addTasks(to: store)
      let views: [TaskView] = [.today, .upcoming, .past, .overdue, .matching(.is(.overdue), by: .place)]
      var followed = try views.map { view in
        try store.read { transaction in
          let result = try transaction.view(view)
          return (observed: try ObservedView(result, in: transaction), tasks: result.tasks)
        }
      }
      // 23:00, 00:30, 03:59, 04:00 and the next morning, in Istanbul.
      for (instant, isNextDay) in [
        ("2026-11-21T20:00:00Z", false), ("2026-11-21T21:30:00Z", false), ("2026-11-22T00:59:00Z", false),
        ("2026-11-22T01:00:00Z", true), ("2026-11-22T06:00:00Z", true),
      ] {
        clock.now = try Timestamp(iso8601: instant)
        #expect(try store.read { $0.today } == (isNextDay ? today.adding(days: 1) : today), "\(instant)")
        #expect(try store.read { try $0.view(.today).tasks.map(\.title) } == [isNextDay ? "day 1" : "day 0"])
        #expect(try store.read { try $0.view(.overdue).tasks.count } == (isNextDay ? 3 : 2))
        for index in views.indices {
          let difference = try store.read { try followed[index].observed.follow($0) }
          followed[index].tasks = difference.applied(to: followed[index].tasks)
          let fresh = try store.read { try $0.view(views[index]).tasks }
          #expect(followed[index].tasks.map(\.title) == fresh.map(\.title), "\(views[index])")
        }
      }
    }
  }
  /// A task for each of five days, due then; returns the one in the middle.
  private func addTasks(to store: TaskStore) throws -> CalendarDay {
    try store.writeAndWait { transaction in
      let today = transaction.today
      for days in -2...2 {
        let day = try today.adding(days: days)
        _ = try transaction.add("day \(days)") { ($0.scheduledDate, $0.dueDay) = (day, day) }
      }
      return today
    }
  }
}
