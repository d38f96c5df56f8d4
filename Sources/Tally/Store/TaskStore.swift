public import Foundation
import LMDB
public import SystemPackage
public import TallyEngine
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
  /// - Throws: what ``write(_:)`` throws; `reentrantTransaction` inside another write of the same thread.
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

extension TaskStore {
  /// How durable a write is once the call has returned.
  public typealias Durability = TallyEngine.Durability

  /// How a store is opened, and what it uses as the current time and calendar.
  ///
  /// ```swift
  /// var configuration = TaskStore.Configuration()
  /// configuration.calendar.timeZone = .gmt
  /// configuration.now = { fixedInstant }
  /// ```
  ///
  /// It has everything that ``StoreConfiguration`` has.
  @dynamicMemberLookup
  public struct Configuration: Sendable {
    /// How the store is opened, apart from what concerns tasks.
    public var store = StoreConfiguration()
    /// Whether the times of creation, change and completion are stored in whole seconds.
    ///
    /// An exact time is stored where whole seconds would lose the order: if a task is changed twice within a second,
    /// the second change keeps its exact time, so that a merge knows which is newer. Ids and the history always have
    /// exact times.
    public var stampsWholeSeconds = false
    /// The calendar, time zone and first weekday that define days and weeks; by default the system's.
    public var calendar = Calendar.autoupdatingCurrent
    /// The minutes after midnight at which a day begins; below noon, for example 240 for people who work until late.
    ///
    /// Before that time it is still the day before: for `today`, the views by day, words such as "tomorrow" in filters,
    /// and tasks that are overdue by day. An instant is overdue as soon as it has passed. Statistics have their own
    /// option.
    public var dayStartInMinutes = 0
    /// The weights of the order ``TaskOrder/Key/next``, which ``TaskView/next`` uses.
    public var nextWeights = NextWeights()
    /// The indexes that this program maintains in addition to Tally's own: see ``TaskIndex``.
    public var indexes: [TaskIndex] = []
    /// The application's own collections, which share transactions, history and upkeep with the tasks.
    ///
    /// The module TallyEngine declares them: `configuration.schema = Schema(Workout.collection)`. A transaction then has
    /// `save` and the other ways to change records, and every question that a `Store` answers.
    ///
    /// A store that has been opened for writing with a schema is refused by versions of Tally without collections.
    /// Collections are not synchronised, and documents do not have them. If a newer version of the application has given
    /// a collection another version, the whole store opens for reading only. A new unique index that two records
    /// contradict is an error of opening, `duplicateKey`; so is a wrong declaration, `invalidIndex`. A store that is opened
    /// for reading only, and never was opened for writing with a schema, answers questions about records with
    /// `invalidIndex`.
    public var schema = Schema()
    /// The generator of the ids of new tasks and lists; with a seed, tests get the same ids in each run.
    ///
    /// Each configuration has its own generator: a store whose clock is far ahead would otherwise freeze the time in
    /// the ids of all other stores.
    public var ids = UUIDv7Generator()

    /// Creates the default configuration.
    public init() {}

    /// A part of ``store``.
    public subscript<Value>(dynamicMember part: WritableKeyPath<StoreConfiguration, Value>) -> Value {
      get { store[keyPath: part] }
      set { store[keyPath: part] = newValue }
    }
  }
}

extension TaskStore.Configuration {
  /// The start of days, in minutes after midnight and clamped to the morning.
  var dayStart: Int { min(max(dayStartInMinutes, 0), 719) }
}

extension TaskStore {
  /// Finishes the waiting writes, flushes them and closes the store.
  ///
  /// After that, every call but this one throws `storeClosed`.
  ///
  /// - Throws: `storeBusy` while reads or writes are in progress; the store then stays open.
  public func close() throws {
    try session.end(as: .closed, waitingAtMost: nil)
  }

  /// Finishes the waiting writes, waits for reads and writes in progress, flushes and closes the store.
  ///
  /// Calls that begin meanwhile wait for the outcome, and then throw `storeClosed` or continue. It blocks its thread.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing fails. In each case the store stays open.
  public func close(waitingAtMost limit: Duration) throws {
    try session.end(as: .closed, waitingAtMost: limit)
  }

  /// Releases every lock and file of the store until ``resume()``.
  ///
  /// It is for applications that the system suspends, because the system kills an application that holds a lock on a
  /// shared file while suspended. It commits the waiting writes, and waits for reads, writes and copies in progress.
  /// Calls that begin meanwhile wait for the outcome; once the store is suspended, reads and writes throw
  /// `storeSuspended`, and observations wait. Other processes may do anything with the store, including compacting or
  /// restoring it. It blocks its thread. Suspending a suspended store does nothing.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing relaxed writes fails; `storeClosed`. Except after `storeClosed`, the store stays
  ///   open.
  public func suspend(waitingAtMost limit: Duration = .seconds(2)) throws {
    try session.end(as: .suspended, waitingAtMost: limit)
  }

  /// Opens a suspended store again; does nothing if it is open.
  ///
  /// Observations continue, and report the changes that other processes have made in the meantime.
  ///
  /// - Throws: `storeClosed`; `storeMissing` if the store has been removed; otherwise as opening a store. On failure
  ///   the store stays suspended.
  /// - Complexity: as opening a store.
  public func resume() throws {
    try session.resume()
  }
}

extension TaskStore {
  /// Runs calls that block, such as a backup or an import, on their own thread, and awaits them without blocking.
  ///
  /// ```swift
  /// let summary = try await TaskStore.perform { try store.importDocument(from: "export.json") }
  /// try await TaskStore.perform { try store.close(waitingAtMost: .seconds(5)) }
  /// ```
  ///
  /// Swift's tasks share a few threads, which blocking calls would occupy. The closure belongs to the calling Swift
  /// task: if that is cancelled, calls that report progress throw `cancelled`.
  ///
  /// - Parameter body: the calls, of this library or any others that block.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Complexity: starts a thread, which takes some tens of microseconds.
  @discardableResult
  public static func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await ThreadExecutor.perform(body)
  }
}
