import LMDB

/// Changes of records, with entries of the ledger that are given and do not follow from its rules: those of states that
/// were recorded earlier, or come from another replica.
struct RecordPlan {
  var tasks: [RecordChange<TaskRecord>] = []
  var lists: [RecordChange<ListRecord>] = []
  var completions: [(key: CompletionKey, record: CompletionRecord?)] = []

  var isEmpty: Bool { tasks.isEmpty && lists.isEmpty && completions.isEmpty }

  /// Writes the plan, without the counters.
  func apply(
    with writer: RecordWriter, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for change in lists { try writer.write(change, recording: &images, in: &transaction) }
    var batch = try TaskRecordBatch(with: writer, in: transaction)
    var new: [TaskRecord] = []
    for change in tasks {
      if let record = change.new, change.old == nil { new.append(record) }
      if change.old != nil || new.count == TaskRecordBatch.bulkCount {
        try batch.insert(new)
        new.removeAll(keepingCapacity: true)
      }
      if change.old != nil { try batch.add(change) }
      if let old = change.old?.item, !old.isCompleted { deltas.count(CountedTask(open: old), sign: -1) }
      if let new = change.new?.item, !new.isCompleted { deltas.count(CountedTask(open: new), sign: 1) }
    }
    try batch.insert(new)
    try batch.apply(recording: &images, in: &transaction)
    // The ledger's rules, applied to the tasks' changes, would not always give these entries.
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
