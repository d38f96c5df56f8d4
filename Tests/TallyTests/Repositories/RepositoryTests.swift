import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The behaviour that all repositories share: each test runs on a store and in memory.
@Suite struct RepositoryTests {
  enum Kind: CaseIterable {
    case store, memory
  }

  private typealias Repository = TaskRepository & ListRepository

  @Test(arguments: Kind.allCases)
  func tasksOfAListAndOfTheInboxAreKeptApartAndInOrder(kind: Kind) async throws {
    try await withRepository(kind) { repository in
      let list = try await repository.createList(name: "Home", colorHex: "ff8800")
      #expect(list.colorHex == "FF8800")
      for title in ["a", "b", "c"] { try await repository.createTask(title: title, inList: list.id) }
      try await repository.createTask(title: "inbox", inList: nil)
      let tasks = try await repository.fetchTasks(inList: list.id)
      try await repository.completeTask(tasks[0].id)
      #expect(try await repository.fetchTasks(inList: list.id).map(\.title) == ["b", "c", "a"])
      #expect(try await repository.fetchTasks(inList: nil).map(\.title) == ["inbox"])
    }
  }

  @Test(arguments: Kind.allCases)
  func aTaskIsChangedCompletedAndDeleted(kind: Kind) async throws {
    try await withRepository(kind) { repository in
      let list = try await repository.createList(name: "Home", colorHex: TaskList.defaultColorHex)
      try await repository.createTask(title: "first there", inList: list.id)
      var task = try await repository.createTask(title: "x", inList: nil)
      task.title = "y"
      task.listID = list.id
      let moved = try await repository.updateTask(task)
      #expect(moved.title == "y" && moved.sortOrder == SortOrder.spacing)
      let done = try await repository.completeTask(task.id)
      #expect(done.isCompleted && done.completedAt != nil)
      var open = done
      open.state = .active
      #expect(try await repository.updateTask(open).completedAt == nil)
      try await repository.deleteTask(task.id)
      #expect(try await repository.fetchTask(task.id) == nil)
    }
  }

  @Test(arguments: Kind.allCases)
  func aListTakesItsTasksWithIt(kind: Kind) async throws {
    try await withRepository(kind) { repository in
      var lists: [TaskList] = []
      for name in ["a", "b"] { lists.append(try await repository.createList(name: name, colorHex: "000000")) }
      let task = try await repository.createTask(title: "x", inList: lists[0].id)
      lists[1].name = "renamed"
      lists[1].colorHex = "abcdef"
      let renamed = try await repository.updateList(lists[1])
      #expect(renamed.name == "renamed" && renamed.colorHex == "ABCDEF")
      try await repository.deleteList(lists[0].id)
      #expect(try await repository.fetchLists() == [renamed])
      #expect(try await repository.fetchTask(task.id) == nil)
      await expectFailure(.listNotFound) { _ = try await repository.fetchTasks(inList: lists[0].id) }
    }
  }

  @Test(arguments: Kind.allCases)
  func whatIsWrongIsRefusedWithTheSameCodes(kind: Kind) async throws {
    try await withRepository(kind) { repository in
      let task = try await repository.createTask(title: "x", inList: nil)
      let list = try await repository.createList(name: "a", colorHex: "000000")
      var (blank, lost, nameless) = (task, task, list)
      blank.title = " \n"
      lost.listID = UUID()
      nameless.name = " "
      let (wrongTask, wrongLists) = (blank, (lost, nameless))
      await expectFailure(.blankTitle) { try await repository.createTask(title: " ", inList: nil) }
      await expectFailure(.listNotFound) { try await repository.createTask(title: "x", inList: UUID()) }
      await expectFailure(.blankTitle) { try await repository.updateTask(wrongTask) }
      await expectFailure(.listNotFound) { try await repository.updateTask(wrongLists.0) }
      await expectFailure(.taskNotFound) { try await repository.completeTask(UUID()) }
      await expectFailure(.taskNotFound) { try await repository.deleteTask(UUID()) }
      await expectFailure(.blankListName) { try await repository.createList(name: "", colorHex: "000000") }
      await expectFailure(.invalidColor) { try await repository.createList(name: "x", colorHex: "red") }
      await expectFailure(.blankListName) { try await repository.updateList(wrongLists.1) }
      await expectFailure(.listNotFound) { try await repository.deleteList(UUID()) }
      #expect(try await repository.fetchTask(task.id) == task)
      #expect(try await repository.fetchLists() == [list])
    }
  }

  private func withRepository(_ kind: Kind, _ body: (any Repository) async throws -> Void) async throws {
    switch kind {
    case .store: try await withStore { try await body(StoreRepository($0)) }
    case .memory: try await body(InMemoryRepository())
    }
  }

  private func expectFailure(_ code: TallyError.Code, _ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("\(code) was not thrown")
    } catch {
      #expect((error as? TallyError)?.code == code)
    }
  }
}
