public import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// Calls a closure with the entries of the history, newest first, until it returns false.
  ///
  /// There are at most about two thousand, and only their heads are read.
  func forEachHistoryEntry(_ body: (HistoryEntry) throws -> Bool) throws {
    var cursor = try tables.history.cursor(in: base)
    var isAtEntry = try cursor.moveToLast()
    while isAtEntry {
      let key = try cursor.key()
      if key.part == 0 {
        let head = try HistoryRecord(headOf: cursor.valueBytes)
        let entry = HistoryEntry(
          id: key.change, kind: head.kind, origin: head.origin, target: head.target,
          dateMicroseconds: head.dateMicroseconds, actionName: head.actionName,
          hasImages: try HistoryRecord.images(of: cursor.valueBytes).byteCount > 0, replica: head.replica)
        guard try body(entry) else { return }
      }
      isAtEntry = try cursor.previous()
    }
  }

  /// The entries of the history, newest first: all of them, or those after `change`.
  func historyEntries(since change: ChangeID? = nil) throws -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    try forEachHistoryEntry { entry in
      if let change, entry.id <= change { return false }
      entries.append(entry)
      return true
    }
    return entries
  }

  /// Calls a closure with the images of one write, in the order in which they were recorded.
  func forEachImage(of change: ChangeID, _ body: (ImageKey, ImagePresence, RawSpan) throws -> Void) throws {
    var cursor = try tables.history.cursor(in: base)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: HistoryKey(change, part: 0))
    while isAtEntry, try cursor.key().change == change {
      var images = ImageReader(try HistoryRecord.images(of: cursor.valueBytes))
      try images.forEach(body)
      isAtEntry = try cursor.next()
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// The id that the changes of this write will have once they are committed; `nil` as long as it has changed nothing.
  ///
  /// The id serves to undo the write later. Changes after an ``undo()`` or a ``redo()`` in the same write have another
  /// id than those before it.
  ///
  /// - Throws: what the storage throws.
  public var changeID: ChangeID? {
    get throws { state.hasUnrecordedChanges ? try state.nextChangeID(in: tables.history, base) : nil }
  }

  /// Writes the changes so far to the history as one entry.
  mutating func recordHistory(_ kind: HistoryKind = .change, target: ChangeID? = nil) throws {
    try state.recordHistory(kind, target: target, at: now, in: tables.history, &base)
  }

  /// Names the action of this write, for ``history(of:limit:)`` and for a menu item such as "Undo Archive".
  ///
  /// ```swift
  /// try await store.write { transaction in
  ///   try transaction.setActionName("Archive")
  ///   try transaction.complete(id)
  /// }
  /// ```
  ///
  /// The name follows `setActionName(_:)` of Foundation's `UndoManager`.
  ///
  /// - Parameter name: at most 254 bytes of UTF-8; `nil` for no name.
  /// - Throws: `valueOutOfRange` if the name is longer.
  public mutating func setActionName(_ name: String?) throws(TallyError) {
    try state.setActionName(name)
  }

  /// Whether ``undo()`` can undo the changes of this write so far, once it is committed.
  ///
  /// It is false for a write that replaces more than the history holds, and for a deletion on a full disk.
  public var isUndoable: Bool { state.isUndoable }
}
