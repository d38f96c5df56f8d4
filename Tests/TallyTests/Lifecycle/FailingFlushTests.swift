import Foundation
import LMDB
import Logging
import TallyTestSupport
import Testing

@testable import Tally

/// Relaxed writes are flushed before a store ends; where that fails it stays open.
@Suite struct FailingFlushTests {
  /// The bug: if the queue itself flushed at its end, or had an interval of zero, it retried for ever.
  @Test(.timeLimit(.minutes(5)), arguments: [0, .infinity])
  func aStoreThatCannotBeFlushedStaysOpen(flushIntervalInSeconds: TimeInterval) async throws {
    try await withStore(relaxed(flushIntervalInSeconds)) { store in
      try await store.write { _ = try $0.add("relaxed", to: .inbox) }
      let failing = try FailingFlushes(of: store)
      // As after the write: with an interval of zero it may be flushed by now.
      store.commits.noteCommit()
      for _ in 0..<2 {
        #expect(code { try store.suspend(waitingAtMost: .seconds(60)) } == .storageFailed)
        #expect(code { try store.close(waitingAtMost: .seconds(60)) } == .storageFailed)
      }
      // The queue clears the date while it tries: with an interval of zero that may be now.
      await waitUntil { store.commits.hasUnflushedCommit }
      #expect(try store.read { try $0.taskCount } == 1)
      try failing.end()
      try store.suspend(waitingAtMost: .seconds(60))
      #expect(!store.commits.hasUnflushedCommit)
      try store.resume()
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  /// The bug: with an interval of zero the flush was retried at once, and no write had its turn.
  @Test(.timeLimit(.minutes(5))) func aFlushThatFailsDoesNotKeepWritesFromTheirTurn() async throws {
    try await withStore(relaxed(0)) { store in
      let gate = await QueueGate(store)
      let failing = try FailingFlushes(of: store)
      store.commits.noteCommit()
      let write = Task { try await store.write { _ = try $0.add("refused", to: .inbox) } }
      await gate.open(whenWaiting: 1)
      let error = await #expect(throws: TallyError.self) { try await write.value }
      #expect(error?.code == .storageFailed)
      try failing.end()
      try await store.write { _ = try $0.add("done", to: .inbox) }
      #expect(try store.read { try $0.taskCount } == 1)
      await waitUntil { !store.commits.hasUnflushedCommit }
    }
  }

  /// The bug: a commit during a failing flush caused a retry at once, and again, and no write had its turn.
  @Test(.timeLimit(.minutes(5))) func aCommitDuringAFlushThatFailsDoesNotHaveItTriedAgainAtOnce() async throws {
    // Far more than fit into the time of one write, with a pause after each.
    let mostFailures = 1_000
    let commits = Shared<WriteQueue<StoreWriteTransaction>?>(nil)
    let failureCount = Shared(0)
    var configuration = relaxed(0)
    configuration.logger = .ofTest { message in
      guard message.contains("flushing failed") else { return }
      let count = failureCount.withLock { count in
        count += 1
        return count
      }
      // Another thread's commit, between the failure and its handling.
      if count < mostFailures { commits.withLock { $0 }?.noteCommit() }
    }
    try await withStore(configuration) { store in
      commits.withLock { $0 = store.commits }
      defer { commits.withLock { $0 = nil } }
      let failing = try FailingFlushes(of: store)
      store.commits.noteCommit()
      await waitUntil { failureCount.withLock { $0 } > 0 }
      await #expect(throws: TallyError.self) { try await store.write { _ = try $0.add("refused", to: .inbox) } }
      #expect(failureCount.withLock { $0 } < mostFailures)
      try failing.end()
      try await store.write { _ = try $0.add("done", to: .inbox) }
      #expect(try store.read { try $0.taskCount } == 1)
      await waitUntil { !store.commits.hasUnflushedCommit }
    }
  }

  private func relaxed(_ flushIntervalInSeconds: TimeInterval) -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.durability = .relaxed
    // The flush that fails is that of the data file.
    configuration.makesLog = false
    configuration.flushIntervalInSeconds = flushIntervalInSeconds
    return configuration
  }
}
