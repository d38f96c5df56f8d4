package import LMDB
import Logging
import SystemPackage
package import TallySystem

// Every way to open a store checks its format in one place: opening, verifying, repairing, compacting, restoring and
// reading a snapshot.

extension StoreOpening {
  /// The permission of this version for a store.
  package enum Admission: Equatable {
    case everything
    /// The store has a writer feature that this version does not know.
    case reading
    /// The store must be migrated first.
    case nothingBeforeMigration
  }

  /// The permission of this version for a store, according to its header.
  ///
  /// - Throws: `newerFormat` for a newer format or an unknown required feature; `notAStore` for a store of a
  ///   development version.
  package func admission(of header: StoreHeader) throws -> Admission {
    guard header.majorFormat <= migrations.current else {
      throw TallyError.newerFormat(header.majorFormat, known: migrations.current)
    }
    guard header.requiredFeatures.isSubset(of: .knownRequired) else { throw TallyError.unknownFeature }
    guard header.requiredFeatures.contains(.taggedRecords) else { throw TallyError.developmentFormat }
    try layout.admit(header)
    if header.majorFormat < migrations.current { return .nothingBeforeMigration }
    return header.writerFeatures.isSubset(of: .knownWriter) ? .everything : .reading
  }

  /// The header of a store; `nil` if it cannot be found.
  package static func header(in environment: LMDBEnvironment) throws -> StoreHeader? {
    guard let meta = try? StoreHeader.table(in: environment) else { return nil }
    return try environment.read { transaction in try? meta.value(forKey: .header, in: transaction) }
  }

  /// Opens a store that must be whole: checks the format, then migrates, and removes what a journal has left.
  package func openAdmitted() throws -> OpenEnvironment {
    for _ in 0..<Self.changeAttempts {
      if let opened = try openUnlessOlder() { return opened }
      guard !configuration.isReadOnly else { throw TallyError.olderFormat }
      let alone = try joinLog(of: openEnvironment(.exclusive))
      defer { alone.close() }
      try removeJournal(of: alone)
      try migrateIfOlder(alone)
    }
    throw TallyError.storeChanging
  }

  /// The number of attempts: between two of them, a process of an earlier version may give the store a journal.
  private static let changeAttempts = 8

  /// Opens a store that must be whole; `nil` if the store must first be changed while nobody else has it open.
  private func openUnlessOlder() throws -> OpenEnvironment? {
    try refuseRemoteFilesystem(directory)
    detachForeignLockFile()
    var opened = try openEnvironment(accessForOpening())
    do {
      opened = try joinLog(of: opened)
      guard let header = try Self.header(in: opened.environment) else { throw try headerFault(in: opened.environment) }
      switch try admission(of: header) {
      case .everything where configuration.isReadOnly: return opened
      case .everything where !header.hasJournal:
        removeUnmarkedJournal()
        if try beginLog(of: opened, header) { return opened }
        opened.close()
        return try openUnlessOlder()
      case .reading: return configuration.isReadOnly ? opened : try reopenForReading(opened)
      case .everything, .nothingBeforeMigration: break
      }
    } catch let error as LMDBError where opened.access.isExclusive {
      opened.close()
      configuration.logger.warning("the store's log could not be made", metadata: ["error": "\(error)"])
      // There may be no room for a log, and enough for the store.
      var plain = self
      plain.configuration.makesLog = false
      return try plain.openUnlessOlder()
    } catch {
      opened.close()
      throw error
    }
    opened.close()
    return nil
  }

  /// Checks the format of a store that is open already and may lack anything, including its header.
  ///
  /// If the lock is exclusive, an older store is migrated, and a journal is removed.
  ///
  /// - Throws: as `admission(of:)`; `permissionDenied` if the store has an older format and is open for reading only.
  package func admitDamaged(_ opened: OpenEnvironment, _ mode: FileLock.Mode) throws {
    guard let header = try Self.header(in: opened.environment) else { return }
    switch try admission(of: header) {
    case .everything: if mode == .exclusive { try removeJournal(of: opened) }
    case .reading: if mode == .exclusive { throw TallyError.unknownWriterFeature }
    case .nothingBeforeMigration:
      guard mode == .exclusive, !configuration.isReadOnly else { throw TallyError.olderFormat }
      try removeJournal(of: opened)
      try migrateIfOlder(opened)
    }
  }

  /// Migrates a store to the current format in one transaction, after making a copy; nobody else may have it open.
  private func migrateIfOlder(_ opened: OpenEnvironment) throws {
    // Another process may have migrated it already.
    guard let header = try Self.header(in: opened.environment),
      try admission(of: header) == .nothingBeforeMigration
    else { return }
    let steps = try migrations.steps(from: header)
    _ = try TallyError.translatingErrno { try keepSafetyCopy(of: opened.environment, because: .migration) }
    _ = try migrations.run(steps, from: header, in: opened.environment)
    configuration.logger.notice("migrated the store", metadata: ["format": "\(migrations.current)"])
  }

  /// The error for a file without a readable header.
  ///
  /// The file is a damaged store if it has all tables, or some but not `meta`; otherwise it belongs to another program.
  package func headerFault(in environment: LMDBEnvironment) throws -> TallyError {
    let missing = try layout.missingTableNames(in: environment)
    if missing.isEmpty { return .impossibleHeader }
    return missing.count < layout.tableNames.count && missing.contains(StoreHeader.tableName)
      ? .missingTable : .foreignFile
  }

  private func reopenForReading(_ opened: OpenEnvironment) throws -> OpenEnvironment {
    opened.close()
    var opening = self
    opening.configuration.isReadOnly = true
    configuration.logger.notice("opened the store for reading only: a newer version writes it in its own way")
    var reopened = try opening.joinLog(of: opening.openEnvironment(.shared))
    reopened.writeRefusal = .unknownWriterFeature
    return reopened
  }
}

extension TallyError {
  package static func newerFormat(_ format: UInt16, known: UInt16) -> TallyError {
    TallyError(
      .newerFormat, "The store has format \(format); this version knows formats up to \(known)",
      remedy: "Use a newer version of Tally; the store has not been touched")
  }

  package static let unknownFeature = TallyError(
    .newerFormat, "The store uses a feature that this version does not know",
    remedy: "Use a newer version of Tally; the store has not been touched")

  package static let unknownWriterFeature = TallyError(
    .newerFormat, "The store uses a feature that this version can read but not write",
    remedy: "Use a newer version of Tally to change the store")

  package static let developmentFormat = TallyError(
    .notAStore, "The store was written by a development version of Tally, before format 1",
    remedy: "Export it with that version, and import the export into a new store")

  package static let olderFormat = TallyError(
    .permissionDenied, "The store has an older format and has been opened for reading only",
    remedy: "Open it for writing once, as any change does; a copy of the old file is kept beside it")

  package static let impossibleHeader = TallyError(
    .damagedStore, "The store's header cannot be right", remedy: "Run a repair, or restore a backup")

  package static let storeChanging = TallyError(
    .storeBusy, "Other processes keep changing the store while it is opened", remedy: "Try again")

  package static let noMigration = TallyError(
    .internalFault, "There is no migration from the store's format to the current one", remedy: "Please report it")
}
