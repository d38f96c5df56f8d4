import LMDB
import TallyEngine

/// Changes of records, together with ledger entries that are given explicitly instead of derived by the ledger's rules.
///
/// Such states were recorded earlier (undo) or come from another replica.
struct RecordPlan {
  /// New tasks, in addition to those in `tasks`.
  var created: [TaskRecord] = []
  var tasks: [RecordChange<TaskRecord>] = []
  var lists: [RecordChange<ListRecord>] = []
  var completions: [(key: CompletionKey, record: CompletionRecord?)] = []

  var isEmpty: Bool { created.isEmpty && tasks.isEmpty && lists.isEmpty && completions.isEmpty }

  /// Writes the plan; the counters are only gathered in `deltas`.
  func apply(
    with writer: RecordWriter, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for change in lists { try writer.write(change, recording: &images, in: &transaction) }
    var (batch, new) = (try TaskRecordBatch(with: writer, in: transaction), created)
    for change in tasks {
      guard let old = change.old else {
        if let record = change.new { new.append(record) }
        continue
      }
      try batch.add(change)
      if !old.item.isCompleted { deltas.count(CountedTask(uncompleted: old.item), sign: -1) }
      if let item = change.new?.item, !item.isCompleted { deltas.count(CountedTask(uncompleted: item), sign: 1) }
    }
    for start in stride(from: 0, to: new.count, by: TaskRecordBatch.bulkCount) {
      let some = Array(new[start..<min(start + TaskRecordBatch.bulkCount, new.count)])
      try batch.insert(some)
      for record in some where !record.item.isCompleted { deltas.count(CountedTask(uncompleted: record.item), sign: 1) }
    }
    try batch.apply(recording: &images, in: &transaction)
    // Deriving these entries from the changes of the tasks would not always give the same result.
    var created = EntryBatch<CompletionKey, CompletionRecord>()
    for (key, record) in completions {
      if let record, try writer.ledger.isNew(key, in: transaction) {
        images.add(key, nil)
        deltas.count(CountedTask(key, record), sign: 1)
        try created.add(record, forKey: key)
      } else {
        try writer.ledger.restore(key, to: record, counting: &deltas, recording: &images, in: &transaction)
      }
    }
    try writer.tables.completions.put(&created, in: &transaction)
  }
}
