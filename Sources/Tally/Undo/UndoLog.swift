import Foundation

/// Which write is to be taken back, as the entries of the history say.
///
/// A write stays undone until the undo itself is taken back, which is what redo does: a redo is a write in its own right,
/// and can be undone again. So each entry says all about itself, and old ones can go.
struct UndoLog {
  /// Newest first.
  let entries: [HistoryEntry]

  /// The writes of this store's own programs, newest first, that have not been undone; those before a cut are out of
  /// reach.
  func undoable() -> (entries: [HistoryEntry], isCut: Bool) {
    var undone: Set<ChangeID> = []
    var found: [HistoryEntry] = []
    for entry in entries {
      switch entry.kind {
      case .undo: if let target = entry.target { undone.insert(target) }
      case .change, .redo: if entry.origin == .local, !undone.contains(entry.id) { found.append(entry) }
      case .cut: return (found, true)
      }
    }
    return (found, false)
  }

  /// The last undo that has not been taken back; `nil` if there is none since the last change of another kind.
  func redoable() -> HistoryEntry? {
    var redone: Set<ChangeID> = []
    for entry in entries {
      switch entry.kind {
      case .redo: if let target = entry.target { redone.insert(target) }
      case .undo: if !redone.contains(entry.id) { return entry }
      case .change: if entry.origin == .local { return nil }
      case .cut: return nil
      }
    }
    return nil
  }

  /// The entries since `change` that count: without those that were taken back, and what took them back.
  func effective(since change: ChangeID) -> [ChangeID] {
    var cancelled: Set<ChangeID> = []
    var found: [ChangeID] = []
    for entry in entries where change < entry.id && !cancelled.contains(entry.id) {
      if let target = entry.target, change < target {
        cancelled.insert(target)
      } else {
        found.append(entry.id)
      }
    }
    return found
  }
}
