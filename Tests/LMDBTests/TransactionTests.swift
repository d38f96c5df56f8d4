import Dispatch
import LMDB
import TestSupport
import Testing

@Suite struct TransactionTests {
  @Test func droppedWriteTransactionLeavesNothing() throws {
    let sample = try Sample()
    do {
      var transaction = try sample.environment.beginWrite()
      try sample.numbers.put([1], forKey: 1, in: &transaction)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
    }
    #expect(try sample.count() == 0)
    var transaction = try sample.environment.beginWrite()
    try sample.numbers.put([2], forKey: 2, in: &transaction)
    transaction.abort()
    #expect(try sample.count() == 0)
  }

  @Test func throwingBodyLeavesNothing() throws {
    struct Stop: Error {}
    let sample = try Sample()
    #expect(throws: Stop.self) {
      try sample.environment.write { (transaction) throws in
        try sample.numbers.put([1], forKey: 1, in: &transaction)
        throw Stop()
      }
    }
    #expect(try sample.count() == 0)
  }

  @Test func readerKeepsItsSnapshot() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.read { (transaction) throws in
      try sample.put([2], forKey: 1)
      try sample.put([3], forKey: 3)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
      #expect(try sample.numbers.count(in: transaction) == 1)
    }
    #expect(try sample.value(forKey: 1) == [2])
  }

  @Test func secondWriteTransactionOfAThreadIsRefused() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      #expect(try code { _ = try sample.environment.beginWrite() } == .reentrantWrite)
      #expect(try code { try sample.environment.write { _ in } } == .reentrantWrite)
      let target = try TemporaryDirectory()
      #expect(try code { try sample.environment.copy(to: target.path) } == .reentrantWrite)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try sample.value(forKey: 1) == [1])
    try sample.put([2], forKey: 2)
  }

  @Test func transactionsOfTwoEnvironmentsDoNotHinderEachOther() throws {
    let (left, right) = (try Sample(), try Sample())
    try left.environment.write { (outer) throws in
      try right.environment.write { (inner) throws in
        try right.numbers.put([2], forKey: 2, in: &inner)
        try left.numbers.put([1], forKey: 1, in: &outer)
      }
    }
    #expect(try left.value(forKey: 1) == [1])
    #expect(try right.value(forKey: 2) == [2])
  }

  @Test func writersOnManyThreadsTakeTurns() throws {
    let sample = try Sample()
    let writers = (0..<8).map { _ in
      onThread { ready in
        ready.signal()
        do { for _ in 0..<25 { try Self.increment(sample) } } catch { Issue.record(error) }
      }
    }
    for writer in writers { writer.wait() }
    #expect(try sample.value(forKey: 0) == [200])
  }

  private static func increment(_ sample: Sample) throws {
    try sample.environment.write { (transaction) throws in
      let last = try sample.numbers.value(forKey: 0, in: transaction)?.first ?? 0
      try sample.numbers.put([last + 1], forKey: 0, in: &transaction)
    }
  }

  /// A commit on another thread would report success and keep the write lock for ever, hence the process of its own.
  @Test func endingAWriteTransactionOnAnotherThreadIsRefusedAndRecovered() throws {
    let lines = try HelperProcess("foreign-thread", TemporaryDirectory()).lines()
    #expect(
      lines == [
        "commit: wrongThread", "other writer: wrongThread", "own writer: none", "other writer afterwards: none",
        "close: none",
      ]
    )
  }

  @Test func failedTransactionCanOnlyBeAborted() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20))
    var transaction = try sample.environment.beginWrite()
    try sample.numbers.put([1], forKey: 1, in: &transaction)
    let large = [UInt8](repeating: 1, count: 2 << 20)
    #expect(try code { try sample.numbers.put(large, forKey: 2, in: &transaction) } == .mapFull)
    #expect(try code { try sample.numbers.put([3], forKey: 3, in: &transaction) } == .badTransaction)
    #expect(try code { _ = try sample.numbers.value(forKey: 1, in: transaction) } == .badTransaction)
    #expect(try code { _ = try sample.numbers.count(in: transaction) } == .badTransaction)
    // What liblmdb would refuse itself does not reach it.
    do throws(LMDBError) {
      _ = try sample.numbers.value(forKey: 1, in: transaction)
    } catch {
      #expect(error.message.contains("failed before with"))
    }
    #expect(try code { try transaction.nested { _ in } } == .badTransaction)
    let commit = codeOfCommit(transaction)
    #expect(commit == .badTransaction)
    #expect(try sample.count() == 0)
    try sample.put([4], forKey: 4)
    #expect(try sample.count() == 1)
  }
}
