import Foundation
import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

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
    // Observers of the collections read everything again.
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

/// The result of a repair.
public struct RepairReport: Hashable, Sendable {
  /// The faults found before the repair.
  public package(set) var before: VerificationReport
  /// The remaining faults: records that break the model's rules, which only their user can correct.
  public let after: VerificationReport
  /// The path of the copy of the store's old file; `nil` if there was no fault.
  public let safetyCopy: FilePath?
  /// The path of a log that could not be read, whose changes are given up; `nil` if there was none.
  public internal(set) var unreadLog: FilePath?
}

extension TaskStore {
  /// Repairs what ``verify(progress:)`` finds, by rebuilding indexes and counters from the records and the ledger.
  ///
  /// The store must not be open anywhere. A copy of the old file is kept next to it, and can be restored. The repair is
  /// one transaction; after a crash the store is either unchanged or repaired. No data of the user is lost: an
  /// unreadable record is set aside, a task whose list is missing moves to the inbox or stays on its day, and a
  /// completion whose task is missing still counts. A log that cannot be read gets another name, and its changes are
  /// given up.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Called with the progress of the verification; may throw to end it.
  /// - Returns: The faults before and after.
  /// - Throws: `damagedStore` if a page of the file contradicts the others or the table of tasks is missing, which no
  ///   repair can fix; `alreadyOpen` while this process has the store open, `storeBusy` while another one has;
  ///   `diskFull`; as opening a store.
  @discardableResult
  public static func repair(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> RepairReport {
    let opening = StoreOpening(directory: directory, configuration: configuration)
    let layout = TaskLayout(configuration)
    return try opening.withDamagedStore(.exclusive, settingLogAside: true) { store in
      let before = try Verification.run(on: store.environment, layout, observer: progress)
      guard !before.isSound else {
        return RepairReport(before: before, after: before, safetyCopy: nil, unreadLog: store.keptLog)
      }
      guard !before.faults.contains(where: { $0.kind == .missingTable && $0.table == "tasks" }) else {
        throw TallyError(
          .damagedStore, "The table of tasks is missing, from which everything else follows",
          remedy: "Restore a backup or import an export")
      }
      if let refusal = try layout.collections.refusalOfRepair(on: store.environment) { throw refusal }
      let kept = try opening.keepSafetyCopy(of: store.environment, because: .repair)
      let repair = Repair(report: before, collections: layout.collections, now: configuration.now())
      try store.environment.write { transaction in try repair.run(in: &transaction) }
      try store.environment.checkStructure()
      let after = try Verification.run(on: store.environment, layout, observer: progress)
      return RepairReport(before: before, after: after, safetyCopy: kept, unreadLog: store.keptLog)
    }
  }
}

/// Makes the ledger agree with the tasks; all unreadable records must have been removed before.
struct LedgerRepair {
  let tables: Tables

  func run(in transaction: inout WriteTransaction) throws {
    var moved: [UUID: Classification] = [:]
    for entry in try wrongEntries(in: transaction) {
      _ = try tables.completions.remove(forKey: entry.key, in: &transaction)
      if try tables.tasks.contains(IDKey(entry.key.id), in: transaction) {
        moved[entry.key.id] = entry.record.classification
      } else {
        // Completed work continues to count, whatever has happened to its task.
        let key = CompletionKey(isTaskDeleted: true, completed: entry.key.completed)
        try tables.completions.put(entry.record, forKey: key, in: &transaction)
      }
    }
    for task in try completedTasks(in: transaction) {
      try setEntry(of: task, carrying: moved[task.id], in: &transaction)
    }
  }

  /// The entries of live tasks that contradict their task or have no task.
  private func wrongEntries(in transaction: borrowing WriteTransaction) throws -> [LedgerEntry] {
    var wrong: [LedgerEntry] = []
    try tables.completions.forEach(in: transaction) { key, value in
      let key = try CompletionKey(decoding: key)
      guard !key.isTaskDeleted else { return false }
      if case .readable(let record) = try TaskRecord.look(for: IDKey(key.id), in: tables, transaction),
        CompletionKey(of: record.item) == key
      {
        return true
      }
      wrong.append(LedgerEntry(key: key, record: try CompletionRecord(decoding: value)))
      return true
    }
    return wrong
  }

  /// The completed tasks whose entries are missing, wrong or duplicated.
  private func completedTasks(in transaction: borrowing WriteTransaction) throws -> [TaskItem] {
    var tasks: [TaskItem] = []
    try tables.tasks.forEach(in: transaction) { id, value in
      let fields = try TaskFields(value)
      guard fields.isCompleted else { return true }
      let task = try fields.item(id: IDKey(decoding: id).id)
      guard let key = CompletionKey(of: task) else { return true }
      let recorded = try tables.completions.value(forKey: key, in: transaction)
      let expected = CompletionRecord(of: task, keeping: recorded)
      let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
      if try recorded != expected || tables.completions.contains(deletedKey, in: transaction) { tasks.append(task) }
      return true
    }
    return tasks
  }

  private func setEntry(
    of task: TaskItem, carrying classification: Classification?, in transaction: inout WriteTransaction
  ) throws {
    guard let key = CompletionKey(of: task) else { return }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    let recorded =
      try tables.completions.value(forKey: key, in: transaction)
      ?? tables.completions.value(forKey: deletedKey, in: transaction)
    guard var record = CompletionRecord(of: task, keeping: recorded) else { return }
    if recorded == nil, let classification { record.classification = classification }
    _ = try tables.completions.remove(forKey: deletedKey, in: &transaction)
    try tables.completions.put(record, forKey: key, in: &transaction)
  }
}
