import LMDB
import Logging
import SystemPackage
import TallySystem

// The journal of a store: "One flush per commit" in `docs/design.md`.
//
// A store has one if its header says so, and then every process that writes uses it. So the header is changed only while
// nobody else has the store open, and before the first commit that goes through the journal.

extension StoreOpening {
  /// Whether an environment is opened with a journal.
  enum JournalUse {
    /// If there is one.
    case found
    /// In any case: it is made where it is missing.
    case created
    case none
  }

  func journalOptions(_ use: JournalUse) -> JournalOptions? {
    guard use == .created || (use == .found && LMDBEnvironment.isJournalThere(in: directory)) else { return nil }
    var options = configuration.journal
    // The queue of commits does that, or `flush`.
    options.flushesRecords = false
    return options
  }

  /// Opens a store again unless it is open in the way that its header demands; gives it a journal, if it is to have one.
  func withRightJournal(_ found: OpenEnvironment) throws -> OpenEnvironment {
    // Readers need none.
    if configuration.isReadOnly { return found }
    var opened = found
    if configuration.usesJournal, try !isMarked(opened) {
      opened.close()
      try giveJournal()
      opened = try openEnvironment(.shared)
    }
    for _ in 0..<Self.journalAttempts {
      let isMarked = try isMarked(opened)
      // While this process has the store open, nobody changes the mark.
      if isMarked == opened.environment.hasJournal { return opened }
      opened.close()
      // Another process may mark it now; or a copy lacks its journal, or a crash came before the mark.
      opened = try openEnvironment(.shared, isMarked ? .created : .none)
    }
    opened.close()
    throw TallyError.storeChanging
  }

  /// Another process may change the mark between two attempts, once.
  private static let journalAttempts = 8

  /// Whether the header says that the store has a journal; closes it if that cannot be known.
  private func isMarked(_ opened: OpenEnvironment) throws -> Bool {
    do {
      guard let header = try Self.header(in: opened.environment) else { throw try headerFault(in: opened.environment) }
      return header.requiredFeatures.contains(.journal)
    } catch {
      opened.close()
      throw error
    }
  }

  /// Gives a store a journal if nobody else has it open and there is room; else the next opening does.
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
    // The mark is on the disk before the first record can be: liblmdb itself flushes it.
    alone.configuration.durability = .durable
    alone.configuration.journal.directCommitCount = 1
    let opened = try alone.openEnvironment(.exclusive, .created)
    defer { opened.close() }
    guard let header = try Self.header(in: opened.environment) else { return }
    try markWithJournal(opened, header)
    configuration.logger.notice("gave the store a journal")
  }

  /// Marks a store that is open with a journal, and by nobody else, as one that has it.
  func markWithJournal(_ opened: OpenEnvironment, _ header: StoreHeader) throws {
    guard opened.environment.hasJournal, !header.requiredFeatures.contains(.journal) else { return }
    let marked = header.requiring(.journal)
    let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: opened.environment)
    // The first durable commits of a clean file are flushed as liblmdb does, so that no record comes before the mark.
    try opened.environment.write { transaction in try meta.put(marked, forKey: .header, in: &transaction) }
  }

  /// Brings the file of a store that nobody has open to its last commit, if a crash has left it behind.
  ///
  /// Throws `diskFull` only: a file that cannot be recovered is what its user wants to replace.
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

  /// Ends what the journal says of a data file that is about to be replaced.
  ///
  /// One that could not be recovered takes its records with it.
  func settleJournal() throws {
    if (try? LMDBEnvironment.isDataFileReplaceable(in: directory)) == true { return }
    // Without a power cut since, everything is in the file as processes see it.
    if let data = try? FileDescriptor.open(dataFile, .readOnly, options: .closeOnExec) {
      try data.closeAfter { try SystemCalls.flush(data) }
    }
    try removeJournal()
  }

  /// Removes the journal of a data file that is about to go.
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
