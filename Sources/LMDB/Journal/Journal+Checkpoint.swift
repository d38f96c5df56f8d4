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
    try reserveCheckpoint()
    defer { endCheckpoint() }
    let turn = try environment.beginPlainWrite(waitingAtMost: limit, isUrgent: true)
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
        try makeSteady(next, published, bySteps: true)
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

  private func noteCheckpoint(isClean: Bool = false) {
    state.withLock { state in
      // After a pause the next few durable commits need no journal again: they flush less than a transition does.
      if isClean && isDurable { state.directCommitsLeft = options.directCommitCount }
      (state.isCheckpointDue, state.isCheckpointHurried) = (false, false)
      state.lastCheckpoint = .now
    }
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

  /// Waits for this process's and for other processes' checkpoints (R8).
  private func reserveCheckpoint() throws {
    let deadline = ContinuousClock.Instant.after(waitLimit)
    let isFree: Void? = state.wait(atMost: waitLimit) { state in
      if state.isCheckpointing { return nil }
      state.isCheckpointing = true
      return ()
    }
    guard isFree != nil else { throw Self.longCheckpoint }
    do {
      var growing = GrowingPause(microseconds: 100...2_000)
      let isTaken = try waitForResult(until: deadline, pausing: { _ in growing.pass() }) {
        try checkpointLock.tryAcquire(.exclusive) ? true : nil
      }
      if isTaken == nil { throw Self.longCheckpoint }
    } catch {
      freeCheckpoint()
      throw error
    }
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
