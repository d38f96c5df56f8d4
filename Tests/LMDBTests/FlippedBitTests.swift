import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB

/// One wrong bit in what liblmdb trusts: the check of the structure finds it, or it does no harm, now or after further
/// writes.
@Suite struct FlippedBitTests {
  private typealias Contents = [String: [[UInt8]: [UInt8]]]

  /// The bugs: room counted wrongly in a page (`mp_upper`), flags, counts, orders and keys of the tree of free pages,
  /// the flags of the first two trees, and the number of a commit passed the check; the next commits then destroyed the
  /// file, or the last one was lost.
  ///
  /// One bit of each byte; with `TALLY_EVERY_BIT`, every one.
  @Test func aWrongBitIsFoundOrHarmless() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    let isLong = ProcessInfo.processInfo.environment["TALLY_EVERY_BIT"] != nil
    let sample = try FilledSample()
    let places = try sample.structuralPlaces()
    let directory = try TemporaryDirectory()
    var foundCount = 0
    for place in places {
      for bit in isLong ? Array(0..<8) : [Int.random(in: 0..<8, using: &random)] {
        var bytes = sample.file
        bytes[place] ^= 1 << UInt8(bit)
        try Data(bytes).write(to: URL(filePath: directory.path.appending("data.mdb").string))
        // As after a commit whose last step failed: the numbers are right, and the last commit is gone.
        let isLastCommitGone = place % 4_096 == 144 && bit == 1
        let contents = isLastCommitGone ? sample.earlierContents : sample.contents
        let fault = try faultAfterUse(of: directory.path, contents)
        if fault == nil { foundCount += 1 }
        if let fault, !fault.isEmpty {
          Issue.record("byte \(place % 4_096) of page \(place / 4_096), bit \(bit): \(fault)")
        }
      }
    }
    #expect(foundCount > places.count / 2)
  }

  /// The bug: the check took the larger number for the last commit, and liblmdb the page at which that belongs.
  @Test(arguments: [[1, 0], [0, 0], [1, 1]])
  func theFirstTwoPagesAreThoseOfConsecutiveCommitsAtTheirPlaces(pages: [Int]) throws {
    let sample = try FilledSample()
    let heads = (0...1).map { Array(sample.file[$0 * 4_096..<($0 + 1) * 4_096]) }
    let directory = try TemporaryDirectory()
    let file = directory.path.appending("data.mdb")
    try Data(heads[pages[0]] + heads[pages[1]] + sample.file.dropFirst(8_192)).write(to: URL(filePath: file.string))
    let error = #expect(throws: LMDBError.self) { try DataFile(file).checkStructure() }
    #expect(error?.code == .corrupted)
  }

  /// A page in use that is listed as free, too, would be written over.
  @Test func aPageInUseIsNotFree() throws {
    let sample = try FilledSample()
    let newest = try sample.newestMeta()
    let list = try sample.placeOfFreePageList()
    // The last of a list that descends.
    let count = Int(try #require(sample.file.number(at: list, as: UInt64.self)))
    let last = list + 8 * count
    let free = Int(try #require(sample.file.number(at: last, as: UInt64.self)))
    let used = try #require(try sample.usedPages().filter { $0 < free }.max())
    try #require(used != newest.freePages.root)
    var file = sample.file
    file.replaceSubrange(last..<last + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: used >> (8 * $0)) })
    try expectDamage(file, saying: "in use twice")
  }

  /// The last key of a page must come before the first one of the next.
  @Test func aKeyBeyondItsPageIsFound() throws {
    let sample = try FilledSample()
    var file = sample.file
    let key = try sample.placeOfLastKeyOfFirstLeaf()
    file[key] = 0xFF
    try expectDamage(file, saying: "belongs after it")
  }

  private func expectDamage(_ file: [UInt8], saying words: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path.appending("data.mdb")
    try Data(file).write(to: URL(filePath: path.string))
    let error = #expect(throws: LMDBError.self) { try DataFile(path).checkStructure() }
    #expect(error?.code == .corrupted && error?.message.contains(words) == true, "\(error.map { "\($0)" } ?? "none")")
  }

  /// The bug: the check took a byte of memory for each page that the file's length leaves room for, as did opening.
  @Test func aFileMayClaimAnyLength() throws {
    let inMemory = FilePath("/dev/shm")
    let parent = (try? inMemory.stat()) == nil ? FilePath(FileManager.default.temporaryDirectory.path) : inMemory
    let directory = parent.appending("lmdb-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory.string) }
    let (sample, path) = (try FilledSample(), directory.appending("data.mdb"))
    try Data(sample.file).write(to: URL(filePath: path.string))
    let file = try FileDescriptor.open(path, .readWrite)
    // As much as the filesystem takes.
    try file.closeAfter {
      for shift in [50, 43, 40] { if (try? file.resize(to: 1 << Int64(shift))) != nil { break } }
    }
    try #require(try path.stat().size >= 1 << 40)
    try DataFile(path).checkStructure()
    let environment = try LMDBEnvironment(path: directory, options: FilledSample.options)
    #expect(try environment.isFileComplete())
    #expect(try FilledSample.contents(of: environment) == sample.contents)
    try environment.close()
  }

  /// `nil` if the check finds something; otherwise the fault of the contents read or written, or nothing.
  private func faultAfterUse(of directory: FilePath, _ expected: Contents) throws -> String? {
    do {
      try DataFile(inDirectory: directory).checkStructure()
    } catch {
      #expect([.corrupted, .invalidFile, .versionMismatch].contains(error.code))
      return nil
    }
    do {
      let environment = try LMDBEnvironment(path: directory, options: FilledSample.options)
      defer { try? environment.close() }
      guard try FilledSample.contents(of: environment) == expected else { return "other contents" }
      var changed = expected
      for round in 0..<3 {
        try FilledSample.change(&changed, round: round, in: environment)
        guard try FilledSample.contents(of: environment) == changed else { return "other contents after a write" }
        try environment.checkStructure()
      }
      return ""
    } catch {
      return "\(error)"
    }
  }
}
