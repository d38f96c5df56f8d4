import Foundation
public import LMDB

extension StoreTransaction where Base == WriteTransaction {
  /// Stores many tasks with every field as given: for migrating from another store.
  ///
  /// Faster than `add`: each table is written once, in its own order.
  ///
  /// - Throws: `duplicateID` if an id is taken or stands twice, or as `add(_:)`; nothing is stored then.
  /// - Complexity: a task with all its index entries costs a few microseconds.
  public mutating func insert(contentsOf tasks: some Sequence<TaskItem>) throws {
    var changes: [TaskChange] = []
    var ids: [IDKey] = []
    var knownLists: Set<UUID> = []
    for task in tasks {
      try checkFields(of: task)
      if let listID = task.listID, !knownLists.contains(listID) {
        try checkList(listID)
        knownLists.insert(listID)
      }
      ids.append(IDKey(task.id))
      changes.append(TaskChange(old: nil, new: TaskRecord(item: task)))
    }
    try checkAreNew(ids)
    try write(changes)
  }

  /// Sees to it that no id stands twice, or belongs to a task that there is.
  private func checkAreNew(_ ids: [IDKey]) throws {
    // In the table's order neighbours tell what stands twice, and the lookups go from page to page.
    let ids = ids.sorted()
    for (id, next) in zip(ids, ids.dropFirst()) where id == next { throw TallyError.duplicateID(id.id) }
    guard let first = ids.first else { return }
    var cursor = try tables.tasks.cursor(in: base)
    // Nothing of what is stored lies behind the first of them where all of them are younger.
    guard try cursor.move(toFirstAtOrAfter: first) else { return }
    for id in ids where try cursor.move(to: id) { throw TallyError.duplicateID(id.id) }
  }

  /// Writes many changes of different tasks.
  mutating func write(_ changes: [TaskChange]) throws {
    var deltas = CounterDeltas()
    try write(changes, counting: &deltas)
    try apply(deltas)
  }

  /// Writes many changes of different tasks, but for the counters: `apply(_:)` must follow in the same transaction.
  ///
  /// A long import comes in batches that may all touch the same days: their counters are written once, at the end.
  mutating func write(_ changes: [TaskChange], counting deltas: inout CounterDeltas) throws {
    guard !changes.isEmpty else { return }
    try change { (writer, images, base) throws(LMDBError) in
      try writer.applyAll(changes, counting: &deltas, recording: &images, in: &base)
    }
  }

  /// Writes the counters that have been gathered.
  mutating func apply(_ deltas: CounterDeltas) throws {
    guard !deltas.isEmpty else { return }
    try change { (writer, _, base) throws(LMDBError) in try deltas.apply(to: writer.tables, in: &base) }
  }
}

extension TaskItem {
  /// Whether two tasks are equal byte for byte.
  ///
  /// `==` takes texts for equal that Unicode holds to be equivalent; a store must keep the difference.
  func isIdentical(to other: TaskItem) -> Bool {
    self == other && title.utf8.elementsEqual(other.title.utf8)
      && (notes ?? "").utf8.elementsEqual((other.notes ?? "").utf8)
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
