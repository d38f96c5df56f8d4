import Foundation
import Hummingbird
import Tally

/// Tasks: adding, reading, changing, completing and deleting them.
struct TaskRoutes {
  let store: TaskStore

  func add(to router: Router<BasicRequestContext>) {
    router.post("tasks", use: create)
    router.get("tasks/:id", use: show)
    router.patch("tasks/:id", use: edit)
    router.post("tasks/:id/complete", use: complete)
    router.delete("tasks/:id", use: delete)
  }

  @Sendable private func create(_ request: Request, _ context: BasicRequestContext) async throws -> Answer<TaskItem> {
    let edit = try await request.body(as: TaskEdit.self, context)
    // Requests that wait at the same time share one flush of the disk; each is answered after it.
    let (task, change) = try await store.write { transaction in
      // The title is one of the fields; without it the blank one is refused.
      (try transaction.add("") { edit.apply(to: &$0) }, try transaction.changeID)
    }
    return Answer(
      value: task, status: .created, location: "/tasks/\(task.id.uuidString.lowercased())", change: change)
  }

  @Sendable private func show(_ request: Request, _ context: BasicRequestContext) throws -> Answer<TaskItem> {
    let id = try context.id()
    guard let task = try store.read({ try $0.task(id) }) else {
      throw TallyError(.taskNotFound, "No task has this id", remedy: "Take the id from a view")
    }
    return Answer(value: task)
  }

  @Sendable private func edit(_ request: Request, _ context: BasicRequestContext) async throws -> Answer<TaskItem> {
    let edit = try await request.body(as: TaskEdit.self, context)
    return try await change(try context.id()) { try $0.update($1, edit.apply) }
  }

  @Sendable private func complete(_ request: Request, _ context: BasicRequestContext) async throws -> Answer<TaskItem> {
    try await change(try context.id()) { try $0.complete($1) }
  }

  @Sendable private func delete(_ request: Request, _ context: BasicRequestContext) async throws -> Answer<TaskItem> {
    let id = try context.id()
    let (task, change) = try await store.write { (try $0.delete(id), try $0.changeID) }
    return Answer(value: task, change: change)
  }

  /// Changes a task; a change that changes nothing has no id.
  private func change(
    _ id: UUID, _ body: @escaping @Sendable (inout StoreWriteTransaction, UUID) throws -> TaskItem
  ) async throws -> Answer<TaskItem> {
    let (task, change) = try await store.write { transaction in
      (try body(&transaction, id), try transaction.changeID)
    }
    return Answer(value: task, change: change)
  }
}
