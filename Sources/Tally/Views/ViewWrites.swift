public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Deletes a list together with its tasks; their completions stay in the statistics.
  ///
  /// - Returns: how many tasks were deleted with it.
  /// - Throws: `listNotFound`.
  /// - Complexity: linear in the number of the list's tasks.
  @discardableResult
  public mutating func deleteList(_ id: UUID) throws -> Int {
    let record = try require(ListRecord.self, id)
    let taskIDs = try orderedTaskIDs(inList: id)
    // A sub-task has already been deleted with its parent.
    for taskID in taskIDs where try tables.tasks.contains(IDKey(taskID), in: base) { try delete(taskID) }
    try write(RecordChange<ListRecord>(from: record, to: nil, at: commitSequence))
    try keepName(of: record.item)
    try noteDeletion(ofList: id)
    return taskIDs.count
  }

  /// Moves all tasks of a list to the end of another one, in their order, and deletes the emptied list.
  ///
  /// Completions still count for the list in which they were made; the statistics keep its name. In a store that
  /// synchronises, tasks that other devices still add to the deleted list also move to the other one.
  ///
  /// - Parameters:
  ///   - id: the list that is emptied and deleted.
  ///   - targetID: the list that receives the tasks; if it is the same list, nothing happens.
  /// - Returns: how many tasks were moved.
  /// - Throws: `listNotFound`.
  /// - Complexity: linear in the number of tasks in the first list.
  @discardableResult
  public mutating func mergeList(_ id: UUID, into targetID: UUID) throws -> Int {
    let record = try require(ListRecord.self, id)
    _ = try require(ListRecord.self, targetID)
    guard id != targetID else { return 0 }
    let taskIDs = try orderedTaskIDs(inList: id)
    // A sub-task has already been moved with its parent.
    for taskID in taskIDs where try task(taskID)?.listID == id { try move(taskID, toList: targetID) }
    for var series in try storedSeries() where series.template.listID == id {
      series.move(toList: targetID)
      series.touch(at: timeOfChange(after: series.updatedAt))
      try write(series)
    }
    try write(RecordChange<ListRecord>(from: record, to: nil, at: commitSequence))
    try keepName(of: record.item)
    try noteMerge(ofList: id, into: targetID)
    return taskIDs.count
  }

  /// Saves a filter under a name, replacing the filter that has the name already.
  ///
  /// ```swift
  /// try await store.write { try $0.saveFilter(.tag("home") && .is(.open), as: "Chores") }
  /// ```
  ///
  /// Dates stay relative: a saved `due<=today` always means the current day. The lists that the filter names must exist;
  /// a query with a saved filter throws `listNotFound` once one of them has been renamed or deleted.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - name: 1 to 64 characters without control characters; surrounding white space is removed.
  /// - Returns: the filter as saved.
  /// - Throws: `invalidFilter` if the name is not valid or ``TaskFilter/validate()`` refuses the filter; `listNotFound`
  ///   if a list does not exist; `valueOutOfRange` if a date is outside the years 1 to 9999; what the storage throws.
  @discardableResult
  public mutating func saveFilter(_ filter: TaskFilter, as name: String) throws -> SavedFilter {
    _ = try resolved(filter, by: .place)
    let old = try savedFilter(named: name)
    let time = old.map { timeOfChange(after: $0.updatedAt) } ?? stamp
    let new = try SavedFilter(filter, as: name, updatedAt: time)
    if let old, old.name == new.name, old.text == new.text { return old }
    try put(new)
    return new
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The tasks of a list in their order, with those that wait for their start.
  func orderedTaskIDs(inList id: UUID) throws -> [UUID] {
    var ids: [UUID] = []
    _ = try scan(definition(of: .list(id)), after: nil) { taskID, _ in
      ids.append(taskID)
      return true
    }
    return ids
  }
}
