import TallySystem

/// What a transaction of an environment with a log sees beside the tree: a part of the tail, and its own changes.
///
/// For the transaction's owner only. A nested write has that of its parent.
final class LogOverlay {
  /// The last commit that the snapshot has.
  let snapshot: UInt64
  /// The last commit that the tree has.
  private let row: UInt64
  /// The changes of this transaction; `nil` for one that reads.
  let write: LogWrite?
  // The parts are kept as long as their tables are used; the last one is that of the write.
  private let parts: [LogTail]
  private var partTables: [[LogTable?]]
  // A part may grow later.
  private let sizeOfParts: Int
  private let numbers: TableNumbers
  private let databases: [Int?]

  /// What a snapshot sees after what its tree has.
  init(_ parts: [LogTail], after row: UInt64, at commit: UInt64, _ numbers: TableNumbers) {
    (self.parts, partTables, self.row) = (parts, parts.map(\.tables), row)
    sizeOfParts = parts.reduce(0) { $0 + $1.committedByteCount }
    (snapshot, self.numbers, write) = (commit, numbers, nil)
    databases = numbers.ofDatabases
  }

  /// What a write sees that has a snapshot under it.
  init(of write: LogWrite, over under: LogOverlay) {
    self.write = write
    parts = under.parts.last === write.part ? under.parts : under.parts + [write.part]
    partTables = parts.map(\.tables)
    (snapshot, row, sizeOfParts) = (under.snapshot, under.row, under.sizeOfParts)
    (numbers, databases) = (under.numbers, under.databases)
  }

  /// How much everything takes that is not in the tree.
  var byteCount: Int { sizeOfParts + (write?.byteCount ?? 0) }

  /// The number of the commit that the newest visible versions have: a write's own are those of the next one.
  var limit: UInt64 { write?.commit ?? snapshot }

  /// The number of a database's table.
  @inline(__always)
  private func number(of database: DatabaseHandle) throws(LMDBError) -> Int {
    let index = Int(database.index)
    if index < databases.count, let number = databases[index] { return number }
    // It was opened later.
    return try numbers.number(of: database)
  }

  /// The tables of a database in the tail and among the changes, oldest first.
  func tables(of database: DatabaseHandle) throws(LMDBError) -> [LogTable] {
    let number = try number(of: database)
    return partTables.compactMap { $0.table(number) }
  }

  /// The table of a database for changes, which the first of them makes.
  private func ownTable(of database: DatabaseHandle, in write: LogWrite) throws(LMDBError) -> LogTable {
    let (number, last) = (try number(of: database), partTables.count - 1)
    if let table = partTables[last].table(number) { return table }
    let table = write.part.table(number)
    partTables[last] = write.part.tables
    return table
  }

  /// The newest version of a key; `nil` if only the tree can have it.
  func version(of key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> LogNode? {
    let number = try number(of: database)
    for index in stride(from: partTables.count - 1, through: 0, by: -1) {
      if let version = unsafe partTables[index].table(number)?.version(of: key, at: limit) { return version }
    }
    return nil
  }

  /// Records that a key gets a value, and returns the room for it; for a write.
  func reserve(
    _ byteCount: Int, for key: UnsafeRawBufferPointer, in database: DatabaseHandle
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    guard let write else { return nil }
    return unsafe write.reserve(byteCount, for: key, in: try ownTable(of: database, in: write))
  }

  /// Records that a key is removed; for a write.
  func remove(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) {
    guard let write else { return }
    unsafe write.remove(key, in: try ownTable(of: database, in: write))
  }

  /// By how much the number of a database's keys differs from that in the tree, in which a body looks for a key.
  func countChange(
    in database: DatabaseHandle, _ isInTree: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    let tables = try tables(of: database)
    var sum = 0
    for (index, table) in tables.enumerated() {
      sum += try table.countChange(after: row, upTo: limit) { (node) throws(LMDBError) in
        for older in tables[..<index].reversed() {
          // The parts have the node.
          if let version = unsafe older.version(of: node.key, at: limit) { return !version.isRemoval }
        }
        return try isInTree(node)
      }
    }
    return sum
  }
}

/// Numbers of tables, the same for all parts of the tail: records of a log name tables, and transactions number open
/// databases.
final class TableNumbers: Sendable {
  private struct State {
    var names: [String] = []
    var numbers: [String: Int] = [:]
    /// By the index of a database.
    var databases: [Int?] = []

    mutating func number(of name: String) -> Int {
      if let number = numbers[name] { return number }
      names.append(name)
      numbers[name] = names.count - 1
      return names.count - 1
    }
  }

  private let state = Monitor(State())

  /// Notes the name of an open database.
  func record(_ name: String, of index: UInt32) {
    state.withLock { state in
      while state.databases.count <= Int(index) { state.databases.append(nil) }
      state.databases[Int(index)] = state.number(of: name)
    }
  }

  /// The numbers of the tables of open databases, by the index of each.
  var ofDatabases: [Int?] { state.withLock(\.databases) }

  func number(of name: String) -> Int { state.withLock { $0.number(of: name) } }

  func number(of database: DatabaseHandle) throws(LMDBError) -> Int {
    let index = Int(database.index)
    guard let number = state.withLock({ index < $0.databases.count ? $0.databases[index] : nil }) else {
      throw LMDBError(.badDatabase, operation: "read the log")
    }
    return number
  }

  /// The name of a table that has a number.
  func name(of number: Int) -> String { state.withLock { $0.names[number] } }
}
