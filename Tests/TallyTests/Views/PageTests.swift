import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// A page begins after the last task of the previous one, whatever has been added and removed meanwhile.
@Suite struct PageTests {
  @Test(arguments: [1, 2, 3, 7, 100])
  func pagesAddUpToTheView(limit: Int) throws {
    try withStore { store in
      let list = try fill(store)
      let day = try store.read { try $0.today.adding(days: 1) }
      for view in views(of: list, dueOn: day) {
        var found: [TaskItem] = []
        var position: ViewPosition?
        repeat {
          let page = try store.read { try $0.page(of: view, after: position, limit: limit) }
          #expect(page.tasks.count == limit || page.next == nil, "\(view.name)")
          #expect(!page.tasks.isEmpty || found.isEmpty)
          found += page.tasks
          position = page.next
        } while position != nil
        #expect(found == (try store.read { try $0.view(view).tasks }), "\(view.name)")
        #expect(found.count >= 6, "\(view.name)")
      }
    }
  }

  @Test func tasksThatComeAndGoBetweenPagesNeitherRepeatNorHideOthers() throws {
    try withStore { store in
      let tasks = try store.writeAndWait { transaction in try (0..<9).map { try transaction.add("\($0)", to: .inbox) } }
      let first = try store.read { try $0.page(of: .inbox, limit: 3) }
      #expect(first.tasks.map(\.title) == ["0", "1", "2"])
      try store.writeAndWait { transaction in
        try transaction.delete(tasks[2].id)
        try transaction.delete(tasks[4].id)
        try transaction.move(tasks[8].id, before: tasks[3].id)
        let early = try transaction.add("early", to: .inbox)
        try transaction.move(early.id, before: tasks[0].id)
      }
      let second = try store.read { try $0.page(of: .inbox, after: first.next, limit: 3) }
      #expect(second.tasks.map(\.title) == ["8", "3", "5"])
      let third = try store.read { try $0.page(of: .inbox, after: second.next, limit: 3) }
      #expect(third.tasks.map(\.title) == ["6", "7"])
      #expect(third.next == nil)
    }
  }

  /// The bug: a position of the inbox, used in a list, showed the inbox's tasks there.
  @Test func aPositionOfAnotherViewIsRefused() throws {
    try withStore { store in
      let list = try fill(store)
      let other = try store.writeAndWait { try $0.addList(name: "Other") }
      let day = try store.read { try $0.today.adding(days: 1) }
      let interval = Timestamp.earliest..<Timestamp.latest
      let all = views(of: list, dueOn: day) + [.list(other.id), .due(on: .earliest), .completed(interval)]
      for view in all {
        guard let position = try store.read({ try $0.page(of: view, limit: 1).next }) else { continue }
        for stranger in all where stranger != view {
          let code = code { _ = try store.read { try $0.page(of: stranger, after: position, limit: 1) } }
          #expect(code == .valueOutOfRange, "\(view.name) in \(stranger.name)")
        }
      }
    }
  }

  /// A position may come from outside, with any bytes.
  @Test func aRangeBeforeThatOfAPositionIsOverWhateverItsKeySays() throws {
    try withStore { store in
      let done = try store.writeAndWait { transaction in
        _ = try transaction.add("open", to: .today)
        return try transaction.complete(try transaction.add("done", to: .today).id).id
      }
      try store.read { transaction in
        // The number of the completed tasks, and a key before all open ones.
        let start = DayKey.start(of: transaction.today.dayNumber, isCompleted: false).encodedBytes
        let position = try #require(ViewKey(bytes: [1] + start, prefixByteCount: 1))
        var found: [UUID] = []
        _ = try transaction.scan(.today, after: position) { id, _ in
          found.append(id)
          return true
        }
        #expect(found == [done])
      }
    }
  }

  @Test(arguments: [0, -1, Int.min])
  func aPageOfNothingIsRefused(limit: Int) throws {
    try withStore { (store) throws in
      let code = code { _ = try store.read { try $0.page(of: .all, limit: limit) } }
      #expect(code == .valueOutOfRange)
      #expect(try store.read { try $0.page(of: .all, limit: .max) }.next == nil)
    }
  }

  /// The bug: after midnight the next page of Upcoming continued with a day that had become today.
  @Test func aPageAfterMidnightDoesNotShowTodayAsUpcoming() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let today = try store.read { $0.today }
      try store.writeAndWait { transaction in
        for offset in 1...3 {
          for number in 0..<3 {
            _ = try transaction.add(
              TaskDraft(title: "\(offset).\(number)", scheduledDate: try today.adding(days: offset)))
          }
        }
      }
      let first = try store.read { try $0.page(of: .upcoming, limit: 2) }
      clock.now = clock.now.adding(seconds: 86_400)
      let second = try store.read { try $0.page(of: .upcoming, after: first.next, limit: 100) }
      #expect(second.tasks.map(\.title) == ["2.0", "2.1", "2.2", "3.0", "3.1", "3.2"])
    }
  }

  private func views(of list: TaskList, dueOn day: CalendarDay) -> [TaskView] {
    TaskModel.views(dueOn: day) + [.list(list.id)]
  }

  /// Tasks in every state, place and direction of time.
  private func fill(_ store: TaskStore) throws -> TaskList {
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "Home")
      for state in TaskState.allCases {
        for number in 0..<4 {
          for offset in [nil, -2, -1, 0, 1, 2] as [Int?] {
            for listID in [nil, list.id] {
              let due = transaction.now.adding(seconds: Int64(offset ?? 0) * 86_400)
              let draft = TaskDraft(
                title: "\(number)", scheduledDate: try offset.map { try transaction.today.adding(days: $0) },
                dueDate: due,
                listID: listID)
              try transaction.setState(state, of: try transaction.add(draft).id)
            }
          }
        }
      }
      for number in 0..<7 { try transaction.add("waits \(number)") { $0.start = .someday } }
      return list
    }
  }
}
