import Foundation
import TallySystem
import TestSupport
import Testing

@testable import LMDB

@Suite struct MapSizeTests {
  private let small = 1 << 20

  @Test func writeGrowsAFullMapAndRunsAgain() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    let value = [UInt8](repeating: 1, count: 4000)
    var attempts = 0
    try sample.environment.write { (transaction) throws in
      attempts += 1
      for key in UInt64(0)..<2000 { try sample.numbers.put(value, forKey: key, in: &transaction) }
    }
    #expect(attempts > 3)
    #expect(try sample.count() == 2000)
    #expect(try sample.environment.information().mapSizeInBytes == small << (attempts - 1))
  }

  @Test func bodyThatHidesTheErrorRunsAgainAllTheSame() throws {
    struct Other: Error {}
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    let large = [UInt8](repeating: 1, count: 3 << 20)
    try sample.environment.write { (transaction) throws in
      do { try sample.numbers.put(large, forKey: 1, in: &transaction) } catch { throw Other() }
    }
    try sample.environment.write { (transaction) throws in
      try? sample.numbers.put(large + large, forKey: 2, in: &transaction)
    }
    #expect(try sample.value(forKey: 2)?.count == 6 << 20)
  }

  @Test func mapStopsGrowingAtItsLimitAndSaysWhatFillsIt() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small, maximum: 3 << 20))
    try sample.put([1], forKey: 1)
    let large = [UInt8](repeating: 1, count: 8 << 20)
    #expect(try code { try sample.put(large, forKey: 2) } == .mapFull)
    #expect(try sample.environment.information().mapSizeInBytes == 3 << 20)
    var transaction = try sample.environment.beginWrite()
    do throws(LMDBError) {
      try sample.numbers.put(large, forKey: 2, in: &transaction)
    } catch {
      #expect(error.message.contains("of 768 pages used, map size 3145728 bytes, oldest reader 0 transactions behind"))
    }
    transaction.abort()
    #expect(try sample.value(forKey: 1) == [1])
    try sample.put([2], forKey: 2)
  }

  @Test func errorStatesHowFarTheOldestReaderIsBehind() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small, maximum: small))
    try sample.environment.read { (reader) throws in
      for round in 0..<7 { try sample.put([UInt8(round)], forKey: 1) }
      #expect(try sample.environment.information().oldestReaderLag == 7)
      var transaction = try sample.environment.beginWrite()
      do throws(LMDBError) {
        try sample.numbers.put([UInt8](repeating: 1, count: small), forKey: 2, in: &transaction)
      } catch {
        #expect(error.message.contains("oldest reader 7 transactions behind"))
      }
    }
  }

  @Test func mapIsNotMovedUnderAReaderOfTheSameThread() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    try sample.put([1], forKey: 1)
    try sample.environment.read { (transaction) throws in
      #expect(try code { try sample.environment.growMap() } == .busy)
      #expect(try code { try sample.put([UInt8](repeating: 1, count: small), forKey: 2) } == .busy)
      #expect(try sample.numbers.value(forKey: 1, in: transaction) == [1])
    }
    try sample.environment.growMap()
    #expect(try sample.environment.information().mapSizeInBytes == 2 * small)
  }

  @Test func growingGivesUpOnAReaderThatStays() throws {
    var options = Sample.options(mapSizeInBytes: small)
    options.waitLimitInSeconds = 1
    let sample = try Sample(options: options)
    let release = DispatchSemaphore(value: 0)
    let reader = onThread { ready in
      try? sample.environment.read { _ in
        ready.signal()
        release.wait()
      }
    }
    #expect(try code { try sample.environment.growMap() } == .busy)
    // The gate is open again.
    #expect(try sample.count() == 0)
    release.signal()
    reader.wait()
    try sample.environment.growMap()
  }

  /// The bug: a thread that had waited while another one lost the map went on to look into it.
  @Test func aThreadThatWaitsToMoveTheMapLearnsThatAnotherOneHasLostIt() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    let environment = sample.environment
    let mayEnd = DispatchSemaphore(value: 0)
    let reader = onThread { ready in
      try? environment.read { _ in
        ready.signal()
        mayEnd.wait()
      }
    }
    let losing = onThread { ready in
      ready.signal()
      // What `growMap` does where the system refuses.
      #expect(throws: Never.self) {
        try environment.drained("grow the map", waitingAtMost: .seconds(60)) { $0.hasLostMap = true }
      }
    }
    while !environment.state.withLock({ $0.isDraining }) { usleep(1_000) }
    let waiting = onThread { ready in
      ready.signal()
      #expect((try? code { try environment.adoptMapSize() }) == .panic)
    }
    // Both are inside: the one that waits for the reader, and the one that waits for its turn.
    while environment.state.waiterCount < 2 { usleep(1_000) }
    mayEnd.signal()
    for thread in [reader, losing, waiting] { thread.wait() }
    #expect(try code { _ = try environment.beginRead() } == .panic)
    try environment.close()
  }

  @Test func aMapThatAnotherThreadHasGrownMeanwhileStays() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    try sample.put([1], forKey: 1)
    for _ in 0..<2 { try sample.environment.growMap() }
    try sample.environment.growMap(from: small)
    #expect(try sample.environment.information().mapSizeInBytes == 4 * small)
  }

  @Test func growingWaitsForReadersAndKeepsNewOnesWaiting() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    try sample.put([UInt8](repeating: 5, count: 1000), forKey: 0)
    let stop = Stop()
    let readers = (0..<4).map { _ in
      onThread { ready in
        ready.signal()
        while !stop.isSet {
          do { try Self.readTwice(sample) } catch { Issue.record(error) }
        }
      }
    }
    try Self.fill(sample, keys: 1..<300)
    stop.set()
    for reader in readers { reader.wait() }
    #expect(try sample.environment.information().mapSizeInBytes > 8 * small)
    #expect(try sample.count() == 300)
  }

  /// Reads within a read, so that a reader that must be let through while the map waits to move is among them.
  private static func readTwice(_ sample: Sample) throws {
    let expected = [UInt8](repeating: 5, count: 1000)
    try sample.environment.read { (transaction) throws in
      #expect(try sample.value(forKey: 0) == expected)
      #expect(try sample.numbers.value(forKey: 0, in: transaction) == expected)
    }
  }

  private static func fill(_ sample: Sample, keys: Range<UInt64>) throws {
    for key in keys { try sample.put([UInt8](repeating: 1, count: 50_000), forKey: key) }
  }

  @Test func mapEnlargedByAnotherProcessIsAdopted() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    #expect(try HelperProcess("enlarge", sample.directory, 8 << 20, 2 << 20).lines() == ["\(8 << 20)"])
    let large = try sample.environment.read { (transaction) throws in
      try sample.numbers.count(in: transaction)
    }
    #expect(large == 0)
    #expect(try sample.environment.information().mapSizeInBytes == 8 << 20)
    let other = try Sample.Numbers(opening: "large", in: sample.environment)
    #expect(try sample.environment.read { try other.count(in: $0) } == (2 << 20) / 4000)
    // And in a write transaction.
    #expect(try HelperProcess("enlarge", sample.directory, 16 << 20, 9 << 20).lines() == ["\(16 << 20)"])
    try sample.put([1], forKey: 1)
    #expect(try sample.environment.information().mapSizeInBytes == 16 << 20)
  }

  @Test func fullMapAdoptsAnotherProcesssSizeBeforeItDoubles() throws {
    let sample = try Sample(options: Sample.options(mapSizeInBytes: small))
    // Little enough that this process's map still holds it.
    #expect(try HelperProcess("enlarge", sample.directory, 32 << 20, 100_000).lines() == ["\(32 << 20)"])
    #expect(try sample.environment.information().mapSizeInBytes == small)
    try sample.put([UInt8](repeating: 1, count: 2 << 20), forKey: 1)
    #expect(try sample.environment.information().mapSizeInBytes == 32 << 20)
  }
}
