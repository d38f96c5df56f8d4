import Foundation
package import LMDB
public import Logging

/// How durable a write is once the call has returned.
public enum Durability: Sendable {
  /// The write is on disk: neither a crash nor a power cut loses it.
  case durable
  /// A power cut, but not a crash of the program, may lose the last writes, each as a whole and without damage.
  ///
  /// Writes are flushed within ``StoreConfiguration/flushIntervalInSeconds``, and when the store is closed.
  case relaxed
}

/// How a store is opened.
///
/// ```swift
/// var configuration = StoreConfiguration()
/// configuration.durability = .relaxed
/// let store = try Store(at: folder, schema: schema, configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
  /// The clock; it is read once per transaction.
  public var now: @Sendable () -> Timestamp = { .now() }
  /// How durable a write is once the call has returned.
  public var durability = Durability.durable
  /// The longest time that a relaxed write stays unflushed, in seconds.
  public var flushIntervalInSeconds = 1.0
  /// Whether a missing store is created.
  public var createsIfMissing = true
  /// Whether the store is opened for reading only: writes are refused, and nothing is created or migrated.
  ///
  /// Readers still write to the store's lock files, unless the filesystem is mounted read-only.
  public var isReadOnly = false
  /// Whether commits go to a log, which makes each one of them several times as fast (`docs/log.md`).
  ///
  /// Making the log when the store is opened, and bringing it into the file when the store is closed, costs as much as
  /// a few commits. So a program that writes once and ends sets this to false; it uses a log that others have made.
  public var makesLog = true
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
  /// being reused, so the file grows. While the store has a log, pages are freed by merges of the log, and a read is long
  /// that is two of them behind for a second, or sixteen. The logger gets the read's lag and for how long it has been seen.
  public var onLongWait: @Sendable (_ processIDs: [Int32]) -> Void = { _ in }
  /// Called instead of ``onLongWait`` for a long read, if set.
  package var onLongRead: (@Sendable (ReaderInformation) -> Void)?
  /// How much address space, not disk space, is reserved, in bytes.
  ///
  /// It is halved until the system accepts it, and it grows when the store needs more.
  public var mapSizeInBytes = 64 << 30
  /// The logger for events that concern an operator; it never receives text that the user wrote.
  public var logger = Logger(label: "tally.store", factory: { _ in SwiftLogNoOpLogHandler() })
  /// Pauses between two attempts; a test may move its clock instead.
  package var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
  /// The clock that limits waiting: unlike `now`, nobody can set it.
  package var instant: @Sendable () -> ContinuousClock.Instant = { .now }

  /// Creates the default configuration.
  public init() {}
}

extension StoreConfiguration {
  /// How long to wait for a store of this process that is about to be released.
  ///
  /// It may just have been dropped, and observations that still use it must notice that first.
  package var dropLimit: Duration { min(waitLimit, .seconds(2)) }

  /// Reports a snapshot that prevents pages from being reused.
  package func report(_ read: LongRead) {
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

  /// The limit, clamped to what a duration can represent.
  package var waitLimit: Duration {
    let longestInSeconds = 1e9
    return waitLimitInSeconds.isNaN ? .zero : .seconds(min(max(waitLimitInSeconds, 0), longestInSeconds))
  }

  private static var longestFlushIntervalInSeconds: Double { 86_400 }

  /// The configured interval, clamped to what can be added to an instant.
  package var flushInterval: Duration {
    let interval = flushIntervalInSeconds
    return .seconds(interval.isNaN ? 0 : min(max(interval, 0), Self.longestFlushIntervalInSeconds))
  }
}

/// A process that reads a store or has read it.
public struct ReaderInformation: Hashable, Sendable {
  /// The process's id.
  public let processID: Int32
  /// How many commits its snapshot is behind, or merges while the store has a log; `nil` if it has no snapshot at the
  /// moment.
  public let lagInCommits: Int?
  /// How many seconds ago the first commit that its snapshot does not show was written, according to the history.
  ///
  /// The true age is higher if the history does not reach back that far. `nil` if the snapshot is not behind, or if the
  /// history is empty.
  public let lagInSeconds: Int?

  package init(processID: Int32, lagInCommits: Int?, lagInSeconds: Int?) {
    (self.processID, self.lagInCommits, self.lagInSeconds) = (processID, lagInCommits, lagInSeconds)
  }
}

extension StoreConfiguration {
  private static let attempts = 3
  private static let firstPauseInMilliseconds = 20

  /// Runs a closure again if its failure may be temporary: up to three attempts, with pauses that double.
  ///
  /// A failed attempt was rolled back as a whole, so running it again is like running it for the first time.
  package func retrying<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    var attempt = 1
    while true {
      do {
        return try body()
      } catch {
        guard attempt < Self.attempts, (error as? LMDBError)?.isTransient == true else { throw error }
        pause(.milliseconds(Self.firstPauseInMilliseconds << (attempt - 1)))
        attempt += 1
      }
    }
  }
}

extension LMDBError {
  /// Whether the same call may succeed a moment later.
  ///
  /// A full disk does not count, because somebody must free space, nor does an unknown outcome, because the write must
  /// not be applied twice. If a part of this process is busy, the call has already waited; if the system reports that
  /// it is busy, another attempt is worthwhile.
  package var isTransient: Bool {
    switch code {
    case .ioFailure, .outOfMemory, .readersFull: true
    case .busy: returnCode != 0
    default: false
    }
  }
}
