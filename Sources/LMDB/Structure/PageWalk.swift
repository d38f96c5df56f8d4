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
    guard pages == tree.pages else { throw LMDBError.damagedTree("A tree has other pages than it counts") }
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
    // One in the page itself was checked with the page.
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
    else { throw LMDBError.damagedPage(first, "does not begin the long value that it should") }
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
    guard page.isBranch == (level > 1) else { throw LMDBError.damagedPage(number, "lies at a wrong depth") }
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
