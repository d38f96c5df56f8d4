import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Today shows the tasks that are planned for the day or due on it, in one order; now is noon of 2026-11-21 in Istanbul.
@Suite struct TodayTests {
  private static func titles(_ store: TaskStore) throws -> [String] {
    try store.read { try $0.view(.today).tasks.map(\.title) }
  }

  /// Adds a task that is planned and due so many days from today.
  @discardableResult
  private static func add(
    _ title: String, planned: Int? = nil, due: Int? = nil, at second: Int64? = nil, _ state: TaskState = .notStarted,
    in transaction: inout StoreWriteTransaction
  ) throws -> TaskItem {
    let (now, today) = (transaction.now, transaction.today)
    return try transaction.add(title) { task in
      task.scheduledDate = try planned.map { try today.adding(days: $0) }
      task.dueDay = try due.map { try today.adding(days: $0) }
      if let second { task.dueDate = now.adding(seconds: second) }
      task.state = state
    }
  }

  @Test func whatIsDueTodayIsThereOnceWhereverItIsPlanned() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        try Self.add("planned", planned: 0, in: &transaction)
        try Self.add("due", due: 0, in: &transaction)
        try Self.add("both", planned: 0, due: 0, in: &transaction)
        try Self.add("due at six", at: 6 * 3_600, in: &transaction)
        try Self.add("late since the morning", at: -3_600, in: &transaction)
        try Self.add("planned for later", planned: 3, due: 0, in: &transaction)
        try Self.add("left from yesterday", planned: -1, due: 0, in: &transaction)
        try Self.add("done", due: 0, .completed, in: &transaction)
        try Self.add("active", due: 0, .active, in: &transaction)
        for other in [-1, 1] {
          try Self.add("other \(other)", planned: other, due: other, in: &transaction)
          try Self.add("at another time \(other)", at: Int64(other) * 86_400, in: &transaction)
        }
        let soon = transaction.now.adding(seconds: 60)
        _ = try transaction.add("a reminder alone") { $0.reminderDate = soon }
      }
      let result = try store.read { try $0.view(.today) }
      let expected: Set = [
        "planned", "due", "both", "due at six", "late since the morning", "planned for later", "left from yesterday",
        "done", "active",
      ]
      #expect(Set(result.tasks.map(\.title)) == expected && result.tasks.count == expected.count)
      #expect(result.tasks.first?.title == "active" && result.tasks.last?.title == "done")
      #expect(result.completedCount == 1 && result.sections.count == 1)
    }
  }

  /// One order for all: as if the task that is only due were planned, wherever it is in its own place.
  @Test func dueTasksStandBetweenThePlannedOnesByTheirOrder() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        for (number, isPlanned) in [true, false, true, false, false, true].enumerated() {
          let (today, order) = (transaction.today, Int64(number + 1) << 20)
          _ = try transaction.add("\(number)") { task in
            if isPlanned { task.scheduledDate = today } else { task.dueDay = today }
            task.sortOrder = order
          }
        }
      }
      #expect(try Self.titles(store) == ["0", "1", "2", "3", "4", "5"])
    }
  }

  /// Each task of random stores stands on the one page on which it is in the whole view, for pages of every size.
  @Test func pagesOfRandomStoresAreTheView() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "TodayTests"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      for _ in 0..<6 {
        try store.writeAndWait { transaction in
          for _ in 0..<8 {
            let (planned, due) = (Int.random(in: -1...1, using: &generator), Int.random(in: -1...1, using: &generator))
            let state = TaskState.allCases.randomElement(using: &generator) ?? .active
            let order = Int64.random(in: 1...4, using: &generator) << 20
            let task = try Self.add(
              "x", planned: generator.oneIn(2) ? planned : nil, due: generator.oneIn(2) ? due : nil, state,
              in: &transaction)
            try transaction.update(task.id) { $0.sortOrder = order }
          }
        }
        let whole = try store.read { try $0.view(.today).tasks }
        #expect(whole == whole.sorted(by: TaskModel.viewOrder) && Set(whole.map(\.id)).count == whole.count)
        for limit in 1...(whole.count + 1) {
          var (tasks, position): ([TaskItem], ViewPosition?) = ([], nil)
          repeat {
            let page = try store.read { try $0.page(of: .today, after: position, limit: limit) }
            #expect(page.tasks.count <= limit)
            tasks += page.tasks
            position = try page.next.map { try ViewPosition(text: $0.text) }
            // Pages that go round in a circle fail, and do not hang.
          } while position != nil && tasks.count <= whole.count
          #expect(tasks == whole, "pages of \(limit)")
        }
      }
    }
  }

  /// A position whose task has gone, or is no longer due, is still a place in the order.
  @Test func aPageGoesOnAfterATaskThatHasGone() throws {
    try withStore(.testing(clock: .noon)) { store in
      let ids = try store.writeAndWait { transaction in
        try (0..<6).map { number in
          let isDue = number % 2 == 1
          return try Self.add("\(number)", planned: isDue ? nil : 0, due: isDue ? 0 : nil, in: &transaction).id
        }
      }
      let whole = try store.read { try $0.view(.today).tasks }
      for limit in 1..<6 {
        let page = try store.read { try $0.page(of: .today, limit: limit) }
        try store.writeAndWait { _ = try $0.delete(whole[limit - 1].id) }
        let rest = try store.read { try $0.page(of: .today, after: page.next, limit: 10) }
        #expect(rest.tasks.map(\.id) == whole.dropFirst(limit).map(\.id))
        try store.writeAndWait { _ = try $0.undo() }
      }
      #expect(ids.count == 6)
    }
  }

  /// At midnight, over several days at once, and backwards: a view that is followed is the one that is read.
  @Test(arguments: ["Europe/Istanbul", "America/St_Johns", "America/Havana", "Pacific/Apia", "America/Santiago"])
  func aFollowedTodayChangesWithTheDay(zoneName: String) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "followed Today \(zoneName)"))
    // Around a change of clocks in each zone; St. John's went back over midnight on 2010-11-07.
    let starts = ["America/St_Johns": "2010-11-05T12:00:00Z", "Pacific/Apia": "2011-12-28T12:00:00Z"]
    let clock = TestClock(try Timestamp(iso8601: starts[zoneName] ?? "2026-03-27T12:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: zoneName)) { store in
      let start = clock.now
      try store.writeAndWait { transaction in
        for number in 0..<60 {
          let instant = start.adding(seconds: .random(in: -400_000...400_000, using: &generator))
          let day = transaction.today
          _ = try transaction.add("\(number)") { task in
            let days = Int.random(in: -4...4, using: &generator)
            switch number % 3 {
            case 0: task.dueDate = instant
            case 1: task.dueDay = try day.adding(days: days)
            default: task.scheduledDate = try day.adding(days: days)
            }
            if generator.oneIn(4) { task.state = .completed }
          }
        }
      }
      var observed = try store.read { try ObservedView(.today, in: $0) }
      var tasks = Array(observed.tasks)
      for _ in 0..<40 {
        clock.now = start.adding(seconds: .random(in: -300_000...300_000, using: &generator))
        let difference = try store.read { try observed.follow($0) }
        tasks = difference.applied(to: tasks)
        let calendar = store.configuration.calendar
        let today = CalendarDay(containing: clock.now, in: calendar)
        let fresh = try store.read { try $0.view(.today).tasks }
        #expect(tasks == fresh, "\(clock.now)")
        let all = try store.read { try $0.view(.all).tasks }
        let model = all.filter { $0.scheduledDate == today || $0.dueDay(in: calendar.timeZone) == today }
        #expect(fresh == model.sorted(by: TaskModel.viewOrder), "\(clock.now)")
      }
    }
  }

  /// The number of planned tasks in the statistics is that by contract, whatever the view shows.
  @Test func theStatisticsCountPlannedTasksAlone() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        try Self.add("planned", planned: 0, in: &transaction)
        try Self.add("due", due: 0, in: &transaction)
      }
      #expect(try store.read { try $0.statistics().open.scheduledToday } == 1)
      #expect(try Self.titles(store).count == 2)
    }
  }
}
