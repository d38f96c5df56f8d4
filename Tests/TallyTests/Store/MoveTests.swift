import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// A task goes directly before or after another one, and nothing else moves.
@Suite struct MoveTests {
  @Test(arguments: MovePlace.allCases)
  func aMoveRewritesOneTaskAndKeepsTheOrderOfTheOthers(place: MovePlace) throws {
    try withStore { store in
      let (view, ids) = try place.fill(store, count: 6)
      let before = try store.read { try $0.view(view).tasks }
      try store.writeAndWait { _ = try $0.move(ids[5], before: ids[1]) }
      #expect(try titles(of: view, in: store) == ["0", "5", "1", "2", "3", "4"])
      let after = try store.read { try $0.view(view).tasks }
      #expect(Set(after).subtracting(before).map(\.id) == [ids[5]])
      try store.writeAndWait { _ = try $0.move(ids[5], after: ids[4]) }
      try store.writeAndWait { _ = try $0.move(ids[0], after: ids[1]) }
      try store.writeAndWait { _ = try $0.move(ids[3], before: ids[1]) }
      #expect(try titles(of: view, in: store) == ["3", "1", "0", "2", "4", "5"])
    }
  }

  @Test(arguments: MovePlace.allCases)
  func randomMovesEqualThoseOfAnArray(place: MovePlace) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "moves in \(place)"))
    for areEqual in [false, true] {
      try withStore { store in
        let (view, filled) = try place.fill(store, count: 30, areSortOrdersEqual: areEqual)
        var ids = filled
        for step in 0..<300 {
          // A few favourite spots use up their gaps.
          let (mover, anchor) = (ids[Int.random(in: 0..<30, using: &generator)], ids[generator.oneIn(3) ? 15 : 4])
          let isBefore = generator.oneIn(2)
          try store.writeAndWait { transaction in
            if isBefore {
              try transaction.move(mover, before: anchor)
            } else {
              try transaction.move(mover, after: anchor)
            }
          }
          if mover != anchor {
            ids.removeAll { $0 == mover }
            let index = try #require(ids.firstIndex(of: anchor))
            ids.insert(mover, at: isBefore ? index : index + 1)
          }
          try #require(try store.read { try $0.view(view).tasks.map(\.id) } == ids, "after \(step) moves")
        }

      }
    }
  }

  @Test func thousandsOfInsertionsAtOneSpotKeepTheOrderAndRewriteFew() throws {
    try withStore { store in
      let (view, ids) = try MovePlace.list.fill(store, count: 40)
      var expected = ids
      var renumberingCount = 0
      var changedCounts: [Int] = []
      let listID = try #require(try store.read { try $0.task(ids[0])?.listID })
      let roundCount = TestSize.pick(quick: 5, long: 20)
      for _ in 0..<roundCount {
        let before = try sortOrders(in: view, of: store)
        try store.writeAndWait { transaction in
          for _ in 0..<500 {
            let anchorOrder = try transaction.task(ids[20])?.sortOrder
            let id = try transaction.add("new", to: .list(listID)).id
            try transaction.move(id, after: ids[20])
            expected.insert(id, at: 21)
            if try transaction.task(ids[20])?.sortOrder != anchorOrder { renumberingCount += 1 }
          }
        }
        let after = try sortOrders(in: view, of: store)
        changedCounts.append(before.count { $0.value != after[$0.key] })
      }
      #expect(try store.read { try $0.view(view).tasks.map(\.id) } == expected)
      print(
        "\(roundCount * 500) insertions: \(renumberingCount) renumberings, older tasks changed per 500: \(changedCounts)"
      )
      #expect(renumberingCount < roundCount * 500 / 8)
      #expect(changedCounts.allSatisfy { $0 < 100 }, "of 500 new and thousands of older tasks")
    }
  }

  /// A number that two tasks share would leave no room between them; the last one of those that are spread must not get
  /// that of the next.
  @Test func tasksThatAreSpreadShareNoNumberWithTheNextOne() throws {
    try withStore { store in
      let end = Int64(10) << 20 + Int64(17) << 16
      let (before, after) = ((0...10).map { Int64($0) << 20 }, (0..<12).map { end + Int64($0) << 20 })
      let orders = before + Array(repeating: 11 << 20, count: 17) + after
      let listID = try store.writeAndWait { try $0.addList(name: "List").id }
      let now = store.configuration.now()
      let tasks = orders.enumerated().map { number, order in
        TaskItem(
          title: "\(number)", listID: listID, sortOrder: order, createdAt: now.adding(seconds: Int64(number) - 100))
      }
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      try store.writeAndWait { _ = try $0.move(tasks[39].id, before: tasks[19].id) }
      let moved = try store.read { try $0.view(.list(listID)).tasks }
      #expect(moved.map(\.title) == ((0..<19).map { $0 } + [39] + (19..<39).map { $0 }).map { "\($0)" })
      #expect(zip(moved, moved.dropFirst()).allSatisfy { $0.sortOrder < $1.sortOrder })
    }
  }

  @Test(arguments: [1, -1] as [Int64])
  func atTheEndOfTheRangeThereIsRoomBetweenAndBeyond(sign: Int64) throws {
    try withStore { store in
      let now = store.configuration.now()
      let tasks = (0..<3).map { number in
        TaskItem(
          title: "\(number)", sortOrder: number < 2 ? sign * SortOrder.limit : 0,
          createdAt: now.adding(seconds: Int64(number) - 100))
      }
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      try store.writeAndWait { _ = try $0.move(tasks[2].id, before: tasks[1].id) }
      #expect(try titles(of: .inbox, in: store) == ["0", "2", "1"])
      try store.writeAndWait { _ = try $0.move(tasks[2].id, after: tasks[1].id) }
      #expect(try titles(of: .inbox, in: store) == ["0", "1", "2"])
      try store.writeAndWait { _ = try $0.move(tasks[2].id, before: tasks[0].id) }
      #expect(try titles(of: .inbox, in: store) == ["2", "0", "1"])
      #expect(try store.read { try $0.inconsistencies() } == [])
    }
  }

  @Test(arguments: [1, -1] as [Int64])
  func tasksThatCrowdTheEndOfTheRangeAreSpreadInsideIt(sign: Int64) throws {
    try withStore { store in
      let now = store.configuration.now()
      let tasks = (0..<4).map { number in
        TaskItem(
          title: "\(number)", sortOrder: sign * SortOrder.limit, createdAt: now.adding(seconds: Int64(number) - 100))
      }
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      try store.writeAndWait { _ = try $0.move(tasks[1].id, after: tasks[2].id) }
      let moved = try store.read { try $0.view(.inbox).tasks }
      #expect(moved.map(\.title) == ["0", "2", "1", "3"])
      #expect(moved.allSatisfy { TaskItem.sortOrders.contains($0.sortOrder) })
    }
  }

  @Test func betweenNeighborsIsANumberInsideTheLimitsOrNone() {
    let (limit, spacing) = (SortOrder.limit, SortOrder.spacing)
    #expect(SortOrder.between(limit - spacing, nil) == limit && SortOrder.between(nil, spacing - limit) == -limit)
    #expect(SortOrder.between(limit - 1, nil) == limit && SortOrder.between(nil, 1 - limit) == -limit)
    #expect(SortOrder.between(limit, nil) == nil && SortOrder.between(nil, -limit) == nil)
    // Numbers that only a damaged record has.
    #expect(SortOrder.between(.min, .max) == 0 && SortOrder.between(.min, nil) == spacing - limit)
    #expect(SortOrder.between(.max, nil) == nil && SortOrder.between(nil, .min) == nil)
  }

  /// The bug: such a number overflowed, and ended the process.
  @Test func tasksWithNumbersOutsideTheLimitsAreRenumbered() throws {
    try withStore { store in
      let (view, ids) = try MovePlace.inbox.fill(store, count: 5)
      let orders = [Int64.min, .min, 0, .max, .max]
      try store.writeAndWait { transaction in
        for (id, order) in zip(ids, orders) {
          let old = try transaction.require(TaskRecord.self, id)
          var task = old.item
          task.sortOrder = order
          try transaction.write(RecordChange<TaskRecord>(from: old, to: task, at: transaction.commitSequence))
        }
      }
      try store.writeAndWait { _ = try $0.move(ids[2], before: ids[1]) }
      #expect(try titles(of: view, in: store) == ["0", "2", "1", "3", "4"])
      try store.writeAndWait { _ = try $0.move(ids[0], after: ids[4]) }
      #expect(try titles(of: view, in: store) == ["2", "1", "3", "4", "0"])
    }
  }

  @Test func aRunOfTasksThatAreTooCloseIsSpreadOverTheRoomBesideIt() throws {
    try withStore { store in
      let listID = try store.writeAndWait { try $0.addList(name: "List").id }
      // Far apart, then thirty in a row, of which the ninth gets a neighbour.
      let orders = (-20..<0).map { Int64($0) << 30 } + (0..<30).map { Int64($0) }
      let now = store.configuration.now()
      let tasks = orders.enumerated().map { number, order in
        TaskItem(
          title: "\(number)", listID: listID, sortOrder: order, createdAt: now.adding(seconds: Int64(number) - 100))
      }
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      try store.writeAndWait { _ = try $0.move(tasks[49].id, after: tasks[28].id) }
      let moved = try store.read { try $0.view(.list(listID)).tasks }
      #expect(moved.map(\.title) == ((0...28).map { $0 } + [49] + (29..<49).map { $0 }).map { "\($0)" })
      let untouched = moved.filter { tasks.map(\.sortOrder).contains($0.sortOrder) }.map(\.title)
      // Eight on each side have moved with it.
      #expect(untouched == ((0..<20).map { $0 } + (37..<49).map { $0 }).map { "\($0)" })
    }
  }

  /// Neighbours in the index, but not in their place.
  @Test func tasksOfAnotherListOrStateAreNoNeighbors() throws {
    try withStore { store in
      let lists = try store.writeAndWait { transaction in
        try (0..<3).map { try transaction.addList(name: "\($0)").id }
      }
      let states = [TaskState.notStarted, .active, .completed]
      let now = store.configuration.now()
      let tasks = lists.map { listID in
        states.map { state in
          (0..<2).map { number in
            TaskItem(
              title: "\(number)", state: state, listID: listID, sortOrder: Int64(number) << 20, createdAt: now,
              completedAt: state == .completed ? OffsetTimestamp(now, in: .gmt) : nil)
          }
        }
      }
      try store.writeAndWait { try $0.insert(contentsOf: tasks.joined().joined()) }
      for pair in tasks.joined() { try store.writeAndWait { _ = try $0.move(pair[1].id, before: pair[0].id) } }
      for pair in tasks.joined() { try store.writeAndWait { _ = try $0.move(pair[1].id, after: pair[0].id) } }
      let stored = try tasks.joined().joined().map { task in try store.read { try $0.task(task.id)?.sortOrder } }
      #expect(stored == tasks.joined().joined().map(\.sortOrder))
    }
  }

  @Test func movingATaskToWhereItStandsUsesNoRoomUp() throws {
    try withStore { store in
      let (view, ids) = try MovePlace.list.fill(store, count: 3)
      let before = try sortOrders(in: view, of: store)
      for _ in 0..<100 {
        try store.writeAndWait { transaction in
          try transaction.move(ids[1], before: ids[2])
          try transaction.move(ids[1], after: ids[0])
        }
      }
      #expect(try sortOrders(in: view, of: store) == before)
    }
  }

  @Test func tasksThatShareNoPlaceHaveNoOrder() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        let (home, work) = (try transaction.addList(name: "Home"), try transaction.addList(name: "Work"))
        return [
          try transaction.add("inbox", to: .inbox).id, try transaction.add("today", to: .today).id,
          try transaction.add("tomorrow", to: .upcoming).id, try transaction.add("home", to: .list(home.id)).id,
          try transaction.add(TaskDraft(title: "work", scheduledDate: .earliest, listID: work.id)).id,
        ]
      }
      for mover in ids {
        for anchor in ids where anchor != mover {
          #expect(code { try store.writeAndWait { _ = try $0.move(mover, before: anchor) } } == .differentPlaces)
          #expect(code { try store.writeAndWait { _ = try $0.move(mover, after: anchor) } } == .differentPlaces)
        }
        #expect(
          code { try store.writeAndWait { _ = try $0.move(mover, before: mover) } } == nil, "itself: nothing to do")
        #expect(code { try store.writeAndWait { _ = try $0.move(mover, before: UUID()) } } == .taskNotFound)
      }
    }
  }

  @Test func tasksOfDifferentListsHaveAnOrderOnTheirDay() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        try (0..<4).map { number in
          let list = try transaction.addList(name: "\(number)")
          let draft = TaskDraft(title: "\(number)", scheduledDate: transaction.today, listID: list.id)
          return try transaction.add(draft).id
        }
      }
      try store.writeAndWait { _ = try $0.move(ids[3], before: ids[0]) }
      try store.writeAndWait { _ = try $0.move(ids[1], after: ids[2]) }
      #expect(try titles(of: .today, in: store) == ["3", "0", "2", "1"])
    }
  }

  @Test func aTaskTakesItsSpotWhenItsStateFollows() throws {
    try withStore { store in
      let (view, ids) = try MovePlace.inbox.fill(store, count: 3)
      try store.writeAndWait { transaction in
        try transaction.start(ids[0])
        try transaction.move(ids[0], after: ids[1])
      }
      #expect(try titles(of: view, in: store) == ["0", "1", "2"], "active ones come first")
      try store.writeAndWait { _ = try $0.reopen(ids[0]) }
      #expect(try titles(of: view, in: store) == ["1", "0", "2"])
    }
  }

  @Test func thereIsRoomAtTheEndsOfTheNumbers() throws {
    try withStore { store in
      let limits = TaskItem.sortOrders
      let orders = [limits.lowerBound, limits.lowerBound, limits.lowerBound + 1, limits.upperBound, limits.upperBound]
      let tasks = orders.enumerated().map { number, order in
        TaskItem(title: "\(number)", sortOrder: order, createdAt: Timestamp.earliest.adding(seconds: Int64(number)))
      }
      try store.writeAndWait { transaction in
        try transaction.insert(contentsOf: tasks)
        _ = try transaction.add("last", to: .inbox)
        try transaction.move(tasks[3].id, before: tasks[0].id)
        try transaction.move(tasks[1].id, after: tasks[4].id)
      }
      #expect(try titles(of: .inbox, in: store) == ["3", "0", "2", "4", "1", "last"])
      #expect(try store.read { try $0.view(.inbox).tasks }.allSatisfy { limits.contains($0.sortOrder) })
    }
  }

  @Test func theOrderSurvivesReopening() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in
        let (_, ids) = try MovePlace.inbox.fill(store, count: 4)
        try store.writeAndWait { _ = try $0.move(ids[3], before: ids[0]) }
      }
      try withStore(at: path) { (store) throws in
        #expect(try titles(of: .inbox, in: store) == ["3", "0", "1", "2"])
      }
    }
  }

  @Test func listsMoveLikeTasks() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "moves of lists"))
    try withStore { store in
      var ids = try store.writeAndWait { transaction in try (0..<8).map { try transaction.addList(name: "\($0)").id } }
      for step in 0..<300 {
        let (mover, anchor) = (ids[Int.random(in: 0..<8, using: &generator)], ids[generator.oneIn(2) ? 3 : 4])
        let isBefore = generator.oneIn(2)
        try store.writeAndWait { transaction in
          if isBefore {
            try transaction.moveList(mover, before: anchor)
          } else {
            try transaction.moveList(mover, after: anchor)
          }
        }
        if mover != anchor {
          ids.removeAll { $0 == mover }
          let index = try #require(ids.firstIndex(of: anchor))
          ids.insert(mover, at: isBefore ? index : index + 1)
        }
        try #require(try store.read { try $0.lists().map(\.id) } == ids, "after \(step) moves")
      }
    }
  }

  private func sortOrders(in view: TaskView, of store: TaskStore) throws -> [UUID: Int64] {
    let tasks = try store.read { try $0.view(view).tasks }
    return Dictionary(uniqueKeysWithValues: tasks.map { ($0.id, $0.sortOrder) })
  }
}

/// The places that have an order.
enum MovePlace: CaseIterable {
  case inbox, list, day, dayOfList

  /// Adds tasks named by their numbers; returns the view that shows them.
  func fill(_ store: TaskStore, count: Int, areSortOrdersEqual: Bool = false) throws -> (TaskView, [UUID]) {
    try store.writeAndWait { transaction in
      let listID = self == .list || self == .dayOfList ? try transaction.addList(name: "list").id : nil
      let day = self == .day || self == .dayOfList ? transaction.today : nil
      let tasks = (0..<count).map { number in
        TaskItem(
          title: "\(number)", scheduledDate: day, listID: listID,
          sortOrder: areSortOrdersEqual ? 7 : Int64(number) << 20,
          createdAt: transaction.now.adding(microseconds: Int64(number)))
      }
      try transaction.insert(contentsOf: tasks)
      return (self == .day ? .today : listID.map { .list($0) } ?? .inbox, tasks.map(\.id))
    }
  }
}
