package import LMDB
import Logging
import SystemPackage
import TallySystem

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

  /// Brings the file of a store that nobody has open up to its last commit, if a crash left it at an earlier one.
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
