import Foundation
import LMDB

/// Makes indexes, ledger and counters agree with the records again, in one write transaction.
///
/// | found | mended by |
/// | --- | --- |
/// | a missing table that follows from records | made anew |
/// | a record that cannot be read | moved to the table of those set aside, bytes and all |
/// | a task that names no list | goes to the inbox, or stays on its day |
/// | a completion whose task is gone | kept as that of a deleted task |
/// | a completion that contradicts its task | the task is right; the list of the completion stays |
/// | an index with any fault | built anew from the records |
/// | counters | made anew from records and ledger |
/// | the history of changes, or what it would bring back into | empty: there is nothing to undo then |
/// | no header | a new one, with a new identity: whoever remembers a sequence must not go on from it |
///
/// A record that breaks the model's rules stays as it is: what it should say is for its user to tell.
struct Repair {
  let report: VerificationReport
  let now: Timestamp

  func run(in transaction: inout WriteTransaction) throws {
    // Makes those that are missing, and opens the others.
    let tables = try Tables(creatingIn: &transaction)
    try setAsideUnreadableRecords(in: &transaction)
    try moveTasksOfUnknownLists(tables, in: &transaction)
    try LedgerRepair(tables: tables).run(in: &transaction)
    for index in indexesToRebuild { try rebuild(index, of: tables, in: &transaction) }
    try rebuildCounters(of: tables, in: &transaction)
    if !isHistoryOfUse { try tables.history.removeAll(in: &transaction) }
    try advanceSequence(tables, in: &transaction)
  }

  /// Those with a fault; all of them where a record has one, or where the report has not listed every fault.
  private var indexesToRebuild: [IndexTable] {
    let isListed = report.faultCount == report.faults.count
    let tables = Set(report.faults.map(\.table))
    guard isListed, tables.isDisjoint(with: ["tasks", "lists", "completions"]) else { return IndexTable.allCases }
    return IndexTable.allCases.filter { tables.contains($0.rawValue) }
  }

  /// Whether earlier states still fit what is there: not where records, ledger or sequence are others now.
  private var isHistoryOfUse: Bool {
    let isListed = report.faultCount == report.faults.count
    let tables = Set(report.faults.map(\.table))
    return isListed && tables.isDisjoint(with: ["meta", "tasks", "lists", "completions", "history"])
  }

  private func moveTasksOfUnknownLists(_ tables: Tables, in transaction: inout WriteTransaction) throws {
    var moved: [TaskRecord] = []
    try tables.tasks.forEach(in: transaction) { key, value in
      var record = try TaskRecord(id: IDKey(decoding: key).id, decoding: value)
      guard let listID = record.item.listID, try !tables.lists.contains(IDKey(listID), in: transaction) else {
        return true
      }
      record.item.listID = nil
      record.item.updatedAt = max(record.item.updatedAt, now)
      moved.append(record)
      return true
    }
    for record in moved { try tables.tasks.put(record, forKey: IDKey(record.item.id), in: &transaction) }
  }

  private func rebuildCounters(of tables: Tables, in transaction: inout WriteTransaction) throws {
    let deltas = try CounterRebuild(tables: tables).deltas(in: transaction)
    try tables.counts.removeAll(in: &transaction)
    try tables.totals.removeAll(in: &transaction)
    try deltas.apply(to: tables, in: &transaction)
  }

  private func advanceSequence(_ tables: Tables, in transaction: inout WriteTransaction) throws {
    let header = try? tables.meta.value(forKey: .header, in: transaction)
    var advanced = header ?? StoreHeader(storeID: UUIDv7.next(), sequence: 0)
    advanced.sequence += 1
    try tables.meta.put(advanced, forKey: .header, in: &transaction)
  }
}

extension Repair {
  /// Keeps the bytes of what cannot be read where they are in nobody's way.
  private func setAsideUnreadableRecords(in transaction: inout WriteTransaction) throws {
    try setAside(of: "lists", in: &transaction) { key, value in
      guard let id = IDKey(canonically: key)?.id else { return false }
      return (try? ListRecord(id: id, decoding: value)) != nil
    }
    try setAside(of: "tasks", in: &transaction) { key, value in
      guard let id = IDKey(canonically: key)?.id else { return false }
      return (try? TaskFields(value).item(id: id)) != nil
    }
    try setAside(of: "completions", in: &transaction) { key, value in LedgerEntry(key, value) != nil }
  }

  private func setAside(
    of table: String, in transaction: inout WriteTransaction, unless isReadable: (RawSpan, RawSpan) -> Bool
  ) throws {
    let rows = try Database<[UInt8], [UInt8]>(opening: table, creating: false, in: &transaction)
    var unreadable: [(key: [UInt8], value: [UInt8])] = []
    try rows.forEach(in: transaction) { key, value in
      if !isReadable(key, value) { unreadable.append((key.bytes(from: 0), value.bytes(from: 0))) }
      return true
    }
    guard !unreadable.isEmpty else { return }
    let setAside = try SetAsideTable(creatingIn: &transaction)
    for (key, value) in unreadable {
      try setAside.put(value, of: table, key: key, in: &transaction)
      _ = try rows.remove(forKey: key, in: &transaction)
    }
  }

  private func rebuild(_ index: IndexTable, of tables: Tables, in transaction: inout WriteTransaction) throws {
    switch index {
    case .byPlace: try rebuildIndex(tables.byPlace, of: tables, in: &transaction) { IndexEntries(of: $0).place }
    case .byDay: try rebuildIndex(tables.byDay, of: tables, in: &transaction) { IndexEntries(of: $0).day }
    case .byDue: try rebuildIndex(tables.byDue, of: tables, in: &transaction) { IndexEntries(of: $0).due }
    case .byReminder:
      try rebuildIndex(tables.byReminder, of: tables, in: &transaction) { IndexEntries(of: $0).reminder }
    case .byCreated: try rebuildIndex(tables.byCreated, of: tables, in: &transaction) { IndexEntries(of: $0).created }
    case .byActive: try rebuildIndex(tables.byActive, of: tables, in: &transaction) { IndexEntries(of: $0).active }
    case .byTail: try rebuildIndex(tables.byTail, of: tables, in: &transaction) { IndexEntries(of: $0).tail }
    case .listsByOrder:
      var keys: [OrderKey] = []
      try tables.lists.forEach(in: transaction) { key, value in
        keys.append(OrderKey(of: try ListRecord(id: IDKey(decoding: key).id, decoding: value).list))
        return true
      }
      try tables.listsByOrder.replaceAll(by: keys, in: &transaction)
    case .deletedByCreated:
      var keys: [DeletedCreationKey] = []
      try tables.completions.forEach(in: transaction) { key, value in
        let key = try CompletionKey(decoding: key)
        if key.isTaskDeleted { keys.append(DeletedCreationKey(key.completed, try CompletionRecord(decoding: value))) }
        return true
      }
      try tables.deletedByCreated.replaceAll(by: keys, in: &transaction)
    }
  }

  private func rebuildIndex<Key: IndexKey>(
    _ index: Index<Key>, of tables: Tables, in transaction: inout WriteTransaction,
    _ key: (TaskItem) -> Key?
  ) throws {
    var keys: [Key] = []
    try tables.tasks.forEach(in: transaction) { id, value in
      let task = try TaskFields(value).item(id: IDKey(decoding: id).id)
      if let key = key(task) { keys.append(key) }
      return true
    }
    try index.replaceAll(by: keys, in: &transaction)
  }
}

extension Database where Key: IndexKey, Value == NoValue {
  /// Makes the index hold these keys and nothing else, in full pages.
  fileprivate func replaceAll(by keys: [Key], in transaction: inout WriteTransaction) throws(LMDBError) {
    try removeAll(in: &transaction)
    for key in keys.sorted() { try append(NoValue(), forKey: key, in: &transaction) }
  }
}
