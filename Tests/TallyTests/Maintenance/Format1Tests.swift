import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// A store of format 1, whose bytes are those that its release wrote, is migrated.
@Suite struct Format1Tests {
  @Test func aStoreOfFormat1KeepsItsTasksAndIsSound() throws {
    try withFormat1 { directory in
      let store = try TaskStore(at: directory, configuration: .testing(clock: GoldenStore().clock))
      let golden = GoldenStore()
      let tasks = try golden.expectedTasks().filter { $0.id != GoldenStore.id(6) }
      #expect(try store.read { try $0.view(.all).tasks } == tasks)
      #expect(try store.read { try $0.header().majorFormat } == 2)
      #expect(try store.verify().faults == [])
      #expect(try store.read { try $0.view(.overdue).tasks.map(\.title) } == ["long ago"])
      try store.close()
    }
  }

  /// Format 1 had no place for tasks that are late by their reminder alone.
  @Test func tasksWithAReminderAloneAreOverdueAfterTheMigration() throws {
    try withFormat1 { directory in
      try removeDueDate(ofTask: 2, at: directory)
      let store = try TaskStore(at: directory, configuration: .testing(clock: GoldenStore().clock))
      #expect(try store.read { try $0.view(.overdue).tasks.map(\.title) } == ["long ago", "pay the rent"])
      #expect(try store.read { try $0.statistics().open.overdue } == 2)
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }

  @Test func aBackupOfFormat1IsRestored() throws {
    try withFormat1 { directory in
      let target = directory.removingLastComponent().appending("restored")
      try TaskStore.restore(from: directory.appending("data.mdb"), to: target, configuration: .testing())
      let store = try TaskStore(at: target, configuration: .testing())
      #expect(try store.read { try $0.taskCount } == 4)
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }

  /// Creates the store from the rows that are kept beside this test.
  private func withFormat1(_ body: (FilePath) throws -> Void) throws {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../Storage/golden-store-v1.txt").standardized
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try StoredRows(from: file).makeStore(at: path)
      try body(path)
    }
  }

  /// The record keeps its other fields; the entries and counters of the due date go with it.
  private func removeDueDate(ofTask number: UInt8, at directory: FilePath) throws {
    let environment = try LMDBEnvironment(path: directory)
    defer { try? environment.close() }
    try environment.write { (transaction) throws in
      let tasks = try Database<IDKey, TaskRecord>(opening: "tasks", creating: false, in: &transaction)
      guard var record = try tasks.value(forKey: IDKey(GoldenStore.id(number)), in: transaction) else { return }
      record.item.id = GoldenStore.id(number)
      record.item.dueDate = nil
      try tasks.put(record, forKey: record.key, in: &transaction)
    }
  }
}
