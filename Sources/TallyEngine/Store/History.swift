public import Foundation
import LMDB

/// One write in the history.
public struct HistoryItem: Hashable, Sendable, Identifiable {
  /// The write's id, for ``Writer/undo(_:)``.
  public let id: ChangeID
  /// When it was made.
  public let date: Date
  /// The name that the program gave it; `nil` if it has none.
  public let actionName: String?
  /// Whether it is an undo or a redo.
  public let isReversal: Bool
  /// Whether an undo has reversed it and no redo has restored it.
  public let isUndone: Bool
}

/// The result of an undo or a redo.
public struct Reversal: Hashable, Sendable {
  /// The write that was undone or redone.
  public let change: ChangeID
  /// When that write was made.
  public let date: Date
  /// The name of its action; `nil` if it has none.
  public let actionName: String?
  /// How many records were restored, changed or deleted.
  public let recordCount: Int
}

extension StoreQueries where Self: ~Copyable {
  /// The last writes that an undo may concern, newest first.
  ///
  /// About a thousand are kept, or 8 MiB of replaced records.
  ///
  /// - Complexity: reads the heads of the history.
  public func history(limit: Int = .max) throws -> [HistoryItem] {
    let snapshot = try liveSnapshot
    var (items, reversed): ([HistoryItem], Set<ChangeID>) = ([], [])
    for entry in try snapshot.historyEntries() where items.count < limit {
      let isUndone = reversed.contains(entry.id)
      if !isUndone, let target = entry.target { reversed.insert(target) }
      items.append(
        HistoryItem(
          id: entry.id, date: Timestamp(clamping: entry.dateMicroseconds).date, actionName: entry.actionName,
          isReversal: entry.kind == .undo || entry.kind == .redo, isUndone: isUndone))
    }
    return items
  }

  /// The write that an undo would undo next; `nil` if there is none.
  public var undoableChange: ChangeID? {
    get throws {
      var writes = UndoableWrites()
      return try snapshot.historyEntries().first { writes.pass($0) }?.id
    }
  }

  /// The undo that a redo would undo next; `nil` if there is none.
  public var redoableChange: ChangeID? {
    get throws {
      var search = RedoableUndo()
      for entry in try snapshot.historyEntries() where !search.pass(entry) { break }
      return search.entry?.id
    }
  }
}

extension StoreSnapshot {
  /// The entries of the history, newest first; with their heads only.
  func historyEntries() throws -> [HistoryEntry] {
    try tables.historyEntries(in: view)
  }
}

extension StoreTables {
  fileprivate func historyEntries(in view: borrowing TransactionView) throws -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    var cursor = try history.cursor(in: view)
    var isAtEntry = try cursor.moveToLast()
    while isAtEntry {
      let key = try cursor.key()
      if key.part == 0 {
        let head = try HistoryRecord(headOf: cursor.valueBytes)
        entries.append(
          HistoryEntry(
            id: key.change, kind: head.kind, origin: head.origin, target: head.target,
            dateMicroseconds: head.dateMicroseconds, actionName: head.actionName,
            hasImages: try HistoryRecord.images(of: cursor.valueBytes).byteCount > 0, replica: head.replica))
      }
      isAtEntry = try cursor.previous()
    }
    return entries
  }

  /// Calls a closure with the images of a write, in the order in which they were recorded.
  func forEachImage(
    of change: ChangeID, in view: borrowing TransactionView, _ body: (ImageKey, ImagePresence, RawSpan) throws -> Void
  ) throws {
    var cursor = try history.cursor(in: view)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: HistoryKey(change, part: 0))
    while isAtEntry, try cursor.key().change == change {
      var images = ImageReader(try HistoryRecord.images(of: cursor.valueBytes))
      try images.forEach(body)
      isAtEntry = try cursor.next()
    }
  }
}

extension Writer {
  /// Writes the changes so far to the history as one entry.
  mutating func recordHistory(_ kind: HistoryKind = .change, target: ChangeID? = nil) throws {
    try state.recordHistory(kind, target: target, at: snapshot.now, in: snapshot.tables.history, &base)
  }

  /// Undoes the last write that has not been undone yet.
  ///
  /// The records return to the state before the write, and the indexes and measures with them. Called again, it undoes
  /// the write before; ``redo()`` redoes it. It works across restarts and processes, as far as the history reaches.
  ///
  /// - Returns: what was undone.
  /// - Throws: `nothingToUndo`; `undoConflict` if another change prevents it, with its collection. On an error nothing
  ///   is changed.
  @discardableResult
  public mutating func undo() throws -> Reversal {
    try recordHistory()
    let entries = try snapshot.historyEntries()
    var writes = UndoableWrites()
    for entry in entries where writes.pass(entry) {
      if let result = try reverse(entry, entries, as: .undo) { return result }
    }
    throw writes.cut == nil ? TallyError.nothingLeftToUndo : TallyError.cutHistory
  }

  /// Undoes one write, even if others came after it.
  ///
  /// - Parameter change: the write's id, from ``StoreQueries/history(limit:)``.
  /// - Returns: what was undone.
  /// - Throws: `nothingToUndo` if the write has been undone or is no longer in the history; `undoConflict` if a later
  ///   change of the same record has not been undone. On an error nothing is changed.
  @discardableResult
  public mutating func undo(_ change: ChangeID) throws -> Reversal {
    try recordHistory()
    let entries = try snapshot.historyEntries()
    let log = UndoLog(entries: entries)
    var writes = UndoableWrites()
    let entry = entries.first { writes.pass($0) && ($0.id == change || log.original(of: $0) == change) }
    guard let entry, let result = try reverse(entry, entries, as: .undo) else { throw TallyError.nothingLeftToUndo }
    return result
  }

  /// Redoes the last ``undo()``; a new change clears what can be redone.
  ///
  /// - Throws: `nothingToRedo`; `undoConflict` if another change prevents it. On an error nothing is changed.
  @discardableResult
  public mutating func redo() throws -> Reversal {
    try recordHistory()
    let entries = try snapshot.historyEntries()
    var search = RedoableUndo()
    for entry in entries where !search.pass(entry) { break }
    guard let entry = search.entry, let result = try reverse(entry, entries, as: .redo) else {
      throw search.isTooLarge ? TallyError.undoWasTooLarge : TallyError.nothingLeftToRedo
    }
    return result
  }

  /// Restores the images of one entry; `nil` if its changes cancel out.
  private mutating func reverse(
    _ entry: HistoryEntry, _ entries: [HistoryEntry], as kind: HistoryKind
  ) throws -> Reversal? {
    var records = RecordReversal()
    try snapshot.tables.forEachImage(of: entry.id, in: snapshot.view) { try records.add($0, $1, $2) }
    try records.dropUnchanged(in: snapshot)
    guard !records.isEmpty else { return nil }
    let restore = try records.prepare(after: entry, entries, in: &self)
    try restore(&self)
    try recordHistory(kind, target: entry.id)
    return Reversal(
      change: entry.id, date: Timestamp(clamping: entry.dateMicroseconds).date, actionName: entry.actionName,
      recordCount: records.count)
  }
}

extension Store {
  /// Undoes the last write that has not been undone yet, as a separate write; see ``Writer/undo()``.
  @discardableResult
  public func undo() async throws -> Reversal { try await write { try $0.undo() } }

  /// Redoes the last undo, as a separate write; see ``Writer/redo()``.
  @discardableResult
  public func redo() async throws -> Reversal { try await write { try $0.redo() } }

  /// Stores the records of older versions in the form of this one, in one write that an undo does not undo.
  ///
  /// - Returns: how many there were.
  @available(*, noasync, message: "use perform, which waits without blocking the thread")
  @discardableResult
  public func upgradeRecords() throws -> Int {
    try writeAndWait(undoable: false) { writer in
      var count = 0
      for tables in writer.snapshot.tables.collections { count += try tables.upgradeRecords(in: &writer) }
      return count
    }
  }
}

extension TallyError {
  fileprivate static let nothingLeftToUndo = TallyError(
    .nothingToUndo, "There is no change to undo", remedy: "The history keeps about a thousand changes")

  fileprivate static let cutHistory = TallyError(
    .nothingToUndo, "The previous change cannot be undone: it was too large to record",
    remedy: "The replaced records can come back only from a backup")

  fileprivate static let nothingLeftToRedo = TallyError(
    .nothingToRedo, "Nothing has been undone since the last change", remedy: "Make the change again by hand")

  fileprivate static let undoWasTooLarge = TallyError(
    .nothingToRedo, "The last undo cannot be redone: it was too large to record",
    remedy: "Make the change again by hand")
}
