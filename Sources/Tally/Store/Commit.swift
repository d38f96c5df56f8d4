public import Foundation
import LMDB
public import TallyEngine
import TallySystem

extension LMDBEnvironment {
  /// Runs one write transaction of a store, including its commit.
  ///
  /// Deletions free space, so they must work on a full disk: there they are repeated without the images for undo,
  /// unless `makesRoom` is false. Other changes are refused there, because being able to undo is worth more than one
  /// more change.
  @available(*, noasync)
  func write<R>(
    tables: Tables, configuration: TaskStore.Configuration, makesRoom: Bool = true,
    _ body: (inout StoreWriteTransaction) throws -> R
  ) throws -> R {
    try configuration.store.retrying { try writeMakingRoom(makesRoom, tables, configuration, body) }
  }

  @available(*, noasync)
  private func writeMakingRoom<R>(
    _ makesRoom: Bool, _ tables: Tables, _ configuration: TaskStore.Configuration,
    _ body: (inout StoreWriteTransaction) throws -> R
  ) throws -> R {
    var hasDeleted = false
    do {
      return try write(tables, configuration, keepsImages: true, &hasDeleted, body)
    } catch let error as LMDBError where error.code == .diskFull && hasDeleted && makesRoom {
      try releaseFreedPages(with: tables)
      return try write(tables, configuration, keepsImages: false, &hasDeleted, body)
    }
  }

  /// Commits a few pages, so that the next commit can use the pages that the last one freed.
  ///
  /// liblmdb does not reuse the pages freed by a commit until another commit has followed.
  @available(*, noasync)
  private func releaseFreedPages(with tables: Tables) throws {
    try write { base in
      guard let header = try tables.meta.value(forKey: .header, in: base) else { return }
      try tables.meta.put(header, forKey: .header, in: &base)
    }
  }

  @available(*, noasync)
  private func write<R>(
    _ tables: Tables, _ configuration: TaskStore.Configuration, keepsImages: Bool, _ hasDeleted: inout Bool,
    _ body: (inout StoreWriteTransaction) throws -> R
  ) throws -> R {
    let known = tables.sync.current
    var syncTables: SyncTables?
    let result = try write { base in
      guard let header = try tables.meta.value(forKey: .header, in: base) else {
        throw TallyError.missingRecord(of: "meta")
      }
      guard header.hasNextSequence else { throw TallyError.impossibleHeader }
      let now = configuration.store.now()
      syncTables = header.synchronizes ? try known ?? SyncTables(in: &base) : nil
      var state = WriteState(commitSequence: header.sequence + 1)
      if !keepsImages { state.forgetImages() }
      var transaction = StoreWriteTransaction(
        base: base, tables: tables, now: now, calendar: configuration.calendar,
        dayStartInMinutes: configuration.dayStart, ids: configuration.ids, state: state)
      transaction.stampsWholeSeconds = configuration.stampsWholeSeconds
      transaction.nextWeights = configuration.nextWeights
      transaction.syncTables = syncTables
      // The closure's own error takes precedence over the refusal to commit an unfinished change.
      let result = Result {
        // If there is no space for images there may be none for this; the indexes then lag behind, which reads handle.
        if keepsImages { try transaction.catchUpIndexes(since: header) }
        let count = try transaction.taskCount
        let result = try body(&transaction)
        let (tasks, records) = (try transaction.taskCount - count, transaction.state.recordBalance)
        hasDeleted = min(tasks, records) < 0 && max(tasks, records) <= 0
        try transaction.prepareCommit()
        // A commit to a removed file would succeed, but its changes would be lost once no process has the file open.
        if transaction.state.hasChanges, try isFileRemoved() { throw TallyError.storeRemoved }
        return result
      }
      transaction.records?.end()
      syncTables = transaction.syncTables
      base = transaction.base
      return try result.get()
    }
    // The transaction was committed, so the handles remain valid.
    if known == nil, let syncTables { tables.sync.keep(syncTables) }
    return result
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Brings the application's indexes up to the last commit, which another process may have made.
  fileprivate mutating func catchUpIndexes(since header: StoreHeader) throws {
    guard !tables.ownIndexes.registered.isEmpty else { return }
    try OwnIndexCatchUp(tables: tables, sequence: header.sequence).catchUp(in: &base)
  }

  /// Records the changes of this transaction for other replicas; `nil` if the store does not synchronise.
  var syncNotes: SyncNotes? {
    syncTables.map {
      SyncNotes(tables: $0, microseconds: now.microsecondsSince1970, notesChanges: state.origin != .replica)
    }
  }

  /// The writer of records for the commit of this transaction.
  var recordWriter: RecordWriter {
    RecordWriter(tables: tables, sequence: commitSequence, syncNotes: syncNotes)
  }

  /// Changes several tables; if the closure throws, the transaction can no longer commit.
  mutating func change(
    _ body: (RecordWriter, inout BeforeImages, inout WriteTransaction) throws(LMDBError) -> Void
  ) throws {
    let writer = recordWriter
    try changeIfNeeded { (tables, images, base) throws(LMDBError) in
      try body(writer, &images, &base)
      return true
    }
  }

  /// Does the same as `change`, for a change that may turn out to be unnecessary.
  ///
  /// - Returns: the closure's result: whether anything changed.
  @discardableResult
  mutating func changeIfNeeded(
    _ body: (Tables, inout BeforeImages, inout WriteTransaction) throws(LMDBError) -> Bool
  ) throws -> Bool {
    // A change that succeeds does not repair an earlier one that failed.
    guard !state.isHalfDone else { throw TallyError.halfDone }
    state.isHalfDone = true
    let isChanged = try body(tables, &state.images, &base)
    state.isHalfDone = false
    state.hasChanges = state.hasChanges || isChanged
    state.hasUnrecordedChanges = state.hasUnrecordedChanges || isChanged
    return isChanged
  }

  /// Checks that only whole changes are committed, writes the history, and counts the commit.
  mutating func prepareCommit() throws {
    guard !state.isHalfDone else { throw TallyError.halfDone }
    try recordHistory()
    // Names of fields are kept even if nothing has changed: other writes of this transaction may use them.
    try records?.store(&state, in: &base)
    guard state.hasChanges else { return }
    assert(!state.hasUnrecordedChanges, "a commit with changes that are not in the history")
    var header = try header()
    assert(header.sequence < commitSequence, "the sequence does not rise")
    if !tables.ownIndexes.registered.isEmpty {
      try OwnIndexCatchUp(tables: tables, sequence: header.sequence).advance(to: commitSequence, in: &base)
    }
    header.sequence = commitSequence
    try tables.meta.put(header, forKey: .header, in: &base)
    // On a full disk, only what frees space is written.
    guard state.keepsImages, !base.goesToLog else { return }
    try SearchIndexer(tables: tables).advanceIfDue(at: commitSequence, in: &base)
  }

  /// Runs a closure as a separate write beside others in this transaction, with its own entry in the history.
  ///
  /// - Throws: the closure's error if it has changed nothing; otherwise `EntangledWrites`, because its changes can no
  ///   longer be separated from the others, and all of them must be rolled back.
  mutating func beside(_ body: (inout StoreWriteTransaction) throws -> Void) throws {
    let hadChanges = state.beginBeside()
    let (calendar, dayStart, weights) = (calendar, dayStartInMinutes, nextWeights)
    defer {
      state.hasChanges = state.hasChanges || hadChanges
      nextWeights = weights
      countDays(in: calendar, startingAtMinute: dayStart)
    }
    do {
      try body(&self)
      guard !state.isHalfDone else { throw TallyError.halfDone }
      try recordHistory()
    } catch {
      throw state.failure(error)
    }
  }

  /// Runs a closure in a nested transaction: if it throws, only its own changes are rolled back.
  ///
  /// liblmdb copies every page that both transactions change, which takes about ten microseconds more than `beside`.
  mutating func nested(_ body: (inout StoreWriteTransaction) throws -> Void) throws {
    let (tables, now, calendar, dayStart, ids, sequence) = (
      tables, now, calendar, dayStartInMinutes, ids, commitSequence
    )
    let (stampsWholeSeconds, syncTables, nextWeights) = (stampsWholeSeconds, syncTables, nextWeights)
    let didChange = try base.nested { child in
      var transaction = StoreWriteTransaction(
        base: child, tables: tables, now: now, calendar: calendar, dayStartInMinutes: dayStart, ids: ids,
        state: WriteState(commitSequence: sequence))
      transaction.stampsWholeSeconds = stampsWholeSeconds
      transaction.syncTables = syncTables
      transaction.nextWeights = nextWeights
      let result = Result {
        try body(&transaction)
        guard !transaction.state.isHalfDone else { throw TallyError.halfDone }
        try transaction.recordHistory()
        try transaction.records?.store(&transaction.state, in: &transaction.base)
        return transaction.state.hasChanges
      }
      transaction.records?.end()
      child = transaction.base
      return try result.get()
    }
    records?.forgetFields()
    state.hasChanges = state.hasChanges || didChange
  }
}

/// The cost of observations so far.
public struct ObservationCounts: Hashable, Sendable {
  /// How many times a whole view was read.
  ///
  /// Each observation reads it once at its start, and again only if changes could not be listed one by one.
  public internal(set) var viewReadCount = 0
  /// How many tasks were looked up to follow changes.
  public internal(set) var taskLookupCount = 0
}

extension TaskStore {
  /// The cost of all observations of this store so far.
  public var observationCounts: ObservationCounts { observations.withLock { $0 } }

  /// Adds the cost of one observation since an earlier moment.
  func note(_ counts: ObservationCounts, since before: ObservationCounts) {
    observations.withLock { all in
      all.viewReadCount += counts.viewReadCount - before.viewReadCount
      all.taskLookupCount += counts.taskLookupCount - before.taskLookupCount
    }
  }
}

/// What a number of consecutive commits have changed: identifiers by kind of change.
///
/// If several commits changed one task, only the result counts: a task that was created and deleted meanwhile is in no
/// set, and one that was deleted and restored by undo counts as inserted.
public struct ChangeSet: Hashable, Codable, Sendable {
  /// The identifiers of tasks or lists, by what happened to them.
  public struct Identifiers: Hashable, Sendable {
    /// The ones that were created or restored.
    public internal(set) var inserted: Set<UUID> = []
    /// The ones that existed before and were changed.
    public internal(set) var updated: Set<UUID> = []
    /// The ones that were deleted.
    public internal(set) var deleted: Set<UUID> = []

    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// All identifiers.
    public var all: Set<UUID> { inserted.union(updated).union(deleted) }
  }

  /// The sequence of the commit after which the changes begin.
  public let previousSequence: UInt64
  /// The position to continue from: the last commit whose changes are included.
  public let position: StorePosition
  /// The changes of tasks.
  public internal(set) var tasks = Identifiers()
  /// The changes of lists.
  public internal(set) var lists = Identifiers()
  /// Whether these are all changes; if not, anything may have changed, and everything must be read again.
  ///
  /// It is false only if an older state of the store, or another store, has replaced it since the earlier commit.
  public internal(set) var isComplete = true

  /// The sequence of the last commit whose changes are included.
  public var sequence: UInt64 { position.sequence }
}

extension ChangeSet.Identifiers: Codable {
  private enum Key: String, CodingKey {
    case inserted, updated, deleted
  }

  /// Decodes the identifiers, grouped by what happened to them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(inserted: try ids(.inserted), updated: try ids(.updated), deleted: try ids(.deleted))
  }

  /// Encodes the identifiers, grouped by what happened to them and each group in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(texts(inserted), forKey: .inserted)
    try container.encode(texts(updated), forKey: .updated)
    try container.encode(texts(deleted), forKey: .deleted)
  }
}
