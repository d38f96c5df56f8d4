import Dispatch
import Synchronization
import TallySystem
import TestSupport
import Testing

@testable import LMDB

/// The error that another thread got.
private final class Found: Sendable {
  let code = Mutex<LMDBError.Code?>(nil)
}

/// Writers that wait for others no longer than their limit.
@Suite struct WriteTurnTests {
  private static func options(waiting limit: Duration) -> LMDBEnvironment.Options {
    var options = Sample.options(mapSizeInBytes: 1 << 20)
    options.writeWaitLimit = limit
    return options
  }

  @Test func aWriteOfAnotherProcessIsWaitedForNoLongerThanTheLimit() throws {
    let sample = try Sample(options: Self.options(waiting: .milliseconds(20)))
    let holder = try HelperProcess("hold-write", sample.directory, 60)
    #expect(holder.line() == "ready")
    #expect(try code { try sample.put([1], forKey: 1) } == .busy)
    #expect(try sample.value(forKey: 1) == nil)
    holder.release()
    #expect(holder.lines() == [])
    try sample.put([2], forKey: 1)
    #expect(try sample.value(forKey: 1) == [2])
  }

  @Test func aKilledWriterHoldsNobodyUp() throws {
    let sample = try Sample(options: Self.options(waiting: .zero))
    let holder = try HelperProcess("hold-write", sample.directory, 60)
    #expect(holder.line() == "ready")
    holder.kill()
    try sample.put([1], forKey: 1)
    #expect(try sample.value(forKey: 1) == [1])
  }

  /// A process in a loop of writes would otherwise take the lock again before the other one has looked.
  @Test(.enabled(if: marksWaiting)) func aProcessNotesThatAnotherOneWaitedForItsTurn() throws {
    let sample = try Sample(options: Self.options(waiting: .seconds(60)))
    let environment = sample.environment
    let lock = try #require(environment.writeLock)
    try sample.put([1], forKey: 1)
    #expect(environment.state.withLock { $0.courtesyEnd } == nil)
    let other = try environment.write { transaction in
      let other = try HelperProcess("count", sample.directory, 1, 60)
      try #require(isAwaited(lock))
      try sample.numbers.put([2], forKey: 1, in: &transaction)
      return other
    }
    #expect(environment.state.withLock { $0.courtesyEnd } != nil)
    #expect(other.lines() == [])
    #expect(!lock.isAwaitedByOthers)
    try sample.put([3], forKey: 1)
    #expect(environment.state.withLock { $0.courtesyEnd } == nil)
  }

  @Test(.enabled(if: marksWaiting)) func aProcessThatWaitsAndIsKilledIsForgotten() throws {
    let sample = try Sample(options: Self.options(waiting: .seconds(60)))
    let lock = try #require(sample.environment.writeLock)
    try sample.environment.write { transaction in
      let other = try HelperProcess("count", sample.directory, 1, 60)
      try #require(isAwaited(lock))
      other.kill()
      #expect(!lock.isAwaitedByOthers)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try sample.value(forKey: 1) == [1])
  }

  @Test(.enabled(if: marksWaiting)) func aProcessThatHasItsTurnNoLongerWaits() throws {
    let sample = try Sample(options: Self.options(waiting: .seconds(60)))
    let lock = try #require(sample.environment.writeLock)
    let other = try sample.environment.write { _ in
      let other = try HelperProcess("hold-write", sample.directory, 60)
      try #require(isAwaited(lock))
      return other
    }
    #expect(other.line() == "ready")
    #expect(!lock.isAwaitedByOthers)
    other.release()
    #expect(other.lines() == [])
  }

  private static var marksWaiting: Bool {
    #if os(Linux)
      true
    #else
      false
    #endif
  }

  private func isAwaited(_ lock: FileLock) -> Bool {
    waitForResult(until: .after(.seconds(60)), pausing: { _ in pause(microseconds: 1_000) }) {
      lock.isAwaitedByOthers ? true : nil
    } != nil
  }

  @Test func anotherThreadIsWaitedForNoLongerThanTheLimit() throws {
    let sample = try Sample(options: Self.options(waiting: .zero))
    try sample.environment.write { transaction in
      let environment = sample.environment
      let found = Found()
      let done = onThread { ready in
        ready.signal()
        let refusal = try? code { try environment.write { _ in } }
        found.code.withLock { $0 = refusal ?? nil }
      }
      done.wait()
      #expect(found.code.withLock { $0 } == .busy)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try sample.value(forKey: 1) == [1])
  }

  /// The error of an attempt that could not begin is its own, though the one before found the map full.
  ///
  /// The rival may come too late in every attempt, so that the map fills up at last: then it is tried again.
  @Test func aWriteThatWaitsInVainToRunAgainInALargerMapSaysSo() throws {
    for _ in 0..<100 where try refusalBesideARival() == .busy { return }
    Issue.record("no write of a hundred had to wait in vain")
  }

  private func refusalBesideARival() throws -> LMDBError.Code? {
    var options = Sample.options(mapSizeInBytes: 1 << 20, maximum: 1 << 26)
    options.writeWaitLimit = .milliseconds(50)
    let sample = try Sample(options: options)
    let environment = sample.environment
    let (mayEnd, end) = (Stop(), ContinuousClock.now + .seconds(600))
    var rival: DispatchSemaphore?
    let refusal = try code {
      try environment.write { transaction in
        if rival == nil {
          rival = onThread { ready in
            ready.signal()
            // Takes the turn as soon as this attempt gives it up, mostly before the next one begins.
            environment.state.wait { state -> Void? in
              if state.isWriteTurnTaken { return nil }
              state.isWriteTurnTaken = true
              return ()
            }
            while !mayEnd.isSet, ContinuousClock.now < end { pause(microseconds: 1_000) }
            environment.state.withLock { $0.isWriteTurnTaken = false }
          }
          while environment.state.waiterCount == 0 { pause(microseconds: 100) }
        }
        // Fills the map of every attempt.
        for key in 0..<UInt64.max {
          try sample.numbers.put([UInt8](repeating: 7, count: 4_000), forKey: key, in: &transaction)
        }
      }
    }
    mayEnd.set()
    rival?.wait()
    return refusal
  }

  @Test func aWriteInsideAWriteIsDistinguishedFromWaiting() throws {
    let sample = try Sample(options: Self.options(waiting: .seconds(60)))
    try sample.environment.write { transaction in
      #expect(try code { try sample.environment.write { _ in } } == .reentrantWrite)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    try sample.put([2], forKey: 2)
    #expect(try sample.count() == 2)
  }

  @Test func aWriteThatThrewOrWasDroppedLetsTheNextOneIn() throws {
    let sample = try Sample(options: Self.options(waiting: .zero))
    #expect(try code { try sample.environment.write { _ in throw LMDBError(.other, operation: "test") } } == .other)
    do { _ = try sample.environment.beginWrite() }
    try sample.put([1], forKey: 1)
    #expect(try sample.count() == 1)
  }

  @Test func aWriteThatCannotBeginGivesItsTurnUp() throws {
    let sample = try Sample(options: Self.options(waiting: .zero))
    sample.environment.state.withLock { $0.hasLostMap = true }
    #expect(try code { try sample.put([1], forKey: 1) } == .panic)
    #expect(!sample.environment.state.withLock { $0.isWriteTurnTaken })
    #expect(try FileLock(openingDirectory: sample.directory.path).tryAcquire(.exclusive))
  }

  @Test func threadsAndProcessesThatWriteAtOnceAllGetTheirTurn() throws {
    let sample = try Sample(options: Self.options(waiting: .seconds(60)))
    let counters = try sample.environment.write { (transaction) throws in
      try Database<UInt64, UInt64>(opening: "counters", creating: true, in: &transaction)
    }
    let rounds = 100
    let helpers = try (0..<2).map { _ in try HelperProcess("count", sample.directory, rounds, 60) }
    let environment = sample.environment
    let threads = (0..<4).map { _ in
      onThread { ready in
        ready.signal()
        for _ in 0..<rounds {
          // A failure is seen in the sum.
          try? environment.write { transaction in
            let next = (try counters.value(forKey: 0, in: transaction) ?? 0) + 1
            try counters.put(next, forKey: 0, in: &transaction)
          }
        }
      }
    }
    for thread in threads { thread.wait() }
    for helper in helpers { #expect(helper.lines() == []) }
    #expect(try environment.read { try counters.value(forKey: 0, in: $0) } == UInt64(6 * rounds))
  }
}
