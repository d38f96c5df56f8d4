import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct RelaxedDurabilityTests {
  private func configuration(flushIntervalInSeconds: TimeInterval) -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.durability = .relaxed
    configuration.flushIntervalInSeconds = flushIntervalInSeconds
    return configuration
  }

  @Test func whatWasNotFlushedYetIsThereAfterClosing() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path, configuration(flushIntervalInSeconds: .infinity)) { store in
        try store.writeAndWait { _ = try $0.add("relaxed", to: .inbox) }
        #expect(store.commits.hasUnflushedCommit)
      }
      #expect(try taskCount(at: path) == 1)
    }
  }

  @Test(arguments: [0, 0.01, -1, .nan])
  func aWriteIsFlushedByItself(intervalInSeconds: TimeInterval) async throws {
    try await withStore(configuration(flushIntervalInSeconds: intervalInSeconds)) { store in
      _ = try await store.write { try $0.add("relaxed", to: .inbox) }
      await waitUntil { !store.commits.hasUnflushedCommit }
    }
  }

  @Test func aLaterWriteDoesNotPutTheFlushOff() throws {
    try withStore(configuration(flushIntervalInSeconds: 3_600)) { store in
      try store.writeAndWait { _ = try $0.add("first", to: .inbox) }
      let time = try #require(store.commits.flushTime)
      try store.writeAndWait { _ = try $0.add("second", to: .inbox) }
      #expect(store.commits.flushTime == time)
    }
  }

  @Test func durableWritesLeaveNothingToFlush() throws {
    try withStore { store in
      try store.writeAndWait { _ = try $0.add("durable", to: .inbox) }
      #expect(!store.commits.hasUnflushedCommit)
    }
  }

  /// The bug: as long as writes waited, nothing was flushed, no matter how long the interval had passed.
  @Test func aStreamOfWritesDoesNotPutTheFlushOff() async throws {
    try await withStore(configuration(flushIntervalInSeconds: 0)) { store in
      let gate = await QueueGate(store)
      let wasFlushed = Shared<[Bool]>([])
      let writes = (0..<1_000).map { number in
        Task {
          try await store.write { transaction in
            _ = try transaction.add("\(number)", to: .inbox)
            wasFlushed.withLock { $0.append(!store.commits.hasUnflushedCommit) }
          }
        }
      }
      await gate.open(whenWaiting: writes.count)
      for write in writes { try await write.value }
      // The last ones ran in a later commit than the first.
      #expect(wasFlushed.withLock { $0.suffix(100).allSatisfy { $0 } })
    }
  }
}
