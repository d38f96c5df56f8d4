import LMDB
import TestSupport
import Testing

@Suite struct RemovalTests {
  /// Some entries with values that fill pages, some of which have pages of their own.
  private func fill(_ sample: Sample, with keys: [UInt64]) throws {
    try sample.environment.write { (transaction) throws in
      for key in keys {
        let value = [UInt8](repeating: UInt8(key & 0xFF), count: key % 50 == 0 ? 5000 : 100)
        try sample.numbers.put(value, forKey: key, in: &transaction)
      }
    }
  }

  private func keys(of sample: Sample) throws -> [UInt64] {
    var keys: [UInt64] = []
    try sample.environment.read { transaction in
      try sample.numbers.forEach(in: transaction) { key, value in
        keys.append(try UInt64(decoding: key))
        #expect(try [UInt8](decoding: value).allSatisfy { $0 == UInt8(keys[keys.count - 1] & 0xFF) })
        return true
      }
    }
    return keys
  }

  private func keyLength(of cursor: borrowing WriteCursor<UInt64, [UInt8]>) -> Int { cursor.keyBytes.byteCount }

  @Test func removedRangeLeavesWhatAFilterLeaves() throws {
    let sample = try Sample()
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    for round in 0..<12 {
      let all = Array(Set((0..<2000).map { _ in UInt64.random(in: 0..<4000, using: &random) })).sorted()
      try sample.environment.write { try sample.numbers.removeAll(in: &$0) }
      try fill(sample, with: all)
      let lower = UInt64.random(in: 0..<4000, using: &random)
      let upper = UInt64.random(in: lower...4000, using: &random)
      let (count, left) = try sample.environment.write { (transaction) throws in
        switch round % 4 {
        case 0:
          (
            try sample.numbers.removeAll(within: lower..<upper, in: &transaction),
            all.filter { $0 < lower || $0 >= upper }
          )
        case 1:
          (
            try sample.numbers.removeAll(within: lower...upper, in: &transaction),
            all.filter { $0 < lower || $0 > upper }
          )
        case 2: (try sample.numbers.removeAll(within: lower..., in: &transaction), all.filter { $0 < lower })
        default: (try sample.numbers.removeAll(within: ...upper, in: &transaction), all.filter { $0 > upper })
        }
      }
      #expect(count == all.count - left.count)
      #expect(try keys(of: sample) == left)
      try sample.environment.checkStructure()
    }
  }

  @Test func removedPrefixLeavesTheOthers() throws {
    let sample = try Sample()
    let keys: [[UInt8]] = [[1], [1, 0], [1, 0xFF, 7], [2], [0xFF], [0xFF, 0xFF]]
    try sample.environment.write { (transaction) throws in
      for key in keys { try sample.bytes.put([], forKey: key, in: &transaction) }
      #expect(try sample.bytes.removeAll(withPrefix: UInt8(1), in: &transaction) == 3)
      #expect(try sample.bytes.removeAll(withPrefix: UInt8(1), in: &transaction) == 0)
      #expect(try sample.bytes.removeAll(withPrefix: [0xFF, 0xFF] as [UInt8], in: &transaction) == 1)
      #expect(try sample.bytes.contains([2], in: transaction) && sample.bytes.contains([0xFF], in: transaction))
      #expect(try sample.bytes.removeAll(withPrefix: [] as [UInt8], in: &transaction) == 2)
      #expect(try sample.bytes.count(in: transaction) == 0)
    }
  }

  /// Removes about one, half or all of the entries, which empties pages and whole levels of the tree.
  @Test(arguments: [1, 128, 255, 256])
  func cursorThatRemovesSeesEveryOtherEntryOnce(chances: Int) throws {
    let sample = try Sample()
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    let all = Array(0..<UInt64(3000))
    try fill(sample, with: all)
    var (seen, left): ([UInt64], [UInt64]) = ([], [])
    try sample.environment.write { (transaction) throws in
      var cursor = try sample.numbers.writeCursor(in: &transaction)
      var isAtEntry = try cursor.moveToFirst()
      while isAtEntry {
        let key = try cursor.key()
        seen.append(key)
        if Int.random(in: 0..<256, using: &random) < chances {
          isAtEntry = try cursor.remove()
        } else {
          left.append(key)
          isAtEntry = try cursor.next()
        }
      }
      #expect(try !cursor.next())
      #expect(try cursor.previous() == !left.isEmpty)
    }
    #expect(seen == all)
    #expect(try keys(of: sample) == left)
    try sample.environment.checkStructure()
  }

  @Test func removingIsPossibleInEitherDirectionAndInTheMiddle() throws {
    let sample = try Sample()
    try fill(sample, with: [1, 2, 3, 4, 5])
    try sample.environment.write { (transaction) throws in
      var cursor = try sample.numbers.writeCursor(in: &transaction)
      #expect(try cursor.move(to: 3))
      #expect(try cursor.remove())
      #expect(try cursor.key() == 4)
      #expect(try cursor.previous())
      #expect(try cursor.key() == 2)
      #expect(try cursor.moveToLast())
      #expect(try !cursor.remove())
      #expect(keyLength(of: cursor) == 0)
      #expect(try cursor.previous())
      #expect(try cursor.key() == 4)
    }
    #expect(try keys(of: sample) == [1, 2, 4])
  }

  @Test func cursorAtNoEntryRemovesNothing() throws {
    let sample = try Sample()
    try fill(sample, with: [1, 2])
    try sample.environment.write { (transaction) throws in
      var cursor = try sample.numbers.writeCursor(in: &transaction)
      var seen: [LMDBError.Code] = []
      do throws(LMDBError) { _ = try cursor.remove() } catch { seen.append(error.code) }
      _ = try cursor.move(to: 7)
      do throws(LMDBError) { _ = try cursor.remove() } catch { seen.append(error.code) }
      _ = try cursor.moveToLast()
      _ = try cursor.next()
      do throws(LMDBError) { _ = try cursor.remove() } catch { seen.append(error.code) }
      #expect(seen == [.notPositioned, .notPositioned, .notPositioned])
    }
    #expect(try keys(of: sample) == [1, 2])
  }
}
