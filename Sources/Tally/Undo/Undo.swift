public import Foundation
public import LMDB
public import TallyEngine

/// The result of an undo or a redo.
public struct UndoResult: Hashable, Sendable {
  /// The write that was undone or redone.
  public let change: ChangeID
  /// When that write was made.
  public let date: Timestamp
  /// The tasks that were restored or changed, in their new state.
  public let tasks: [TaskItem]
  /// The ids of the ones among ``tasks`` that did not exist before.
  public let returnedTaskIDs: Set<UUID>
  /// The tasks that were deleted, in their last state.
  public let deletedTasks: [TaskItem]
  /// The lists that were restored or changed, in their new state.
  public let lists: [TaskList]
  /// The ids of the ones among ``lists`` that did not exist before.
  public let returnedListIDs: Set<UUID>
  /// The lists that were deleted, in their last state.
  public let deletedLists: [TaskList]
  /// The saved filters that were restored or changed.
  public let savedFilters: [SavedFilter]
  /// The saved filters that were deleted.
  public let deletedFilters: [SavedFilter]
  /// The keys of the applications' values that were restored, changed or removed.
  public let values: Set<ValueKey>
  /// The number of records of the application's collections that were restored, changed or deleted, by the collection's
  /// name.
  public let records: [String: Int]
  /// The fields that keep their values because another replica has changed the task or list since.
  ///
  /// They have the names that documents use; `id` stands for an object that is neither created again nor deleted.
  public let keptFields: [UUID: Set<String>]

  /// Whether nothing visible changed.
  var isEmpty: Bool {
    tasks.isEmpty && deletedTasks.isEmpty && lists.isEmpty && deletedLists.isEmpty && savedFilters.isEmpty
      && deletedFilters.isEmpty && values.isEmpty && records.isEmpty
  }
}

extension UndoResult: Codable {
  /// The fields of one object that were not restored.
  private struct KeptFields: Codable {
    let id: IDText
    let fields: Set<String>
  }

  private enum Key: String, CodingKey {
    case change, date, tasks, returnedTaskIDs, deletedTasks, lists, returnedListIDs, deletedLists, savedFilters
    case deletedFilters, values, records, keptFields
  }

  /// Decodes a result.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(
      change: try container.decode(ChangeID.self, forKey: .change),
      date: try container.decode(Timestamp.self, forKey: .date),
      tasks: try container.decode([TaskItem].self, forKey: .tasks),
      returnedTaskIDs: try ids(.returnedTaskIDs),
      deletedTasks: try container.decode([TaskItem].self, forKey: .deletedTasks),
      lists: try container.decode([TaskList].self, forKey: .lists),
      returnedListIDs: try ids(.returnedListIDs),
      deletedLists: try container.decode([TaskList].self, forKey: .deletedLists),
      savedFilters: try container.decode([SavedFilter].self, forKey: .savedFilters),
      deletedFilters: try container.decode([SavedFilter].self, forKey: .deletedFilters),
      values: Set(try container.decode([ValueKey].self, forKey: .values)),
      records: try container.decodeIfPresent([String: Int].self, forKey: .records) ?? [:],
      keptFields: Dictionary(
        try container.decodeIfPresent([KeptFields].self, forKey: .keptFields)?.map { ($0.id.id, $0.fields) } ?? []
      ) { $0.union($1) })
  }

  /// Encodes the result: each part under the name of its property, with ids and keys of values in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(change, forKey: .change)
    try container.encode(date, forKey: .date)
    try container.encode(tasks, forKey: .tasks)
    try container.encode(texts(returnedTaskIDs), forKey: .returnedTaskIDs)
    try container.encode(deletedTasks, forKey: .deletedTasks)
    try container.encode(lists, forKey: .lists)
    try container.encode(texts(returnedListIDs), forKey: .returnedListIDs)
    try container.encode(deletedLists, forKey: .deletedLists)
    try container.encode(savedFilters, forKey: .savedFilters)
    try container.encode(deletedFilters, forKey: .deletedFilters)
    let names = values.sorted { left, right in
      left.namespace == right.namespace
        ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.namespace < right.namespace
    }
    try container.encode(names, forKey: .values)
    if !records.isEmpty { try container.encode(records, forKey: .records) }
    let kept = keptFields.map { KeptFields(id: IDText($0), fields: $1) }.sorted { $0.id.text < $1.id.text }
    if !kept.isEmpty { try container.encode(kept, forKey: .keptFields) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The write that `undo()` would undo next; `nil` if there is none.
  ///
  /// - Complexity: reads the heads of the history since that write.
  public var undoableChange: ChangeID? {
    get throws {
      var (writes, found) = (UndoableWrites(), ChangeID?.none)
      try forEachHistoryEntry { entry in
        if writes.pass(entry) { found = entry.id }
        return found == nil && writes.cut == nil
      }
      return found
    }
  }

  /// The undo that `redo()` would undo next; `nil` if there is none.
  ///
  /// - Complexity: reads the heads of the history since that undo.
  public var redoableChange: ChangeID? {
    get throws { try redoableUndo.entry?.id }
  }

  /// The search for the undo that `redo()` would undo.
  private var redoableUndo: RedoableUndo {
    get throws {
      var search = RedoableUndo()
      try forEachHistoryEntry { search.pass($0) }
      return search
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Undoes the last write that has not been undone yet.
  ///
  /// Tasks, lists, their order, the completions and the counters return to the state before the write. Only the times
  /// of change are new, because an undo is a change like any other. Called again, it undoes the write before;
  /// ``redo()`` redoes it. If another replica has changed an object since, only the fields that still have the value of
  /// that write are restored. It works across restarts and processes, as far as the history reaches: about a thousand
  /// writes, or 8 MiB of replaced data. A write that replaced more cannot be undone, nor can `purgeCompletions` or
  /// anything before either of them.
  ///
  /// ```swift
  /// let result = try store.writeAndWait { try $0.undo() }
  /// ```
  ///
  /// - Returns: the tasks, lists and records that have changed.
  /// - Throws: `nothingToUndo`; `undoConflict` if another change prevents it, or if the write has changed records of
  ///   collections with which the store was not opened. On an error nothing is changed.
  /// - Complexity: reads the heads of the history since that write, and the images of that write and of later ones.
  @discardableResult
  public mutating func undo() throws -> UndoResult {
    try recordHistory()
    var (writes, found) = (UndoableWrites(), UndoPlan?.none)
    try forEachHistoryEntry { entry in
      if writes.pass(entry) { found = try plan(of: entry) }
      return found == nil && writes.cut == nil
    }
    guard let plan = found else { throw writes.cut == nil ? TallyError.nothingToUndo : TallyError.historyIsCut }
    return try carryOut(plan, as: .undo)
  }

  /// Undoes one write, even if others came after it.
  ///
  /// If the write was undone and then redone, the redo is undone.
  ///
  /// - Parameter change: the write's ``changeID``; `nil`, the id of a write without changes, is never found.
  /// - Returns: the tasks, lists and records that have changed.
  /// - Throws: `nothingToUndo` if the write has been undone, changed nothing or is no longer in the history;
  ///   `undoConflict` if a later change of the same task, list or record has not been undone, and what ``undo()``
  ///   throws. On an error nothing is changed.
  /// - Complexity: reads the heads of the history, and the images of that write and of later ones.
  @discardableResult
  public mutating func undo(_ change: ChangeID?) throws -> UndoResult {
    try recordHistory()
    let log = UndoLog(entries: try historyEntries())
    var writes = UndoableWrites()
    let entry = log.entries.first { writes.pass($0) && ($0.id == change || log.original(of: $0) == change) }
    guard let entry else {
      let isCut = change.flatMap { change in writes.cut.map { change <= $0 } } ?? false
      throw isCut ? TallyError.historyIsCut : TallyError.nothingToUndo
    }
    return try carryOut(UndoPlan(of: entry, in: self), as: .undo)
  }

  /// Redoes the last ``undo()``.
  ///
  /// It works only as long as nothing else has been changed since: a new change clears what can be redone. So does an
  /// undo that replaced more than the history holds.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: `nothingToRedo`; `undoConflict` if another change prevents it. On an error nothing is changed.
  /// - Complexity: as ``undo()``.
  @discardableResult
  public mutating func redo() throws -> UndoResult {
    try recordHistory()
    let undo = try redoableUndo
    guard let plan = try plan(of: undo.entry) else {
      throw undo.isTooLarge ? TallyError.undoTooLarge : TallyError.nothingToRedo
    }
    return try carryOut(plan, as: .redo)
  }

  /// The plan that reverses an entry; `nil` if the entry's changes cancel out, because nobody would see it undone.
  private func plan(of entry: HistoryEntry?) throws -> UndoPlan? {
    guard let plan = try entry.map({ try UndoPlan(of: $0, in: self) }) else { return nil }
    return plan.isEmpty ? nil : plan
  }

  /// Restores the images of one entry, and records that as a new entry.
  private mutating func carryOut(_ plan: UndoPlan, as kind: HistoryKind) throws -> UndoResult {
    var plan = plan
    let target = plan.entry.id
    let later = UndoLog(entries: try historyEntries(since: target)).effective(since: target)
    try plan.narrow(to: later, in: self)
    // Only an undo by id can have an empty plan, for a write whose changes cancel out.
    guard !plan.isEmpty else { throw TallyError.nothingToUndo }
    try plan.place(in: self)
    try plan.checkTexts(in: self)
    try plan.checkLists(in: self)
    try plan.checkParents(in: self)
    let restore = try restoration(of: plan)
    try change { [plan] (writer, images, base) throws(LMDBError) in
      var deltas = CounterDeltas()
      try plan.apply(with: writer, counting: &deltas, recording: &images, in: &base)
      try deltas.apply(to: writer.tables, in: &base)
    }
    if let restore { try withWriter { try restore(&$0) } }
    try recordHistory(kind, target: target)
    try takeBackNotes(of: plan.objects, reversedWith: target)
    return plan.result
  }

  /// What restores the records of collections, after a check that it is possible; `nil` if there are none.
  private mutating func restoration(of plan: UndoPlan) throws -> RecordReversal.Step? {
    guard !plan.collections.isEmpty else { return nil }
    guard records != nil else { throw TallyError.unknownCollection }
    let entries = try historyEntries()
    return try withWriter { try plan.collections.prepare(after: plan.entry, entries, in: &$0) }
  }
}

extension TallyError {
  package static let nothingToUndo = TallyError(
    .nothingToUndo, "There is no change to undo",
    remedy: "The history keeps about a thousand changes; older ones can come back only from an export")

  static let historyIsCut = TallyError(
    .nothingToUndo, "The previous change cannot be undone: it was too large to record, or was a purge",
    remedy: "The replaced data can come back only from an export or a backup")

  static let nothingToRedo = TallyError(
    .nothingToRedo, "Nothing has been undone since the last change", remedy: "Make the change again by hand")

  static let undoTooLarge = TallyError(
    .nothingToRedo, "The last undo cannot be redone: it was too large to record",
    remedy: "Make the change again by hand")

  static let irreversible = TallyError(
    .irreversible, "The change is too large to be undone: afterwards neither it nor any earlier one can be",
    remedy: "Export or back up the store first; nothing was changed")

  /// The error for an undo that another change prevents.
  static func undoConflict(_ what: String) -> TallyError {
    TallyError(
      .undoConflict, "The change cannot be undone: \(what)",
      remedy: "Undo the later change first, or restore it by hand; nothing was changed")
  }
}

extension TaskStore {
  /// Undoes the last write that has not been undone yet, as a separate write.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: what `undo()` of a write transaction throws, and what `write` throws.
  @discardableResult
  public func undo() async throws -> UndoResult {
    try await write { try $0.undo() }
  }

  /// Redoes the last undo, as a separate write.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: what `redo()` of a write transaction throws, and what `write` throws.
  @discardableResult
  public func redo() async throws -> UndoResult {
    try await write { try $0.redo() }
  }
}
