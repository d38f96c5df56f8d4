import LMDB
import Synchronization
import TallyTestSupport
import Testing

@testable import Tally

/// The pauses that a store asked for.
private final class Pauses: Sendable {
  let all = Mutex<[Duration]>([])
}

@Suite struct RetryTests {
  private let pauses = Pauses()

  @Test func aFailureThatPassesIsNotSeen() throws {
    let failures = Mutex(2)
    try withStore(configuration()) { (store) throws in
      let task = try store.writeAndWait { transaction in
        let task = try transaction.add("once", to: .today)
        if failures.withLock({ count in
          count -= 1; return count >= 0
        }) {
          throw LMDBError(.ioFailure, operation: "test")
        }
        return task
      }
      #expect(try store.read { try $0.view(.all).tasks.map(\.id) } == [task.id])
    }
    #expect(pauses.all.withLock { $0 } == [.milliseconds(20), .milliseconds(40)])
  }

  @Test func aLimitOfOurOwnThatHasPassedIsNotTriedAgain() {
    #expect(!LMDBError(.busy, operation: "test").isTransient)
    #expect(LMDBError(.busy, operation: "test", returnCode: 11).isTransient)
  }

  @Test func aFailureThatStaysIsReportedAfterThreeAttempts() throws {
    let attempts = Mutex(0)
    _ = try withStore(configuration()) { (store) throws in
      #expect {
        try store.writeAndWait { _ in
          attempts.withLock { $0 += 1 }
          throw LMDBError(.ioFailure, operation: "test")
        }
      } throws: {
        ($0 as? TallyError)?.code == .storageFailed
      }
    }
    #expect(attempts.withLock { $0 } == 3)
  }

  @Test(arguments: [LMDBError.Code.diskFull, .commitOutcomeUnknown, .corrupted, .panic])
  func whatDoesNotPassIsNotTriedAgain(code: LMDBError.Code) throws {
    let attempts = Mutex(0)
    _ = try withStore(configuration()) { (store) throws in
      #expect(throws: TallyError.self) {
        try store.writeAndWait { _ in
          attempts.withLock { $0 += 1 }
          throw LMDBError(code, operation: "test")
        }
      }
    }
    #expect(attempts.withLock { $0 } == 1)
  }

  private func configuration() -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.pause = { [pauses] pause in pauses.all.withLock { $0.append(pause) } }
    return configuration
  }
}
