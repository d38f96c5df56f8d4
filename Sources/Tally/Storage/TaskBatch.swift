import LMDB
import TallyEngine

/// Changes of many different tasks and their completions, gathered so that each table is written once, in key order.
struct TaskBatch {
  private let tables: Tables
  private var records: TaskRecordBatch
  private var ledger: LedgerBatch

  /// Creates a batch of changes to the tasks of a transaction.
  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    tables = writer.tables
    records = try TaskRecordBatch(with: writer, in: transaction)
    ledger = try LedgerBatch(with: writer, in: transaction)
  }

  /// Whether the batch is empty.
  var isEmpty: Bool { records.isEmpty }

  /// Adds one change; the changes of the counters are added to `deltas`.
  mutating func add(_ change: RecordChange<TaskRecord>, counting deltas: inout CounterDeltas) throws(LMDBError) {
    if change.old == nil, let record = change.new { return try insert([record], counting: &deltas) }
    try records.add(change)
    ledger.add(change)
  }

  /// Adds new tasks; a few hundred at once are faster than one by one.
  mutating func insert(_ new: [TaskRecord], counting deltas: inout CounterDeltas) throws(LMDBError) {
    try records.insert(new)
    for record in new { try ledger.insert(record, counting: &deltas) }
  }

  /// Reserves memory for `factor` times as many new tasks as the batch holds; they should be of similar size.
  mutating func reserve(times factor: Double) {
    records.reserve(times: factor)
  }

  /// The id of a task that is stored already or appears twice among the changes; `nil` if there is none.
  mutating func firstTakenID(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try records.firstTakenID(transaction)
  }

  /// Writes the changes, table by table, and records the old state in `images`.
  mutating func apply(
    counting deltas: inout CounterDeltas, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try records.apply(recording: &images, in: &transaction)
    try ledger.apply(to: tables, counting: &deltas, recording: &images, in: &transaction)
  }
}
