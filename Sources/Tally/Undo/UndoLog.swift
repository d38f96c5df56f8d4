/// Which writes can be undone, by the entries of the history from the newest on.
///
/// A write stays undone until the undo itself is undone, which is a redo: a write in its own right, which can be undone
/// in turn. So each entry describes itself completely, and old ones can go.
struct UndoableWrites {
  private var undone: Set<ChangeID> = []
  /// The entry from which on nothing can be undone, once it has been passed.
  private(set) var cut: ChangeID?

  /// Passes the next entry, newest first; returns whether it is a write of this store's own programs that has not been
  /// undone.
  mutating func pass(_ entry: HistoryEntry) -> Bool {
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

/// The last undo that has not been undone, by the entries of the history from the newest on.
struct RedoableUndo {
  private var redone: Set<ChangeID> = []
  private(set) var entry: HistoryEntry?
  /// Whether that undo is kept without images, so that neither it nor an earlier one can be redone.
  private(set) var isTooLarge = false

  /// Looks at the next entry; returns whether the one before it can matter.
  mutating func pass(_ entry: HistoryEntry) -> Bool {
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

/// Questions that need several entries of the history at once.
struct UndoLog {
  /// Newest first.
  let entries: [HistoryEntry]

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

  /// The entries that count, if they are those since `change`: without those that were undone, and the undos of those.
  func effective(since change: ChangeID) -> [HistoryEntry] {
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
