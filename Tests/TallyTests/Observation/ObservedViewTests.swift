import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// A view followed through its changes equals the view read again, after each of them.
@Suite struct ObservedViewTests {
  /// `TALLY_CHANGES` sets the number; `make test-long` takes 100,000.
  private static let changeCount =
    ProcessInfo.processInfo.environment["TALLY_CHANGES"].flatMap { Int($0) } ?? 600

  /// The instants to which the clock is set before some of the changes.
  private static let instants = [
    100: "2011-11-06T01:00:00Z", 110: "2011-11-06T02:30:59Z", 115: "2011-11-06T03:30:00Z", 120: "2011-11-06T04:00:00Z",
    125: "2011-11-05T01:00:00Z",
  ]

  @Test func everyViewBuiltFromDifferencesEqualsTheViewReadAnew() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "ObservedViewTests"))
    // Newfoundland's clock went back over midnight that night.
    let clock = TestClock(try Timestamp(iso8601: "2011-11-05T21:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "America/St_Johns")) { store in
      let day = CalendarDay(containing: clock.now, in: store.configuration.calendar)
      let interval = clock.now.adding(seconds: -200_000)..<clock.now.adding(seconds: 100_000)
      var followers = try TaskModel.views(dueOn: day, completedIn: interval).map { try Follower($0, in: store) }
      var model = TaskModel()
      var times = Times(store)
      for number in 0..<Self.changeCount {
        // Whatever the random changes do to the clock, it passes that night, and is set back, at least once.
        if let instant = Self.instants[number] { clock.now = try Timestamp(iso8601: instant) }
        try change(store, &model, clock, using: &generator)
        times.note(store)
        try followList(model.orderedLists.first?.id, in: store, &followers)
        for index in followers.indices { try followers[index].follow(store) }
      }
      #expect(followers.allSatisfy { $0.observed.counts.viewReadCount == 1 })
      #expect(times.midnightCount > 0 && times.backwardCount > 0 && times.offsetChangeCount > 0)
      print("\(Self.changeCount) changes of 11 views followed and compared; \(times)")
    }
  }

  /// Follows a list from now on, instead of the previous one.
  private func followList(_ id: UUID?, in store: TaskStore, _ followers: inout [Follower]) throws {
    guard let id, followers.last?.view != .list(id) else { return }
    if followers.last?.isOfList == true { followers.removeLast() }
    followers.append(try Follower(.list(id), in: store))
  }

  /// The events of the clock so far.
  private struct Times: CustomStringConvertible {
    private var last: (now: Timestamp, day: CalendarDay, offset: Int)
    private(set) var midnightCount = 0
    private(set) var backwardCount = 0
    private(set) var offsetChangeCount = 0

    init(_ store: TaskStore) {
      last = Self.look(store)
    }

    mutating func note(_ store: TaskStore) {
      let look = Self.look(store)
      if look.day != last.day { midnightCount += 1 }
      if look.now < last.now { backwardCount += 1 }
      if look.offset != last.offset { offsetChangeCount += 1 }
      last = look
    }

    private static func look(_ store: TaskStore) -> (now: Timestamp, day: CalendarDay, offset: Int) {
      let (now, calendar) = (store.configuration.now(), store.configuration.calendar)
      let date = Date(timeIntervalSince1970: Double(now.microsecondsSince1970) / 1_000_000)
      return (now, CalendarDay(containing: now, in: calendar), calendar.timeZone.secondsFromGMT(for: date))
    }

    var description: String {
      "\(midnightCount) midnights, \(offsetChangeCount) changes of offset, \(backwardCount) clocks set back"
    }
  }

  @Test func aListIsFollowedToItsEnd() throws {
    try withStore { store in
      let list = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home").id
        for title in ["a", "b"] { _ = try transaction.add(title, to: .list(list)) }
        return list
      }
      var follower = try Follower(.list(list), in: store)
      try store.writeAndWait { _ = try $0.add("c", to: .list(list)) }
      try follower.follow(store)
      #expect(follower.tasks.map(\.title) == ["a", "b", "c"])
      try store.writeAndWait { _ = try $0.deleteList(list) }
      let difference = try store.read { try follower.observed.follow($0) }
      #expect(difference.removals == [0, 1, 2])
      #expect(follower.observed.counts.viewReadCount == 1)
    }
  }

  @Test func aChangeTooLargeForTheHistoryIsFollowedLikeAnyOther() throws {
    try withStore { store in
      var follower = try Follower(.inbox, in: store)
      try store.writeAndWait { _ = try $0.add(String(repeating: "x", count: 9 << 20), to: .inbox) }
      let id = try #require(try store.read { try $0.view(.inbox).tasks.first?.id })
      try store.writeAndWait { _ = try $0.delete(id) }
      try store.writeAndWait { _ = try $0.add("small", to: .inbox) }
      try follower.follow(store)
      try store.writeAndWait { _ = try $0.add("smaller", to: .inbox) }
      try follower.follow(store)
      #expect(follower.tasks.map(\.title) == ["small", "smaller"])
      #expect(follower.observed.counts.viewReadCount == 1)
    }
  }

  /// Days begin at other instants there, although nothing has changed.
  @Test func aViewIsReadAgainInAnotherTimeZone() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      var follower = try withStore(at: path) { store in
        let lateEvening = store.configuration.now().adding(seconds: 11 * 3_600)
        try store.writeAndWait { _ = try $0.add(TaskDraft(title: "late", dueDate: lateEvening)) }
        return try Follower(.due(on: try store.read { $0.today }), in: store)
      }
      #expect(follower.tasks.map(\.title) == ["late"])
      try withStore(at: path, .testing(timeZone: "Asia/Tokyo")) { store in
        #expect(try follower.follow(store).removals == [0])
        try follower.follow(store)
      }
      #expect(follower.observed.counts.viewReadCount == 2)
    }
  }

  @Test func severalCommitsAreOneDifference() throws {
    try withStore { store in
      var follower = try Follower(.inbox, in: store)
      for number in 0..<100 { try store.writeAndWait { _ = try $0.add("\(number)", to: .inbox) } }
      let first = try #require(try store.read { try $0.view(.inbox).tasks.first?.id })
      let last = try #require(try store.read { try $0.view(.inbox).tasks.last?.id })
      try store.writeAndWait { _ = try $0.delete(first) }
      try follower.follow(store)
      try store.writeAndWait { transaction in
        let second = try transaction.view(.inbox).tasks[1].id
        _ = try transaction.move(last, before: second)
        _ = try transaction.update(second) { $0.title = "changed" }
      }
      let difference = try follower.follow(store)
      #expect(difference.moves.map(\.origin) == [98] && difference.moves.map(\.position) == [1])
      #expect(difference.updates.map(\.position) == [2])
      #expect(difference.insertions.isEmpty && difference.removals.isEmpty)
    }
  }

  /// A change, an undo, or time that passes: a little, past midnight, or backwards.
  private func change(
    _ store: TaskStore, _ model: inout TaskModel, _ clock: TestClock, using generator: inout SeededGenerator
  ) throws {
    let steps: [Int64] = [0, 1, 1, 600, 3_600, generator.oneIn(10) ? 40_000 : 5, generator.oneIn(20) ? -90_000 : 2]
    clock.now = clock.now.adding(seconds: steps.randomElement(using: &generator) ?? 1)
    if generator.oneIn(12) {
      _ = try? store.writeAndWait { try $0.undo() }
      model = try TaskModel(of: store)
      return
    }
    let calendar = store.configuration.calendar
    let change = RandomChange.next(in: model, now: clock.now, calendar: calendar, using: &generator)
    _ = model.apply(change, now: clock.now, timeZone: calendar.timeZone)
    try? store.writeAndWait { try change.apply(to: &$0) }
  }
}

/// An observed view, and the tasks that result from its differences.
private struct Follower {
  let view: TaskView
  var observed: ObservedView
  var tasks: [TaskItem]
  /// The tasks by section, as a list on a screen would follow them.
  var sections: [ViewSection]

  init(_ view: TaskView, in store: TaskStore) throws {
    self.view = view
    let (observed, result) = try store.read { transaction in
      (try ObservedView(view, in: transaction), try transaction.view(view))
    }
    (self.observed, tasks, sections) = (observed, result.tasks, result.sections)
  }

  var isOfList: Bool { if case .list = view { true } else { false } }

  @discardableResult
  mutating func follow(_ store: TaskStore, sourceLocation: SourceLocation = #_sourceLocation) throws -> ViewDifference {
    let (difference, fresh) = try store.read { transaction in
      (try observed.follow(transaction), try read(transaction))
    }
    let changes = difference.inSections(from: sections)
    let followed = sections.applying(changes)
    tasks = difference.applied(to: tasks)
    sections = changes.sections
    let shown = fresh.flatMap(\.tasks)
    if !tasks.elementsEqual(shown, by: { $0.isIdentical(to: $1) }) {
      let difference = "\(tasks.map(\.title)) instead of \(shown.map(\.title))"
      Issue.record("\(view.name): \(difference)", sourceLocation: sourceLocation)
      tasks = shown
    }
    let (held, position) = (observed.tasks, try store.read { try $0.position })
    #expect(
      held.elementsEqual(shown) { $0.isIdentical(to: $1) } && observed.count == shown.count
        && observed.position == position, "\(view.name)", sourceLocation: sourceLocation)
    #expect(sections == fresh && followed == fresh, "\(view.name)", sourceLocation: sourceLocation)
    sections = fresh
    return difference
  }

  private func read(_ transaction: borrowing StoreReadTransaction) throws -> [ViewSection] {
    do {
      return try transaction.view(view).sections
    } catch let error as TallyError where error.code == .listNotFound {
      // A deleted list shows nothing.
      return [ViewSection(day: nil, tasks: [])]
    }
  }
}

extension TaskModel {
  fileprivate init(of store: TaskStore) throws {
    self.init()
    try store.read { transaction in
      for task in try transaction.view(.all).tasks { tasks[task.id] = task }
      for list in try transaction.lists() { lists[list.id] = list }
    }
  }
}

extension [ViewSection] {
  /// The sections as a list on a screen changes them, place by place.
  fileprivate func applying(_ changes: SectionedDifference) -> [ViewSection] {
    var rows = map { section in (day: section.day, tasks: section.tasks) }
    let leaving = changes.removals + changes.moves.map(\.origin)
    for place in leaving.sorted(by: { ($0.section, $0.row) > ($1.section, $1.row) }) {
      rows[place.section].tasks.remove(at: place.row)
    }
    for section in changes.removedSections.reversed() { rows.remove(at: section) }
    for section in changes.insertedSections { rows.insert((changes.sections[section].day, []), at: section) }
    let arrivals = changes.insertions + changes.moves.map(\.place)
    for place in arrivals.sorted(by: { ($0.section, $0.row) < ($1.section, $1.row) }) {
      rows[place.section].tasks.insert(changes.sections[place.section].tasks[place.row], at: place.row)
    }
    for place in changes.updates {
      rows[place.section].tasks[place.row] = changes.sections[place.section].tasks[place.row]
    }
    return rows.map { ViewSection(day: $0.day, tasks: $0.tasks) }
  }
}
