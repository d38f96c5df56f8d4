internal import LMDB

/// Some records of a document to be written: what differs from the stored records, and completions.
struct ImportBatch {
  /// Enough to write each table in its own order, few enough to fit in memory.
  private static let taskLimit = 4_096
  /// A batch of long texts is full earlier.
  private static let textLimitInBytes = 1 << 22

  var lists: [RecordChange<ListRecord>] = []
  var newTasks: [TaskRecord] = []
  var changedTasks: [RecordChange<TaskRecord>] = []
  var completions: [Completion] = []
  var filters: [SavedFilter] = []
  /// The records read, including those that need no change.
  var readCount = 0
  var textSizeInBytes = 0

  var isFull: Bool { readCount >= Self.taskLimit || textSizeInBytes >= Self.textLimitInBytes }

  /// Adds a task that is new, or differs from the stored one.
  mutating func add(_ task: TaskItem, replacing old: TaskRecord?, at sequence: UInt64) {
    textSizeInBytes += task.title.utf8.count + (task.notes?.utf8.count ?? 0)
    if let old {
      changedTasks.append(RecordChange(from: old, to: task, at: sequence))
    } else {
      newTasks.append(TaskRecord(item: task, stamp: ChangeStamp(replacing: nil, at: sequence)))
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Writes a batch: lists before their tasks, completions after their tasks; the counters follow after all batches.
  mutating func apply(_ batch: ImportBatch, counting deltas: inout CounterDeltas) throws {
    for list in batch.lists { try write(list) }
    for task in batch.newTasks { try checkSendable(task.item, replacing: nil) }
    for change in batch.changedTasks { try checkSendable(change.new?.item, replacing: change.old?.item) }
    var changes = try TaskBatch(with: recordWriter, in: base)
    try changes.insert(batch.newTasks, counting: &deltas)
    for change in batch.changedTasks { try changes.add(change, counting: &deltas) }
    try write(&changes, counting: &deltas)
    for completion in batch.completions { try record(completion, counting: &deltas) }
    for filter in batch.filters { try put(filter) }
  }
}
