import LMDB
import Logging
import SystemPackage
import TallyEngine

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

extension Tables: StoreContents {
  var writeRefusal: TallyError? { collections?.writeRefusal }
}

extension StoreContents {
  /// The tables of a store of tasks.
  var tables: Tables {
    assert(self is Tables, "the tables of another kind of store")
    // The layout of tasks opens no other tables.
    return unsafe unsafeDowncast(self, to: Tables.self)
  }
}

extension TaskLayout {
  init(_ configuration: TaskStore.Configuration) {
    self.init(indexes: configuration.indexes, collections: CollectionsBeside(configuration.schema))
  }
}

extension StoreOpening.OpenStore {
  var tables: Tables { contents.tables }
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
