public import Foundation
import LMDB
public import Logging

extension TaskStore {
  /// How durable a write is once the call has returned.
  public enum Durability: Sendable {
    /// The write is on disk: neither a crash nor a power cut loses it.
    case durable
    /// A power cut, but not a crash of the program, may lose the last writes, each as a whole and without damage.
    ///
    /// Writes are flushed within `flushIntervalInSeconds`, and when the store is closed.
    case relaxed
  }

  /// How a store is opened, and what it uses as the current time and calendar.
  ///
  /// ```swift
  /// var configuration = TaskStore.Configuration()
  /// configuration.calendar.timeZone = .gmt
  /// configuration.now = { fixedInstant }
  /// ```
  public struct Configuration: Sendable {
    /// The clock; it is read once per transaction.
    public var now: @Sendable () -> Timestamp = { .now() }
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
    /// How durable a write is once the call has returned.
    public var durability = Durability.durable
    /// The longest time that a relaxed write stays unflushed, in seconds.
    public var flushIntervalInSeconds = 1.0
    /// Whether a missing store is created.
    public var createsIfMissing = true
    /// Whether the store is opened for reading only: writes are refused, and nothing is created or migrated.
    ///
    /// Readers still write to the store's lock files, unless the filesystem is mounted read-only. A snapshot needs no
    /// locks: see ``TaskStore/publishSnapshot(to:)``.
    public var isReadOnly = false
    /// Whether a store on a remote filesystem is opened, at the risk of losing it.
    public var allowsRemoteFilesystem = false
    /// How long a call waits for other processes that hold the store before it throws `storeBusy`, in seconds.
    public var waitLimitInSeconds = 30.0
    /// Called with the ids of the processes that this one waits for, or that hold a snapshot for long.
    ///
    /// It is called once when opening, compacting or restoring a store has waited a second for other processes. The
    /// list is empty if the system does not report who holds a lock.
    ///
    /// It is also called once for each long read, with the process that reads. A read is long if its snapshot is at
    /// least 64 commits behind this process's writes for a second, or 1,024 commits behind: it prevents pages from
    /// being reused, so the file grows. The logger gets the read's lag and for how long it has been seen.
    public var onLongWait: @Sendable (_ processIDs: [Int32]) -> Void = { _ in }
    /// Called instead of ``onLongWait`` for a long read, if set.
    package var onLongRead: (@Sendable (ReaderInformation) -> Void)?
    /// How much address space, not disk space, is reserved, in bytes.
    ///
    /// It is halved until the system accepts it, and it grows when the store needs more.
    public var mapSizeInBytes = 64 << 30
    /// The indexes that this program maintains in addition to Tally's own: see ``TaskIndex``.
    public var indexes: [TaskIndex] = []
    /// The logger for events that concern an operator; it never receives text that the user wrote.
    public var logger = Logger(label: "tally.store", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Pauses between two attempts; a test may move its clock instead.
    var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    /// The clock that limits waiting: unlike `now`, nobody can set it.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    /// The generator of the ids of new tasks and lists; with a seed, tests get the same ids in each run.
    ///
    /// Each configuration has its own generator: a store whose clock is far ahead would otherwise freeze the time in
    /// the ids of all other stores.
    public var ids = UUIDv7Generator()

    /// Creates the default configuration.
    public init() {}
  }
}

extension TaskStore.Configuration {
  /// How long to wait for a store of this process that is about to be released.
  ///
  /// It may just have been dropped, and observations that still use it must notice that first.
  var dropLimit: Duration { min(waitLimit, .seconds(2)) }

  /// Reports a snapshot that prevents pages from being reused.
  func report(_ read: LongRead) {
    let seconds = Int(read.duration.components.seconds)
    logger.warning(
      "a long read keeps pages from being used again",
      metadata: [
        "lagInCommits": "\(read.lagInCommits)", "processID": "\(read.processID)",
        "seconds": "\(seconds)",
      ])
    guard let onLongRead else { return onLongWait([read.processID]) }
    onLongRead(ReaderInformation(processID: read.processID, lagInCommits: read.lagInCommits, lagInSeconds: seconds))
  }

  /// The start of days, in minutes after midnight and clamped to the morning.
  var dayStart: Int { min(max(dayStartInMinutes, 0), 719) }

  /// The limit, clamped to what a duration can represent.
  var waitLimit: Duration {
    let longestInSeconds = 1e9
    return waitLimitInSeconds.isNaN ? .zero : .seconds(min(max(waitLimitInSeconds, 0), longestInSeconds))
  }
}
