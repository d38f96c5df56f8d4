import LMDB
import Testing

@Suite struct InformationTests {
  @Test func statisticsFollowTheTree() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      #expect(try sample.numbers.statistics(in: transaction).depth == 0)
      for key in UInt64(0)..<1000 { try sample.numbers.put([1, 2, 3], forKey: key, in: &transaction) }
      let statistics = try sample.numbers.statistics(in: transaction)
      #expect(statistics.entryCount == 1000)
      #expect(statistics.depth == 2 && statistics.branchPageCount == 1 && statistics.leafPageCount > 4)
      #expect(statistics.overflowPageCount == 0)
    }
    // The names of the two databases.
    #expect(try sample.environment.statistics().entryCount == 2)
  }

  @Test func informationFollowsCommits() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 22, maxReaders: 77))
    let before = try sample.environment.information()
    try sample.put([UInt8](repeating: 1, count: 100_000), forKey: 1)
    let after = try sample.environment.information()
    #expect(after.lastTransactionID == before.lastTransactionID + 1)
    #expect(after.pageCount > before.pageCount + 20)
    #expect(after.mapSizeInBytes == 1 << 22)
    #expect(after.maxReaders == 77)
    #expect(after.readerCount <= 1)
  }

  @Test func freedPagesAreCountedAndUsedAgain() throws {
    let sample = try Sample()
    try sample.put([UInt8](repeating: 1, count: 400_000), forKey: 1)
    try sample.environment.write { _ = try sample.numbers.remove(forKey: 1, in: &$0) }
    let free = try sample.freePageCount()
    #expect(free >= 98)
    let pages = try sample.environment.information().pageCount
    try sample.put([1], forKey: 2)
    try sample.put([UInt8](repeating: 1, count: 300_000), forKey: 1)
    #expect(try sample.environment.information().pageCount < pages + 40)
    #expect(try sample.freePageCount() < free)
  }

  @Test func everyErrorSaysWhatIsWrongAndWhatToDo() throws {
    let sample = try Sample()
    try sample.environment.close()
    do {
      _ = try sample.environment.beginRead()
      Issue.record("a closed environment began a transaction")
    } catch {
      #expect(error.operation == "begin read")
      #expect(error.description == "begin read: The environment is closed. Open it again.")
      #expect(error.returnCode == 0)
    }
  }
}
