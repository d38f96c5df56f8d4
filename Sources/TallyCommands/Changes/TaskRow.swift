import Foundation
import Tally

/// Tasks that are put one after the other, before or after another task.
struct TaskRow {
  private let side: Side
  private let target: NamedTask
  /// The task next to which the next one goes.
  private var anchorID: UUID

  /// Finds the task that is named; `nil` if none is.
  init?<Base: ~Copyable>(
    before: String?, after: String?, in transaction: borrowing StoreTransaction<Base>
  ) throws {
    guard let name = before ?? after else { return nil }
    side = before == nil ? .after : .before
    target = try transaction.name(try transaction.task(named: name))
    anchorID = target.task.id
  }

  /// Where the tasks go, in words behind a title: ` before 91bc`.
  var anchorInWords: String { " \(side) \(target.handle)" }

  /// Moves the next task to its spot.
  mutating func append(_ task: TaskItem, in transaction: inout StoreWriteTransaction) throws -> TaskItem {
    guard task.id != target.task.id else {
      throw CommandFailure.usage("A task cannot be moved next to itself", remedy: "Name two tasks")
    }
    guard side == .after else { return try transaction.move(task.id, before: anchorID) }
    let moved = try transaction.move(task.id, after: anchorID)
    anchorID = task.id
    return moved
  }
}

extension TaskRow {
  /// The ids that views show around the target, in their order; `nil` where a move next to it is always seen, as all
  /// tasks have the target's state.
  func visibleOrder<Base: ~Copyable>(
    with tasks: [TaskItem], in transaction: borrowing StoreTransaction<Base>
  ) throws -> [UUID]? {
    guard tasks.contains(where: { $0.state != target.task.state }) else { return nil }
    let isDated = target.task.scheduledDate != nil
    let place: [TaskView] = target.task.listID.map { [.list($0)] } ?? (isDated ? [] : [.inbox])
    let views = place + (isDated ? [.past, .today, .upcoming] : [])
    var ids: [UUID] = []
    for view in views {
      try transaction.forEachTask(in: view) { task, _ in
        ids.append(task.id)
        return true
      }
    }
    return ids
  }
}
