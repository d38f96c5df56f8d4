import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Every other test relies on the check of the invariants, so it must find any fault.
@Suite struct IntegrityCheckTests {
  private static let indexes = Tables.names.filter { $0 == "completions" || $0.hasPrefix("by") || $0 == "listsByOrder" }

  @Test func aSoundStoreHasNoFault() throws {
    try withFilledStore { (store) throws in
      #expect(try faults(of: store).isEmpty)
    }
  }

  @Test(arguments: indexes)
  func aMissingEntryIsFound(table: String) throws {
    try withFilledStore { store in
      let key = try #require(try firstKey(of: table, in: store))
      try change(table, of: store) { try $0.remove(forKey: key, in: &$1) }
      #expect(try faults(of: store).contains("missingEntry in \(table)"), "\(table)")
    }
  }

  @Test(arguments: indexes)
  func anEntryWithoutARecordIsFound(table: String) throws {
    try withFilledStore { store in
      var key = try #require(try firstKey(of: table, in: store))
      key[key.count - 1] ^= 0x55
      // An entry of the ledger has a value.
      let value =
        table == "completions" ? encoded(try #require(CompletionRecord(of: try completedTask(in: store)))) : []
      try change(table, of: store) { try $0.put(value, forKey: key, in: &$1) }
      #expect(try faults(of: store).contains("danglingEntry in \(table)"), "\(table)")
    }
  }

  @Test func aTaskOfAListThatIsGoneIsFound() throws {
    try withFilledStore { store in
      let key = try #require(try firstKey(of: "lists", in: store))
      try change("lists", of: store) { try $0.remove(forKey: key, in: &$1) }
      #expect(try faults(of: store).isSuperset(of: ["unknownList in tasks", "danglingEntry in listsByOrder"]))
    }
  }

  @Test func aRecordThatBreaksTheRulesIsFound() throws {
    try withFilledStore { store in
      var task = try completedTask(in: store)
      task.title = " "
      let record = encoded(try record(task, in: store))
      try change("tasks", of: store) { try $0.put(record, forKey: encoded(IDKey(task.id)), in: &$1) }
      #expect(try faults(of: store) == ["invalidRecord in tasks"])
    }
  }

  /// Behind the head of a record is its text: a task's title, a list's name.
  @Test(arguments: ["tasks", "lists"])
  func aTextThatIsNoUTF8IsFound(table: String) throws {
    let headByteCount = table == "tasks" ? TaskRecord.headByteCount : ListRecord.headByteCount
    try withFilledStore { store in
      let key = try #require(try firstKey(of: table, in: store))
      try change(table, of: store) { table, transaction in
        var record = try #require(try table.value(forKey: key, in: transaction))
        record[headByteCount] = 0xFF
        try table.put(record, forKey: key, in: &transaction)
      }
      #expect(try faults(of: store) == ["invalidRecord in \(table)"])
    }
  }

  @Test func aRecordChangedBehindItsIndexesIsFound() throws {
    try withFilledStore { store in
      var task = try completedTask(in: store)
      task.sortOrder += 1
      let record = encoded(try record(task, in: store))
      try change("tasks", of: store) { try $0.put(record, forKey: encoded(IDKey(task.id)), in: &$1) }
      #expect(try faults(of: store).contains("missingEntry in byPlace"))
    }
  }

  @Test func aLedgerEntryThatDiffersFromItsTaskIsFound() throws {
    try withFilledStore { store in
      let task = try completedTask(in: store)
      var record = try #require(CompletionRecord(of: task))
      record.utcOffsetInMinutes += 15
      let key = encoded(try #require(CompletionKey(of: task)))
      try change("completions", of: store) { try $0.put(encoded(record), forKey: key, in: &$1) }
      #expect(try faults(of: store).contains("wrongEntry in completions"))
    }
  }

  /// The stored record with other contents.
  private func record(_ task: TaskItem, in store: TaskStore) throws -> TaskRecord {
    var record = try #require(try store.read { try $0.record(TaskRecord.self, task.id) })
    record.item = task
    return record
  }

  private typealias RawTable = Database<[UInt8], [UInt8]>

  /// One task that is in every index, and one that is completed.
  private func withFilledStore(_ body: (TaskStore) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        let draft = TaskDraft(
          title: "everywhere", scheduledDate: transaction.today, dueDate: transaction.now,
          reminderDate: transaction.now,
          listID: list.id)
        let started = try transaction.start(try transaction.add(draft).id)
        try transaction.add("part") { task in
          task.tags = ["home"]
          task.parentID = started.id
        }
        try transaction.complete(try transaction.add("done", to: .list(list.id)).id)
      }
      try body(store)
      try store.close()
    }
  }

  private func completedTask(in store: TaskStore) throws -> TaskItem {
    try #require(try store.read { try $0.view(.completed(nil)).tasks.first })
  }

  private func faults(of store: TaskStore) throws -> Set<String> {
    Set(try store.verify().faults.map { "\($0.kind) in \($0.table)" })
  }

  private func firstKey(of table: String, in store: TaskStore) throws -> [UInt8]? {
    let raw = try RawTable(opening: table, in: store.environment)
    return try store.environment.read { transaction in
      var cursor = try raw.cursor(in: transaction)
      return try cursor.moveToFirst() ? try cursor.key() : nil
    }
  }

  private func change(
    _ table: String, of store: TaskStore, _ body: (RawTable, inout WriteTransaction) throws -> Void
  ) throws {
    let raw = try RawTable(opening: table, in: store.environment)
    try store.environment.write { try body(raw, &$0) }
  }
}
