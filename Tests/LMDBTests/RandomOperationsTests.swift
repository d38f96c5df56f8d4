import TestSupport
import Testing

@testable import LMDB

@Suite struct RandomOperationsTests {
  /// What LMDB should hold.
  private typealias Model = [UInt64: [UInt8]]

  @Test(arguments: [false, true]) func randomOperationsAgreeWithADictionary(_ hasLog: Bool) throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    var options = Sample.options(mapSizeInBytes: 1 << 20)
    if hasLog { options.setLog() }
    let directory = try TemporaryDirectory()
    var model: Model = [:]
    for _ in 0..<12 {
      let environment = try LMDBEnvironment(path: directory.path, options: options)
      let numbers = try environment.write { try Sample.Numbers(opening: "numbers", creating: true, in: &$0) }
      for _ in 0..<40 {
        try write(to: environment, numbers, &model, &random)
        try environment.read { try compare(numbers, in: $0, with: model) }
        try environment.checkStructure()
      }
      try environment.close()
    }
  }

  private func write(
    to environment: LMDBEnvironment,
    _ numbers: Sample.Numbers,
    _ model: inout Model,
    _ random: inout SeededGenerator
  ) throws {
    struct Stop: Error {}
    let isKept = UInt8.random(in: 0..<4, using: &random) > 0
    var (changed, before) = (model, random)
    do {
      try environment.write { (transaction) throws in
        // A full map runs the body again, which must then do the same.
        (changed, before) = (model, random)
        try change(numbers, in: &transaction, &changed, &before, depth: 0)
        try compare(numbers, in: transaction, with: changed)
        if !isKept { throw Stop() }
      }
      model = changed
    } catch is Stop {}
    random = before
  }

  private func change(
    _ numbers: Sample.Numbers,
    in transaction: inout WriteTransaction,
    _ model: inout Model,
    _ random: inout SeededGenerator,
    depth: Int
  ) throws {
    for _ in 0..<Int.random(in: 1...15, using: &random) {
      let key = UInt64.random(in: 0..<300, using: &random)
      let length = Int.random(in: 0...(UInt8.random(in: 0..<20, using: &random) == 0 ? 9000 : 200), using: &random)
      let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &+ Int(key)) }
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9:
        try numbers.put(value, forKey: key, in: &transaction)
        model[key] = value
      case 9..<12:
        #expect(try numbers.insert(value, forKey: key, in: &transaction) == (model[key] == nil))
        model[key] = model[key] ?? value
      case 12..<17:
        #expect(try numbers.remove(forKey: key, in: &transaction) == (model.removeValue(forKey: key) != nil))
      case 17 where depth < 3:
        try changeNested(numbers, in: &transaction, &model, &random, depth: depth + 1)
      case 18 where key < 10:
        try numbers.removeAll(in: &transaction)
        model = [:]
      default:
        #expect(try numbers.value(forKey: key, in: transaction) == model[key])
      }
    }
  }

  private func changeNested(
    _ numbers: Sample.Numbers,
    in transaction: inout WriteTransaction,
    _ model: inout Model,
    _ random: inout SeededGenerator,
    depth: Int
  ) throws {
    struct Stop: Error {}
    var (changed, generator) = (model, random)
    do {
      try transaction.nested { nested in
        try change(numbers, in: &nested, &changed, &generator, depth: depth)
        if Bool.random(using: &generator) { throw Stop() }
      }
      model = changed
    } catch is Stop {}
    random = generator
  }

  private func compare<T: LMDBTransaction & ~Copyable>(
    _ numbers: Sample.Numbers,
    in transaction: borrowing T,
    with model: Model
  ) throws {
    var seen: [(UInt64, [UInt8])] = []
    try numbers.forEach(in: transaction) { key, value in
      seen.append((try UInt64(decoding: key), try [UInt8](decoding: value)))
      return true
    }
    let expected = model.sorted { $0.key < $1.key }
    #expect(seen.map(\.0) == expected.map(\.key))
    #expect(seen.map(\.1) == expected.map(\.value))
    #expect(try numbers.count(in: transaction) == model.count)
  }
}
