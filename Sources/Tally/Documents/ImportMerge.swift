/// What becomes of one record of a document.
enum MergeOutcome {
  case added, changed, unchanged, keptNewer

  var isWritten: Bool { self == .added || self == .changed }
}

/// Decides between what a document says of a task or list and what the store has.
///
/// The newer time of change wins. Where both are equal, somebody has changed the document by hand, unless the store's may
/// be a change of the very moment of the export. Sort orders are renumbered without a new time of change, so that the
/// store's stays then. A record without any date, its own or the document's, is a change made now.
struct ImportMerge {
  let overwrites: Bool
  /// When the document was written, if it says so.
  let exportDate: Timestamp?
  let now: Timestamp

  /// The time of a change to which the document gives none.
  var date: Timestamp { min(exportDate ?? now, now) }

  /// What becomes of a task, which is changed to what the store is to have.
  func outcome(of document: TaskDocument, _ task: inout TaskItem, replacing old: TaskItem?) -> MergeOutcome {
    guard let old else { return .added }
    guard !task.isIdentical(to: old) else { return .unchanged }
    guard !overwrites else { return .changed }
    var kept = old
    if wins(document.updatedAt, document.isIdentifiedByContent, &task, over: old) {
      kept = task
      // A completion is never undone.
      if old.isCompleted, !task.isCompleted { (kept.state, kept.completedAt) = (old.state, old.completedAt) }
    } else if task.isCompleted, !old.isCompleted, let limit = document.completionLimit, limit > old.updatedAt {
      (kept.state, kept.completedAt) = (task.state, task.completedAt)
      kept.updatedAt = max(old.updatedAt, min(limit, now))
    }
    let hasSameContents = task.isEqual(to: old, apartFrom: \.updatedAt)
    task = kept
    if kept.isIdentical(to: old) { return hasSameContents ? .unchanged : .keptNewer }
    guard !hasSameContents, kept.isEqual(to: old, apartFrom: \.updatedAt) else { return .changed }
    task = old
    return .keptNewer
  }

  /// What becomes of a saved filter.
  func outcome(of filter: SavedFilter, replacing old: SavedFilter?) -> MergeOutcome {
    guard let old else { return .added }
    if filter == old { return .unchanged }
    return overwrites || filter.updatedAt >= old.updatedAt ? .changed : .keptNewer
  }

  /// What becomes of a list, which is changed to what the store is to have.
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
  /// Whether a task that was deleted here stays deleted: the document neither was written nor changed it since.
  func keepsDeleted(_ document: TaskDocument, since deletion: Timestamp) -> Bool {
    if document.isIdentifiedByContent { return true }
    return keepsDeleted(document.updatedAt, since: deletion)
  }

  /// Whether a list that was deleted here stays deleted.
  func keepsDeleted(_ document: ListDocument, since deletion: Timestamp) -> Bool {
    keepsDeleted(document.updatedAt, since: deletion)
  }

  /// Whether a saved filter that was deleted here stays deleted.
  func keepsDeleted(_ filter: SavedFilter, since deletion: Timestamp) -> Bool {
    keepsDeleted(filter.updatedAt, since: deletion)
  }

  private func keepsDeleted(_ updatedAt: Timestamp?, since deletion: Timestamp) -> Bool {
    let dates = [updatedAt, exportDate].compactMap(\.self)
    return !dates.isEmpty && dates.allSatisfy { $0 <= deletion }
  }
}

extension StoredObject {
  /// Whether two values are identical once one property is made equal.
  fileprivate func isEqual<Value>(to other: Self, apartFrom property: WritableKeyPath<Self, Value>) -> Bool {
    var copy = self
    copy[keyPath: property] = other[keyPath: property]
    return copy.isIdentical(to: other)
  }
}
