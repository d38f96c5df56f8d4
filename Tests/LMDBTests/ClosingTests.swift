import Foundation
import TallySystem
import Testing

@testable import LMDB

@Suite struct ClosingTests {
  @Test func everyCallAfterClosingThrowsClosed() throws {
    let sample = try Sample()
    let environment = sample.environment
    try environment.close()
    try environment.close()
    let target = try TemporaryDirectory()
    let calls: [() throws -> Void] = [
      { _ = try environment.beginRead() }, { _ = try environment.beginWrite() }, { try environment.growMap() },
      { try environment.sync() }, { try environment.copy(to: target.path) }, { _ = try environment.information() },
      { _ = try environment.statistics() }, { _ = try environment.readers() }, { try environment.clearStaleReaders() },
      { _ = try Sample.Numbers(opening: "numbers", in: environment) },
    ]
    for call in calls { #expect(try code(call) == .closed) }
  }

  @Test func liveReaderKeepsTheEnvironmentOpen() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.read { (transaction) throws in
      #expect(try code { try sample.environment.close() } == .busy)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
    }
    try sample.environment.close()
  }

  @Test func liveWriterKeepsTheEnvironmentOpen() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      #expect(try code { try sample.environment.close() } == .busy)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try sample.value(forKey: 1) == [1])
    try sample.environment.close()
  }

  @Test func closingWaitsForTheLastTransactionAndNewOnesForTheOutcome() throws {
    let sample = try Sample()
    let environment = sample.environment
    let mayEnd = Stop()
    let reader = onThread { ready in
      _ = try? environment.read { _ in
        ready.signal()
        while !mayEnd.isSet { pause() }
      }
    }
    let closing = onThread { ready in
      ready.signal()
      #expect(throws: Never.self) { try environment.close(waitingAtMost: .seconds(60)) }
    }
    // Begins before the one that closes, or waits with it: no third outcome.
    let late = onThread { ready in
      ready.signal()
      #expect([nil, .closed].contains(try? code { _ = try environment.beginRead() }))
    }
    for _ in 0..<20 { pause() }
    mayEnd.set()
    for thread in [reader, closing, late] { thread.wait() }
    #expect(try code { _ = try environment.beginRead() } == .closed)
  }

  @Test func closingThatTakesTooLongLeavesTheEnvironmentOpen() throws {
    let sample = try Sample()
    let environment = sample.environment
    let mayEnd = Stop()
    let reader = onThread { ready in
      _ = try? environment.read { _ in
        ready.signal()
        while !mayEnd.isSet { pause() }
      }
    }
    #expect(try code { try environment.close(waitingAtMost: .milliseconds(5)) } == .busy)
    try sample.put([1], forKey: 1)
    #expect(try sample.value(forKey: 1) == [1])
    mayEnd.set()
    reader.wait()
    try environment.close()
  }

  @Test func newTransactionsWaitUntilTheWaitForTheOthersIsOver() throws {
    var options = Sample.options(mapSizeInBytes: 1 << 20)
    // The end of the wait must be announced: nobody would wait that long.
    options.waitLimitInSeconds = 3_600
    let sample = try Sample(options: options)
    let environment = sample.environment
    let (mayEnd, hasBegun) = (Stop(), Stop())
    let reader = onThread { ready in
      _ = try? environment.read { _ in
        ready.signal()
        while !mayEnd.isSet { pause() }
      }
    }
    let closing = onThread { ready in
      ready.signal()
      #expect((try? code { try environment.close(waitingAtMost: .seconds(3)) }) == .busy)
    }
    while !environment.state.withLock({ $0.isDraining }) { pause() }
    let late = onThread { ready in
      ready.signal()
      try? environment.read { _ in hasBegun.set() }
    }
    // The thread that closes, and the new one.
    while environment.state.waiterCount < 2, !hasBegun.isSet { pause() }
    #expect(!hasBegun.isSet)
    for thread in [closing, late] { thread.wait() }
    #expect(hasBegun.isSet)
    mayEnd.set()
    reader.wait()
  }

  /// Its own thread, which ends it, waits for the outcome of closing itself.
  @Test func closingLearnsOfTheEndOfATransactionThatWasDroppedElsewhere() throws {
    var options = Sample.options(mapSizeInBytes: 1 << 20)
    // The end must be announced: nobody would wait that long.
    options.waitLimitInSeconds = 3_600
    let environment = try Sample(options: options).environment
    let stranded = Stranded(try environment.beginWrite())
    let dropping = onThread { ready in
      ready.signal()
      stranded.drop()
    }
    dropping.wait()
    let closing = onThread { ready in
      ready.signal()
      #expect(throws: Never.self) { try environment.close(waitingAtMost: .seconds(3_600)) }
    }
    while environment.state.waiterCount == 0 { pause() }
    #expect(try code { try environment.read { _ in } } == .closed)
    closing.wait()
  }

  private func pause() {
    usleep(1_000)
  }

  @Test func transactionKeepsItsEnvironmentAlive() throws {
    let directory = try TemporaryDirectory()
    var numbers: Sample.Numbers?
    let transaction = try beginAndForget(in: directory, &numbers)
    #expect(try numbers?.value(forKey: 1, in: transaction) == [1])
  }

  private func beginAndForget(in directory: TemporaryDirectory, _ database: inout Sample.Numbers?) throws
    -> ReadTransaction
  {
    let environment = try LMDBEnvironment(path: directory.path)
    database = try environment.write { (transaction) throws in
      let numbers = try Sample.Numbers(opening: "numbers", creating: true, in: &transaction)
      try numbers.put([1], forKey: 1, in: &transaction)
      return numbers
    }
    return try environment.beginRead()
  }
}

/// Carries a write transaction to another thread behind the compiler's back.
private final class Stranded: @unchecked Sendable {
  private var transaction: WriteTransaction?

  init(_ transaction: consuming WriteTransaction) {
    self.transaction = consume transaction
  }

  func drop() {
    transaction = nil
  }
}
