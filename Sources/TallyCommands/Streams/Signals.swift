import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What SIGINT and its kind do: they end the process at once, unless it has something to clean up.
///
/// Ending at once is safe in the middle of a change: an uncommitted transaction leaves no trace, and the next process
/// takes the lock over. What makes files beside the store, as an export or a backup, removes them first, and `remind` lets
/// the commands it has started end; they ask ``isInterrupted``.
enum Signals {
  /// Whether the process was asked to end while it had something to clean up.
  static var isInterrupted: Bool { interruption.load(ordering: .relaxed) }

  private static let interruption = Atomic<Bool>(false)
  private static let isCleaningUp = Atomic<Bool>(false)

  /// Runs a body that polls ``isInterrupted``; a second signal ends the process even so.
  static func deferringInterruption<R>(_ body: () throws -> R) rethrows -> R {
    isCleaningUp.store(true, ordering: .relaxed)
    defer { isCleaningUp.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Installs the handlers; called once, by the program and never by a library.
  static func install() {
    // Reading both makes sure they exist: a handler must not be the first to touch them.
    _ = (isInterrupted, isCleaningUp.load(ordering: .relaxed))
    // A handler may run between any two instructions: this one only uses atomics and `_exit`.
    signal(SIGINT) { number in Signals.receive(number) }
    signal(SIGTERM) { number in Signals.receive(number) }
    // A write to a closed pipe then returns an error, which ends the program quietly.
    signal(SIGPIPE, SIG_IGN)
    // And one beyond the limit of a file's size fails as one on a full disk does.
    signal(SIGXFSZ, SIG_IGN)
    unblock()
  }

  /// Lets the signals through that a parent may have blocked.
  ///
  /// The mask is inherited, and a parent that starts processes from a pool of threads, as Dispatch's, blocks nearly
  /// all.
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
