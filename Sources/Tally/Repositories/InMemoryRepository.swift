public import Foundation

/// Tasks and lists that nobody keeps: for previews and tests.
///
/// An actor, so that each call is one step, as a transaction is.
public actor InMemoryRepository: TaskRepository, ListRepository {
  private var tasks: [UUID: TaskItem] = [:]
  private var lists: [UUID: TaskList] = [:]
  private let now: @Sendable () -> Timestamp
  private let ids: UUIDv7Generator

  /// Makes an empty repository.
  ///
  /// - Parameter now: the clock.
  public init(now: @escaping @Sendable () -> Timestamp = { .now() }) {
    self.now = now
    ids = UUIDv7Generator(clock: now)
  }

  /// The tasks of a list, or those of the inbox, in the order of views.
  public func fetchTasks(inList listID: UUID?) throws -> [TaskItem] {
    try requireList(listID)
    return tasks.values.filter { $0.listID == listID && (listID != nil || $0.scheduledDate == nil) }
      .sorted { ViewOrder($0) < ViewOrder($1) }
  }

  /// One task; `nil` if there is none with the id.
  public func fetchTask(_ id: UUID) -> TaskItem? {
    tasks[id]
  }

  /// Makes a task, last in its list or in the inbox.
  @discardableResult
  public func createTask(title: String, inList listID: UUID?) throws -> TaskItem {
    let now = now()
    let task = TaskItem(
      id: ids.next(at: now), title: title, listID: listID, sortOrder: lastSortOrder(inList: listID), createdAt: now)
    return try store(task)
  }

  /// Stores a task's fields as they are given, but for the times that are kept for it.
  @discardableResult
  public func updateTask(_ task: TaskItem) throws -> TaskItem {
    guard let old = tasks[task.id] else { throw TallyError.taskNotFound(task.id) }
    var task = task
    if !task.isCompleted { task.completedAt = nil }
    if task.isCompleted, task.completedAt == nil { task.completedAt = OffsetTimestamp(now(), in: .current) }
    if task.listID != old.listID, task.sortOrder == old.sortOrder {
      task.sortOrder = lastSortOrder(inList: task.listID)
    }
    guard !task.isIdentical(to: old) else { return old }
    task.updatedAt = max(now(), old.updatedAt)
    return try store(task)
  }

  /// Completes a task.
  @discardableResult
  public func completeTask(_ id: UUID) throws -> TaskItem {
    guard var task = tasks[id] else { throw TallyError.taskNotFound(id) }
    task.state = .completed
    return try updateTask(task)
  }

  /// Deletes a task.
  public func deleteTask(_ id: UUID) throws {
    guard tasks.removeValue(forKey: id) != nil else { throw TallyError.taskNotFound(id) }
  }

  /// Every list, in the order people gave them.
  public func fetchLists() -> [TaskList] {
    lists.values.sorted { OrderKey(of: $0) < OrderKey(of: $1) }
  }

  /// Makes a list, last among the lists.
  @discardableResult
  public func createList(name: String, colorHex: String) throws -> TaskList {
    let now = now()
    let last = lists.values.map(\.sortOrder).max()
    let list = TaskList(
      id: ids.next(at: now), name: name, colorHex: colorHex,
      sortOrder: SortOrder.between(last, nil) ?? SortOrder.limit, createdAt: now, updatedAt: now)
    return try store(list)
  }

  /// Stores a list's name and colour.
  @discardableResult
  public func updateList(_ list: TaskList) throws -> TaskList {
    guard let old = lists[list.id] else { throw TallyError.listNotFound(list.id) }
    var new = old
    new.name = list.name
    new.colorHex = list.colorHex.uppercased()
    guard !new.isIdentical(to: old) else { return new }
    new.updatedAt = max(now(), old.updatedAt)
    return try store(new)
  }

  /// Deletes a list with its tasks.
  public func deleteList(_ id: UUID) throws {
    guard lists.removeValue(forKey: id) != nil else { throw TallyError.listNotFound(id) }
    tasks = tasks.filter { $0.value.listID != id }
  }
}

extension InMemoryRepository {
  private func store(_ task: TaskItem) throws -> TaskItem {
    try task.validate()
    try requireList(task.listID)
    tasks[task.id] = task
    return task
  }

  private func store(_ list: TaskList) throws -> TaskList {
    try list.validate()
    lists[list.id] = list.normalized
    return list.normalized
  }

  private func requireList(_ id: UUID?) throws {
    if let id, lists[id] == nil { throw TallyError.listNotFound(id) }
  }

  private func lastSortOrder(inList listID: UUID?) -> Int64 {
    let neighbors = tasks.values.filter { $0.listID == listID && (listID != nil || $0.scheduledDate == nil) }
    return SortOrder.between(neighbors.map(\.sortOrder).max(), nil) ?? SortOrder.limit
  }
}
