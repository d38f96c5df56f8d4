#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The order of the first bytes of two buffers, which have at least that many.
func orderOfBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int) -> Int {
  guard count > 0, let first = left.baseAddress, let second = right.baseAddress else { return 0 }
  // The caller keeps this in bounds.
  return unsafe Int(memcmp(first, second, count))
}

/// A cursor over the tree and the tail of a database.
struct MergedCursor {
  var cursor: LogCursor
  let database: DatabaseHandle

  /// Removes the entry at which the cursor is.
  mutating func remove(in core: TransactionCore) throws(LMDBError) {
    guard let key = cursor.currentKey else { throw LMDBError(.notPositioned, operation: "remove") }
    // The array lives for the call.
    _ = try unsafe key.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      unsafe try core.remove(bytes, in: database)
    }
    // The removal may be the first change of the database.
    if let overlay = core.overlay { cursor.take(try overlay.tables(of: database)) }
  }
}

/// One table as a snapshot sees it: the tree's entries, and those of the tail, which come first.
///
/// A cursor is for one snapshot, which its owner keeps as long as the cursor. It moves to the first entry at or after a
/// key and onwards, or to the last entry before a key and backwards.
@safe
struct LogCursor {
  typealias Entry = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

  // The table in the tree, if it is there; closed by its owner.
  private let tree: CursorHandle?
  // The parts of the tail that have the table, oldest first.
  private var tables: [LogTable]
  private let commit: UInt64
  private var treeEntry = unsafe Entry?.none
  // The node at which the cursor is in each table.
  private var nodes: [LogNode?]
  // The least key of these nodes, while the cursor moves forward.
  private var tailKey = unsafe UnsafeRawBufferPointer?.none
  private var isForward = true
  // Whether the cursor is where the tree's cursor is, and the tail has nothing after that place.
  private var followsTree = false
  // The key of the entry at which the cursor is: of the tail, or of a page, which stays as it is in a snapshot.
  private var key = unsafe UnsafeRawBufferPointer?.none

  /// Opens a cursor over a table's cursor in the tree and its tables in the tail, as of a commit.
  init(over tree: CursorHandle?, _ tables: [LogTable], at commit: UInt64) {
    self.tree = tree
    self.tables = tables
    self.commit = commit
    nodes = Array(repeating: nil, count: tables.count)
  }

  /// Continues with other tables; the next move must be to a key or to an end.
  mutating func take(_ tables: [LogTable]) {
    self.tables = tables
    nodes = Array(repeating: nil, count: tables.count)
  }

  /// A copy of the key of the entry at which the cursor is.
  var currentKey: [UInt8]? { unsafe key.map { unsafe [UInt8]($0) } }

  /// Moves as a cursor of liblmdb does.
  mutating func move(_ move: CursorMove, key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
    switch move {
    case .first: return unsafe try moveToFirst(atOrAfter: nil)
    case .last: return unsafe try moveToLast(before: nil)
    case .lastBefore: return unsafe try moveToLast(before: key)
    case .next: return unsafe try next()
    case .previous: return unsafe try previous()
    case .atOrAfter: return unsafe try moveToFirst(atOrAfter: key)
    case .exactly:
      guard let entry = unsafe try moveToFirst(atOrAfter: key), unsafe orderOfKeys(entry.key, key) == 0 else {
        return nil
      }
      return unsafe entry
    }
  }

  /// Moves to the first entry at or after a key, or to the first of all; `nil` if there is none.
  ///
  /// The key is read within the call only.
  mutating func moveToFirst(atOrAfter lower: UnsafeRawBufferPointer?) throws(LMDBError) -> Entry? {
    unsafe treeEntry = try tree?.move(lower == nil ? .first : .atOrAfter, key: lower ?? Self.noKey)
    for index in tables.indices {
      let table = tables[index]
      let first = if let lower = unsafe lower { unsafe table.first(atOrAfter: lower) } else { table.first }
      nodes[index] = first?.visible(at: commit)
    }
    (isForward, followsTree) = (true, false)
    findTailKey()
    return unsafe try firstThatIsThere()
  }

  /// Moves to the next entry; `nil` if there is none.
  mutating func next() throws(LMDBError) -> Entry? {
    if followsTree {
      let entry = unsafe try tree?.move(.next, key: Self.noKey)
      unsafe key = entry?.key
      return unsafe entry
    }
    guard isForward else {
      guard let key = unsafe key else { return unsafe try moveToFirst(atOrAfter: nil) }
      guard let after = unsafe keyAfter(Array(key)) else { return nil }
      return unsafe try after.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
        unsafe try moveToFirst(atOrAfter: bytes)
      }
    }
    return unsafe try firstThatIsThere()
  }

  /// Moves to the last entry before a key, or to the last of all; `nil` if there is none.
  ///
  /// The key is read within the call only.
  mutating func moveToLast(before upper: UnsafeRawBufferPointer?) throws(LMDBError) -> Entry? {
    (isForward, followsTree) = (false, false)
    unsafe treeEntry = try lastOfTree(before: upper)
    var upper = unsafe upper
    while true {
      var key = unsafe treeEntry?.key
      var source: LogNode?
      for table in tables.reversed() {
        guard let last = unsafe table.lastKey(before: upper, at: commit) else { continue }
        let order = if let key = unsafe key { unsafe orderOfKeys(last.key, key) } else { 1 }
        // Among equal keys, that of the newest part counts, and that of any part counts before the tree's.
        if order > 0 || order == 0 && source == nil { unsafe (key, source) = unsafe (last.key, last) }
      }
      guard let found = unsafe key else { return nil }
      unsafe self.key = found
      guard let source else { return unsafe treeEntry }
      if !source.isRemoval { return unsafe (source.key, source.value) }
      // A key of the tail, or of a page: it stays.
      unsafe upper = found
      unsafe treeEntry = try lastOfTree(before: upper)
    }
  }

  /// Moves to the entry before; `nil` if there is none.
  mutating func previous() throws(LMDBError) -> Entry? {
    unsafe try moveToLast(before: key)
  }

  private func lastOfTree(before upper: UnsafeRawBufferPointer?) throws(LMDBError) -> Entry? {
    unsafe try tree?.move(upper == nil ? .last : .lastBefore, key: upper ?? Self.noKey)
  }

  /// The empty key for moves that read no key.
  private static var noKey: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: nil, count: 0) }

  private mutating func findTailKey() {
    unsafe tailKey = nil
    for node in nodes {
      guard let node else { continue }
      if let least = unsafe tailKey, unsafe orderOfKeys(node.key, least) >= 0 { continue }
      unsafe tailKey = node.key
    }
  }

  /// The first of the entries at which the tables and the tree are, leaving out removed keys.
  private mutating func firstThatIsThere() throws(LMDBError) -> Entry? {
    while let tailKey = unsafe tailKey {
      if let entry = unsafe treeEntry {
        let order = unsafe orderOfKeys(entry.key, tailKey)
        if order < 0 {
          unsafe key = entry.key
          try passTree()
          return unsafe entry
        }
        // Any version in the tail is newer.
        if order == 0 { try passTree() }
      }
      unsafe key = tailKey
      if let version = unsafe passTail(tailKey), !version.isRemoval {
        return unsafe (version.key, version.value)
      }
    }
    followsTree = true
    unsafe key = treeEntry?.key
    return unsafe treeEntry
  }

  /// Moves every table that is at a key beyond it, and returns the newest version of the key.
  private mutating func passTail(_ key: UnsafeRawBufferPointer) -> LogNode? {
    var newest: LogNode?
    for index in nodes.indices.reversed() {
      guard let node = nodes[index], unsafe orderOfKeys(node.key, key) == 0 else { continue }
      if newest == nil { newest = node }
      nodes[index] = node.nextKey?.visible(at: commit)
    }
    findTailKey()
    return newest
  }

  private mutating func passTree() throws(LMDBError) {
    // The pages of a snapshot stay, and so does the entry that the cursor leaves.
    unsafe treeEntry = try tree?.move(.next, key: Self.noKey)
  }
}
