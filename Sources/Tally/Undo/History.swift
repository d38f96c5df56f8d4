public import Foundation
import LMDB
public import TallyEngine

/// Reads the history from its end, and so knows the state after each write.
///
/// That is the state before the next write of the same record or, for the last one, the current state.
struct HistoryWalk {
  /// The states before the writes that were read, by the object's id or key.
  private var tasks: [UUID: TaskItem?] = [:]
  private var lists: [UUID: TaskList?] = [:]
  private var values: [ValueKey: [UInt8]?] = [:]
  /// The writes that a later undo or redo reversed.
  private var reversed: Set<ChangeID> = []
  /// The only task whose differences are wanted; `nil` for all objects.
  let taskID: UUID?
  /// The series of that task.
  private var seriesID: UUID?

  init(of taskID: UUID?, inSeries seriesID: UUID?) {
    (self.taskID, self.seriesID) = (taskID, seriesID)
  }

  /// Reads the next older write, with its differences.
  mutating func change<Base: LMDBTransaction & ~Copyable>(
    of entry: HistoryEntry, in transaction: borrowing StoreTransaction<Base>
  ) throws -> HistoryChange {
    let isUndone = reversed.contains(entry.id)
    if !isUndone, let target = entry.target { reversed.insert(target) }
    var differences = Differences()
    var (seen, records): (Set<ImageKey>, RecordReversal) = ([], RecordReversal())
    try transaction.forEachImage(of: entry.id) { key, presence, bytes in
      // A change that other replicas made to a deleted object changes nothing that exists.
      guard presence != .deleted else { return }
      let wasThere = presence == .present
      // If there are several images, the first one has the state before the write.
      guard seen.insert(key).inserted else { return }
      switch key.kind {
      case .task:
        try Self.add(
          TaskRecord.self, key.id, wasThere, bytes, following: &tasks, to: &differences.tasks,
          orRenumbered: &differences.renumberedTasks, transaction)
      case .list:
        try Self.add(
          ListRecord.self, key.id, wasThere, bytes, following: &lists, to: &differences.lists,
          orRenumbered: &differences.renumberedLists, transaction)
      case .value: try addValue(key.value, wasThere, bytes, to: &differences, transaction)
      case .record: try records.add(key, presence, bytes)
      default: break
      }
    }
    differences.removeSeriesOfTasks()
    differences.addRenumberedIfAlone()
    if let taskID { differences = ofTask(taskID, differences) }
    return HistoryChange(
      id: entry.id, kind: .init(entry.kind), date: entry.date, actionName: entry.actionName,
      isFromElsewhere: entry.origin == .replica, replica: entry.replica, target: entry.target, isUndone: isUndone,
      tasks: differences.tasks, lists: differences.lists, series: differences.series, savedFilters: differences.filters,
      values: differences.values, records: taskID == nil ? records.counts(in: transaction.records) : [:])
  }

  private struct Differences {
    var tasks: [HistoryChange.Difference<TaskItem>] = []
    var lists: [HistoryChange.Difference<TaskList>] = []
    var series: [HistoryChange.Difference<TaskSeries>] = []
    var filters: [HistoryChange.Difference<SavedFilter>] = []
    var values: Set<ValueKey> = []
    /// The tasks of which only the order differs: neighbours of a moved one, which the user has not changed.
    var renumberedTasks: [HistoryChange.Difference<TaskItem>] = []
    var renumberedLists: [HistoryChange.Difference<TaskList>] = []

    /// Leaves out the series of which a changed task says everything: all that began or ended, and all but the zone of
    /// others.
    mutating func removeSeriesOfTasks() {
      let told = Set(tasks.flatMap { [$0.before, $0.after] }.compactMap { $0?.series?.id })
      series.removeAll { difference in
        guard let new = difference.after else { return true }
        guard new.timeZoneIdentifier == difference.before?.timeZoneIdentifier else { return false }
        return told.contains(new.id) || difference.before?.makesSameTasks(as: new) ?? true
      }
    }

    /// Counts renumbered objects as changed if nothing else has: a move may look like a renumbering.
    ///
    /// It does if the previous change happened in the same microsecond.
    mutating func addRenumberedIfAlone() {
      guard tasks.isEmpty, lists.isEmpty, series.isEmpty, filters.isEmpty, values.isEmpty else { return }
      (tasks, lists) = (renumberedTasks, renumberedLists)
    }
  }
}

extension HistoryWalk {
  /// What a write changed in one task and its series.
  private mutating func ofTask(_ id: UUID, _ all: Differences) -> Differences {
    let tasks = all.tasks.filter { $0.task?.id == id }
    seriesID = tasks.first.flatMap { ($0.before ?? $0.task)?.series?.id } ?? seriesID
    return Differences(tasks: tasks, series: all.series.filter { ($0.after ?? $0.before)?.id == seriesID })
  }

  /// Adds the difference of one object, and remembers its state before the write.
  private static func add<Record: ObjectRecord, Base: LMDBTransaction & ~Copyable>(
    _ record: Record.Type, _ id: UUID, _ wasThere: Bool, _ image: RawSpan,
    following states: inout [UUID: Record.Item?], to changed: inout [HistoryChange.Difference<Record.Item>],
    orRenumbered renumbered: inout [HistoryChange.Difference<Record.Item>],
    _ transaction: borrowing StoreTransaction<Base>
  ) throws {
    let before = wasThere ? try Record(id: id, decoding: image).item : nil
    let after = try states[id] ?? transaction.record(Record.self, id)?.item
    states[id] = .some(before)
    let zone = transaction.calendar.timeZone
    let difference = HistoryChange.Difference(before: before?.shown(in: zone), after: after?.shown(in: zone))
    switch kind(of: difference) {
    case .change: changed.append(difference)
    case .renumbering: renumbered.append(difference)
    case .none: break
    }
  }

  private mutating func addValue<Base: LMDBTransaction & ~Copyable>(
    _ key: ValueKey?, _ wasThere: Bool, _ image: RawSpan, to differences: inout Differences,
    _ transaction: borrowing StoreTransaction<Base>
  ) throws {
    guard let key else { return }
    let before = wasThere ? image.bytes(from: 0) : nil
    let after = try values[key] ?? transaction.tables.values.value(forKey: key, in: transaction.base)
    values[key] = .some(before)
    guard before != after else { return }
    if key.namespace == SavedFilter.namespace {
      let read = { (bytes: [UInt8]) in SavedFilter(stored: bytes, under: key) }
      differences.filters.append(.init(before: before.flatMap(read), after: after.flatMap(read)))
    } else if key.namespace == TaskSeries.namespace {
      let read = { (bytes: [UInt8]) in TaskSeries(stored: bytes, under: key) }
      let (old, new) = (before.flatMap(read), after.flatMap(read))
      differences.series.append(.init(before: old, after: new))
    } else if !key.isReserved {
      differences.values.insert(key)
    }
  }

  private enum Kind {
    case none, renumbering, change
  }

  private static func kind<Item: StoredObject>(of difference: HistoryChange.Difference<Item>) -> Kind {
    guard var before = difference.before, let after = difference.after else {
      return difference.before == nil && difference.after == nil ? .none : .change
    }
    // A time that begins to float, or ends it, is the same instant; what people see has not changed.
    if before.isIdentical(to: after) || Item.differences(before, after) == .floating { return .none }
    before.sortOrder = after.sortOrder
    return before.isIdentical(to: after) ? .renumbering : .change
  }
}

/// One write in the history: when it was made, by which action, and what it changed.
///
/// ```swift
/// for change in try store.read({ try $0.history(limit: 10) }) {
///   print(change.date, change.actionName ?? "change", change.tasks.count)
/// }
/// ```
public struct HistoryChange: Sendable, Identifiable {
  /// The kind of a write.
  public enum Kind: String, Sendable, CaseIterable {
    /// An ordinary write of a program.
    case change
    /// The undoing of a change or of a redo.
    case undo
    /// The undoing of an undo.
    case redo
    /// A write that was too large to record, or a purge: neither it nor anything before it can be undone.
    case cut
  }

  /// The write's id, for ``StoreTransaction/undo(_:)``.
  public let id: ChangeID
  /// The kind of the write.
  public let kind: Kind
  /// When the write was made.
  public let date: Timestamp
  /// The name that the program gave the write, see ``StoreTransaction/setActionName(_:)``; `nil` if it has none.
  public let actionName: String?
  /// Whether the write applied changes from other devices, which undo skips.
  public let isFromElsewhere: Bool
  /// The replica whose changes the write applied; `nil` for a write of this store, and if there were several.
  public let replica: UUID?
  /// The write that an undo or a redo reversed.
  public let target: ChangeID?
  /// Whether an undo has reversed the write and no redo has restored it.
  public let isUndone: Bool
  /// The tasks that changed, in the order of the changes.
  public let tasks: [Difference<TaskItem>]
  /// The lists that changed.
  public let lists: [Difference<TaskList>]
  /// The series that got another time zone, which none of their tasks shows.
  public let series: [Difference<TaskSeries>]
  /// The saved filters that changed.
  public let savedFilters: [Difference<SavedFilter>]
  /// The keys of the applications' values that changed.
  public let values: Set<ValueKey>
  /// The number of records of the application's collections that were written, by the collection's name.
  ///
  /// Those of collections that the store was opened without are counted under an empty name.
  public let records: [String: Int]

  /// A record before and after a write.
  public struct Difference<Record: Sendable>: Sendable {
    /// The record before; `nil` if it did not exist.
    public let before: Record?
    /// The record after; `nil` if it was deleted.
    public let after: Record?
  }
}

extension HistoryChange.Difference where Record == TaskItem {
  /// The task after the write, or before it if it was deleted.
  public var task: TaskItem? { after ?? before }

  /// The fields that differ, in the order of documents; empty if the task is new or was deleted.
  package var changedFields: [TaskField] {
    guard let before, let after else { return [] }
    return TaskField.all.filter { $0 != .updatedAt && before[$0] != after[$0] }
  }
}

extension HistoryChange.Kind {
  init(_ kind: HistoryKind) {
    switch kind {
    case .change: self = .change
    case .undo: self = .undo
    case .redo: self = .redo
    case .cut: self = .cut
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The last writes, newest first, with what each of them changed.
  ///
  /// About a thousand writes are kept, or 8 MiB of replaced data; up to twice as much after undos and redos. Writes
  /// that changed nothing visible are left out, and so is a write whose undo was too large to record.
  ///
  /// ```swift
  /// let changes = try store.read { try $0.history(of: id) }
  /// ```
  ///
  /// - Parameters:
  ///   - taskID: return only the writes that changed this task or the time zone of its series, and only what they changed
  ///     in these; `nil` for all writes. The task may have been deleted.
  ///   - limit: the most writes to return.
  /// - Returns: the writes.
  /// - Throws: what the storage throws.
  /// - Complexity: reads the heads of the history, and the writes up to the last one returned.
  public func history(of taskID: UUID? = nil, limit: Int = .max) throws -> [HistoryChange] {
    var changes: [HistoryChange] = []
    guard limit > 0 else { return [] }
    try forEachHistoryChange(of: taskID) { change in
      changes.append(change)
      return changes.count < limit
    }
    return changes
  }

  /// One write of the history; `nil` if the history no longer has it.
  ///
  /// - Parameter id: the write's id.
  /// - Returns: the write with what it changed.
  /// - Throws: what the storage throws.
  /// - Complexity: reads the heads of the history, and the writes since that one.
  public func historyChange(_ id: ChangeID) throws -> HistoryChange? {
    var found: HistoryChange?
    try forEachHistoryChange(of: nil) { change in
      if change.id == id { found = change }
      return change.id > id
    }
    return found
  }

  private func forEachHistoryChange(of taskID: UUID?, _ body: (HistoryChange) -> Bool) throws {
    var walk = HistoryWalk(of: taskID, inSeries: try taskID.flatMap { try task($0)?.series?.id })
    for entry in try historyEntries() {
      let change = try walk.change(of: entry, in: self)
      let isEmpty =
        change.tasks.isEmpty && change.lists.isEmpty && change.series.isEmpty && change.savedFilters.isEmpty
        && change.values.isEmpty && change.records.isEmpty
      let isShown = !isEmpty || (taskID == nil && !entry.hasImages)
      guard !isShown || body(change) else { return }
    }
  }
}
