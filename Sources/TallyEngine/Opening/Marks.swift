package import LMDB
import Logging
package import SystemPackage
import TallySystem

// Stores whose commits go to a log: `docs/log.md`.
//
// While a store has a log, its header has a mark. An earlier version would write without the log, so the mark makes it
// refuse the store. The process that closes the store last brings everything into the data file, and removes first the
// mark and then the log.

extension StoreOpening {
  /// How the environment of a store uses a log; `nil` where that is not possible.
  package var logOptions: LogStore.Options? {
    guard LogStore.isPossible, !isSnapshot else { return nil }
    var options = LogStore.Options()
    options.makesLog = false
    options.waitLimit = configuration.waitLimit
    options.mark = { try Self.changeHeader(in: &$0) { $0.requiredFeatures.insert(.log) } }
    // The commits of a store whose header cannot be read must not be lost.
    options.isMarked = { environment in
      let header = (try? Self.header(in: environment)) ?? nil
      return header.map(\.hasLog) ?? true
    }
    options.keep = { [self] in
      configuration.logger.warning("the store's file has been replaced: its former log is kept under another name")
      try settleLog(because: .restore)
    }
    options.unmark = { try Self.changeHeader(in: &$0) { $0.requiredFeatures.remove(.log) } }
    return options
  }

  /// Changes the header of a store, if it has one; writes only what is new.
  private static func changeHeader(
    in transaction: inout WriteTransaction, _ change: (inout StoreHeader) -> Void
  ) throws {
    guard try transaction.databaseNames().contains(StoreHeader.tableName) else { return }
    let meta: Database<MetaKey, StoreHeader> = try Database(
      opening: StoreHeader.tableName, creating: false, in: &transaction)
    guard let header = try meta.value(forKey: .header, in: transaction) else { return }
    var changed = header
    change(&changed)
    if changed != header { try meta.put(changed, forKey: .header, in: &transaction) }
  }

  /// Access to the store for opening it: exclusive if a log can be made because nobody else has the store open.
  func accessForOpening() throws -> StoreAccess {
    if configuration.makesLog, !configuration.isReadOnly, LogStore.isPossible, !LogStore.isThere(in: directory),
      let alone = StoreAccess.alone(in: directory, configuration: configuration)
    {
      return alone
    }
    return try StoreAccess(.shared, to: directory, configuration: configuration)
  }

  /// Makes the log of a store that may be used in every way, if nobody else has the store open, and lets others open
  /// it.
  ///
  /// Removes a mark that has no log: the data file was copied without it.
  ///
  /// - Returns: false if another process has gained exclusive access in the meantime; the store must then be closed.
  /// - Throws: what making the log throws; the store must then be closed.
  func beginLog(of opened: OpenEnvironment, _ header: StoreHeader) throws -> Bool {
    if header.hasLog, !opened.environment.hasLog {
      configuration.logger.warning(
        "the store's log is missing: if its file was copied while it was open, the last commits are missing, too")
      try opened.environment.write { try Self.changeHeader(in: &$0) { $0.requiredFeatures.remove(.log) } }
    }
    if opened.access.isExclusive { try opened.environment.makeLog() }
    return try opened.access.share()
  }

  /// Lets an open store use the log that is there, after its file has been checked.
  ///
  /// - Parameters:
  ///   - opened: the store.
  ///   - settingAside: whether a log that cannot be read is kept under another name, and its commits given up.
  /// - Returns: the store, with the name of the log that was set aside.
  /// - Throws: `damagedStore` for a log that cannot be read; what opening it throws.
  func joinLog(of opened: OpenEnvironment, settingAside: Bool = false) throws -> OpenEnvironment {
    guard !isSnapshot else { return opened }
    guard LogStore.isPossible || !LogStore.isThere(in: directory) else { throw TallyError.impossibleLog }
    do {
      try opened.environment.joinLog()
      return opened
    } catch {
      guard error.code == .corrupted, try !LogStore.isReadable(in: directory) else { throw error }
      guard settingAside else { throw TallyError.unreadableLog }
      var opened = opened
      try opened.environment.write { try Self.changeHeader(in: &$0) { $0.requiredFeatures.remove(.log) } }
      opened.keptLog = try settleLog(because: .repair)
      return opened
    }
  }

  /// Removes the log of a data file that is about to be replaced, so that nobody takes it for the log of the new file.
  ///
  /// A log that could not be brought into the file is kept next to its safety copy.
  ///
  /// - Returns: the log that is kept.
  @discardableResult
  package func settleLog(because reason: SafetyCopy.Reason? = nil) throws -> FilePath? {
    guard LogStore.isThere(in: directory) else { return nil }
    let kept = try reason.map { reason in
      try SafetyCopy.create(
        directory.appending(LogStore.fileNames[0]), because: reason, in: directory, at: configuration.now(),
        type: SafetyCopy.logType)
    }
    try LogStore.remove(from: directory)
    return kept
  }
}

extension StoreHeader {
  /// Whether commits may be in a log next to the data file.
  package var hasLog: Bool { requiredFeatures.contains(.log) }
}

extension TallyError {
  fileprivate static let unreadableLog = TallyError(
    .damagedStore, "The store's file 'log' cannot be read; it had the last changes",
    remedy: "Repair the store: that keeps the file under another name, and goes on without its changes")

  fileprivate static let impossibleLog = TallyError(
    .storageFailed, "The store has a log, which this system cannot use",
    remedy: "Close the store where it is open, or copy it with its log to a system that has locks of open files")
}

// Stores to which an earlier version gave a journal: "What a journal has left" in `docs/binding.md`.
//
// The header of such a store has a mark, by which processes of that version write to the journal. This version writes
// no journal, so it removes the mark before it writes, while nobody else has the store open. Without the mark every
// version treats the store as a plain one.

extension StoreOpening {
  /// Makes a store with the mark a plain one; nobody else may have it open.
  ///
  /// A crash leaves the mark, or a clean journal without it, which the next opening for writing removes.
  package func removeJournal(of opened: OpenEnvironment) throws {
    guard !configuration.isReadOnly, let header = try Self.header(in: opened.environment), header.hasJournal,
      try admission(of: header) != .reading
    else { return }
    // Opening the environment has recovered the journal.
    guard try JournalRecovery.isClean(in: directory) else { throw TallyError.unsettledJournal }
    _ = try Self.removeMarks(from: header, in: opened.environment)
    removeUnmarkedJournal()
    configuration.logger.notice("removed the store's journal")
  }

  /// Removes the marks of a journal and of a log from a header, and returns the new header; does nothing without any.
  package static func removeMarks(from header: StoreHeader, in environment: LMDBEnvironment) throws -> StoreHeader {
    guard header.hasJournal || header.hasLog else { return header }
    var plain = header
    plain.requiredFeatures.subtract([.journal, .log])
    let meta = try StoreHeader.table(in: environment)
    try environment.write { [plain] transaction in try meta.put(plain, forKey: .header, in: &transaction) }
    return plain
  }

  /// Removes a clean journal that no header names; others may have the store open, and none of them uses it.
  ///
  /// If the system refuses that, the file stays and has no effect.
  package func removeUnmarkedJournal() {
    guard JournalRecovery.isThere(in: directory), (try? JournalRecovery.isClean(in: directory)) == true else { return }
    try? JournalRecovery.removeFiles(in: directory)
  }

  /// Brings the file of a closed store up to its last commit, if a crash left it at an earlier one.
  ///
  /// It throws only `diskFull`. Other errors are ignored, because callers replace or delete a file that cannot be
  /// recovered.
  package func recoverClosedStore() throws(LMDBError) {
    if (try? JournalRecovery.isClean(in: directory)) == true, !LogStore.isThere(in: directory) { return }
    do throws(LMDBError) {
      let environment = try LMDBEnvironment(path: directory, options: storeOptions)
      defer { try? environment.close() }
      // A tree that contradicts itself must not be written.
      guard LogStore.isThere(in: directory), (try? environment.checkStructure()) != nil else { return }
      try environment.joinLog()
      // On a full disk joining only adopts the log; this makes the recovery, or throws `diskFull`.
      try environment.sync()
    } catch {
      if error.code == .diskFull { throw error }
    }
  }

  /// Removes the journal of a data file that is about to be replaced.
  ///
  /// The records of a journal that could not be recovered are lost.
  package func settleJournal() throws {
    if (try? JournalRecovery.isClean(in: directory)) != true,
      let data = try? FileDescriptor.open(dataFile, .readOnly, options: .closeOnExec)
    {
      // Unless the power has failed since, all commits are in the file as processes see it, and this flushes them.
      try data.closeAfter { try SystemCalls.flush(data) }
    }
    try JournalRecovery.removeFiles(in: directory)
  }
}

extension StoreHeader {
  /// Whether an earlier version has given the store a journal.
  package var hasJournal: Bool { requiredFeatures.contains(.journal) }
}

extension TallyError {
  package static let unsettledJournal = TallyError(
    .storageFailed, "The store's file could not be flushed", remedy: "Check the disk, then try again")
}
