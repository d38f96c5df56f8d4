import CLMDB
import SystemPackage
import TallySystem

/// Redo records for the commits of an environment, so that a durable commit costs one flush; "One flush per commit" in
/// `docs/design.md` has the rules (R1 to R16), to which the comments here refer.
///
/// liblmdb commits without flushes, as the environment is open with `MDB_NOSYNC`. What it has written counts after a crash
/// only up to the steady commit, whose meta page is copied in the journal's header; the records repeat the commits since.
@safe
final class Journal: @unchecked Sendable {
  // Constants.
  let directory: FilePath
  let options: JournalOptions
  let isDurable: Bool
  let file: JournalFile
  /// The data file, by a descriptor of our own: the failure of a flush is reported once for each.
  let dataFile: FileDescriptor
  let boot: UInt64
  let waitLimit: Duration
  /// Shared by every process that has the environment open; exclusive for recovery (R11).
  let presence: FileLock
  /// Held from the choice of a steady commit until its header is published (R8).
  let checkpointLock: FileLock
  // Guarded by themselves.
  let state: Monitor<State>
  let names = Monitor<[UInt32: String]>([:])
  // Used in the write transaction only, or where nobody writes.
  var tail = Tail()
  var freed = FreedPages()
  /// The `checkpointDelay` after the last commit with a record.
  var lastDelay = 0.0

  @safe
  struct State {
    /// The header that is known to be on the disk, as this process has last seen it.
    var published: (header: JournalHeader, slot: Int)?
    /// A read transaction at the steady commit or before it, so that no page of the steady commit is used again (R2).
    var pin: OpaquePointer?
    var pinnedTransaction: UInt64?
    var isCheckpointing = false
    /// Whether a flush has failed: only closing is left.
    var isFailed = false
    /// Whether a relaxed commit's record waits for its flush.
    var hasUnflushedRecord = false
    var isCheckpointDue = false
    /// Whether the next checkpoint must not take its time, as writers will soon wait for it.
    var isCheckpointHurried = false
    var directCommitsLeft = 0
    var lastCommit = ContinuousClock.now
    /// How long the last checkpoint wrote and flushed while others wrote, and since when one does now.
    var checkpointDuration = Duration.zero
    var checkpointStart: ContinuousClock.Instant?
    /// When the last writer could go on after its commit.
    var lastReturn = ContinuousClock.now
    var lastCheckpoint = ContinuousClock.now
    /// The newest commit that the keeper has seen.
    var seenTransaction: UInt64 = 0
    var isKeeperRunning = false
    var isStopping = false
  }

  /// The last record, and the commit up to which the records reach.
  struct Tail: Equatable {
    var epoch: UInt64 = 0
    var position = JournalPosition()
    var transaction: UInt64 = 0
  }

  init(
    _ directory: FilePath, options: LMDBEnvironment.Options, journal: JournalOptions, file: JournalFile,
    presence: FileLock
  ) throws {
    (self.directory, self.options, self.presence) = (directory, journal, presence)
    var file = file
    file.brokenRules = journal.brokenRules
    self.file = file
    isDurable = options.durability == .full
    boot = BootIdentity.current
    waitLimit = options.writeWaitLimit ?? options.waitLimit
    let data = directory.appending(LMDBEnvironment.dataFileName)
    dataFile = try .open(data, .readWrite, options: [.closeOnExec])
    checkpointLock = try FileLock(opening: data)
    var state = State()
    state.directCommitsLeft = isDurable ? journal.directCommitCount : 0
    self.state = Monitor(state)
  }

  deinit {
    file.close()
    // Everything that must last has been flushed.
    try? dataFile.close()
  }

  func breaks(_ rule: JournalOptions.BrokenRules) -> Bool {
    options.brokenRules.contains(rule)
  }

  // MARK: Headers

  /// The header that counts: it is on the disk for certain (R7).
  func published() throws -> (header: JournalHeader, slot: Int) {
    for _ in 0..<Self.readingAttempts {
      guard let shared = try file.shared() else {
        pause(microseconds: 50)
        continue
      }
      if shared.isFailed { throw Self.failed }
      if let known = state.withLock({ $0.published }), known.header.generation == shared.generation { return known }
      for slot in 0..<2 {
        guard let header = try file.header(inSlot: slot), header.generation == shared.generation else { continue }
        state.withLock { $0.published = (header, slot) }
        return (header, slot)
      }
      // Another process has published a header meanwhile.
      pause(microseconds: 50)
    }
    throw LMDBError.damagedJournal("The published header is not there")
  }

  private static let readingAttempts = 1_000

  /// Whether a header that was written and not published might be on the disk, and says other than the published one
  /// whether the file is clean (R16).
  ///
  /// Such a one is written within the write lock. So where its holder finds one, its writer has been killed, and a
  /// commit made now would be lost with it. A header of the same epoch only names a later steady commit, and does no harm.
  func isContradicted(_ published: (header: JournalHeader, slot: Int)) throws -> Bool {
    guard !breaks(.contradiction) else { return false }
    let generation = try file.generation(inSlot: 1 - published.slot)
    guard generation > published.header.generation, let rival = try file.header(inSlot: 1 - published.slot) else {
      return false
    }
    return rival.generation > published.header.generation
      && (rival.state != published.header.state || rival.epoch != published.header.epoch)
  }

  /// Writes a header into the slot that does not count, and makes it count.
  func publish(_ header: JournalHeader, insteadOf slot: Int) throws {
    var header = header
    let generations = try (0..<2).compactMap { try file.header(inSlot: $0)?.generation }
    // Also above one that a killed process has written and not published.
    header.generation = (generations.max() ?? 0) + 1
    let target = breaks(.twoSlots) ? slot : 1 - slot
    try file.write(header, inSlot: target)
    let shared = JournalFile.Shared(generation: header.generation, boot: boot)
    if breaks(.headerFlush) { try file.share(shared) } else { try file.flush() }
    try file.share(shared)
    state.withLock { $0.published = (header, target) }
  }

  // MARK: Failure

  /// Refuses all further writes: what a flush that failed should have written may be gone, although it can be read (R12).
  func fail() {
    state.withLock { $0.isFailed = true }
    guard let shared = try? file.shared() else { return }
    // A process that does not learn of it here meets the failure at the next flush: the system reports it to every descriptor.
    try? file.share(JournalFile.Shared(generation: shared.generation, boot: shared.boot, isFailed: true))
  }

  var isFailed: Bool { state.withLock { $0.isFailed } }

  static let failed = LMDBError(
    .panic, operation: "write", message: "A flush to the disk has failed",
    remedy: "Close it in every process and open it again, which recovers it")

  /// Runs a body that flushes, and refuses all further writes if it fails.
  func flushing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      fail()
      throw error
    }
  }

  func flushDataFile() throws {
    try SystemCalls.flushData(dataFile)
  }

  /// Writes the data file a little at a time, while others write and flush their records between; then it has little
  /// left to flush.
  func writeDataFileBySteps() throws {
    guard options.checkpointStepInBytes > 0 else { return }
    let size = Int(try dataFile.stat().size)
    // Not more steps for a larger file, whose changed pages lie further apart: each step waits for the disk.
    let step = max(options.checkpointStepInBytes, size / Self.maximumStepCount)
    for offset in stride(from: 0, to: size, by: step) {
      if state.withLock({ $0.isCheckpointHurried }) { return }
      try SystemCalls.writeBack(dataFile, from: offset, byteCount: step)
    }
  }

  private static let maximumStepCount = 64
}
