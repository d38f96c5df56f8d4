public import Foundation

/// The tasks and lists of a store.
public struct StoreRepository: TaskRepository, ListRepository {
  private let store: TaskStore

  /// Creates a repository of a store, which stays open as long as the repository lives.
  public init(_ store: TaskStore) {
    self.store = store
  }

  /// The tasks of a list, or those of the inbox, in the order of views.
  public func fetchTasks(inList listID: UUID?) async throws -> [TaskItem] {
    try await fetchTasks(in: listID.map { .list($0) } ?? .inbox)
  }

  /// The tasks of a view, in its order.
  public func fetchTasks(in view: TaskView) async throws -> [TaskItem] {
    try store.read { try $0.view(view).tasks }
  }

  /// A view, first as a whole, then how it changes, by any process.
  public func observeTasks(in view: TaskView) -> any AsyncSequence<ViewUpdate, any Error> & Sendable {
    store.observe(view)
  }

  /// One task; `nil` if there is none with the id.
  public func fetchTask(_ id: UUID) async throws -> TaskItem? {
    try store.read { try $0.task(id) }
  }

  /// Creates a task, last in its list or in the inbox.
  @discardableResult
  public func createTask(title: String, inList listID: UUID?) async throws -> TaskItem {
    try await store.write { try $0.add(title) { $0.listID = listID } }
  }

  /// Stores a task's fields as they are given; the store keeps the times of change and completion.
  @discardableResult
  public func updateTask(_ task: TaskItem) async throws -> TaskItem {
    try await store.write { transaction in try transaction.update(task.id) { $0 = task } }
  }

  /// Completes a task.
  @discardableResult
  public func completeTask(_ id: UUID) async throws -> TaskItem {
    try await store.write { try $0.complete(id) }
  }

  /// Puts a task directly before another one in the same place.
  @discardableResult
  public func moveTask(_ id: UUID, before anchorID: UUID) async throws -> TaskItem {
    try await store.write { try $0.move(id, before: anchorID) }
  }

  /// Puts a task directly after another one in the same place.
  @discardableResult
  public func moveTask(_ id: UUID, after anchorID: UUID) async throws -> TaskItem {
    try await store.write { try $0.move(id, after: anchorID) }
  }

  /// Undoes the last change.
  @discardableResult
  public func undo() async throws -> UndoResult { try await store.undo() }

  /// Redoes the last undo.
  @discardableResult
  public func redo() async throws -> UndoResult { try await store.redo() }

  /// Deletes a task.
  public func deleteTask(_ id: UUID) async throws {
    try await store.write { _ = try $0.delete(id) }
  }

  /// Every list, in the user's order.
  public func fetchLists() async throws -> [TaskList] {
    try store.read { try $0.lists() }
  }

  /// Creates a list, last among the lists.
  @discardableResult
  public func createList(name: String, colorHex: String) async throws -> TaskList {
    try await store.write { try $0.addList(name: name, colorHex: colorHex) }
  }

  /// Stores a list's name and colour.
  @discardableResult
  public func updateList(_ list: TaskList) async throws -> TaskList {
    try await store.write { transaction in
      _ = try transaction.renameList(list.id, to: list.name)
      return try transaction.recolorList(list.id, to: list.colorHex)
    }
  }

  /// Deletes a list with its tasks.
  public func deleteList(_ id: UUID) async throws {
    try await store.write { _ = try $0.deleteList(id) }
  }
}
