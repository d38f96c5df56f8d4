public import Foundation
import LMDB
import Logging
public import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Opens the store in a directory, and creates it if it does not exist.
  ///
  /// A new directory gets the permissions 0700, its files 0600. A relative path is resolved at once, so it does not
  /// matter if the process changes its current directory later.
  ///
  /// If this process has just dropped the store, the call waits up to two seconds for the code that still observes it.
  /// That blocks the thread, and Swift's tasks share a few threads, of which the observers need one: in asynchronous
  /// code, open a store again within ``perform(_:)``.
  ///
  /// - Throws: `notAStore` if the path leads to anything else, `newerFormat`, `damagedStore`, `permissionDenied`,
  ///   `remoteFilesystem`, `alreadyOpen`, `storeBusy`, `diskFull`, `storageFailed`; `storeMissing` if there is no store
  ///   and the configuration does not create one.
  /// - Complexity: well under a millisecond, whatever the size of the store.
  public convenience init(at directory: FilePath, configuration: Configuration = Configuration()) throws {
    try self.init(StoreOpening(directory: directory.absolute, configuration: configuration), configuration)
  }

  /// Opens the store in the directory that a file URL names.
  ///
  /// ```swift
  /// let store = try TaskStore(at: folder.appending(path: "tasks"))
  /// ```
  ///
  /// It works as ``init(at:configuration:)-(FilePath,_)``, and throws `notAStore` for a URL that is not a file URL.
  public convenience init(at directory: URL, configuration: Configuration = Configuration()) throws {
    guard directory.isFileURL else {
      throw TallyError(.notAStore, "The URL names no file", remedy: "Use the URL of a directory, file:///…")
    }
    try self.init(at: FilePath(directory.path(percentEncoded: false)), configuration: configuration)
  }
}

extension TaskStore {
  /// Opens a new, empty store for tests and previews, which is deleted with its last reference.
  ///
  /// ```swift
  /// let store = try TaskStore.temporary()
  /// try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// It is a real store with all its rules, in a new directory inside the system's temporary directory. If a process
  /// ends without releasing it, the directory stays until another temporary store is created.
  ///
  /// - Parameter configuration: how to open it; by default, its writes are relaxed.
  /// - Returns: the store.
  /// - Throws: what opening a store throws.
  public static func temporary(configuration: Configuration? = nil) throws -> TaskStore {
    let item = try TallyError.translatingErrno {
      try TemporaryItem(.directory, in: FilePath(FileManager.default.temporaryDirectory.path), for: "tally")
    }
    var relaxed = Configuration()
    relaxed.durability = .relaxed
    let configuration = configuration ?? relaxed
    return try TaskStore(
      StoreOpening(directory: item.storeDirectory.absolute, configuration: configuration), configuration,
      temporary: item)
  }
}

extension TaskStore {
  /// Removes a store to which nothing has ever been written, such as one created for an import that then failed.
  ///
  /// It does nothing if the store is open anywhere or has ever been written to. If removing fails, an empty store
  /// remains, which does no harm.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - leavingDirectory: Whether to keep the directory itself, because it existed before.
  package static func removeUnused(at directory: FilePath, configuration: Configuration, leavingDirectory: Bool) {
    var configuration = configuration
    configuration.waitLimitInSeconds = 0
    let opening = StoreOpening(directory: directory, configuration: configuration)
    try? opening.withDamagedStore(.exclusive) { store in
      guard try StoreOpening.header(in: store.environment)?.sequence == 0 else { return }
      try store.environment.close()
      // The data file is removed first: without it the other files are not a store.
      for name in [StoreOpening.dataFileName, StoreOpening.lockFileName, StoreAccess.fileName] {
        try SystemCalls.removeFile(directory.appending(name))
      }
      if !leavingDirectory { try SystemCalls.removeDirectory(directory) }
    }
  }
}

/// The tables of a store of tasks, for whoever opens it.
struct TaskLayout: StoreLayout {
  /// The indexes that an application maintains in addition.
  let indexes: [TaskIndex]
  /// The application's collections.
  let collections: CollectionsBeside

  var tableNames: [String] { Tables.names }
  var maximumTableCount: Int { Tables.maximumCount + collections.maximumTableCount }
  var requiredFeatures: StoreFeatures { .taggedRecords }
  var migrations: MigrationTable { .ofTasks }
  // The backup may be older than what this directory has sent to others, so it must not continue as the same replica.
  var namesOfOneStoreOnly: [String] { [TaskStore.replicaFileName] }

  func check() throws {
    try TaskIndex.check(indexes)
    try collections.check()
  }

  func admit(_ header: StoreHeader) throws {
    if header.requiredFeatures.contains(.collections) { throw TallyError.noTaskStore }
  }

  func createTables(in transaction: inout WriteTransaction) throws {
    _ = try Tables(creatingIn: &transaction)
  }

  func openTables(
    in environment: LMDBEnvironment, _ configuration: StoreConfiguration, isWritable: Bool
  ) throws -> any StoreContents {
    let collections = try collections.open(in: environment, configuration, isWritable: isWritable)
    let tables = try Tables(openingIn: environment, registering: indexes, collections: collections)
    if isWritable { try bringUpToDate(tables, in: environment, configuration) }
    return tables
  }

  /// Brings the application's indexes up to the last commit, and builds those that are new or have another version.
  ///
  /// If the store is open for reading only, reads check the changed tasks themselves.
  private func bringUpToDate(
    _ tables: Tables, in environment: LMDBEnvironment, _ configuration: StoreConfiguration
  ) throws {
    guard !indexes.isEmpty else { return }
    let isBehind = try environment.read { transaction in
      try tables.catchUp(in: transaction)?.isNeeded(in: transaction) ?? false
    }
    guard isBehind else { return }
    try environment.write { transaction in try tables.catchUp(in: transaction)?.run(in: &transaction) }
    configuration.logger.notice("brought the application's own indexes up to date")
  }

  func isSound(_ environment: LMDBEnvironment) throws -> Bool {
    try Verification.run(on: environment, self, observer: nil).isSound
  }
}

extension TaskLayout {
  init(_ configuration: TaskStore.Configuration) {
    self.init(indexes: configuration.indexes, collections: CollectionsBeside(configuration.schema))
  }
}

extension StoreOpening {
  /// The steps to a store of tasks.
  init(
    directory: FilePath, configuration: TaskStore.Configuration, migrations: MigrationTable? = nil,
    isSnapshot: Bool = false
  ) {
    self.init(
      directory: directory, layout: TaskLayout(configuration), configuration: configuration.store,
      migrations: migrations, isSnapshot: isSnapshot)
  }
}

extension MigrationTable {
  /// The migrations of this version; the first format is 1.
  static let ofTasks = MigrationTable(current: StoreHeader.currentMajorFormat, steps: [(1, toFormat2)])

  /// Migrates to format 2, which adds tables, entries in `byDue` for reminders of tasks that are never due, and
  /// counters by day, tag and priority.
  ///
  /// Records, and the keys of other indexes, are the same as in format 1.
  private static func toFormat2(_ transaction: inout WriteTransaction) throws {
    let tables = try Tables(creatingIn: &transaction)
    let byDue = IndexTable<ByDue>(name: .byDue, table: tables.byDue)
    try byDue.removeAll(in: &transaction)
    try byDue.addAll(of: tables, in: &transaction)
    try CounterRebuild(tables: tables).run(in: &transaction)
  }
}

extension TallyError {
  fileprivate static let noTaskStore = TallyError(
    .notAStore, "The store has collections of an application and no tasks",
    remedy: "Open it with the application that made it, or give the directory of another store")
}
