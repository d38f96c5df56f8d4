import CLMDB
import SystemPackage
import TallySystem

extension Journal {
  /// Why a checkpoint is made.
  enum Occasion {
    /// So that pages and records can be used again; the data file is flushed while others write.
    case routine
    /// Because a writer cannot begin: the file is clean, or nothing keeps its steady pages, or a record is missing.
    case writer
    /// So that the file is a plain one.
    case cleaning
  }

  /// Makes the newest commit the steady one.
  func checkpoint(
    _ occasion: Occasion, _ environment: LMDBEnvironment, waitingAtMost limit: Duration? = nil
  ) throws {
    let turn = try reserveCheckpointInTurn(environment, limit)
    defer { endCheckpoint() }
    let newest = Self.commit(before: turn.core)
    let published = try published()
    let isContradicted = try isContradicted(published)
    // Without one another process has been first; the work is done.
    guard let next = try nextHeader(occasion, published.header, newest, isContradicted, environment) else {
      return noteCheckpoint()
    }
    // What another process commits meanwhile would not fit to both headers (R8, R16).
    var holdsTurn = published.header.state == .clean || occasion == .cleaning || isContradicted
    let pin = unsafe holdsTurn || breaks(.pin) ? nil : try? Self.beginPin(environment.handle)
    // Without a slot for a second pin, the old one must make room for it, and nobody may write in between.
    if unsafe pin == nil && !breaks(.pin) { holdsTurn = true }
    do {
      if holdsTurn {
        try makeSteady(next, published)
        unsafe setPin(nil)
        if next.state == .dirty && !breaks(.pin) { unsafe setPin(try Self.beginPin(environment.handle)) }
        extendLifetime(turn)
      } else {
        turn.abort()
        try makeSteadyBesideWriters(next, published)
        // Only now may the old one go (R7).
        unsafe setPin(pin)
      }
    } catch {
      if let pin = unsafe pin { unsafe mdb_txn_abort(pin) }
      throw error
    }
    noteCheckpoint(isClean: next.state == .clean)
  }

  /// The newest commit, which a write transaction begins with.
  private static func commit(before turn: TransactionCore) -> UInt64 {
    // The caller's, live.
    unsafe UInt64(mdb_txn_id(turn.handle)) - 1
  }

  /// Makes a checkpoint so that a writer can begin.
  ///
  /// Where the disk has no room for records a clean file stays clean, and liblmdb flushes the next commit itself:
  /// deleting must be possible on a full disk.
  func makeWritable(_ environment: LMDBEnvironment) throws {
    do {
      try LMDBError.translating("begin write") { try checkpoint(.writer, environment) }
    } catch {
      guard error.code == .diskFull, try published().header.state == .clean else { throw error }
      state.withLock { $0.directCommitsLeft = max($0.directCommitsLeft, 1) }
    }
  }

  /// Makes the file clean within a write transaction, so that liblmdb can flush its commit itself (R6).
  func makeClean(before transaction: UInt64, _ environment: LMDBEnvironment) throws {
    // No holder of it waits for the write lock.
    let isReserved = try waitForResult(until: .after(waitLimit), pausing: { _ in pause(microseconds: 200) }) {
      try tryReserveCheckpoint() ? true : nil
    }
    if isReserved == nil { throw Self.longCheckpoint }
    defer { endCheckpoint() }
    let published = try published()
    let isContradicted = try isContradicted(published)
    guard let next = try nextHeader(.cleaning, published.header, transaction - 1, isContradicted, environment) else {
      return
    }
    try makeSteady(next, published)
    unsafe setPin(nil)
    noteCheckpoint(isClean: true)
  }

  private func noteCheckpoint(isClean: Bool = false) {
    state.withLock { state in
      // After a pause the next few durable commits need no journal again: they flush less than a transition does.
      if isClean && isDurable { state.directCommitsLeft = options.directCommitCount }
      (state.isCheckpointDue, state.isCheckpointHurried) = (false, false)
      state.lastCheckpoint = .now
    }
  }

  /// As `makeSteady`, while others write, and notes how long it takes.
  private func makeSteadyBesideWriters(
    _ header: JournalHeader, _ published: (header: JournalHeader, slot: Int)
  ) throws {
    let start = ContinuousClock.now
    state.withLock { $0.checkpointStart = start }
    defer {
      state.withLock { state in
        state.checkpointStart = nil
        state.checkpointDuration = .now - start
      }
    }
    // Relaxed commits do not wait for the disk, and are held up less by a flush that is short.
    try makeSteady(header, published, bySteps: isDurable)
  }

  /// Flushes the data file, then the header that says so (R7).
  private func makeSteady(
    _ header: JournalHeader, _ published: (header: JournalHeader, slot: Int), bySteps: Bool = false
  ) throws {
    if bySteps && !breaks(.dataFlush) { try flushing(writeDataFileBySteps) }
    let isCleaning = header.state == .clean
    if breaks(.dataBeforeHeader) { try flushing { try publish(header, insteadOf: published.slot) } }
    if !breaks(.dataFlush), !(isCleaning && breaks(.cleanFlush)) { try flushing(flushDataFile) }
    if !breaks(.dataBeforeHeader) { try flushing { try publish(header, insteadOf: published.slot) } }
  }

  /// The header of a checkpoint at the newest commit; `nil` if there is nothing to do.
  private func nextHeader(
    _ occasion: Occasion, _ header: JournalHeader, _ newest: UInt64, _ isContradicted: Bool,
    _ environment: LMDBEnvironment
  ) throws -> JournalHeader? {
    if header.state == .clean {
      // Nothing but a writer makes a clean file dirty.
      guard occasion == .writer else { return nil }
      try file.makeRing(ofBytes: header.ringSizeInBytes)
    } else if header.steadyTransaction == newest && occasion != .cleaning && !isContradicted {
      return nil
    }
    var next = header
    next.boot = boot
    next.steadyTransaction = newest
    next.pageSizeInBytes = try environment.information().pageSizeInBytes
    next.meta = try meta(of: newest, pageSizeInBytes: next.pageSizeInBytes)
    next.rootSum = try rootSum(of: next.meta, pageSizeInBytes: next.pageSizeInBytes)
    if header.state == .clean {
      next.epoch = breaks(.chain) ? 42 : UInt64.random(in: 1...UInt64.max)
      next.position = JournalPosition(chain: next.epoch)
    } else {
      try follow(to: newest, header)
      next.position = tail.position
      // A record from before a commit without one must not continue those after it (R6).
      if tail.transaction != newest {
        next.position.chain = JournalChecksum.of([newest], after: next.position.chain)
      }
    }
    next.state = occasion == .cleaning ? .clean : .dirty
    return next
  }

  /// The meta page of a commit that nobody can follow yet.
  private func meta(of transaction: UInt64, pageSizeInBytes: Int) throws -> [UInt8] {
    let reader = DataFileReader(descriptor: dataFile)
    let offset = Int(transaction & 1) * pageSizeInBytes
    let bytes = try reader.bytes(count: MetaPage.byteCount, at: offset)
    guard let page = MetaPage(bytes), page.transactionID == transaction else {
      throw LMDBError.damagedJournal("The data file lacks the commit \(transaction)")
    }
    return Array(bytes[MetaPage.headByteCount...])
  }

  /// Takes the turn to write together with the right to make a checkpoint, which this process's and other processes'
  /// checkpoints may have (R8).
  ///
  /// Nobody waits for the turn while having that right, since a transaction may wait for the right (`makeClean`).
  private func reserveCheckpointInTurn(_ environment: LMDBEnvironment, _ limit: Duration?) throws -> WriteTransaction {
    let deadline = ContinuousClock.Instant.after(waitLimit)
    var growing = GrowingPause(microseconds: 1_000...2_000)
    while true {
      // Not with the turn, which others need meanwhile.
      state.wait(atMost: deadline - .now) { $0.isCheckpointing ? nil : () }
      let turn = try environment.beginPlainWrite(waitingAtMost: limit, isUrgent: true)
      if try tryReserveCheckpoint() { return turn }
      turn.abort()
      if deadline <= .now { throw Self.longCheckpoint }
      growing.pass()
    }
  }

  private func tryReserveCheckpoint() throws -> Bool {
    let isFree = state.withLock { state in
      if state.isCheckpointing { return false }
      state.isCheckpointing = true
      return true
    }
    guard isFree else { return false }
    do {
      if try checkpointLock.tryAcquire(.exclusive) { return true }
    } catch {
      freeCheckpoint()
      throw error
    }
    freeCheckpoint()
    return false
  }

  private func endCheckpoint() {
    checkpointLock.release()
    freeCheckpoint()
  }

  private func freeCheckpoint() {
    state.withLock { $0.isCheckpointing = false }
    state.wakeAll()
  }

  private static let longCheckpoint = LMDBError(
    .busy, operation: "checkpoint", message: "Another process has been flushing the file for too long",
    remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
}
