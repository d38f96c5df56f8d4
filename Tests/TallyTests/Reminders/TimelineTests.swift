import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct TimelineTests {
  /// The reference are the views themselves, read at each second: they share no code with timelines.
  @Test(arguments: ["Europe/Istanbul", "America/St_Johns", "Europe/Berlin"])
  func everyEntryHoldsUntilTheNextOne(zone: String) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "TimelineTests"))
    // In 2011 St. John's went back over midnight, at 00:01, on the 6th of November.
    let clock = TestClock(try Timestamp(iso8601: "2011-11-05T21:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: zone)) { store in
      let start = clock.now
      try fill(store, around: start, using: &generator)
      let entries = try store.read { try $0.timeline(to: start.adding(seconds: 90_000)) }
      #expect(entries.first?.date == start)
      #expect(entries.count > 10)
      var instants = entries.map(\.date) + entries.map { $0.date.adding(microseconds: -1) }.dropFirst()
      instants += (0..<200).map { _ in start.adding(seconds: .random(in: 0...90_000, using: &generator)) }
      for instant in instants {
        clock.now = instant
        let entry = try #require(entries.last { $0.date <= instant })
        let day = CalendarDay(containing: instant, in: store.configuration.calendar)
        let overdue = try store.read { try $0.view(.overdue).tasks }
        let dueToday = try store.read { try $0.view(.due(on: day)).tasks }
        #expect(overdue == entry.overdue, "\(instant)")
        #expect(dueToday == entry.dueToday, "\(instant)")
      }
    }
  }

  @Test func aTimelineOfSomeListsShowsTheirTasksAlone() throws {
    try withStore { store in
      let list = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home").id
        for listID in [list, nil] {
          let due = transaction.now.adding(seconds: 60)
          _ = try transaction.add(TaskDraft(title: "x", dueDate: due, listID: listID))
        }
        return list
      }
      let entries = try store.read { try $0.timeline(for: .lists([list])) }
      #expect(entries.map { $0.dueToday.count } == [1, 1, 0])
      #expect(entries.map { $0.overdue.count } == [0, 1, 1])
      #expect(try store.read { try $0.timeline().map { $0.overdue.count } } == [0, 2, 2])
    }
  }

  @Test func aTimelineThatEndsBeforeItBeginsIsRefused() throws {
    try withStore { store in
      expect(.valueOutOfRange) { _ = try store.read { try $0.timeline(to: .earliest) } }
    }
  }

  private func fill(_ store: TaskStore, around start: Timestamp, using generator: inout SeededGenerator) throws {
    let tasks = (0..<80).map { number in
      let due = start.adding(seconds: .random(in: -100_000...150_000, using: &generator))
      let state = generator.oneIn(4) ? TaskState.completed : .notStarted
      return TaskItem(
        id: generator.uuid(), title: "\(number)", state: state, dueDate: due, sortOrder: Int64(number),
        createdAt: start, completedAt: state == .completed ? OffsetTimestamp(start, in: .gmt) : nil)
    }
    try store.writeAndWait { try $0.insert(contentsOf: tasks) }
  }
}
