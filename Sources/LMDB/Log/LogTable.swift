import Synchronization

/// A table in a part of the tail.
@safe
final class LogTable: @unchecked Sendable {
  let name: String
  // The head's memory belongs to the part, as for any node.
  private let head: LogNode
  private let filter = KeyFilter()
  private let count = Mutex(LogCount())

  init(_ name: String, head: LogNode) {
    (self.name, self.head) = (name, head)
  }

  deinit {
    // Nobody else has the table.
    filter.deallocate()
  }

  var first: LogNode? { head.next }

  /// The last node before a key; visits, on each level, the node after which a node with the key belongs.
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

  /// The first node at or after a key.
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

  /// Links a node, which a body makes, in front of the older versions of its key.
  ///
  /// The body gets the newest version; if it makes no node, that version stays the newest.
  @discardableResult
  func insert(
    _ key: UnsafeRawBufferPointer, _ make: (_ newest: LogNode?) -> LogNode?
  ) -> (node: LogNode, isNew: Bool) {
    // The room is used within the closure only, and each level that is read was written.
    unsafe withUnsafeTemporaryAllocation(of: LogNode.self, capacity: head.height) { before in
      let next = unsafe last(before: key) { level, last in unsafe before.initializeElement(at: level, to: last) }.next
      let newest = next.flatMap { unsafe orderOfKeys($0.key, key) == 0 ? $0 : nil }
      guard let node = make(newest) else { return (newest ?? head, false) }
      count.withLock { $0.add(node) }
      // The filter comes first: a reader that finds the node must not be told that the key is missing.
      unsafe filter.add(KeyWithHash(key))
      // The levels are linked from the bottom up: a reader that finds the node on one level must also find it below.
      // The node's own links come first.
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
  /// Its own links stay, for readers that are passing it.
  func unlink(_ node: LogNode) {
    // The room is used as in `insert`. The key is the node's own.
    unsafe withUnsafeTemporaryAllocation(of: LogNode.self, capacity: head.height) { before in
      _ = unsafe last(before: node.key) { level, last in unsafe before.initializeElement(at: level, to: last) }
      for level in (0..<node.height).reversed() {
        let next = unsafe node.link(level).pointee.load(ordering: .relaxed)
        unsafe before[level].link(level).pointee.store(next, ordering: .releasing)
      }
    }
    count.withLock { $0.removeLast() }
  }

  /// The change in the number of keys after one commit, up to another.
  ///
  /// A body says whether a key was there before the part.
  ///
  /// - Complexity: versions that were counted before are not counted again.
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
  /// How many versions are counted, or are older than any commit that was asked for.
  private var countedCount = 0
  /// The commit after which the sums begin.
  private var from = UInt64.max
  /// The sum after each commit that has changed it.
  private var sums: [(commit: UInt64, sum: Int)] = []

  /// The change after one commit, up to another.
  mutating func change(
    after row: UInt64, upTo commit: UInt64, _ wasThere: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    // Versions that are not counted yet must be counted against a tree that lacks them.
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

  /// Begins to count again, for a snapshot that is older than all earlier ones, or whose tree has versions that were
  /// not counted.
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
  /// The index of the first element with a property that all later elements also have.
  fileprivate func partitioningIndex(where hasProperty: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if hasProperty(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A key that is looked up in several tables, with its hash.
@safe
struct KeyWithHash {
  // The creator of this value keeps the bytes as long as the value is used.
  let bytes: UnsafeRawBufferPointer
  fileprivate let hash: UInt64

  init(_ key: UnsafeRawBufferPointer) {
    unsafe bytes = key
    var (hash, offset) = (UInt64(key.count), 0)
    while offset + 8 <= key.count {
      // In bounds, by the line above.
      let word = unsafe key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      hash = (hash ^ word).mixed
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < key.count {
      rest = unsafe rest << 8 | UInt64(key[offset])
      offset += 1
    }
    self.hash = (hash ^ rest).mixed
  }
}

extension UInt64 {
  /// The number after the finalizer of SplitMix64: each bit of the number changes half of all bits of the result.
  ///
  /// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
  var mixed: UInt64 {
    var mixed = (self ^ (self >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Tells which keys a table does not have, without a search: a Bloom filter with two bits for each key.
///
/// One thread adds, while any number ask. With 256 keys, one in 300 questions for a missing key gets "maybe"; with
/// 2,000 keys, one in seven. B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970.
@safe
struct KeyFilter: @unchecked Sendable {
  private static let wordCount = 128

  // Freed by `deallocate`.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init() {
    unsafe words = .allocate(capacity: Self.wordCount)
    for index in 0..<Self.wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  func deallocate() { unsafe words.deallocate() }

  /// The places of a key's two bits: 13 bits of its hash each.
  private static func places(of key: KeyWithHash) -> (first: Int, second: Int) {
    (Int(key.hash & 0x1FFF), Int(key.hash >> 32 & 0x1FFF))
  }

  func add(_ key: KeyWithHash) {
    let (first, second) = Self.places(of: key)
    for place in [first, second] {
      // In bounds: there are 8,192 bits.
      _ = unsafe words[place >> 6].bitwiseOr(1 << UInt64(place & 63), ordering: .relaxed)
    }
  }

  /// Whether the key may have been added; keys that are being added at the same time may be missing.
  func mayHave(_ key: KeyWithHash) -> Bool {
    let (first, second) = Self.places(of: key)
    // In bounds, as above. The keys that a snapshot sees were added before its commit was published, and the published
    // number was read in order.
    return unsafe words[first >> 6].load(ordering: .relaxed) >> UInt64(first & 63) & 1 == 1
      && words[second >> 6].load(ordering: .relaxed) >> UInt64(second & 63) & 1 == 1
  }
}
