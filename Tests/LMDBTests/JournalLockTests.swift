import Foundation
import SystemPackage
import TallySystem
import TestSupport
import Testing

@testable import LMDB

/// What a process with a journal may not do while others do something, and after a flush has failed.
@Suite struct JournalLockTests {
  @Test func nobodyBeginsACheckpointWhileAnotherOneIsUnderWay() throws {
    let sample = try JournaledSample { $0.writeWaitLimit = .milliseconds(30) }
    try sample.put("Ada", forKey: "1")
    let steady = try sample.environment.journalInformation()?.steadyTransactionID
    let other = try FileLock(opening: sample.directory.path.appending("data.mdb"))
    try other.acquire(.exclusive)
    #expect(try code { try sample.environment.makeCheckpoint() } == .busy)
    #expect(try sample.environment.journalInformation()?.steadyTransactionID == steady)
    // Writers go on.
    try sample.put("Grace", forKey: "2")
    other.release()
    try sample.environment.makeCheckpoint()
    #expect(try sample.environment.journalInformation()?.recordCount == 0)
  }

  @Test func nobodyRecoversAFileThatAnotherProcessHasOpenOrRecovers() throws {
    let sample = try JournaledSample()
    try sample.put("Ada", forKey: "1")
    let copy = try sample.copy()
    let options = JournaledSample.options { $0.writeWaitLimit = .milliseconds(30) }
    let other = try FileLock(opening: copy.path.appending("journal"))
    try other.acquire(.exclusive)
    #expect(try code { _ = try LMDBEnvironment(path: copy.path, options: options) } == .busy)
    other.release()
    try other.acquire(.shared)
    let beside = try LMDBEnvironment(path: copy.path, options: options)
    #expect(try beside.journalInformation()?.isClean == false)
    try beside.close()
    #expect(try !LMDBEnvironment.isDataFileReplaceable(in: copy.path))
    other.release()
    let alone = try LMDBEnvironment(path: copy.path, options: options)
    #expect(try alone.journalInformation()?.isClean == true)
    #expect(try JournaledSample.contents(of: alone)["rows"]?.count == 1)
    try alone.close()
  }

  @Test func afterAFailedFlushNobodyWritesUntilTheFileHasBeenRecovered() throws {
    let sample = try JournaledSample()
    try sample.put("Ada", forKey: "1")
    try #require(sample.environment.journal).fail()
    #expect(sample.environment.hasPanicked)
    #expect(try code { try sample.put("Grace", forKey: "2") } == .panic)
    #expect(try code { try sample.environment.makeCheckpoint() } == .panic)
    try sample.environment.close()
    // Closing has not marked it clean.
    #expect(try !LMDBEnvironment.isDataFileReplaceable(in: sample.directory.path))
    let again = try LMDBEnvironment(path: sample.directory.path, options: JournaledSample.options())
    #expect(try JournaledSample.contents(of: again)["rows"] == [Array("1".utf8): Array("Ada".utf8)])
    let rows = try JournaledSample.Bytes(opening: "rows", in: again)
    try again.write { try rows.put([2], forKey: [2], in: &$0) }
    try again.close()
    #expect(try LMDBEnvironment.isDataFileReplaceable(in: sample.directory.path))
  }
}
