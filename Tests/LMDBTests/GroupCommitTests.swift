import Foundation
import Testing

@testable import LMDB

/// Writes that wait without a thread share commits, keep their order and fail alone.
@Suite struct GroupCommitTests {
  private struct Regret: Error {}

  /// A call whose body holds the thread of commits, so that later calls gather.
  private struct Holding {
    let mayGoOn = DispatchSemaphore(value: 0)
    let call: Task<Void, any Error>

    init(_ sample: Sample) async {
      let (isHeld, mayGoOn) = (DispatchSemaphore(value: 0), mayGoOn)
      call = Task.detached {
        try await sample.environment.groupCommit { _ in
          isHeld.signal()
          mayGoOn.wait()
        }
      }
      await GroupCommitTests.onOwnThread { isHeld.wait() }
    }

    func end() async throws {
      mayGoOn.signal()
      try await call.value
    }
  }

  private static func onOwnThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }

  /// Puts a number under itself, after all that were put before.
  private static func puts(
    _ numbers: Range<UInt64>, in sample: Sample, _ body: @escaping @Sendable (UInt64) throws -> Void = { _ in }
  ) async -> [Task<Void, any Error>] {
    var calls: [Task<Void, any Error>] = []
    for number in numbers {
      calls.append(
        Task {
          try await sample.environment.groupCommit { transaction in
            let order = try sample.numbers.count(in: transaction)
            try sample.numbers.put([UInt8(truncatingIfNeeded: order)], forKey: number, in: &transaction)
            try body(number)
          }
        })
      let count = calls.count
      await onOwnThread {
        while sample.environment.waitingWriteCount < count { Thread.sleep(forTimeInterval: 0.001) }
      }
    }
    return calls
  }

  @Test func callsThatWaitShareACommitAndKeepTheirOrder() async throws {
    let sample = try Sample()
    let before = try sample.environment.lastTransactionID()
    let holding = await Holding(sample)
    let calls = await Self.puts(0..<40, in: sample)
    try await holding.end()
    for call in calls { try await call.value }
    for number in 0..<40 as Range<UInt64> { #expect(try sample.value(forKey: number) == [UInt8(number)]) }
    // That of the body that held the thread wrote nothing.
    #expect(try sample.environment.lastTransactionID() - before <= 2)
  }

  @Test func aBodyThatThrowsUndoesOnlyItself() async throws {
    let sample = try Sample()
    let holding = await Holding(sample)
    let calls = await Self.puts(0..<30, in: sample) { if $0.isMultiple(of: 3) { throw Regret() } }
    try await holding.end()
    for (number, call) in calls.enumerated() {
      if number.isMultiple(of: 3) {
        await #expect(throws: Regret.self) { try await call.value }
      } else {
        try await call.value
      }
    }
    #expect(try sample.count() == 20)
    #expect(try sample.value(forKey: 3) == nil)
    #expect(try sample.value(forKey: 29) == [19])
  }

  @Test func aSingleCallGetsItsOwnErrorAndItsResult() async throws {
    let sample = try Sample()
    #expect(try await sample.environment.groupCommit { try sample.numbers.count(in: $0) } == 0)
    await #expect(throws: Regret.self) {
      try await sample.environment.groupCommit { transaction in
        try sample.numbers.put([1], forKey: 1, in: &transaction)
        throw Regret()
      }
    }
    #expect(try sample.count() == 0)
  }

  @Test func aCallThatIsCancelledInTheQueueChangesNothing() async throws {
    let sample = try Sample()
    let holding = await Holding(sample)
    let calls = await Self.puts(0..<3, in: sample)
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    try await holding.end()
    try await calls[0].value
    try await calls[2].value
    #expect(try sample.count() == 2)
  }

  @Test func theMapGrowsForCallsTogether() async throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 18))
    let size = 60_000
    let holding = await Holding(sample)
    let calls = (0..<16 as Range<UInt64>).map { number in
      Task {
        try await sample.environment.groupCommit { transaction in
          try sample.numbers.put([UInt8](repeating: 1, count: size), forKey: number, in: &transaction)
        }
      }
    }
    try await holding.end()
    for call in calls { try await call.value }
    #expect(try sample.count() == 16)
    #expect(try sample.value(forKey: 15)?.count == size)
  }

  @Test func aFullMapFailsOnlyThoseWithoutRoom() async throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20, maximum: 1 << 20))
    let holding = await Holding(sample)
    let small = await Self.puts(0..<3, in: sample)
    let large = Task {
      try await sample.environment.groupCommit { transaction in
        try sample.numbers.put([UInt8](repeating: 1, count: 2 << 20), forKey: 9, in: &transaction)
      }
    }
    try await holding.end()
    for call in small { try await call.value }
    let error = await #expect(throws: LMDBError.self) { try await large.value }
    #expect(error?.code == .mapFull)
    #expect(try sample.count() == 3)
  }

  @Test func aClosedEnvironmentRefusesCalls() async throws {
    let sample = try Sample()
    try await sample.environment.groupCommit { try sample.numbers.put([1], forKey: 1, in: &$0) }
    try sample.environment.close(waitingAtMost: .seconds(60))
    let error = await #expect(throws: LMDBError.self) {
      try await sample.environment.groupCommit { try sample.numbers.put([2], forKey: 2, in: &$0) }
    }
    #expect(error?.code == .closed)
  }

  /// Between two batches the environment belongs to nobody but its callers.
  @Test func theThreadOfCommitsDoesNotKeepTheEnvironment() async throws {
    weak var environment: LMDBEnvironment?
    // Kept: another directory must not get its identity while the environment may be open.
    let directory: TemporaryDirectory
    do {
      let sample = try Sample()
      directory = sample.directory
      try await sample.environment.groupCommit { try sample.numbers.put([1], forKey: 1, in: &$0) }
      environment = sample.environment
    }
    // The thread may still be on its way out of the batch.
    let seen = UncheckedWeak(environment)
    await Self.onOwnThread { for _ in 0..<10_000 where seen.value != nil { Thread.sleep(forTimeInterval: 0.001) } }
    withExtendedLifetime(directory) { #expect(environment == nil) }
  }
}

private final class UncheckedWeak: @unchecked Sendable {
  weak var value: LMDBEnvironment?

  init(_ value: LMDBEnvironment?) { self.value = value }
}
