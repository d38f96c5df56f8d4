import LMDB
import TestSupport
import Testing

@Suite struct WritingTests {
  @Test func putReplacesAndInsertDoesNot() throws {
    let sample = try Sample()
    let numbers = sample.numbers
    try sample.environment.write { (transaction) throws in
      #expect(try numbers.insert([1], forKey: 1, in: &transaction))
      #expect(try !numbers.insert([2, 2], forKey: 1, in: &transaction))
      #expect(try numbers.value(forKey: 1, in: transaction) == [1])
      try numbers.put([3, 3, 3], forKey: 1, in: &transaction)
    }
    #expect(try sample.value(forKey: 1) == [3, 3, 3])
  }

  @Test func appendOutOfOrderIsRefusedAndHarmless() throws {
    let sample = try Sample()
    let numbers = sample.numbers
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<500 { try numbers.append([UInt8(key & 0xFF)], forKey: key * 2, in: &transaction) }
      for key in [UInt64(998), 997, 3, 0] {
        #expect(try code { try numbers.append([0xEE], forKey: key, in: &transaction) } == .keyExists)
      }
      try numbers.append([7], forKey: 999, in: &transaction)
    }
    #expect(try sample.count() == 501)
    #expect(try sample.value(forKey: 998) == [UInt8(499 & 0xFF)])
    #expect(try sample.value(forKey: 999) == [7])
    #expect(try sample.value(forKey: 997) == nil)
  }

  @Test func appendLeavesFullerPagesThanPut() throws {
    let sample = try Sample()
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    let value = [UInt8](repeating: 1, count: 50)
    let shuffled = Array(UInt64(0)..<5000).shuffled(using: &random)
    let (appended, put) = try sample.environment.write { (transaction) throws in
      let other = try Sample.Numbers(opening: "other", creating: true, in: &transaction)
      for key in UInt64(0)..<5000 { try sample.numbers.append(value, forKey: key, in: &transaction) }
      for key in shuffled { try other.put(value, forKey: key, in: &transaction) }
      return (try sample.numbers.statistics(in: transaction), try other.statistics(in: transaction))
    }
    #expect(appended.entryCount == put.entryCount)
    #expect(appended.leafPageCount < put.leafPageCount)
  }

  /// Enough for three levels of pages, whose splits move the cursor that stores.
  @Test(arguments: [true, false])
  func putOfManyStoresWhatPutOfEachDoes(isAscending: Bool) throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 26))
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    var expected: [UInt64: [UInt8]] = [:]
    for round in 0..<6 {
      var keys = Set((0..<12_000).map { _ in UInt64.random(in: 0..<40_000, using: &random) + UInt64(round) * 20_000 })
        .sorted()
      if !isAscending { keys.shuffle(using: &random) }
      let entries = keys.map { key in
        (key, [UInt8](repeating: UInt8(key & 0xFF), count: Int.random(in: 0...90, using: &random)))
      }
      try sample.environment.write { try sample.numbers.put(contentsOf: entries, in: &$0) }
      for (key, value) in entries { expected[key] = value }
    }
    var found: [(UInt64, [UInt8])] = []
    try sample.environment.read { transaction in
      try sample.numbers.forEach(in: transaction) { key, value in
        found.append((try UInt64(decoding: key), try [UInt8](decoding: value)))
        return true
      }
    }
    #expect(found.map(\.0) == expected.keys.sorted())
    #expect(found.allSatisfy { expected[$0.0] == $0.1 })
    try sample.environment.checkStructure()
  }

  @Test func removeTellsWhetherThereWasOne() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    let removed = try sample.environment.write { (transaction) throws in
      try (0..<2).map { _ in try sample.numbers.remove(forKey: 1, in: &transaction) }
    }
    #expect(removed == [true, false])
    #expect(try sample.count() == 0)
  }

  @Test func removeAllEmptiesOneDatabaseAndKeepsIt() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<1000 { try sample.numbers.put([1], forKey: key, in: &transaction) }
      try sample.bytes.put([1], forKey: [1], in: &transaction)
      try sample.numbers.removeAll(in: &transaction)
      #expect(try sample.numbers.count(in: transaction) == 0)
      try sample.numbers.put([2], forKey: 2, in: &transaction)
    }
    #expect(try sample.count() == 1)
    #expect(try sample.environment.read { try sample.bytes.count(in: $0) } == 1)
  }

  @Test func readOnlyEnvironmentRefusesToWrite() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.close()
    var options = LMDBEnvironment.Options()
    options.isReadOnly = true
    let environment = try LMDBEnvironment(path: sample.directory.path, options: options)
    let numbers = try Sample.Numbers(opening: "numbers", in: environment)
    #expect(try environment.read { try numbers.value(forKey: 1, in: $0) } == [1])
    #expect(try code { _ = try environment.beginWrite() } == .readOnly)
    #expect(try code { try environment.sync() } == .readOnly)
  }

  @Test func relaxedDurabilityCommitsAndFlushes() throws {
    var options = LMDBEnvironment.Options()
    options.durability = .noMetaSync
    let sample = try Sample(options: options)
    try sample.put([1], forKey: 1)
    try sample.environment.sync()
    try sample.environment.sync(force: false)
    #expect(try sample.value(forKey: 1) == [1])
  }
}
