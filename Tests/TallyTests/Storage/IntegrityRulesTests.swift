import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Rules of the integrity check that a single table must keep, each broken alone.
@Suite struct IntegrityRulesTests {
  private typealias Change = (Tables, inout WriteTransaction) throws -> Void

  @Test func aHistoryThatContradictsItselfIsFound() throws {
    let newTask: [UInt8] = [1, 0] + Array(repeating: 7, count: 16)
    let changes: [(inout HistoryKey, inout HistoryRecord) -> Void] = [
      // It begins with a second part.
      { key, _ in key = HistoryKey(key.change, part: 1) },
      // It does not begin where the entry before ends.
      { _, record in record.precedingSizeInBytes += 1 },
      // It undoes itself.
      { key, record in (record.kind, record.target) = (.undo, key.change) },
      // It replaced a task that cannot be read.
      { _, record in record.images = [1, 1] + Array(repeating: 0, count: 16) + [0, 0, 0, 1, 0xFF] },
      // It holds more than is kept: the images of half a million new tasks.
      { _, record in record.images = Array((0..<500_000).flatMap { _ in newTask })[...] },
    ]
    for change in changes {
      try expectFault("invalidRecord in history") { tables, transaction in
        var key = try #require(try tables.history.lastKey(in: transaction))
        var record = try #require(try tables.history.value(forKey: key, in: transaction))
        _ = try tables.history.remove(forKey: key, in: &transaction)
        change(&key, &record)
        try tables.history.put(record, forKey: key, in: &transaction)
      }
    }
  }

  @Test func aHistoryOfMoreEntriesThanAreKeptIsFound() throws {
    try expectFault("invalidRecord in history") { tables, transaction in
      let last = try #require(try tables.history.lastKey(in: transaction))
      var record = try #require(try tables.history.value(forKey: last, in: transaction))
      record.precedingSizeInBytes += UInt64(record.images.count)
      record.images = []
      for number in 1...1_100 {
        let change = ChangeID(sequence: last.change.sequence, position: last.change.position + number)
        try tables.history.put(record, forKey: HistoryKey(change, part: 0), in: &transaction)
      }
    }
  }

  @Test func imagesThatAreCutOffAreRefused() {
    // A completion that was there: kind, flag, id, instant, size and record.
    let whole = [3, 1] + Array(repeating: UInt8(5), count: 24) + [0, 0, 0, 2, 9, 9]
    for count in 1...whole.count {
      let bytes = Array(whole.prefix(count))
      var sizes: [Int] = []
      do {
        var images = unsafe ImageReader(bytes.span.bytes)
        try images.forEach { _, _, record in sizes.append(record.byteCount) }
        #expect(count == whole.count && sizes == [2])
      } catch {
        #expect(count < whole.count && error is LMDBError)
      }
    }
  }

  @Test func aStampOfACommitToComeIsFound() throws {
    try expectFault("invalidRecord in tasks") { tables, transaction in
      var record = try task(tables, transaction)
      record.stamp = ChangeStamp(replacing: record.stamp, at: 1_000)
      try tables.tasks.put(record, forKey: record.key, in: &transaction)
    }
    try expectFault("invalidRecord in lists") { tables, transaction in
      var found: ListRecord?
      try ListRecord.forEach(of: tables, in: transaction) { found = $0 }
      var record = try #require(found)
      record.stamp = ChangeStamp(replacing: record.stamp, at: 1_000)
      try tables.lists.put(record, forKey: record.key, in: &transaction)
    }
    try expectFault("invalidRecord in tombstones") { tables, transaction in
      let tombstone = Tombstone(of: try task(tables, transaction), at: 1_000)
      try tables.tombstones.put(tombstone.record, forKey: TombstoneKey(.task, UUID()), in: &transaction)
    }
  }

  @Test func aTombstoneOfALivingTaskIsFoundAndRemoved() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withUncheckedStore(at: path) { store in
        try fill(store)
        try change(store) { tables, transaction in
          let tombstone = Tombstone(of: try task(tables, transaction), at: 1)
          try tables.tombstones.put(tombstone.record, forKey: tombstone.key, in: &transaction)
        }
        #expect(try faults(of: store).contains("invalidRecord in tombstones"))
      }
      #expect(try TaskStore.repair(at: path, configuration: .testing()).after.isSound)
    }
  }

  @Test func aCompletionThatIsThereTwiceIsFound() throws {
    try expectFault("duplicateEntry in completions") { tables, transaction in
      let (key, record) = try completion(tables, transaction)
      let other = CompletionKey(isTaskDeleted: true, completed: key.completed)
      try tables.completions.put(record, forKey: other, in: &transaction)
    }
    try expectFault("duplicateEntry in completions") { tables, transaction in
      let (key, record) = try completion(tables, transaction)
      let earlier = InstantKey(microseconds: key.completed.microseconds - 1, id: key.id)
      let other = CompletionKey(isTaskDeleted: false, completed: earlier)
      try tables.completions.put(record, forKey: other, in: &transaction)
    }
  }

  /// Without a header, the sequence goes on after the newest record of any kind.
  @Test(arguments: [0, 1, 2])
  func aRepairedStoreGoesOnAfterItsNewestRecord(kind: Int) throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      let sequence = try withUncheckedStore(at: path) { store in
        try fill(store)
        try store.writeAndWait { transaction in
          switch kind {
          case 0: _ = try transaction.add("newest", to: .inbox)
          case 1: _ = try transaction.addList(name: "Newest")
          default: _ = try transaction.delete(try transaction.view(.inbox).tasks[0].id)
          }
        }
        try change(store) { tables, transaction in _ = try tables.meta.remove(forKey: .header, in: &transaction) }
        return UInt64(2)
      }
      try TaskStore.repair(at: path, configuration: .testing())
      try withUncheckedStore(at: path) { (store) throws in #expect(try store.information().sequence == sequence + 1) }
    }
  }

  /// Opens a store that is not sound at the end.
  private func withUncheckedStore<R>(at path: FilePath, _ body: (TaskStore) throws -> R) throws -> R {
    let store = try TaskStore(at: path, configuration: .testing())
    defer { try? store.close() }
    return try body(store)
  }

  private func task<T: LMDBTransaction & ~Copyable>(_ tables: Tables, _ transaction: borrowing T) throws -> TaskRecord {
    var found: TaskRecord?
    try TaskRecord.forEach(of: tables, in: transaction) { found = $0 }
    return try #require(found)
  }

  private func completion<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, _ transaction: borrowing T
  ) throws -> (CompletionKey, CompletionRecord) {
    let key = try #require(try tables.completions.lastKey(in: transaction))
    return (key, try #require(try tables.completions.value(forKey: key, in: transaction)))
  }

  private func fill(_ store: TaskStore) throws {
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "Home")
      try transaction.complete(try transaction.add("done", to: .list(list.id)).id)
      _ = try transaction.add("open", to: .inbox)
    }
  }

  private func change(_ store: TaskStore, _ body: Change) throws {
    let tables = try Tables(openingIn: store.environment)
    try store.environment.write { transaction in try body(tables, &transaction) }
  }

  private func faults(of store: TaskStore) throws -> [String] {
    try store.verify().faults.map { "\($0.kind) in \($0.table)" }
  }

  private func expectFault(
    _ fault: String, sourceLocation: SourceLocation = #_sourceLocation, after body: Change
  ) throws {
    try withTemporaryDirectory { (directory) throws in
      try withUncheckedStore(at: directory.appending("store")) { store in
        try fill(store)
        try store.writeAndWait { _ = try $0.add("another write", to: .today) }
        #expect(try faults(of: store) == [], sourceLocation: sourceLocation)
        try change(store, body)
        #expect(try faults(of: store).contains(fault), sourceLocation: sourceLocation)
      }
    }
  }
}
