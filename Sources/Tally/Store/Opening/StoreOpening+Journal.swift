import LMDB
import Logging
import SystemPackage
import TallySystem

// The journal of a store: "One flush per commit" in `docs/design.md`.
//
// A store has a journal if its header says so, and then every process that writes uses it. Therefore the header is
// changed only while nobody else has the store open, and before the first commit that goes through the journal.

extension StoreOpening {
  /// Whether the environment is opened with a journal.
  enum JournalUse {
    /// With the journal, if there is one.
    case found
    /// With a journal, which is created if it is missing.
    case created
    case none
  }

  func journalOptions(_ use: JournalUse) -> JournalOptions? {
    guard use == .created || (use == .found && LMDBEnvironment.isJournalThere(in: directory)) else { return nil }
    var options = configuration.journal
    // The queue of commits or `flush` does that.
    options.flushesRecords = false
    return options
  }

  /// Opens the store again, with or without a journal, if its header requires it; adds a journal if configured.
  func withRightJournal(_ found: OpenEnvironment) throws -> OpenEnvironment {
    // Readers need no journal.
    if configuration.isReadOnly { return found }
    var opened = found
    if configuration.usesJournal, try !isMarked(opened) {
      opened.close()
      try giveJournal()
      opened = try openEnvironment(.shared)
    }
    for _ in 0..<Self.journalAttempts {
      let isMarked = try isMarked(opened)
      // Nobody changes the mark while this process has the store open.
      if isMarked == opened.environment.hasJournal { return opened }
      opened.close()
      // Perhaps another process has just set the mark, the store is a copy without its journal, or a crash came before
      // the mark.
      opened = try openEnvironment(.shared, isMarked ? .created : .none)
    }
    opened.close()
    throw TallyError.storeChanging
  }

  /// How often to try: another process may change the mark between two attempts, but only once.
  private static let journalAttempts = 8

  /// Whether the header says that the store has a journal; closes the store if the header cannot be read.
  private func isMarked(_ opened: OpenEnvironment) throws -> Bool {
    do {
      guard let header = try Self.header(in: opened.environment) else { throw try headerFault(in: opened.environment) }
      return header.requiredFeatures.contains(.journal)
    } catch {
      opened.close()
      throw error
    }
  }

  /// Gives the store a journal if nobody else has it open and there is space; otherwise the next opening does.
  private func giveJournal() throws {
    do {
      try giveJournalAlone()
    } catch {
      let code = (error as? TallyError)?.code ?? (error as? LMDBError).map { TallyError($0).code }
      guard let code, [.storeBusy, .alreadyOpen, .diskFull].contains(code) else { throw error }
    }
  }

  private func giveJournalAlone() throws {
    var alone = self
    alone.configuration.waitLimitInSeconds = 0
    // The mark must be on disk before the first record can be, so liblmdb itself flushes it.
    alone.configuration.durability = .durable
    alone.configuration.journal.directCommitCount = 1
    let opened = try alone.openEnvironment(.exclusive, .created)
    defer { opened.close() }
    guard let header = try Self.header(in: opened.environment) else { return }
    try markWithJournal(opened, header)
    configuration.logger.notice("gave the store a journal")
  }

  /// Marks in the header that the store has a journal; it must be open with the journal, and by nobody else.
  func markWithJournal(_ opened: OpenEnvironment, _ header: StoreHeader) throws {
    guard opened.environment.hasJournal, !header.requiredFeatures.contains(.journal) else { return }
    let marked = header.requiring(.journal)
    let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: opened.environment)
    // liblmdb itself flushes the first durable commits of a clean file, so no record is written before the mark.
    try opened.environment.write { transaction in try meta.put(marked, forKey: .header, in: &transaction) }
  }

  /// Brings the data file of a store that nobody has open up to its last commit, if a crash has left it behind.
  ///
  /// It throws only `diskFull`: if a file cannot be recovered, its user wants to replace it anyway.
  func recoverClosedStore() throws(LMDBError) {
    var options = environmentOptions
    options.journal = journalOptions(.found)
    guard options.journal != nil else { return }
    do throws(LMDBError) {
      try LMDBEnvironment(path: directory, options: options).close()
    } catch {
      if error.code == .diskFull { throw error }
    }
  }

  /// Ends the journal's claim on a data file that is about to be replaced.
  ///
  /// If the data file could not be recovered, the journal's records are removed with it.
  func settleJournal() throws {
    if (try? LMDBEnvironment.isDataFileReplaceable(in: directory)) == true { return }
    // If there was no power cut since, the file as processes see it contains everything.
    if let data = try? FileDescriptor.open(dataFile, .readOnly, options: .closeOnExec) {
      try data.closeAfter { try SystemCalls.flush(data) }
    }
    try removeJournal()
  }

  /// Removes the journal of a data file that is about to be removed.
  func removeJournal() throws {
    for name in LMDBEnvironment.journalFileNames {
      let path = directory.appending(name)
      if (try? path.stat()) != nil { try SystemCalls.removeFile(path) }
    }
    try SystemCalls.flushDirectory(directory)
  }
}

extension TallyError {
  static let storeChanging = TallyError(
    .storeBusy, "Other processes keep changing the store while it is opened", remedy: "Try again")

  static let unsettledJournal = TallyError(
    .storageFailed, "The store's file could not be flushed", remedy: "Check the disk, then try again")
}
