public import Foundation
package import LMDB
public import Logging

extension TaskStore {
  /// How safe a write is once the call has returned.
  public enum Durability: Sendable {
    /// It is on the disk: neither a crash nor a power cut loses it.
    case durable
    /// A power cut, not a crash of the program, may lose the last writes, whole and without damage.
    ///
    /// They are flushed within `flushIntervalInSeconds`, and when the store is closed.
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
    /// The clock: read once per transaction.
    public var now: @Sendable () -> Timestamp = { .now() }
    /// Whether the times of creation, change and completion are stored without a fraction of a second.
    ///
    /// Only where that keeps their order: of two changes of a task in one second, the second one has its exact time, so
    /// that a merge knows which is newer. Ids and the history have exact times always.
    public var stampsWholeSeconds = false
    /// The calendar, time zone and first weekday that define days and weeks; by default the system's.
    public var calendar = Calendar.autoupdatingCurrent
    /// The minutes after midnight at which a day begins: 240 for people who work until late; below noon.
    ///
    /// Until then it is still the day before, for `today`, the views by day, words such as "tomorrow" in filters, and for
    /// tasks that are overdue by day. An instant is late when it has passed. Statistics have an option of their own.
    public var dayStartInMinutes = 0
    /// What counts in the order ``TaskOrder/Key/next``, that of ``TaskView/next``.
    public var nextWeights = NextWeights()
    /// How safe a write is once the call has returned.
    public var durability = Durability.durable
    /// The longest time that a relaxed write stays unflushed.
    public var flushIntervalInSeconds = 1.0
    /// Whether a store gets a journal, so that a commit flushes one file once instead of flushing twice.
    ///
    /// It gets it when it is created, or opened for writing while no other process has it open. It then keeps it, whatever
    /// this says. Versions of Tally that do not know the journal refuse to open such a store.
    public var usesJournal = false
    /// Whether a store is created if there is none.
    public var createsIfMissing = true
    /// Whether writes are refused, and nothing is created or migrated.
    ///
    /// Readers still need to write into the store's lock files, unless it is on a filesystem that is mounted for
    /// reading only; a snapshot needs no locks: ``TaskStore/publishSnapshot(to:)``.
    public var isReadOnly = false
    /// Whether a remote filesystem is accepted, at the risk of losing the store.
    public var allowsRemoteFilesystem = false
    /// How long a call waits for other processes that hold the store before it throws `storeBusy`.
    public var waitLimitInSeconds = 30.0
    /// Called once where opening, compacting or restoring a store has waited a second for other processes, with their ids.
    ///
    /// Where the system does not report who holds a lock, there are none.
    ///
    /// Also called, once for each long read, with the process that reads. A read is long if its snapshot has been at least 64
    /// commits behind this process's writes for a second, or is 1,024 commits behind: it keeps pages from being reused, so
    /// the file grows. The logger gets its lag and for how long it has been seen.
    public var onLongWait: @Sendable (_ processIDs: [Int32]) -> Void = { _ in }
    /// Called instead of ``onLongWait`` for a long read, if set.
    package var onLongRead: (@Sendable (ReaderInformation) -> Void)?
    /// How much address space, not disk space, to reserve.
    ///
    /// Halved if the system refuses it; the store grows beyond it when it has to.
    public var mapSizeInBytes = 64 << 30
    /// The indexes that this program keeps besides those of Tally: see ``TaskIndex``.
    public var indexes: [TaskIndex] = []
    /// Where the store reports events to an operator; never any text of the user's.
    public var logger = Logger(label: "tally.store", factory: { _ in SwiftLogNoOpLogHandler() })

    /// How the journal works; for tests.
    package var journal = JournalOptions()
    /// How to pause between two attempts; a test may move its clock instead.
    var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    /// The clock that limits waiting: one that nobody sets, unlike `now`.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Generates the ids of new tasks and lists; one with a seed makes them the same in each run of a test.
    ///
    /// Each configuration has one of its own: a store whose clock is far ahead would stop the time in the ids of all
    /// others.
    public var ids = UUIDv7Generator()

    /// Creates the default configuration.
    public init() {}
  }
}

extension TaskStore.Configuration {
  /// How long to wait for a store that this process has open to end: it may just have been dropped, and observations that
  /// still use it must notice first.
  var dropLimit: Duration { min(waitLimit, .seconds(2)) }

  /// Reports a snapshot that keeps pages from being reused.
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

  /// The start of days, clamped to the morning.
  var dayStart: Int { min(max(dayStartInMinutes, 0), 719) }

  /// The limit, clamped to a range that a duration can count.
  var waitLimit: Duration {
    let longestInSeconds = 1e9
    return waitLimitInSeconds.isNaN ? .zero : .seconds(min(max(waitLimitInSeconds, 0), longestInSeconds))
  }
}
