import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// What applications' screens call, over a temporary store.
@Suite struct RepositoryTests {
  private typealias Repository = TaskRepository & ListRepository

  @Test func tasksOfAListAndOfTheInboxAreKeptApartAndInOrder() async throws {
    try await withRepository { repository in
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

  @Test func aTaskIsChangedCompletedAndDeleted() async throws {
    try await withRepository { repository in
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

  @Test func aListTakesItsTasksWithIt() async throws {
    try await withRepository { repository in
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

  @Test func aScreenFollowsAViewMovesTasksAndUndoes() async throws {
    try await withRepository { repository in
      let (a, b) = (
        try await repository.createTask(title: "a", inList: nil),
        try await repository.createTask(title: "b", inList: nil)
      )
      var tasks: [TaskItem] = []
      for try await update in repository.observeTasks(in: .inbox) {
        switch update {
        case .snapshot(let view):
          tasks = view.tasks
          try await repository.moveTask(b.id, before: a.id)
        case .difference(let difference): difference.apply(to: &tasks)
        }
        if tasks.map(\.title) == ["b", "a"] { break }
      }
      try await repository.moveTask(b.id, after: a.id)
      #expect(try await repository.fetchTasks(in: .inbox).map(\.title) == ["a", "b"])
      try await repository.undo()
      #expect(try await repository.fetchTasks(in: .inbox).map(\.title) == ["b", "a"])
      try await repository.redo()
      #expect(try await repository.fetchTasks(in: .inbox).map(\.title) == ["a", "b"])
    }
  }

  @Test func whatIsWrongIsRefusedWithTheSameCodes() async throws {
    try await withRepository { repository in
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

  @Test func aTemporaryStoreIsDeletedWithItsLastReference() throws {
    var store: TaskStore? = try TaskStore.temporary()
    try store?.writeAndWait { _ = try $0.add("task", to: .inbox) }
    let directory = try #require(store?.directory)
    #expect((try? directory.stat()) != nil)
    try store?.writeAndWait { _ = try $0.add("Water the plants", to: .today) }
    // Another one is made, and leaves it alone.
    #expect(try TaskStore.temporary().directory != directory)
    #expect(try store?.verify().isSound == true)
    try store?.writeAndWait { _ = try $0.add("Feed the tomatoes", to: .today) }
    store = nil
    #expect((try? directory.stat()) == nil)
    #expect((try? directory.removingLastComponent().stat()) == nil)
  }

  private func withRepository(_ body: (any Repository) async throws -> Void) async throws {
    let store = try TaskStore.temporary()
    try await body(StoreRepository(store))
    #expect(try store.verify().isSound)
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
