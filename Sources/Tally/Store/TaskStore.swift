public import Foundation
import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

/// A task database in a directory.
///
/// ```swift
/// let store = try TaskStore(at: "/home/me/tasks")
/// let task = try await store.write { try $0.add("Water the plants", to: .today) }
/// let today = try store.read { try $0.view(.today) }
/// ```
///
/// A store is safe to use from any thread, and several processes may use one directory at once; within a process there
/// may be one `TaskStore` per directory. Reads do not wait for writes, nor writes for reads, except while the store's
/// memory map is being enlarged. Writes wait for each other.
public final class TaskStore: Sendable {
  /// The version of this library; exports contain it as their `appVersion`.
  public static let libraryVersion = "0.1.0"
  /// The store's directory.
  public let directory: FilePath
  /// How the store was opened.
  public let configuration: Configuration

  /// The store's directory, if it is deleted together with the store.
  private let temporary: TemporaryItem?
  let session: StoreSession<StoreWriteTransaction>
  /// The cost of observations so far.
  let observations = Monitor(ObservationCounts())

  /// Opens the store in a directory, and creates it if it does not exist.
  ///
  /// A new directory gets the permissions 0700, its files 0600. A relative path is resolved at once, so it does not
  /// matter if the process changes its current directory later.
  ///
  /// If this process has just dropped the store, the call waits up to two seconds for whoever still observes it. That
  /// blocks the thread, and Swift's tasks share a few threads, of which the observers need one: in asynchronous code,
  /// open a store again within ``perform(_:)``.
  ///
  /// - Throws: `notAStore` if the path leads to anything else, `newerFormat`, `damagedStore`, `permissionDenied`,
  ///   `remoteFilesystem`, `alreadyOpen`, `storeBusy`, `diskFull`, `storageFailed`; `storeMissing` if there is no store
  ///   and none is to be created.
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

  init(_ opening: StoreOpening, _ configuration: Configuration, temporary: TemporaryItem? = nil) throws {
    directory = opening.directory
    self.temporary = temporary
    self.configuration = configuration
    session = try StoreSession(
      opening,
      commit: { store, isAlone, body in
        try store.environment.write(tables: store.tables, configuration: configuration, makesRoom: isAlone, body)
      }, beside: { try $0.beside($1) }, nested: { try $0.nested($1) })
  }

  var connection: StoreConnection { session.connection }
  var commits: WriteQueue<StoreWriteTransaction> { session.commits }
  var watch: CommitWatch { session.watch }

  deinit {
    // Callers that need to know whether the last flush succeeded call `close`.
    session.abandon()
    if temporary != nil { try? FileManager.default.removeItem(atPath: directory.string) }
  }

  /// Reads from one consistent snapshot.
  ///
  /// The closure should be quick, because the pages of its snapshot cannot be reused until it returns.
  ///
  /// - Throws: what the closure throws; `storeClosed`, `storeSuspended`, `readersFull`, `damagedStore` or
  ///   `storageFailed`.
  /// - Complexity: beginning a snapshot costs about a microsecond.
  public func read<R>(_ body: (inout StoreReadTransaction) throws -> R) throws -> R {
    try connection.use { store in
      var transaction = StoreReadTransaction(
        base: try configuration.store.retrying { try store.environment.beginRead() }, tables: store.tables,
        now: configuration.store.now(), calendar: configuration.calendar, dayStartInMinutes: configuration.dayStart,
        ids: configuration.ids)
      transaction.nextWeights = configuration.nextWeights
      defer { transaction.records?.end() }
      return try body(&transaction)
    }
  }

  /// Changes the store: all changes of the closure take effect when it returns, or none if it throws.
  ///
  /// Concurrent calls share one commit, and so one flush of the disk; they take effect in the order of the calls. A
  /// closure that throws undoes only its own changes. The closure may run again, if the store's file must grow or a
  /// commit fails without effect, so it must do nothing but use its transaction. A call that is cancelled before its
  /// turn throws `CancellationError` and changes nothing; later cancellation has no effect.
  ///
  /// - Throws: what the closure throws; `permissionDenied` if the store is opened for reading only; `storeClosed`,
  ///   `storeSuspended`, `storeBusy`, `diskFull`, `storageFailed`; `outcomeUnknown` if the disk failed at the very last
  ///   step.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (inout StoreWriteTransaction) throws -> R
  ) async throws -> R {
    do {
      return try await commits.run(body)
    } catch {
      throw connection.explained((error as? LMDBError).map { TallyError($0) } ?? error)
    }
  }

  /// Changes the store and blocks the thread until it is done; for code that cannot await.
  ///
  /// ```swift
  /// let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// It waits for the write in progress, in this or another process, and does not share its commit. The name differs
  /// from that of ``write(_:)`` because at the top level of a program the compiler would choose this overload.
  ///
  /// - Throws: as ``write(_:)``; `reentrantTransaction` inside another write of the same thread.
  @available(*, noasync, message: "use write, which waits without blocking the thread")
  @discardableResult
  public func writeAndWait<R>(_ body: (inout StoreWriteTransaction) throws -> R) throws -> R {
    try connection.use { store in
      try store.checkWritable()
      let result = try store.environment.write(tables: store.tables, configuration: configuration, body)
      watch.noteCommit()
      commits.noteCommit()
      return result
    }
  }

  /// Flushes relaxed writes that have not been flushed yet.
  ///
  /// - Throws: `storeClosed`, `storeSuspended`, `permissionDenied` if the store is opened for reading only, `diskFull`
  ///   or `storageFailed`.
  public func flush() throws {
    try connection.use { try $0.environment.sync(force: true) }
  }

  /// The newest transaction of any process, read without one.
  package func lastTransactionID() throws -> Int { try connection.use { try $0.environment.lastTransactionID() } }
}

extension TaskStore {
  /// The name of the file in a store's directory that says which replica the store is.
  package static let replicaFileName = "replica.id"

  /// Reads from one consistent snapshot, including the tables of synchronisation.
  ///
  /// ``read(_:)`` leaves them out, because they may have to be opened first and most reads do not need them.
  ///
  /// - Throws: As ``read(_:)``.
  /// - Complexity: As ``read(_:)``; it never waits for a write, except once after another process has begun to
  ///   synchronise the store.
  package func readSynchronization<R>(_ body: (inout StoreReadTransaction) throws -> R) throws -> R {
    _ = try connection.use { try $0.tables.sync.open(in: $0.environment) }
    return try read { transaction in
      transaction.syncTables = try transaction.header().synchronizes ? transaction.tables.sync.current : nil
      return try body(&transaction)
    }
  }

  /// The number of write transactions begun since the store was opened, including those that changed nothing.
  package var begunWriteCount: Int {
    get throws { try connection.use { $0.environment.begunWriteCount } }
  }
}
