import Foundation
import TestSupport
import Testing

@testable import LMDB

/// Recovery repeats each kind of change.
@Suite struct JournalReplayTests {
  private typealias Bytes = JournaledSample.Bytes

  @Test func randomTransactionsAreRepeatedFromTheSteadyPages() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    for _ in 0..<6 {
      let sample = try JournaledSample()
      var steady = try sample.dataFile()
      for round in 0..<40 {
        try change(sample, &random)
        if round % 13 == 5 {
          try sample.environment.makeCheckpoint()
          steady = try sample.dataFile()
        }
        if round % 5 == 0, try sample.environment.journalInformation()?.isClean == false {
          let steadyID = try sample.environment.journalInformation()?.steadyTransactionID
          guard try steadyTransaction(of: steady) == steadyID else { continue }
          #expect(try recovered(sample.copy(dataFile: steady)) == JournaledSample.contents(of: sample.environment))
        }
      }
      try sample.environment.close()
    }
  }

  /// The newest commit of a file's bytes.
  private func steadyTransaction(of file: Data) throws -> Int? {
    let bytes = [UInt8](file.prefix(8_192))
    let numbers = [0, 4_096].compactMap { MetaPage(Array(bytes[$0...]))?.transactionID }
    return numbers.max().map { Int($0) }
  }

  private func change(_ sample: JournaledSample, _ random: inout SeededGenerator) throws {
    struct Stop: Error {}
    var generator = random
    let isKept = Int.random(in: 0..<8, using: &generator) > 0
    do {
      try sample.environment.write { (transaction) throws in
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
          try changeOnce(sample, in: &transaction, &generator, depth: 0)
        }
        if !isKept { throw Stop() }
      }
    } catch is Stop {}
    random = generator
  }

  private func changeOnce(
    _ sample: JournaledSample, in transaction: inout WriteTransaction, _ random: inout SeededGenerator, depth: Int
  ) throws {
    struct Stop: Error {}
    let rows = sample.rows
    let key = [UInt8.random(in: 0..<30, using: &random), UInt8.random(in: 0..<3, using: &random)]
    let value = [UInt8](repeating: key[0], count: Int.random(in: 0...600, using: &random))
    switch Int.random(in: 0..<15, using: &random) {
    case 0..<4: try rows.put(value, forKey: key, in: &transaction)
    case 4: _ = try rows.insert(value, forKey: key, in: &transaction)
    case 5: _ = try rows.remove(forKey: key, in: &transaction)
    case 6: try rows.removeAll(withPrefix: [key[0]], in: &transaction)
    case 7: try rows.put(contentsOf: (0..<9).map { ([key[0] &+ $0, key[1]], value) }, in: &transaction)
    case 8:
      var cursor = try rows.writeCursor(in: &transaction)
      if try cursor.move(toFirstAtOrAfter: key) { _ = try cursor.remove() }
    case 9:
      let other = try Bytes(opening: "other-\(key[0] % 4)", creating: true, in: &transaction)
      try other.put(value, forKey: key, in: &transaction)
    case 10:
      let other = try Bytes(opening: "other-\(key[0] % 4)", creating: true, in: &transaction)
      try other.removeAll(in: &transaction)
    case 11 where depth == 0:
      let other = try Bytes(opening: "dropped", creating: true, in: &transaction)
      try other.put(value, forKey: key, in: &transaction)
      if key[0] % 2 == 0 { try other.drop(in: &transaction) }
    case 12:
      // Comparably many others are there from the second time on, so that all are appended together.
      let many = try Bytes(opening: "many", creating: true, in: &transaction)
      let keys = (0..<1_500).map { _ in Int.random(in: 0..<6_000, using: &random) }
      try many.put(contentsOf: keys.map { ([UInt8($0 >> 8), UInt8($0 & 0xFF)], [key[0]]) }, in: &transaction)
    default:
      guard depth < 2 else { return }
      var generator = random
      do {
        try transaction.nested { (nested) throws in
          for _ in 0..<3 { try changeOnce(sample, in: &nested, &generator, depth: depth + 1) }
          if Bool.random(using: &generator) { throw Stop() }
        }
      } catch is Stop {}
      random = generator
    }
  }

  @Test func aRecordIsReadAsItWasWritten() throws {
    let log = RedoLog(limitInBytes: 1_000)
    let names: [UInt32: String] = [3: "tasks", 7: "lists"]
    for (kind, table, key, value) in [
      (RedoLog.Kind.put, UInt32(3), [1, 2], [3, 4, 5]), (.remove, 7, [9], []), (.removeAll, 3, [], []),
    ] as [(RedoLog.Kind, UInt32, [UInt8], [UInt8])] {
      unsafe key.withUnsafeBytes { key in
        unsafe value.withUnsafeBytes { value in
          unsafe log.add(kind, table, key: key, value: value) { names[table] }
        }
      }
    }
    var reader = RedoReader(log.bytes[JournalRecord.byteCount...])
    var found: [String] = []
    while let change = try reader.next() {
      found.append("\(change.kind) \(change.table) \(Array(change.key)) \(Array(change.value))")
    }
    #expect(found == ["put tasks [1, 2] [3, 4, 5]", "remove lists [9] []", "removeAll tasks [] []"])
  }

  @Test func whatANestedTransactionDidIsForgottenWithItsTables() throws {
    let log = RedoLog(limitInBytes: 1_000)
    unsafe log.add(.removeAll, 3) { "tasks" }
    let mark = log.mark
    unsafe log.add(.removeAll, 7) { "lists" }
    log.undo(to: mark)
    unsafe log.add(.removeAll, 8) { "tags" }
    var reader = RedoReader(log.bytes[JournalRecord.byteCount...])
    #expect(try reader.next()?.table == "tasks")
    #expect(try reader.next()?.table == "tags")
    #expect(try reader.next() == nil)
  }

  @Test(arguments: [[7], [2, 0, 0, 0, 0, 0, 0, 0], [1, 0, 9, 0, 0, 0, 0, 0], [1, 3, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
  func bytesThatNoLogHasAreRefused(bytes: [UInt8]) throws {
    var reader = RedoReader(bytes[...])
    #expect(throws: LMDBError.self) { _ = try reader.next() }
  }

  @Test func aHeaderIsReadAsItWasWritten() throws {
    var header = JournalHeader(cleanWithRingSizeInBytes: 65_536, generation: 9)
    header.state = .dirty
    (header.epoch, header.steadyTransaction, header.rootSum, header.pageSizeInBytes) = (5, 6, 7, 4_096)
    header.position = JournalPosition(sequence: 1, offset: 2, chain: 3)
    header.meta = (0..<JournalHeader.metaByteCount).map { UInt8($0) }
    #expect(JournalHeader(header.encoded) == header)
    for index in header.encoded.indices {
      var bytes = header.encoded
      bytes[index] ^= 1
      #expect(JournalHeader(bytes) == nil, "byte \(index)")
    }
  }
}
