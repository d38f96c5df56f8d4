internal import Foundation
internal import LMDB

/// Checks that the sub-tasks of a document obey the rules of sub-tasks in the end.
///
/// Parents and sub-tasks come in any order, so the rules are looked at when all tasks have been written. A rehearsal,
/// which writes nothing, looks for the parents alone: to keep the list of every task of the document would take more
/// memory than a rehearsal should.
struct SubtaskReferences {
  private struct Subtask {
    var id: UUID
    var parentID: UUID
    var position: TextPosition
    /// The attribute that keeps a parent that is elsewhere.
    var elsewhere: (name: String, text: String)?
    /// Whether the parent was missing before, and the task has the attribute already.
    var wasMissing = false

    /// The attribute that keeps the parent while it is nowhere here.
    var keptParent: (name: String, text: String) { elsewhere ?? TaskDocument.keptParent(parentID) }

    /// A sub-task whose parent is elsewhere, for the account.
    var orphan: (parent: String, line: Int) { (elsewhere?.text ?? parentID.uuidString.lowercased(), position.line) }
  }

  /// Whether tasks of the store stayed where the document has others: the rest may not fit them.
  var hasKept = false
  private var subtasks: [Subtask] = []
  /// The stored tasks that the document moves to another list.
  private var moved: [UUID] = []
  /// Tasks of the document that were deleted here since, and stay deleted.
  private var deleted: Set<UUID> = []

  /// Notes a task of the document that stays deleted.
  mutating func noteDeleted(_ id: UUID) {
    deleted.insert(id)
    hasKept = true
  }

  /// Notes a task of the document.
  ///
  /// The attribute `elsewhere` keeps a missing parent. `missing` is a parent that the attribute keeps already.
  mutating func note(
    _ task: TaskItem, replacing old: TaskItem?, elsewhere: (name: String, text: String)?, missing: UUID?,
    at position: TextPosition
  ) {
    if let parentID = missing ?? task.parentID {
      subtasks.append(
        Subtask(
          id: task.id, parentID: parentID, position: position, elsewhere: elsewhere, wasMissing: missing != nil))
    }
    if let old, old.listID != task.listID { moved.append(task.id) }
  }

  /// Lets the sub-tasks of moved tasks follow, then throws `invalidParent` with the first place that breaks a rule.
  ///
  /// In another program's document a sub-task that breaks a rule becomes a task of its own.
  ///
  /// - Returns: The sub-tasks that became tasks of their own.
  func resolve(in transaction: inout StoreWriteTransaction, isForeign: Bool) throws -> [(parent: String, line: Int)] {
    for id in moved {
      let listID = try transaction.tables.parentage(of: id, in: transaction.base)?.listID
      for subtaskID in try transaction.tables.subtaskIDs(of: id, in: transaction.base) {
        try transaction.update(subtaskID) { $0.listID = listID }
      }
    }
    var orphans: [(parent: String, line: Int)] = []
    for subtask in subtasks {
      if subtask.wasMissing, try !findParent(of: subtask, in: &transaction) {
        orphans.append(subtask.orphan)
        continue
      }
      do {
        try resolve(subtask.id, in: &transaction)
      } catch let error as TallyError where error.code == .invalidParent {
        guard isForeign else { throw error.at(subtask.position) }
        let (name, text) = subtask.keptParent
        try transaction.update(subtask.id) { task in
          task.parentID = nil
          task.attributes[name] = .text(TaskDocument.attribute(task.attributes[name], keeping: text))
        }
        orphans.append(subtask.orphan)
      }
    }
    return orphans
  }

  /// Gives a task its parent, which was missing and has come since.
  ///
  /// - Returns: false if it is still missing.
  private func findParent(of subtask: Subtask, in transaction: inout StoreWriteTransaction) throws -> Bool {
    guard try transaction.tables.parentage(of: subtask.parentID, in: transaction.base) != nil else { return false }
    let (name, text) = subtask.keptParent
    try transaction.update(subtask.id) { task in
      task.parentID = subtask.parentID
      guard case .text(let kept)? = task.attributes[name] else { return }
      let others = kept.split(separator: "\n").filter { $0 != text }.joined(separator: "\n")
      task.attributes[name] = others.isEmpty ? nil : .text(others)
    }
    return true
  }

  /// Checks one sub-task; where the store's tasks stayed, it goes to its parent's list or becomes a task of its own.
  private func resolve(_ id: UUID, in transaction: inout StoreWriteTransaction) throws {
    guard let old = try transaction.tables.parentage(of: id, in: transaction.base), let parentID = old.parentID else {
      return
    }
    var own = old
    let parent = try transaction.tables.parentage(of: parentID, in: transaction.base)
    if hasKept, let parent { own.listID = parent.listID }
    do {
      try SubtaskRules.check(id, own) { try transaction.tables.parentage(of: $0, in: transaction.base) }
    } catch let error as TallyError where error.code == .invalidParent && hasKept {
      guard parent != nil || deleted.contains(parentID) else { throw error }
      own.parentID = nil
    }
    guard own != old else { return }
    try transaction.update(id) { ($0.parentID, $0.listID) = (own.parentID, own.listID) }
  }

  /// Throws `invalidParent` with the first place that names a parent that neither the document nor the store has.
  ///
  /// - Returns: In another program's document, the sub-tasks whose parents are elsewhere.
  func checkAllKnown(
    among ids: ImportedIDs, in transaction: borrowing StoreReadTransaction, isForeign: Bool
  ) throws -> [(parent: String, line: Int)] {
    var orphans: [(parent: String, line: Int)] = []
    for subtask in subtasks where !ids.contains(subtask.parentID) && !deleted.contains(subtask.parentID) {
      let parentID = subtask.parentID
      guard try transaction.tables.parentage(of: parentID, in: transaction.base) == nil else { continue }
      if isForeign {
        orphans.append(subtask.orphan)
        continue
      }
      throw TallyError(
        .invalidParent, "The parent \(parentID.uuidString.lowercased()) is in neither the document nor the store",
        remedy: "Add it to the document, or set parentID to null", at: subtask.position)
    }
    return orphans
  }
}
