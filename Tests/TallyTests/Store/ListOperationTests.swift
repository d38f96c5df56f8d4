import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Lists by example.
@Suite struct ListOperationTests {
  @Test func aListIsMadeRenamedAndRecoloured() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      #expect(list.colorHex == "007AFF" && list.createdAt == clock.now && list.updatedAt == clock.now)
      clock.now = clock.now.adding(seconds: 1)
      let renamed = try store.writeAndWait { try $0.renameList(list.id, to: "Household") }
      #expect(renamed.name == "Household" && renamed.updatedAt == clock.now && renamed.createdAt == list.createdAt)
      clock.now = clock.now.adding(seconds: 1)
      let recolored = try store.writeAndWait { try $0.recolorList(list.id, to: "00ff0a") }
      #expect(recolored.colorHex == "00FF0A" && recolored.updatedAt == clock.now)
      clock.now = clock.now.adding(seconds: 1)
      #expect(try store.writeAndWait { try $0.recolorList(list.id, to: "00FF0a") } == recolored, "the same colour")
      #expect(try store.read { try $0.lists() } == [recolored])
    }
  }

  @Test func badNamesColoursAndIDsAreRefused() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let sequence = try store.read { try $0.sequence }
      #expect(code { try store.writeAndWait { _ = try $0.addList(name: " \u{A0}") } } == .blankListName)
      #expect(code { try store.writeAndWait { _ = try $0.renameList(list.id, to: "") } } == .blankListName)
      for color in ["", "12345", "1234567", "GGGGGG", "#12345", "１２３４５６"] {
        #expect(code { try store.writeAndWait { _ = try $0.addList(name: "x", colorHex: color) } } == .invalidColor)
        #expect(code { try store.writeAndWait { _ = try $0.recolorList(list.id, to: color) } } == .invalidColor)
      }
      #expect(code { try store.writeAndWait { _ = try $0.addList(name: "x", id: list.id) } } == .duplicateID)
      #expect(code { try store.writeAndWait { _ = try $0.renameList(UUID(), to: "x") } } == .listNotFound)
      #expect(code { try store.writeAndWait { _ = try $0.deleteList(UUID()) } } == .listNotFound)
      #expect(code { try store.writeAndWait { _ = try $0.moveList(list.id, before: UUID()) } } == .listNotFound)
      #expect(code { try store.writeAndWait { _ = try $0.moveList(UUID(), after: list.id) } } == .listNotFound)
      #expect(try store.read { try $0.lists() } == [list])
      #expect(try store.read { try $0.sequence } == sequence)
    }
  }

  @Test func mergingMovesAllTasksInTheirOrderAndIsOneStep() throws {
    try withStore { store in
      let (food, groceries) = try store.writeAndWait { transaction in
        (try transaction.addList(name: "Food"), try transaction.addList(name: "Groceries"))
      }
      let parent = try store.writeAndWait { transaction in
        _ = try transaction.add("milk", to: .list(groceries.id))
        let parent = try transaction.add("dinner", to: .list(food.id)).id
        try transaction.add("rice", to: .inbox) { $0.parentID = parent }
        let done = try transaction.add("eaten", to: .list(food.id)).id
        try transaction.complete(done)
        _ = try transaction.add("bread", to: .list(food.id))
        _ = try transaction.add("elsewhere", to: .inbox)
        return parent
      }
      let before = try store.read { try $0.view(.list(groceries.id)).tasks.map(\.title) }
      #expect(try store.writeAndWait { try $0.mergeList(food.id, into: groceries.id) } == 4)
      let after = try store.read { try $0.view(.list(groceries.id)).tasks }
      #expect(after.filter { !$0.isCompleted }.map(\.title) == before + ["dinner", "rice", "bread"])
      #expect(after.count == 5 && after.first { $0.title == "rice" }?.parentID == parent)
      #expect(try store.read { try $0.lists().map(\.id) } == [groceries.id])
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["elsewhere"])
      // Completed in the list that it was in then, whose name is kept.
      #expect(try store.read { try $0.statistics().byList.first { $0.listID == food.id }?.name } == "Food")
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.view(.list(food.id)).tasks.count } == 4)
      #expect(try store.read { try $0.view(.list(groceries.id)).tasks.map(\.title) } == before)
    }
  }

  @Test func mergingWithItselfDoesNothingAndWithNothingIsRefused() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      #expect(try store.writeAndWait { try $0.mergeList(list.id, into: list.id) } == 0)
      #expect(code { try store.writeAndWait { _ = try $0.mergeList(list.id, into: UUID()) } } == .listNotFound)
      #expect(code { try store.writeAndWait { _ = try $0.mergeList(UUID(), into: list.id) } } == .listNotFound)
      #expect(try store.read { try $0.lists() } == [list])
    }
  }

  @Test func namesakesAreTheOldestFirstAndOfExactlyTheNameIfThereAreSeveral() {
    func list(_ name: String, _ second: Int64) -> TaskList {
      TaskList(id: UUID(), name: name, createdAt: Timestamp.earliest.adding(seconds: second))
    }
    let lists = [list("Work", 3), list("work", 1), list("Work", 2), list("WORK", 4), list("Home", 0), list("home", 5)]
    #expect(lists.namesakes(of: "Work").map(\.id) == [lists[2].id, lists[0].id])
    #expect(lists.namesakes(of: "work").map(\.id) == [lists[1].id, lists[2].id, lists[0].id, lists[3].id])
    #expect(lists.namesakes(of: "HOME").map(\.id) == [lists[4].id, lists[5].id])
    #expect(lists.prefix(4).map(\.self).namesakes(of: "Home") == [] && [lists[4]].namesakes(of: "Home") == [])
    #expect([TaskList]().namesakes(of: "") == [])
  }

  @Test func deletingAListDeletesItsTasksAndNoOthers() throws {
    try withStore { store in
      let (home, work) = try store.writeAndWait { (try $0.addList(name: "Home"), try $0.addList(name: "Work")) }
      try store.writeAndWait { transaction in
        for number in 0..<50 {
          let task = try transaction.add(TaskDraft(title: "\(number)", scheduledDate: .earliest, listID: home.id))
          if number.isMultiple(of: 3) { try transaction.complete(task.id) }
          if number.isMultiple(of: 5) { try transaction.start(task.id) }
        }
        _ = try transaction.add("work", to: .list(work.id))
        _ = try transaction.add("inbox", to: .inbox)
      }
      #expect(try store.writeAndWait { try $0.deleteList(home.id) } == 50)
      #expect(try Set(titles(of: .all, in: store)) == ["work", "inbox"])
      #expect(try store.read { try $0.lists() } == [work])
      #expect(try store.information().completionCount == 13, "completions stay")
      #expect(code { try titles(of: .list(home.id), in: store) } == .listNotFound)
    }
  }

  @Test func aTaskGoesLastInTheListItIsMovedTo() throws {
    try withStore { store in
      let (home, work) = try store.writeAndWait { (try $0.addList(name: "Home"), try $0.addList(name: "Work")) }
      let task = try store.writeAndWait { transaction in
        let task = try transaction.add("mover", to: .list(home.id))
        for number in 0..<3 { _ = try transaction.add("\(number)", to: .list(work.id)) }
        return task
      }
      try store.writeAndWait { _ = try $0.move(task.id, toList: work.id) }
      #expect(try titles(of: .list(home.id), in: store).isEmpty)
      #expect(try titles(of: .list(work.id), in: store) == ["0", "1", "2", "mover"])
      try store.writeAndWait { _ = try $0.move(task.id, toList: nil) }
      #expect(try titles(of: .inbox, in: store) == ["mover"])
      #expect(code { try store.writeAndWait { _ = try $0.move(task.id, toList: UUID()) } } == .listNotFound)
    }
  }

  private func code(_ body: () throws -> some Any) -> TallyError.Code? {
    TallyTests.code { _ = try body() }
  }
}
