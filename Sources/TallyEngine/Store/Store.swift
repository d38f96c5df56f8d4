public import Foundation
import LMDB
import SystemPackage

/// A store of collections in a directory.
///
/// ```swift
/// let store = try Store(at: folder, schema: Schema(Workout.collection))
/// try await store.write { try $0.save(workout) }
/// let runs = try store.read { try $0.records(in: Workout.bySport, "run", limit: 50) }
/// ```
///
/// A store is safe to use from any thread, and several processes may use one directory at once; within a process there
/// may be one `Store` per directory. Reads do not wait for writes, nor writes for reads. Writes wait for each other.
public final class Store: Sendable {
  /// The store's directory, or the file of a snapshot.
  public let location: URL
  /// How the store was opened.
  public let configuration: StoreConfiguration
  let session: StoreSession<Writer>
  let schema: Schema
  let path: FilePath

  /// Opens the store in a directory, and creates it if it does not exist.
  ///
  /// Collections that the schema declares and the store does not have yet are created; new indexes and measures are
  /// built from the existing records. Collections, indexes and measures that the schema does not have stay as they are.
  ///
  /// - Throws: `invalidIndex` if the declarations do not fit together; `notAStore` if the path leads to anything else,
  ///   `newerFormat`, `damagedStore`, `permissionDenied`, `remoteFilesystem`, `alreadyOpen`, `storeBusy`, `diskFull`,
  ///   `storageFailed`; `duplicateKey` if a new unique index has two records with one key; `storeMissing` if there is
  ///   no store and the configuration does not create one.
  /// - Complexity: well under a millisecond, whatever the size of the store, unless something must be built.
  public convenience init(
    at directory: URL, schema: Schema, configuration: StoreConfiguration = StoreConfiguration()
  ) throws {
    try self.init(StoreOpening(at: directory, schema, configuration), schema)
  }

  init(_ opening: StoreOpening, _ schema: Schema) throws {
    (path, location, self.schema) = (opening.directory, URL(filePath: opening.directory.string), schema)
    let configuration = opening.configuration
    self.configuration = configuration
    session = try StoreSession(
      opening,
      commit: { store, isAlone, body in
        try Self.commit(in: store, configuration, isUndoable: true, makesRoom: isAlone, body)
      }, beside: { try $0.beside($1) }, nested: { try $0.nested($1) })
  }

  deinit {
    // Callers that need to know whether the last flush succeeded call `close`.
    session.abandon()
  }

  /// Reads from one consistent snapshot.
  ///
  /// The closure should be quick, because the pages of its snapshot cannot be reused until it returns.
  ///
  /// - Throws: what the closure throws; `storeClosed`, `storeSuspended`, `readersFull`, `damagedStore` or
  ///   `storageFailed`.
  /// - Complexity: beginning a snapshot costs about a microsecond.
  public func read<Result>(_ body: (borrowing Reader) throws -> Result) throws -> Result {
    try session.connection.use { store in
      let reader = Reader(
        base: try configuration.retrying { try store.environment.beginRead() }, tables: store.schemaTables,
        now: configuration.now())
      defer { reader.snapshot.end() }
      return try body(reader)
    }
  }

  /// Changes the store: all changes of the closure take effect when it returns, or none if it throws.
  ///
  /// Concurrent calls share one commit, and so one flush of the disk; they take effect in the order of the calls. A
  /// closure that throws undoes only its own changes. The closure may run again, if the store's file must grow or a
  /// commit fails without effect, so it must do nothing but use its writer. A call that is cancelled before its turn
  /// throws `CancellationError` and changes nothing; later cancellation has no effect.
  ///
  /// - Throws: what the closure throws; `permissionDenied` if the store is opened for reading only; `storeClosed`,
  ///   `storeSuspended`, `storeBusy`, `diskFull`, `storageFailed`; `valueOutOfRange` if a measure overflows;
  ///   `outcomeUnknown` if the disk failed at the very last step.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (inout Writer) throws -> Result
  ) async throws -> Result {
    do {
      return try await session.commits.run(body)
    } catch {
      throw session.connection.explained((error as? LMDBError).map { TallyError($0) } ?? error)
    }
  }

  /// Changes the store for something that a person did not do, such as a position in a text: ``undo()`` skips it.
  ///
  /// It leaves no entry in the history. If it changes a record that a later undo would restore, the undo is refused
  /// unless the collection has a `merge`. Otherwise it works as ``write(_:)``.
  ///
  /// - Parameters:
  ///   - undoable: whether an undo can undo the changes.
  ///   - body: changes the store.
  /// - Returns: what the closure returns.
  /// - Throws: what ``write(_:)`` throws.
  @discardableResult
  public func write<Result: Sendable>(
    undoable: Bool, _ body: @escaping @Sendable (inout Writer) throws -> Result
  ) async throws -> Result {
    if undoable { return try await write(body) }
    return try await Self.perform { try self.writeNow(undoable: false, body) }
  }

  /// Changes the store and blocks the thread until it is done; for code that cannot await.
  ///
  /// - Throws: what ``write(_:)`` throws; `reentrantTransaction` inside another write of the same thread.
  @available(*, noasync, message: "use write, which waits without blocking the thread")
  @discardableResult
  public func writeAndWait<Result>(
    undoable: Bool = true, _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    try writeNow(undoable: undoable, body)
  }

  private func writeNow<Result>(undoable: Bool, _ body: (inout Writer) throws -> Result) throws -> Result {
    try session.connection.use { store in
      try store.checkWritable()
      let result = try Self.commit(in: store, configuration, isUndoable: undoable, makesRoom: true, body)
      session.watch.noteCommit()
      session.commits.noteCommit()
      return result
    }
  }

  /// Flushes relaxed writes that have not been flushed yet.
  public func flush() throws {
    try session.connection.use { try $0.environment.sync(force: true) }
  }

  /// Runs calls that block, such as a verification, on their own thread, and awaits them without blocking.
  @discardableResult
  public static func perform<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await ThreadExecutor.perform(body)
  }

  /// Finishes the waiting writes, flushes them and closes the store; after that, every call but this one throws
  /// `storeClosed`.
  ///
  /// - Parameter limit: how long to wait for reads and writes in progress; `nil` to wait for nothing.
  /// - Throws: `storeBusy` while reads or writes are in progress; the store then stays open.
  public func close(waitingAtMost limit: Duration? = nil) throws {
    try session.end(as: .closed, waitingAtMost: limit)
  }

  /// Releases every lock and file of the store until ``resume()``, for an application that the system suspends.
  ///
  /// - Parameter limit: how long to wait for reads and writes in progress.
  /// - Throws: `storeBusy` if that takes longer; `diskFull` or `storageFailed` if flushing fails; `storeClosed`.
  public func suspend(waitingAtMost limit: Duration = .seconds(2)) throws {
    try session.end(as: .suspended, waitingAtMost: limit)
  }

  /// Opens a suspended store again; does nothing if it is open.
  public func resume() throws {
    try session.resume()
  }
}

extension StoreOpening.OpenStore {
  /// The tables of a store of collections.
  var schemaTables: StoreTables {
    assert(contents is StoreTables, "the tables of another kind of store")
    // The layout of a schema opens no other tables.
    return unsafe unsafeDowncast(contents, to: StoreTables.self)
  }
}

extension Store {
  /// Runs one write transaction with its commit.
  ///
  /// Deletions free space, so they must work on a full disk: there they are repeated without the images for undo.
  private static func commit<Result>(
    in store: StoreOpening.OpenStore, _ configuration: StoreConfiguration, isUndoable: Bool, makesRoom: Bool,
    _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    try configuration.retrying {
      var hasDeleted = false
      do {
        return try commitOnce(in: store, configuration, isUndoable, keepsImages: true, &hasDeleted, body)
      } catch let error as LMDBError where error.code == .diskFull && hasDeleted && makesRoom {
        // liblmdb does not reuse the pages freed by a commit until another commit has followed.
        try store.environment.write { base in
          let meta = store.schemaTables.meta
          guard let header = try meta.value(forKey: .header, in: base) else { return }
          try meta.put(header, forKey: .header, in: &base)
        }
        return try commitOnce(in: store, configuration, isUndoable, keepsImages: false, &hasDeleted, body)
      }
    }
  }

  private static func commitOnce<Result>(
    in store: StoreOpening.OpenStore, _ configuration: StoreConfiguration, _ isUndoable: Bool, keepsImages: Bool,
    _ hasDeleted: inout Bool, _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    let tables = store.schemaTables
    return try store.environment.write { base in
      guard let header = try tables.meta.value(forKey: .header, in: base) else {
        throw TallyError.missingRecord(of: "meta")
      }
      guard header.hasNextSequence else { throw TallyError.impossibleHeader }
      var state = WriteState(commitSequence: header.sequence + 1)
      state.entersHistory = isUndoable
      if !keepsImages { state.forgetImages() }
      var writer = Writer(base: base, tables: tables, now: configuration.now(), state: state)
      // The closure's own error takes precedence over the refusal to commit an unfinished change.
      let result = Swift.Result {
        defer { hasDeleted = writer.state.recordBalance < 0 }
        let result = try body(&writer)
        try writer.prepareCommit()
        // A commit to a removed file would succeed, but its changes would be lost once no process has the file open.
        if writer.state.hasChanges, try store.environment.isFileRemoved() { throw TallyError.storeRemoved }
        return result
      }
      writer.snapshot.end()
      base = writer.base
      return try result.get()
    }
  }
}
