import SystemPackage
import TallySystem

/// An environment whose commits go to a log first and into its tree later (`docs/log.md`).
///
/// Everything that any process writes while a log is open goes through it. The environment's own transactions see the tree
/// only.
package final class LogStore: Sendable {
  package struct Options: Sendable {
    /// The length of the ring of a new log; a commit of more than a quarter of the ring goes into the tree directly.
    package var ringByteCount = 4 << 20
    /// How many commits a part of the tail has, and how many are a reason to merge.
    package var commitsPerPart = 256
    /// Whether a thread merges whenever enough commits are there.
    package var mergesByItself = true
    /// How long a write waits for another one, and opening or closing for others that do so, before they throw `busy`.
    package var waitLimit = Duration.seconds(60)
    /// What tests see and fail.
    var hooks = LogFile.Hooks()

    package init() {}
  }

  struct State {
    /// Commits that the tree may lack, oldest first; there is always one part.
    var parts = [LogTail(from: 0)]
    /// The place after the last commit of the tail.
    var end = LogPlace()
    var isClosed = false
    var isTurnTaken = false
    /// When this process may take the turn again, if another one waited when it ended.
    var courtesyEnd: Duration?
    /// Whether the merging thread runs.
    var hasMerger = false
    /// The commit that makes a merge due.
    var mergeCommit: UInt64 = 0
    /// The row of the newest snapshot that was read, to read it once.
    var knownRow: (transaction: Int, row: LogPlace)?
  }

  /// The database with the row, and its key.
  static let rowTable = "LMDB.log"
  private static let rowKey: [UInt8] = [1]

  let environment: LMDBEnvironment
  let options: Options
  let share: LogShare
  let log: LogFile
  private let rows: Database<[UInt8], [UInt8]>
  let state = Monitor(State())

  /// Opens the log of an environment, and makes it if there is none; what a crash has left there goes into the tree (L12).
  ///
  /// Throws `busy` if another process opens or closes the store for too long; `invalidArgument` for an environment that is
  /// read only, does not flush or waits without limit; `corrupted` if the file is no log; `diskFull` if there is no room for
  /// it, or for what it holds.
  package init(of environment: LMDBEnvironment, options: Options = Options()) throws(LMDBError) {
    let given = environment.options
    guard !given.isReadOnly, given.durability == .full, given.writeWaitLimit != nil else {
      throw LMDBError(
        .invalidArgument, operation: "open the log",
        remedy: "Open the environment for writing, with full durability and a limit of waiting")
    }
    self.environment = environment
    self.options = options
    let path = environment.path
    share = try LogShare(in: path, waitLimit: options.waitLimit)
    log = try LMDBError.translating("open the log", path) { [share] in
      if var found = try LogFile.open(in: path) {
        found.hooks = options.hooks
        return found
      }
      // Others who have the store open would go on in the file that was removed.
      guard share.isAlone else { throw Errno.noSuchFileOrDirectory }
      return try LogFile.create(in: path, ringByteCount: options.ringByteCount, hooks: options.hooks)
    }
    do {
      rows = try environment.write { try Database(opening: Self.rowTable, creating: true, in: &$0) }
    } catch {
      log.close()
      throw error as? LMDBError ?? LMDBError(.other, operation: "open the log", cause: error)
    }
    // From here on `deinit` closes the log.
    if share.isAlone { try recover() }
    try share.endOpening()
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
  package func table(named name: String) throws -> LogStoreTable {
    let database = try environment.write { transaction in
      try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
    }
    return LogStoreTable(name: name, database: database)
  }

  /// Closes the store.
  ///
  /// If no other process has it open, everything is merged and the log is removed: the directory has a plain LMDB file
  /// afterwards (L13).
  ///
  /// Throws `busy` if a write takes too long, and what ``merge()`` throws; the store stays open then.
  package func close() throws(LMDBError) {
    try share.close(options.waitLimit) { (isAlone) throws(LMDBError) in
      try takeTurn("close the log")
      defer { endTurn() }
      // Nobody starts it without the turn.
      if state.wait(atMost: options.waitLimit, until: { $0.hasMerger ? nil : true }) == nil {
        throw LMDBError(.busy, operation: "close the log", message: "The merging thread has not ended in time")
      }
      if isAlone {
        if share.isInDoubt { try recover() }
        try merge()
        try LMDBError.translating("close the log") { try LogFile.remove(from: environment.path) }
      }
      state.withLock { $0.isClosed = true }
    }
  }
}

/// A table of a store with a log.
package struct LogStoreTable: Sendable {
  package let name: String
  let database: Database<[UInt8], [UInt8]>
}

extension LogStore {
  /// Makes a commit of the changes that a body adds; it reads what the commits before have left, without its own changes.
  ///
  /// A durable commit is on the disk when this returns. A power cut may undo the last relaxed ones, newest first.
  ///
  /// Throws `busy`, `closed`, what the body throws, and what a direct commit throws; `commitOutcomeUnknown` if neither the
  /// log nor the tree could be written.
  package func write(isDurable: Bool = true, _ body: (borrowing LogSnapshot, inout LogChanges) throws -> Void) throws {
    try takeTurn("write")
    defer { endTurn() }
    if share.isInDoubt { try recover() }
    var changes = LogChanges()
    do {
      // It ends here: a tree whose map is full cannot grow while this thread reads.
      let snapshot = try beginRead()
      try body(snapshot, &changes)
    }
    guard !changes.isEmpty else { return }
    try commit(&changes, isDurable: isDurable)
  }

  /// L3; the caller has the turn, and its snapshot has brought the tail up to the last commit.
  private func commit(_ changes: inout LogChanges, isDurable: Bool) throws(LMDBError) {
    let end = state.withLock(\.end)
    guard log.hasRoom(forByteCount: changes.bytes.count) else { return try commitDirectly(changes) }
    let offset = log.offset(forByteCount: changes.bytes.count, isDurable: isDurable, after: end)
    let record = changes.writeHead(at: offset, after: end, isDurable: isDurable)
    try makeRoom(upTo: record.endOffset)
    share.isInDoubt = true
    do {
      try log.write(changes.bytes, of: record)
      if isDurable { try log.flush() }
    } catch {
      return try commitDirectly(changes, insteadOf: record, after: error)
    }
    try state.withLock { (state) throws(LMDBError) in
      try state.add(changes, as: record.end, commitsPerPart: options.commitsPerPart)
      share.publish(record.commit)
    }
    share.isInDoubt = false
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

  /// L8: makes sure that what a record overwrites is not needed any more.
  private func makeRoom(upTo endOffset: UInt64) throws(LMDBError) {
    func lacksRoom() -> Bool { endOffset > share.safe + UInt64(log.ringByteCount) }
    if lacksRoom() { try merge() }
    guard lacksRoom() else { return }
    // Another process has merged, and has not said so yet, or was killed before.
    let seen: LogPlace = try LMDBError.translating("write") { try environment.read { try self.row(in: $0) } }
    try environment.sync()
    share.raiseSafe(to: seen.offset)
    guard !lacksRoom() else { throw LMDBError(.busy, operation: "write", message: "The log is full") }
  }
}

extension LogStore.State {
  /// The part to which the next commit is added.
  private mutating func part(_ commitsPerPart: Int) -> LogTail {
    if let last = parts.last, last.end - last.from < UInt64(commitsPerPart) { return last }
    let part = LogTail(from: end.commit)
    parts.append(part)
    return part
  }

  /// Adds a commit to the tail; the place is the one after it.
  mutating func add(_ changes: LogChanges, as place: LogPlace, commitsPerPart: Int) throws(LMDBError) {
    let part = part(commitsPerPart)
    try part.add(changes, of: place.commit)
    part.end = place.commit
    end = place
  }

  /// Forgets the tail, since a tree has everything up to its row.
  mutating func restart(at row: LogPlace) {
    parts = [LogTail(from: row.commit)]
    end = row
  }

  /// Forgets the parts that a tree has; the last one may get more commits.
  mutating func removeParts(upTo row: LogPlace) {
    let last = parts.last
    parts.removeAll { $0.end <= row.commit && $0 !== last }
  }
}

/// The tree and the tail at one time (L5).
package struct LogSnapshot: ~Copyable {
  let transaction: ReadTransaction
  /// The parts of the tail that the tree does not have, oldest first, which are kept as long as the snapshot.
  private let parts: [LogTail]
  private let tables: [[String: LogTable]]
  /// The last commit that the snapshot shows.
  package let commit: UInt64

  fileprivate init(_ transaction: consuming ReadTransaction, _ view: LogStore.View) {
    self.transaction = transaction
    (parts, tables, commit) = (view.parts, view.tables, view.commit)
  }

  /// The value of a key; `nil` if there is none.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`.
  package func value(forKey key: [UInt8], in table: LogStoreTable) throws(LMDBError) -> [UInt8]? {
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
  package func forEach(
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
  package func beginRead() throws(LMDBError) -> LogSnapshot {
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
      var published = share.published
      if row.commit > published {
        // A direct commit that is not published yet, or never will be: what is seen must last.
        try environment.sync()
        share.publish(row.commit)
        published = row.commit
      }
      let view = try state.withLock { (state) throws(LMDBError) -> View? in
        if state.isClosed { throw LMDBError(.closed, operation: "begin read") }
        guard try catchUp(&state, with: row, upTo: published) else { return nil }
        if number > state.knownRow?.transaction ?? -1 { state.knownRow = (number, row) }
        let parts = state.parts.filter { $0.end > row.commit }
        return View(parts: parts, tables: parts.map(\.tables), commit: state.end.commit)
      }
      if let view { return LogSnapshot(transaction, view) }
    }
    throw LMDBError(.busy, operation: "begin read", message: "The tree was merged again and again")
  }

  /// Brings the tail up to a commit, from the row of a tree on (L6), and returns whether it has all in between.
  ///
  /// It does not if the tree is older than the tail's beginning, or than records that have been overwritten (L4).
  func catchUp(_ state: inout State, with row: LogPlace, upTo commit: UInt64) throws(LMDBError) -> Bool {
    if row.commit > state.end.commit { state.restart(at: row) }
    guard let first = state.parts.first, first.from <= row.commit else { return false }
    state.mergeCommit = max(state.mergeCommit, row.commit + UInt64(options.commitsPerPart))
    while state.end.commit < commit {
      let end = state.end
      let next = try LMDBError.translating("read the log") { try log.record(after: end) }
      guard let found = next else { return false }
      try state.add(LogChanges(record: found.bytes), as: found.record.end, commitsPerPart: options.commitsPerPart)
    }
    // Not before: an older snapshot of another thread would begin again and again.
    if state.parts.count > 2 { state.removeParts(upTo: row) }
    return true
  }
}
