import LMDB
import Testing

@Suite struct NestedTransactionTests {
  @Test func committedNestedChangesBelongToTheParent() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      let count = try transaction.nested { (nested: consuming WriteTransaction) in
        try sample.numbers.put([1], forKey: 1, in: &nested)
        let count = try sample.numbers.count(in: nested)
        try nested.commit()
        return count
      }
      #expect(count == 1)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
    }
    #expect(try sample.value(forKey: 1) == [1])
  }

  @Test func nestedTransactionThatIsNotCommittedTakesBackOnlyItself() throws {
    struct Stop: Error {}
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      try sample.numbers.put([1], forKey: 1, in: &transaction)
      try transaction.nested { (nested: consuming WriteTransaction) in
        try sample.numbers.put([2], forKey: 2, in: &nested)
        try sample.numbers.remove(forKey: 1, in: &nested)
      }
      #expect(throws: Stop.self) {
        try transaction.nested { (nested: consuming WriteTransaction) in
          try sample.numbers.put([3], forKey: 1, in: &nested)
          throw Stop()
        }
      }
      try transaction.nested { (nested: consuming WriteTransaction) in nested.abort() }
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
      #expect(try sample.numbers.count(in: transaction) == 1)
    }
    #expect(try sample.count() == 1)
  }

  @Test func nestedTransactionsNest() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      try transaction.nested { (outer: consuming WriteTransaction) in
        try sample.numbers.put([1], forKey: 1, in: &outer)
        try outer.nested { (inner: consuming WriteTransaction) in
          try sample.numbers.put([2], forKey: 2, in: &inner)
          try inner.commit()
        }
        try outer.nested { (inner: consuming WriteTransaction) in try sample.numbers.put([3], forKey: 3, in: &inner) }
        try outer.commit()
      }
    }
    #expect(try sample.count() == 2)
    #expect(try sample.value(forKey: 3) == nil)
  }

  @Test func abortOfTheParentTakesCommittedNestedChangesBack() throws {
    let sample = try Sample()
    var transaction = try sample.environment.beginWrite()
    try transaction.nested { (nested: consuming WriteTransaction) in
      try sample.numbers.put([1], forKey: 1, in: &nested)
      try nested.commit()
    }
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
      try? transaction.nested { (nested: consuming WriteTransaction) in
        try sample.numbers.put(large, forKey: 1, in: &nested)
        try nested.commit()
      }
    }
    #expect(attempts > 1)
    #expect(try sample.value(forKey: 1) == large)
  }
}
