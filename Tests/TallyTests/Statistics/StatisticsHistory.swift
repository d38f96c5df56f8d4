import Foundation
import TallyTestSupport

@testable import Tally

/// A store and its model, changed together in ways that move counters.
struct StatisticsHistory {
  let store: TaskStore
  var model = HistoryModel()
  var generator: SeededGenerator
  /// Draws the instants of creations and completions.
  let drawInstant: (inout SeededGenerator) -> Timestamp
  var taskLimit = 40

  static let tags = ["garden", "Straße", "home"]

  init(
    store: TaskStore,
    generator: SeededGenerator,
    drawInstant: @escaping (inout SeededGenerator) -> Timestamp
  ) {
    self.store = store
    self.generator = generator
    self.drawInstant = drawInstant
  }

  /// Runs one transaction of a few changes.
  mutating func step() throws {
    let count = Int.random(in: 1...5, using: &generator)
    var changed = self
    try store.writeAndWait { transaction in
      changed = self
      for _ in 0..<count { try changed.change(&transaction) }
    }
    self = changed
  }

  private mutating func change(_ transaction: inout StoreWriteTransaction) throws {
    switch Int.random(in: 0..<21, using: &generator) {
    case 0..<6: try insert(&transaction)
    case 6..<11: try complete(&transaction)
    case 11..<13: try importOver(&transaction)
    case 13: try reopen(&transaction)
    case 14..<16: try move(&transaction)
    case 16: try delete(&transaction)
    case 17: try importAgain(&transaction)
    case 18: try changeLists(&transaction)
    case 19: try record(&transaction)
    default: try purge(&transaction)
    }
  }

  private mutating func oneTask() -> TaskItem? {
    model.tasks.values.sorted { $0.id.uuidString < $1.id.uuidString }.randomElement(using: &generator)
  }

  private mutating func oneListID() -> UUID? {
    generator.oneIn(3) ? nil : model.lists.randomElement(using: &generator)?.id
  }

  private mutating func classification(listID: UUID?) -> Classification {
    let tags = Self.tags.filter { _ in generator.oneIn(3) }
    return Classification(
      listID: listID, tags: TagSet(tags), priority: Priority.allCases.randomElement(using: &generator) ?? .none)
  }

  /// An instant with an offset as after travelling, not always a multiple of a quarter hour.
  private mutating func completion() -> OffsetTimestamp {
    let instant = drawInstant(&generator)
    let minutes =
      generator.oneIn(4)
      ? Int.random(in: -1_000...1_000, using: &generator) : 15 * Int.random(in: -48...56, using: &generator)
    return (try? OffsetTimestamp(instant, utcOffsetInMinutes: minutes)) ?? OffsetTimestamp(instant, in: .gmt)
  }

  private mutating func newTask(_ id: UUID) -> TaskItem {
    let createdAt = drawInstant(&generator)
    var task = TaskItem(id: id, title: "task", listID: oneListID(), createdAt: createdAt)
    if generator.oneIn(2) { task.dueDate = drawInstant(&generator) }
    if generator.oneIn(2) { task.scheduledDate = CalendarDay(containing: drawInstant(&generator), in: .gmt) }
    if generator.oneIn(3) {
      (task.state, task.completedAt) = (.completed, completion())
    } else if generator.oneIn(4) {
      (task.state, task.cancelledAt) = (.cancelled, completion())
    }
    if generator.oneIn(4) {
      task.start = generator.oneIn(3) ? .someday : .day(CalendarDay(containing: drawInstant(&generator), in: .gmt))
    }
    let classification = classification(listID: nil)
    (task.tags, task.priority) = (classification.tags, classification.priority)
    return task
  }

  private mutating func insert(_ transaction: inout StoreWriteTransaction) throws {
    guard model.tasks.count < taskLimit else { return try delete(&transaction) }
    let tasks = (0..<Int.random(in: 1...3, using: &generator)).map { _ in newTask(generator.uuid()) }
    try transaction.insert(contentsOf: tasks)
    for task in tasks { model.put(task) }
  }

  private mutating func complete(_ transaction: inout StoreWriteTransaction) throws {
    guard let task = oneTask() else { return }
    if generator.oneIn(4), !task.isCompleted {
      return model.put(try transaction.cancel(task.id, at: completion()))
    }
    let isTogglingStart = generator.oneIn(5)
    model.put(isTogglingStart ? try transaction.start(task.id) : try transaction.complete(task.id, at: completion()))
  }

  private mutating func reopen(_ transaction: inout StoreWriteTransaction) throws {
    guard let task = oneTask() else { return }
    model.put(try transaction.reopen(task.id))
  }

  private mutating func move(_ transaction: inout StoreWriteTransaction) throws {
    guard let task = oneTask() else { return }
    model.put(try transaction.move(task.id, toList: oneListID()))
  }

  private mutating func delete(_ transaction: inout StoreWriteTransaction) throws {
    guard let task = oneTask() else { return }
    try transaction.delete(task.id)
    model.delete(task.id)
  }

  /// Overwrites some tasks, in any field, as an import does.
  private mutating func importOver(_ transaction: inout StoreWriteTransaction) throws {
    let old = Set((0..<3).compactMap { _ in oneTask()?.id }).sorted { $0.uuidString < $1.uuidString }
    var changes = try TaskBatch(with: transaction.recordWriter, in: transaction.base)
    var deltas = CounterDeltas()
    for id in old {
      var task = newTask(id)
      if generator.oneIn(3), let completedAt = model.tasks[id]?.completedAt {
        (task.state, task.completedAt, task.cancelledAt) = (.completed, completedAt, nil)
      }
      let change = RecordChange<TaskRecord>(
        from: try transaction.record(TaskRecord.self, id), to: task, at: transaction.commitSequence)
      try changes.add(change, counting: &deltas)
      model.put(task)
    }
    try transaction.write(&changes, counting: &deltas)
    try transaction.apply(deltas)
  }

  /// Restores a deleted task, with the completion it had or as an open one.
  private mutating func importAgain(_ transaction: inout StoreWriteTransaction) throws {
    let known = model.gone.values.sorted {
      ($0.taskID.uuidString, $0.completedAt.instant) < ($1.taskID.uuidString, $1.completedAt.instant)
    }
    guard let completion = known.randomElement(using: &generator), model.tasks[completion.taskID] == nil else { return }
    var task = newTask(completion.taskID)
    if !generator.oneIn(3) {
      (task.state, task.completedAt, task.cancelledAt) = (.completed, completion.completedAt, nil)
    }
    try transaction.insert(contentsOf: [task])
    model.put(task)
  }

  private mutating func changeLists(_ transaction: inout StoreWriteTransaction) throws {
    if model.lists.count < 3 || generator.oneIn(3) {
      model.lists.append(try transaction.addList(name: "list", id: generator.uuid()))
    } else if let list = model.lists.randomElement(using: &generator) {
      try transaction.deleteList(list.id)
      model.deleteList(list.id)
    }
  }

  /// Imports an entry of the ledger: of a task never seen, of an existing one, of a deleted one.
  private mutating func record(_ transaction: inout StoreWriteTransaction) throws {
    let task = oneTask()
    let gone = model.gone.values.map(\.taskID).sorted { $0.uuidString < $1.uuidString }
    let isKnown = generator.oneIn(2)
    let known = (task?.isCompleted ?? false ? task?.completedAt : nil) ?? completion()
    let completion = Completion(
      taskID: (isKnown ? gone.randomElement(using: &generator) ?? task?.id : nil) ?? generator.uuid(),
      completedAt: completion(),
      createdAt: drawInstant(&generator),
      classification: classification(listID: oneListID()),
      isTaskDeleted: true
    )
    try transaction.record(completion)
    model.record(completion)
    guard let task else { return }
    let moved = Completion(
      taskID: task.id,
      completedAt: known,
      createdAt: task.createdAt,
      classification: classification(listID: generator.oneIn(4) ? generator.uuid() : oneListID()),
      isTaskDeleted: generator.oneIn(3)
    )
    try transaction.record(moved)
    model.record(moved)
  }

  private mutating func purge(_ transaction: inout StoreWriteTransaction) throws {
    guard generator.oneIn(3) || model.gone.count > taskLimit else { return }
    let instant = model.gone.count > 2 * taskLimit ? Timestamp.latest : drawInstant(&generator)
    let expected = model.gone.count { $0.key.instant < instant }
    model.purge(before: instant)
    guard try transaction.purgeCompletions(before: instant) == expected else {
      throw TallyError(.internalFault, "Purging forgot another number of completions", remedy: "Look at the seed")
    }
  }
}
