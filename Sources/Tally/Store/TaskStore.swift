public import Foundation
import LMDB
public import SystemPackage
import TallySystem

/// A task database in a directory.
///
/// ```swift
/// let store = try TaskStore(at: "/home/me/tasks")
/// let task = try await store.write { try $0.add("Water the plants", to: .today) }
/// let today = try store.read { try $0.view(.today) }
/// ```
///
/// A store is safe to use from any thread, and several processes may use one directory at once; a process keeps one
/// `TaskStore` per directory. Reads never wait for writes, nor writes for reads, except in the moment in which the
/// store's map is made larger. Writes wait for each other.
public final class TaskStore: Sendable {
  /// The store's directory.
  public let directory: FilePath
  /// How the store was opened.
  public let configuration: Configuration

  // Constant.
  /// The store's directory, if that is removed with the store.
  private let temporary: TemporaryItem?
  // Constants that synchronise themselves.
  let connection: StoreConnection
  let commits: WriteQueue<StoreWriteTransaction>
  let watch: CommitWatch
  /// Whether the store is being closed, suspended or resumed: one at a time.
  let lifecycle = Monitor(false)
  /// What observations have cost.
  let observations = Monitor(ObservationCounts())

  /// Opens the store in a directory, and creates it if it does not exist.
  ///
  /// A new directory gets the permissions 0700, its files 0600. A relative path is that of the moment of opening, even
  /// if the process changes its current directory later.
  ///
  /// If this process has just dropped the store, this waits up to two seconds for whoever still observes it. That blocks the
  /// thread, and Swift's tasks share a few threads, of which the observers need one: in asynchronous code, open a store again
  /// within ``perform(_:)``.
  ///
  /// - Throws: `notAStore` for anything else at that path, `newerFormat`, `damagedStore`, `permissionDenied`,
  ///   `remoteFilesystem`, `alreadyOpen`, `storeBusy`, `diskFull`, `storageFailed`; `storeMissing` if there is none and
  ///   none is to be created.
  /// - Complexity: well under a millisecond, whatever the size of the store.
  public convenience init(at directory: FilePath, configuration: Configuration = Configuration()) throws {
    try self.init(StoreOpening(directory: directory.absolute, configuration: configuration))
  }

  /// Opens the store in a directory that a file URL names.
  ///
  /// ```swift
  /// let store = try TaskStore(at: folder.appending(path: "tasks"))
  /// ```
  ///
  /// As ``init(at:configuration:)-(FilePath,_)``; throws `notAStore` for a URL of another kind.
  public convenience init(at directory: URL, configuration: Configuration = Configuration()) throws {
    guard directory.isFileURL else {
      throw TallyError(.notAStore, "The URL names no file", remedy: "Use the URL of a directory, file:///…")
    }
    try self.init(at: FilePath(directory.path(percentEncoded: false)), configuration: configuration)
  }

  init(_ opening: StoreOpening, temporary: TemporaryItem? = nil) throws {
    directory = opening.directory
    self.temporary = temporary
    configuration = opening.configuration
    connection = try StoreConnection(opening)
    watch = CommitWatch(opening.directory, connection: connection)
    commits = BatchCommit(connection: connection, configuration: opening.configuration, watch: watch).queue
  }

  deinit {
    // A caller that needs to know whether the last flush succeeded calls `close`.
    do {
      try close()
    } catch {
      connection.abandon()
      watch.noteLifecycle()
    }
    if temporary != nil { try? FileManager.default.removeItem(atPath: directory.string) }
  }

  /// Reads from one consistent snapshot.
  ///
  /// The closure must not wait for long: the pages of its snapshot cannot be reused meanwhile.
  ///
  /// - Throws: what the closure throws; `storeClosed`, `storeSuspended`, `readersFull`, `damagedStore` or
  ///   `storageFailed`.
  /// - Complexity: beginning a snapshot costs about a microsecond.
  public func read<R>(_ body: (inout StoreReadTransaction) throws -> R) throws -> R {
    try connection.use { store in
      var transaction = StoreReadTransaction(
        base: try configuration.retrying { try store.environment.beginRead() }, tables: store.tables,
        now: configuration.now(), calendar: configuration.calendar, dayStartInMinutes: configuration.dayStart,
        ids: configuration.ids, commitSequence: 0)
      transaction.nextWeights = configuration.nextWeights
      return try body(&transaction)
    }
  }

  /// Changes the store: all of the closure's changes take effect when it returns, or none if it throws.
  ///
  /// Concurrent calls share one commit, and so one flush of the disk; they take effect in the order of the calls. A
  /// closure that throws undoes only its own changes. It may run again, when the store's file must grow or a commit has
  /// failed without effect, so it must do nothing but use its transaction. A call cancelled before its turn throws
  /// `CancellationError` and changes nothing; later, cancelling has no effect.
  ///
  /// - Throws: what the closure throws; `permissionDenied` for a store opened for reading only; `storeClosed`,
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

  /// Changes the store, and blocks the thread meanwhile; for code that cannot await.
  ///
  /// ```swift
  /// let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// Waits for the write in progress, in this or another process, and shares its commit with none. The name is another
  /// one than that of ``write(_:)`` because at the top level of a program the compiler would choose this form.
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
  /// - Throws: `storeClosed`, `storeSuspended`, `permissionDenied` for a store opened for reading only, `diskFull` or
  ///   `storageFailed`.
  public func flush() throws {
    try connection.use { try $0.environment.sync(force: true) }
  }
}
