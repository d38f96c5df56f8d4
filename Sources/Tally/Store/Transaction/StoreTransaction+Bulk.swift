import Foundation
public import LMDB

extension StoreTransaction where Base == WriteTransaction {
  /// Stores many tasks with every field as given: for migrating from another store.
  ///
  /// Faster than `add`: each table is written once, in its own order.
  ///
  /// - Throws: `duplicateID` if an id is taken or appears twice; otherwise as `add`. Nothing is stored then.
  /// - Complexity: a task with all its index entries costs a few microseconds.
  public mutating func insert(contentsOf tasks: some Sequence<TaskItem>) throws {
    var (changes, deltas) = (try TaskBatch(with: recordWriter, in: base), CounterDeltas())
    var knownLists: Set<UUID> = []
    let stamp = ChangeStamp(replacing: nil, at: commitSequence)
    // An array is iterated as an array, whatever the caller's type, and is not copied for that.
    let tasks = Array(tasks)
    try checkParents(of: tasks)
    var rest = tasks[...]
    while !rest.isEmpty {
      let records = try rest.prefix(TaskRecordBatch.bulkCount).map { task in
        try task.validate()
        try checkSendable(task, replacing: nil)
        if let listID = task.listID, knownLists.insert(listID).inserted { try checkList(listID) }
        return TaskRecord(item: task, stamp: stamp)
      }
      try changes.insert(records, counting: &deltas)
      // The first tasks say how much room the others take; one in sixteen more, as they are not all alike.
      if rest.count == tasks.count { changes.reserve(times: Double(tasks.count) / Double(records.count) * 17 / 16) }
      rest = rest.dropFirst(TaskRecordBatch.bulkCount)
    }
    if let taken = try changes.firstTakenID(base) { throw TallyError.duplicateID(taken.id) }
    try write(&changes, counting: &deltas)
    try apply(deltas)
  }

  /// Ensures that new tasks obey the rules of sub-tasks, whose parents may be among them.
  private func checkParents(of tasks: [TaskItem]) throws {
    guard tasks.contains(where: { $0.parentID != nil }) else { return }
    let new = Dictionary(tasks.map { ($0.id, Parentage(of: $0)) }) { first, _ in first }
    for task in tasks where task.parentID != nil {
      try SubtaskRules.check(task.id, Parentage(of: task)) { try new[$0] ?? tables.parentage(of: $0, in: base) }
    }
  }

  /// Writes many changes of different tasks without the counters: `apply(_:)` must follow in the same transaction.
  ///
  /// A long import comes in batches that may all touch the same days: their counters are written once, at the end.
  mutating func write(_ changes: inout TaskBatch, counting deltas: inout CounterDeltas) throws {
    guard !changes.isEmpty else { return }
    try change { (_, images, base) throws(LMDBError) in
      try changes.apply(counting: &deltas, recording: &images, in: &base)
    }
  }

  /// Writes the gathered counters.
  mutating func apply(_ deltas: CounterDeltas) throws {
    guard !deltas.isEmpty else { return }
    try change { (writer, _, base) throws(LMDBError) in try deltas.apply(to: writer.tables, in: &base) }
  }
}

extension TaskList {
  /// Whether two lists are equal byte for byte.
  func isIdentical(to other: TaskList) -> Bool {
    self == other && name.utf8.elementsEqual(other.name.utf8)
  }

  /// The list as it is stored: its colour's digits in upper case.
  var normalized: TaskList {
    var list = self
    list.colorHex = colorHex.uppercased()
    return list
  }
}
