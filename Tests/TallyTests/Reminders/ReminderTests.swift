import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct ReminderTests {
  @Test func pendingRemindersComeSoonestFirstAndWithinTheLimit() throws {
    try withReminders([30, -10, 20, 10, 0]) { store, _ in
      let titles = try store.read { try $0.pendingReminders().map(\.title) }
      #expect(titles == ["0", "10", "20", "30"])
      #expect(try store.read { try $0.pendingReminders(limit: 2).map(\.title) } == ["0", "10"])
      #expect(try store.read { try $0.pendingReminders(limit: 0) }.isEmpty)
    }
  }

  @Test func missedRemindersAreThoseBetweenAnInstantAndNow() throws {
    try withReminders([-30, -20, -10, 0, 10]) { store, clock in
      let since = clock.now.adding(seconds: -20)
      let missed = try store.read { try $0.missedReminders(since: since).map(\.title) }
      #expect(missed == ["-20", "-10"])
    }
  }

  @Test func completedTasksHaveNoReminders() throws {
    try withReminders([10]) { store, clock in
      let id = try #require(try store.read { try $0.pendingReminders().first?.id })
      try store.writeAndWait { _ = try $0.complete(id) }
      #expect(try store.read { try $0.pendingReminders() }.isEmpty)
      let later = clock.now.adding(seconds: 5)
      expect(.inconsistentTask) { try store.writeAndWait { _ = try $0.snooze(id, until: later) } }
      try store.writeAndWait { _ = try $0.reopen(id) }
      let pending = try store.read { try $0.pendingReminders().map(\.id) }
      #expect(pending == [id])
    }
  }

  @Test func snoozingReplacesTheReminderAndDismissingTakesItAway() throws {
    try withReminders([-10]) { store, clock in
      let id = try #require(try store.read { try $0.view(.all).tasks.first?.id })
      let later = clock.now.adding(seconds: 600)
      try store.writeAndWait { _ = try $0.snooze(id, until: later) }
      let pending = try store.read { try $0.pendingReminders().map(\.reminderDate) }
      #expect(pending == [later])
      #expect(try store.read { try $0.missedReminders(since: .earliest) }.isEmpty)
      try store.writeAndWait { _ = try $0.dismissReminder(of: id) }
      #expect(try store.read { try $0.pendingReminders(from: .earliest) }.isEmpty)
    }
  }

  /// A task for each distance from now in seconds, which is also its title.
  private func withReminders(_ distances: [Int64], _ body: (TaskStore, TestClock) throws -> Void) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      try store.writeAndWait { transaction in
        for distance in distances {
          let date = transaction.now.adding(seconds: distance)
          _ = try transaction.add(TaskDraft(title: "\(distance)", reminderDate: date))
        }
      }
      try body(store, clock)
    }
  }
}
