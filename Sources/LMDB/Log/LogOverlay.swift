import TallySystem

/// What a transaction of an environment with a log sees beside the tree: a part of the tail, and its own changes.
///
/// For the transaction's owner only.
final class LogOverlay {
  /// The last commit that the snapshot has.
  let snapshot: UInt64
  /// The last commit that the tree has.
  private let row: UInt64
  /// The changes of this transaction; `nil` for one that reads.
  let own: LogTail?
  // The parts are kept as long as their tables are used.
  private let parts: [LogTail]
  private let partTables: [[String: LogTable]]
  private let parent: LogOverlay?
  // A part may grow later.
  private let sizeOfParts: Int
  private let names: DatabaseNames
  /// The tables of each database that was asked for, by its index.
  private var tables: [Tables?] = []

  /// The tables of a database.
  private struct Tables {
    /// In the tail, and among the changes, oldest first.
    let all: [LogTable]
    /// Among the changes.
    let own: LogTable?
  }

  private static let ownChunkByteCount = 1 << 12

  /// What a snapshot sees after what its tree has.
  init(_ parts: [LogTail], after row: UInt64, at commit: UInt64, _ names: DatabaseNames) {
    (self.parts, partTables, self.row) = (parts, parts.map(\.tables), row)
    sizeOfParts = parts.reduce(0) { $0 + $1.byteCount }
    (snapshot, self.names, own, parent) = (commit, names, nil, nil)
  }

  /// What a write sees that has a snapshot, or another write, under it.
  init(writingOver under: LogOverlay) {
    (parts, partTables, row, sizeOfParts) = ([], [], under.row, 0)
    (snapshot, names, parent) = (under.snapshot, under.names, under)
    own = LogTail(from: under.snapshot, chunkByteCount: Self.ownChunkByteCount)
  }

  /// How much everything takes that is not in the tree.
  var byteCount: Int { sizeOfParts + (own?.byteCount ?? 0) + (parent?.byteCount ?? 0) }

  /// The number of the commit that the newest visible versions have: a write's own are those of the next one.
  var limit: UInt64 { own == nil ? snapshot : snapshot + 1 }

  /// The tables of a database in the tail and among the changes, oldest first.
  func tables(of database: DatabaseHandle) throws(LMDBError) -> [LogTable] { try allTables(of: database).all }

  @inline(__always)
  private func allTables(of database: DatabaseHandle) throws(LMDBError) -> Tables {
    let index = Int(database.index)
    if index < tables.count, let known = tables[index] { return known }
    return try findTables(of: database)
  }

  private func findTables(of database: DatabaseHandle) throws(LMDBError) -> Tables {
    let name = try names.name(of: database)
    let below = try parent?.tables(of: database) ?? partTables.compactMap { $0[name] }
    let ownTable = own?.table(named: name)
    let found = Tables(all: below + (ownTable.map { [$0] } ?? []), own: ownTable)
    let index = Int(database.index)
    while tables.count <= index { tables.append(nil) }
    tables[index] = found
    return found
  }

  /// The newest version of a key; `nil` if only the tree can have it.
  func version(of key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> LogNode? {
    let all = try allTables(of: database).all
    for index in stride(from: all.count - 1, through: 0, by: -1) {
      if let version = unsafe all[index].version(of: key, at: limit) { return version }
    }
    return nil
  }

  /// Records that a key gets a value, and returns the room for it; for a write.
  func reserve(
    _ byteCount: Int, for key: UnsafeRawBufferPointer, in database: DatabaseHandle
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    guard let own, let table = try allTables(of: database).own else { return nil }
    return unsafe own.reserve(byteCount, for: key, in: table, of: limit)
  }

  /// Records that a key is removed; for a write.
  func remove(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) {
    guard let own, let table = try allTables(of: database).own else { return }
    unsafe own.remove(key, in: table, of: limit)
  }

  /// By how much the number of a database's keys differs from that in the tree, in which a body looks for a key.
  func countChange(
    in database: DatabaseHandle, _ isInTree: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    let found = try allTables(of: database)
    if let own = found.own {
      let below = try parent?.countChange(in: database, isInTree) ?? 0
      return try below
        + own.countChange(after: 0, upTo: .max) { (node) throws(LMDBError) in
          // The part has the node.
          if let version = unsafe try parent?.version(of: node.key, in: database) { return !version.isRemoval }
          return try isInTree(node)
        }
    }
    var sum = 0
    for (index, table) in found.all.enumerated() {
      sum += try table.countChange(after: row, upTo: snapshot) { (node) throws(LMDBError) in
        for older in found.all[..<index].reversed() {
          if let version = unsafe older.version(of: node.key, at: snapshot) { return !version.isRemoval }
        }
        return try isInTree(node)
      }
    }
    return sum
  }

  /// The changes of a write as a record.
  func changes() throws(LMDBError) -> LogChanges {
    var changes = LogChanges()
    try own?.forEachNewest { (table, version) throws(LMDBError) in try changes.add(version, in: table) }
    return changes
  }
}

/// The names of open databases: records of a log name tables, transactions number them.
final class DatabaseNames: Sendable {
  private let names = Monitor<[UInt32: String]>([:])

  func record(_ name: String, of index: UInt32) { names.withLock { $0[index] = name } }

  func name(of database: DatabaseHandle) throws(LMDBError) -> String {
    guard let name = names.withLock({ $0[database.index] }) else {
      throw LMDBError(.badDatabase, operation: "read the log")
    }
    return name
  }
}
