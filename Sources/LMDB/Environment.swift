import CLMDB
public import SystemPackage
import TallySystem

/// An open LMDB environment: one directory with a memory map, its databases and its readers.
///
/// ```swift
/// let environment = try LMDBEnvironment(path: "/var/lib/example")
/// let names = try environment.write { transaction in
///   let names = try Database<UInt64, String>(opening: "names", creating: true, in: &transaction)
///   try names.put("Ada", forKey: 1, in: &transaction)
///   return names
/// }
/// let name = try environment.read { try names.value(forKey: 1, in: $0) }
/// ```
///
/// The compiler or the binding keeps these rules of LMDB: a process opens one environment per directory, uses none
/// after a fork, ends a write transaction on its thread, and never moves the map under a live transaction. One rule is
/// left to the caller: no remote filesystem.
///
/// Transactions keep their environment alive; the last reference to go closes it.
@safe
public final class LMDBEnvironment: Sendable {
  /// The path of the environment.
  public let path: FilePath

  // Constants.
  let options: Options
  let entry: UInt64
  let forkGeneration: ForkGeneration
  let openedInGeneration: UInt32
  // Synchronises itself, apart from what `state` guards: closing, remapping and opening databases.
  nonisolated(unsafe) let handle: OpaquePointer
  let stamps: DatabaseStamps
  /// Taken before liblmdb's own lock between processes, which has no limit; `nil` if the options need none.
  let writeLock: FileLock?
  /// Makes this process visible to others; `nil` for a frozen file, and if the lock file cannot be opened.
  let lockFile: LockFile?
  // Guarded by itself.
  let state: Monitor<State>
  let tableNumbers = TableNumbers()
  // Set once, before anybody else has this object.
  nonisolated(unsafe) private var openedLog: LogStore?
  /// The log, if there is one.
  var log: LogStore? { unsafe openedLog }

  /// Opens the environment in a directory that must exist, unless ``Options/createsDirectory`` is set; creates its
  /// files unless it is opened for reading only.
  ///
  /// With ``Options/isFrozenFile`` the path is that of a file instead.
  ///
  /// Throws `alreadyOpen` if this process has the directory open under any path, or another directory with the same data
  /// file or lock file; `noSuchFile`, `permissionDenied`, `invalidFile`, `versionMismatch`; `diskFull` if there is no room
  /// for the lock file, which reading also needs; `outOfMemory` if even the smallest map is refused; `busy` if other
  /// processes kept opening and closing it, if one has been opening it for too long, or if one that has it open does
  /// not know its last commit.
  ///
  /// The corresponding C functions are `mdb_env_create` and `mdb_env_open`.
  public init(path: FilePath, options: Options = Options()) throws(LMDBError) {
    var options = options
    if options.isFrozenFile { options.isReadOnly = true }
    let generation = ForkDetection.generation
    let opened = generation.current
    try Self.createDirectory(path, options: options)
    let identity = try LMDBError.translating("open", path) { try FileIdentity(of: path) }
    let entry = try EnvironmentRegistry.enter(
      identity, files: options.isFrozenFile ? [identity] : Self.files(in: path), generation: opened,
      waitingAtMost: options.waitLimit)
    var lockFile: LockFile?
    var presence: FileLock?
    // Once the handle has been announced, a process that would recover the file sees it.
    defer { presence?.release() }
    do throws(LMDBError) {
      writeLock = try Self.writeLock(of: path, options: options)
      try Self.checkNumbers(of: options)
      lockFile = try LockFile(in: path, options: options)
      if options.recoversJournal && !options.isFrozenFile {
        presence = try LMDBError.translating("open") { try JournalRecovery.run(in: path, options: options) }
      }
      // Kept for the life of this object, which closes it once.
      unsafe handle = try Self.openAlone(path: path, options: options, lockFile, enteredAs: entry)
    } catch {
      lockFile?.close()
      EnvironmentRegistry.leave(entry)
      throw error
    }
    self.lockFile = lockFile
    self.path = path
    self.options = options
    self.entry = entry
    forkGeneration = generation
    openedInGeneration = opened
    stamps = DatabaseStamps(capacity: options.databaseCapacity + Self.coreDatabases)
    state = Monitor(State())
    if let logOptions = options.log, logOptions.makesLog { try openLog(logOptions) }
  }

  /// Uses the existing log, if any; nobody else in this process may have the environment yet.
  ///
  /// Until then reads see the tree only, and nothing may be written.
  ///
  /// Throws what opening the log throws.
  package func joinLog() throws(LMDBError) {
    if log == nil, let logOptions = options.log { try openLog(logOptions) }
  }

  /// Makes the environment's log, if it has none; nobody else, here or in another process, may have the environment open.
  ///
  /// Throws `invalidArgument` for an environment without the option ``Options/log``, and what opening it throws.
  package func makeLog() throws(LMDBError) {
    guard log == nil else { return }
    guard var logOptions = options.log else { throw LMDBError(.invalidArgument, operation: "make the log") }
    logOptions.makesLog = true
    try openLog(logOptions)
  }

  /// Whether commits go to a log.
  package var hasLog: Bool { log != nil }

  /// Lets the thread that merges a log run a body before each merge, for work that no commit should wait for.
  package func setUpkeep(_ body: @escaping @Sendable (LMDBEnvironment) throws -> Void) {
    log?.state.withLock { $0.upkeep = body }
  }

  /// The size of the log in bytes, and how many commits the tree lacks; `nil` without a log.
  ///
  /// Throws what ``beginRead()`` throws.
  package func logInformation() throws(LMDBError) -> (sizeInBytes: Int64, commitCount: Int)? {
    guard let log else { return nil }
    let reader = ReadTransaction(environment: self, core: try log.beginReader())
    let row = try log.row(in: reader.core)
    return (Int64(LogFile.blockByteCount + log.log.ringByteCount), max(0, reader.snapshotNumber - Int(row.commit)))
  }

  private func openLog(_ options: LogStore.Options) throws(LMDBError) {
    guard !self.options.isFrozenFile else { return }
    // Commits in the tree must last, because their room in the log is used again.
    try flushMetaPages(true)
    guard let opened = try LogStore(of: self, options: options) else {
      return try flushMetaPages(self.options.durability == .full)
    }
    // Nobody else has this object yet.
    unsafe openedLog = opened
    state.withLock { $0.readerCheck.countMerges() }
  }

  private func flushMetaPages(_ isNeeded: Bool) throws(LMDBError) {
    // No transaction is live.
    try Self.check(unsafe mdb_env_set_flags(handle, UInt32(MDB_NOMETASYNC), isNeeded ? 0 : 1), "open the log")
  }

  deinit {
    // In a child of a fork everything here belongs to the parent: even closing would clear the parent's slots.
    guard !isForked else { return }
    let isOpen = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isOpen { closeHandle() }
  }

  /// The file with the data.
  package var dataFile: FilePath { options.isFrozenFile ? path : path.appending(Self.dataFileName) }

  /// The name that liblmdb gives its file.
  package static let dataFileName = "data.mdb"
  /// The name that liblmdb gives the file of its locks.
  package static let lockFileName = "lock.mdb"

  /// LMDB's own two databases, of free pages and of names, which take the first two handles.
  static let coreDatabases = 2

  /// Whether this process is a child of the one that opened the environment.
  package var isForked: Bool { forkGeneration.current != openedInGeneration }
}

extension LMDBEnvironment {
  /// The state of the environment's own transactions.
  struct State {
    var isClosed = false
    /// Whether the system refused the map when it had to be moved; after that, the environment can only be closed.
    var hasLostMap = false
    /// Set while somebody waits for the last transaction to end, to move the map or to close; new ones wait.
    var isDraining = false
    /// Transactions and calls inside liblmdb that need the map to stay where it is.
    var liveCount = 0
    /// Whether some thread writes or waits for other processes to end writing, where ``Options/writeWaitLimit`` is set.
    var isWriteTurnTaken = false
    /// When this process may write again, if another one was waiting when its last turn ended: the time since
    /// `LMDBEnvironment.clockStart`.
    ///
    /// The size of a `ContinuousClock.Instant` is known at run time only, and every read would pay for that.
    var courtesyEnd: Duration?
    /// The thread that holds the write lock.
    var writer: UInt?
    /// The thread that has the turn to write to the log; another one may write to the tree meanwhile.
    var logWriter: UInt?
    /// How many write transactions have begun.
    var begunWriteCount = 0
    /// A write transaction that was dropped on a foreign thread, and waits for its own.
    var abandoned: TransactionCore?
    /// The thread that has an uncommitted handle of a database.
    var databaseOpener: UInt?
    /// How many times databases were opened outside write transactions; a write transaction that began before that must
    /// open none.
    var databaseGeneration = 0
    /// The thread of ``groupCommit(_:)``, once it has been called.
    var writeQueue: WriteQueue<WriteTransaction>?
    /// Every reader with a slot, live or idle.
    var readers: [TransactionCore] = []
    /// Ended readers that can be used again; beginning one of these needs no lock between processes.
    var idle: [TransactionCore] = []
    var readerCheck = ReaderCheck()

    /// Whether the thread has a live transaction: if it waited for the end of all of them, it would wait for itself.
    func hasTransaction(on thread: UInt) -> Bool {
      writer == thread || logWriter == thread || readers.contains { $0.isLive && $0.thread == thread }
    }
  }

  /// How many idle readers keep their slot.
  ///
  /// More readers than this at once still work, at the price of a new slot each.
  static let idleReadersLimit = 16

  /// Throws if the environment belongs to another process; every call does this first.
  func checkProcess(_ operation: String) throws(LMDBError) {
    if isForked { throw LMDBError(.forked, operation: operation) }
  }

  /// Runs a body that needs an open environment whose map stays where it is, as every call into liblmdb does.
  func whileOpen<R>(_ operation: String, _ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
    try checkProcess(operation)
    try enter(operation) { _ in }
    defer { leave() }
    return try body()
  }

  /// Counts a transaction or call in, after waiting while another thread drains the environment.
  func enter<R>(_ operation: String, _ body: (inout State) throws(LMDBError) -> R) throws(LMDBError) -> R {
    let thread = currentThread()
    let entered = try state.wait(atMost: options.waitLimit) { (state) throws(LMDBError) -> R? in
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      if state.hasLostMap { throw LMDBError(.panic, operation: operation) }
      reclaimAbandoned(in: &state, on: thread)
      if state.isDraining && !state.hasTransaction(on: thread) { return nil }
      let result = try body(&state)
      state.liveCount += 1
      return result
    }
    guard let entered else { throw LMDBError(.busy, operation: operation) }
    return entered
  }

  /// Counts a transaction or call out.
  func leave(_ change: (inout State) -> Void = { _ in }) {
    let isAwaited = state.withLock { state in
      change(&state)
      assert(state.liveCount > 0, "more have left than entered")
      state.liveCount -= 1
      return state.isDraining
    }
    if isAwaited { state.wakeAll() }
  }

  /// Aborts a write transaction that was dropped elsewhere, now that its own thread is here.
  func reclaimAbandoned(in state: inout State, on thread: UInt) {
    guard let abandoned = state.abandoned, abandoned.thread == thread else { return }
    assert(state.writer == thread && state.liveCount > 0, "an abandoned transaction is no longer live")
    state.abandoned = nil
    state.writer = nil
    state.liveCount -= 1
    if state.databaseOpener == thread { state.databaseOpener = nil }
    abandoned.abortHandle()
    endWriteTurn(in: &state)
    // Others may wait for the end of this transaction, or for their turn to open databases; the lock is held here.
    self.state.wakeAll()
  }
}

/// The state of an environment in numbers.
public struct EnvironmentInformation: Sendable, Hashable {
  /// The size of the map of this process.
  public let mapSizeInBytes: Int
  /// The size of a page.
  public let pageSizeInBytes: Int
  /// The number of pages the file has ever needed; free ones among them are used again.
  public let pageCount: Int
  /// The last committed transaction.
  ///
  /// A compacted copy starts again from the beginning, so this is not a number to remember.
  public let lastTransactionID: Int
  /// How many reader slots have been in use at once.
  public let readerCount: Int
  /// How many reader slots there are.
  public let maxReaders: Int
  /// How many transactions old the oldest live snapshot is: pages freed since then cannot be used again.
  public let oldestReaderLag: Int
}

extension LMDBEnvironment {
  /// Returns size, last transaction and use of the reader table.
  ///
  /// Throws `closed`, `forked`; `busy` if waiting for the map to move took too long.
  ///
  /// The corresponding C functions are `mdb_env_info`, `mdb_env_stat` and `mdb_reader_list`.
  public func information() throws(LMDBError) -> EnvironmentInformation {
    try whileOpen("information") { () throws(LMDBError) in try liveInformation() }
  }

  /// Returns the shape of the tree that holds the names of databases.
  ///
  /// Throws what ``information()`` throws.
  ///
  /// The corresponding C function is `mdb_env_stat`.
  public func statistics() throws(LMDBError) -> DatabaseStatistics {
    try whileOpen("statistics") { DatabaseStatistics(nameStatistics) }
  }

  /// Whether a commit may be under way, or the log waits for its recovery.
  package var isCommitting: Bool { log?.share.isInDoubt ?? false }

  /// The newest transaction whose meta page is written, acknowledged or not; with a log, the newest commit that is published.
  ///
  /// Throws what ``information()`` throws, which also looks at every reader.
  package func lastTransactionID() throws(LMDBError) -> Int {
    try whileOpen("information") { log?.lastCommit ?? newestTransactionID }
  }

  /// Whether readers that begin now see a transaction: its commit has ended.
  ///
  /// Throws what ``beginRead()`` throws.
  package func hasAcknowledged(transaction: Int) throws(LMDBError) -> Bool {
    if log != nil { return try lastTransactionID() >= transaction }
    let reader = ReadTransaction(environment: self, core: try beginTreeReader())
    // Live until the end of this function.
    return unsafe mdb_txn_id(reader.core.handle) >= transaction
  }

  /// The same as ``lastTransactionID()``, but the caller keeps the environment open.
  var newestTransactionID: Int {
    // A plain number.
    unsafe mapInformation.me_last_txnid
  }

  /// The size of the map of this process; the caller keeps the environment open.
  var mapSizeInBytes: Int {
    // A plain number.
    unsafe mapInformation.me_mapsize
  }

  private var mapInformation: MDB_envinfo {
    var information = unsafe MDB_envinfo()
    // The call only writes into the local it is given.
    unsafe mdb_env_info(handle, &information)
    return unsafe information
  }

  /// Gathers the numbers; the caller keeps the environment open.
  func liveInformation() throws(LMDBError) -> EnvironmentInformation {
    // Plain numbers, as below.
    let information = unsafe mapInformation
    let last = unsafe information.me_last_txnid
    let oldest = try readerTable().compactMap(\.transactionID).min() ?? last
    return unsafe EnvironmentInformation(
      mapSizeInBytes: information.me_mapsize,
      pageSizeInBytes: Int(nameStatistics.ms_psize),
      pageCount: information.me_last_pgno + 1,
      lastTransactionID: last,
      readerCount: Int(information.me_numreaders),
      maxReaders: Int(information.me_maxreaders),
      oldestReaderLag: max(last - oldest, 0)
    )
  }

  private var nameStatistics: MDB_stat {
    var statistics = MDB_stat()
    // The call only writes into the local it is given.
    unsafe mdb_env_stat(handle, &statistics)
    return statistics
  }
}

extension LMDBEnvironment {
  /// The least free room: with less, a short write counts as a full disk.
  private static let leastRoomInBytes: UInt64 = 1 << 16

  /// Creates the error of a code, with the details that the environment knows.
  func explain(_ returnCode: Int32, _ operation: String) -> LMDBError {
    switch returnCode {
    case MDB_MAP_FULL:
      return LMDBError(returnCode: returnCode, operation: operation, message: mapUsage())
    case Errno.ioError.rawValue where SystemCalls.isFilesystemFull(at: path, neededBytes: Self.leastRoomInBytes):
      // A full disk makes a write short, and liblmdb reports that as a failure of the disk.
      return LMDBError(.diskFull, operation: operation, returnCode: returnCode)
    default:
      return LMDBError(returnCode: returnCode, operation: operation)
    }
  }

  /// A sentence about what fills the map: data, or a reader that keeps old pages.
  private func mapUsage() -> String? {
    // The error is clear without these numbers.
    guard let now = try? liveInformation() else { return nil }
    let oldest = (try? readerTable())?.filter { $0.transactionID != nil }.min {
      $0.transactionID ?? 0 < $1.transactionID ?? 0
    }
    let oldestProcess = oldest.map { " in process \($0.processID)" } ?? ""
    return """
      The memory map is full: \(now.pageCount) of \(now.mapSizeInBytes / now.pageSizeInBytes) pages used, map size \
      \(now.mapSizeInBytes) bytes, oldest reader \(now.oldestReaderLag) transactions behind\(oldestProcess)
      """
  }
}
