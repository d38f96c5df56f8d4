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
    try store.read { try $0.view(listID.map { .list($0) } ?? .inbox).tasks }
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
