import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Synchronous writes: all or nothing, one at a time, counted.
@Suite struct WriteTests {
  private struct Regret: Error {}

  @Test func aWriteThatThrowsChangesNothing() throws {
    try withStore { store in
      let kept = try store.writeAndWait { try $0.add("kept", to: .today) }
      let before = try store.read { (try $0.sequence, try $0.view(.all)) }
      #expect(throws: Regret.self) {
        try store.writeAndWait { transaction in
          _ = try transaction.add("gone", to: .inbox)
          _ = try transaction.addList(name: "gone")
          try transaction.complete(kept.id)
          throw Regret()
        }
      }
      let after = try store.read { (try $0.sequence, try $0.view(.all)) }
      #expect(before == after)
      #expect(try store.read { try $0.lists() }.isEmpty)
    }
  }

  @Test func theSequenceCountsTheCommitsThatChangedSomething() throws {
    try withStore { store in
      func sequence() throws -> UInt64 { try store.read { try $0.sequence } }
      let start = try sequence()
      let task = try store.writeAndWait { try $0.add("one", to: .inbox) }
      #expect(try sequence() == start + 1)
      try store.writeAndWait { transaction in
        for number in 0..<5 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      #expect(try sequence() == start + 2)
      try store.writeAndWait { _ in }
      try store.writeAndWait { _ = try $0.view(.all) }
      try store.writeAndWait { _ = try $0.update(task.id) { $0.title = "one" } }
      #expect(code { try store.writeAndWait { _ = try $0.add(" ", to: .inbox) } } == .blankTitle)
      #expect(try sequence() == start + 2, "nothing changed")
    }
  }

  @Test func aWriteInsideAWriteIsRefusedInsteadOfHanging() async throws {
    try await withStore { store in
      #expect(try Self.codeOfWriteInsideSyncWrite(store) == .reentrantTransaction)
      let code = try await store.write { transaction in
        _ = try transaction.add("outer", to: .inbox)
        return Self.writeCode(store)
      }
      #expect(code == .reentrantTransaction)
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["outer", "outer"])
    }
  }

  @Test func aReadInsideAWriteSeesWhatIsCommitted() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("not yet", to: .inbox)
        #expect(try transaction.taskCount == 1)
        #expect(try store.read { try $0.taskCount } == 0)
      }
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  /// A ledger entry that cannot be read makes reopening fail after the record has been rewritten.
  @Test func aHalfDoneChangeIsNotCommittedWhateverBecameOfItsError() throws {
    try withDamagedEntry { store, task in
      let before = try store.read { try $0.task(task.id) }
      let leaving = code { try store.writeAndWait { _ = try $0.reopen(task.id) } }
      #expect(leaving == .damagedStore, "the error itself, not a later one")
      let swallowing = code {
        try store.writeAndWait { transaction in
          _ = try transaction.add("before", to: .inbox)
          _ = try? transaction.reopen(task.id)
          _ = try? transaction.add("after", to: .inbox)
        }
      }
      #expect(swallowing == .storageFailed)
      let recording = code {
        try store.writeAndWait { transaction in
          _ = try? transaction.reopen(task.id)
          let completedAt = OffsetTimestamp(transaction.now, in: .gmt)
          let completion = Completion(
            taskID: UUID(), completedAt: completedAt, createdAt: transaction.now, listID: nil, isTaskDeleted: true)
          _ = try? transaction.record(completion)
        }
      }
      #expect(recording == .storageFailed)
      #expect(try store.read { try $0.task(task.id) } == before)
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  @Test func aHalfDoneChangeInABatchTakesBackNothingElse() async throws {
    try await withDamagedEntry { store, task in
      let gate = await QueueGate(store)
      let swallowing = Task { try await store.write { transaction in _ = try? transaction.reopen(task.id) } }
      let other = Task { try await store.write { try $0.add("other", to: .inbox) } }
      await gate.open(whenWaiting: 2)
      let error = await #expect(throws: TallyError.self) { try await swallowing.value }
      #expect(error?.code == .storageFailed)
      _ = try await other.value
      #expect(try store.read { try $0.task(task.id)?.state } == .completed)
      #expect(try store.read { try $0.taskCount } == 2)
    }
  }

  private static func codeOfWriteInsideSyncWrite(_ store: TaskStore) throws -> TallyError.Code? {
    try store.writeAndWait { transaction in
      _ = try transaction.add("outer", to: .inbox)
      return writeCode(store)
    }
  }

  private static func writeCode(_ store: TaskStore) -> TallyError.Code? {
    code { try store.writeAndWait { _ = try $0.add("inner", to: .inbox) } }
  }
}

/// A store whose one task, completed, has a ledger entry that no version can read.
private func withDamagedEntry(_ body: (TaskStore, TaskItem) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
    let task = try makeDamagedEntry(in: store)
    try await body(store, task)
    try store.close()
  }
}

/// As the asynchronous form.
private func withDamagedEntry(_ body: (TaskStore, TaskItem) throws -> Void) throws {
  try withTemporaryDirectory { directory in
    let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
    try body(store, try makeDamagedEntry(in: store))
    try store.close()
  }
}

private func makeDamagedEntry(in store: TaskStore) throws -> TaskItem {
  let task = try store.writeAndWait { transaction in
    let id = try transaction.add("done", to: .inbox).id
    return try transaction.complete(id)
  }
  let key = try #require(CompletionKey(of: task))
  try store.environment.write { base in
    let raw = try Database<CompletionKey, [UInt8]>(opening: "completions", creating: false, in: &base)
    try raw.put([0xFF], forKey: key, in: &base)
  }
  return task
}
