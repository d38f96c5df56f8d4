public import Foundation
public import Logging

extension TaskStore {
  /// How safe a write is once the call has returned.
  public enum Durability: Sendable {
    /// It is on the disk: no crash and no power cut takes it back.
    case durable
    /// A power cut, not a crash of the program, may take back the last writes, whole and without damage.
    ///
    /// They are flushed within `flushIntervalInSeconds`, and when the store is closed.
    case relaxed
  }

  /// How a store is opened, and what it takes for now and for a day.
  ///
  /// ```swift
  /// var configuration = TaskStore.Configuration()
  /// configuration.calendar.timeZone = .gmt
  /// configuration.now = { fixedInstant }
  /// ```
  public struct Configuration: Sendable {
    /// The clock: asked once a transaction.
    public var now: @Sendable () -> Timestamp = { .now() }
    /// The calendar, time zone and first weekday that say what a day and a week are; the system's.
    public var calendar = Calendar.autoupdatingCurrent
    /// How safe a write is once the call has returned.
    public var durability = Durability.durable
    /// The longest time that a relaxed write stays unflushed.
    public var flushIntervalInSeconds = 1.0
    /// Whether a store is made where there is none.
    public var createsIfMissing = true
    /// Whether writes are refused, and nothing is made or migrated.
    ///
    /// Readers still need to write into the store's files of locks, unless it lies on a filesystem that is mounted for
    /// reading only; a snapshot does without: ``TaskStore/publishSnapshot(to:)``.
    public var isReadOnly = false
    /// Whether a remote filesystem is accepted, at the risk of losing the store.
    public var allowsRemoteFilesystem = false
    /// How long a call waits for other processes that hold the store before it throws `storeBusy`.
    public var waitLimitInSeconds = 30.0
    /// How much address space, not disk, to reserve.
    ///
    /// Halved where the system refuses it; the store grows beyond it when it has to.
    public var mapSizeInBytes = 1 << 40
    /// Where the store says what an operator should know; never any text of the user's.
    public var logger = Logger(label: "tally.store", factory: { _ in SwiftLogNoOpLogHandler() })

    /// How to pass the time between two attempts; a test may rather move its clock.
    var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    /// The clock by which waiting has a limit: one that nobody sets, unlike `now`.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    // Not one for the process: a store whose clock is far ahead would hold back the time in the ids of all others.
    let ids = UUIDv7Generator()

    /// Makes the defaults.
    public init() {}
  }
}

extension TaskStore.Configuration {
  /// The limit within what can be counted.
  var waitLimit: Duration {
    let longestInSeconds = 1e9
    return waitLimitInSeconds.isNaN ? .zero : .seconds(min(max(waitLimitInSeconds, 0), longestInSeconds))
  }
}
