import LMDB
import Testing

@Suite struct NestedTransactionTests {
  @Test func committedNestedChangesBelongToTheParent() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      let count = try transaction.nested { nested in
        try sample.numbers.put([1], forKey: 1, in: &nested)
        return try sample.numbers.count(in: nested)
      }
      #expect(count == 1)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
    }
    #expect(try sample.value(forKey: 1) == [1])
  }

  private struct Stop: Error {}

  @Test func nestedTransactionThatThrowsTakesBackOnlyItself() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      try sample.numbers.put([1], forKey: 1, in: &transaction)
      #expect(throws: Stop.self) {
        try transaction.nested { nested in
          try sample.numbers.put([2], forKey: 2, in: &nested)
          try sample.numbers.remove(forKey: 1, in: &nested)
          throw Stop()
        }
      }
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
      #expect(try sample.numbers.count(in: transaction) == 1)
    }
    #expect(try sample.count() == 1)
  }

  @Test func nestedTransactionsNest() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      try transaction.nested { outer in
        try sample.numbers.put([1], forKey: 1, in: &outer)
        try outer.nested { try sample.numbers.put([2], forKey: 2, in: &$0) }
        try? outer.nested { inner in
          try sample.numbers.put([3], forKey: 3, in: &inner)
          throw Stop()
        }
      }
    }
    #expect(try sample.count() == 2)
    #expect(try sample.value(forKey: 3) == nil)
  }

  @Test func abortOfTheParentTakesCommittedNestedChangesBack() throws {
    let sample = try Sample()
    var transaction = try sample.environment.beginWrite()
    try transaction.nested { try sample.numbers.put([1], forKey: 1, in: &$0) }
    transaction.abort()
    #expect(try sample.count() == 0)
  }

  @Test func mapFullInANestedTransactionReachesTheWholeWrite() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20))
    let large = [UInt8](repeating: 1, count: 3 << 20)
    var attempts = 0
    try sample.environment.write { (transaction) throws in
      attempts += 1
      // Swallowed, as a caller does that joins many writers in one transaction.
      try? transaction.nested { try sample.numbers.put(large, forKey: 1, in: &$0) }
    }
    #expect(attempts > 1)
    #expect(try sample.value(forKey: 1) == large)
  }

  @Test func failureThatTheBodyCaughtDoesNotCommit() throws {
    let sample = try Sample()
    let short = try sample.environment.write {
      try Database<UInt64, ShortValue>(opening: "short", creating: true, in: &$0)
    }
    try sample.environment.write { (transaction) throws in
      let seen = try code {
        try transaction.nested { nested in
          try sample.numbers.put([1], forKey: 1, in: &nested)
          try? short.put(ShortValue(announced: 2, written: 1), forKey: 1, in: &nested)
        }
      }
      #expect(seen == .badTransaction)
      #expect(try sample.numbers.count(in: transaction) == 0)
    }
  }
}
