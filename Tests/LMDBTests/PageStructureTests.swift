import Foundation
import SystemPackage
import Testing

@testable import LMDB

/// Each rule of the check of a file's pages, with a file that breaks this rule and no other one before it.
@Suite struct PageStructureTests {
  private static let pageSize = 4_096
  private let sample: FilledSample

  init() throws {
    sample = try FilledSample()
  }

  @Test func theFirstTwoPagesAgreeOnWhatTheyAre() throws {
    for number in [0, 1] {
      let magic = number * Self.pageSize + 16
      try expect(.corrupted, number == 0 ? "is not the first page" : "does not agree") { $0[magic] ^= 1 }
      // A page that does not say that it is one of the first.
      try expect(.corrupted, "two consecutive commits") { $0[number * Self.pageSize + 10] = 0 }
    }
    try expect(.corrupted, "does not agree with the first one") { file in put(UInt32(8_192), at: 4_096 + 40, &file) }
    try expect(.invalidFile, "") { $0 = Array($0.prefix(6_000)) }
    let older = try (1 - newest) * Self.pageSize
    try expect(.corrupted, "two consecutive commits") { put(UInt32(2), at: older + 20, &$0) }
    try expect(.versionMismatch, "") { file in for page in [0, 4_096] { put(UInt32(2), at: page + 20, &file) } }
  }

  /// A file whose beginning is lost is damaged, and not another program's.
  @Test func aFileWithoutItsBeginningIsDamaged() throws {
    for length in [32, 152, 512, Self.pageSize, 2 * Self.pageSize] {
      try expect(.corrupted, "is not the first page") { file in
        file.replaceSubrange(0..<length, with: [UInt8](repeating: 0, count: length))
      }
      try expect(.corrupted, "is not the first page") { file in
        file.replaceSubrange(0..<length, with: (0..<length).map { UInt8(truncatingIfNeeded: 7 * $0 + 3) })
      }
    }
    try expect(.invalidFile, "") { $0 = [UInt8](repeating: 0, count: $0.count) }
    try expect(.invalidFile, "") { file in
      for index in file.indices { file[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
    }
  }

  @Test(arguments: [UInt32(256), 5_000, 1 << 17])
  func theSizeOfAPageIsAPowerOfTwoThatLiblmdbHas(sizeInBytes: UInt32) throws {
    try expect(.invalidFile, "") { file in for page in [0, 4_096] { put(sizeInBytes, at: page + 40, &file) } }
  }

  @Test func theNumbersOfTheFirstPagesAreConsecutiveAndPossible() throws {
    let start = try newest * Self.pageSize
    try expect(.corrupted, "two consecutive commits") { [transaction = try sample.newestMeta().transactionID] in
      put(transaction + 2, at: start + 144, &$0)
    }
    try expect(.invalidFile, "") { file in for page in [0, 4_096] { put(UInt64(Int.max), at: page + 136, &file) } }
    try expect(.corrupted, "trees of another kind") { put(UInt16(0), at: start + 44, &$0) }
    try expect(.corrupted, "trees of another kind") { put(UInt16(4), at: start + 92, &$0) }
  }

  /// The file may be replaced between the look at its kind and this one.
  @Test func theNewestFirstPageIsOneOfTwoThatAgree() throws {
    var file = sample.file
    put(UInt32(8_192), at: try newest * Self.pageSize + 40, &file)
    // What would be the second page of the one that says so.
    file.replaceSubrange(8_192..<12_288, with: file[4_096..<8_192])
    let directory = try TemporaryDirectory()
    let path = try place(file, in: directory)
    let error = #expect(throws: LMDBError.self) { try DataFile(path).reading { try MetaPage.latest(of: $0).lastPage } }
    #expect(error?.message.contains("two consecutive commits") == true)
  }

  /// As a commit may come between the two reads.
  @Test func theFirstTwoPagesAreReadAgainUntilTheyAgree() throws {
    let expected = try sample.newestMeta()
    for (disagreementCount, isFound) in [(99, true), (100, false)] {
      var lookCount = 0
      let found = try? MetaPage.latest {
        lookCount += 1
        return lookCount > disagreementCount ? expected : nil
      }
      #expect(lookCount == 100 && found?.transactionID == (isFound ? expected.transactionID : nil))
    }
  }

  @Test func aNameStandsForTheRecordOfATree() throws {
    let (page, node) = try name("long")
    let words = "a name without the record of a tree"
    try expect(.corrupted, words) { put(UInt16(0), at: page + node.start + 4, &$0) }
    // The room stays the same, as it is even.
    try expect(.corrupted, words) { put(UInt16(47), at: page + node.start, &$0) }
    try expect(.corrupted, "names a tree of another kind") { put(UInt16(4), at: page + node.key.upperBound + 4, &$0) }
  }

  @Test func aTreeWithoutARootIsEmpty() throws {
    let record = try placeOfRecord("long")
    try expectSound { empty(record, &$0) }
    for place in [6, 8, 16, 24, 32] {
      try expect(.corrupted, "has entries or pages and no root") { file in
        empty(record, &file)
        file[record + place] = 1
      }
    }
  }

  @Test func aTreeHasTheDepthThePagesAndTheEntriesThatItsRecordSays() throws {
    let record = try placeOfRecord("long")
    for depth in [0, 33] { try expect(.corrupted, "an impossible depth") { $0[record + 6] = UInt8(depth) } }
    try expect(.corrupted, "is at the wrong depth") { $0[record + 6] = 2 }
    for place in [8, 16, 24] {
      try expect(.corrupted, "more or fewer pages than it counts") { $0[record + place] += 1 }
    }
    try expect(.corrupted, "entries and claims") { $0[record + 32] += 1 }
  }

  @Test func theRootOfATreeIsAPageOfTheFile() throws {
    let record = try placeOfRecord("long")
    for page in [0, 1, sample.file.count / Self.pageSize] {
      try expect(.corrupted, "Page \(page) of the file lies outside") { put(UInt64(page), at: record + 40, &$0) }
    }
    // The pages end before those in use do.
    let used = try #require(try sample.usedPages().max())
    let last = try newest * Self.pageSize + 136
    try expect(.corrupted, "lies outside the file") { put(UInt64(used - 1), at: last, &$0) }
  }

  @Test func aLongValueHasPagesOfItsOwnThatSaySo() throws {
    let node = try placeOfLongValue()
    let first = try Int(#require(sample.file.number(at: node.page + node.end, as: UInt64.self)))
    let words = "Page \(first) of the file does not begin the long value"
    let start = first * Self.pageSize
    try expect(.corrupted, words) { $0[start] ^= 1 }
    try expect(.corrupted, words) { $0[start + 10] = 5 }
    try expect(.corrupted, words) { $0[start + 12] = 1 }
    // More pages than the file has, though not more than it says.
    let pageCount = sample.file.count / Self.pageSize
    let last = try newest * Self.pageSize + 136
    try expect(.corrupted, "Page \(first) of the file lies outside") { file in
      put(UInt32(pageCount - first + 1), at: start + 12, &file)
      put(UInt64(pageCount), at: last, &file)
    }
    for page in [1, pageCount] {
      let words = "Page \(page) of the file lies outside"
      try expect(.corrupted, words) { put(UInt64(page), at: node.page + node.end, &$0) }
    }
  }

  @Test func aPageBearsItsNumberAndAKind() throws {
    let leaf = try placeOfLeaf()
    try expect(.corrupted, "has the number of another page") { $0[leaf] ^= 1 }
    try expect(.corrupted, "not of a kind that a tree has") { $0[leaf + 10] |= 0x10 }
  }

  @Test func thePlacesOfNodesEndBeforeTheNodesBegin() throws {
    let leaf = try placeOfLeaf()
    let (lower, upper) = (try number(at: leaf + 12), try number(at: leaf + 14))
    let words = "claims more room than it has"
    try expect(.corrupted, words) { put(UInt16(14), at: leaf + 12, &$0) }
    try expect(.corrupted, words) { put(UInt16(lower + 1), at: leaf + 12, &$0) }
    try expect(.corrupted, words) { put(UInt16(upper + 2), at: leaf + 12, &$0) }
    try expect(.corrupted, words) { put(UInt16(4_098), at: leaf + 14, &$0) }
    try expect(.corrupted, "holds nothing") { put(UInt16(16), at: leaf + 12, &$0) }
  }

  @Test func aNodeLiesInItsPageAndHasAKeyAndAKnownValue() throws {
    let leaf = try placeOfLeaf()
    let nodes = try nodes(ofPageAt: leaf)
    try expect(.corrupted, "names a node outside itself") { put(UInt16(4), at: leaf + 16, &$0) }
    let words = "has a key of an impossible length"
    try expect(.corrupted, words) { put(UInt16(511), at: leaf + nodes[nodes.count - 1].start + 6, &$0) }
    try expect(.corrupted, words) { put(UInt16(600), at: leaf + nodes[0].start + 6, &$0) }
    try expect(.corrupted, words) { put(UInt16(0), at: leaf + nodes[0].start + 6, &$0) }
    try expect(.corrupted, "has a value of no known kind") { put(UInt16(4), at: leaf + nodes[0].start + 4, &$0) }
  }

  @Test func nodesFillTheirRoomOneAfterTheOther() throws {
    let leaf = try placeOfLeaf()
    let nodes = try nodes(ofPageAt: leaf)
    let upper = try number(at: leaf + 14)
    let overlap = "has nodes that overlap or leave the page"
    try expect(.corrupted, overlap) { copy(leaf + 16, to: leaf + 18, &$0) }
    try expect(.corrupted, overlap) { $0[leaf + nodes[nodes.count - 1].start] += 2 }
    try expect(.corrupted, overlap) { file in try moveByOne(nodes[0], ofPageAt: leaf, &file) }
    for other in [upper + 1, upper - 2] {
      try expect(.corrupted, "do not fill their room") { put(UInt16(other), at: leaf + 14, &$0) }
    }
    try expect(.corrupted, "has nodes that overlap") { put(UInt16(nodes[1].start), at: leaf + 14, &$0) }
  }

  @Test func keysAscendWithinThePageAndTheBranch() throws {
    let leaf = try placeOfLeaf()
    try expect(.corrupted, "equal or in a wrong order") { file in
      let first = Array(file[leaf + 16..<leaf + 18])
      copy(leaf + 18, to: leaf + 16, &file)
      file.replaceSubrange(leaf + 18..<leaf + 20, with: first)
    }
    let branch = try branchOfPlain()
    let second = try sample.page(branch.nodes[1].child)
    try expect(.corrupted, "belongs before it") { file in
      for place in second.nodes[0].key { file[second.number * Self.pageSize + place] = 0 }
    }
    try expect(.corrupted, "belongs after it") { $0[try sample.placeOfLastKeyOfFirstLeaf()] = 0xFF }
  }

  @Test func aListOfFreePagesBelongsToACommitOfTheFile() throws {
    let (page, nodes) = try listsOfFreePages()
    let words = "an impossible commit"
    let transaction = try sample.newestMeta().transactionID
    try expect(.corrupted, words) { put(UInt64(0), at: page + nodes[0].key.lowerBound, &$0) }
    try expect(.corrupted, words) { put(transaction + 1, at: page + nodes[nodes.count - 1].key.lowerBound, &$0) }
    try expect(.corrupted, words) { file in
      put(UInt16(nodes[0].valueByteCount - 1), at: page + nodes[0].start, &file)
      file[page + nodes[0].start + 6] = 9
    }
    try expect(.corrupted, "has a tree among lists") { put(UInt16(2), at: page + nodes[0].start + 4, &$0) }
  }

  @Test func aListOfFreePagesIsAsLongAsItSays() throws {
    let (page, node) = try longListOfFreePages()
    let list = page + node.key.upperBound
    try expect(.corrupted, "whose length is not the one") { $0[list] -= 1 }
    try expect(.corrupted, "whose length is not the one") { file in
      file[list] -= 1
      put(UInt16(node.valueByteCount - 1), at: page + node.start, &file)
    }
  }

  @Test func aFreePageIsOneOfTheFileAndListedOnce() throws {
    let (page, node) = try longListOfFreePages()
    let list = page + node.key.upperBound
    let count = node.valueByteCount / 8 - 1
    let (last, words) = (try sample.newestMeta().lastPage, "lists a free page that cannot be free")
    try expect(.corrupted, words) { put(UInt64(1), at: list + 8 * count, &$0) }
    try expect(.corrupted, words) { put(UInt64(last + 1), at: list + 8, &$0) }
    try expect(.corrupted, words) { file in
      let first = Array(file[list + 8..<list + 16])
      for place in 0..<8 { file[list + 8 + place] = file[list + 16 + place] }
      file.replaceSubrange(list + 16..<list + 24, with: first)
    }
  }

  @Test func freePagesBeyondTheEndAreThereOnce() throws {
    let lists = try listsOfFreePages()
    let filled = lists.nodes.filter { $0.valueByteCount > 8 }
    try #require(filled.count > 1)
    let meta = try newest * Self.pageSize
    let beyond = sample.file.count / Self.pageSize
    try #require(try sample.newestMeta().lastPage == beyond - 1)
    let lengthen: (inout [UInt8], Int) -> Void = { file, listCount in
      self.put(UInt64(beyond), at: meta + 136, &file)
      for node in filled.prefix(listCount) { self.put(UInt64(beyond), at: lists.page + node.key.upperBound + 8, &file) }
    }
    try expect(.corrupted, "The end of the file is missing") { lengthen(&$0, 0) }
    try expectSound { lengthen(&$0, 1) }
    try expect(.corrupted, "Page \(beyond) of the file is free twice") { lengthen(&$0, 2) }
    for listCount in [0, 1] {
      var file = sample.file
      lengthen(&file, listCount)
      let directory = try TemporaryDirectory()
      _ = try place(file, in: directory)
      let environment = try LMDBEnvironment(path: directory.path, options: FilledSample.options)
      #expect(try environment.isFileComplete() == (listCount == 1))
      try environment.close()
    }
  }

  @Test func aPageIsUsedOnce() throws {
    let record = try placeOfRecord("short")
    let other = try sample.file[placeOfRecord("long") + 40]
    try expect(.corrupted, "in use twice") { $0[record + 40] = other }
  }
}

/// The places in the file, and changing and checking it.
extension PageStructureTests {
  /// The number of the newest of the first two pages.
  private var newest: Int {
    get throws { Int(try sample.newestMeta().transactionID % 2) }
  }

  private func number(at place: Int) throws -> Int {
    Int(try #require(sample.file.number(at: place, as: UInt16.self)))
  }

  /// The nodes in the order of their places.
  private func nodes(ofPageAt place: Int) throws -> [Node] {
    try sample.page(place / Self.pageSize).nodes.sorted { $0.start < $1.start }
  }

  /// The node of a name, in the page that begins there.
  private func name(_ name: String) throws -> (page: Int, node: Node) {
    let page = try sample.page(try #require(try sample.newestMeta().names.root))
    let node = try #require(page.nodes.first { Array(page.bytes[$0.key]) == Array(name.utf8) })
    return (page.number * Self.pageSize, node)
  }

  private func placeOfRecord(_ name: String) throws -> Int {
    let (page, node) = try self.name(name)
    return page + node.key.upperBound
  }

  private func branchOfPlain() throws -> Page {
    let record = try #require(TreeRecord(sample.file, at: try placeOfRecord("plain")))
    let page = try sample.page(try #require(record.root))
    try #require(page.isBranch)
    return page
  }

  /// A leaf with several values of its own.
  private func placeOfLeaf() throws -> Int {
    let page = try sample.page(try branchOfPlain().nodes[0].child)
    try #require(!page.isBranch && page.nodes.count > 2)
    return page.number * Self.pageSize
  }

  /// The page of a long value's node, and where the node's key ends.
  private func placeOfLongValue() throws -> (page: Int, end: Int) {
    let record = try #require(TreeRecord(sample.file, at: try placeOfRecord("long")))
    let page = try sample.page(try #require(record.root))
    let node = try #require(page.nodes.first { $0.isBigValue })
    return (page.number * Self.pageSize, node.key.upperBound)
  }

  /// The place of the only page of lists of free pages, and its nodes in the order of their keys.
  private func listsOfFreePages() throws -> (page: Int, nodes: [Node]) {
    let page = try sample.page(try #require(try sample.newestMeta().freePages.root))
    try #require(!page.isBranch)
    return (page.number * Self.pageSize, page.nodes)
  }

  private func longListOfFreePages() throws -> (page: Int, node: Node) {
    let (page, nodes) = try listsOfFreePages()
    return (page, try #require(nodes.first { $0.valueByteCount > 24 && !$0.isBigValue }))
  }

  private func put<Number: FixedWidthInteger>(_ number: Number, at place: Int, _ file: inout [UInt8]) {
    for index in 0..<Number.bitWidth / 8 { file[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }

  private func copy(_ place: Int, to other: Int, _ file: inout [UInt8]) {
    (file[other], file[other + 1]) = (file[place], file[place + 1])
  }

  /// Makes the tree of a record one without pages.
  private func empty(_ record: Int, _ file: inout [UInt8]) {
    for place in 6..<40 { file[record + place] = 0 }
    for place in 40..<48 { file[record + place] = 0xFF }
  }

  /// Lets a node begin a byte later, at an odd place, and end where it did.
  private func moveByOne(_ node: Node, ofPageAt page: Int, _ file: inout [UInt8]) throws {
    let slot = try #require(
      stride(from: page + 16, to: page + node.start, by: 2).first {
        file.number(at: $0, as: UInt16.self) == UInt16(node.start)
      })
    let (start, key) = (page + node.start, Array(file[page + node.key.lowerBound..<page + node.key.upperBound]))
    put(UInt16(node.start + 1), at: slot, &file)
    put(UInt32(node.valueByteCount - 1), at: start + 1, &file)
    put(UInt16(0), at: start + 5, &file)
    put(UInt16(key.count), at: start + 7, &file)
    file.replaceSubrange(start + 9..<start + 9 + key.count, with: key)
  }

  private func place(_ file: [UInt8], in directory: TemporaryDirectory) throws -> FilePath {
    let path = directory.path.appending("data.mdb")
    try Data(file).write(to: URL(filePath: path.string))
    return path
  }

  private func check(_ change: (inout [UInt8]) throws -> Void) throws -> LMDBError? {
    var file = sample.file
    try change(&file)
    let directory = try TemporaryDirectory()
    let path = try place(file, in: directory)
    do throws(LMDBError) {
      try DataFile(path).checkStructure()
      return nil
    } catch {
      return error
    }
  }

  private func expect(
    _ code: LMDBError.Code, _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
    after change: (inout [UInt8]) throws -> Void
  ) throws {
    let error = try check(change)
    #expect(error?.code == code, "\(error.map { "\($0)" } ?? "sound")", sourceLocation: sourceLocation)
    let isSaid = words.isEmpty || error?.message.contains(words) == true
    #expect(isSaid, "\(error.map { "\($0)" } ?? "sound")", sourceLocation: sourceLocation)
  }

  private func expectSound(
    sourceLocation: SourceLocation = #_sourceLocation, after change: (inout [UInt8]) throws -> Void
  ) throws {
    let error = try check(change)
    #expect(error == nil, sourceLocation: sourceLocation)
  }
}
