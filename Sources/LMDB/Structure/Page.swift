/// One page of a tree, read from the file and checked before anything in it is trusted.
struct Page {
  let number: Int
  let bytes: [UInt8]
  let isBranch: Bool
  /// In the order of their keys; at least one.
  let nodes: [Node]

  static let headByteCount = 16
  private static let branchFlag: UInt16 = 0x01
  private static let leafFlag: UInt16 = 0x02
  static let overflowFlag: UInt16 = 0x04

  /// Whether the head of a page says that it is a branch, a leaf or the beginning of a long value.
  static func isKnownKind(_ head: [UInt8]) -> Bool {
    head.number(at: 10, as: UInt16.self).map { [branchFlag, leafFlag, overflowFlag].contains($0) } ?? false
  }

  init(number: Int, bytes: [UInt8]) throws(LMDBError) {
    guard let flags = bytes.number(at: 10, as: UInt16.self),
      let lower = bytes.number(at: 12, as: UInt16.self).map(Int.init),
      let upper = bytes.number(at: 14, as: UInt16.self).map(Int.init)
    else { throw .damagedPage(number, "is cut off") }
    guard bytes.number(at: 0, as: UInt64.self) == UInt64(number) else {
      throw .damagedPage(number, "bears another number")
    }
    guard flags == Self.branchFlag || flags == Self.leafFlag else {
      throw .damagedPage(number, "is of no kind that a tree has")
    }
    // liblmdb counts the nodes by the end of their offsets, and puts the nodes themselves at the end of the page.
    guard lower >= Self.headByteCount, lower % 2 == 0, lower <= upper, upper <= bytes.count else {
      throw .damagedPage(number, "claims more room than it has")
    }
    guard lower > Self.headByteCount else { throw .damagedPage(number, "holds nothing") }
    self.number = number
    self.bytes = bytes
    isBranch = flags == Self.branchFlag
    var nodes: [Node] = []
    nodes.reserveCapacity((lower - Self.headByteCount) / 2)
    for slot in stride(from: Self.headByteCount, to: lower, by: 2) {
      // The first key of a branch stands for everything before the second, and is empty.
      let isKeyWanted = flags == Self.leafFlag || slot > Self.headByteCount
      nodes.append(try Self.node(at: slot, isBranch: flags == Self.branchFlag, isKeyWanted, in: bytes, number))
    }
    self.nodes = nodes
    try Self.checkTiling(nodes, from: upper, in: bytes, number)
  }

  private static func node(
    at slot: Int, isBranch: Bool, _ isKeyWanted: Bool, in bytes: [UInt8], _ number: Int
  ) throws(LMDBError) -> Node {
    guard let start = bytes.number(at: slot, as: UInt16.self).map(Int.init), start >= headByteCount,
      let low = bytes.number(at: start, as: UInt32.self), let flags = bytes.number(at: start + 4, as: UInt16.self),
      let keyByteCount = bytes.number(at: start + 6, as: UInt16.self).map(Int.init)
    else { throw .damagedPage(number, "names a node outside itself") }
    let keyStart = start + Node.headByteCount
    let node = Node(
      start: start, key: keyStart..<keyStart + keyByteCount, low: Int(low), flags: flags, isInBranch: isBranch)
    guard node.key.upperBound <= bytes.count, keyByteCount <= LMDBLimits.keySizeInBytes,
      keyByteCount > 0 || !isKeyWanted
    else { throw .damagedPage(number, "has a key of an impossible length") }
    guard isBranch || node.isPlainValue || node.isBigValue || node.isTree else {
      throw .damagedPage(number, "has a value of no known kind")
    }
    return node
  }

  /// Checks that the nodes fill the end of the page without a gap and without sharing a byte.
  ///
  /// liblmdb never leaves a gap: it moves the other nodes when one goes, and takes the room below all of them for the
  /// next. A node outside, or room that is counted wrongly, would let it write over other nodes.
  private static func checkTiling(
    _ nodes: [Node], from upper: Int, in bytes: [UInt8], _ number: Int
  ) throws(LMDBError) {
    // The end of the node that begins at each even offset; zero where none does.
    var ends = [Int](repeating: 0, count: bytes.count / 2)
    for node in nodes {
      guard node.start % 2 == 0, ends[node.start / 2] == 0, node.end <= bytes.count else {
        throw .damagedPage(number, "has nodes that overlap or leave the page")
      }
      ends[node.start / 2] = node.end
    }
    var (place, count) = (upper, 0)
    while place < bytes.count {
      guard place % 2 == 0, ends[place / 2] > place else {
        throw .damagedPage(number, "has nodes that do not fill their room")
      }
      (place, count) = (ends[place / 2], count + 1)
    }
    guard count == nodes.count else { throw .damagedPage(number, "has nodes that overlap") }
  }
}

/// One entry of a page: in a leaf a key with its value, in a branch a key with the page below.
struct Node {
  static let headByteCount = 8
  private static let bigValueFlag: UInt16 = 0x01
  private static let treeFlag: UInt16 = 0x02
  /// The number of the page on which a big value begins.
  private static let pageNumberByteCount = 8

  /// Where the node lies in the page.
  let start: Int
  /// Where the key lies in the page.
  let key: Range<Int>
  /// The value's length in a leaf; the low part of the page's number in a branch.
  let low: Int
  let flags: UInt16
  let isInBranch: Bool

  /// Where the next node may begin: liblmdb gives each an even number of bytes.
  var end: Int {
    let valueEnd = key.upperBound + (isInBranch ? 0 : isBigValue ? Self.pageNumberByteCount : valueByteCount)
    return valueEnd + valueEnd % 2
  }

  var child: Int { low | Int(flags) << 32 }
  /// Whether the value lies on separate pages, the first of which the node names.
  var isBigValue: Bool { flags == Self.bigValueFlag }
  /// Whether the value is the record of another tree.
  var isTree: Bool { flags == Self.treeFlag }
  var isPlainValue: Bool { flags == 0 }
  var valueByteCount: Int { low }
}

/// How a tree compares its keys.
enum KeyOrder {
  /// Byte by byte, like all trees of this binding.
  case bytes
  /// As integers of the machine, like the tree of free pages.
  case integers

  func areInOrder(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .bytes: left.lexicographicallyPrecedes(right)
    case .integers:
      (Array(left).number(at: 0, as: UInt64.self) ?? 0) < (Array(right).number(at: 0, as: UInt64.self) ?? 0)
    }
  }
}

extension LMDBError {
  static func damagedPage(_ number: Int, _ what: String) -> LMDBError {
    damagedTree("Page \(number) of the file \(what)")
  }

  static func damagedTree(_ what: String) -> LMDBError {
    LMDBError(.corrupted, operation: "check the file", message: what, remedy: "Restore a backup")
  }
}
