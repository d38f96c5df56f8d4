import Synchronization

/// The changes of some hundred commits, sorted by key: one part of what the tree does not have yet.
///
/// One thread adds, while any number read. Each table is a skip list; the versions of a key follow each other, newest
/// first. A write that is aborted takes its versions out; their memory is freed with the part.
@safe
final class LogTail: @unchecked Sendable {
  /// The part has the commits after this one.
  let from: UInt64
  /// The last commit of the part; guarded by the owner of the part.
  var end: UInt64
  private let numbers: TableNumbers
  private let tablesByNumber = Mutex<[LogTable?]>([])

  private static let largestChunkByteCount = 1 << 16
  private static let highest = 8
  // Memory of the nodes, freed with this object; only the thread that adds takes room from it.
  private var chunks = unsafe [UnsafeMutableRawPointer]()
  private var freeByteCount = 0
  private var place = unsafe UnsafeMutableRawPointer?.none
  private var heights = SplitNumbers()
  /// How much the nodes take; for who adds.
  private(set) var byteCount = 0
  private var chunkByteCount: Int

  /// Creates a part without commits; the chunks of memory grow from a size on.
  init(from: UInt64, _ numbers: TableNumbers, chunkByteCount: Int = largestChunkByteCount) {
    self.from = from
    self.numbers = numbers
    end = from
    self.chunkByteCount = chunkByteCount
  }

  deinit {
    // Nobody refers to the part, and so to its nodes. They have no owner of their own.
    unsafe chunks.forEach { unsafe $0.deallocate() }
  }

  /// Adds the changes of a commit; ``end`` is for the caller to raise.
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
  /// If it may, it uses the newest version's room again, provided that commit and length are the same.
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

  /// Adds that a key is removed.
  func remove(_ key: UnsafeRawBufferPointer, in table: LogTable, of commit: UInt64) -> LogNode {
    unsafe table.insert(key) { _ in unsafe node(key, valueCount: 0, commit, isRemoval: true) }.node
  }

  /// By number.
  var tables: [LogTable?] { tablesByNumber.withLock { $0 } }

  /// The table of a name, which is made if there is none.
  func table(named name: String) -> LogTable { table(numbers.number(of: name)) }

  /// The table of a number, which is made if there is none.
  func table(_ number: Int) -> LogTable {
    if let table = tablesByNumber.withLock({ number < $0.count ? $0[number] : nil }) { return table }
    // A head is a node without a key, and as high as any.
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
      let size = max(count, chunkByteCount)
      chunkByteCount = min(chunkByteCount * 2, Self.largestChunkByteCount)
      // Freed by `deinit`.
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      unsafe chunks.append(chunk)
      unsafe place = chunk
      freeByteCount = size
    }
    // There is room, by the lines above.
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
  fileprivate let base: UnsafeMutableRawPointer
  private static let headByteCount = 16
  /// What most nodes have beside key and value.
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

  /// Whether the write that made the version has made a newer one; for that write.
  var isReplaced: Bool {
    get { flags & 2 == 2 }
    nonmutating set { unsafe base.storeBytes(of: flags & 1 | (newValue ? 2 : 0), toByteOffset: 15, as: UInt8.self) }
  }

  fileprivate var valueCount: Int { unsafe Int(base.load(fromByteOffset: 8, as: UInt32.self)) }
  private var keyCount: Int { unsafe Int(base.load(fromByteOffset: 12, as: UInt16.self)) }
  fileprivate var height: Int { unsafe Int(base.load(fromByteOffset: 14, as: UInt8.self)) }

  var key: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: base + Self.headByteCount + height * MemoryLayout<Link>.stride, count: keyCount)
  }

  var value: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: key.baseAddress.unsafelyUnwrapped + keyCount, count: valueCount)
  }

  fileprivate func link(_ level: Int) -> UnsafeMutablePointer<Link> {
    unsafe (base + Self.headByteCount + level * MemoryLayout<Link>.stride).assumingMemoryBound(to: Link.self)
  }

  static func == (left: LogNode, right: LogNode) -> Bool {
    // Addresses are only compared.
    unsafe left.base == right.base
  }

  /// The next node of a level, with all that was written to it before it was linked.
  fileprivate func next(_ level: Int) -> LogNode? {
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

/// A table of a part.
@safe
final class LogTable: @unchecked Sendable {
  let name: String
  // As for a node.
  private let head: LogNode
  private let filter = KeyFilter()
  private let count = Mutex(LogCount())

  fileprivate init(_ name: String, head: LogNode) {
    (self.name, self.head) = (name, head)
  }

  deinit {
    // Nobody else has the table.
    filter.deallocate()
  }

  var first: LogNode? { head.next }

  /// The last node before a key, and the nodes after which one with the key belongs.
  private func last(
    before key: UnsafeRawBufferPointer, _ visit: (_ level: Int, LogNode) -> Void = { _, _ in }
  ) -> LogNode {
    var node = head
    for level in stride(from: head.height - 1, through: 0, by: -1) {
      while let next = node.next(level), unsafe orderOfKeys(next.key, key) < 0 { node = next }
      visit(level, node)
    }
    return node
  }

  /// The first node whose key is not less.
  func first(atOrAfter key: UnsafeRawBufferPointer) -> LogNode? { unsafe last(before: key).next }

  /// The newest version of a key that a snapshot sees.
  func version(of key: KeyWithHash, at commit: UInt64) -> LogNode? {
    filter.mayHave(key) ? unsafe version(of: key.bytes, at: commit) : nil
  }

  private func version(of key: UnsafeRawBufferPointer, at commit: UInt64) -> LogNode? {
    guard let node = unsafe first(atOrAfter: key)?.visible(at: commit), unsafe orderOfKeys(node.key, key) == 0 else {
      return nil
    }
    return node
  }

  /// The first version that a snapshot sees of the last key before another one, or of the last key of all.
  func lastKey(before key: UnsafeRawBufferPointer?, at commit: UInt64) -> LogNode? {
    var bound = unsafe key
    while true {
      let last: LogNode
      if let key = unsafe bound { last = unsafe self.last(before: key) } else { last = lastOfAll }
      guard last != head else { return nil }
      if let version = unsafe version(of: last.key, at: commit) { return version }
      unsafe bound = last.key
    }
  }

  private var lastOfAll: LogNode {
    var node = head
    for level in stride(from: head.height - 1, through: 0, by: -1) { while let next = node.next(level) { node = next } }
    return node
  }

  /// Links the node that a body makes before the older versions of its key.
  ///
  /// The body gets the newest of them; if it makes none, that one stays the newest.
  @discardableResult
  fileprivate func insert(
    _ key: UnsafeRawBufferPointer, _ make: (_ newest: LogNode?) -> LogNode?
  ) -> (node: LogNode, isNew: Bool) {
    // The room is used within the closure only, and each level that is read was written.
    unsafe withUnsafeTemporaryAllocation(of: LogNode.self, capacity: head.height) { before in
      let next = unsafe last(before: key) { level, last in unsafe before.initializeElement(at: level, to: last) }.next
      let newest = next.flatMap { unsafe orderOfKeys($0.key, key) == 0 ? $0 : nil }
      guard let node = make(newest) else { return (newest ?? head, false) }
      count.withLock { $0.add(node) }
      // First: who finds the node must not be told that it is not there.
      unsafe filter.add(KeyWithHash(key))
      // From the bottom, so that whoever finds the node above finds it below, too; its own links come first.
      for level in 0..<node.height {
        let last = unsafe before[level]
        let next = unsafe last.link(level).pointee.load(ordering: .relaxed)
        unsafe node.link(level).pointee.store(next, ordering: .relaxed)
        unsafe last.link(level).pointee.store(node.base, ordering: .releasing)
      }
      return (node, true)
    }
  }

  /// How many bytes the values of all versions have.
  var valueByteCount: Int { count.withLock(\.valueByteCount) }

  /// Takes out the newest node of the table, which no snapshot has seen.
  ///
  /// Its own links stay, for others who are passing it.
  func unlink(_ node: LogNode) {
    // As for inserting. The key is the node's own.
    unsafe withUnsafeTemporaryAllocation(of: LogNode.self, capacity: head.height) { before in
      _ = unsafe last(before: node.key) { level, last in unsafe before.initializeElement(at: level, to: last) }
      for level in (0..<node.height).reversed() {
        let next = unsafe node.link(level).pointee.load(ordering: .relaxed)
        unsafe before[level].link(level).pointee.store(next, ordering: .releasing)
      }
    }
    count.withLock { $0.removeLast() }
  }

  /// By how much the number of keys has changed after a commit, up to another one.
  ///
  /// A body says whether a key was there before the part.
  ///
  /// - Complexity: what was counted before is not counted again.
  func countChange(
    after row: UInt64, upTo commit: UInt64, _ wasThere: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    try count.withLock { (count) throws(LMDBError) in try count.change(after: row, upTo: commit, wasThere) }
  }
}

/// The number of keys that the commits of a part of the tail have added to a table.
struct LogCount {
  /// The versions of all keys, in the order in which they were made.
  private var nodes: [LogNode] = []
  /// How many bytes their values have.
  private(set) var valueByteCount = 0
  /// How many of them are counted, or older than what was ever asked for.
  private var countedCount = 0
  /// The commit after which the sums begin.
  private var from = UInt64.max
  /// The sum after each commit that has changed it.
  private var sums: [(commit: UInt64, sum: Int)] = []

  /// The change after a commit, up to another one.
  mutating func change(
    after row: UInt64, upTo commit: UInt64, _ wasThere: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    // What is not counted yet must be counted in a tree that lacks it.
    if row < from || countedCount < nodes.count && nodes[countedCount].commit <= row { begin(after: row) }
    while countedCount < nodes.count, nodes[countedCount].commit <= commit {
      let node = nodes[countedCount]
      // The part has the node, and with it the older version of its key, which follows it.
      let isNew = if let older = node.olderVersion { older.isRemoval } else { try !wasThere(node) }
      let change = (node.isRemoval ? 0 : 1) - (isNew ? 0 : 1)
      if change != 0 { add(change, at: node.commit) }
      countedCount += 1
    }
    return sum(at: commit) - sum(at: row)
  }

  mutating func add(_ node: LogNode) {
    nodes.append(node)
    valueByteCount += node.valueCount
  }

  /// Forgets the last version, whose write takes it back.
  mutating func removeLast() {
    guard let last = nodes.popLast() else { return }
    valueByteCount -= last.valueCount
    let commit = last.commit
    // The write may have counted its versions; those that stay are counted again.
    guard countedCount > nodes.count || sums.last?.commit == commit else { return }
    if sums.last?.commit == commit { sums.removeLast() }
    countedCount = min(countedCount, nodes.partitioningIndex { $0.commit >= commit })
  }

  /// Counts anew, for a snapshot that is older than all before, or whose tree has what was not counted.
  private mutating func begin(after row: UInt64) {
    (from, sums) = (row, [])
    countedCount = nodes.partitioningIndex { $0.commit > row }
  }

  private mutating func add(_ change: Int, at commit: UInt64) {
    let sum = (sums.last?.sum ?? 0) + change
    if sums.last?.commit == commit { sums[sums.count - 1].sum = sum } else { sums.append((commit, sum)) }
  }

  private func sum(at commit: UInt64) -> Int {
    let index = sums.partitioningIndex { $0.commit > commit }
    return index == 0 ? 0 : sums[index - 1].sum
  }
}

extension Array {
  /// The index of the first element that has a property which all later ones have, too.
  fileprivate func partitioningIndex(where hasProperty: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if hasProperty(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The order of two keys: below, at or above zero.
func orderOfKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  // Both are only read, and at least so long.
  let order = unsafe orderOfBytes(left, right, min(left.count, right.count))
  return order == 0 ? left.count - right.count : order
}
