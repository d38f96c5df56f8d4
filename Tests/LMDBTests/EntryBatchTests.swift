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
