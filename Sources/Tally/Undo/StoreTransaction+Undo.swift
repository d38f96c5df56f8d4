import Foundation
public import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The write that `undo()` would take back next; `nil` if none is left.
  ///
  /// - Complexity: the heads of the history.
  public var undoableChange: ChangeID? {
    get throws { UndoLog(entries: try historyEntries()).undoable().entries.first?.id }
  }

  /// The undo that `redo()` would take back next; `nil` if none is left.
  ///
  /// - Complexity: the heads of the history.
  public var redoableChange: ChangeID? {
    get throws { UndoLog(entries: try historyEntries()).redoable()?.id }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Takes back the last write that has not been taken back yet.
  ///
  /// Tasks, lists, their order, the completions and the counters are as they were before it; only the times of change
  /// are those of now, because this is a change like others. Called again it takes back the write before that; what
  /// has been taken back comes again with ``redo()``. Works across restarts and processes, as far as the history
  /// reaches: about a thousand writes, or 8 MiB of what they replaced. A write that replaced more, and
  /// `purgeCompletions`, cannot be taken back, nor what came before it.
  ///
  /// ```swift
  /// let result = try store.write { try $0.undo() }
  /// ```
  ///
  /// - Returns: what has changed.
  /// - Throws: `nothingToUndo`; `undoConflict` if another change stands in the way. Nothing is changed then.
  /// - Complexity: the heads of the history, and what the write had changed.
  @discardableResult
  public mutating func undo() throws -> UndoResult {
    try recordHistory()
    let (candidates, isCut) = UndoLog(entries: try historyEntries()).undoable()
    for candidate in candidates {
      // A write whose changes came to nothing is passed over: nobody would see it taken back.
      if let result = try reverse(candidate, as: .undo) { return result }
    }
    throw isCut ? TallyError.historyIsCut : TallyError.nothingToUndo
  }

  /// Takes back one write, also where others have come after it.
  ///
  /// - Parameter change: the write, as ``changeID`` named it.
  /// - Returns: what has changed.
  /// - Throws: `nothingToUndo` if it has been taken back, changed nothing or is no longer in the history;
  ///   `undoConflict` if a later change of the same task or list stands. Nothing is changed then.
  /// - Complexity: the writes since.
  @discardableResult
  public mutating func undo(_ change: ChangeID) throws -> UndoResult {
    try recordHistory()
    let (candidates, isCut) = UndoLog(entries: try historyEntries()).undoable()
    guard let entry = candidates.first(where: { $0.id == change }), let result = try reverse(entry, as: .undo) else {
      throw isCut ? TallyError.historyIsCut : TallyError.nothingToUndo
    }
    return result
  }

  /// Does again what the last ``undo()`` took back.
  ///
  /// Only as long as nothing else has been changed since: a new change ends the line of what can be done again.
  ///
  /// - Returns: what has changed.
  /// - Throws: `nothingToRedo`; `undoConflict` if another change stands in the way. Nothing is changed then.
  /// - Complexity: as ``undo()``.
  @discardableResult
  public mutating func redo() throws -> UndoResult {
    try recordHistory()
    guard let entry = UndoLog(entries: try historyEntries()).redoable(),
      let result = try reverse(entry, as: .redo)
    else { throw TallyError.nothingToRedo }
    return result
  }

  /// Puts back what one entry found, and notes that as an entry of its own; `nil` if there is nothing to put back.
  private mutating func reverse(_ entry: HistoryEntry, as kind: HistoryKind) throws -> UndoResult? {
    let plan = try UndoPlan(of: entry, in: self)
    guard !plan.isEmpty else { return nil }
    let later = UndoLog(entries: try historyEntries()).effective(since: entry.id)
    try plan.checkNoneTouched(by: later, in: self)
    try plan.checkLists(in: self)
    try change { (writer, images, base) throws(LMDBError) in
      var deltas = CounterDeltas()
      try plan.apply(with: writer, counting: &deltas, recording: &images, in: &base)
      try deltas.apply(to: writer.tables, in: &base)
    }
    try recordHistory(kind, target: entry.id)
    return plan.result
  }
}

extension TallyError {
  static let nothingToUndo = TallyError(
    .nothingToUndo, "There is no change to take back",
    remedy: "The history keeps about a thousand changes; what is older can come back from an export only")

  static let historyIsCut = TallyError(
    .nothingToUndo, "The change before cannot be taken back: it was too large to be kept, or was a purge",
    remedy: "What it replaced can come back from an export or a backup only")

  static let nothingToRedo = TallyError(
    .nothingToRedo, "Nothing has been taken back since the last change", remedy: "Make the change again by hand")

  static let tooManyChanges = TallyError(
    .valueOutOfRange, "There are too many steps in one write", remedy: "Spread them over several writes")

  /// Another change stands in the way of an undo.
  static func undoConflict(_ what: String) -> TallyError {
    TallyError(
      .undoConflict, "The change cannot be taken back: \(what)",
      remedy: "Take the later change back first, or undo by hand; nothing has been changed")
  }
}
