import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Queries of random stores, compared with a look at every task.
struct QueryTests {
  private static let zones = ["Europe/Istanbul", "America/St_Johns", "Pacific/Apia", "UTC"]

  /// A store with random tasks at a moment.
  ///
  /// In Newfoundland clocks went back over midnight in 2006.
  private func withRandomStore(
    seed: UInt64, count: Int, _ body: (TaskStore, TestClock, inout RandomTasks, [TaskItem]) throws -> Void
  ) throws {
    let instants = ["2026-11-21T12:00:00Z", "2006-10-29T02:40:00Z", "2011-12-30T09:00:00Z"]
    let clock = TestClock(try Timestamp(iso8601: instants[Int(seed % 3)]))
    var configuration = TaskStore.Configuration.testing()
    configuration.now = { clock.now }
    configuration.calendar.timeZone = try #require(TimeZone(identifier: Self.zones[Int(seed / 3 % 4)]))
    let calendar = configuration.calendar
    try withStore(configuration) { store in
      let lists = try store.writeAndWait { transaction in
        [
          try transaction.addList(name: "Work"), try transaction.addList(name: "Home"),
          try transaction.addList(name: "work"),
        ]
      }
      var random = RandomTasks(seed: seed, now: clock.now, calendar: calendar, lists: lists)
      let tasks = random.tasks(count: count)
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      try body(store, clock, &random, tasks)
    }
  }

  /// The cost of a plan once overflowed.
  @Test(arguments: [nil, Int.max])
  func aQueryWithoutALimitFindsAll(limit: Int?) throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        for number in 0..<20 {
          let task = try transaction.add("task \(number)")
          try transaction.update(task.id) { $0.tags = ["home"] }
        }
      }
      for order in [TaskOrder.place, .created, .due] {
        let page = try store.read { try $0.tasks(TaskQuery(.tag("home"), by: order, limit: limit)) }
        #expect(page.tasks.count == 20 && page.next == nil)
      }
    }
  }

  @Test(arguments: 0..<TestSize.pick(quick: 2, long: 6))
  func everyQueryFindsWhatALookAtEveryTaskFinds(round: Int) throws {
    let seed = SeededGenerator.chooseSeed(for: "everyQueryFindsWhatALookAtEveryTaskFinds(\(round))") &+ UInt64(round)
    var filters = RandomFilter(seed: seed &+ 1)
    try withRandomStore(seed: seed, count: 150) { store, _, random, tasks in
      var indexes: Set<String> = []
      for number in 0..<TestSize.pick(quick: 100, long: 200) {
        let filter = filters.filter(of: &random, tasks, depth: number % 4)
        let key = random.pick(TaskOrder.Key.allCases)
        let order = TaskOrder(key, isReversed: random.generator.oneIn(2))
        let limit = random.pick([1, 3, 10, 1_000])
        var weights = NextWeights()
        if random.generator.oneIn(2) {
          for path in [\NextWeights.started, \.overdue, \.today, \.left, \.free, \.later, \.due, \.priority] {
            weights[keyPath: path] = random.pick([0, 10, 50, 100])
          }
        }
        let chosen = weights
        try store.read { snapshot in
          snapshot.nextWeights = chosen
          let stored = try snapshot.view(.all).tasks
          let model = QueryModel(
            stored, lists: try snapshot.lists(), now: snapshot.now, calendar: snapshot.calendar, weights: chosen)
          let expected = model.ids(filter, by: order)
          let found = try snapshot.view(.matching(filter, by: order)).tasks.map(\.id)
          #expect(found == expected, "\(filter) by \(order.text)")
          #expect(try snapshot.count(filter) == expected.count, "\(filter)")
          #expect(
            try pages(of: filter, by: order, limit: limit, in: snapshot) == expected,
            "\(filter) by \(order.text) \(limit)")
          let explanation = try snapshot.explain(TaskQuery(filter, by: order, limit: limit))
          #expect(explanation.returnedCount == min(limit, expected.count))
          indexes.insert(explanation.index)
        }
      }
      #expect(indexes.count > 5, "\(indexes)")
    }
  }

  /// The task at which the page before ended is deleted, or moves, before the next page.
  @Test(arguments: [false, true], [TaskOrder.place, .created, TaskOrder(.created, isReversed: true), .completed])
  func aQueryGoesOnAfterATaskThatIsNotThereAnyMore(isMoved: Bool, order: TaskOrder) throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        for number in 0..<12 {
          let task = try transaction.add("task \(number)")
          try transaction.update(task.id) { $0.tags = ["home"] }
          if number % 3 == 1 { try transaction.start(task.id) }
          if number % 3 == 2 || order == .completed { try transaction.complete(task.id) }
        }
      }
      let filter = order == .completed ? TaskFilter.is(.done) : order == .place ? .tag("home") : .all
      var query = TaskQuery(filter, by: order, limit: 3)
      var rest = try store.read { try $0.tasks(TaskQuery(filter, by: order)).tasks.map(\.id) }
      repeat {
        let page = try store.read { try $0.tasks(query) }
        #expect(page.tasks.map(\.id) == Array(rest.prefix(3)), "\(order.text)")
        rest.removeFirst(page.tasks.count)
        query.position = page.next
        guard let last = page.tasks.last?.id else { break }
        try store.writeAndWait { transaction in
          if isMoved {
            // Out of the filter, unless that is all tasks.
            try transaction.update(last) { $0.tags = [] }
            if order == .completed { try transaction.reopen(last) }
          } else {
            try transaction.delete(last)
          }
        }
      } while query.position != nil
      #expect(rest.isEmpty)
    }
  }

  private func pages(
    of filter: TaskFilter, by order: TaskOrder, limit: Int, in snapshot: borrowing StoreReadTransaction
  ) throws -> [UUID] {
    var query = TaskQuery(filter, by: order, limit: limit)
    var ids: [UUID] = []
    repeat {
      let page = try snapshot.tasks(query)
      #expect(page.tasks.count <= limit && (page.next == nil || page.tasks.count == limit))
      ids += page.tasks.map(\.id)
      // As of another process.
      query.position = try page.next.map { try ViewPosition(text: $0.text) }
    } while query.position != nil && ids.count <= 10_000
    return ids
  }

  @Test func observationsFollowChangesAndTime() async throws {
    let seed = SeededGenerator.chooseSeed(for: "observationsFollowChangesAndTime")
    var filters = RandomFilter(seed: seed &+ 1)
    try withRandomStore(seed: seed, count: 60) { store, clock, random, tasks in
      for number in 0..<60 {
        let filter = filters.filter(of: &random, tasks, depth: number % 3)
        let view = TaskView.matching(filter, by: TaskOrder(random.pick(TaskOrder.Key.allCases)))
        var rows: [TaskItem] = []
        let begun: ObservedView? = try store.read { snapshot in
          // A filter may name a list that has another name now.
          guard let result = try Self.result(view, in: snapshot) else { return nil }
          rows = result.tasks
          return try ObservedView(result, in: snapshot)
        }
        guard var observed = begun else { continue }
        for _ in 0..<8 {
          try change(store, &random)
          clock.now = clock.now.adding(seconds: random.pick([0, 1, 60, 7_200, 40_000]))
          let step: (difference: ViewDifference, expected: [TaskItem])? = try store.read { snapshot in
            let expected = try Self.result(view, in: snapshot)?.tasks
            do {
              return (try observed.follow(snapshot), expected ?? [])
            } catch let error as TallyError where error.code == .listNotFound {
              // The tasks have gone by now, and the observation ends.
              #expect(expected == nil && rows.isEmpty, "\(view.text)")
              return nil
            }
          }
          guard let (difference, expected) = step else { break }
          difference.apply(to: &rows)
          #expect(rows == expected, "\(view.text)")
        }
      }
    }
  }

  /// What a view shows; `nil` if it names a list that does not exist.
  private static func result(
    _ view: TaskView, in snapshot: borrowing StoreReadTransaction
  ) throws -> ViewResult? {
    do {
      return try snapshot.view(view)
    } catch let error as TallyError where error.code == .listNotFound {
      return nil
    }
  }

  /// A task comes, goes or changes, or a list gets another name.
  private func change(_ store: TaskStore, _ random: inout RandomTasks) throws {
    let stored = try store.read { try $0.view(.all).tasks }
    let made = random.task(parents: [])
    let target = random.pick(stored.isEmpty ? [made] : stored)
    let kind = stored.isEmpty ? 0 : Int.random(in: 0..<4, using: &random.generator)
    let name = random.pick(["Home", "Elsewhere"])
    let list = random.lists[1].id
    try store.writeAndWait { transaction in
      switch kind {
      case 0: try transaction.insert(contentsOf: [made])
      case 1: try transaction.delete(target.id)
      case 2 where target.parentID == nil && !stored.contains { $0.parentID == target.id }:
        try transaction.update(target.id) { task in
          (task.title, task.tags, task.priority, task.scheduledDate) = (
            made.title, made.tags, made.priority, made.scheduledDate
          )
          (task.dueDate, task.reminderDate, task.attributes) = (made.dueDate, made.reminderDate, made.attributes)
        }
      default: try transaction.renameList(list, to: name)
      }
    }
  }

  @Test func thePlannerTakesTheSmallestIndex() throws {
    try withRandomStore(seed: 3, count: 400) { store, _, _, _ in
      let expected = [
        ("#home is:open", TaskOrder.place, 10, "byTag", false), ("is:any", .place, 10, "tasks", true),
        ("is:any", .created, 10, "byCreated", false), ("day=today", .place, 10, "byDay", false),
        ("list:Work", .place, 10, "byPlace", false), ("is:active", .place, 10, "byActive", false),
        ("is:done", .completed, 10, "completions", false), ("is:done", .completed.reversed, 10, "completions", false),
        ("is:subtask #home", .due, 10, "byParent", true), ("title~tax", .updated, 10, "tasks", true),
        ("reminder<now-8d is:open", .due, 10, "byReminder", true), ("due=today", .due, 10, "byDue", true),
      ]
      for (text, order, limit, index, isSorted) in expected {
        let query = TaskQuery(try TaskFilter(text: text), by: order, limit: limit)
        let explanation = try store.read { snapshot in
          // A task that is left out counts as examined.
          snapshot.showsWaiting = true
          return try snapshot.explain(query)
        }
        #expect(explanation.index == index, "\(text): \(explanation)")
        #expect(explanation.isSorted == isSorted, "\(text): \(explanation)")
        if !isSorted { #expect(explanation.examinedCount <= limit + 1, "\(text): \(explanation)") }
      }
    }
  }

  /// The column is that of the name in the text, in characters.
  @Test(arguments: [
    ("list:Nope", 6), ("#home or -list:\"No pe\"", 16), ("é👩‍👩‍👧 list = Nope", 11),
    ("list!=Nope list:Work", 7),
  ])
  func aListThatDoesNotExistIsAnErrorWithItsColumn(text: String, column: Int) throws {
    try withRandomStore(seed: 4, count: 20) { store, _, _, _ in
      let filter = try TaskFilter(text: text)
      let error = #expect(throws: TallyError.self) { try store.read { try $0.count(filter) } }
      #expect(error?.code == .listNotFound && error?.position == TextPosition(line: 1, column: column))
      // Filters are equal wherever a name stands.
      #expect(try TaskFilter(text: "  " + text) == filter)
    }
  }

  @Test func aPositionOfAnotherQueryIsRefused() throws {
    try withRandomStore(seed: 4, count: 20) { store, _, _, _ in
      try store.read { snapshot in
        let page = try snapshot.tasks(TaskQuery(.all, by: .due, limit: 2))
        #expect(throws: TallyError.self) { try snapshot.tasks(TaskQuery(.all, by: .place, limit: 2, after: page.next)) }
        #expect(throws: TallyError.self) { try snapshot.tasks(TaskQuery(.all, limit: 0)) }
        expect(.valueOutOfRange) { _ = try snapshot.explain(TaskQuery(.all, limit: 0)) }
        expect(.valueOutOfRange) { _ = try snapshot.explain(TaskQuery(.all, by: .place, after: page.next)) }
        #expect(throws: TallyError.self) { try snapshot.tasks(TaskQuery(.list("Gone"))) }
        #expect(throws: TallyError.self) { try snapshot.tasks(TaskQuery(.tag(""))) }
      }
    }
  }

  @Test(arguments: ["#a/b or \"x / y\"", "due<=today", "is:any"])
  func aQueryAsAViewIsReadFromItsText(filter: String) throws {
    for key in TaskOrder.Key.allCases {
      for order in [TaskOrder(key), TaskOrder(key, isReversed: true)] {
        let view = TaskView.matching(try TaskFilter(text: filter), by: order)
        #expect(try TaskView(text: view.text) == view)
      }
    }
    #expect(try TaskView(text: "next") == .next)
    for text in ["matching", "matching/due", "matching/size/x", "matching/next:reversed/x", "matching/due/due<"] {
      #expect(throws: TallyError.self) { try TaskView(text: text) }
    }
  }

  @Test func weightsAreReadAsTheyAreWritten() {
    var weights = NextWeights()
    #expect(weights.text == "50,40,30,10,10,0,2,1" && NextWeights(text: weights.text) == weights)
    (weights.started, weights.later, weights.priority) = (0, 100, 99)
    #expect(NextWeights(text: weights.text) == weights)
    for text in [
      "", "1,2,3", "5,4,3,1,1,0,2,101", "5,4,3,1,1,0,2,-1", "5,4,3,1,1,0,2,", "5,4,3,1,1,0,2,1,1", "a,1,1,1,1,1,1,1",
    ] {
      #expect(NextWeights(text: text) == nil, "\(text)")
    }
  }

  /// Noon of 2026-11-21 in UTC.
  @Test func nextPutsStartedThenLateThenTodaysThenFreeTasksFirst() throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-11-21T12:00:00Z"))
    var configuration = TaskStore.Configuration.testing(clock: clock, timeZone: "UTC")
    configuration.nextWeights.left = 20
    try withStore(configuration) { store in
      try store.writeAndWait { transaction in
        let today = transaction.today
        func day(_ days: Int) throws -> CalendarDay { try today.adding(days: days) }
        try transaction.add("rest")
        try transaction.add("important") { $0.priority = .high }
        try transaction.add("due in a week") { $0.dueDay = try day(7) }
        try transaction.add("due tomorrow, important") { ($0.dueDay, $0.priority) = (try day(1), .high) }
        try transaction.add("due tomorrow") { $0.dueDay = try day(1) }
        try transaction.add("planned for tomorrow, important") { ($0.scheduledDate, $0.priority) = (try day(1), .high) }
        try transaction.add("planned for later, due soon") { ($0.scheduledDate, $0.dueDay) = (try day(2), try day(3)) }
        try transaction.add("planned for later, due today") { ($0.scheduledDate, $0.dueDay) = (try day(2), today) }
        try transaction.add("planned today") { $0.scheduledDate = today }
        try transaction.add("due in a minute") { $0.dueDate = clock.now.adding(seconds: 60) }
        try transaction.add("left from yesterday") { $0.scheduledDate = try day(-1) }
        try transaction.add("late since yesterday") { $0.dueDay = try day(-1) }
        try transaction.add("late since a second") { $0.dueDate = clock.now.adding(seconds: -1) }
        try transaction.add("late by its reminder") { $0.reminderDate = clock.now.adding(seconds: -200_000) }
        try transaction.add("started") { $0.state = .active }
        try transaction.add("done") { $0.state = .completed }
      }
      let expected = [
        "started", "late by its reminder", "late since yesterday", "late since a second", "due in a minute",
        "planned for later, due today", "planned today", "left from yesterday", "due tomorrow, important",
        "due tomorrow", "due in a week", "important", "rest", "planned for later, due soon",
        "planned for tomorrow, important",
      ]
      #expect(try store.read { try $0.view(.next).tasks.map(\.title) } == expected)
      try store.read { transaction in
        transaction.nextWeights.priority = 3
        let titles = try transaction.view(.next).tasks.map(\.title)
        #expect(titles[8...10] == ["due tomorrow, important", "important", "due tomorrow"])
      }
    }
  }
}
