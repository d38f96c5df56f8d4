/// Finds the writes that can be undone, by visiting the entries of the history from the newest on.
///
/// A write stays undone until its undo is itself undone, which is a redo: a write that can be undone in turn. Therefore
/// each entry describes itself completely, and old ones can be removed.
package struct UndoableWrites {
  private var undone: Set<ChangeID> = []
  /// The entry at which the history is cut, once it has been visited: neither it nor an older one can be undone.
  package private(set) var cut: ChangeID?

  package init() {}

  /// Visits the next entry, newest first.
  ///
  /// - Returns: whether it is a write of this store's own programs that has not been undone.
  package mutating func pass(_ entry: HistoryEntry) -> Bool {
    guard cut == nil else { return false }
    switch entry.kind {
    case .undo:
      if let target = entry.target { undone.insert(target) }
      return false
    case .change, .redo: return entry.origin == .local && !undone.contains(entry.id)
    case .cut:
      cut = entry.id
      return false
    }
  }
}

/// Finds the last undo that has not been undone, by visiting the entries of the history from the newest on.
package struct RedoableUndo {
  private var redone: Set<ChangeID> = []
  package private(set) var entry: HistoryEntry?
  /// Whether that undo was kept without images, so that neither it nor an earlier one can be redone.
  package private(set) var isTooLarge = false

  package init() {}

  /// Visits the next entry; returns whether older entries can still matter.
  package mutating func pass(_ entry: HistoryEntry) -> Bool {
    switch entry.kind {
    case .redo: if let target = entry.target { redone.insert(target) }
    case .undo:
      guard redone.contains(entry.id) else {
        if entry.hasImages { self.entry = entry } else { isTooLarge = true }
        return false
      }
    case .change: return entry.origin != .local
    case .cut: return false
    }
    return true
  }
}

/// The entries of the history, for questions that concern several of them.
package struct UndoLog {
  /// The entries, newest first.
  package let entries: [HistoryEntry]

  package init(entries: [HistoryEntry]) {
    self.entries = entries
  }

  /// The write whose changes an entry contains: its own or, for a redo, those of the write that it restored.
  package func original(of entry: HistoryEntry) -> ChangeID {
    var entry = entry
    while entry.kind == .redo, let undo = entry.target, let target = self[undo]?.target {
      guard let earlier = self[target] else { return target }
      entry = earlier
    }
    return entry.id
  }

  private subscript(id: ChangeID) -> HistoryEntry? { entries.first { $0.id == id } }

  /// The entries since `change` that count: without those that were undone, and without the undos of those.
  package func effective(since change: ChangeID) -> [HistoryEntry] {
    var cancelled: Set<ChangeID> = []
    var found: [HistoryEntry] = []
    for entry in entries where !cancelled.contains(entry.id) {
      if let target = entry.target, change < target {
        cancelled.insert(target)
      } else {
        found.append(entry)
      }
    }
    return found
  }
}
