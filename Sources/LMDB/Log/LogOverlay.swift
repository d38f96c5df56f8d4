import Synchronization
import TallySystem

/// The changes that a transaction of an environment with a log sees in addition to the tree: a part of the tail, and
/// its own.
///
/// The overlay of a snapshot does not change, and several snapshots share it. The overlay of a write is for its owner,
/// and for nested writes.
final class LogOverlay: @unchecked Sendable {
  /// The last commit that the snapshot has.
  let snapshot: UInt64
  /// The last commit that the tree has.
  let row: UInt64
  /// The changes of this transaction; `nil` for one that reads.
  let write: LogWrite?
  // The parts, oldest first, are kept as long as their tables are used; the last one is that of the write.
  let parts: [LogTail]
  /// The tables of the parts: for each number one place for each part.
  private var tables: [LogTable?]
  private let numbers: TableNumbers
  private let databases: TableNumbers.OfDatabases
  /// The version that the write has put last, if it appended it: no key of its table is greater.
  private var appended: (number: Int, version: LogNode)?

  /// Creates the overlay of a snapshot.
  init(_ parts: [LogTail], after row: UInt64, at commit: UInt64, _ numbers: TableNumbers) {
    (self.parts, tables, self.row) = (parts, Self.tables(of: parts), row)
    (snapshot, self.numbers, write) = (commit, numbers, nil)
    databases = numbers.ofDatabases
  }

  /// Creates the overlay of a write: that of its snapshot, and its own changes.
  init(of write: LogWrite, over under: LogOverlay) {
    self.write = write
    let hasOwnPart = under.parts.last === write.part
    parts = hasOwnPart ? under.parts : under.parts + [write.part]
    tables = hasOwnPart ? under.tables : Self.tables(of: parts)
    (snapshot, row, numbers, databases) = (under.snapshot, under.row, under.numbers, under.databases)
  }

  /// How many bytes the values of a database have that are not in the tree, older versions included.
  func valueByteCount(of database: DatabaseHandle) throws(LMDBError) -> Int {
    try tables(of: database).reduce(0) { $0 + $1.valueByteCount }
  }

  private static func tables(of parts: [LogTail]) -> [LogTable?] {
    // Most snapshots have one part, and share its tables.
    if parts.count == 1 { return parts[0].tables }
    let ofParts = parts.map(\.tables)
    let count = ofParts.reduce(0) { max($0, $1.count) }
    return (0..<count).flatMap { number in ofParts.map { number < $0.count ? $0[number] : nil } }
  }

  /// The number of the commit that the newest visible versions have: a write's own are those of the next one.
  var limit: UInt64 { write?.commit ?? snapshot }

  /// The number of a database's table.
  @inline(__always)
  private func number(of database: DatabaseHandle) throws(LMDBError) -> Int {
    let index = Int(database.index)
    if databases.change == numbers.lastChange, index < databases.numbers.count, let number = databases.numbers[index] {
      return number
    }
    return try numbers.number(of: database)
  }

  /// The tables of a database in the tail and among the changes, oldest first.
  func tables(of database: DatabaseHandle) throws(LMDBError) -> [LogTable] {
    let first = try number(of: database) * parts.count
    return first < tables.count ? tables[first..<first + parts.count].compactMap(\.self) : []
  }

  /// The table of a database for changes, which the first of them makes.
  private func ownTable(of database: DatabaseHandle, in write: LogWrite) throws(LMDBError) -> LogTable {
    let number = try number(of: database)
    let place = (number + 1) * parts.count - 1
    if place < tables.count, let table = tables[place] { return table }
    while tables.count <= place { tables.append(nil) }
    let table = write.part.table(number)
    tables[place] = table
    return table
  }

  /// The newest version of a key; `nil` if only the tree can have it.
  func version(of key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> LogNode? {
    let first = try number(of: database) * parts.count
    guard first < tables.count else { return nil }
    let key = unsafe KeyWithHash(key)
    for place in stride(from: first + parts.count - 1, through: first, by: -1) {
      if let version = tables[place]?.version(of: key, at: limit) { return version }
    }
    return nil
  }

  /// Records that a key gets a value, and returns the room for it; for a write.
  func reserve(
    _ byteCount: Int, for key: UnsafeRawBufferPointer, in database: DatabaseHandle, isNested: Bool,
    appends: Bool = false
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    guard let write else { return nil }
    let table = try ownTable(of: database, in: write)
    let version = unsafe write.reserve(byteCount, for: key, in: table, isNested: isNested)
    appended = appends ? (try number(of: database), version) : nil
    // Nobody else sees the version.
    return unsafe UnsafeMutableRawBufferPointer(mutating: version.value)
  }

  /// Whether a key is after the one that the write has just appended to the same database.
  func isAfterAppended(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> Bool {
    guard let appended, appended.number == (try number(of: database)) else { return false }
    // The write's part has the version, even if it was taken back.
    return unsafe orderOfKeys(key, appended.version.key) > 0
  }

  /// Records the removal of a key; for a write.
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
        // The parts have the node.
        let key = unsafe KeyWithHash(node.key)
        for older in tables[..<index].reversed() {
          if let version = older.version(of: key, at: limit) { return !version.isRemoval }
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
  /// Numbers by the index of a database; liblmdb reuses the index of a database that no longer exists.
  struct OfDatabases {
    fileprivate(set) var numbers: [Int?] = []
    /// How many times an index has been given to another database.
    fileprivate(set) var change = 0
  }

  private struct State {
    var names: [String] = []
    var numbers: [String: Int] = [:]
    var databases = OfDatabases()

    mutating func number(of name: String) -> Int {
      if let number = numbers[name] { return number }
      names.append(name)
      numbers[name] = names.count - 1
      return names.count - 1
    }
  }

  private let state = Monitor(State())
  private let changeCount = Atomic(0)

  /// Notes the name of an open database.
  func record(_ name: String, of index: UInt32) {
    state.withLock { state in
      let number = state.number(of: name)
      while state.databases.numbers.count <= Int(index) { state.databases.numbers.append(nil) }
      if let old = state.databases.numbers[Int(index)], old != number {
        state.databases.change += 1
        changeCount.store(state.databases.change, ordering: .releasing)
      }
      state.databases.numbers[Int(index)] = number
    }
  }

  /// The numbers of the tables of open databases; they hold until ``lastChange`` is another one.
  var ofDatabases: OfDatabases { state.withLock(\.databases) }

  var lastChange: Int { changeCount.load(ordering: .acquiring) }

  func number(of name: String) -> Int { state.withLock { $0.number(of: name) } }

  func number(of database: DatabaseHandle) throws(LMDBError) -> Int {
    let index = Int(database.index)
    let known = ofDatabases.numbers
    guard index < known.count, let number = known[index] else {
      throw LMDBError(.badDatabase, operation: "read the log")
    }
    return number
  }

  /// The name of a table that has a number.
  func name(of number: Int) -> String { state.withLock { $0.names[number] } }
}
