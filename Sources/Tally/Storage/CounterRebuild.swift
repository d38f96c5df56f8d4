import LMDB
import TallyEngine

/// Recomputes the counters from the tasks and the ledger alone.
struct CounterRebuild {
  let tables: Tables

  /// Computes every counter.
  ///
  /// - Complexity: reads every task and completion, and needs four bytes of memory for each event.
  func deltas<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> CounterDeltas {
    var deltas = CounterDeltas()
    try tables.tasks.forEach(in: transaction) { key, value in
      let fields = try TaskFields(value)
      if !fields.isCompleted { deltas.count(CountedTask(uncompleted: try fields.item(id: key.load(idAt: 0))), sign: 1) }
      return true
    }
    try tables.completions.forEach(in: transaction) { key, value in
      let entry = CountedTask(try CompletionKey(decoding: key), try CompletionRecord(decoding: value))
      deltas.count(entry, sign: 1)
      return true
    }
    return deltas
  }

  /// Computes and writes every counter.
  func run(in transaction: inout WriteTransaction) throws {
    let counters = try deltas(in: transaction)
    try tables.counts.removeAll(in: &transaction)
    try tables.totals.removeAll(in: &transaction)
    try tables.tagNames.removeAll(in: &transaction)
    try counters.apply(to: tables, in: &transaction)
  }
}
