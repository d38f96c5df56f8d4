import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Stores many tasks with every field as given, for migrating from another store.
  ///
  /// It is faster than `add`, because each table is written once, in key order.
  ///
  /// - Throws: `duplicateID` if an id is in use or appears twice; otherwise as `add`. On an error nothing is stored.
  /// - Complexity: a few microseconds for each task with all its index entries.
  public mutating func insert(contentsOf tasks: some Sequence<TaskItem>) throws {
    var (changes, deltas) = (try TaskBatch(with: recordWriter, in: base), CounterDeltas())
    var knownLists: Set<UUID> = []
    let stamp = ChangeStamp(replacing: nil, at: commitSequence)
    // Iterates over an array whatever the caller's type; a caller's array is not copied.
    let tasks = Array(tasks)
    try checkParents(of: tasks)
    try checkDependencies(of: tasks)
    var rest = tasks[...]
    while !rest.isEmpty {
      let records = try rest.prefix(TaskRecordBatch.bulkCount).map { task in
        try task.validate()
        try checkSendable(task, replacing: nil)
        if let listID = task.listID, knownLists.insert(listID).inserted { try checkList(listID) }
        return TaskRecord(item: task, stamp: stamp)
      }
      try changes.insert(records, counting: &deltas)
      // Reserves memory by the size of the first tasks, and a sixteenth more because tasks differ in size.
      if rest.count == tasks.count { changes.reserve(times: Double(tasks.count) / Double(records.count) * 17 / 16) }
      rest = rest.dropFirst(TaskRecordBatch.bulkCount)
    }
    if let taken = try changes.firstTakenID(base) { throw TallyError.duplicateID(taken.id) }
    try write(&changes, counting: &deltas)
    try apply(deltas)
  }

  /// Checks that new tasks obey the rules of sub-tasks; their parents may be among them.
  private func checkParents(of tasks: [TaskItem]) throws {
    guard tasks.contains(where: { $0.parentID != nil }) else { return }
    let new = Dictionary(tasks.map { ($0.id, Parentage(of: $0)) }) { first, _ in first }
    for task in tasks where task.parentID != nil {
      try SubtaskRules.check(task.id, Parentage(of: task)) { try new[$0] ?? tables.parentage(of: $0, in: base) }
    }
  }

  /// Checks that new tasks obey the rules of dependencies; the others may be among them.
  private func checkDependencies(of tasks: [TaskItem]) throws {
    guard tasks.contains(where: { !$0.dependsOn.isEmpty }) else { return }
    let new = Dictionary(tasks.map { ($0.id, $0) }) { first, _ in first }
    // One search for all, in which completed tasks count: they may be reopened.
    let graph = BlockingGraph()
    func look(_ id: UUID) throws -> Dependencies? {
      guard let ids = try new[id]?.dependsOn ?? dependencies(of: id)?.ids else { return nil }
      return Dependencies(isOpen: true, ids: ids)
    }
    for task in tasks where !task.dependsOn.isEmpty {
      try DependencyRules.checkAncestors(in: task.dependsOn, above: task.parentID) {
        try new[$0].map(Parentage.init(of:)) ?? tables.parentage(of: $0, in: base)
      }
      let cycle = try graph.cycle(of: task.id, look)
      guard !cycle.isEmpty else { continue }
      // It names the tasks in their order, unless they are too many.
      try DependencyRules.checkCycle(through: task.id, to: task.dependsOn, look)
      throw TallyError.dependencyCycle(cycle.sorted { $0.words < $1.words })
    }
  }

  /// Writes many changes of different tasks without the counters; `apply(_:)` must follow in the same transaction.
  ///
  /// A long import is split into batches that may all affect the same days, so the counters are written once at the
  /// end.
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

  /// The list as it is stored: with its colour in upper case.
  var normalized: TaskList {
    var list = self
    list.colorHex = colorHex.uppercased()
    return list
  }
}
