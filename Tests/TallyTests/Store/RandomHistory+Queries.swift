import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

extension RandomHistory {
  /// Compares 200 random filters and 200 random searches with a look at every task.
  func compareQueries(using generator: inout SeededGenerator) throws {
    try compareFilters(seed: generator.next())
    try compareReminders(using: &generator)
    var queries = 0
    let tasks = Array(model.tasks.values)
    if generator.oneIn(2) { try store.updateSearchIndex() }
    while queries < 200 {
      let query = SearchQuery(Self.words(using: &generator), generator.oneIn(4) ? .substrings : .words)
      guard !query.isEmpty else { continue }
      queries += 1
      let expected = SearchTests.found(query, in: tasks)
      #expect(try store.search(query).map(\.task) == expected, "\(query.text.debugDescription)")
      #expect(try store.search(query, limit: 3).map(\.task) == Array(expected.prefix(3)))
    }
  }

  private func compareFilters(seed: UInt64) throws {
    var filters = RandomFilter(seed: seed)
    // No text of a filter has a NUL.
    let lists = model.orderedLists.filter { !$0.name.contains("\0") }
    guard !lists.isEmpty, !model.tasks.isEmpty else { return }
    let stored = Array(model.tasks.values)
    var random = RandomTasks(seed: seed, now: clock.now, calendar: calendar, lists: lists)
    let expected = QueryModel(stored, lists: model.orderedLists, now: clock.now, calendar: calendar)
    let free: TaskFilter = .is(.open) && !.is(.blocked)
    #expect(try store.read { try $0.view(.next).tasks.map(\.id) } == expected.ids(free, by: .next))
    var count = 0
    while count < 200 {
      let filter = filters.filter(of: &random, stored, depth: count % 4)
      let order = TaskOrder(random.pick(TaskOrder.Key.allCases), isReversed: random.generator.oneIn(2))
      let ids: [UUID], found: Int
      do {
        (ids, found) = try store.read { snapshot in
          (try snapshot.view(.matching(filter, by: order)).tasks.map(\.id), try snapshot.count(filter))
        }
      } catch let error as TallyError where error.code == .listNotFound && filter.text.contains("list:") {
        continue
      }
      count += 1
      let wanted = expected.ids(filter, by: order)
      #expect(ids == wanted, "\(filter) by \(order.text)")
      #expect(found == wanted.count, "\(filter)")
    }
  }

  /// Compares the reminders of open tasks in this zone and in another one, from random instants on.
  private func compareReminders(using generator: inout SeededGenerator) throws {
    for zone in [calendar.timeZone, try #require(TimeZone(identifier: "Pacific/Kiritimati"))] {
      let from = clock.now.adding(seconds: Int64.random(in: -300_000...300_000, using: &generator))
      let end = generator.oneIn(2) ? nil : from.adding(seconds: Int64.random(in: 0...400_000, using: &generator))
      var elsewhere = calendar
      elsewhere.timeZone = zone
      // Elsewhere, wall-clock times of series are other instants; FloatingTimesTests says which.
      let tasks = try store.read { transaction in
        transaction.countDays(in: elsewhere, startingAtMinute: 0)
        return zone == calendar.timeZone ? Array(model.tasks.values) : try transaction.view(.all).tasks
      }
      let all = tasks.filter { !$0.state.isClosed }.flatMap { task in
        Set(ReminderModel.instants(of: task, in: zone).map(\.instant)).map { ScheduledReminder(date: $0, task: task) }
      }
      let expected = all.filter { reminder in
        reminder.date >= from && end.map { reminder.date < $0 } ?? true
      }.sorted()
      let limit = Int.random(in: 0...6, using: &generator)
      let (found, few) = try store.read { transaction in
        transaction.countDays(in: elsewhere, startingAtMinute: 0)
        return (
          try transaction.scheduledReminders(from: from, to: end),
          try transaction.scheduledReminders(from: from, to: end, limit: limit)
        )
      }
      #expect(found == expected, "\(zone.identifier)")
      #expect(few == Array(expected.prefix(limit)), "\(zone.identifier), at most \(limit)")
    }
  }

  /// A part of a title, or words that rarely occur.
  private static func words(using generator: inout SeededGenerator) -> String {
    let title = RandomChange.titles.randomElement(using: &generator) ?? "water"
    let part = title.dropFirst(generator.oneIn(2) ? 0 : Int.random(in: 0...4, using: &generator))
    return generator.oneIn(6)
      ? RandomText.query(using: &generator) : String(part.prefix(Int.random(in: 1...12, using: &generator)))
  }
}
