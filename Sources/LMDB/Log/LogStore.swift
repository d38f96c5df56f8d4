import CLMDB
package import SystemPackage
import TallySystem

/// An environment whose commits go to a log first and into its tree later (`docs/log.md`).
///
/// While a log is open, everything that any process writes goes through it. Only transactions that are begun on the
/// tree bypass the log.
package final class LogStore: Sendable {
  package struct Options: Sendable {
    /// Whether to make a log if there is none; nobody else may then have the environment open (L16).
    package var makesLog = true
    /// Changes the tree when a log begins, for example to keep out programs that do not know logs; may run more than
    /// once.
    package var mark: (@Sendable (inout WriteTransaction) throws -> Void)?
    /// Whether the tree has that change; if not, an existing log is no longer in use and is removed.
    package var isMarked: (@Sendable (LMDBEnvironment) throws -> Bool)?
    /// Undoes that change when the tree has everything and the log is removed.
    package var unmark: (@Sendable (inout WriteTransaction) throws -> Void)?
    /// Gives another name to a log that is not in use, but has commits that the tree lacks; without it, the log is
    /// removed.
    package var keep: (@Sendable () throws -> Void)?
    /// The greatest length of a new log's ring.
    ///
    /// The ring is an eighth of the data file, but at least 256 KiB. A commit of more than a quarter of the ring goes
    /// into the tree directly.
    package var ringByteCount = 4 << 20
    /// How many commits a part of the tail holds; also, how many unmerged commits make a merge due.
    package var commitsPerPart = 256
    /// Whether a thread merges whenever enough commits are there.
    package var mergesByItself = true
    /// How long a write waits for another write, or opening or closing for another opening or closing, before it throws
    /// `busy`.
    package var waitLimit = Duration.seconds(60)
    /// Closures with which tests watch writes and flushes, and make them fail.
    var hooks = LogFile.Hooks()

    package init() {}
  }

  struct State {
    let numbers: TableNumbers
    /// Commits that the tree may lack, oldest first; there is always one part.
    var parts: [LogTail]
    /// The place after the last commit of the tail.
    var end = LogPlace()
    var isClosed = false
    var isTurnTaken = false
    /// How many turns had ended when this process's last one did; `nil` unless that end has woken another process.
    var yieldedTurn: UInt32?
    /// The work that the merging thread does before each merge.
    var upkeep: (@Sendable (LMDBEnvironment) throws -> Void)?
    /// The merging thread, if it runs.
    var merger: UInt?
    /// Whether the log is about to be closed, so that no merge begins.
    var isEnding = false
    /// The last commit that a merge of this process has found in the tree or put there.
    var mergedCommit: UInt64 = 0
    /// Whether the last merge of the thread failed; the next one is made after as many commits as usual.
    var hasFailedMerge = false
    /// The commit that makes a merge due.
    var mergeCommit: UInt64 = 0
    /// The row of the newest snapshot that was read, kept so that it is read only once.
    var knownRow: (transaction: Int, row: LogPlace)?
    /// The overlay of the newest snapshot, for other snapshots of the same commit.
    var overlay: LogOverlay?

    init(_ numbers: TableNumbers) {
      self.numbers = numbers
      parts = [LogTail(from: 0, numbers)]
    }
  }

  /// The name of the database that holds the row, and the key of the row.
  static let rowTable = "LMDB.log"
  fileprivate static let rowKey: [UInt8] = [1]

  // The environment owns this object.
  unowned let environment: LMDBEnvironment
  let options: Options
  let share: LogShare
  let log: LogFile
  private let rows: Database<[UInt8], [UInt8]>
  let state: Monitor<State>

  /// Opens the log of an environment, or makes it if there is none; commits that a crash has left in it go into the
  /// tree, or stay in the log if the tree cannot be written (L12).
  ///
  /// Returns `nil` if there is no log and the options ask for none, and for a reader that finds one that is not in use.
  ///
  /// Throws `busy` if another process takes too long to open or close the store; `invalidArgument` if the environment's
  /// writers wait without a limit; `corrupted` if the file is not a log; `diskFull` if there is no room for a new log.
  init?(of environment: LMDBEnvironment, options: Options = Options()) throws(LMDBError) {
    let given = environment.options
    let path = environment.path
    let makesLog = options.makesLog && !given.isReadOnly
    guard makesLog || LogFile.isThere(in: path) else { return nil }
    guard given.isReadOnly || given.writeWaitLimit != nil else {
      throw LMDBError(
        .invalidArgument, operation: "open the log", remedy: "Set the environment's option writeWaitLimit")
    }
    self.environment = environment
    self.options = options
    state = Monitor(State(environment.tableNumbers))
    share = try LogShare(in: path, mode: given.fileMode, isReadOnly: given.isReadOnly, waitLimit: options.waitLimit)
    let mode = makesLog ? given.fileMode : nil
    let found: (file: LogFile, isNew: Bool)?
    do throws(LMDBError) {
      found = try environment.usesLog(share, options) ? Self.openFile(in: path, options, share, mode: mode) : nil
    } catch {
      share.removeFileIfAlone()
      throw error
    }
    guard let opened = found else {
      share.removeFileIfAlone()
      return nil
    }
    log = opened.file
    do {
      if !share.isAlone || given.isReadOnly {
        // A log that is in use has a row.
        rows = try Database(opening: Self.rowTable, in: environment)
      } else {
        rows = try environment.writeTree { try Database(opening: Self.rowTable, creating: true, in: &$0) }
      }
    } catch {
      log.close()
      if opened.isNew { try? LogFile.remove(from: path) }
      throw error as? LMDBError ?? LMDBError(.other, operation: "open the log", cause: error)
    }
    // From here on `deinit` closes the log.
    do throws(LMDBError) {
      // A new log is not in use before the recovery has set the mark (L16).
      if share.isAlone { try opened.isNew ? recover() : recoverOrAdopt() }
      try share.endOpening()
    } catch {
      if opened.isNew { try? LogFile.remove(from: path) }
      throw error
    }
  }

  private static let leastRingByteCount = 256 << 10

  /// Opens the file; makes it if there is none and a mode is given.
  private static func openFile(
    in path: FilePath, _ options: Options, _ share: LogShare, mode: FilePermissions?
  ) throws(LMDBError) -> (file: LogFile, isNew: Bool)? {
    try LMDBError.translating("open the log", path) {
      if var found = try LogFile.open(in: path) {
        found.hooks = options.hooks
        return (found, false)
      }
      guard let mode else { return nil }
      // Other processes that have the store open would continue to use the file that was removed.
      guard share.isAlone else { throw Errno.noSuchFileOrDirectory }
      let size = try path.appending(LMDBEnvironment.dataFileName).stat().size
      let ringByteCount = min(options.ringByteCount, max(leastRingByteCount, Int(size) / 8))
      return (try LogFile.create(in: path, ringByteCount: ringByteCount, mode: mode, hooks: options.hooks), true)
    }
  }

  deinit {
    log.close()
  }

  /// The row of a tree: the place up to which it has all commits.
  func row(in core: TransactionCore) throws(LMDBError) -> LogPlace { try row(in: core, rows: rows.handle) }

  /// The row of a tree that may be a copy, where the table of rows has another handle.
  func row(in core: TransactionCore, rows: DatabaseHandle) throws(LMDBError) -> LogPlace {
    // The key lives for the call, and the bytes are copied.
    let bytes = try unsafe Self.rowKey.span.bytes.withUnsafeBytes { (key) throws(LMDBError) in
      unsafe try core.findInTree(key, in: rows).map { unsafe [UInt8]($0) }
    }
    return try bytes.map { (bytes) throws(LMDBError) in try LogPlace(bytes) } ?? LogPlace()
  }

  /// The number of the last commit that readers may see.
  var lastCommit: Int { Int(share.published) }

  func putRow(_ row: LogPlace, in core: TransactionCore) throws(LMDBError) {
    _ = try rows.store(row.encoded, forKey: Self.rowKey, .replace, in: core)
  }

  /// Runs a body that closes the environment but leaves its handle open, then ends the log.
  ///
  /// Meanwhile no thread of this process commits. Nobody opens or closes the store either, unless waiting for those who
  /// do so takes longer than the limit.
  ///
  /// Throws `closed`; `busy` if this thread has a transaction, or if others take longer than the limit; and what the
  /// body throws. If it throws, the store stays open.
  func closing(waitingAtMost limit: Duration, _ body: () throws(LMDBError) -> Void) throws(LMDBError) {
    guard !environment.isInUseByThisThread else { throw LMDBError(.busy, operation: "close") }
    try beginEnding()
    defer { state.withLock { $0.isEnding = false } }
    // This wait comes before the turn, because the merging thread may need the turn and no longer gets it.
    _ = state.wait(atMost: options.waitLimit) { $0.merger == nil ? () : nil }
    try takeTurnOfThreads("close", waitingAtMost: limit)
    defer { endTurnOfThread() }
    // A process that takes too long to open or close must not keep others from closing: the log stays, as after a kill.
    let isOpening = (try? share.lockOpening(max(limit, .seconds(1)))) != nil
    let isLast = isOpening && share.isLast()
    let isLastWriter = isOpening && share.isLastWriter()
    do throws(LMDBError) {
      try settle(isLast: isLast, isLastWriter: isLastWriter)
      try body()
    } catch {
      if isOpening { share.unlockOpening() }
      throw error
    }
    end(isLast: isLast && isLastWriter)
  }

  private func beginEnding() throws(LMDBError) {
    try state.withLock { (state) throws(LMDBError) in
      if state.isClosed { throw LMDBError(.closed, operation: "close") }
      state.isEnding = true
    }
  }

  /// Merges the commits that other processes would otherwise have to merge, and flushes relaxed ones, before the
  /// environment is closed.
  private func settle(isLast: Bool, isLastWriter: Bool) throws(LMDBError) {
    guard !environment.options.isReadOnly else { return }
    do throws(LMDBError) {
      if isLast, share.isInDoubt { try recover() }
      if !isLast && isLastWriter || environment.options.durability == .noMetaSync { try merge() }
    } catch {
      // Durable commits stay in the log.
      guard environment.options.durability == .noMetaSync else { return }
      // Relaxed ones do, too, once they are flushed; nobody else writes.
      guard isLast, error.isLackOfRoom else { throw error }
      try LMDBError.translating("flush the log") { try log.flush() }
    }
  }

  /// Ends the log of an environment that is closed, while its handle is still open.
  ///
  /// If nobody else has the environment open, everything goes into the tree and the log is removed. The directory then
  /// has a plain LMDB file (L13). If that fails, the next opening does it.
  private func end(isLast: Bool) {
    // If the log cannot be removed, or comes back after a power cut, it has nothing that continues the tree's row.
    if isLast, !share.isInDoubt, (try? finishTree()) != nil, (try? LogFile.remove(from: environment.path)) != nil {
      share.removeFile()
    }
    state.withLock { $0.isClosed = true }
    share.release()
  }
}

extension LogStore {
  /// Whether the system has what a log needs.
  package static let isPossible = ByteLock.strongestOwner == .descriptor

  /// The names of the log, and of the file with its locks.
  package static let fileNames = [LogFile.fileName, LogShare.fileName]

  /// Whether a directory has a log, whole or not.
  package static func isThere(in directory: FilePath) -> Bool { LogFile.isThere(in: directory) }

  /// Whether the log of a directory can be read, or there is none; its records are not looked at.
  ///
  /// Throws an `Errno`.
  package static func isReadable(in directory: FilePath) throws -> Bool {
    do {
      try LogFile.open(in: directory)?.close()
      return true
    } catch {
      guard (error as? LMDBError)?.code == .corrupted else { throw error }
      return false
    }
  }

  /// Removes the log of a directory, if there is one; nobody may have it open.
  package static func remove(from directory: FilePath) throws { try LogFile.remove(from: directory) }
}

extension LogStore {
  /// Makes a commit (L3); the caller has the turn, and its snapshot has brought the tail up to the last commit.
  ///
  /// If a write is given, the tail already has the changes.
  ///
  /// A durable commit is on the disk when this returns. A power cut may undo the last relaxed ones, newest first.
  ///
  /// Throws `busy`, and what a direct commit throws; `commitOutcomeUnknown` if neither the log nor the tree could be
  /// written.
  func commit(_ changes: inout LogChanges, _ write: LogWrite? = nil, isDurable: Bool) throws(LMDBError) {
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
      if let write { state.end(write.part, at: record.end) } else { try state.add(changes, as: record.end, options) }
      share.publish(record.commit)
    }
    share.isInDoubt = false
    startMergerIfDue()
  }

  /// Begins to gather the changes of the next commit; the caller has the turn, and its snapshot the last commit.
  func beginGathering() -> LogWrite {
    state.withLock { LogWrite(in: $0.newestPart(options), as: $0.end.commit + 1) }
  }

  /// Commits directly after a record has failed, which nobody with an older tree may read (L11).
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

  /// Makes sure that the bytes that a record overwrites are no longer needed (L8).
  private func makeRoom(upTo endOffset: UInt64) throws(LMDBError) {
    func lacksRoom() -> Bool { endOffset > share.safe + UInt64(log.ringByteCount) }
    if lacksRoom() { try merge() }
    guard lacksRoom() else { return }
    // Another process has merged, but has not announced it yet or was killed before it could.
    let reader = try environment.beginTreeReader()
    defer { environment.endRead(reader) }
    let seen = try row(in: reader)
    try flushTree()
    share.raiseSafe(to: seen.offset)
    guard !lacksRoom() else { throw LMDBError(.busy, operation: "write", message: "The log is full") }
  }
}

extension LogStore.State {
  /// The part to which the next commit is added.
  mutating func newestPart(_ options: LogStore.Options) -> LogTail {
    // Changes that were taken back keep their memory, so the number of commits does not tell how large a part is.
    if let last = parts.last, last.end - last.from < UInt64(options.commitsPerPart),
      last.byteCount < options.ringByteCount
    {
      return last
    }
    parts.removeAll { $0.end == $0.from }
    let part = LogTail(from: end.commit, numbers)
    parts.append(part)
    return part
  }

  /// Whether the tail has a part that was replaced because of its size: only a merge frees its memory.
  func hasLargePart(_ options: LogStore.Options) -> Bool {
    parts.dropLast().contains { $0.byteCount >= options.ringByteCount }
  }

  /// Adds a commit to the tail; the place is the one after it.
  mutating func add(_ changes: LogChanges, as place: LogPlace, _ options: LogStore.Options) throws(LMDBError) {
    let part = newestPart(options)
    try part.add(changes, of: place.commit)
    end(part, at: place)
  }

  /// Ends a commit whose changes the newest part has; the place is the one after it.
  mutating func end(_ part: LogTail, at place: LogPlace) {
    part.end = place.commit
    end = place
  }

  /// Forgets the tail, since a tree has everything up to its row.
  mutating func restart(at row: LogPlace) {
    parts = [LogTail(from: row.commit, numbers)]
    (end, overlay) = (row, nil)
  }

  /// Forgets the parts that a tree has; the last one may get more commits.
  mutating func removeParts(upTo row: LogPlace) {
    let last = parts.last
    parts.removeAll { $0.end <= row.commit && $0 !== last }
    // It would keep the parts.
    overlay = nil
  }
}

extension LogStore {
  /// How many times a snapshot is begun again because merges were faster.
  private static let attempts = 1_000

  /// Begins a snapshot: first the tree's reader, then the tail (L5, L6).
  ///
  /// The body is for tests: it runs where other processes may hold the reader up.
  ///
  /// Throws what ``LMDBEnvironment/beginRead()`` throws.
  func beginReader(holdingUp: () -> Void = {}) throws(LMDBError) -> TransactionCore {
    for _ in 0..<Self.attempts {
      let core = try environment.beginTreeReader()
      do throws(LMDBError) {
        holdingUp()
        if let known = knownSnapshot(over: core) {
          (core.overlay, core.commit) = known
          return core
        }
        if let overlay = try overlay(over: core) {
          (core.overlay, core.commit) = (overlay, overlay.snapshot)
          return core
        }
      } catch {
        environment.endRead(core)
        throw error
      }
      environment.endRead(core)
    }
    throw LMDBError(.busy, operation: "begin read", message: "Other processes kept merging the log")
  }

  /// The overlay and the commit of a snapshot that equals the newest one; `nil` if it differs.
  ///
  /// Without an overlay the tree has everything.
  private func knownSnapshot(over core: TransactionCore) -> (LogOverlay?, UInt64)? {
    // The reader is live.
    let number = unsafe Int(mdb_txn_id(core.handle))
    let published = share.published
    return state.withLock { state in
      guard !state.isClosed, let known = state.knownRow, known.transaction == number, state.end.commit == published
      else { return nil }
      if known.row.commit == published { return (nil, published) }
      guard let overlay = state.overlay, overlay.row == known.row.commit, overlay.snapshot == published
      else { return nil }
      return (overlay, published)
    }
  }

  /// The overlay with the commits that a snapshot of the tree lacks; `nil` if merges were faster.
  private func overlay(over core: TransactionCore) throws(LMDBError) -> LogOverlay? {
    // The reader is live.
    let number = unsafe Int(mdb_txn_id(core.handle))
    let known = state.withLock(\.knownRow)
    let row = if let known, known.transaction == number { known.row } else { try row(in: core) }
    var published = share.published
    if row.commit > published {
      // The tree has a direct commit that is not published yet, or never will be. Commits that readers see must last.
      try flushTree()
      share.publish(row.commit)
      published = row.commit
    }
    return try state.withLock { (state) throws(LMDBError) -> LogOverlay? in
      if state.isClosed { throw LMDBError(.closed, operation: "begin read") }
      guard try catchUp(&state, with: row, upTo: published) else { return nil }
      if number > state.knownRow?.transaction ?? -1 { state.knownRow = (number, row) }
      let overlay = LogOverlay(
        state.parts.filter { $0.end > row.commit }, after: row.commit, at: state.end.commit, environment.tableNumbers)
      state.overlay = overlay
      return overlay
    }
  }

  /// Makes the whole data file durable as it is (F3).
  func flushTree() throws(LMDBError) {
    // liblmdb does not flush for readers.
    guard !environment.options.isReadOnly else {
      let file = try unsafe LMDBEnvironment.descriptor(of: environment.handle)
      return try LMDBError.translating("sync") { try SystemCalls.flushData(file) }
    }
    // The environment is open as long as it has this object.
    let result = unsafe mdb_env_sync(environment.handle, 1)
    guard result == MDB_SUCCESS else { throw environment.explain(result, "sync") }
  }

  /// Makes all commits durable.
  ///
  /// Throws what a commit throws; `reentrantWrite` within a write of this thread; `forked`.
  func sync() throws(LMDBError) {
    try environment.checkProcess("sync")
    try environment.state.withLock { (state) throws(LMDBError) in
      try environment.refuseEndlessWait(currentThread(), state)
    }
    try takeTurn("sync")
    defer { endTurn() }
    if share.isInDoubt { return try recover() }
    environment.endRead(try beginReader())
    // A durable record ends with its block, and was flushed together with everything before it.
    guard state.withLock({ $0.end.offset % UInt64(LogFile.blockByteCount) }) != 0 else { return }
    // The next record must not be in a sector that has been flushed (L2), so the flush has a record of its own.
    var changes = LogChanges()
    try commit(&changes, isDurable: true)
  }

  /// Brings the tail up to a commit, from the row of a tree on (L6), and returns whether it has all commits in between.
  ///
  /// It lacks some if the tree is older than the tail's beginning, or than records that have been overwritten (L4).
  func catchUp(_ state: inout State, with row: LogPlace, upTo commit: UInt64) throws(LMDBError) -> Bool {
    if row.commit > state.end.commit { state.restart(at: row) }
    guard let first = state.parts.first, first.from <= row.commit else { return false }
    state.mergeCommit = max(state.mergeCommit, row.commit + UInt64(options.commitsPerPart))
    while state.end.commit < commit {
      let end = state.end
      let next = try LMDBError.translating("read the log") { try log.record(after: end) }
      guard let found = next else { return false }
      try state.add(LogChanges(record: found.bytes), as: found.record.end, options)
    }
    // Parts are not removed earlier: an older snapshot of another thread would then begin again and again.
    if state.parts.count > 2 { state.removeParts(upTo: row) }
    return true
  }
}

extension LMDBEnvironment {
  /// Whether the directory's log, if any, is in use or will be; removes a log that is no longer in use.
  fileprivate func usesLog(_ share: LogShare, _ options: LogStore.Options) throws(LMDBError) -> Bool {
    guard share.isAlone, LogFile.isThere(in: path) else { return true }
    // A log without a row is not in use yet: its maker has not made the first recovery.
    return try LMDBError.translating("open the log") {
      if try self.options.isReadOnly && rowOfTree() == nil { return false }
      guard let isMarked = options.isMarked else { return true }
      if try isMarked(self) { return true }
      if !self.options.isReadOnly { try discardLog(options) }
      return options.makesLog && !self.options.isReadOnly
    }
  }

  /// Removes a log that is not in use.
  ///
  /// A program that knows no logs may have put another file in the place of the tree, whose row says nothing about this
  /// log. So it is kept unless its newest record ends at the row, and also if it cannot be read.
  private func discardLog(_ options: LogStore.Options) throws {
    guard let keep = options.keep else { return try LogFile.remove(from: path) }
    var isLacking = true
    if let log = try? LogFile.open(in: path) {
      defer { log.close() }
      isLacking = try !log.ends(at: rowOfTree() ?? LogPlace())
    } else if try LogStore.isReadable(in: path) {
      // Its creation was interrupted.
      isLacking = false
    }
    if isLacking { try keep() } else { try LogFile.remove(from: path) }
  }

  /// The row of the tree; `nil` if it has none.
  private func rowOfTree() throws -> LogPlace? {
    do throws(LMDBError) {
      let rows = try Database<[UInt8], [UInt8]>(opening: LogStore.rowTable, in: self)
      let reader = try beginRead()
      return try rows.value(forKey: LogStore.rowKey, in: reader).map { (bytes) throws(LMDBError) in try LogPlace(bytes)
      }
    } catch {
      guard error.code == .databaseNotFound else { throw error }
      return nil
    }
  }
}
