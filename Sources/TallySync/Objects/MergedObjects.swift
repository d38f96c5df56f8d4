import Foundation
import Tally

extension ObjectState {
  /// The task that the state describes; `nil` if it is deleted, or its creation has not arrived.
  ///
  /// - Parameters:
  ///   - id: The task's id.
  ///   - place: Where it is shown.
  /// - Returns: The task.
  /// - Throws: An error of the storage for a value that no task has.
  func task(_ id: UUID, at place: Outline.Place) throws -> TaskItem? {
    guard isShown else { return nil }
    var task = TaskItem(id: id, title: "", createdAt: .earliest)
    for (field, register) in registers { try task.set(field, to: register.value) }
    (task.listID, task.parentID) = (place.list, place.parent)
    task.tags = TagSet(
      elements(of: .tags).sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) })
    task.completedAt = try storedCompletion?.moment()
    task.state = completion != nil ? .completed : registers[.progress]?.value == [1] ? .active : .notStarted
    task.updatedAt = lastChange
    return task
  }

  /// The list that the state describes; `nil` if it is deleted, or its creation has not arrived.
  func list(_ id: UUID) throws -> TaskList? {
    guard isShown else { return nil }
    var list = TaskList(id: id, name: "", createdAt: .earliest)
    for (field, register) in registers { try list.set(field, to: register.value) }
    list.updatedAt = lastChange
    return list
  }

  /// Whether it exists here: only a creation writes the time of creation, and edits may arrive before it.
  var isShown: Bool { !isDeleted && registers[.created] != nil && registers[.title] != nil }

  /// The completion that counts, as the ledger keeps it.
  var storedCompletion: StoredCompletion? { completion.map(StoredCompletion.init(bytes:)) }

  private var lastChange: Timestamp {
    let writes = registers.filter { $0.key != .life && $0.value.renumberingCount == 0 }.values.map(\.time)
    let elements = sets.values.flatMap(\.values).compactMap(\.latestTime)
    return Timestamp(clamping: (writes + elements).max() ?? 0)
  }
}
