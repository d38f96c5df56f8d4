package import SystemPackage
import TallySystem

/// The bytes of an environment's file, examined before liblmdb is trusted with the file.
///
/// liblmdb turns an empty file into an environment, and believes the length that a file claims: reading a page that is
/// cut off kills the process.
package struct DataFile: Sendable {
  /// The kind of a file, by its first bytes.
  package enum Kind: Sendable {
    /// No bytes at all.
    case empty
    /// Something other than an environment.
    case foreign
    /// The beginning of an environment, too short for its first two pages.
    case cutShort
    /// An environment, as far as its first bytes show.
    case environment
  }

  /// The file's path.
  package let path: FilePath

  /// Creates a value for the path of the file itself; nothing is opened.
  package init(_ path: FilePath) {
    self.path = path
  }

  /// Names the file of the environment in a directory; nothing is opened.
  package init(inDirectory directory: FilePath) {
    path = directory.appending(LMDBEnvironment.dataFileName)
  }

  /// The kind of the file.
  ///
  /// Throws `noSuchFile`, `permissionDenied`, `ioFailure`; `corrupted` if the first page is not that of an environment but
  /// later pages are, or if the first two disagree on the size of a page: liblmdb takes it from the newer one, and would look
  /// for the other beyond the file's end.
  package func kind() throws(LMDBError) -> Kind {
    try reading { reader in
      let sizeInBytes = try reader.sizeInBytes()
      if sizeInBytes == 0 { return .empty }
      let head = try reader.bytes(count: MetaPage.byteCount, at: 0)
      guard head.isPrefixOfMetaPage else {
        if try reader.hasLaterPages() {
          throw LMDBError.damagedPage(0, "is not the first page of a file that the other pages need")
        }
        return .foreign
      }
      guard let meta = MetaPage(head) else { return .cutShort }
      guard sizeInBytes >= 2 * meta.pageSizeInBytes else { return .cutShort }
      let second = MetaPage(try reader.bytes(count: MetaPage.byteCount, at: meta.pageSizeInBytes))
      guard second?.pageSizeInBytes == meta.pageSizeInBytes else {
        throw LMDBError.damagedPage(1, "does not agree with the first one on the size of a page")
      }
      return .environment
    }
  }

  /// Opens the file for the time of a body.
  func reading<R>(_ body: (DataFileReader) throws -> R) throws(LMDBError) -> R {
    try LMDBError.translating("look at the file") {
      let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
      // Nothing was written, so closing has nothing to report.
      defer { try? descriptor.close() }
      return try body(DataFileReader(descriptor: descriptor))
    }
  }
}

extension DataFileReader {
  /// The possible sizes of a page.
  private static let pageSizes = (9...16).map { 1 << $0 }
  /// How many pages are examined for each of these sizes.
  private static let pageCount = 64

  /// Whether a later page belongs to an environment: each page of one begins with its own number.
  fileprivate func hasLaterPages() throws -> Bool {
    for size in Self.pageSizes {
      if let second = MetaPage(try bytes(count: MetaPage.byteCount, at: size)), second.pageSizeInBytes == size {
        return true
      }
      for number in 2..<Self.pageCount {
        let head = try bytes(count: Page.headByteCount, at: number * size)
        if head.number(at: 0, as: UInt64.self) == UInt64(number), Page.isKnownKind(head) { return true }
      }
    }
    return false
  }
}

/// Reads an open file at any place.
struct DataFileReader {
  let descriptor: FileDescriptor

  func sizeInBytes() throws -> Int {
    Int(try descriptor.stat().size)
  }

  /// The bytes at a place; fewer where the file ends.
  func bytes(count: Int, at offset: Int) throws -> [UInt8] {
    assert(count >= 0 && offset >= 0, "a number of the file was not checked")
    return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        // Reads into the rest of the array's own memory.
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let readCount = try unsafe descriptor.read(fromAbsoluteOffset: Int64(offset + filled), into: rest)
        if readCount == 0 { return }
        filled += readCount
      }
    }
  }
}

extension [UInt8] {
  /// The number at a place; `nil` where the bytes end before it does.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as: Number.Type) -> Number? {
    guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
    // In bounds by the line above; every bit pattern is an integer.
    return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }

  /// Whether the magic number is where it should be, as far as the bytes go.
  var isPrefixOfMetaPage: Bool {
    // The bytes in the order in which this machine stores them.
    let stored = MetaPage.magic.littleEndian
    let magic = (0..<4).map { UInt8(truncatingIfNeeded: stored >> (8 * $0)) }
    return zip(dropFirst(MetaPage.headByteCount), magic).allSatisfy { $0 == $1 }
  }
}

/// The fields of liblmdb's first pages that matter here, in the machine's own byte order as they are stored.
struct MetaPage {
  static let headByteCount = 16
  static let byteCount = headByteCount + 136
  static let magic: UInt32 = 0xBEEF_C0DE
  /// The version of liblmdb's format that its 0.9 releases write.
  static let knownVersion: UInt32 = 1
  private static let pageFlag: UInt16 = 0x08
  /// The flag of the tree of free pages, whose keys are integers (`MDB_INTEGERKEY`).
  private static let integerKeysFlag: UInt16 = 0x08
  /// The flag that a copy of a file without a directory also stores there (`MDB_NOSUBDIR`).
  private static let lacksDirectoryFlag: UInt16 = 0x4000

  /// Whether the page says of itself that it is one of the first two (`P_META`).
  let isMarked: Bool
  let version: UInt32
  let pageSizeInBytes: Int
  /// The tree of free pages.
  let freePages: TreeRecord
  /// The tree with the names of all other trees.
  let names: TreeRecord
  let lastPage: Int
  let transactionID: UInt64

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.byteCount, bytes.isPrefixOfMetaPage, let pageSize = bytes.number(at: 40, as: UInt32.self),
      let version = bytes.number(at: 20, as: UInt32.self), let freePages = TreeRecord(bytes, at: 40),
      let names = TreeRecord(bytes, at: 88), let last = bytes.number(at: 136, as: UInt64.self),
      let transactionID = bytes.number(at: 144, as: UInt64.self), let lastPage = Int(exactly: last),
      (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1, lastPage < Int.max >> 17
    else { return nil }
    isMarked = bytes.number(at: 10, as: UInt16.self).map { $0 & Self.pageFlag != 0 } ?? false
    pageSizeInBytes = Int(pageSize)
    self.version = version
    self.freePages = freePages
    self.names = names
    self.lastPage = lastPage
    self.transactionID = transactionID
  }
}

extension MetaPage {
  /// The bytes with which a meta page begins.
  static func head(ofPage number: Int) -> [UInt8] {
    var head = UInt64(number).storedBytes + [UInt8](repeating: 0, count: headByteCount - 8)
    head[10] = UInt8(pageFlag)
    return head
  }

  /// Whether liblmdb's own two trees have the flags that they always have.
  var hasSoundFlags: Bool {
    freePages.flags & ~Self.lacksDirectoryFlag == Self.integerKeysFlag && names.flags == 0
  }

  /// How many times the two pages are read while commits change them.
  private static let maximumAttempts = 100

  /// The newer one of the two first pages, which commits write in turn.
  ///
  /// Commit `n` writes page `n % 2`, and liblmdb looks for it there. So the numbers of a sound file are consecutive,
  /// and each lies on its own page; the first commit of a new file follows two zeros. Anything else is damage: liblmdb
  /// would take an older commit for the last one, or a page that no commit wrote.
  ///
  /// Not every wrong number can be noticed. If the number of the last commit is lower by two, or the other number
  /// higher by two, the file looks as it does after a commit whose last step failed.
  ///
  /// Throws `corrupted`.
  static func latest(of reader: DataFileReader) throws -> MetaPage {
    try latest { try consistentLatest(of: reader) }
  }

  /// The page that a look at the two pages finds, as soon as they are consistent.
  static func latest(_ look: () throws -> MetaPage?) throws -> MetaPage {
    var attempt = 1
    while true {
      if let latest = try look() { return latest }
      // A commit may have come between the two reads or during one of them. Damage would stay.
      guard attempt < maximumAttempts else { throw LMDBError.foreignMetaPages }
      if attempt > 1 { pause(microseconds: 200) }
      attempt += 1
    }
  }

  /// The page of a commit, if it is the last commit or the one before; `nil` if a later commit has overwritten it, or
  /// if the two pages are not those of two consecutive commits.
  static func page(ofSnapshot number: UInt64, in reader: DataFileReader) throws -> MetaPage? {
    guard let (first, second) = try consistentPages(of: reader) else { return nil }
    return [first, second].first { $0.transactionID == number }
  }

  private static func consistentLatest(of reader: DataFileReader) throws -> MetaPage? {
    guard let (first, second) = try consistentPages(of: reader) else { return nil }
    return first.transactionID > second.transactionID ? first : second
  }

  /// The two pages, if their numbers are consecutive and each lies in its own place.
  private static func consistentPages(of reader: DataFileReader) throws -> (MetaPage, MetaPage)? {
    guard let first = MetaPage(try reader.bytes(count: byteCount, at: 0)),
      let second = MetaPage(try reader.bytes(count: byteCount, at: first.pageSizeInBytes)),
      first.pageSizeInBytes == second.pageSizeInBytes, first.version == second.version,
      first.isMarked, second.isMarked
    else { return nil }
    let (even, odd) = (first.transactionID, second.transactionID)
    if even == 0 && odd == 0 { return (first, second) }
    guard even % 2 == 0, max(even, odd) - min(even, odd) == 1 else { return nil }
    return (first, second)
  }
}

extension LMDBError {
  static let foreignMetaPages = LMDBError.damagedTree(
    "The first two pages of the file are not those of two consecutive commits")
}

/// One page of a tree, read from the file and checked before anything in it is trusted.
struct Page {
  let number: Int
  let bytes: [UInt8]
  let isBranch: Bool
  /// The nodes, in the order of their keys; at least one.
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
      throw .damagedPage(number, "has the number of another page")
    }
    guard flags == Self.branchFlag || flags == Self.leafFlag else {
      throw .damagedPage(number, "is not of a kind that a tree has")
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

  /// The offset of the node in the page.
  let start: Int
  /// The range of the key in the page.
  let key: Range<Int>
  /// The value's length in a leaf; the low part of the page's number in a branch.
  let low: Int
  let flags: UInt16
  let isInBranch: Bool

  /// The offset at which the next node may begin: liblmdb gives each an even number of bytes.
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

/// liblmdb's record of a tree: in a meta page for its own two trees, in the tree of names for all others.
struct TreeRecord {
  static let byteCount = 48

  let flags: UInt16
  let depth: Int
  let entryCount: UInt64
  let pages: PageCounts
  /// `nil` for an empty tree.
  let root: Int?

  /// How many pages of each kind a tree has.
  struct PageCounts: Hashable {
    var branch: UInt64 = 0
    var leaf: UInt64 = 0
    var overflow: UInt64 = 0
  }

  init?(_ bytes: [UInt8], at offset: Int) {
    guard let flags = bytes.number(at: offset + 4, as: UInt16.self),
      let depth = bytes.number(at: offset + 6, as: UInt16.self),
      let branch = bytes.number(at: offset + 8, as: UInt64.self),
      let leaf = bytes.number(at: offset + 16, as: UInt64.self),
      let overflow = bytes.number(at: offset + 24, as: UInt64.self),
      let entryCount = bytes.number(at: offset + 32, as: UInt64.self),
      let root = bytes.number(at: offset + 40, as: UInt64.self)
    else { return nil }
    self.flags = flags
    self.depth = Int(depth)
    self.entryCount = entryCount
    pages = PageCounts(branch: branch, leaf: leaf, overflow: overflow)
    // All ones mean that there is none; any other number that does not fit an `Int` is outside every file.
    self.root = root == .max ? nil : Int(exactly: root) ?? .max
  }
}
