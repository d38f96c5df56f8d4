import Foundation
import SystemPackage
import TallySystem
import TestSupport
import Testing

@testable import LMDB

@Suite struct JournalTests {
  @Test func aClosedFileIsAPlainOne() throws {
    let sample = try JournaledSample()
    try sample.put("Ada", forKey: "1")
    #expect(try sample.environment.journalInformation()?.isClean == false)
    try sample.environment.close()
    var options = JournaledSample.options()
    options.journal = nil
    let plain = try LMDBEnvironment(path: sample.directory.path, options: options)
    #expect(try JournaledSample.contents(of: plain)["rows"] == [Array("1".utf8): Array("Ada".utf8)])
    try plain.checkStructure()
    try plain.close()
    let again = try LMDBEnvironment(path: sample.directory.path, options: JournaledSample.options())
    #expect(try again.journalInformation()?.isClean == true)
  }

  @Test func theSteadyPagesAndTheRecordsAreEverything() throws {
    let sample = try JournaledSample()
    try sample.put("Ada", forKey: "1")
    try sample.environment.makeCheckpoint()
    let steady = try sample.dataFile()
    try sample.put("Grace", forKey: "2")
    try sample.remove("1")
    let copy = try sample.copy(dataFile: steady)
    #expect(try recovered(copy)["rows"] == [Array("2".utf8): Array("Grace".utf8)])
    let information = try #require(try sample.environment.journalInformation())
    #expect(information.recordCount == 2)
    #expect(information.usedBytes == 2 * 4_096)
  }

  @Test func garbageInThePagesSinceTheSteadyCommitIsOfNoConsequence() throws {
    let sample = try JournaledSample()
    for number in 0..<50 { try sample.put(String(repeating: "x", count: 400), forKey: "\(number)") }
    try sample.environment.makeCheckpoint()
    let steady = try sample.dataFile()
    for number in 0..<50 { try sample.put("new", forKey: "\(number)") }
    let contents = try JournaledSample.contents(of: sample.environment)
    var damaged = try sample.dataFile()
    // Whatever differs from the steady pages may be anything after a power cut, meta pages included.
    for offset in damaged.indices where offset >= steady.count || damaged[offset] != steady[offset] {
      damaged[offset] = 0xA5
    }
    #expect(try recovered(sample.copy(dataFile: damaged)) == contents)
  }

  @Test func aTornRecordEndsTheReplay() throws {
    let sample = try JournaledSample()
    try sample.environment.makeCheckpoint()
    for number in 1...5 { try sample.put("value", forKey: "\(number)") }
    let copy = try sample.copy()
    let journal = copy.path.appending("journal")
    // The first record is that of the table's creation.
    try flip(byteAt: 3 * 4_096 + 4 * 4_096 + 70, of: journal)
    #expect(try recovered(copy)["rows"]?.keys.sorted { $0[0] < $1[0] } == ["1", "2", "3"].map { Array($0.utf8) })
  }

  @Test(arguments: [0, 1])
  func aTornHeaderLeavesTheOneBefore(slot: Int) throws {
    let sample = try JournaledSample()
    for number in 1...6 {
      try sample.put("value", forKey: "\(number)")
      try sample.environment.makeCheckpoint()
    }
    let contents = try JournaledSample.contents(of: sample.environment)
    let copy = try sample.copy()
    try flip(byteAt: slot * 4_096 + 40, of: copy.path.appending("journal"))
    #expect(try recovered(copy) == contents)
    try flip(byteAt: 40, of: copy.path.appending("journal"))
    try flip(byteAt: 4_096 + 40, of: copy.path.appending("journal"))
    #expect(try code { _ = try recovered(copy) } == .corrupted)
  }

  @Test func theJournalOfAnotherFileIsRefused() throws {
    let (sample, other) = (try JournaledSample(), try JournaledSample())
    try sample.put("Ada", forKey: "1")
    try other.put("Grace", forKey: "1")
    try sample.environment.makeCheckpoint()
    try other.environment.makeCheckpoint()
    #expect(try code { _ = try recovered(sample.copy(dataFile: other.dataFile())) } == .corrupted)
  }

  @Test func recordsGoRoundTheRing() throws {
    let sample = try JournaledSample { $0.journal?.ringSizeInBytes = 16 * 4_096 }
    var random = SeededGenerator(seed: 4)
    for number in 0..<200 {
      let size = Int.random(in: 1...9_000, using: &random)
      try sample.put(String(repeating: "y", count: size), forKey: "\(number % 40)")
      if number % 10 == 9 {
        #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
      }
    }
  }

  @Test func aCommitThatIsTooLongForARecordIsFlushedInACleanFile() throws {
    let sample = try JournaledSample { $0.journal?.ringSizeInBytes = 16 * 4_096 }
    try sample.put("Ada", forKey: "1")
    try sample.environment.write { transaction in
      for number in UInt8(0)..<100 {
        try sample.rows.put([UInt8](repeating: number, count: 1_000), forKey: [number], in: &transaction)
      }
    }
    #expect(try sample.environment.journalInformation()?.isClean == true)
    let contents = try JournaledSample.contents(of: sample.environment)
    // One of them is the first row again.
    #expect(contents["rows"]?.count == 100)
    #expect(try recovered(sample.copy()) == contents)
    try sample.put("Grace", forKey: "2")
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
  }

  @Test func aLongCommitDoesNotWaitForACheckpointThatWaitsForIt() throws {
    let sample = try JournaledSample {
      $0.journal?.ringSizeInBytes = 16 * 4_096
      // The program may be stopped meanwhile.
      $0.writeWaitLimit = .seconds(600)
    }
    try sample.put("Ada", forKey: "1")
    var transaction = try sample.environment.beginWrite()
    for number in UInt8(0)..<100 {
      try sample.rows.put([UInt8](repeating: number, count: 1_000), forKey: [number], in: &transaction)
    }
    let environment = sample.environment
    let checkpoint = onThread { ready in
      ready.signal()
      #expect(throws: Never.self) { try environment.makeCheckpoint() }
    }
    while environment.state.waiterCount == 0 { usleep(1_000) }
    try transaction.commit()
    checkpoint.wait()
    #expect(try environment.journalInformation()?.isClean == true)
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: environment))
  }

  @Test func theFirstDurableCommitsOfACleanFileNeedNoJournal() throws {
    let sample = try JournaledSample { $0.journal?.directCommitCount = 3 }
    try sample.put("Ada", forKey: "1")
    #expect(try sample.environment.journalInformation()?.isClean == true)
    try sample.put("Grace", forKey: "2")
    try sample.put("Barbara", forKey: "3")
    #expect(try sample.environment.journalInformation()?.isClean == false)
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
  }

  @Test func theFileOfARowWrittenAgainAndAgainStaysSmall() throws {
    let sample = try JournaledSample { $0.journal?.checkpointCommitCount = 20 }
    for number in 0..<100 { try sample.put("\(number)", forKey: "1") }
    let size = try sample.environment.information().pageCount
    for number in 0..<2_000 { try sample.put("\(number)", forKey: "1") }
    #expect(try sample.environment.information().pageCount <= size + 100)
  }

  /// A commit that changes one row of a large table frees several pages: the number of commits would say nothing.
  @Test(arguments: [false, true]) func theFileGrowsByFreedPagesAndNotByCommits(hasKeeper: Bool) throws {
    let sample = try JournaledSample {
      $0.journal?.checkpointSizeInBytes = 64 * 4_096
      $0.journal?.checkpointCommitCount = 100_000
      $0.journal?.ringSizeInBytes = 16 << 20
      $0.journal?.hasKeeper = hasKeeper
    }
    for number in 0..<100 { try sample.put(String(repeating: "x", count: 3_000), forKey: "\(number)") }
    let size = try sample.environment.information().pageCount
    for number in 0..<1_000 { try sample.put(String(repeating: "y", count: 3_000), forKey: "\(number % 100)") }
    // Twice the pages of a checkpoint, and those of the commits in between.
    #expect(try sample.environment.information().pageCount <= size + 4 * 64)
  }

  @Test func theRingIsWrittenBeforeTheFirstRecordAndNotBefore() throws {
    let sample = try JournaledSample { $0.journal?.directCommitCount = 2 }
    try sample.put("Ada", forKey: "1")
    #expect(try sample.journal().count == 3 * 4_096)
    try sample.put("Grace", forKey: "2")
    #expect(try sample.journal().count == 3 * 4_096 + 1 << 20)
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
  }

  @Test func pagesOfTheSteadyCommitStayWhileCommitsFollow() throws {
    let sample = try JournaledSample()
    for number in 0..<200 { try sample.put(String(repeating: "z", count: 100), forKey: "\(number)") }
    try sample.environment.makeCheckpoint()
    let steady = try sample.dataFile()
    let contents = try JournaledSample.contents(of: sample.environment)
    for round in 0..<100 { try sample.put("\(round)", forKey: "\(round)") }
    // The steady pages as they are now, with the header of then and no records: nothing may be missing.
    var now = try sample.dataFile()
    now.replaceSubrange(0..<8_192, with: steady[0..<8_192])
    let copy = try sample.copy(dataFile: now)
    let journal = copy.path.appending("journal")
    let ring = [UInt8](repeating: 0, count: 1 << 20)
    let file = try FileDescriptor.open(journal, .writeOnly)
    _ = try file.closeAfter { try file.writeAll(toAbsoluteOffset: 3 * 4_096, ring) }
    #expect(try recovered(copy) == contents)
  }

  @Test func relaxedCommitsAreInTheJournalAtOnceAndFlushedOnRequest() throws {
    let sample = try JournaledSample { $0.durability = .noMetaSync }
    try sample.put("Ada", forKey: "1")
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
    try sample.environment.sync()
    try sample.environment.close()
  }

  @Test func aJournalIsCreatedOnceTheWriterIsDoneOrNotAtAll() throws {
    let directory = try TemporaryDirectory()
    let turn = try FileLock(openingDirectory: directory.path)
    try turn.acquire(.exclusive)
    let options = JournaledSample.options { $0.writeWaitLimit = .milliseconds(30) }
    #expect(try code { _ = try LMDBEnvironment(path: directory.path, options: options) } == .busy)
    turn.release()
    let environment = try LMDBEnvironment(path: directory.path, options: options)
    #expect(environment.hasJournal)
    try environment.close()
  }

  @Test func theKeeperMakesAPauseACleanFile() throws {
    let sample = try JournaledSample {
      $0.journal?.hasKeeper = true
      $0.journal?.flushInterval = .milliseconds(2)
      $0.journal?.cleanInterval = .milliseconds(1)
    }
    try sample.put("Ada", forKey: "1")
    // Waits for what must come; the limit is only for a program that never gets there.
    let isClean = try waitForClean(sample.environment)
    #expect(isClean)
    try sample.put("Grace", forKey: "2")
    #expect(try JournaledSample.contents(of: sample.environment)["rows"]?.count == 2)
    try sample.environment.close()
  }

  private func waitForClean(_ environment: LMDBEnvironment) throws -> Bool {
    for _ in 0..<5_000 {
      if try environment.journalInformation()?.isClean == true { return true }
      usleep(2_000)
    }
    return false
  }

  @Test func aWriteTransactionThatChangesNothingLeavesNothing() throws {
    let sample = try JournaledSample()
    try sample.put("Ada", forKey: "1")
    let before = try sample.environment.journalInformation()
    try sample.environment.write { _ = try sample.rows.remove(forKey: [9], in: &$0) }
    #expect(try sample.environment.journalInformation() == before)
  }

  @Test func aMapThatGrowsLosesNothing() throws {
    let sample = try JournaledSample {
      $0.mapSizeInBytes = 1 << 18
      $0.minimumMapSizeInBytes = 1 << 18
    }
    for number in 0..<60 { try sample.put(String(repeating: "m", count: 20_000), forKey: "\(number)") }
    #expect(try recovered(sample.copy()) == JournaledSample.contents(of: sample.environment))
  }

  private func flip(byteAt offset: Int, of path: FilePath) throws {
    let file = try FileDescriptor.open(path, .readWrite)
    try file.closeAfter {
      var byte: [UInt8] = [0]
      // Reads into the array's one byte.
      _ = try unsafe byte.withUnsafeMutableBytes { unsafe try file.read(fromAbsoluteOffset: Int64(offset), into: $0) }
      _ = try file.writeAll(toAbsoluteOffset: Int64(offset), [byte[0] ^ 0x40])
    }
  }
}
