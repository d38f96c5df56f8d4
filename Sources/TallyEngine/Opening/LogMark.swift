package import LMDB
import Logging
import SystemPackage
import TallySystem

// Stores whose commits go to a log: `docs/log.md`.
//
// While a store has a log, its header has a mark: an earlier version would write beside the log, so it refuses the store.
// Who closes the store last brings everything into the data file, and removes the mark and then the log.

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

  /// Makes the log of a store that may be used in every way, if nobody else has it open, and lets others open it.
  ///
  /// Removes a mark that has no log: the data file was copied without it.
  ///
  /// - Returns: false if another process has got exclusive access meanwhile, so that the store must be closed.
  /// - Throws: what making the log throws; the store must be closed then.
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
  /// For reading only, what killed processes have left in the log must be brought into the file first: the store is opened
  /// again then.
  func joinLog(of opened: OpenEnvironment) throws -> OpenEnvironment {
    guard !isSnapshot else { return opened }
    guard LogStore.isPossible || !LogStore.isThere(in: directory) else { throw TallyError.impossibleLog }
    var opened = opened
    for _ in 1..<Self.recoveryAttempts {
      do {
        try opened.environment.joinLog()
        return opened
      } catch {
        guard configuration.isReadOnly, error.code == .readOnly else { throw error }
        try opened.environment.close()
        try recoverLog(after: error)
        opened = OpenEnvironment(environment: try openFile(), access: opened.access, writeRefusal: opened.writeRefusal)
      }
    }
    try opened.environment.joinLog()
    return opened
  }

  /// Brings a log into the file of a store that cannot be opened for reading only without that.
  private func recoverLog(after refusal: LMDBError) throws {
    var options = storeOptions
    options.isReadOnly = false
    do {
      let environment = try LMDBEnvironment(path: directory, options: options)
      defer { try? environment.close() }
      try environment.joinLog()
    } catch {
      // Where nothing can be written, it must be done elsewhere.
      throw [.permissionDenied, .readOnly].contains(error.code) ? refusal : error
    }
  }

  /// Other processes may come and be killed between two attempts.
  private static let recoveryAttempts = 3

  /// Removes the log of a data file that is about to be replaced, so that nobody takes it for that of the new one.
  ///
  /// A log that could not be brought into the file is kept beside its safety copy.
  package func settleLog(because reason: SafetyCopy.Reason? = nil) throws {
    guard LogStore.isThere(in: directory) else { return }
    if let reason {
      _ = try SafetyCopy.create(
        directory.appending(LogStore.fileNames[0]), because: reason, in: directory, at: configuration.now(),
        type: SafetyCopy.logType)
    }
    try LogStore.remove(from: directory)
  }
}

extension StoreHeader {
  /// Whether commits may be in a log beside the data file.
  package var hasLog: Bool { requiredFeatures.contains(.log) }
}

extension TallyError {
  fileprivate static let impossibleLog = TallyError(
    .storageFailed, "The store has a log, which this system cannot use",
    remedy: "Close the store where it is open, or copy it with its log to a system that has locks of open files")
}
