import LMDB
import Testing

@Suite struct CursorTests {
  /// A sample with the even keys below 20, each with itself as value.
  private func sampleOfEvens() throws -> Sample {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      for key in stride(from: UInt64(0), to: 20, by: 2) {
        try sample.numbers.put([UInt8(key)], forKey: key, in: &transaction)
      }
    }
    return sample
  }

  private typealias NumbersCursor = Cursor<UInt64, [UInt8]>

  private func keyIfAny(of cursor: borrowing NumbersCursor) throws -> UInt64? {
    cursor.isAtEntry ? try cursor.key() : nil
  }

  private func lengths(of cursor: borrowing NumbersCursor) -> [Int] {
    [cursor.keyBytes.byteCount, cursor.valueBytes.byteCount]
  }

  @Test func forwardsAndBackwardsSeeEveryEntry() throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      var (forwards, backwards): ([UInt64], [UInt64]) = ([], [])
      while try cursor.next() {
        forwards.append(try cursor.key())
        #expect(try cursor.value() == [UInt8(cursor.key())])
        #expect(lengths(of: cursor) == [8, 1])
      }
      while try cursor.previous() { backwards.append(try cursor.key()) }
      #expect(forwards == Array(stride(from: 0, to: 20, by: 2)))
      #expect(backwards == forwards.reversed())
    }
  }

  @Test func cursorStaysAfterTheEndItRanOff() throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      #expect(try cursor.moveToLast())
      #expect(try !cursor.next())
      #expect(try !cursor.next())
      #expect(try keyIfAny(of: cursor) == nil)
      #expect(try cursor.previous())
      #expect(try cursor.key() == 18)
      #expect(try cursor.moveToFirst())
      #expect(try !cursor.previous())
      #expect(try !cursor.previous())
      #expect(try cursor.next())
      #expect(try cursor.key() == 0)
    }
  }

  @Test func unmovedCursorBeginsAtEitherEnd() throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var first = try sample.numbers.cursor(in: transaction)
      #expect(try first.next())
      #expect(try first.key() == 0)
      var last = try sample.numbers.cursor(in: transaction)
      #expect(try last.previous())
      #expect(try last.key() == 18)
    }
  }

  @Test(arguments: [(UInt64(0), UInt64?(0)), (1, 2), (2, 2), (18, 18), (19, nil), (.max, nil)])
  func moveFindsTheFirstAtOrAfter(key: UInt64, expected: UInt64?) throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      #expect(try cursor.move(toFirstAtOrAfter: key) == (expected != nil))
      #expect(try keyIfAny(of: cursor) == expected)
      // From after the end, the previous entry is the last one.
      if expected == nil {
        #expect(try cursor.previous())
        #expect(try cursor.key() == 18)
      }
    }
  }

  @Test(arguments: [(UInt64(0), UInt64?.none), (1, 0), (2, 0), (3, 2), (18, 16), (19, 18), (.max, 18)])
  func moveFindsTheLastBefore(key: UInt64, expected: UInt64?) throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      #expect(try cursor.move(toLastBefore: key) == (expected != nil))
      #expect(try keyIfAny(of: cursor) == expected)
    }
  }

  @Test func exactMoveFindsOnlyTheKeyItself() throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      #expect(try cursor.move(to: 4))
      #expect(try cursor.value() == [4])
      #expect(try !cursor.move(to: 5))
      #expect(try keyIfAny(of: cursor) == nil)
    }
  }

  @Test func cursorAwayFromAnEntryHasNothingToRead() throws {
    let sample = try sampleOfEvens()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      var seen: [LMDBError.Code] = []
      do throws(LMDBError) { _ = try cursor.key() } catch { seen.append(error.code) }
      _ = try cursor.moveToLast()
      _ = try cursor.next()
      do throws(LMDBError) { _ = try cursor.value() } catch { seen.append(error.code) }
      #expect(seen == [.notPositioned, .notPositioned])
      #expect(lengths(of: cursor) == [0, 0])
    }
  }

  @Test func emptyDatabaseHasNoEntryInAnyDirection() throws {
    let sample = try Sample()
    try sample.environment.read { (transaction) throws in
      var cursor = try sample.numbers.cursor(in: transaction)
      #expect(try !cursor.next())
      #expect(try !cursor.previous())
      #expect(try !cursor.moveToFirst())
      #expect(try !cursor.moveToLast())
      #expect(try !cursor.move(to: 1))
      #expect(try !cursor.move(toFirstAtOrAfter: 1))
      #expect(try !cursor.move(toLastBefore: 1))
      try sample.numbers.forEach(in: transaction) { _, _ in
        Issue.record("an entry in an empty database")
        return true
      }
    }
  }

  @Test func cursorOfAWriteTransactionSeesItsChanges() throws {
    let sample = try sampleOfEvens()
    try sample.environment.write { (transaction) throws in
      try sample.numbers.put([0xFF], forKey: 7, in: &transaction)
      try sample.numbers.remove(forKey: 8, in: &transaction)
      var keys: [UInt64] = []
      do {
        var cursor = try sample.numbers.cursor(in: transaction)
        while try cursor.next() { keys.append(try cursor.key()) }
      }
      #expect(keys == [0, 2, 4, 6, 7, 10, 12, 14, 16, 18])
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
  }

  @Test func manyCursorsOpenAndCloseInOneTransaction() throws {
    let sample = try sampleOfEvens()
    try sample.environment.write { (transaction) throws in
      for round in 0..<1000 {
        do {
          var cursor = try sample.numbers.cursor(in: transaction)
          var other = try sample.numbers.cursor(in: transaction)
          #expect(try cursor.moveToFirst())
          #expect(try other.moveToLast())
        }
        try sample.numbers.put([1], forKey: UInt64(1000 + round), in: &transaction)
      }
    }
    #expect(try sample.count() == 1010)
  }
}
