import CLMDB
import SystemPackage
import TallySystem

// The way of a commit; all of it within the write lock.

extension Journal {
  /// Looks whether a transaction that has just begun may commit; `nil` if a checkpoint must come first.
  func begin(
    _ transaction: OpaquePointer?, _ environment: LMDBEnvironment
  ) throws -> JournalWrite? {
    if isFailed { throw Self.failed }
    // Before the header: a checkpoint publishes first and exchanges the pin afterwards.
    let pinned = state.withLock { $0.pinnedTransaction }
    let published = try published()
    if try isContradicted(published) { return nil }
    let header = published.header
    // The caller's, just begun.
    let newest = unsafe UInt64(mdb_txn_id(transaction)) - 1
    guard header.state == .dirty else {
      let isDirect = state.withLock { $0.directCommitsLeft > 0 }
      return isDirect ? JournalWrite(header: header, position: header.position, isDirect: true) : nil
    }
    guard try isProtected(pinned, header.steadyTransaction, newest, environment) else { return nil }
    try follow(to: newest, header)
    if tail.transaction != newest {
      guard breaks(.steadyWithoutRecord) else { return nil }
      tail.transaction = newest
    }
    try countFreedPages(to: newest, header, environment)
    return JournalWrite(header: header, position: tail.position, isDirect: false)
  }

  /// Whether this process keeps the pages of the steady commit (R2, R3).
  private func isProtected(
    _ pinned: UInt64?, _ steady: UInt64, _ newest: UInt64, _ environment: LMDBEnvironment
  ) throws -> Bool {
    if breaks(.pin) { return true }
    if breaks(.ownPin), try isPinnedByOthers(environment, atMost: steady) {
      unsafe setPin(nil)
      return true
    }
    if let pinned, pinned <= steady, pinned == steady || newest != steady {
      if try isPinLive(environment) { return true }
      forgetPin()
    }
    // Nothing has been written since: now is as good as then.
    guard newest == steady else { return false }
    // The environment is open, and its write lock held.
    unsafe setPin(try Self.beginPin(environment.handle))
    return true
  }

  /// Follows the records of other processes up to a commit (R4).
  func follow(to transaction: UInt64, _ header: JournalHeader) throws {
    if tail.epoch != header.epoch || tail.transaction < header.steadyTransaction {
      tail = Tail(epoch: header.epoch, position: header.position, transaction: header.steadyTransaction)
    }
    while tail.transaction < transaction, let next = try file.record(at: tail.position, header),
      next.record.transaction == tail.transaction + 1
    {
      tail.position = next.end
      tail.transaction += 1
    }
  }

  /// Writes the record of a transaction that is about to be committed, and flushes it (R1).
  ///
  /// If it throws the transaction must be aborted.
  func prepare(_ write: JournalWrite, transaction: UInt64, _ environment: LMDBEnvironment) throws {
    if write.isDirect { return leaveFlush(of: write, to: environment) }
    guard !write.redo.isEmpty else { return }
    try clearOrphan(at: write.position, write.header)
    guard let offset = offset(for: write) else {
      if breaks(.steadyWithoutRecord) { return write.plan = .pages }
      // A commit that others see without a record would be lost if all processes were killed then.
      try makeClean(before: transaction, environment)
      return leaveFlush(of: write, to: environment)
    }
    var record = JournalRecord(
      payloadByteCount: write.redo.payloadByteCount, sequence: write.position.sequence + 1, transaction: transaction,
      epoch: write.header.epoch, chain: write.position.chain)
    // Read within the call only.
    record.checksum = unsafe write.redo.bytes.withUnsafeBytes {
      unsafe record.computedChecksum(
        of: UnsafeRawBufferPointer(rebasing: $0[JournalRecord.byteCount...]), ignoringChain: breaks(.chain))
    }
    write.redo.setHead(record.encoded)
    let physical = Int(offset % UInt64(write.header.ringSizeInBytes))
    write.plan = .record(
      physical: physical,
      end: JournalPosition(
        sequence: record.sequence, offset: offset + UInt64(record.ringByteCount), chain: record.checksum))
    if !breaks(.recordFirst) { try writeRecord(write) }
  }

  /// Lets liblmdb flush a commit, whose file is clean.
  private func leaveFlush(of write: JournalWrite, to environment: LMDBEnvironment) {
    write.plan = .direct
    // The environment is open as long as the transaction is. Only the holder of the write lock changes the flag, and
    // only a commit reads it.
    unsafe mdb_env_set_flags(environment.handle, UInt32(MDB_NOSYNC), 0)
  }

  private func writeRecord(_ write: JournalWrite) throws {
    guard case .record(let physical, _) = write.plan else { return }
    try file.write(
      write.redo.bytes.padded(to: JournalFile.blockSizeInBytes), at: JournalFile.ringOffset + physical)
    guard isDurable, !breaks(.recordFlush) else { return }
    do {
      try flushing(file.flush)
    } catch {
      // The record may be on the disk or not, and recovery would replay it.
      throw LMDBError(
        .commitOutcomeUnknown, operation: "commit", returnCode: (error as? Errno)?.rawValue ?? 0)
    }
  }

  /// Where the record goes; `nil` if it does not fit before those that recovery may need.
  private func offset(for write: JournalWrite) -> UInt64? {
    guard !write.redo.isTooLong else { return nil }
    let ring = UInt64(write.header.ringSizeInBytes)
    let count = UInt64(JournalRecord.ringByteCount(ofPayload: write.redo.payloadByteCount))
    guard count <= ring / 2 else { return nil }
    var offset = write.position.offset
    if offset % ring + count > ring { offset += ring - offset % ring }
    let isFree = offset + count - write.header.position.offset <= ring
    return isFree || breaks(.ringLimit) ? offset : nil
  }

  /// Removes the record of a commit that did not take place, as its process ended or its disk was full, for good: its
  /// number is about to be used again, and recovery might take it for the new one (R5).
  private func clearOrphan(at place: JournalPosition, _ header: JournalHeader) throws {
    if breaks(.voiding) { return }
    let ring = UInt64(header.ringSizeInBytes)
    var hasFound = false
    for physical in Set([Int(place.offset % ring), 0]) {
      guard let record = try file.head(at: physical), record.sequence == place.sequence + 1,
        record.epoch == header.epoch
      else { continue }
      try clearRecord(at: physical)
      hasFound = true
    }
    if hasFound { try flushing(file.flush) }
  }

  private func clearRecord(at physical: Int) throws {
    try file.write(
      [UInt8](repeating: 0, count: JournalFile.blockSizeInBytes), at: JournalFile.ringOffset + physical)
  }

  /// What a writer does after its commit, outside its turn.
  enum Pressure: Equatable {
    case none
    /// Waits a little, so that the checkpoint under way ends before writers have to wait for it.
    case pause(Duration)
    /// Makes a checkpoint, or waits for the one under way.
    case checkpoint
  }

  /// Notes that liblmdb has committed a transaction.
  func noteCommit(_ write: JournalWrite, transaction: UInt64) throws -> Pressure {
    if breaks(.recordFirst) { try writeRecord(write) }
    var isRecord = false
    if case .record(_, let end) = write.plan {
      tail = Tail(epoch: write.header.epoch, position: end, transaction: transaction)
      isRecord = true
    }
    let delay = isRecord ? checkpointDelay(after: transaction, write.header) : 0
    let rise = isRecord ? max(delay - lastDelay, 0) : 0
    if isRecord { lastDelay = delay }
    let pressure = state.withLock { state in
      state.lastCommit = .now
      if isRecord && !isDurable { state.hasUnflushedRecord = true }
      if delay >= 1 { state.isCheckpointDue = true }
      if delay >= Self.hurriedDelay { state.isCheckpointHurried = true }
      if write.isDirect { state.directCommitsLeft -= 1 }
      return pressureOfDelay(delay, rise, &state)
    }
    if delay >= 1 { state.wakeAll() }
    return pressure
  }

  /// What the writer of a commit does that has raised the delay.
  ///
  /// Relaxed commits are faster than the disk. One in a hundred would wait for a whole checkpoint, unless each waits for
  /// its share of it.
  private func pressureOfDelay(_ delay: Double, _ rise: Double, _ state: inout State) -> Pressure {
    if delay >= (options.hasKeeper ? Self.longestDelay : 1) { return .checkpoint }
    let work = state.lastCommit - state.lastReturn
    state.lastReturn = state.lastCommit
    guard delay > 1, let start = state.checkpointStart else { return .none }
    let duration = max(state.checkpointDuration, state.lastCommit - start)
    // The less room is left, the longer: this checkpoint takes more time than the last one.
    let room = max(Self.longestDelay - delay, Self.leastRoom)
    let share = min(duration * (rise * Self.pace / room), Self.longestPause) - work
    guard share > Self.shortestPause else { return .none }
    state.lastReturn += share
    return .pause(share)
  }

  /// How many times its share a commit waits, so that the delay stays below `longestDelay`.
  private static let pace = 1.5
  private static let leastRoom = 0.1
  /// A shorter one takes longer than it says.
  private static let shortestPause = Duration.microseconds(50)
  private static let longestPause = Duration.milliseconds(5)

  /// How far what makes a checkpoint due is beyond its limit: from 1 on it is due.
  private func checkpointDelay(after transaction: UInt64, _ header: JournalHeader) -> Double {
    let commits = transaction - min(transaction, header.steadyTransaction)
    let usedBytes = tail.position.offset - header.position.offset
    // The pages of this commit count with the next one.
    let freedBytes = freed.pageCount * header.pageSizeInBytes
    return max(
      Double(commits) / Double(options.checkpointCommitCount), 2 * Double(usedBytes) / Double(header.ringSizeInBytes),
      Double(freedBytes) / Double(options.checkpointSizeInBytes))
  }

  /// From which delay on a checkpoint no longer writes a little at a time.
  private static let hurriedDelay = 1.5
  /// From which delay on writers wait for it.
  private static let longestDelay = 2.0

  /// Removes the record of a commit that liblmdb refused (R5); the next writer cannot have begun.
  func void(_ write: JournalWrite) throws {
    guard case .record(let physical, _) = write.plan, !breaks(.voiding) else { return }
    try clearRecord(at: physical)
    try flushing(file.flush)
  }
}
