import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct ClosingTests {
  @Test func aClosedStoreRefusesEverything() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      try store.close()
      try store.close()
      #expect(code { _ = try store.read { try $0.taskCount } } == .storeClosed)
      #expect(code { _ = try store.information() } == .storeClosed)
      #expect(code { try store.flush() } == .storeClosed)
      await expectRefusedWrites(store, .storeClosed)
    }
  }

  @Test(arguments: [TaskStore.Durability.durable, .relaxed])
  func closingWaitsForTheWritesInTheQueue(durability: TaskStore.Durability) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      var configuration = TaskStore.Configuration.testing()
      configuration.durability = durability
      configuration.flushIntervalInSeconds = .infinity
      let store = try TaskStore(at: path, configuration: configuration)
      let (gate, writes) = await QueueGate.holding(300, writesOf: store)
      let closing = startThread { try store.close() }
      await gate.open()
      try await closing.value
      for write in writes { _ = try await write.value }
      #expect(try taskCount(at: path) == writes.count)
    }
  }

  /// The bug: a store that refused to close had ended its queue and refused asynchronous writes from then on.
  @Test func aStoreThatCouldNotBeClosedWorksOn() async throws {
    try await withStore { store in
      let reading = await HeldRead(store)
      #expect(code { try store.close() } == .storeBusy)
      _ = try await store.write { try $0.add("goes on", to: .inbox) }
      #expect(try await reading.end() == 0)
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  /// The bug: closing inside a write waited for the queue, which waited for that write.
  @Test func closingInsideAWriteIsRefusedInsteadOfHanging() async throws {
    try await withStore { store in
      let hasBegun = Signal()
      let outer = startThread {
        try store.writeAndWait { transaction in
          _ = try transaction.add("outer", to: .inbox)
          hasBegun.send()
          // More than fit into one commit, so that some wait for this write to end.
          while store.commits.waitingCount < 300 { usleep(1_000) }
          return code { try store.close() }
        }
      }
      await hasBegun.wait()
      let writes = (0..<600).map { _ in Task { try await store.write { try $0.add("inner", to: .inbox) } } }
      #expect(try await outer.value == .storeBusy)
      for write in writes { _ = try await write.value }
      #expect(try await store.write { _ in code { try store.close() } } == .storeBusy)
      #expect(try store.read { _ in code { try store.close() } } == .storeBusy)
      #expect(try store.read { try $0.taskCount } == 601)
    }
  }

  @Test func closingWithALimitWaitsForTheReadInProgress() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let reading = await HeldRead(store)
      let closing = startThread { try store.close(waitingAtMost: .seconds(60)) }
      await waitUntil { store.commits.isEnding }
      #expect(try await reading.end() == 0)
      try await closing.value
      #expect(code { _ = try store.read { try $0.taskCount } } == .storeClosed)
    }
  }

  @Test func aStoreLetGoWithoutClosingIsClosed() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      for count in 1...3 {
        var store: TaskStore? = try TaskStore(at: path, configuration: .testing())
        try store?.writeAndWait { _ = try $0.add("one more", to: .inbox) }
        store = nil
        #expect(try taskCount(at: path) == count)
      }
    }
  }

  @Test func aStoreLetGoByItsOwnCommitThreadIsClosed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      for round in 1...100 {
        try await Self.writeWithTheLastReference(to: path)
        #expect(try await Self.taskCountWhenClosed(at: path) == round)
      }
    }
  }

  private static func writeWithTheLastReference(to path: FilePath) async throws {
    let store = try TaskStore(at: path, configuration: .testing())
    try await store.write { transaction in
      _ = try transaction.add("from \(store.directory.isEmpty)", to: .inbox)
    }
  }

  private static func taskCountWhenClosed(at path: FilePath) async throws -> Int {
    while true {
      do {
        return try taskCount(at: path)
      } catch let error as TallyError where error.code == .alreadyOpen {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
  }
}
