/// How the commits of an environment share one flush of the disk each; see "One flush per commit" in `docs/design.md`.
package struct JournalOptions: Sendable {
  /// The room for records, in bytes; of a journal that exists, its own counts.
  ///
  /// A transaction whose record needs more than half of it is flushed as pages instead.
  package var ringSizeInBytes = 4 << 20
  /// After how many commits a checkpoint begins, so that recovery has few to repeat.
  package var checkpointCommitCount = 1_024
  /// After how many bytes of freed pages a checkpoint begins, so that they can be used again.
  ///
  /// The data file grows by twice as much at most. A larger one makes commits wait longer while it is flushed.
  package var checkpointSizeInBytes = 8 << 20
  /// How much of the data file a checkpoint writes at a time; 0 for all at once.
  ///
  /// More where that would be more than 64 steps, each of which waits for the disk.
  ///
  /// The flush of a record waits for what the disk has been given to write before.
  package var checkpointStepInBytes = 128 << 10
  /// How long after a commit a checkpoint begins at the latest.
  package var checkpointInterval = Duration.seconds(1)
  /// How long after a relaxed commit its record is flushed at the latest.
  package var flushInterval = Duration.milliseconds(50)
  /// Whether that is the journal's business; otherwise its owner calls ``LMDBEnvironment/sync(force:)``.
  package var flushesRecords = true
  /// After how long without commits the file is made a plain one; `nil` for only when the last process closes it.
  package var cleanInterval: Duration? = .seconds(2)
  /// How many durable commits after opening a clean file are flushed by liblmdb itself.
  ///
  /// A command that writes once is done sooner without a journal than with one.
  package var directCommitCount = 2
  /// Whether a thread flushes and makes checkpoints; without it commits make those that are due.
  package var hasKeeper = true
  /// How many records share a commit when they are replayed.
  package var recordsPerReplayedCommit = 128
  /// The rules that a control breaks, which must then fail.
  package var brokenRules: BrokenRules = []

  /// Creates the defaults.
  package init() {}

  /// Each breaks a rule of the protocol, to prove that the fault suite notices.
  package struct BrokenRules: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Writers hold no pin.
    package static let pin = BrokenRules(rawValue: 1 << 0)
    /// A writer trusts the pins of other processes.
    package static let ownPin = BrokenRules(rawValue: 1 << 1)
    /// A durable commit does not flush its record.
    package static let recordFlush = BrokenRules(rawValue: 1 << 2)
    /// A commit comes before its record.
    package static let recordFirst = BrokenRules(rawValue: 1 << 3)
    /// A checkpoint does not flush the data file.
    package static let dataFlush = BrokenRules(rawValue: 1 << 4)
    /// A checkpoint writes its header before it flushes the data file.
    package static let dataBeforeHeader = BrokenRules(rawValue: 1 << 5)
    /// A header counts before it is flushed.
    package static let headerFlush = BrokenRules(rawValue: 1 << 6)
    /// The header is written over the published one.
    package static let twoSlots = BrokenRules(rawValue: 1 << 7)
    /// A header that a killed process has not published stays, although it contradicts the published one.
    package static let contradiction = BrokenRules(rawValue: 1 << 18)
    /// Recovery trusts the pages that it finds.
    package static let restoredMeta = BrokenRules(rawValue: 1 << 8)
    /// Records are not checked.
    package static let checksum = BrokenRules(rawValue: 1 << 9)
    /// A record does not name the one before it, nor its epoch.
    package static let chain = BrokenRules(rawValue: 1 << 10)
    /// The record of a commit that failed, or whose process ended, stays.
    package static let voiding = BrokenRules(rawValue: 1 << 11)
    /// Recovery does not flush the records that it replays.
    package static let recoveryFlush = BrokenRules(rawValue: 1 << 12)
    /// Recovery holds no pin.
    package static let recoveryPin = BrokenRules(rawValue: 1 << 13)
    /// Records overwrite those that recovery may need.
    package static let ringLimit = BrokenRules(rawValue: 1 << 14)
    /// A commit without a record is not made steady.
    package static let steadyWithoutRecord = BrokenRules(rawValue: 1 << 15)
    /// A file is marked clean without a flush.
    package static let cleanFlush = BrokenRules(rawValue: 1 << 16)
    /// A new journal gets its name without a flush of the directory.
    package static let directoryFlush = BrokenRules(rawValue: 1 << 17)
  }
}
