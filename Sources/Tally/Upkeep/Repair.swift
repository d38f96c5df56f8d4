import LMDB
import TallyEngine

/// Makes indexes, ledger and counters agree with the records again, in one write transaction.
///
/// | fault | repair |
/// | --- | --- |
/// | a missing table that can be derived from the records | created from the records |
/// | an unreadable record | moved to the table of set-aside records, with all its bytes |
/// | a task in an unknown list | moved to the inbox, or kept on its day |
/// | a sub-task with an invalid parent | turned into a top-level task |
/// | a completion whose task is missing | kept as that of a deleted task |
/// | a completion that contradicts its task | changed to agree with the task, but keeps its list |
/// | an index with any fault | rebuilt from the records |
/// | counters | recomputed from records and ledger |
/// | any fault | the search index is emptied, too: searches read the records, and writes rebuild it |
/// | an unreadable key of a value | moved to the table of set-aside records, with its value |
/// | the indexes of applications, and any other fault | emptied: the next opening rebuilds those that it registers |
/// | the history of changes, or the records that it would restore | emptied: then nothing can be undone |
/// | the application's collections | as `Store.repair` |
/// | no header, or an impossible one | a new one, with a new identity: a remembered sequence must not be continued |
///
/// A record that breaks the model's rules stays unchanged, because only its user knows the right value.
struct Repair {
  let report: VerificationReport
  /// The application's collections.
  let collections: CollectionsBeside
  let now: Timestamp

  func run(in transaction: inout WriteTransaction) throws {
    // Creates the missing tables and opens the others.
    let tables = try Tables(creatingIn: &transaction)
    try setAsideUnreadable(ListRecord.self, in: &transaction)
    try setAsideUnreadable(TaskRecord.self, in: &transaction)
    try setAsideUnreadable(LedgerEntry.self, in: &transaction)
    try setAsideUnreadable(Tombstone.self, in: &transaction)
    // The values of applications may be any bytes.
    try setAside(from: .values, in: &transaction) { key, value in
      ValueKey(canonically: key) == nil || TaskSeries.isUnreadable(key, value)
    }
    // This program may not know the functions of these indexes.
    try tables.ownIndexes.removeAll(in: &transaction)
    let (sequence, setAsideCount, haveCollections) = try collections.repair(
      after: lastSequence(tables, in: transaction), isHeaderLost: usableHeader(tables, in: transaction) == nil,
      in: &transaction)
    try moveTasksOfUnknownLists(tables, at: sequence, in: &transaction)
    try freeInvalidSubtasks(tables, at: sequence, in: &transaction)
    try LedgerRepair(tables: tables).run(in: &transaction)
    try removeTombstonesOfLiving(tables, in: &transaction)
    try rebuildIndexes(of: tables, in: &transaction)
    try CounterRebuild(tables: tables).run(in: &transaction)
    try tables.search.removeAll(in: &transaction)
    if !isHistoryOfUse || setAsideCount > 0 { try tables.history.removeAll(in: &transaction) }
    var header = try usableHeader(tables, in: transaction) ?? newHeader(tables, in: &transaction)
    header.sequence = sequence
    // Whoever follows the collections reads everything again.
    if haveCollections { header.logStart = sequence }
    try tables.meta.put(header, forKey: .header, in: &transaction)
  }

  /// Rebuilds the faulty indexes; rebuilds all of them if a record is faulty or the report does not list every fault.
  private func rebuildIndexes(of tables: Tables, in transaction: inout WriteTransaction) throws {
    let isListed = report.faultCount == report.faults.count
    let faulty = Set(report.faults.map(\.table))
    let isOfRecords = !faulty.isDisjoint(with: ["tasks", "lists", "completions", "tombstones"])
    let indexes = tables.indexes.filter { !isListed || isOfRecords || faulty.contains($0.name.rawValue) }
    // Several indexes may share a table, so all of them are emptied first.
    for index in indexes { try index.removeAll(in: &transaction) }
    for index in indexes { try index.addAll(of: tables, in: &transaction) }
  }

  /// Removes the tombstones of objects that exist, because the record is right.
  private func removeTombstonesOfLiving(_ tables: Tables, in transaction: inout WriteTransaction) throws {
    var wrong: [TombstoneKey] = []
    try Tombstone.forEach(of: tables, in: transaction) { tombstone in
      if try tombstone.isOfExistingObject(in: tables, transaction) { wrong.append(tombstone.key) }
    }
    for key in wrong { _ = try tables.tombstones.remove(forKey: key, in: &transaction) }
  }

  /// Whether the history still fits the store; not if records, ledger or sequence have been repaired.
  private var isHistoryOfUse: Bool {
    let isListed = report.faultCount == report.faults.count
    let tables = Set(report.faults.map(\.table))
    return isListed && tables.isDisjoint(with: ["meta", "tasks", "lists", "completions", "values", "history"])
  }

  private func moveTasksOfUnknownLists(
    _ tables: Tables, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws {
    try updateTasks(tables, at: sequence, in: &transaction) { task, transaction in
      guard let listID = task.listID, try !tables.lists.contains(IDKey(listID), in: transaction) else { return false }
      task.listID = nil
      return true
    }
  }

  private func freeInvalidSubtasks(
    _ tables: Tables, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws {
    try updateTasks(tables, at: sequence, in: &transaction) { task, transaction in
      guard try task.hasInvalidParent(in: tables, transaction) else { return false }
      task.parentID = nil
      return true
    }
  }

  /// Stores the tasks that a closure changes; the closure returns whether it has changed its task.
  private func updateTasks(
    _ tables: Tables, at sequence: UInt64, in transaction: inout WriteTransaction,
    _ change: (inout TaskItem, borrowing WriteTransaction) throws -> Bool
  ) throws {
    var changed: [TaskRecord] = []
    try TaskRecord.forEach(of: tables, in: transaction) { record in
      var record = record
      guard try change(&record.item, transaction) else { return }
      record.item.updatedAt = max(record.item.updatedAt, now)
      record.stamp = ChangeStamp(replacing: record.stamp, at: sequence)
      changed.append(record)
    }
    for record in changed { try tables.tasks.put(record, forKey: record.key, in: &transaction) }
  }

  /// The last commit that appears in the header or in a record.
  private func lastSequence(_ tables: Tables, in transaction: borrowing WriteTransaction) throws -> UInt64 {
    var last = usableHeader(tables, in: transaction)?.sequence ?? 0
    try TaskRecord.forEach(of: tables, in: transaction) { last = max(last, $0.stamp.changed) }
    try ListRecord.forEach(of: tables, in: transaction) { last = max(last, $0.stamp.changed) }
    try Tombstone.forEach(of: tables, in: transaction) { last = max(last, $0.record.stamp.changed) }
    return last
  }

  private func newHeader(_ tables: Tables, in transaction: inout WriteTransaction) throws -> StoreHeader {
    var header = StoreHeader(storeID: UUIDv7.next(), sequence: 0)
    if try SyncTables.areUsed(in: &transaction) { header.writerFeatures.insert(.synchronizes) }
    if try CollectionsBeside.areStored(in: &transaction) { header.requiredFeatures.insert(.ownCollections) }
    try TaskRecord.forEach(of: tables, in: transaction) { header.requiredFeatures.formUnion($0.requiredFeatures) }
    return header
  }

  private func usableHeader(_ tables: Tables, in transaction: borrowing WriteTransaction) -> StoreHeader? {
    let header = try? tables.meta.value(forKey: .header, in: transaction)
    return header?.hasNextSequence == true ? header : nil
  }
}

extension Repair {
  /// Moves the bytes of unreadable records to the table of set-aside records.
  private func setAsideUnreadable<Record: IndexedRecord>(
    _ type: Record.Type, in transaction: inout WriteTransaction
  ) throws {
    try setAside(from: Record.tableName, in: &transaction) { Record(checking: $0, $1) == nil }
  }

  private func setAside(
    from table: TableName, in transaction: inout WriteTransaction, where isUnreadable: (RawSpan, RawSpan) -> Bool
  ) throws {
    let rows = try Database<[UInt8], [UInt8]>(opening: table.rawValue, creating: false, in: &transaction)
    var unreadable: [(key: [UInt8], value: [UInt8])] = []
    try rows.forEach(in: transaction) { key, value in
      if isUnreadable(key, value) { unreadable.append((key.bytes(from: 0), value.bytes(from: 0))) }
      return true
    }
    guard !unreadable.isEmpty else { return }
    let setAside = try SetAsideTable(creatingIn: &transaction)
    for (key, value) in unreadable {
      try setAside.put(value, of: table.rawValue, key: key, in: &transaction)
      _ = try rows.remove(forKey: key, in: &transaction)
    }
  }
}
