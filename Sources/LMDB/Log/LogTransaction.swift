import CLMDB
import TallySystem

// Transactions of an environment with a log. A write reads a snapshot and gathers its changes in the tail, where no snapshot
// sees them yet; they become one record when it commits. Where that is not possible, the write continues in the tree:
// its gathered changes and all published commits are put there, and its commit is a direct one (L9).

extension LMDBEnvironment {
  /// Begins a write that goes to the log.
  @available(*, noasync)
  func beginLogWrite(_ log: LogStore) throws(LMDBError) -> WriteTransaction {
    let thread = currentThread()
    try state.withLock { (state) throws(LMDBError) in
      reclaimAbandoned(in: &state, on: thread)
      try refuseEndlessWait(thread, state)
    }
    try log.takeTurn("begin write")
    do throws(LMDBError) {
      if log.share.isInDoubt { try log.recover() }
      let reader = try log.beginReader()
      let core = TransactionCore(environment: self, isWrite: true, thread: thread)
      // The handle is the reader's, which ends with this transaction.
      unsafe core.handle = reader.handle
      core.reader = reader
      let commit = reader.commit ?? 0
      let seen = reader.overlay ?? LogOverlay([], after: commit, at: commit, tableNumbers)
      core.overlay = LogOverlay(of: log.beginGathering(), over: seen)
      state.withLock { state in
        state.logWriter = thread
        state.begunWriteCount += 1
      }
      return WriteTransaction(environment: self, core: core)
    } catch {
      log.endTurn()
      throw error
    }
  }

  /// Commits a write that has an overlay; the changes of a nested write then belong to its parent.
  func commitToLog(_ core: TransactionCore) throws(LMDBError) {
    if core.parent != nil { return leaveLogWrite(core) }
    guard let log, let write = core.overlay?.write else { return }
    var changes = try write.changes()
    // The read ends first, because a full map cannot grow while this thread reads.
    leaveLogWrite(core)
    defer { log.endTurn() }
    guard !changes.isEmpty else { return }
    do throws(LMDBError) {
      try log.commit(&changes, write, isDurable: options.durability == .full)
    } catch {
      write.takeBack()
      throw error
    }
  }

  /// Ends a write that has an overlay, without committing it.
  func endLogWrite(_ core: TransactionCore) {
    core.overlay?.write?.takeBack(from: core.gatheredBefore)
    leaveLogWrite(core)
    if core.parent == nil { log?.endTurn() }
  }

  private func leaveLogWrite(_ core: TransactionCore) {
    // The handle is the reader's.
    unsafe core.handle = nil
    core.overlay = nil
    guard let reader = core.reader else { return }
    core.reader = nil
    state.withLock { $0.logWriter = nil }
    endRead(reader)
  }

  /// Commits a write that has continued in the tree (L9).
  func commitDirectly(_ core: TransactionCore) throws(LMDBError) {
    guard let log, let end = core.directEnd else { return }
    let place = end.afterDirectCommit()
    try log.putRow(place, in: core)
    core.directEnd = nil
    defer { log.endTurn() }
    log.share.isInDoubt = true
    do throws(LMDBError) {
      try commitWrite(core)
    } catch {
      // Otherwise no meta page was written, and nothing is in doubt.
      if error.code != .commitOutcomeUnknown, !hasPanicked { log.share.isInDoubt = false }
      throw error
    }
    log.publishDirectCommit(place)
  }

  /// Begins the write transaction of the tree for a write that has the turn already.
  ///
  /// If it throws, the write can only be aborted.
  fileprivate func continueInTree(_ core: TransactionCore, _ overlay: LogOverlay) throws(LMDBError) {
    guard let log else { return }
    guard core.thread == currentThread() else { throw LMDBError(.wrongThread, operation: "continue in the tree") }
    let versions = overlay.write?.takeBack() ?? []
    // The versions need no snapshot. While a reader is live, a map that another process has enlarged could not be
    // adopted.
    leaveLogWrite(core)
    // The overlay's part has the versions.
    defer { extendLifetime(overlay) }
    // From here on, ending the transaction also ends the turn.
    core.directEnd = LogPlace()
    do throws(LMDBError) {
      let transaction = try beginTreeWrite()
      core.mapSizeInBytes = transaction.core.mapSizeInBytes
      core.databaseGeneration = transaction.core.databaseGeneration
      // The handle now belongs to this core, and the other core ends without it.
      unsafe core.handle = transaction.core.handle
      unsafe transaction.core.handle = nil
      core.directEnd = try log.bringUpTree(in: core)
      try log.put(versions, into: core)
    } catch {
      core.fail(error.code)
      throw error
    }
  }
}

extension TransactionCore {
  /// Makes a write that has an overlay continue in the tree; does nothing for other transactions.
  func continueInTree() throws(LMDBError) {
    guard let overlay, isWrite else { return }
    // The owner keeps the environment alive.
    guard let parent else { return try unsafe environment.continueInTree(self, overlay) }
    let versions = overlay.write?.takeBack(from: gatheredBefore) ?? []
    // The overlay's part has the versions.
    defer { extendLifetime(overlay) }
    // The parent's reader ends, and this transaction has the reader's handle.
    self.overlay = nil
    unsafe handle = nil
    do throws(LMDBError) {
      try parent.continueInTree()
      databaseGeneration = parent.databaseGeneration
      let parentHandle = try unsafe parent.usableHandle("begin nested write")
      // The parent is live, as for any nested transaction; the call writes into this core's own field.
      let result = unsafe mdb_txn_begin(environment.handle, parentHandle, 0, &handle)
      guard result == MDB_SUCCESS else { throw parent.failed(result, "begin nested write") }
      try unsafe environment.log?.put(versions, into: self)
    } catch {
      fail(error.code)
      throw error
    }
  }

  /// Does the same as ``continueInTree()`` if the write has gathered much.
  @usableFromInline
  func continueInTreeIfLarge() throws(LMDBError) {
    if hasGatheredEnough { try continueInTree() }
  }

  /// Whether a write has gathered so much that it should continue in the tree.
  var hasGatheredEnough: Bool { overlay?.write.map { $0.byteCount > gatheredByteLimit } ?? false }

  /// How many bytes a write gathers before it continues in the tree.
  private var gatheredByteLimit: Int {
    // The owner keeps the environment alive.
    (unsafe environment.log?.log.ringByteCount ?? 0) / LogFile.largestPart
  }

  /// Reserves room for a value among the changes of a write, if the mode allows it and the write does not go into the
  /// tree.
  func reserveInLog(
    _ byteCount: Int, for key: UnsafeRawBufferPointer, _ mode: StoreMode, in database: DatabaseHandle
  ) throws(LMDBError) -> (isInTree: Bool, room: UnsafeMutableRawBufferPointer?) {
    _ = try unsafe usableHandle(for: database, "put")
    guard let overlay, let write = overlay.write else { throw LMDBError(.badTransaction, operation: "put") }
    if write.byteCount + byteCount > gatheredByteLimit {
      try continueInTree()
      return (true, nil)
    }
    let isAllowed =
      switch mode {
      case .replace: true
      case .insert: unsafe try find(key, in: database) == nil
      case .append: unsafe try overlay.isAfterAppended(key, in: database) ? true : isAfterAll(key, in: database)
      }
    guard isAllowed else { return (false, nil) }
    let (isNested, appends) = (parent != nil, mode == .append)
    return unsafe (
      false, try overlay.reserve(byteCount, for: key, in: database, isNested: isNested, appends: appends)
    )
  }

  private func isAfterAll(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> Bool {
    let cursor = try CursorHandle(of: database, in: self)
    defer { cursor.close() }
    // No key is read in this move.
    let last = unsafe try cursor.move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0))
    return unsafe last.map { unsafe orderOfKeys($0.key, key) < 0 } ?? true
  }

  /// Stores the entries of a batch among the changes of a write; false if it goes into the tree.
  func putInLog(_ batch: EncodedEntries, in database: DatabaseHandle) throws(LMDBError) -> Bool {
    guard let overlay, let write = overlay.write else { return false }
    _ = try unsafe usableHandle(for: database, "put")
    guard write.byteCount + batch.bytes.count + batch.count * LogNode.usualByteCount <= gatheredByteLimit else {
      try continueInTree()
      return false
    }
    // The pointers are used only within the closure.
    try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      for entry in batch.entries {
        let value = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.value])
        let room = unsafe try overlay.reserve(
          value.count, for: UnsafeRawBufferPointer(rebasing: bytes[entry.key]), in: database, isNested: parent != nil)
        unsafe room?.copyMemory(from: value)
      }
    }
    return true
  }
}
