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

/// A small environment with some of everything: branches, values on pages of their own, and free pages.
private struct FilledSample {
  typealias Table = Database<[UInt8], [UInt8]>

  let file: [UInt8]
  let contents: [String: [[UInt8]: [UInt8]]]
  /// Before the last commit.
  let earlierContents: [String: [[UInt8]: [UInt8]]]

  static let names = ["long", "short", "plain"]
  static var options: LMDBEnvironment.Options { Sample.options(mapSizeInBytes: 1 << 24) }

  init() throws {
    let directory = try TemporaryDirectory()
    let environment = try LMDBEnvironment(path: directory.path, options: Self.options)
    var contents = [String: [[UInt8]: [UInt8]]](uniqueKeysWithValues: Self.names.map { ($0, [:]) })
    try environment.write { transaction in
      for name in Self.names { _ = try Table(opening: name, creating: true, in: &transaction) }
    }
    // All lengths are even: an odd one may be wrong by the byte that fills up its room, which only its reader can
    // notice.
    for number in UInt8(0)..<24 { contents["plain"]?[[0, number]] = Array(repeating: number, count: 300) }
    for number in UInt8(1)..<9 { contents["short"]?[Array(repeating: number, count: 2 * Int(number))] = [] }
    for number in UInt8(0)..<2 { contents["long"]?[[number, 0]] = Array(repeating: number, count: 5_000) }
    try environment.write { transaction in
      for (name, rows) in contents {
        let table = try Table(opening: name, creating: false, in: &transaction)
        for (key, value) in rows { try table.put(value, forKey: key, in: &transaction) }
      }
    }
    // A reader keeps what the changes free from being used again at once, so that there are several lists.
    do {
      let reader = try environment.beginRead()
      defer { extendLifetime(reader) }
      for round in 10..<14 { try Self.change(&contents, round: round, in: environment) }
    }
    earlierContents = contents
    try Self.change(&contents, round: 14, in: environment)
    self.contents = contents
    try environment.close()
    file = Array(try Data(contentsOf: URL(filePath: directory.path.appending("data.mdb").string)))
  }

  /// Writes to every database, and removes something.
  static func change(
    _ contents: inout [String: [[UInt8]: [UInt8]]], round: Int, in environment: LMDBEnvironment
  ) throws {
    let number = UInt8(round)
    var changed = contents
    for part in UInt8(0)..<6 { changed["plain"]?[[number, part]] = Array(repeating: part, count: 290 + 2 * Int(part)) }
    changed["plain"]?[[0, number]] = nil
    changed["short"]?[[number, 0]] = [number, 1]
    changed["long"]?[[2, 0]] = Array(repeating: number, count: 4_100 + 100 * round)
    try environment.write { transaction in
      for name in names {
        let table = try Table(opening: name, creating: false, in: &transaction)
        let (old, new) = (contents[name] ?? [:], changed[name] ?? [:])
        for key in old.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where new[key] == nil {
          _ = try table.remove(forKey: key, in: &transaction)
        }
        for (key, value) in new where old[key] != value { try table.put(value, forKey: key, in: &transaction) }
      }
    }
    contents = changed
  }

  static func contents(of environment: LMDBEnvironment) throws -> [String: [[UInt8]: [UInt8]]] {
    var contents: [String: [[UInt8]: [UInt8]]] = [:]
    for name in names {
      let table = try Table(opening: name, in: environment)
      var rows: [[UInt8]: [UInt8]] = [:]
      try environment.read { transaction in
        try table.forEach(in: transaction) { key, value in
          rows[Array(key)] = Array(value)
          return true
        }
      }
      contents[name] = rows
    }
    return contents
  }

  /// The bytes that say where something is, or how much there is; not those of keys and values.
  func structuralPlaces() throws -> [Int] {
    let newest = try newestMeta()
    let places = (0..<MetaPage.byteCount).flatMap { [$0, Self.pageSize + $0] }
    return try places + placesOfTree(newest.names.root) + placesOfTree(newest.freePages.root, isListOfPages: true)
  }

  private static let pageSize = 4_096

  func newestMeta() throws -> MetaPage {
    let metas = try (0...1).map { try meta($0) }
    return metas[0].transactionID > metas[1].transactionID ? metas[0] : metas[1]
  }

  func page(_ number: Int) throws -> Page {
    let start = number * Self.pageSize
    return try Page(number: number, bytes: Array(file[start..<start + Self.pageSize]))
  }

  /// Where a list of free pages that is not empty begins.
  func placeOfFreePageList() throws -> Int {
    let number = try #require(try newestMeta().freePages.root)
    let page = try page(number)
    let node = try #require(
      page.nodes.first { page.bytes.number(at: $0.key.upperBound, as: UInt64.self).map { $0 > 0 } == true })
    try #require(!page.isBranch && !node.isBigValue)
    return number * Self.pageSize + node.key.upperBound
  }

  /// Where the last key of the first leaf lies, in a tree with a branch.
  func placeOfLastKeyOfFirstLeaf() throws -> Int {
    let names = try page(try #require(try newestMeta().names.root))
    let roots = names.nodes.compactMap { TreeRecord(names.bytes, at: $0.key.upperBound)?.root }
    let branch = try #require(try roots.map { try page($0) }.first { $0.isBranch })
    let leaf = try page(branch.nodes[0].child)
    return leaf.number * Self.pageSize + leaf.nodes[leaf.nodes.count - 1].key.lowerBound
  }

  /// The pages of all trees except the free pages.
  func usedPages() throws -> Set<Int> {
    let root = try newestMeta().names.root
    return Set(try placesOfTree(root).map { $0 / Self.pageSize })
  }

  private func meta(_ index: Int) throws -> MetaPage {
    let start = index * Self.pageSize
    let meta = try #require(MetaPage(Array(file[start..<start + MetaPage.byteCount])))
    try #require(meta.pageSizeInBytes == Self.pageSize)
    return meta
  }

  private func placesOfTree(_ root: Int?, isListOfPages: Bool = false) throws -> [Int] {
    guard let root else { return [] }
    let start = root * Self.pageSize
    let page = try page(root)
    var places = Array(0..<Page.headByteCount + 2 * page.nodes.count)
    for node in page.nodes {
      // Only its reader can notice that a value ends early or late on its own pages.
      let sizeByteCount = 4
      places += (node.isBigValue ? node.start + sizeByteCount : node.start)..<node.key.lowerBound
      if isListOfPages && !page.isBranch { places += node.key.lowerBound..<node.end }
      if node.isTree || node.isBigValue { places += node.key.upperBound..<node.end }
    }
    return try places.map { start + $0 } + page.nodes.flatMap { try placesBelow($0, of: page, isListOfPages) }
  }

  private func placesBelow(_ node: Node, of page: Page, _ isListOfPages: Bool) throws -> [Int] {
    if page.isBranch { return try placesOfTree(node.child, isListOfPages: isListOfPages) }
    if node.isTree { return try placesOfTree(TreeRecord(page.bytes, at: node.key.upperBound)?.root) }
    guard node.isBigValue else { return [] }
    let first = try #require(page.bytes.number(at: node.key.upperBound, as: UInt64.self))
    let start = Int(first) * Self.pageSize
    return Array(start..<start + Page.headByteCount)
  }
}

extension Array where Element == UInt8 {
  fileprivate init(_ bytes: borrowing RawSpan) {
    // Within the call.
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }
}
