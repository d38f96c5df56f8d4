import Foundation
import LMDB
import SystemPackage
import TallySystem

/// Wakes the observations of one store: after each commit of any process, and once a second, as time changes views, too.
///
/// A commit of this process wakes them at once. A thread watches the directory for those of other processes; it runs
/// while somebody waits.
final class CommitWatch: Sendable {
  private struct State {
    /// Rises with each wake-up.
    var count: UInt64 = 0
    /// The commit of the last wake-up.
    var sequence: UInt64?
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
    /// The watch of the thread, if it runs.
    var directoryWatch: DirectoryWatch?
  }

  // Constants.
  private let directory: FilePath
  private let connection: StoreConnection
  private let state = Monitor(State())
  /// Held while the thread looks at the store: the store does not end meanwhile, since it would find itself in use.
  private let look = Monitor(())

  /// The longest time until observations look again, whatever happens.
  static let interval = Duration.seconds(1)
  /// How long the thread lets a commit's writes pass by: each of them is an event.
  private static let settlingTime: UInt32 = 3_000

  init(_ directory: FilePath, connection: StoreConnection) {
    (self.directory, self.connection) = (directory, connection)
  }

  /// The number of the last wake-up.
  var count: UInt64 { state.withLock { $0.count } }

  /// Whether the thread runs; for tests.
  var isRunning: Bool { state.withLock { $0.directoryWatch != nil } }

  /// Waits for a wake-up after the one with a number, or for the cancellation of the Swift task.
  func wait(after count: UInt64) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isLate = state.withLock { state in
          guard state.count == count, !Task.isCancelled else { return true }
          state.waiters[id] = continuation
          if state.directoryWatch == nil { startThread(&state) }
          return false
        }
        if isLate { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }

  /// Wakes those who wait after a commit of this process.
  func noteCommit() {
    guard state.withLock({ !$0.waiters.isEmpty || $0.directoryWatch != nil }) else { return }
    wakeAll(at: sequence)
  }

  private func wakeAll(at sequence: UInt64? = nil) {
    let waiters = state.withLock { state in
      state.count += 1
      if let sequence { state.sequence = sequence }
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Ends the store, beside no look of the thread.
  func withoutLooks<R>(_ end: () throws -> R) rethrows -> R {
    try look.withLock { _ in try end() }
  }

  /// Wakes those who wait after the store has been suspended, resumed or closed; a closed one needs no thread.
  func noteLifecycle() {
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
    // Commits between the last look of an observer and now were not watched.
    wakeAll(at: lookedUpSequence)
    var tick = ContinuousClock.now + Self.interval
    while !connection.isClosed {
      watch.wait(atMost: tick - .now)
      if tick <= .now {
        if endIfIdle() { return }
        tick = .now + Self.interval
        wakeAll(at: lookedUpSequence)
      } else {
        pause(microseconds: Self.settlingTime)
        // While the store is suspended nobody can look at what other processes write.
        if let sequence = lookedUpSequence, sequence != state.withLock({ $0.sequence }) { wakeAll(at: sequence) }
      }
    }
    state.withLock { $0.directoryWatch = nil }
    wakeAll()
  }

  /// Ends the thread when nobody waits.
  private func endIfIdle() -> Bool {
    state.withLock { state in
      if state.waiters.isEmpty { state.directoryWatch = nil }
      return state.waiters.isEmpty
    }
  }

  /// The last commit, for the thread; `nil` while the store is suspended.
  private var lookedUpSequence: UInt64? { look.withLock { _ in sequence } }

  /// The last commit; `nil` while the store is suspended.
  private var sequence: UInt64? {
    try? connection.use { store in
      let transaction = try store.environment.beginRead()
      return try store.tables.meta.value(forKey: .header, in: transaction)?.sequence
    }
  }
}
