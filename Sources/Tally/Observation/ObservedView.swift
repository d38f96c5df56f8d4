import Foundation
import LMDB
public import TallyEngine

/// A view that is kept up to date from the changes, without being read again, whenever its owner chooses.
///
/// ``TaskStore/observe(_:)`` waits for changes and delivers them. A program that answers requests needs to be up to
/// date at the moment of a request, whether or not anybody waits:
///
/// ```swift
/// var today = try store.read { try ObservedView(.today, in: $0) }
/// // Later, at any time:
/// let difference = try store.read { try today.follow($0) }
/// print(today.count, difference.insertions.count)
/// ```
///
/// It keeps the view's tasks in memory.
public struct ObservedView: Sendable {
  private typealias Row = (key: ViewKey, task: TaskItem)

  /// The view that is followed.
  public let view: TaskView
  /// The rows, in the view's order.
  private var rows: [Row]
  private var keys: [UUID: ViewKey]
  private var last: StorePosition
  private var now: Timestamp
  private var timeZone: TimeZone
  /// How many times whole views were read, and how many tasks were looked up.
  private(set) var counts = ObservationCounts(viewReadCount: 1)

  /// Reads a view and prepares to follow it.
  ///
  /// - Parameters:
  ///   - view: the view to follow.
  ///   - transaction: the snapshot in which to read it.
  /// - Throws: `listNotFound` if the view's list does not exist; what reading the view throws.
  /// - Complexity: linear in the length of the view.
  public init(_ view: TaskView, in transaction: borrowing StoreReadTransaction) throws {
    try self.init(try transaction.view(view), in: transaction)
  }

  /// Begins with a view that has been read in a snapshot.
  init(_ result: ViewResult, in transaction: borrowing StoreReadTransaction) throws {
    view = result.view
    last = try transaction.position
    now = transaction.now
    timeZone = transaction.calendar.timeZone
    rows = []
    let definition = try transaction.definition(of: view)
    for task in result.tasks {
      guard let key = try transaction.key(of: task, in: view, definition) else { continue }
      rows.append((key, task))
    }
    keys = Dictionary(rows.map { ($0.task.id, $0.key) }) { first, _ in first }
  }

  /// The number of tasks that the view shows.
  public var count: Int { rows.count }

  /// The tasks of the view, in its order and without its sections.
  public var tasks: some RandomAccessCollection<TaskItem> { rows.lazy.map(\.task) }

  /// The position of the last snapshot followed.
  public var position: StorePosition { last }

  /// Brings the view up to date with a newer snapshot.
  ///
  /// - Parameter transaction: a snapshot of the same store, not older than the last one.
  /// - Returns: how the view has changed since the last snapshot, perhaps not at all; a deleted list shows nothing.
  /// - Throws: what looking up the changed tasks throws.
  /// - Complexity: linear in the number of tasks that have changed since the last snapshot, whatever views they are in;
  ///   if these cannot be listed, as after restoring a backup, linear in the length of the view.
  public mutating func follow(_ transaction: borrowing StoreReadTransaction) throws -> ViewDifference {
    let position = try transaction.position
    let changes = try transaction.changes(since: last)
    var difference = ViewDifference(sequence: changes.sequence, asOf: transaction.now)
    var touched = changes.tasks.all
    if view.followsDependencies { try transaction.addDependents(of: &touched) }
    let isFollowable = changes.isComplete && timeZone == transaction.calendar.timeZone
    if isFollowable, !view.isUnpredictable(after: changes),
      try transaction.forEachTask(whosePlaceIn: view, changedSince: now, { touched.insert($0) })
    {
      try follow(touched, in: transaction, &difference)
    } else {
      try readAgain(in: transaction, &difference)
    }
    (last, now, timeZone) = (position, transaction.now, transaction.calendar.timeZone)
    return difference
  }

  /// Reads the view again and compares, because the changes cannot be listed one by one or the time zone has changed.
  private mutating func readAgain(
    in transaction: borrowing StoreReadTransaction, _ difference: inout ViewDifference
  ) throws {
    counts.viewReadCount += 1
    var arrived: [UUID: TaskItem] = [:]
    do {
      for task in try transaction.view(view).tasks { arrived[task.id] = task }
    } catch let error as TallyError where error.code == .listNotFound {
      // A deleted list has no tasks.
    }
    try replace(Set(keys.keys).union(arrived.keys), by: arrived, in: transaction, &difference)
  }

  private mutating func follow(
    _ touched: Set<UUID>, in transaction: borrowing StoreReadTransaction, _ difference: inout ViewDifference
  ) throws {
    var current: [UUID: TaskItem] = [:]
    for id in touched { current[id] = try transaction.task(id) }
    counts.taskLookupCount += touched.count
    try replace(touched, by: current, in: transaction, &difference)
  }
}

extension ObservedView {
  /// Moves tasks to where they belong now, and removes those that are not in `tasks`.
  ///
  /// If it throws, nothing has changed.
  private mutating func replace(
    _ ids: Set<UUID>, by tasks: [UUID: TaskItem], in transaction: borrowing StoreReadTransaction,
    _ difference: inout ViewDifference
  ) throws {
    var leaving: Set<Int> = []
    var arriving: [(row: Row, origin: Int?)] = []
    var changed: [Row] = []
    // A query for a deleted list has no definition and no tasks.
    let definition = tasks.isEmpty ? nil : try transaction.definition(of: view)
    var newKeys: [UUID: ViewKey] = [:]
    if let definition {
      for (id, task) in tasks where ids.contains(id) {
        newKeys[id] = try transaction.key(of: task, in: view, definition)
      }
    }
    for id in ids {
      let (old, new, task) = (keys[id], newKeys[id], tasks[id])
      if let new, let task, old == new {
        if !rows[position(of: new)].task.isIdentical(to: task) { changed.append((new, task)) }
        continue
      }
      let origin = old.map(position)
      if let origin { leaving.insert(origin) }
      keys[id] = new
      if let new, let task {
        arriving.append(((new, task), origin))
      } else if let origin {
        difference.removals.append(origin)
      }
    }
    difference.removals.sort()
    merge(without: leaving, arriving.map(\.row))
    report(arriving, changed, &difference)
  }

  /// Updates the rows: in place for few changes, all at once for many.
  private mutating func merge(without positions: Set<Int>, _ arriving: [Row]) {
    guard positions.count + arriving.count > 32 else {
      for position in positions.sorted(by: >) { rows.remove(at: position) }
      for row in arriving { rows.insert(row, at: position(of: row.key)) }
      return
    }
    let staying = rows.enumerated().lazy.filter { !positions.contains($0.offset) }.map(\.element)
    rows = (Array(staying) + arriving).sorted { $0.key < $1.key }
  }

  private mutating func report(
    _ arriving: [(row: Row, origin: Int?)], _ changed: [Row], _ difference: inout ViewDifference
  ) {
    for (row, origin) in arriving {
      let position = position(of: row.key)
      if let origin {
        difference.moves.append(.init(origin: origin, position: position, task: row.task))
      } else {
        difference.insertions.append(.init(position: position, task: row.task))
      }
    }
    for row in changed {
      let position = position(of: row.key)
      rows[position].task = row.task
      difference.updates.append(.init(position: position, task: row.task))
    }
    difference.insertions.sort { $0.position < $1.position }
    difference.moves.sort { $0.position < $1.position }
    difference.updates.sort { $0.position < $1.position }
  }

  /// The position of a key among the rows, or the position at which it would be inserted.
  private func position(of key: ViewKey) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The position of a task in a view; `nil` if the view does not show it.
  fileprivate func key(of task: TaskItem, in view: TaskView, _ definition: ViewDefinition) throws -> ViewKey? {
    if case .query(let query) = definition.walk { return try key(of: task.id, in: query) }
    if hides(task, in: view) { return nil }
    // No view depends on when a record was written, so any stamp will do.
    return definition.key(TaskRecord(item: task, stamp: ChangeStamp(replacing: nil, at: 0)))
  }

  /// Calls a closure with the tasks that time alone may have moved into or out of a view since an instant.
  ///
  /// - Returns: whether they can be listed.
  fileprivate func forEachTask(
    whosePlaceIn view: TaskView, changedSince former: Timestamp, _ body: (UUID) -> Void
  ) throws -> Bool {
    guard former != now else { return true }
    if let query = view.query { return try forEachTask(whosePlaceIn: query, changedSince: former, body) }
    let definition = try definition(of: view)
    let starts = view.hidesWaiting ? changedStarts(former) : []
    for changed in definition.changedRanges(former) + starts {
      try forEachTask(of: changed.index, in: changed.range, body)
    }
    return true
  }
}
