/// Which write to undo or redo, by the entries of the history.
///
/// A write stays undone until the undo itself is undone, which is a redo: a write in its own right, which can be undone
/// in turn. So each entry describes itself completely, and old ones can go.
struct UndoLog {
  /// Newest first.
  let entries: [HistoryEntry]

  /// The writes of this store's own programs, newest first, that have not been undone; those before a cut are out of
  /// reach.
  func undoable() -> (entries: [HistoryEntry], cut: ChangeID?) {
    var undone: Set<ChangeID> = []
    var found: [HistoryEntry] = []
    for entry in entries {
      switch entry.kind {
      case .undo: if let target = entry.target { undone.insert(target) }
      case .change, .redo: if entry.origin == .local, !undone.contains(entry.id) { found.append(entry) }
      case .cut: return (found, entry.id)
      }
    }
    return (found, nil)
  }

  /// The write whose changes an entry has made: its own or, for a redo, those of the write that it brought back.
  func original(of entry: HistoryEntry) -> ChangeID {
    var entry = entry
    while entry.kind == .redo, let undo = entry.target, let target = self[undo]?.target {
      guard let earlier = self[target] else { return target }
      entry = earlier
    }
    return entry.id
  }

  private subscript(id: ChangeID) -> HistoryEntry? { entries.first { $0.id == id } }

  /// The last undo that has not been undone; `nil` if there is none since the last change of another kind.
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

  /// The entries since `change` that count: without those that were undone, and the undos of those.
  func effective(since change: ChangeID) -> [HistoryEntry] {
    var cancelled: Set<ChangeID> = []
    var found: [HistoryEntry] = []
    for entry in entries.prefix(while: { change < $0.id }) where !cancelled.contains(entry.id) {
      if let target = entry.target, change < target {
        cancelled.insert(target)
      } else {
        found.append(entry)
      }
    }
    return found
  }
}
