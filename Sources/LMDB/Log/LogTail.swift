import Synchronization

/// The changes of a few hundred commits, sorted by key: one part of the changes that the tree does not have yet.
///
/// One thread adds, while any number of threads read. Each table is a skip list; the versions of a key follow each
/// other, newest first. A write that is aborted takes its versions out; their memory is freed with the part.
@safe
final class LogTail: @unchecked Sendable {
  /// The part has the commits after this one.
  let from: UInt64
  /// The last commit of the part; guarded by the owner of the part.
  var end: UInt64
  private let numbers: TableNumbers
  private let tablesByNumber = Mutex<[LogTable?]>([])

  private static let chunkByteCount = 1 << 16
  private static let highest = 8
  // Memory of the nodes, freed with this object; only the thread that adds takes room from it.
  private var chunks = unsafe [UnsafeMutableRawPointer]()
  private var freeByteCount = 0
  private var place = unsafe UnsafeMutableRawPointer?.none
  private var heights = SplitNumbers()
  /// How many bytes the nodes take; for the thread that adds.
  private(set) var byteCount = 0

  /// Creates a part without commits.
  init(from: UInt64, _ numbers: TableNumbers) {
    self.from = from
    self.numbers = numbers
    end = from
  }

  deinit {
    // Nobody refers to the part, and so to its nodes. They have no owner of their own.
    unsafe chunks.forEach { unsafe $0.deallocate() }
  }

  /// Adds the changes of a commit; the caller raises ``end``.
  func add(_ changes: LogChanges, of commit: UInt64) throws(LMDBError) {
    // Read within the call only.
    try unsafe changes.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      var known: (name: String, table: LogTable)?
      try changes.forEach { (change) throws(LMDBError) in
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[change.key])
        let value = unsafe change.value.map { unsafe UnsafeRawBufferPointer(rebasing: bytes[$0]) }
        let table = if let known, known.name == change.table { known.table } else { table(named: change.table) }
        known = (change.table, table)
        unsafe table.insert(key) { _ in unsafe node(key, value, commit) }
      }
    }
  }

  /// Adds an entry of a commit, whose value is written before anybody else reads it.
  ///
  /// If `mayUseAgain` is true, it reuses the room of the newest version, provided that commit and length are the same.
  func reserve(
    _ valueCount: Int, for key: UnsafeRawBufferPointer, in table: LogTable, of commit: UInt64, mayUseAgain: Bool
  ) -> (node: LogNode, isNew: Bool) {
    unsafe table.insert(key) { newest in
      if mayUseAgain, let newest, newest.commit == commit, !newest.isRemoval, newest.valueCount == valueCount {
        return nil
      }
      return unsafe node(key, valueCount: valueCount, commit, isRemoval: false)
    }
  }

  /// Adds the removal of a key.
  func remove(_ key: UnsafeRawBufferPointer, in table: LogTable, of commit: UInt64) -> LogNode {
    unsafe table.insert(key) { _ in unsafe node(key, valueCount: 0, commit, isRemoval: true) }.node
  }

  /// The tables, by number.
  var tables: [LogTable?] { tablesByNumber.withLock { $0 } }

  /// The table with a name; makes it if there is none.
  func table(named name: String) -> LogTable { table(numbers.number(of: name)) }

  /// The table with a number; makes it if there is none.
  func table(_ number: Int) -> LogTable {
    if let table = tablesByNumber.withLock({ number < $0.count ? $0[number] : nil }) { return table }
    // A head is a node without a key, as high as the highest node.
    let head = makeNode(keyCount: 0, valueCount: 0, height: Self.highest)
    let table = LogTable(numbers.name(of: number), head: head)
    tablesByNumber.withLock { tables in
      while tables.count <= number { tables.append(nil) }
      tables[number] = table
    }
    return table
  }

  private func node(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ commit: UInt64) -> LogNode {
    let node = unsafe node(key, valueCount: value?.count ?? 0, commit, isRemoval: value == nil)
    // Nobody else has the node before it is linked.
    if let value = unsafe value { unsafe UnsafeMutableRawBufferPointer(mutating: node.value).copyMemory(from: value) }
    return node
  }

  private func node(
    _ key: UnsafeRawBufferPointer, valueCount: Int, _ commit: UInt64, isRemoval: Bool
  ) -> LogNode {
    var (height, number) = (1, heights.next())
    while height < Self.highest, number & 3 == 0 {
      height += 1
      number >>= 2
    }
    // Nobody else has the node before it is linked.
    let node = makeNode(keyCount: key.count, valueCount: valueCount, height: height)
    node.setHead(commit: commit, isRemoval: isRemoval)
    unsafe UnsafeMutableRawBufferPointer(mutating: node.key).copyMemory(from: key)
    return node
  }

  private func makeNode(keyCount: Int, valueCount: Int, height: Int) -> LogNode {
    let count = (LogNode.byteCount(keyCount, valueCount, height) + 7) & ~7
    if count > freeByteCount {
      let size = max(count, Self.chunkByteCount)
      // Freed by `deinit`.
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      unsafe chunks.append(chunk)
      unsafe place = chunk
      freeByteCount = size
    }
    // The lines above have made room.
    let base = unsafe place.unsafelyUnwrapped
    unsafe place = base + count
    freeByteCount -= count
    byteCount += count
    return unsafe LogNode(initializing: base, keyCount: keyCount, valueCount: valueCount, height: height)
  }
}

/// Numbers for the heights of nodes; any that are spread evenly will do.
private struct SplitNumbers {
  private var state: UInt64 = 0

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return state.mixed
  }
}

/// A version of a key: a node of a skip list.
///
/// | bytes | content |
/// | --- | --- |
/// | 0–7 | the commit |
/// | 8–11 | the length of the value |
/// | 12–13 | the length of the key |
/// | 14 | the height |
/// | 15 | 1 if the key is removed; 2 more if the write that made the version has made a newer one |
/// | then | as many links as the height says, the key, the value |
@safe
struct LogNode: Equatable, @unchecked Sendable {
  typealias Link = Atomic<UnsafeMutableRawPointer?>

  // Memory of the tail's part, whose owner keeps it as long as anybody has the node.
  let base: UnsafeMutableRawPointer
  private static let headByteCount = 16
  /// How many bytes most nodes have in addition to key and value.
  static let usualByteCount = 32

  fileprivate static func byteCount(_ keyCount: Int, _ valueCount: Int, _ height: Int) -> Int {
    // Only the type is unsafe.
    unsafe headByteCount + height * MemoryLayout<Link>.stride + keyCount + valueCount
  }

  fileprivate init(_ base: UnsafeMutableRawPointer) {
    unsafe self.base = base
  }

  /// Makes a node without links in memory that has room for it.
  fileprivate init(initializing base: UnsafeMutableRawPointer, keyCount: Int, valueCount: Int, height: Int) {
    unsafe self.base = base
    // All in the room that the caller has reserved.
    unsafe base.storeBytes(of: 0, as: UInt64.self)
    unsafe base.storeBytes(of: UInt32(valueCount), toByteOffset: 8, as: UInt32.self)
    unsafe base.storeBytes(of: UInt16(keyCount), toByteOffset: 12, as: UInt16.self)
    unsafe base.storeBytes(of: UInt8(height), toByteOffset: 14, as: UInt8.self)
    unsafe base.storeBytes(of: 0, toByteOffset: 15, as: UInt8.self)
    for level in 0..<height { unsafe link(level).initialize(to: Link(nil)) }
  }

  fileprivate func setHead(commit: UInt64, isRemoval: Bool) {
    // The node's own bytes, before anybody else has it.
    unsafe base.storeBytes(of: commit, as: UInt64.self)
    unsafe base.storeBytes(of: isRemoval ? 1 : 0, toByteOffset: 15, as: UInt8.self)
  }

  // The bytes below do not change once a snapshot sees the node.
  var commit: UInt64 { unsafe base.load(as: UInt64.self) }
  private var flags: UInt8 { unsafe base.load(fromByteOffset: 15, as: UInt8.self) }
  var isRemoval: Bool { flags & 1 == 1 }

  /// Whether the write that made the version has made a newer one; only that write uses this.
  var isReplaced: Bool {
    get { flags & 2 == 2 }
    nonmutating set { unsafe base.storeBytes(of: flags & 1 | (newValue ? 2 : 0), toByteOffset: 15, as: UInt8.self) }
  }

  var valueCount: Int { unsafe Int(base.load(fromByteOffset: 8, as: UInt32.self)) }
  private var keyCount: Int { unsafe Int(base.load(fromByteOffset: 12, as: UInt16.self)) }
  var height: Int { unsafe Int(base.load(fromByteOffset: 14, as: UInt8.self)) }

  var key: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: base + Self.headByteCount + height * MemoryLayout<Link>.stride, count: keyCount)
  }

  var value: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: key.baseAddress.unsafelyUnwrapped + keyCount, count: valueCount)
  }

  func link(_ level: Int) -> UnsafeMutablePointer<Link> {
    unsafe (base + Self.headByteCount + level * MemoryLayout<Link>.stride).assumingMemoryBound(to: Link.self)
  }

  static func == (left: LogNode, right: LogNode) -> Bool {
    // Addresses are only compared.
    unsafe left.base == right.base
  }

  /// The next node of a level, with all that was written to it before it was linked.
  func next(_ level: Int) -> LogNode? {
    unsafe link(level).pointee.load(ordering: .acquiring).map { unsafe LogNode($0) }
  }

  /// The next node, of the same key or a later one.
  var next: LogNode? { next(0) }

  /// The first node from this one on that a snapshot sees: the newest version of its key that is not too new.
  func visible(at commit: UInt64) -> LogNode? {
    var node: LogNode? = self
    while let current = node, current.commit > commit { node = current.next }
    return node
  }

  /// The version of the same key before this one, if the part has it.
  var olderVersion: LogNode? {
    guard let node = next, unsafe orderOfKeys(node.key, key) == 0 else { return nil }
    return node
  }

  /// The first node of a later key.
  var nextKey: LogNode? {
    var node = next
    while let current = node, unsafe orderOfKeys(current.key, key) == 0 { node = current.next }
    return node
  }
}

/// The order of two keys: below, at or above zero.
func orderOfKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  // Both are only read, and have at least that many bytes.
  let order = unsafe orderOfBytes(left, right, min(left.count, right.count))
  return order == 0 ? left.count - right.count : order
}
