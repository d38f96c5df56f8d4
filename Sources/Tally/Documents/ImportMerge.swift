import Foundation
import LMDB
import TallyEngine

/// The effect of merging one record of a document.
enum MergeOutcome: String {
  case added, changed, unchanged, keptNewer

  var isWritten: Bool { self == .added || self == .changed }
}

/// Decides between a document's and the store's version of a task or list.
///
/// The newer time of change wins. If both are equal, somebody has edited the document by hand, and it wins, unless the
/// store's change may have been made at the very moment of the export. Renumbering sort orders does not set the time of
/// change, so the store's sort order is kept in that case. A record without any date, its own or the document's, counts
/// as changed now.
struct ImportMerge {
  let overwrites: Bool
  /// When the document was written, if it says so.
  let exportDate: Timestamp?
  let now: Timestamp

  /// The time of a change for which the document has none.
  var date: Timestamp { min(exportDate ?? now, now) }

  /// Merges a task: sets `task` to what the store should have, and returns the effect.
  func outcome(of document: TaskDocument, _ task: inout TaskItem, replacing old: TaskItem?) -> MergeOutcome {
    guard let old else { return .added }
    guard !task.isIdentical(to: old) else { return .unchanged }
    guard !overwrites else { return .changed }
    var merged = old
    if wins(document.updatedAt, document.isIdentifiedByContent, &task, over: old) {
      merged = task
      // A completion is never undone.
      if old.isCompleted, !task.isCompleted { merged.copyState(of: old) }
    } else if task.isCompleted ? !old.isCompleted : task.isCancelled && old.isOpen,
      let limit = document.completionLimit, limit > old.updatedAt
    {
      merged.copyState(of: task)
      merged.updatedAt = max(old.updatedAt, min(limit, now))
    }
    let hasSameContents = task.isEqual(to: old, apartFrom: \.updatedAt)
    task = merged
    if merged.isIdentical(to: old) { return hasSameContents ? .unchanged : .keptNewer }
    guard !hasSameContents, merged.isEqual(to: old, apartFrom: \.updatedAt) else { return .changed }
    task = old
    return .keptNewer
  }

  /// The effect of merging a saved filter.
  func outcome(of filter: SavedFilter, replacing old: SavedFilter?) -> MergeOutcome {
    guard let old else { return .added }
    if filter == old { return .unchanged }
    return overwrites || filter.updatedAt >= old.updatedAt ? .changed : .keptNewer
  }

  /// Merges a list: sets `list` to what the store should have, and returns the effect.
  func outcome(of document: ListDocument, _ list: inout TaskList, replacing old: TaskList?) -> MergeOutcome {
    guard let old else { return .added }
    guard !list.isIdentical(to: old) else { return .unchanged }
    guard !overwrites else { return .changed }
    if wins(document.updatedAt, false, &list, over: old) { return list.isIdentical(to: old) ? .unchanged : .changed }
    let hasSameContents = list.isEqual(to: old, apartFrom: \.updatedAt)
    list = old
    return hasSameContents ? .unchanged : .keptNewer
  }

  /// Whether the document's record is newer than the store's.
  private func wins<Object: StoredObject>(
    _ updatedAt: Timestamp?, _ isIdentifiedByContent: Bool, _ new: inout Object, over old: Object
  ) -> Bool {
    if isIdentifiedByContent { return false }
    guard let date = updatedAt ?? exportDate else { return true }
    guard date == old.updatedAt else { return date > old.updatedAt }
    new.sortOrder = old.sortOrder
    return date < exportDate ?? now
  }
}

extension ImportMerge {
  /// Whether a record deleted here stays deleted: the document neither was written nor changed it after the deletion.
  func staysDeleted(
    changedAt updatedAt: Timestamp?, isIdentifiedByContent: Bool = false, since deletion: Timestamp
  ) -> Bool {
    if isIdentifiedByContent { return true }
    let dates = [updatedAt, exportDate].compactMap(\.self)
    return !dates.isEmpty && dates.allSatisfy { $0 <= deletion }
  }
}

extension TaskItem {
  fileprivate mutating func copyState(of other: TaskItem) {
    (state, completedAt, cancelledAt) = (other.state, other.completedAt, other.cancelledAt)
  }
}

extension StoredObject {
  /// Whether two values are identical after one property is made equal.
  fileprivate func isEqual<Value>(to other: Self, apartFrom property: WritableKeyPath<Self, Value>) -> Bool {
    var copy = self
    copy[keyPath: property] = other[keyPath: property]
    return copy.isIdentical(to: other)
  }
}

/// Finds sort orders for imported records that have none: at the end of their place, after those read before them.
///
/// The records of a batch are not yet stored when the next one needs a sort order, so the orders in use are held here.
struct ImportPlacement {
  /// The next free sort order of each place that the document has used so far.
  private var nextOrders: [Place: Int64] = [:]
  private var nextListOrder: Int64?

  /// The sort order at the end of a task's places: its list or the inbox, and its day.
  func orderAtEnd(
    for task: TaskItem, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Int64 {
    let stored = try transaction.lastSortOrder(ofPlacesOf: task)
    return Place.all(of: task).reduce(stored) { max($0, nextOrders[$1] ?? $0) }
  }

  /// The sort order at the end of the lists.
  func listOrderAtEnd(in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws -> Int64 {
    let last = try transaction.tables.listsByOrder.lastKey(in: transaction.base)?.sortOrder
    let stored = SortOrder.between(last, nil) ?? SortOrder.limit
    return max(stored, nextListOrder ?? stored)
  }

  /// Records the sort order of a task as used.
  mutating func record(_ task: TaskItem) {
    let next = SortOrder.between(task.sortOrder, nil) ?? SortOrder.limit
    for place in Place.all(of: task) { nextOrders[place] = max(next, nextOrders[place] ?? next) }
  }

  /// Records the sort order of a list as used.
  mutating func record(_ list: TaskList) {
    let next = SortOrder.between(list.sortOrder, nil) ?? SortOrder.limit
    nextListOrder = max(next, nextListOrder ?? next)
  }
}

/// Checks that every list that a task refers to exists at the end, in the store or in the document.
///
/// A document may have its lists after its tasks, so an unknown list is remembered with the first position that refers
/// to it.
struct ListReferences {
  private var known: Set<UUID> = []
  private var awaited: [UUID: TextPosition] = [:]
  /// The lists that were deleted here since, and stay deleted.
  private var deleted: Set<UUID> = []
  /// The lists of documents that refer to lists by name.
  private var names: [(id: UUID, name: String)] = []

  /// Whether an imported task needs a list that has not been read yet.
  func isAwaited(_ id: UUID) -> Bool { awaited[id] != nil }

  /// Whether a list of the document stays deleted.
  func isDeleted(_ id: UUID) -> Bool { deleted.contains(id) }

  /// Records a list that stays deleted.
  mutating func recordDeletion(_ id: UUID) { deleted.insert(id) }

  /// The list that has a name.
  ///
  /// It is the list with the given id, if that has the name; else the store's first list with the name; else a new one
  /// with the given id or with an id derived from the name.
  mutating func id(
    ofListNamed name: String, preferring id: UUID?,
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> (id: UUID, isNew: Bool) {
    if names.isEmpty { for list in try transaction.lists() { names.append((list.id, list.name)) } }
    let known = names.filter { $0.name == name }
    if let found = known.first(where: { $0.id == id }) ?? known.first { return (found.id, false) }
    let isFree = id.map { id in !names.contains { $0.id == id } } ?? false
    let new = isFree ? id ?? .lowest : UUID(namedBy: "list", name)
    names.append((new, name))
    return (new, true)
  }

  /// Records a list of the document.
  mutating func define(_ id: UUID) {
    known.insert(id)
    awaited[id] = nil
  }

  /// Records that a task refers to a list.
  mutating func record(
    _ id: UUID, at position: TextPosition, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard !known.contains(id), awaited[id] == nil else { return }
    if try transaction.tables.lists.contains(IDKey(id), in: transaction.base) {
      known.insert(id)
    } else {
      awaited[id] = position
    }
  }

  /// Throws `unknownList` for the earliest position that refers to a list that does not exist.
  func checkAllKnown() throws {
    guard let first = awaited.min(by: { ($0.value.line, $0.value.column) < ($1.value.line, $1.value.column) }) else {
      return
    }
    throw TallyError(
      .unknownList,
      "The task names the list \(first.key.uuidString.lowercased()), which neither the document nor the store has",
      remedy: "Add the list to the document, create it first, or set listID to null", at: first.value)
  }
}

/// Checks that the sub-tasks of a document obey the rules of sub-tasks at the end.
///
/// Parents and sub-tasks come in any order, so the rules are checked after all tasks have been written. A dry run,
/// which writes nothing, checks only that the parents exist: remembering the list of every task of the document would
/// take too much memory for a dry run.
struct SubtaskReferences {
  private struct Subtask {
    var id: UUID
    var parentID: UUID
    var position: TextPosition
    /// The attribute in which the format keeps a parent that is not in the store.
    var elsewhere: (name: String, text: String)?
    /// Whether the parent was missing at an earlier import, and the task has the attribute already.
    var wasMissing = false

    /// The attribute that keeps the parent as long as it is not in the store.
    var keptParent: (name: String, text: String) { elsewhere ?? TaskDocument.keptParent(parentID) }

    /// The sub-task and its missing parent, for the account.
    var orphan: (parent: String, line: Int) { (elsewhere?.text ?? parentID.uuidString.lowercased(), position.line) }
  }

  /// Whether tasks of the store were kept although the document has other versions, so that the rest may not fit them.
  var hasKept = false
  private var subtasks: [Subtask] = []
  /// The stored tasks that the document moves to another list.
  private var moved: [UUID] = []
  /// The tasks of the document that were deleted here since, and stay deleted.
  private var deleted: Set<UUID> = []

  /// Records a task of the document that stays deleted.
  mutating func recordDeletion(_ id: UUID) {
    deleted.insert(id)
    hasKept = true
  }

  /// Records a task of the document.
  ///
  /// The attribute `elsewhere` keeps a missing parent; `missing` is a parent that the attribute keeps already.
  mutating func record(
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

  /// Moves the sub-tasks of moved tasks along, then throws `invalidParent` for the first position that breaks a rule.
  ///
  /// In another program's document, a sub-task that breaks a rule becomes a top-level task.
  ///
  /// - Returns: The sub-tasks that became top-level tasks.
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

  /// Sets the parent of a task if it was missing and exists now.
  ///
  /// - Returns: whether the parent exists now.
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

  /// Checks one sub-task; if the store's tasks were kept, it moves to its parent's list or becomes a top-level task.
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

  /// Throws `invalidParent` for the first position that refers to a parent in neither the document nor the store.
  ///
  /// - Returns: In another program's document, the sub-tasks whose parents are not in the store.
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
