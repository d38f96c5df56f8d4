import LMDB
import Testing

@Suite struct KeysAndValuesTests {
  @Test(arguments: [1, 2, 510, 511])
  func keyOfAllowedLengthIsStored(length: Int) throws {
    let sample = try Sample()
    let key = [UInt8](repeating: 0xFE, count: length)
    try sample.environment.write { try sample.bytes.put([1], forKey: key, in: &$0) }
    try sample.environment.read { (transaction) throws in
      #expect(try sample.bytes.value(forKey: key, in: transaction) == [1])
      var cursor = try sample.bytes.cursor(in: transaction)
      #expect(try cursor.next())
      #expect(try cursor.key() == key)
    }
  }

  @Test(arguments: [0, 512, 100_000])
  func keyOfAnotherLengthIsRefusedByEveryCall(length: Int) throws {
    let sample = try Sample()
    let (bytes, key) = (sample.bytes, [UInt8](repeating: 1, count: length))
    try sample.environment.write { (transaction) throws in
      #expect(try code { try bytes.put([], forKey: key, in: &transaction) } == .badKeySize)
      #expect(try code { _ = try bytes.insert([], forKey: key, in: &transaction) } == .badKeySize)
      #expect(try code { try bytes.append([], forKey: key, in: &transaction) } == .badKeySize)
      #expect(try code { try bytes.remove(forKey: key, in: &transaction) } == .badKeySize)
      #expect(try code { _ = try bytes.value(forKey: key, in: transaction) } == .badKeySize)
      #expect(try code { _ = try bytes.contains(key, in: transaction) } == .badKeySize)
      // The transaction is none the worse for it.
      try bytes.put([1], forKey: [1], in: &transaction)
    }
    try sample.environment.read { (transaction) throws in
      #expect(try bytes.count(in: transaction) == 1)
      var cursor = try bytes.cursor(in: transaction)
      var seen: [LMDBError.Code] = []
      do throws(LMDBError) { _ = try cursor.move(to: key) } catch { seen.append(error.code) }
      do throws(LMDBError) { _ = try cursor.move(toFirstAtOrAfter: key) } catch { seen.append(error.code) }
      do throws(LMDBError) { _ = try cursor.move(toLastBefore: key) } catch { seen.append(error.code) }
      #expect(seen == [.badKeySize, .badKeySize, .badKeySize])
    }
  }

  /// With pages of 4096 bytes and a key of 8 a value of 2023 is the first that gets pages of its own.
  @Test(arguments: [0, 1, 2022, 2023, 2024, 4080, 4081, 4096, 1_000_003])
  func valueOfAnyLengthIsReadBack(length: Int) throws {
    let sample = try Sample()
    let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try sample.put(value, forKey: 7)
    #expect(try sample.value(forKey: 7) == value)
    try sample.put([9], forKey: 7)
    #expect(try sample.value(forKey: 7) == [9])
    try sample.put(value, forKey: 7)
    #expect(try sample.value(forKey: 7) == value)
  }

  @Test func longValueLiesOnPagesOfItsOwn() throws {
    let sample = try Sample()
    try sample.put([UInt8](repeating: 1, count: 2022), forKey: 1)
    #expect(try sample.environment.read { try sample.numbers.statistics(in: $0).overflowPageCount } == 0)
    try sample.put([UInt8](repeating: 1, count: 2023), forKey: 1)
    #expect(try sample.environment.read { try sample.numbers.statistics(in: $0).overflowPageCount } == 1)
  }

  @Test func absentKeyIsNoError() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == nil)
      #expect(try sample.numbers.bytes(forKey: 1, in: transaction) == nil)
      #expect(try !sample.numbers.contains(1, in: transaction))
      #expect(try !sample.numbers.remove(forKey: 1, in: &transaction))
    }
  }

  @Test func noValueTakesNoBytes() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      let index = try Database<UInt64, NoValue>(opening: "index", creating: true, in: &transaction)
      try index.put(NoValue(), forKey: 1, in: &transaction)
      #expect(try index.bytes(forKey: 1, in: transaction)?.byteCount == 0)
      #expect(try index.value(forKey: 1, in: transaction) == NoValue())
    }
  }

  @Test func codecThatWritesLessThanItAnnouncedFailsTheTransaction() throws {
    let sample = try Sample()
    let announced = try sample.environment.write { (transaction) throws in
      try Database<UInt64, Short>(opening: "short", creating: true, in: &transaction)
    }
    var transaction = try sample.environment.beginWrite()
    #expect(try code { try announced.put(Short(), forKey: 1, in: &transaction) } == .badValueSize)
    let commit = codeOfCommit(transaction)
    #expect(commit == .badTransaction)
    #expect(try sample.environment.read { try announced.count(in: $0) } == 0)
  }

  @Test func valueThatCannotBeStoredIsRefused() throws {
    let sample = try Sample()
    let huge = try sample.environment.write { try Database<UInt64, Huge>(opening: "huge", creating: true, in: &$0) }
    #expect(try code { try sample.environment.write { try huge.put(Huge(), forKey: 1, in: &$0) } } == .badValueSize)
  }

  @Test func bytesThatTheirCodecDidNotWriteAreUndecodable() throws {
    let sample = try Sample()
    try sample.put([0xFF, 0xFE, 0xFD], forKey: 1)
    let (texts, numbers, none) = try (
      Database<UInt64, String>(opening: "numbers", in: sample.environment),
      Database<UInt64, UInt64>(opening: "numbers", in: sample.environment),
      Database<UInt64, NoValue>(opening: "numbers", in: sample.environment)
    )
    try sample.environment.read { (transaction) throws in
      #expect(try code { _ = try texts.value(forKey: 1, in: transaction) } == .undecodable)
      #expect(try code { _ = try numbers.value(forKey: 1, in: transaction) } == .undecodable)
      #expect(try code { _ = try none.value(forKey: 1, in: transaction) } == .undecodable)
    }
  }

  /// Announces two bytes and writes one.
  private struct Short: BinaryCodable {
    let encodedByteCount = 2
    func encode(into output: inout OutputRawSpan) { output.append(1) }
    init() {}
    init(decoding bytes: RawSpan) throws(LMDBError) {}
  }

  private struct Huge: BinaryCodable {
    let encodedByteCount = Int(Int32.max)
    func encode(into output: inout OutputRawSpan) {}
    init() {}
    init(decoding bytes: RawSpan) throws(LMDBError) {}
  }
}
