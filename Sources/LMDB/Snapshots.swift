import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Begins a read transaction; it ends when it is dropped.
  ///
  /// Costs a fraction of a microsecond: ended readers are kept and used again.
  ///
  /// Throws `closed`, `forked`; `readersFull` if every slot belongs to a live process's reader; `busy` if waiting for
  /// the map to move took too long; `panic`.
  ///
  /// The corresponding C functions are `mdb_txn_begin` and `mdb_txn_renew`.
  public func beginRead() throws(LMDBError) -> ReadTransaction {
    let core = if let log { try log.beginReader() } else { try beginTreeReader() }
    return ReadTransaction(environment: self, core: core)
  }

  /// Begins a read transaction for a test, with a body that runs where another process may hold the reader up.
  func beginRead(holdingUp: () -> Void) throws(LMDBError) -> ReadTransaction {
    ReadTransaction(environment: self, core: try beginTreeReader(holdingUp: holdingUp))
  }

  /// Begins a reader of the tree, whether there is a log or not.
  func beginTreeReader(holdingUp: () -> Void = {}) throws(LMDBError) -> TransactionCore {
    try checkProcess("begin read")
    var hasCheckedReaders = false
    var uncertainCount = 0
    while true {
      let core = try enterReader()
      let result = try startReader(core)
      if result == MDB_SUCCESS {
        holdingUp()
        if hasCertainSnapshot(core) { return core }
        endRead(core)
        // A commit is on its way to the disk, and no slot is free to ask how far it is, so the wait has no limit.
        uncertainCount += 1
        if uncertainCount > Self.uncertainAttempts { throw LMDBError(.readersFull, operation: "begin read") }
        if uncertainCount > Self.hastyAttempts { pause(microseconds: Self.pauseInMicroseconds) }
        continue
      }
      if result == MDB_BAD_RSLOT {
        // Another program has cleared the table, and the slot is another reader's now: a new one is claimed.
        core.abortHandle()
      }
      endReader(core)
      switch result {
      case MDB_BAD_RSLOT: continue
      case MDB_MAP_RESIZED:
        try adoptMapSize()
      case MDB_READERS_FULL where !hasCheckedReaders:
        hasCheckedReaders = true
        try clearStaleReaders()
      default:
        throw explain(result, "begin read")
      }
    }
  }

  /// How many times a snapshot is begun again at once because it was not certain which one it was.
  private static let hastyAttempts = 16
  /// How many times a snapshot is begun again in all; with the pauses, that takes seconds.
  private static let uncertainAttempts = 20_000
  private static let pauseInMicroseconds: UInt32 = 100

  /// Runs a body with a snapshot that ends with it.
  ///
  /// Throws what ``beginRead()`` throws, and what the body throws.
  @inlinable
  public func read<R: ~Copyable>(_ body: (inout ReadTransaction) throws -> R) throws -> R {
    var transaction = try beginRead()
    return try body(&transaction)
  }

  /// Ends a reader and keeps it for the next one.
  func endRead(_ core: TransactionCore) {
    // A child of a fork must not touch the slot: it is its parent's.
    guard !isForked else { return }
    (core.overlay, core.commit) = (nil, nil)
    if let handle = unsafe core.handle {
      // Releases the pages at once; slot and memory stay.
      unsafe mdb_txn_reset(handle)
    }
    endReader(core)
  }

  func enterReader() throws(LMDBError) -> TransactionCore {
    try enter("begin read") { (state) throws(LMDBError) in
      let thread = currentThread()
      if let core = state.idle.popLast() {
        assert(!core.isLive, "an idle reader is in use")
        core.isLive = true
        core.thread = thread
        return core
      }
      let core = TransactionCore(environment: self, isWrite: false, thread: thread)
      core.position = state.readers.count
      state.readers.append(core)
      return core
    }
  }

  func startReader(_ core: TransactionCore) throws(LMDBError) -> Int32 {
    do throws(LMDBError) {
      try lockFile?.renew()
    } catch {
      endReader(core)
      throw error
    }
    // The core is this reader's alone; the caller counts the environment as in use.
    if let used = unsafe core.handle { return unsafe mdb_txn_renew(used) }
    return unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &core.handle)
  }

  func endReader(_ core: TransactionCore) {
    leave { state in
      assert(core.isLive, "a reader ends twice")
      core.isLive = false
      // The handle is only compared with nil.
      if unsafe core.handle != nil, state.idle.count < Self.idleReadersLimit {
        state.idle.append(core)
        return
      }
      // Within the lock, because closing must not overtake it.
      core.abortHandle()
      state.remove(core)
    }
  }
}

extension LMDBEnvironment.State {
  /// Takes a reader out of the list by moving the last one into its place.
  fileprivate mutating func remove(_ core: TransactionCore) {
    assert(readers[core.position] === core, "a reader is not at its place")
    let last = readers.removeLast()
    if last !== core {
      readers[core.position] = last
      last.position = core.position
    }
  }
}

extension LMDBEnvironment {
  /// Whether a reader that has just begun reads the snapshot that its slot names, and no newer one.
  ///
  /// liblmdb 0.9 reads the number N of the last acknowledged transaction, puts it into the slot, and then copies the
  /// meta page of N, which shares its place with that of N + 2. A reader held up in between, while N + 1 is acknowledged
  /// and N + 2 is being written, gets a page of N + 2, perhaps half of it: changes that have not been acknowledged to
  /// anybody. The next reader then goes back in time to N + 1. On a busy machine that happens every few minutes.
  ///
  /// The writer of N + 2 begins after N + 1 is acknowledged. So the copy is right if, after it was made, N + 1 was
  /// either not written or not acknowledged. The first costs a few nanoseconds to check; the second, which is checked
  /// only while a commit is on its way to the disk, follows from another reader's slot.
  func hasCertainSnapshot(_ core: TransactionCore) -> Bool {
    // The reader is live, and its owner is the only one to use it.
    let named = unsafe mdb_txn_id(core.handle)
    let newest = newestTransactionID
    if newest == named { return true }
    return (lastAcknowledgedTransactionID() ?? newest) == named
  }

  /// Whether the table of readers still has the slot of a live reader, or there is no table.
  func hasReaderSlot(_ core: TransactionCore) -> Bool {
    guard lockFile != nil else { return true }
    // The reader is live, and its owner is the only one to use it.
    let named = unsafe Int(mdb_txn_id(core.handle))
    return (try? hasReader(ofThisProcessAt: named)) ?? true
  }

  /// How many times the first two pages are read while commits change them.
  private static let pageAttempts = 1_000

  /// Runs a body with the file and the meta page of an acknowledged snapshot, which stays live meanwhile.
  ///
  /// The newest meta page may be that of a commit that has not been acknowledged yet, and may be half written. Commit N + 2,
  /// which overwrites the page of N, begins only after N + 1 has been acknowledged. So the page is right if N was certainly
  /// still the last acknowledged commit after the page had been read.
  ///
  /// Throws `corrupted` if the first two pages are never those of two consecutive commits, or if the body throws it; `busy`
  /// if the snapshot was lost while the body ran; what ``beginRead()`` throws.
  func withSnapshotPage<R>(_ body: (DataFileReader, MetaPage) throws -> R) throws(LMDBError) -> R {
    try DataFile(dataFile).reading { reader in
      var attempt = 1
      while true {
        let snapshot = ReadTransaction(environment: self, core: try beginTreeReader())
        defer { extendLifetime(snapshot) }
        let page = try MetaPage.page(ofSnapshot: UInt64(snapshot.snapshotNumber), in: reader)
        if let page, hasCertainSnapshot(snapshot.core) {
          do {
            return try body(reader, page)
          } catch let error as LMDBError where error.code == .corrupted && !snapshot.hasReaderSlot {
            throw LMDBError.lostSnapshot
          }
        }
        // A commit may have come between the two reads or during one of them. Damage would stay.
        guard attempt < Self.pageAttempts else { throw LMDBError.foreignMetaPages }
        if attempt > 1 { pause(microseconds: 200) }
        attempt += 1
      }
    }
  }

  /// The number of the transaction that a second reader gets, which ends at once; `nil` if there is no slot for it.
  private func lastAcknowledgedTransactionID() -> Int? {
    guard let probe = try? enterReader(), let result = try? startReader(probe) else { return nil }
    guard result == MDB_SUCCESS else {
      endReader(probe)
      return nil
    }
    defer { endRead(probe) }
    // Live until the end of this function.
    return unsafe mdb_txn_id(probe.handle)
  }
}

extension LMDBError {
  /// The error of a read whose pages may have been overwritten meanwhile.
  static let lostSnapshot = LMDBError(
    .busy, operation: "read", message: "Another program has ended this snapshot",
    remedy: "Try again; if it keeps happening, end other programs that use the file with liblmdb itself")
}
