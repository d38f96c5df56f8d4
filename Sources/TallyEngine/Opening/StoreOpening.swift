import Foundation
package import LMDB
import Logging
package import SystemPackage
package import TallySystem

/// The steps from a path to an open store.
///
/// A new store is created elsewhere and moved into place once it is on disk, because a crash during liblmdb's first
/// write would leave an unreadable file.
package struct StoreOpening {
  package let directory: FilePath
  package let layout: any StoreLayout
  package var configuration: StoreConfiguration
  package var migrations: MigrationTable
  /// Whether the path is that of a published snapshot, which is a file without its own directory.
  package var isSnapshot = false

  package init(
    directory: FilePath, layout: any StoreLayout, configuration: StoreConfiguration, migrations: MigrationTable? = nil,
    isSnapshot: Bool = false
  ) {
    (self.directory, self.layout, self.configuration) = (directory, layout, configuration)
    (self.migrations, self.isSnapshot) = (migrations ?? layout.migrations, isSnapshot)
  }

  package static let dataFileName = LMDBEnvironment.dataFileName
  package static let lockFileName = LMDBEnvironment.lockFileName
  package static let fileNames = [dataFileName, lockFileName]
  /// The files that a failed opening may leave in a directory without a store.
  private static let ownNames = Set(
    [lockFileName, StoreAccess.fileName] + JournalRecovery.fileNames + LogStore.fileNames)
  /// The files that must not be replaced while the store is open.
  package static let storeNames = ownNames.union(fileNames)
  private static let creationAttempts = 3

  /// A store with its open environment, and with the lock that prevents others from replacing its file.
  ///
  /// It is a class because each read retains it: copying a struct would retain each of the tables.
  package final class OpenStore: Sendable {
    package let environment: LMDBEnvironment
    /// The tables, of the type that the layout opens.
    package let contents: any StoreContents
    package let access: StoreAccess
    package let damage = KnownDamage()
    /// Why writing is refused; `nil` if it is allowed.
    private let writeRefusal: TallyError?

    package init(_ opened: OpenEnvironment, _ contents: any StoreContents) {
      (environment, access) = (opened.environment, opened.access)
      writeRefusal = opened.writeRefusal ?? contents.writeRefusal
      self.contents = contents
      guard writeRefusal == nil else { return }
      // The thread that merges may outlive this object, and nobody may replace the file meanwhile.
      environment.setUpkeep { [access] in
        try contents.bringUp(in: $0)
        extendLifetime(access)
      }
    }

    package func checkWritable() throws {
      if let writeRefusal { throw writeRefusal }
    }
  }

  /// An open environment whose tables have not been read yet.
  package struct OpenEnvironment {
    package let environment: LMDBEnvironment
    package let access: StoreAccess
    /// Why writing is refused; `nil` if it is allowed.
    package var writeRefusal: TallyError?
    /// The log that could not be read, under its new name.
    package var keptLog: FilePath?

    package func close() {
      try? environment.close()
      access.end()
    }
  }

  /// The store's data file.
  package var dataFile: FilePath { isSnapshot ? directory : directory.appending(Self.dataFileName) }

  package func open() throws -> OpenStore {
    try SecondLook.repeating(openOnce)
  }

  private func openOnce() throws -> OpenStore {
    try layout.check()
    if isSnapshot { return try openSnapshot() }
    for _ in 1..<Self.creationAttempts {
      do {
        return try openFoundOrCreated()
      } catch let error as TallyError where error.code == .storeMissing && createsIfMissing {
        // The store existed, but another process has removed it because it was unused, for example after a failed
        // import.
      }
    }
    return try openFoundOrCreated()
  }

  private func openFoundOrCreated() throws -> OpenStore {
    try createStoreIfMissing()
    if !configuration.isReadOnly { TemporaryItem.sweep(directory) }
    let opened = try openAdmitted()
    do {
      try clearStaleReaders(of: opened.environment)
      let isWritable = !configuration.isReadOnly && opened.writeRefusal == nil
      return OpenStore(opened, try openTables(in: opened.environment, isWritable: isWritable))
    } catch {
      opened.close()
      throw error
    }
  }

  /// Runs a closure with an existing store that may lack anything but whose pages are intact.
  ///
  /// With an exclusive lock, no other process has it open. Errors of the storage and of the system are turned into
  /// those of the store.
  ///
  /// - Parameters:
  ///   - mode: whether other processes may have it open.
  ///   - settingLogAside: whether a log that cannot be read is kept under another name, and its commits given up.
  ///   - body: gets the open store.
  /// - Returns: what the body returns.
  /// - Throws: what the body throws; `storeMissing`; as opening a store.
  package func withDamagedStore<R>(
    _ mode: FileLock.Mode = .shared, settingLogAside: Bool = false, _ body: (OpenEnvironment) throws -> R
  ) throws -> R {
    try TallyError.translating {
      try TallyError.translatingErrno {
        guard try isStoreThere() else { throw TallyError.storeMissing }
        let opened = try SecondLook.repeating { try openChecked(mode, settingLogAside: settingLogAside) }
        defer { opened.close() }
        do {
          return try body(opened)
        } catch {
          throw SecondLook(environment: opened.environment, layout: layout).explained(error)
        }
      }
    }
  }

  /// Opens a store after checking its pages.
  private func openChecked(_ mode: FileLock.Mode, settingLogAside: Bool) throws -> OpenEnvironment {
    var opened = try openEnvironment(mode)
    do {
      // This must come before anything is read through liblmdb, which trusts what a page says about itself.
      try opened.environment.checkStructure()
      opened = try joinLog(of: opened, settingAside: settingLogAside)
      try admitDamaged(opened, mode)
      return opened
    } catch {
      opened.close()
      throw error
    }
  }

  package func openEnvironment(_ mode: FileLock.Mode) throws -> OpenEnvironment {
    try refuseRemoteFilesystem(directory)
    if mode == .shared { detachForeignLockFile() }
    let access = try StoreAccess(mode, to: directory, configuration: configuration)
    // What is done alone is done to a plain file.
    if mode == .exclusive { try recoverClosedStore() }
    return try openEnvironment(access)
  }

  /// Opens the environment for a holder of the lock; what a journal has left is recovered first.
  package func openEnvironment(_ access: StoreAccess) throws -> OpenEnvironment {
    try refuseOtherFiles()
    _ = LMDBEnvironment.isOpenInThisProcess(directory, forLongerThan: configuration.dropLimit)
    return OpenEnvironment(environment: try openFile(), access: access)
  }

  /// Opens the environment and checks that its file is whole; nothing may be written before ``joinLog(of:)``.
  func openFile() throws -> LMDBEnvironment {
    let environment = try LMDBEnvironment(path: directory, options: storeOptions)
    do {
      // liblmdb trusts the length stated in the file, and reading beyond its end would kill the process.
      guard try environment.isFileComplete() else { throw TallyError.truncatedFile }
      return environment
    } catch {
      try? environment.close()
      throw error
    }
  }

  /// Creates the store's directory if it is missing, and checks that it is suitable.
  package func prepareDirectory() throws {
    if try isStoreThere() { return try refuseRemoteFilesystem(directory) }
    let parent = directory.parentOrCurrent
    try SystemCalls.createDirectories(upTo: parent, permissions: .ownerReadWriteExecute)
    try refuseRemoteFilesystem(parent)
    // An existing directory is empty, as `isStoreThere` has checked.
    try SystemCalls.createDirectories(upTo: directory, permissions: .ownerReadWriteExecute)
    try SystemCalls.flushDirectory(parent)
  }

  /// The header of a store that nobody has open; `nil` if there is none or it cannot be read safely.
  ///
  /// It throws `diskFull`, because a header that cannot be read for lack of space is not lost.
  package func headerOfClosedStore() throws(LMDBError) -> StoreHeader? {
    do throws(LMDBError) {
      try recoverClosedStore()
      // What is still in a log could not be brought into the file.
      guard (try? DataFile(inDirectory: directory).checkStructure()) != nil, !LogStore.isThere(in: directory) else {
        return nil
      }
      let environment = try LMDBEnvironment(path: directory, options: storeOptions)
      defer { try? environment.close() }
      return (try? Self.header(in: environment)) ?? nil
    } catch {
      if error.code == .diskFull { throw error }
      return nil
    }
  }

  /// Opens the tables of a file that is a store because it has a header; missing tables have been lost.
  package func openTables(in environment: LMDBEnvironment, isWritable: Bool) throws -> any StoreContents {
    do {
      return try layout.openTables(in: environment, configuration, isWritable: isWritable)
    } catch let error as LMDBError where error.code == .databaseNotFound {
      throw TallyError.missingTable
    }
  }

  private func clearStaleReaders(of environment: LMDBEnvironment) throws {
    let count = try environment.clearStaleReaders()
    guard count > 0 else { return }
    configuration.logger.notice("cleared reader slots of dead processes", metadata: ["count": "\(count)"])
  }

  /// The options for a store in its place.
  package var storeOptions: LMDBEnvironment.Options {
    var options = environmentOptions
    options.log = logOptions
    // A write may have to wait for a write of another process.
    options.writeWaitLimit = configuration.waitLimit
    return options
  }

  /// The options for a file of the store that only this process has, as in a staging directory.
  package var environmentOptions: LMDBEnvironment.Options {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = configuration.mapSizeInBytes
    options.maxDatabases = layout.maximumTableCount
    options.isReadOnly = configuration.isReadOnly
    options.isFrozenFile = isSnapshot
    options.recoversJournal = true
    options.durability = configuration.durability == .durable ? .full : .noMetaSync
    options.onLongRead = { [configuration] in configuration.report($0) }
    return options
  }

  /// Whether there is a store at the path; anything else there is refused and not touched.
  package func isStoreThere() throws -> Bool {
    guard let type = try typeOfFile(at: directory) else { return false }
    guard type == .directory else {
      throw TallyError(
        .notAStore, "The store path is not a directory", remedy: "Give a directory, or a path that does not exist yet")
    }
    if try refuseIrregularFiles().contains(Self.dataFileName) { return true }
    let names = try contents(of: directory)
    // Another process may have created the store since the check above.
    if names.contains(Self.dataFileName) { return true }
    // A directory with other files may belong to anyone, but a failed opening may have left a lock file.
    let isOwn: (String) -> Bool = {
      Self.ownNames.contains($0) || TemporaryItem.kind(of: $0) != nil || SafetyCopy.isSafetyCopy($0)
        || StoreFiles.isClutter($0)
    }
    guard names.allSatisfy(isOwn) else {
      throw TallyError(
        .notAStore, "The directory holds other files and no store",
        remedy: "Give the directory of a store, an empty one, or a path that does not exist yet")
    }
    return false
  }

  /// Gives the store a separate lock file if it shares one with a store that has another data file.
  ///
  /// A copy by hard links (`cp -al`) shares all files, and is the same store under a second path. Once compacting,
  /// restoring or copying has replaced one of the data files, they are two stores with unrelated transactions. The
  /// first process that then opens this one removes the name of the shared lock file here, if nobody has the store
  /// open.
  func detachForeignLockFile() {
    let linkCounts = Self.fileNames.map { try? directory.appending($0).stat(followTargetSymlink: false).linkCount }
    guard let ofData = linkCounts[0], let ofLock = linkCounts[1], ofLock > 1, ofLock != ofData else { return }
    // While a store is being created in its directory, its files briefly have two names.
    let names = (try? SystemCalls.names(in: directory)) ?? []
    if names.contains(where: { TemporaryItem.kind(of: $0) == .directory }) { return }
    var alone = self
    alone.configuration.waitLimitInSeconds = 0
    guard let access = try? StoreAccess(.exclusive, to: directory, configuration: alone.configuration) else { return }
    defer { access.end() }
    try? detachLockFile()
  }

  /// Removes the lock file's name here if the file has another name, too; nobody may have the store open.
  package func detachLockFile() throws {
    let path = directory.appending(Self.lockFileName)
    guard let status = try? path.stat(followTargetSymlink: false), status.linkCount > 1 else { return }
    try SystemCalls.removeFile(path)
  }

  /// The names of the store's existing files; throws if one is a link, a pipe or anything but a regular file.
  ///
  /// Through a link, liblmdb would write to a file elsewhere, and two paths to one data file would have two locks.
  private func refuseIrregularFiles() throws -> [String] {
    try Self.storeNames.filter { name in
      guard let type = try typeOfFile(at: directory.appending(name), followingLinks: false) else { return false }
      guard type == .regular else { throw TallyError.irregularFile(name) }
      return true
    }
  }

  /// The type of the file at a path; `nil` if there is none.
  package func typeOfFile(at path: FilePath, followingLinks: Bool = true) throws -> FileType? {
    do {
      return try path.stat(followTargetSymlink: followingLinks).type
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
  }

  private func contents(of directory: FilePath) throws -> [String] {
    let refused = { (error: any Error) in
      TallyError(
        .permissionDenied, "The store's directory cannot be read", remedy: "Check its permissions", cause: error)
    }
    return try TallyError.replacing(refused) { try FileManager.default.contentsOfDirectory(atPath: directory.string) }
  }

  package func refuseRemoteFilesystem(_ path: FilePath) throws {
    guard !configuration.allowsRemoteFilesystem, RemoteFilesystem.contains(path) else { return }
    throw TallyError(
      .remoteFilesystem, "The store lies on a remote filesystem, where memory maps and locks are not coherent",
      remedy: "Keep the store on a local disk and copy exports or backups instead")
  }

  /// Refuses files that are not LMDB's; liblmdb would turn an empty file into an environment.
  private func refuseOtherFiles() throws {
    do {
      switch try DataFile(dataFile).kind() {
      case .environment: break
      case .foreign: throw TallyError.foreignFile
      case .empty, .cutShort: throw TallyError.truncatedFile
      }
    } catch let error as LMDBError where error.code == .noSuchFile {
      // The file existed at the first check, and was removed while this thread waited for the lock.
      throw TallyError.storeMissing
    }
  }

  /// Copies the store's file, including its free pages, to a place where the user can find it.
  package func keepSafetyCopy(of environment: LMDBEnvironment, because reason: SafetyCopy.Reason) throws -> FilePath {
    let staging = try TemporaryItem(.directory, in: directory, for: reason.rawValue)
    try environment.copy(to: staging.path)
    let kept = try SafetyCopy.create(staging.dataFile, because: reason, in: directory, at: configuration.now())
    try SystemCalls.flushDirectory(directory)
    return kept
  }

  private func createStoreIfMissing() throws {
    try TallyError.translatingErrno {
      // One check may come too early or too late while another process creates the same store or removes an unused one.
      for attempt in 1...Self.creationAttempts {
        if try isStoreThere() { return }
        guard createsIfMissing else { throw TallyError.storeMissing }
        do {
          try createStore()
        } catch Errno.noSuchFileOrDirectory where attempt < Self.creationAttempts {
          // The directory was removed together with the store.
        }
      }
    }
  }

  private func createStore() throws {
    let parent = directory.parentOrCurrent
    try SystemCalls.createDirectories(upTo: parent, permissions: .ownerReadWriteExecute)
    try refuseRemoteFilesystem(parent)
    try NewStore(at: directory, layout: layout, options: environmentOptions).create()
  }

  private var createsIfMissing: Bool { configuration.createsIfMissing && !configuration.isReadOnly }
}

extension StoreOpening {
  /// Opens a file that nobody changes, so that it needs no lock.
  package func openSnapshot() throws -> OpenStore {
    guard let type = try TallyError.translatingErrno({ try typeOfFile(at: directory) }) else {
      throw TallyError.storeMissing
    }
    guard type == .regular else { throw TallyError.foreignFile }
    if StoreFiles.isLive(directory) {
      throw TallyError(
        .notAStore, "The file is that of a store, which may change while it is read without a lock",
        remedy: "Open the store's directory, or a snapshot that publishSnapshot(to:) has written")
    }
    try refuseRemoteFilesystem(directory)
    let opened = try openEnvironment(StoreAccess.ofSnapshot)
    do {
      guard let header = try Self.header(in: opened.environment) else { throw try headerFault(in: opened.environment) }
      guard try admission(of: header) != .nothingBeforeMigration else { throw TallyError.olderFormat }
      return OpenStore(opened, try openTables(in: opened.environment, isWritable: false))
    } catch {
      opened.close()
      throw error
    }
  }
}

extension TemporaryItem {
  /// The data file of a store that is created in a temporary directory.
  package var dataFile: FilePath { path.appending(StoreOpening.dataFileName) }
}

extension TallyError {
  /// Runs a closure and turns the system's errors about a store's directory into errors of this type.
  package static func translatingErrno<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as Errno {
      throw cannotOpen(error)
    }
  }

  package static let storeMissing = TallyError(
    .storeMissing, "There is no store at this path", remedy: "Add something to create one, or give another path")

  package static let storeRemoved = TallyError(
    .storeMissing, "The store's file has been removed while it was open",
    remedy: "Export what can still be read, close the store, and open another one")

  package static let foreignFile = TallyError(
    .notAStore, "The file in the directory is not a Tally store", remedy: "Give the directory of a Tally store")

  package static func irregularFile(_ name: String) -> TallyError {
    TallyError(
      .notAStore, "'\(name)' in the store's directory is a link, a directory or a special file",
      remedy: "Remove it if it is not yours, or give the directory of a store")
  }

  package static let missingTable = TallyError(
    .damagedStore, "A table of the store is missing", remedy: "Run a repair, or restore a backup")

  package static let truncatedFile = TallyError(
    .damagedStore, "The end of the store's file is missing", remedy: "Restore the store from a backup or an export")

  /// The error that says why a store's directory or files could not be opened.
  package static func cannotOpen(_ error: Errno) -> TallyError {
    switch error {
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      TallyError(
        .permissionDenied, "The system refused access to the store's directory: \(error)",
        remedy: "Check its permissions and owner, or give another path", cause: error)
    case .notDirectory:
      TallyError(
        .notAStore, "A part of the store's path is not a directory", remedy: "Give another path", cause: error)
    case .noSpace, .diskQuotaExceeded:
      TallyError(.diskFull, "The disk is full: \(error)", remedy: "Free some space, then try again", cause: error)
    default:
      TallyError(
        .storageFailed, "The store's directory cannot be used: \(error)", remedy: "Check the path and the disk",
        cause: error)
    }
  }
}
