import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB

/// Rules of the journal without which only few of the images of a power cut are wrong: here is such an image for each.
///
/// Each test also breaks its rule, and then must find the fault.
@Suite struct JournalRuleTests {
  private static let blockSizeInBytes = JournalFile.blockSizeInBytes

  private func breaking(
    _ rule: JournalOptions.BrokenRules, _ isBroken: Bool
  ) -> (inout LMDBEnvironment.Options) -> Void {
    { $0.journal?.brokenRules = isBroken ? rule : [] }
  }

  /// Whether recovery makes of a directory what the environment had.
  private func isRight(
    _ directory: TemporaryDirectory, _ contents: [String: [[UInt8]: [UInt8]]],
    _ change: (inout LMDBEnvironment.Options) -> Void = { _ in }
  ) -> Bool {
    (try? recovered(directory, change)) == contents
  }

  /// The power fails while a header is written, and the pages are those of the checkpoint before.
  @Test(arguments: [false, true])
  func aTornHeaderLeavesAWholeOne(isRuleBroken: Bool) throws {
    let sample = try JournaledSample(breaking(.twoSlots, isRuleBroken))
    for number in 1...6 {
      try sample.put("value", forKey: "\(number)")
      try sample.environment.makeCheckpoint()
    }
    let (steady, before) = (try sample.dataFile(), try sample.journal())
    try sample.put("later", forKey: "7")
    let contents = try JournaledSample.contents(of: sample.environment)
    try sample.environment.makeCheckpoint()
    let copy = try sample.copy(dataFile: steady)
    let journal = try sample.journal()
    let slot = try #require((0..<2).first { $0.block(of: journal) != $0.block(of: before) })
    try write([0xA5], to: copy, at: slot * Self.blockSizeInBytes + 40)
    #expect(isRight(copy, contents) != isRuleBroken)
  }

  /// Records of the time before the file was clean lie behind those of now, at the very places where the next ones would.
  @Test(arguments: [false, true])
  func recordsOfAnEarlierTimeAreNotRepeated(isRuleBroken: Bool) throws {
    let sample = try JournaledSample(breaking(.chain, isRuleBroken))
    for value in ["one", "two", "three", "four"] { try sample.put(value, forKey: "key") }
    try sample.environment.close()
    let again = try LMDBEnvironment(
      path: sample.directory.path, options: JournaledSample.options(breaking(.chain, isRuleBroken)))
    let rows = try JournaledSample.Bytes(opening: "rows", in: again)
    try again.write { try rows.put([9], forKey: Array("key".utf8), in: &$0) }
    let contents = try JournaledSample.contents(of: again)
    #expect(isRight(try sample.copy(), contents, breaking(.chain, isRuleBroken)) != isRuleBroken)
    try again.close()
  }

  /// A process was killed after it had written a header that says that the file is clean, and before it published it.
  @Test(arguments: [false, true])
  func aHeaderThatNobodyPublishedDoesNotOutliveTheNextCommit(isRuleBroken: Bool) throws {
    let sample = try JournaledSample(breaking(.contradiction, isRuleBroken))
    try sample.put("value", forKey: "1")
    try sample.environment.makeCheckpoint()
    let file = try #require(try JournalFile(in: sample.directory.path))
    defer { file.close() }
    let published = try file.newestHeader()
    var rival = published.header
    rival.generation += 1
    rival.state = .clean
    try file.write(rival, inSlot: 1 - published.slot)
    let steady = try sample.dataFile()
    try sample.put("later", forKey: "2")
    // With the rule, the commit made its own pages steady before it returned, or overwrote the header.
    let isOverwritten = try file.newestHeader().header != rival
    let copy = try sample.copy(dataFile: isOverwritten ? nil : steady)
    #expect(try isRight(copy, JournaledSample.contents(of: sample.environment)) != isRuleBroken)
  }

  private func write(_ bytes: [UInt8], to directory: TemporaryDirectory, at offset: Int) throws {
    let file = try FileDescriptor.open(directory.path.appending(JournalFile.fileName), .readWrite)
    try file.closeAfter { _ = try file.writeAll(toAbsoluteOffset: Int64(offset), bytes) }
  }
}

extension Int {
  /// The bytes of a block with this number.
  fileprivate func block(of journal: Data) -> Data {
    let start = journal.startIndex + self * JournalFile.blockSizeInBytes
    return journal[start..<start + JournalFile.blockSizeInBytes]
  }
}
