import Foundation
import Synchronization

/// Handles SIGINT and SIGTERM: they end the process at once, unless it has something to clean up.
///
/// Ending at once is safe in the middle of a change: an uncommitted transaction leaves no trace, and the next process
/// takes over the lock. A command that creates files, such as an export, a backup or an import into a new store, removes them
/// first, and `remind` waits for the programs it has started; they check ``isInterrupted``.
enum Signals {
  /// Whether the process was asked to end while it had something to clean up.
  static var isInterrupted: Bool { interruption.load(ordering: .relaxed) }

  private static let interruption = Atomic<Bool>(false)
  private static let isCleaningUp = Atomic<Bool>(false)

  /// Runs a body that polls ``isInterrupted``; a second signal ends the process anyway.
  static func deferringInterruption<R>(_ body: () throws -> R) rethrows -> R {
    isCleaningUp.store(true, ordering: .relaxed)
    defer { isCleaningUp.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Installs the handlers; called once, by the program, never by a library.
  static func install() {
    // Reading both initializes them: a handler must not be the first to touch them.
    _ = (isInterrupted, isCleaningUp.load(ordering: .relaxed))
    // A handler may run between any two instructions: this one only uses atomics and `_exit`.
    signal(SIGINT) { number in Signals.receive(number) }
    signal(SIGTERM) { number in Signals.receive(number) }
    // A write to a closed pipe then returns an error, which ends the program quietly.
    signal(SIGPIPE, SIG_IGN)
    // And a write beyond the file size limit fails as on a full disk.
    signal(SIGXFSZ, SIG_IGN)
    unblock()
  }

  /// Unblocks the signals, which a parent may have blocked.
  ///
  /// The mask is inherited, and a parent that starts processes from a thread pool, such as Dispatch's, blocks nearly all
  /// signals.
  private static func unblock() {
    var signals = sigset_t()
    // Unsafe as the calls write through the pointer: each to this local only.
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
  }

  private static func receive(_ number: Int32) {
    let isFirst = !interruption.exchange(true, ordering: .relaxed)
    if isFirst, isCleaningUp.load(ordering: .relaxed) { return }
    _exit(128 + number)
  }
}
