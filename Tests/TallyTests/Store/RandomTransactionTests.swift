import Foundation
import Tally
import TallyTestSupport
import Testing

/// Random transactions compared with a plain Swift model, in every view after each commit.
///
/// `TALLY_SEED` repeats a run; `TALLY_TRANSACTIONS` sets the number of transactions per suite.
@Suite struct RandomTransactionTests {
  @Test(arguments: ["Europe/Istanbul", "America/Sao_Paulo"])
  func everyViewEqualsTheModelAfterEachTransaction(timeZone: String) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyViewEqualsTheModel \(timeZone)"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock, timeZone: timeZone)) { store in
      var history = RandomHistory(store: store, clock: clock)
      for step in 1...transactionCount {
        try history.step(using: &generator)
        try history.compareViews(at: step)
        if step.isMultiple(of: 10) { try checkInvariants(of: store) }
      }
      #expect(history.refusalCount > 0, "refused changes are part of the test")
      #expect(history.rollbackCount > 0, "transactions rolled back are part of the test")
    }
  }

  private var transactionCount: Int {
    ProcessInfo.processInfo.environment["TALLY_TRANSACTIONS"].flatMap { Int($0) } ?? 5_000
  }
}

/// A store and its model, changed together.
private struct RandomHistory {
  let store: TaskStore
  let clock: TestClock
  var model = TaskModel()
  var refusalCount = 0
  var rollbackCount = 0

  private struct RolledBack: Error {}

  init(store: TaskStore, clock: TestClock) {
    self.store = store
    self.clock = clock
  }

  private var calendar: Calendar { store.configuration.calendar }

  /// Runs one transaction of a few changes; sometimes rolls it back.
  mutating func step(using generator: inout SeededGenerator) throws {
    advanceClock(using: &generator)
    let changeCount = Int.random(in: 1...4, using: &generator)
    let isRolledBack = generator.oneIn(10)
    var changed = model
    var refusals = 0
    do {
      try store.writeAndWait { transaction in
        for _ in 0..<changeCount {
          let now = clock.now
          let change = RandomChange.next(in: changed, now: now, calendar: calendar, using: &generator)
          let expected = changed.apply(change, now: now, timeZone: calendar.timeZone)
          let actual = Self.outcome { try change.apply(to: &transaction) }
          #expect(actual == expected, "\(change)")
          if expected != nil { refusals += 1 }
        }
        if isRolledBack { throw RolledBack() }
      }
      model = changed
    } catch is RolledBack {
      rollbackCount += 1
    }
    refusalCount += refusals
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
