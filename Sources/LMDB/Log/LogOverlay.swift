import TallySystem

/// What a transaction of an environment with a log sees beside the tree: a part of the tail, and its own changes.
///
/// For the transaction's owner only.
final class LogOverlay {
  /// The last commit that the snapshot has.
  let snapshot: UInt64
  /// The changes of this transaction; `nil` for one that reads.
  let own: LogTail?
  // The parts are kept as long as their tables are used.
  private let parts: [LogTail]
  private let partTables: [[String: LogTable]]
  private let parent: LogOverlay?
  private let names: DatabaseNames
  /// The tables of each database that was asked for, oldest first.
  private var tables: [UInt32: [LogTable]] = [:]

  private static let ownChunkByteCount = 1 << 12

  /// What a snapshot sees.
  init(_ parts: [LogTail], at commit: UInt64, _ names: DatabaseNames) {
    (self.parts, partTables) = (parts, parts.map(\.tables))
    (snapshot, self.names, own, parent) = (commit, names, nil, nil)
  }

  /// What a write sees that has a snapshot, or another write, under it.
  init(writingOver under: LogOverlay) {
    (parts, partTables) = ([], [])
    (snapshot, names, parent) = (under.snapshot, under.names, under)
    own = LogTail(from: under.snapshot, chunkByteCount: Self.ownChunkByteCount)
  }

  /// The number of the commit that the newest visible versions have: a write's own are those of the next one.
  var limit: UInt64 { own == nil ? snapshot : snapshot + 1 }

  /// The tables of a database in the tail and among the changes, oldest first.
  func tables(of database: DatabaseHandle) throws(LMDBError) -> [LogTable] {
    if let known = tables[database.index] { return known }
    let name = try names.name(of: database)
    var found = try parent?.tables(of: database) ?? partTables.compactMap { $0[name] }
    if let own { found.append(own.table(named: name)) }
    tables[database.index] = found
    return found
  }

  /// The newest version of a key; `nil` if only the tree can have it.
  func version(of key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> LogNode? {
    for table in try tables(of: database).reversed() {
      if let version = unsafe table.version(of: key, at: limit) { return version }
    }
    return nil
  }

  /// Records that a key gets a value, and returns the room for it; for a write.
  func reserve(
    _ byteCount: Int, for key: UnsafeRawBufferPointer, in database: DatabaseHandle
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    _ = try tables(of: database)
    return try unsafe own?.reserve(byteCount, for: key, in: names.name(of: database), of: limit)
  }

  /// Records that a key is removed; for a write.
  func remove(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) {
    _ = try tables(of: database)
    try unsafe own?.remove(key, in: names.name(of: database), of: limit)
  }

  /// The newest version of each key of a database that the tail or this transaction has changed.
  func newestVersions(in database: DatabaseHandle) throws(LMDBError) -> [[UInt8]: LogNode] {
    var newest: [[UInt8]: LogNode] = [:]
    for table in try tables(of: database) {
      var node = table.first?.visible(at: limit)
      while let version = node {
        // The key is copied, and the part kept by this object.
        newest[unsafe Array(version.key)] = version
        node = version.nextKey?.visible(at: limit)
      }
    }
    return newest
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
