import SystemPackage
import TallySystem

/// An environment whose commits go to a log first and into its tree later (`docs/log.md`), for one process.
///
/// Everything that is written while it is open goes through it. The environment's own transactions see the tree only.
final class LogStore: Sendable {
  struct Options: Sendable {
    /// The length of the ring; a commit of more than a quarter of it goes into the tree directly.
    var ringByteCount = 4 << 20
    /// How many commits a part of the tail has; more are a reason to merge.
    var commitsPerPart = 256
    /// Whether a thread merges whenever a part of the tail is full.
    var mergesByItself = true
    /// How long a write, or a merge, waits for another one before it throws `busy`.
    var waitLimit = Duration.seconds(60)
    /// What tests see and fail.
    var hooks = LogFile.Hooks()
  }

  struct State {
    var parts: [LogTail] = []
    /// The place after the last published commit.
    var end = LogPlace()
    /// The offset before which no record is needed any more (L8).
    var safe: UInt64 = 0
    /// Whether a write has not ended as it should (L10).
    var isInDoubt = false
    var isClosed = false
    var isTurnTaken = false
    var isMerging = false
    /// Whether the merging thread runs.
    var hasMerger = false
    /// How many parts there were when the merging thread last failed; it tries again when there are more.
    var failedPartCount = 1
    /// The row of the newest snapshot that was read, to read it once.
    var knownRow: (transaction: Int, row: LogPlace)?
  }

  /// The database with the row, and its key.
  static let rowTable = "LMDB.log"
  private static let rowKey: [UInt8] = [1]

  let environment: LMDBEnvironment
  let options: Options
  let log: LogFile
  private let lock: FileLock
  private let rows: Database<[UInt8], [UInt8]>
  let state = Monitor(State())

  /// Opens the log of an environment, and makes it if there is none; what a crash has left there goes into the tree (L12).
  ///
  /// Throws `busy` if another process has the log open; `invalidArgument` for an environment that is read only or does not
  /// flush; `corrupted` if the file is no log; `diskFull` if there is no room for it, or for what it holds.
  init(of environment: LMDBEnvironment, options: Options = Options()) throws(LMDBError) {
    guard !environment.options.isReadOnly, environment.options.durability == .full else {
      throw LMDBError(
        .invalidArgument, operation: "open the log", remedy: "Open the environment for writing, with full durability")
    }
    self.environment = environment
    self.options = options
    let path = environment.path
    lock = try LMDBError.translating("open the log", path) { try FileLock(opening: path.appending(LogFile.fileName)) }
    let isAlone = try LMDBError.translating("open the log") { [lock] in try lock.tryAcquire(.exclusive) }
    guard isAlone else {
      throw LMDBError(.busy, operation: "open the log", message: "Another process has the log open")
    }
    log = try LMDBError.translating("open the log", path) {
      if var found = try LogFile.open(in: path) {
        found.hooks = options.hooks
        return found
      }
      return try LogFile.create(in: path, ringByteCount: options.ringByteCount, hooks: options.hooks)
    }
    do {
      rows = try environment.write { try Database(opening: Self.rowTable, creating: true, in: &$0) }
    } catch {
      log.close()
      throw error as? LMDBError ?? LMDBError(.other, operation: "open the log", cause: error)
    }
    // From here on `deinit` closes the log.
    let row = try LMDBError.translating("open the log") { [rows] in
      try environment.read { try Self.row(in: $0, rows) }
    }
    state.withLock { state in
      (state.end, state.safe) = (row, row.offset)
      state.parts = [LogTail(from: row.commit)]
    }
    try recover()
  }

  deinit {
    log.close()
  }

  /// The row of a tree: the place up to which it has all commits.
  func row<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> LogPlace {
    try Self.row(in: transaction, rows)
  }

  private static func row<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T, _ rows: Database<[UInt8], [UInt8]>
  ) throws(LMDBError) -> LogPlace {
    guard let bytes = try rows.value(forKey: rowKey, in: transaction) else { return LogPlace() }
    return try LogPlace(bytes)
  }

  func putRow(_ row: LogPlace, in transaction: inout WriteTransaction) throws(LMDBError) {
    try rows.put(row.encoded, forKey: Self.rowKey, in: &transaction)
  }

  /// Opens a table of the environment, and creates it if it does not exist.
  func table(named name: String) throws -> LogStoreTable {
    let database = try environment.write { transaction in
      try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
    }
    return LogStoreTable(name: name, database: database)
  }

  /// Merges everything and removes the log; the directory has a plain LMDB file afterwards (L13).
  ///
  /// Throws `busy` if a write takes too long, and what ``merge()`` throws; the log stays then.
  func close() throws(LMDBError) {
    try takeTurn("close the log")
    defer { endTurn() }
    // Nobody starts it without the turn.
    if state.wait(atMost: options.waitLimit, until: { $0.hasMerger ? nil : true }) == nil {
      throw LMDBError(.busy, operation: "close the log", message: "The merging thread has not ended in time")
    }
    if state.withLock(\.isInDoubt) { try recover() }
    try merge()
    try LMDBError.translating("close the log") { try LogFile.remove(from: environment.path) }
    state.withLock { $0.isClosed = true }
    lock.release()
  }
}

/// A table of a store with a log.
struct LogStoreTable: Sendable {
  let name: String
  let database: Database<[UInt8], [UInt8]>
}

extension LogStore {
  /// Makes a commit of the changes that a body adds; it reads what the commits before have left, without its own changes.
  ///
  /// A durable commit is on the disk when this returns. A power cut may undo the last relaxed ones, newest first.
  ///
  /// Throws `busy`, `closed`, what the body throws, and what a direct commit throws; `commitOutcomeUnknown` if neither the
  /// log nor the tree could be written.
  func write(isDurable: Bool = true, _ body: (borrowing LogSnapshot, inout LogChanges) throws -> Void) throws {
    try takeTurn("write")
    defer { endTurn() }
    if state.withLock(\.isInDoubt) { try recover() }
    var changes = LogChanges()
    do {
      // It ends here: a tree whose map is full cannot grow while this thread reads.
      let snapshot = try beginRead()
      try body(snapshot, &changes)
    }
    guard !changes.isEmpty else { return }
    try commit(&changes, isDurable: isDurable)
  }

  /// L3; the caller has the turn.
  private func commit(_ changes: inout LogChanges, isDurable: Bool) throws(LMDBError) {
    let end = state.withLock(\.end)
    guard log.hasRoom(forByteCount: changes.bytes.count) else { return try commitDirectly(changes) }
    let offset = log.offset(forByteCount: changes.bytes.count, isDurable: isDurable, after: end)
    let record = changes.writeHead(at: offset, after: end, isDurable: isDurable)
    try makeRoom(upTo: record.endOffset)
    state.withLock { $0.isInDoubt = true }
    do {
      try log.write(changes.bytes, of: record)
      if isDurable { try log.flush() }
    } catch {
      return try commitDirectly(changes, insteadOf: record, after: error)
    }
    try state.withLock { (state) throws(LMDBError) in
      try state.part(options.commitsPerPart).add(changes, of: record.commit)
      state.publish(record.end)
    }
    startMergerIfDue()
  }

  /// L11: the record must not be read by anybody who has an older tree.
  private func commitDirectly(
    _ changes: LogChanges, insteadOf record: LogRecord, after error: any Error
  ) throws(LMDBError) {
    do {
      try log.erase(record)
      try commitDirectly(changes)
    } catch {
      throw LMDBError(.commitOutcomeUnknown, operation: "commit", cause: error)
    }
  }

  /// L8: waits until what a record overwrites is not needed any more.
  private func makeRoom(upTo endOffset: UInt64) throws(LMDBError) {
    func lacksRoom() -> Bool { endOffset - state.withLock(\.safe) > UInt64(log.ringByteCount) }
    if lacksRoom() { try merge() }
    guard !lacksRoom() else { throw LMDBError(.busy, operation: "write", message: "The log is full") }
  }

  func takeTurn(_ operation: String) throws(LMDBError) {
    let isTaken = try state.wait(atMost: options.waitLimit) { (state) throws(LMDBError) -> Bool? in
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      guard !state.isTurnTaken else { return nil }
      state.isTurnTaken = true
      return true
    }
    if isTaken == nil { throw LMDBError(.busy, operation: operation, message: "Another write has not ended in time") }
  }

  func endTurn() {
    state.withLock { $0.isTurnTaken = false }
    state.wakeAll()
  }
}

extension LogStore.State {
  /// The part to which the next commit is added.
  mutating func part(_ commitsPerPart: Int) -> LogTail {
    if let last = parts.last, last.end - last.from < UInt64(commitsPerPart) { return last }
    let part = LogTail(from: end.commit)
    parts.append(part)
    return part
  }

  /// Lets readers see the commit that the last part has got.
  mutating func publish(_ place: LogPlace) {
    parts.last?.end = place.commit
    end = place
    isInDoubt = false
  }
}

/// The tree and the tail at one time (L5).
struct LogSnapshot: ~Copyable {
  let transaction: ReadTransaction
  /// The parts of the tail that the tree does not have, oldest first, which are kept as long as the snapshot.
  private let parts: [LogTail]
  private let tables: [[String: LogTable]]
  /// The last commit that the snapshot shows.
  let commit: UInt64

  fileprivate init(_ transaction: consuming ReadTransaction, _ view: LogStore.View) {
    self.transaction = transaction
    (parts, tables, commit) = (view.parts, view.tables, view.commit)
  }

  /// The value of a key; `nil` if there is none.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`.
  func value(forKey key: [UInt8], in table: LogStoreTable) throws(LMDBError) -> [UInt8]? {
    for tables in tables.reversed() {
      // The key is read within the call; the part is kept as long as the snapshot, and the value is copied.
      let node = unsafe key.withUnsafeBytes { unsafe tables[table.name]?.version(of: $0, at: commit) }
      if let node { return node.isRemoval ? nil : unsafe Array(node.value) }
    }
    return try table.database.value(forKey: key, in: transaction)
  }

  /// Calls a body with each entry from a key on, in their order, until it returns false.
  ///
  /// Throws as ``value(forKey:in:)``, and what the body throws.
  func forEach(
    in table: LogStoreTable, from lower: [UInt8]? = nil, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    var cursor = LogCursor(
      over: try CursorHandle(of: table.database.handle, in: transaction.core), tables.compactMap { $0[table.name] },
      at: commit)
    defer { cursor.close() }
    var entry = try unsafe cursor.moveToFirst(atOrAfter: lower)
    // Pages and parts stay as they are while the snapshot is borrowed.
    while let current = unsafe entry, try unsafe body(current.key.bytes, current.value.bytes) {
      unsafe entry = try cursor.next()
    }
  }
}

extension LogStore {
  /// What a snapshot takes of the tail, while nobody adds to it.
  struct View {
    let parts: [LogTail]
    let tables: [[String: LogTable]]
    let commit: UInt64
  }

  /// How often a snapshot is begun again, because merges were faster.
  private static let attempts = 1_000

  /// Begins a snapshot: first the tree's reader, then the tail (L5, L6).
  ///
  /// Throws as ``LMDBEnvironment/beginRead()``.
  func beginRead() throws(LMDBError) -> LogSnapshot {
    try beginRead(holdingUp: {})
  }

  /// For a test: a body that runs where other threads may hold the reader up.
  func beginRead(holdingUp: () -> Void) throws(LMDBError) -> LogSnapshot {
    for _ in 0..<Self.attempts {
      let transaction = try environment.beginRead()
      holdingUp()
      let number = transaction.snapshotNumber
      let known = state.withLock(\.knownRow)
      let row = if let known, known.transaction == number { known.row } else { try row(in: transaction) }
      let view = state.withLock { state -> View? in
        state.knownRow = (number, row)
        // A direct commit is in the tree before it is published; it has been flushed by then.
        if row.commit >= state.end.commit { return View(parts: [], tables: [], commit: row.commit) }
        guard let first = state.parts.first, first.from <= row.commit else { return nil }
        let parts = state.parts.filter { $0.end > row.commit }
        return View(parts: parts, tables: parts.map(\.tables), commit: state.end.commit)
      }
      if let view { return LogSnapshot(transaction, view) }
    }
    throw LMDBError(.busy, operation: "begin read", message: "The tree was merged again and again")
  }
}
