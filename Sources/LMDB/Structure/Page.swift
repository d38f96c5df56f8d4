/// One page of a tree, read from the file and checked before anything in it is trusted.
struct Page {
  let number: Int
  let bytes: [UInt8]
  let isBranch: Bool
  /// How many nodes the page holds.
  let count: Int

  static let headByteCount = 16
  private static let branchFlag: UInt16 = 0x01
  private static let leafFlag: UInt16 = 0x02
  static let overflowFlag: UInt16 = 0x04

  init(number: Int, bytes: [UInt8]) throws(LMDBError) {
    guard let flags = bytes.number(at: 10, as: UInt16.self), let lower = bytes.number(at: 12, as: UInt16.self),
      let upper = bytes.number(at: 14, as: UInt16.self)
    else { throw .damagedPage(number, "is cut off") }
    guard bytes.number(at: 0, as: UInt64.self) == UInt64(number) else {
      throw .damagedPage(number, "bears another number")
    }
    guard flags == Self.branchFlag || flags == Self.leafFlag else {
      throw .damagedPage(number, "is of no kind that a tree has")
    }
    // liblmdb counts the nodes by the end of their offsets, and puts the nodes themselves at the end of the page.
    guard lower >= Self.headByteCount, lower % 2 == 0, lower <= upper, Int(upper) <= bytes.count else {
      throw .damagedPage(number, "claims more room than it has")
    }
    self.number = number
    self.bytes = bytes
    isBranch = flags == Self.branchFlag
    count = (Int(lower) - Self.headByteCount) / 2
    guard count > 0 else { throw .damagedPage(number, "holds nothing") }
  }

  /// The node with an index below `count`.
  func node(at index: Int) throws(LMDBError) -> Node {
    assert((0..<count).contains(index), "no such node")
    let slot = Self.headByteCount + 2 * index
    guard let start = bytes.number(at: slot, as: UInt16.self).map(Int.init), start >= Self.headByteCount,
      let low = bytes.number(at: start, as: UInt32.self), let flags = bytes.number(at: start + 4, as: UInt16.self),
      let keyByteCount = bytes.number(at: start + 6, as: UInt16.self).map(Int.init)
    else { throw .damagedPage(number, "names a node outside itself") }
    let keyStart = start + Node.headByteCount
    let key = keyStart..<keyStart + keyByteCount
    // The first key of a branch stands for everything before the second and is empty.
    let isKeyWanted = !isBranch || index > 0
    guard key.upperBound <= bytes.count, keyByteCount <= LMDBLimits.keySizeInBytes, keyByteCount > 0 || !isKeyWanted
    else { throw .damagedPage(number, "has a key of an impossible length") }
    return Node(key: key, low: Int(low), flags: flags)
  }
}

/// One entry of a page: in a leaf a key with its value, in a branch a key with the page below.
struct Node {
  static let headByteCount = 8
  private static let bigValueFlag: UInt16 = 0x01
  private static let treeFlag: UInt16 = 0x02

  /// Where the key lies in the page.
  let key: Range<Int>
  /// The value's length in a leaf; the low part of the page's number in a branch.
  let low: Int
  let flags: UInt16

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

/// What liblmdb records about a tree: in a meta page for its own two, in the tree of names for the others.
struct TreeRecord {
  static let byteCount = 48

  let flags: UInt16
  let depth: Int
  let entryCount: UInt64
  /// `nil` for an empty tree.
  let root: Int?

  init?(_ bytes: [UInt8], at offset: Int) {
    guard let flags = bytes.number(at: offset + 4, as: UInt16.self),
      let depth = bytes.number(at: offset + 6, as: UInt16.self),
      let entryCount = bytes.number(at: offset + 32, as: UInt64.self),
      let root = bytes.number(at: offset + 40, as: UInt64.self)
    else { return nil }
    self.flags = flags
    self.depth = Int(depth)
    self.entryCount = entryCount
    // All ones mean that there is none; any other number that does not fit an `Int` is outside every file.
    self.root = root == .max ? nil : Int(exactly: root) ?? .max
  }
}

extension LMDBError {
  static func damagedPage(_ number: Int, _ what: String) -> LMDBError {
    LMDBError(.corrupted, operation: "check the file", message: "Page \(number) of the file \(what)")
  }

  static func damagedTree(_ what: String) -> LMDBError {
    LMDBError(.corrupted, operation: "check the file", message: what)
  }
}
