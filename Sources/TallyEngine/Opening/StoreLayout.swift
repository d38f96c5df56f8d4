import Foundation
package import LMDB
import Logging
package import SystemPackage
package import TallySystem

/// The tables of an open store, as its layout knows them.
package protocol StoreContents: AnyObject, Sendable {
  /// Why writing is refused; `nil` if it is allowed.
  var writeRefusal: TallyError? { get }

  /// Brings up what lags behind the records, in short writes; called by the thread that merges a log.
  func bringUp(in environment: LMDBEnvironment) throws
}

extension StoreContents {
  package func bringUp(in environment: LMDBEnvironment) throws {}
  package var writeRefusal: TallyError? { nil }
}

/// A kind of store: its tables, and how they are created, opened, migrated and checked.
///
/// Opening is the same for every kind of store; it asks the layout wherever the tables matter.
package protocol StoreLayout: Sendable {
  /// The tables that every store of this kind has.
  var tableNames: [String] { get }
  /// The number of named databases for which a store has room.
  var maximumTableCount: Int { get }
  /// The features that a new store requires of every program that opens it.
  var requiredFeatures: StoreFeatures { get }
  /// The migrations from older formats.
  var migrations: MigrationTable { get }

  /// The names of files beside the data file that a restored store must not continue with, because the backup may be
  /// older than what they describe.
  var namesOfOneStoreOnly: [String] { get }

  /// Checks what the application has declared, before anything is opened.
  func check() throws

  /// Refuses a store of another kind.
  func admit(_ header: StoreHeader) throws

  /// Creates the tables of a new store.
  func createTables(in transaction: inout WriteTransaction) throws

  /// Opens the tables of an existing store, after bringing up to date what another program or version has left behind.
  ///
  /// - Parameters:
  ///   - environment: the store's environment.
  ///   - configuration: how the store is opened.
  ///   - isWritable: whether anything may be changed.
  /// - Returns: the tables.
  /// - Throws: `databaseNotFound` if a table is missing.
  func openTables(
    in environment: LMDBEnvironment, _ configuration: StoreConfiguration, isWritable: Bool
  ) throws -> any StoreContents

  /// Whether a check of the whole store finds no fault.
  func isSound(_ environment: LMDBEnvironment) throws -> Bool
}

extension StoreLayout {
  package var namesOfOneStoreOnly: [String] { [] }

  /// The names of the tables that are missing in an environment.
  package func missingTableNames(in environment: LMDBEnvironment) throws(LMDBError) -> [String] {
    try Self.missing(tableNames, in: environment)
  }

  /// The names of tables that an environment does not have.
  static func missing(_ names: [String], in environment: LMDBEnvironment) throws(LMDBError) -> [String] {
    var missing: [String] = []
    for name in names {
      do throws(LMDBError) {
        _ = try Database<[UInt8], [UInt8]>(opening: name, in: environment)
      } catch {
        guard error.code == .databaseNotFound else { throw error }
        missing.append(name)
      }
    }
    return missing
  }
}

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
  /// - Throws: what `admission(of:)` throws; `permissionDenied` if the store has an older format and is open for
  ///   reading only.
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

/// The formats of stores, and the migration from each to the next.
///
/// They are major formats only: a minor one adds fields that older versions preserve.
package struct MigrationTable: Sendable {
  /// Migrates a store from one major format to the next, in the transaction that also writes the header.
  package typealias Step = @Sendable (inout WriteTransaction) throws -> Void

  /// The major format that this version writes.
  package let current: UInt16
  /// The migration step from each older format.
  package let steps: [(format: UInt16, run: Step)]

  package init(current: UInt16, steps: [(format: UInt16, run: Step)]) {
    (self.current, self.steps) = (current, steps)
  }
}

extension MigrationTable {
  /// The steps from a store's format to the current one; empty if the store has the current one.
  package func steps(from header: StoreHeader) throws -> [Step] {
    try (min(header.majorFormat, current)..<current).map { format in
      guard let step = steps.first(where: { $0.format == format }) else { throw TallyError.noMigration }
      return step.run
    }
  }

  /// Migrates a store to the current format in one transaction.
  ///
  /// The history is emptied: its images are records of the older format, which undo cannot restore.
  ///
  /// - Returns: the new header.
  package func run(_ steps: [Step], from header: StoreHeader, in environment: LMDBEnvironment) throws -> StoreHeader {
    guard !steps.isEmpty else { return header }
    guard header.hasNextSequence else { throw TallyError.impossibleHeader }
    var migrated = header
    migrated.majorFormat = current
    migrated.minorFormat = StoreHeader.currentMinorFormat
    migrated.sequence += 1
    let meta = try StoreHeader.table(in: environment)
    try environment.write { transaction in
      for step in steps { try step(&transaction) }
      try Database<[UInt8], [UInt8]>(opening: "history", creating: true, in: &transaction).removeAll(in: &transaction)
      try meta.put(migrated, forKey: .header, in: &transaction)
    }
    return migrated
  }
}

/// A new store, created under a temporary name and moved into place once it is complete.
///
/// | the path names | how the store gets there |
/// | --- | --- |
/// | nothing | created next to the path; the directory is renamed |
/// | an empty directory | created inside it; the files are linked into place |
///
/// An existing directory is never replaced: it may be a mounted volume or the target of a link, and it belongs to its
/// owner. If another process is faster, its store stays.
package struct NewStore {
  private let directory: FilePath
  private let layout: any StoreLayout
  private var options: LMDBEnvironment.Options

  package init(at directory: FilePath, layout: any StoreLayout, options: LMDBEnvironment.Options) {
    (self.directory, self.layout) = (directory, layout)
    self.options = options
    self.options.durability = .full
  }

  /// Creates an empty store, unless another process does so at the same time.
  package func create() throws {
    let isDirectoryThere = (try? directory.stat()) != nil
    let parent = isDirectoryThere ? directory : directory.parentOrCurrent
    let staging = try TemporaryItem(.directory, in: parent, for: directory.lastComponent?.string ?? "store")
    try fill(staging.path)
    do {
      if isDirectoryThere {
        try moveFiles(from: staging.path)
      } else {
        try SystemCalls.rename(staging.path, to: directory)
      }
    } catch Errno.fileExists, Errno.directoryNotEmpty {
      return
    }
    try SystemCalls.flushDirectory(parent)
  }

  private func fill(_ staging: FilePath) throws {
    // liblmdb would create them with permissions that the process's umask narrows.
    for name in StoreOpening.fileNames {
      try SystemCalls.createFile(staging.appending(name), permissions: .ownerReadWrite)
    }
    let environment = try LMDBEnvironment(path: staging, options: options)
    defer { try? environment.close() }
    try environment.write { transaction in
      try layout.createTables(in: &transaction)
      var header = StoreHeader(storeID: UUIDv7.next(), sequence: 0)
      header.requiredFeatures = layout.requiredFeatures
      try StoreHeader.table(creatingIn: &transaction).put(header, forKey: .header, in: &transaction)
    }
    try environment.close()
    try SystemCalls.flushDirectory(staging)
  }

  /// Links the files into the store's directory, the data file last, because that file makes the directory a store.
  private func moveFiles(from staging: FilePath) throws {
    // Only the directory's owner may change its permissions, and the files are private in any case.
    try? SystemCalls.changePermissions(directory, to: .ownerReadWriteExecute)
    do {
      try link(StoreOpening.lockFileName, from: staging)
    } catch Errno.fileExists {
      // A failed opening has left the lock file, or it is already in use; liblmdb accepts it.
    }
    try link(StoreOpening.dataFileName, from: staging)
  }

  private func link(_ name: String, from staging: FilePath) throws(Errno) {
    // Unlike a rename, a link never replaces the file of a faster process.
    try SystemCalls.link(staging.appending(name), as: directory.appending(name))
  }
}
