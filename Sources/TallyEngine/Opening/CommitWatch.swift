public import Foundation
import LMDB
package import SystemPackage
import TallySystem

/// Wakes the observations of one store after each commit of any process, and once a second those that depend on time.
///
/// A commit of this process wakes them at once. For commits of other processes, a thread watches the directory; it runs
/// while anybody waits. It checks the number of the newest transaction, which liblmdb reads from the file: beginning a
/// snapshot would write to the table of readers, so an idle device would keep writing to its disk.
package final class CommitWatch: Sendable {
  private struct State {
    /// Incremented with each wake-up.
    var count: UInt64 = 0
    /// The newest transaction when everybody was last woken.
    var newest: Int?
    /// Whether readers could see that transaction then: one still being written to disk is not acknowledged yet.
    var isSettled = false
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
    /// The watch on the directory, if the thread runs.
    var directoryWatch: DirectoryWatch?
  }

  private struct Waiter {
    let continuation: CheckedContinuation<Void, Never>
    /// Whether the passing of time alone may change what it observes.
    let followsTime: Bool
  }

  private let directory: FilePath
  private let connection: StoreConnection
  private let state = Monitor(State())
  /// Locked while the thread reads the store, because a store that is in use cannot be closed or suspended.
  private let look = Monitor(())

  /// The longest time between two checks by the thread, and the time after which it wakes the waiters that depend on
  /// time.
  package static let interval = Duration.seconds(1)
  /// How long the thread waits for a commit's writes to finish, in microseconds, because each of them is an event.
  private static let settlingTime: UInt32 = 3_000
  /// How many times the thread waits while a process is still committing to a log; a commit that ends later is seen at
  /// the next check.
  private static let settlingAttempts = 100

  package init(_ directory: FilePath, connection: StoreConnection) {
    (self.directory, self.connection) = (directory, connection)
  }

  /// The number of the last wake-up.
  package var count: UInt64 { state.withLock { $0.count } }

  /// Whether the thread runs; for tests.
  package var isRunning: Bool { state.withLock { $0.directoryWatch != nil } }

  /// Waits for a wake-up after the one numbered `count`, or for the cancellation of the Swift task.
  ///
  /// - Parameters:
  ///   - count: The number.
  ///   - followsTime: Whether to wake up once a second even if nothing was committed.
  package func wait(after count: UInt64, followsTime: Bool) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isLate = state.withLock { state in
          guard state.count == count, !Task.isCancelled else { return true }
          state.waiters[id] = Waiter(continuation: continuation, followsTime: followsTime)
          if state.directoryWatch == nil { startThread(&state) }
          return false
        }
        if isLate { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }

  /// Wakes the waiting observations after a commit of this process.
  package func noteCommit() {
    guard state.withLock({ !$0.waiters.isEmpty || $0.directoryWatch != nil }) else { return }
    wakeAll(at: newestTransaction)
  }

  private func wakeAll(at newest: Int? = nil, isSettled: Bool = false) {
    wake { state in
      if let newest { state.newest = newest }
      state.isSettled = isSettled
      defer { state.waiters = [:] }
      return state.waiters
    }
  }

  /// Wakes the waiters that a closure removes from the state.
  private func wake(_ take: (inout State) -> [UInt64: Waiter]) {
    let waiters = state.withLock { state in
      state.count += 1
      return take(&state)
    }
    for waiter in waiters.values { waiter.continuation.resume() }
  }

  /// Runs a closure that closes or suspends the store while the thread does not read it.
  package func withoutLooks<R>(_ end: () throws -> R) rethrows -> R {
    try look.withLock { _ in try end() }
  }

  /// Wakes the waiting observations after the store was suspended, resumed or closed; a closed store needs no thread.
  package func noteLifecycle() {
    wakeAll()
    if connection.isClosed { state.withLock { $0.directoryWatch }?.interrupt() }
  }
}

extension CommitWatch {
  private func startThread(_ state: inout State) {
    let watch = DirectoryWatch(directory)
    state.directoryWatch = watch
    Thread.detachNewThread { [self] in
      nameCurrentThread("tally.watch")
      run(watch)
    }
  }

  private func run(_ watch: DirectoryWatch) {
    // Commits between an observer's last check and now were not watched.
    wakeAll(at: lookedUpTransaction)
    var tick = ContinuousClock.now + Self.interval
    while !connection.isClosed {
      watch.wait(atMost: tick - .now)
      if tick <= .now {
        if endIfIdle() { return }
        tick = .now + Self.interval
        wakeForTick()
      } else {
        waitForCommit()
        // While the store is suspended, nobody can read what other processes write.
        if let newest = lookedUpTransaction, newest != state.withLock({ $0.newest }) { wakeAll(at: newest) }
      }
    }
    state.withLock { $0.directoryWatch = nil }
    wakeAll()
  }

  /// Waits until a commit that has just been written can be seen.
  private func waitForCommit() {
    var waits = 0
    repeat {
      pause(microseconds: Self.settlingTime)
      waits += 1
    } while waits < Self.settlingAttempts && isCommitting
  }

  private var isCommitting: Bool {
    look.withLock { _ in (try? connection.use { $0.environment.isCommitting }) == true }
  }

  /// Wakes everybody if there may be an unseen commit, because an event may get lost; otherwise only the waiters that
  /// depend on time.
  private func wakeForTick() {
    let newest = lookedUpTransaction
    if newest != nil, state.withLock({ $0.isSettled && $0.newest == newest }) {
      return wake { state in
        let due = state.waiters.filter(\.value.followsTime)
        for id in due.keys { state.waiters[id] = nil }
        return due
      }
    }
    let isSettled = look.withLock { _ in
      (try? connection.use { try $0.environment.hasAcknowledged(transaction: newest ?? 0) }) == true
    }
    wakeAll(at: newest, isSettled: isSettled)
  }

  /// Ends the thread if nobody waits; returns whether it does so.
  private func endIfIdle() -> Bool {
    state.withLock { state in
      if state.waiters.isEmpty { state.directoryWatch = nil }
      return state.waiters.isEmpty
    }
  }

  /// The newest transaction, as the thread reads it; `nil` while the store is suspended.
  private var lookedUpTransaction: Int? { look.withLock { _ in newestTransaction } }

  /// The newest transaction; `nil` while the store is suspended.
  private var newestTransaction: Int? {
    try? connection.use { try $0.environment.lastTransactionID() }
  }
}

/// A commit of one store, from which a follower of the store can continue even after a restart.
///
/// Its ``text`` can be stored in a file, or given to a client of a server.
public struct StorePosition: Hashable, Sendable {
  /// The identity of the store; a restored backup has the same one, and a new store does not.
  public let storeID: UUID
  /// The sequence of the commit.
  public let sequence: UInt64

  package init(storeID: UUID, sequence: UInt64) {
    (self.storeID, self.sequence) = (storeID, sequence)
  }
}

extension StorePosition: TextCodable {
  /// The store and the commit as text, for example `7f3a….42`.
  public var text: String { "\(IDText(storeID).text).\(sequence)" }

  /// Parses the store and the commit; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let sequence = UInt64(parts[1]) else { throw .invalidToken("state of a store") }
    self.init(storeID: try IDText(text: parts[0]).id, sequence: sequence)
  }
}
