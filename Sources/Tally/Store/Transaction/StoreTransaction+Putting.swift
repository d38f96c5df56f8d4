import Foundation
public import LMDB

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a task with every field as given, replacing the one with its id; for migrating from another store.
  ///
  /// ```swift
  /// try store.writeAndWait { transaction in
  ///   try transaction.put(list)
  ///   for task in tasks { try transaction.put(task) }
  /// }
  /// ```
  ///
  /// Unlike ``add(_:to:id:_:)`` and ``update(_:keepingReminder:_:)`` it derives nothing: the times of creation and
  /// change, the sort order and the completion are those of the task, and no next task of a series is created. The
  /// model's rules apply, the statistics are updated, sub-tasks follow their parent to another list, and the change can
  /// be undone. For many new tasks `insert(contentsOf:)` is faster.
  ///
  /// - Parameter task: the task; its list and its parent must exist.
  /// - Returns: whether anything changed; if the task is already stored, byte for byte, nothing is written.
  /// - Throws: `listNotFound`, `invalidParent`, `invalidDependency`, as ``TaskItem/validate()``, or what the storage
  ///   throws. On an error nothing is stored.
  @discardableResult
  public mutating func put(_ task: TaskItem) throws -> Bool {
    let old = try record(TaskRecord.self, task.id)
    var task = task
    if let old { task.float(as: old.item.shown(in: calendar.timeZone)) }
    try check(task, replacing: old?.item)
    guard old?.item.isIdentical(to: task) != true else { return false }
    try write(RecordChange<TaskRecord>(from: old, to: task, at: commitSequence))
    if let old { try updateSubtasks(of: task, replacing: old.item, closing: false) }
    return true
  }

  /// Stores a list with every field as given, replacing the one with its id; for migrating from another store.
  ///
  /// Its colour is stored in upper case.
  ///
  /// - Returns: whether anything changed.
  /// - Throws: as ``TaskList/validate()``, or what the storage throws. On an error nothing is stored.
  @discardableResult
  public mutating func put(_ list: TaskList) throws -> Bool {
    try list.validate()
    let old = try record(ListRecord.self, list.id)
    guard old?.item.isIdentical(to: list.normalized) != true else { return false }
    try write(RecordChange<ListRecord>(from: old, to: list.normalized, at: commitSequence))
    return true
  }
}
