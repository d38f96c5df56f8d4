import SystemPackage
import TestSupport
import Testing

@testable import LMDB

@Suite struct EntryBatchTests {
  /// Few letters make keys with long common beginnings, equal ones, and ones that begin others; zeros are what sorting by
  /// words puts in the place of what a key lacks.
  @Test(arguments: [1, 8, 9, 40], [2, 15, 16, 17, 400])
  func entriesComeInTheOrderOfTheirKeysAndOfTheirArrival(longestKey: Int, count: Int) throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    for letters in [[UInt8(0)], [0, 1], [0, 1, 0x7F, 0x80, 0xFF], Array(0...255)] {
      var batch = EntryBatch<[UInt8], UInt32>()
      var expected: [(key: [UInt8], number: UInt32)] = []
      for number in 0..<UInt32(count) {
        let length = Int.random(in: 1...longestKey, using: &random)
        let key = (0..<length).map { _ in letters.randomElement(using: &random) ?? 0 }
        try batch.add(number, forKey: key)
        expected.append((key, number))
      }
      expected.sort { $0.key == $1.key ? $0.number < $1.number : $0.key.lexicographicallyPrecedes($1.key) }
      batch.encoded.sort()
      let entries = batch.encoded.entries
      #expect(entries.map { Array(batch.encoded.bytes[$0.key]) } == expected.map(\.key))
      #expect(try entries.map { try decoded(Array(batch.encoded.bytes[$0.value])) } == expected.map(\.number))
    }
  }

  @Test func theLastEntryOfAKeyIsTheOneThatIsStored() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 5)
    let entries: [(UInt64, [UInt8])] = [(7, [2]), (5, [3]), (7, [4]), (6, [5])]
    try sample.environment.write { try sample.numbers.put(contentsOf: entries, in: &$0) }
    #expect(try [5, 6, 7].map { try sample.value(forKey: $0) } == [[3], [5], [4]])
  }

  /// Batches of all sizes among existing entries, in transactions of one or more, compared with a dictionary.
  @Test func batchesAmongExistingEntriesLoseNothing() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    for _ in 0..<8 {
      let sample = try Sample()
      var expected: [UInt64: [UInt8]] = [:]
      for _ in 0..<6 {
        try sample.environment.write { (transaction) throws in
          for _ in 0..<Int.random(in: 1...2, using: &random) {
            let count = [10, 300, 1_500, 4_000].randomElement(using: &random) ?? 0
            let entries = (0..<count).map { _ in
              let length = Int.random(in: 0...40, using: &random)
              return (UInt64.random(in: 0..<9_000, using: &random), [UInt8](repeating: UInt8(length), count: length))
            }
            try sample.numbers.put(contentsOf: entries, in: &transaction)
            for (key, value) in entries { expected[key] = value }
          }
        }
        let stored = try sample.environment.read { (transaction) throws in
          var stored: [UInt64: [UInt8]] = [:]
          try sample.numbers.forEach(in: transaction) { key, value in
            stored[try UInt64(decoding: key)] = try [UInt8](decoding: value)
            return true
          }
          return stored
        }
        let isEqual = stored == expected
        #expect(isEqual)
        #expect(try sample.count() == expected.count)
      }
      try sample.environment.close()
      try DataFile(inDirectory: sample.directory.path).checkStructure()
    }
  }

  @Test func manyEntriesAmongFewLeaveFullPages() throws {
    let sample = try Sample()
    var random = SeededGenerator(seed: 5)
    let keys = (UInt64(0)..<20_000).shuffled(using: &random)
    for part in [keys[..<10_000], keys[10_000...]] {
      try sample.environment.write { try sample.numbers.put(contentsOf: part.map { ($0, [1]) }, in: &$0) }
    }
    let leaves = try sample.environment.read { try sample.numbers.statistics(in: $0).leafPageCount }
    // An entry takes 8 bytes for its key, 2 with the padding for its value, and 10 for its node.
    #expect(leaves <= 20_000 * 20 / 4_080 + 2, "\(leaves) leaves")
  }

  /// Puts half of the keys and then a batch of others, and returns how many pages the file has after each.
  private func pages(
    after batch: [(UInt64, [UInt8])], amongValuesOf length: Int = 1, every: UInt64 = 2
  ) throws -> (before: Int, after: Int) {
    let sample = try Sample()
    let pages = { Int(try sample.directory.path.appending("data.mdb").stat().size) / 4_096 }
    try sample.environment.write { (transaction) throws in
      let value = [UInt8](repeating: 1, count: length)
      try sample.numbers.put(contentsOf: (0..<8_000).map { ($0 * every, value) }, in: &transaction)
    }
    let before = try pages()
    try sample.environment.write { try sample.numbers.put(contentsOf: batch, in: &$0) }
    return (before, try pages())
  }

  /// A merge would also write the pages that a put leaves alone.
  @Test func aBatchInOneGapOrAmongLongValuesIsPutAlone() throws {
    let gap = try pages(after: (0..<4_000).map { (40_000 + $0, [2]) }, every: 100_000)
    #expect(gap.after - gap.before < gap.before, "\(gap)")
    let long = try pages(after: (0..<4_000).map { ($0 * 4 + 1, [2]) }, amongValuesOf: 9_000)
    #expect(long.after - long.before < 1_000, "\(long)")
  }

  /// Pages that a transaction has written and freed stay in the file.
  @Test func onlyTheFirstBatchOfATransactionIsMerged() throws {
    let sample = try Sample()
    try sample.environment.write { try sample.numbers.put(contentsOf: (0..<8_000).map { ($0 * 8, [1]) }, in: &$0) }
    try sample.environment.write { (transaction) throws in
      for number in UInt64(1)..<8 {
        try transaction.nested { (outer) throws in
          try outer.nested { try sample.numbers.put(contentsOf: (0..<8_000).map { ($0 * 8 + number, [1]) }, in: &$0) }
        }
      }
    }
    // 64,000 entries of 20 bytes; each merge would leave the pages of all entries before it.
    let size = try sample.directory.path.appending("data.mdb").stat().size
    #expect(size / 4_096 < 650, "\(size / 4_096) pages")
    #expect(try sample.count() == 64_000)
  }

  @Test func aNestedBatchThatIsAbortedLeavesWhatWasThere() throws {
    struct Stop: Error {}
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      try sample.numbers.put(contentsOf: (0..<4_000).map { ($0 * 2, [1]) }, in: &transaction)
    }
    try sample.environment.write { (transaction) throws in
      #expect(throws: Stop.self) {
        try transaction.nested { (nested) throws in
          try sample.numbers.put(contentsOf: (0..<4_000).map { ($0 * 2 + 1, [2]) }, in: &nested)
          throw Stop()
        }
      }
      try sample.numbers.put([3], forKey: 9_001, in: &transaction)
    }
    #expect(try sample.count() == 4_001)
    #expect(try sample.value(forKey: 7_998) == [1] && sample.value(forKey: 7_999) == nil)
  }

  @Test func aBatchThatIsAbortedLeavesWhatWasThere() throws {
    struct Stop: Error {}
    let sample = try Sample()
    try sample.environment.write { try sample.numbers.put(contentsOf: (0..<4_000).map { ($0 * 2, [1]) }, in: &$0) }
    #expect(throws: Stop.self) {
      try sample.environment.write { (transaction) throws in
        try sample.numbers.put(contentsOf: (0..<4_000).map { ($0 * 2 + 1, [2]) }, in: &transaction)
        throw Stop()
      }
    }
    #expect(try sample.count() == 4_000)
    #expect(try sample.value(forKey: 7_998) == [1] && sample.value(forKey: 7_999) == nil)
  }

  @Test func aKeyThatIsTakenIsFound() throws {
    let sample = try Sample()
    for key in [UInt64(10), 20] { try sample.put([1], forKey: key) }
    let cases: [(keys: [UInt64], taken: UInt64?)] = [
      ([], nil), ([30, 21], nil), ([15, 5, 25], nil), ([15, 5, 15], 15), ([30, 30], 30), ([25, 20, 5], 20), ([10], 10),
    ]
    for (keys, taken) in cases {
      var batch = EntryBatch<UInt64, [UInt8]>()
      for key in keys { try batch.add([1], forKey: key) }
      let found = try sample.environment.write { try sample.numbers.firstTakenKey(of: &batch, in: $0) }
      #expect(found == taken, "\(keys)")
    }
  }

  @Test func impossibleLengthsAreRefused() throws {
    var batch = EntryBatch<[UInt8], ShortValue>()
    #expect(throws: LMDBError.self) { try batch.add(ShortValue(announced: 1, written: 1), forKey: []) }
    let long = [UInt8](repeating: 1, count: 512)
    #expect(throws: LMDBError.self) { try batch.add(ShortValue(announced: 1, written: 1), forKey: long) }
    #expect(throws: LMDBError.self) { try batch.add(ShortValue(announced: 2, written: 1), forKey: [1]) }
    #expect(batch.count == 0)
  }

  private func decoded(_ bytes: [UInt8]) throws -> UInt32 {
    // Unsafe by signature only: bytes have no padding.
    try UInt32(decoding: unsafe bytes.span.bytes)
  }
}

/// A value whose codec does not keep its word.
struct ShortValue: BinaryCodable {
  let announced: Int
  let written: Int

  var encodedByteCount: Int { announced }

  init(announced: Int, written: Int) {
    self.announced = announced
    self.written = written
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    self.init(announced: bytes.byteCount, written: bytes.byteCount)
  }

  func encode(into output: inout OutputRawSpan) {
    for _ in 0..<written { output.append(UInt8(0)) }
  }
}
