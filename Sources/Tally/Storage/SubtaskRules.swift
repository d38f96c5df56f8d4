import Foundation
import LMDB
import TallyEngine

/// The parts of a task that the rules of sub-tasks depend on.
struct Parentage: Hashable {
  var parentID: UUID?
  var listID: UUID?
}

extension Parentage {
  init(of task: TaskItem) {
    self.init(parentID: task.parentID, listID: task.listID)
  }

  /// Reads both fields of a record in place.
  init(_ fields: borrowing TaskFields) throws(LMDBError) {
    var cursor = fields.cursor
    if try cursor.advance(to: TaskField.listID.tag) { listID = try cursor.value.storedID() }
    if try cursor.advance(to: TaskField.parentID.tag) { parentID = try cursor.value.storedID() }
  }
}

/// The rules of sub-tasks: a parent exists and is in the same list; no task is its own ancestor or nested too deeply.
enum SubtaskRules {
  /// How many ancestors a task can have.
  static let maximumDepth = 8

  /// Checks one task against the rules.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - own: the task's own parent and list.
  ///   - height: how many levels of sub-tasks are below the task.
  ///   - look: looks up another task; `nil` if it does not exist.
  /// - Throws: `invalidParent`, or what the lookup throws.
  static func check(
    _ id: UUID, _ own: Parentage, height: Int = 0, _ look: (UUID) throws -> Parentage?
  ) throws {
    var (next, depth) = (own.parentID, height)
    while let ancestorID = next {
      guard ancestorID != id else {
        throw fault("The task would be its own ancestor", remedy: "Give another parent, or none")
      }
      depth += 1
      // A cycle among the other tasks also ends here.
      guard depth <= maximumDepth else {
        throw fault("Sub-tasks would be more than \(maximumDepth) levels deep", remedy: "Give a parent further up")
      }
      guard let ancestor = try look(ancestorID) else {
        // Further up, the mismatch is the fault of another task.
        guard ancestorID == own.parentID else { return }
        throw fault(
          "The parent \(ancestorID.uuidString.lowercased()) does not exist", remedy: "Give another parent, or none")
      }
      guard ancestorID != own.parentID || ancestor.listID == own.listID else {
        throw fault(
          "A sub-task is in the list of its parent", remedy: "Move the parent, or take the task out of it first")
      }
      next = ancestor.parentID
    }
  }

  private static func fault(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidParent, message, remedy: remedy)
  }
}

extension Tables {
  /// The parent and the list of a task; `nil` if it does not exist.
  func parentage<T: LMDBTransaction & ~Copyable>(
    of id: UUID, in transaction: borrowing T
  ) throws(LMDBError) -> Parentage? {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return nil }
    return try Parentage(TaskFields(bytes))
  }

  /// The direct sub-tasks of a task, in their order.
  func subtaskIDs<T: LMDBTransaction & ~Copyable>(of id: UUID, in transaction: borrowing T) throws -> [UUID] {
    var ids: [UUID] = []
    try byParent.forEach(
      from: GroupKey(groupID: id, rankRawValue: 0, order: .lowest),
      upTo: GroupKey(groupID: id, rankRawValue: StateRank.endRawValue, order: .lowest), in: transaction
    ) { key, _ in
      ids.append(try GroupKey(decoding: key).id)
      return true
    }
    return ids
  }
}
