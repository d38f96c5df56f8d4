/// Walks the trees of a data file by reading it, never through the map.
///
/// liblmdb believes every number in the file; one that is wrong makes it read or write anywhere. Here each page is
/// visited once at most and each number is checked before it is used, so that the walk ends whatever the file holds.
struct PageWalk {
  let reader: DataFileReader
  let meta: MetaPage
  /// How many whole pages the file has.
  let pageCount: Int
  private var visited = PageSet()
  /// The pages of the tree that is being walked, as far as they have been visited.
  private var pages = TreeRecord.PageCounts()

  /// Deeper trees do not occur: a page holds at least two entries.
  private static let maximumDepth = 32

  init(reader: DataFileReader, meta: MetaPage) throws {
    self.reader = reader
    self.meta = meta
    pageCount = try reader.sizeInBytes() / meta.pageSizeInBytes
  }

  /// Walks a tree and calls the body with each entry of its leaves.
  mutating func walk(
    _ tree: TreeRecord,
    order: KeyOrder = .bytes,
    _ body: (inout PageWalk, Page, Node) throws -> Void
  ) throws {
    guard let root = tree.root else {
      guard tree.entryCount == 0, tree.depth == 0, tree.pages == TreeRecord.PageCounts() else {
        throw LMDBError.damagedTree("A tree has entries or pages and no root")
      }
      return
    }
    guard (1...Self.maximumDepth).contains(tree.depth) else {
      throw LMDBError.damagedTree("A tree has an impossible depth")
    }
    let outerPages = pages
    pages = TreeRecord.PageCounts()
    defer { pages = outerPages }
    var entryCount: UInt64 = 0
    try descend(to: root, level: tree.depth, within: KeyLimits(), order) { walk, page, node in
      entryCount += 1
      try body(&walk, page, node)
    }
    guard entryCount == tree.entryCount else {
      throw LMDBError.damagedTree("A tree holds \(entryCount) entries and claims \(tree.entryCount)")
    }
    guard pages == tree.pages else { throw LMDBError.damagedTree("A tree has more or fewer pages than it counts") }
  }

  /// Marks a run of pages as used, and throws if one of them lies outside the file or is used already.
  mutating func claim(_ first: Int, count: Int = 1) throws(LMDBError) {
    assert(count > 0, "a claim of nothing")
    guard first >= 2, count <= pageCount - first, first + count - 1 <= meta.lastPage else {
      throw .damagedPage(first, "lies outside the file")
    }
    for number in first..<first + count {
      guard visited.insert(number) else { throw .damagedPage(number, "is in use twice") }
    }
  }

  /// The bytes of a node's value, wherever they lie; long ones have separate pages, which are claimed.
  mutating func value(of node: Node, in page: Page) throws -> [UInt8] {
    let start = node.key.upperBound
    if node.isBigValue {
      let first = try claimBigValue(of: node, in: page)
      return try reader.bytes(
        count: node.valueByteCount, at: first * meta.pageSizeInBytes + Page.headByteCount)
    }
    return Array(page.bytes[start..<start + node.valueByteCount])
  }

  /// Checks where a plain value lies, without reading it.
  mutating func checkValue(of node: Node, in page: Page) throws {
    // A value in the page itself was checked with the page.
    if node.isBigValue {
      _ = try claimBigValue(of: node, in: page)
    } else if node.isTree {
      throw LMDBError.damagedPage(page.number, "has the record of a tree where no tree can be")
    }
  }

  /// Claims the pages of a long value, and returns the first.
  private mutating func claimBigValue(of node: Node, in page: Page) throws -> Int {
    guard let first = page.bytes.number(at: node.key.upperBound, as: UInt64.self).flatMap({ Int(exactly: $0) }) else {
      throw LMDBError.damagedPage(page.number, "has a value that leaves the page")
    }
    let neededCount = (node.valueByteCount + Page.headByteCount - 1) / meta.pageSizeInBytes + 1
    guard first >= 2, first < pageCount else { throw LMDBError.damagedPage(first, "lies outside the file") }
    let head = try reader.bytes(count: Page.headByteCount, at: first * meta.pageSizeInBytes)
    // A value that has become shorter may keep the pages it had.
    guard head.number(at: 0, as: UInt64.self) == UInt64(first),
      head.number(at: 10, as: UInt16.self) == Page.overflowFlag,
      let count = head.number(at: 12, as: UInt32.self).map(Int.init), count >= neededCount
    else { throw LMDBError.damagedPage(first, "does not begin the long value that a record expects there") }
    try claim(first, count: count)
    pages.overflow += UInt64(count)
    return first
  }

  private mutating func descend(
    to number: Int,
    level: Int,
    within limits: KeyLimits,
    _ order: KeyOrder,
    _ body: (inout PageWalk, Page, Node) throws -> Void
  ) throws {
    try claim(number)
    let bytes = try reader.bytes(count: meta.pageSizeInBytes, at: number * meta.pageSizeInBytes)
    let page = try Page(number: number, bytes: bytes)
    guard page.isBranch == (level > 1) else { throw LMDBError.damagedPage(number, "is at the wrong depth") }
    if page.isBranch { pages.branch += 1 } else { pages.leaf += 1 }
    for (index, node) in page.nodes.enumerated() {
      let next = index + 1 < page.nodes.count ? page.nodes[index + 1] : nil
      let isFirstOfBranch = page.isBranch && index == 0
      if !isFirstOfBranch { try limits.check(page.bytes[node.key], order, in: number) }
      if let next, !isFirstOfBranch, !order.areInOrder(page.bytes[node.key], page.bytes[next.key]) {
        throw LMDBError.damagedPage(number, "has two keys that are equal or in a wrong order")
      }
      if page.isBranch {
        let inner = KeyLimits(
          lower: isFirstOfBranch ? limits.lower : page.bytes[node.key],
          upper: next.map { page.bytes[$0.key] } ?? limits.upper)
        try descend(to: node.child, level: level - 1, within: inner, order, body)
      } else {
        try body(&self, page, node)
      }
    }
  }
}

/// The keys of the pages above, between which those of a page must lie.
private struct KeyLimits {
  /// Included.
  var lower: ArraySlice<UInt8>?
  /// Excluded.
  var upper: ArraySlice<UInt8>?

  func check(_ key: ArraySlice<UInt8>, _ order: KeyOrder, in page: Int) throws(LMDBError) {
    if let lower, order.areInOrder(key, lower) { throw .damagedPage(page, "has a key that belongs before it") }
    if let upper, !order.areInOrder(key, upper) { throw .damagedPage(page, "has a key that belongs after it") }
  }
}

/// A set of page numbers, which takes memory only where there are some: a file may claim to be of any length.
private struct PageSet {
  /// The pages `64 * key` to `64 * key + 63`, one bit each.
  private var words: [Int: UInt64] = [:]

  /// Adds a page; false if it was there.
  mutating func insert(_ number: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(number % UInt64.bitWidth)
    let word = words[number / UInt64.bitWidth, default: 0]
    words[number / UInt64.bitWidth] = word | bit
    return word & bit == 0
  }
}

extension PageWalk {
  /// Calls the body with every page in liblmdb's tree of free pages.
  ///
  /// Each entry of the tree is a list of page numbers that begins with its length. Its key is the number of a commit: one
  /// that freed its pages, or an earlier one. The list descends, as liblmdb merges lists without sorting them. It fills
  /// its room exactly, or is empty, because some of the room that liblmdb reserves in a commit may stay unused.
  mutating func forEachFreePage(_ body: (inout PageWalk, Int) throws -> Void) throws {
    let numberByteCount = MemoryLayout<UInt64>.size
    try walk(meta.freePages, order: .integers) { walk, page, node in
      guard node.key.count == numberByteCount,
        let key = Array(page.bytes[node.key]).number(at: 0, as: UInt64.self), key > 0, key <= walk.meta.transactionID
      else { throw LMDBError.damagedPage(page.number, "has a list of free pages of an impossible commit") }
      guard !node.isTree else { throw LMDBError.damagedPage(page.number, "has a tree among lists of free pages") }
      let list = try walk.value(of: node, in: page)
      guard let count = list.number(at: 0, as: UInt64.self), list.count % numberByteCount == 0,
        count == 0 || count == UInt64(list.count / numberByteCount - 1)
      else {
        throw LMDBError.damagedPage(page.number, "has a list of free pages whose length is not the one that it names")
      }
      var previous = Int.max
      for index in 0..<Int(count) {
        let number = list.number(at: numberByteCount * (index + 1), as: UInt64.self).flatMap { Int(exactly: $0) }
        guard let number, number >= 2, number <= walk.meta.lastPage, number < previous else {
          throw LMDBError.damagedPage(page.number, "lists a free page that cannot be free")
        }
        previous = number
        try body(&walk, number)
      }
    }
  }
}

extension DataFile {
  /// Checks every page that the last commit needs: where it lies, of what kind it is, that its keys ascend, that its
  /// entries fill their room and that nothing is used twice; values are not examined.
  ///
  /// This is for a file that nobody writes, before liblmdb is trusted with it; for an open environment use
  /// ``LMDBEnvironment/checkStructure()``.
  ///
  /// Throws `corrupted` with a message that says what is wrong and where; `invalidFile` for a file of another kind;
  /// `noSuchFile`, `permissionDenied`, `ioFailure`.
  ///
  /// - Complexity: the pages in use are read once; about one bit of memory per page.
  package func checkStructure() throws(LMDBError) {
    guard try kind() == .environment else { throw LMDBError(.invalidFile, operation: "check the file") }
    try reading { reader in try Self.checkStructure(of: reader, from: MetaPage.latest(of: reader)) }
  }

  /// Checks every page that a meta page leads to.
  fileprivate static func checkStructure(of reader: DataFileReader, from meta: MetaPage) throws {
    guard meta.version == MetaPage.knownVersion else {
      throw LMDBError(.versionMismatch, operation: "check the file")
    }
    guard meta.hasSoundFlags else {
      throw LMDBError.damagedTree("The first pages of the file name trees of another kind")
    }
    var walk = try PageWalk(reader: reader, meta: meta)
    try walk.walk(meta.names) { walk, page, node in
      // Under the names, the binding stores nothing but records of trees.
      guard node.isTree, node.valueByteCount == TreeRecord.byteCount,
        let tree = TreeRecord(page.bytes, at: node.key.upperBound)
      else { throw LMDBError.damagedPage(page.number, "has a name without the record of a tree") }
      guard tree.flags == 0 else { throw LMDBError.damagedPage(page.number, "names a tree of another kind") }
      try walk.walk(tree) { walk, page, node in try walk.checkValue(of: node, in: page) }
    }
    var beyondEnd: Set<Int> = []
    try walk.forEachFreePage { walk, number in
      if number < walk.pageCount {
        try walk.claim(number)
      } else if !beyondEnd.insert(number).inserted {
        throw LMDBError.damagedPage(number, "is free twice")
      }
    }
    guard beyondEnd.count == max(0, meta.lastPage + 1 - walk.pageCount) else {
      throw LMDBError.damagedTree("The end of the file is missing")
    }
  }
}

extension LMDBEnvironment {
  /// Checks every page that an acknowledged snapshot needs, while readers and writers continue.
  ///
  /// The check is a long reader: pages freed meanwhile cannot be used again until it is done.
  ///
  /// Throws what ``DataFile/checkStructure()`` throws, and what ``beginRead()`` throws.
  package func checkStructure() throws(LMDBError) {
    guard try DataFile(dataFile).kind() == .environment else {
      throw LMDBError(.invalidFile, operation: "check the file")
    }
    try withSnapshotPage { reader, page in try DataFile.checkStructure(of: reader, from: page) }
  }
}
