import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct ReaderTests {
  private func holding(_ count: Int, readersOf environment: LMDBEnvironment, _ body: () throws -> Void) throws {
    guard count > 0 else { return try body() }
    try environment.read { _ in try holding(count - 1, readersOf: environment, body) }
  }

  @Test func readersBeyondTheTableAreRefused() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20, maxReaders: 3))
    #expect(try sample.environment.information().maxReaders == 3)
    try holding(3, readersOf: sample.environment) {
      #expect(try code { _ = try sample.environment.beginRead() } == .readersFull)
      try sample.put([1], forKey: 1)
    }
    #expect(try sample.value(forKey: 1) == [1])
  }

  @Test func moreReadersThanAreKeptGiveTheirSlotsBack() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20, maxReaders: 100))
    var live = 0
    try holding(60, readersOf: sample.environment) {
      live = try sample.environment.readers().filter { $0.transactionID != nil }.count
    }
    #expect(live == 60)
    let kept = try sample.environment.readers()
    #expect(kept.allSatisfy { $0.transactionID == nil })
    #expect(kept.count <= 16)
    try holding(60, readersOf: sample.environment) {}
  }

  @Test func endedReaderIsUsedAgain() throws {
    let sample = try Sample()
    for _ in 0..<100 { _ = try sample.count() }
    #expect(try sample.environment.readers().count == 1)
  }

  @Test func readerThatIsUsedAgainSeesTheNewestState() throws {
    let sample = try Sample()
    for round in UInt8(0)..<100 {
      try sample.put([round], forKey: 1)
      #expect(try sample.value(forKey: 1) == [round])
    }
  }

  /// One that commits overtake may have copied the first page of a commit that nobody has been shown yet.
  @Test(arguments: [1, 64])
  func aReaderThatCommitsOvertakeBeginsAgain(maxReaders: Int) throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20, maxReaders: maxReaders))
    var overtakenCount: UInt8 = 0
    let transaction = try sample.environment.beginRead {
      guard overtakenCount < 3 else { return }
      overtakenCount += 1
      #expect(throws: Never.self) { try sample.put([overtakenCount], forKey: 1) }
    }
    #expect(try sample.numbers.value(forKey: 1, in: transaction) == [3])
  }

  @Test func listShowsProcessAndSnapshotOfEachReader() throws {
    let sample = try Sample()
    let helper = try HelperProcess("hold-read", sample.directory)
    #expect(helper.line() == "ready")
    let last = try sample.environment.information().lastTransactionID
    try sample.environment.read { (_) throws in
      let readers = try sample.environment.readers()
      #expect(Set(readers.map(\.processID)).count == 2)
      #expect(readers.contains { $0.processID == getpid() && $0.transactionID == last })
      #expect(readers.allSatisfy { $0.threadID != 0 })
    }
    try sample.put([1], forKey: 1)
    #expect(try sample.environment.information().oldestReaderLag == 1)
    helper.release()
    #expect(helper.lines() == ["saw true"])
    #expect(try sample.environment.information().oldestReaderLag == 0)
  }

  @Test func readerOfAKilledProcessIsCleared() throws {
    let sample = try Sample()
    let helper = try HelperProcess("hold-read", sample.directory)
    #expect(helper.line() == "ready")
    #expect(try sample.environment.clearStaleReaders() == 0)
    helper.kill()
    try sample.put([1], forKey: 1)
    #expect(try sample.environment.information().oldestReaderLag == 1)
    #expect(try sample.environment.clearStaleReaders() == 1)
    #expect(try sample.environment.information().oldestReaderLag == 0)
  }

  @Test func fullTableIsClearedOfDeadReaders() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20, maxReaders: 2))
    for _ in 0..<2 {
      let helper = try HelperProcess("hold-read", sample.directory)
      #expect(helper.line() == "ready")
      helper.kill()
    }
    #expect(try sample.count() == 0)
  }

  @Test func deadReadersAreClearedBeforeAFullMapGrows() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: 1 << 20))
    try sample.put([UInt8](repeating: 1, count: 200_000), forKey: 1)
    let helper = try HelperProcess("hold-read", sample.directory)
    #expect(helper.line() == "ready")
    helper.kill()
    // Each rewrite needs the pages of the one before the last, which the dead reader keeps.
    for round in UInt8(0)..<10 { try sample.put([UInt8](repeating: round, count: 200_000), forKey: 1) }
    #expect(try sample.environment.information().mapSizeInBytes == 1 << 20)
    #expect(try sample.environment.readers().allSatisfy { $0.processID == getpid() })
  }
}
