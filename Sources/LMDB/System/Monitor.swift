#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// State behind a lock, with waiting for a condition.
///
/// `Synchronization.Mutex` has no way to wait, a registry must be able to hold its lock across `fork`, and
/// ThreadSanitizer sees `pthread` locks only. An uncontended pass costs about 20 ns.
@safe
package final class Monitor<State>: @unchecked Sendable {
  // Constant; both live at stable addresses, as pthread demands, and are freed with the monitor.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  // Guarded by `mutex`, and at an address of its own: the check of exclusive access that a property of a class gets at
  // run time would cost as much as the lock, which already lets nobody else in.
  @usableFromInline let state: UnsafeMutablePointer<State>
  // Guarded by `mutex`.
  private var waiters = 0

  package init(_ state: State) {
    // Freed with the monitor, as are the two below.
    unsafe self.state = .allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
    // Initialised below, before anybody has this object.
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    // Default attributes: neither call can fail but for lack of memory, which traps in Swift anyway.
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    // Nobody can hold or wait on what nobody refers to.
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Takes the lock without a scope; for the handlers of `fork`.
  package func lock() {
    unsafe pthread_mutex_lock(mutex)
  }

  /// Gives back what `lock` took.
  package func unlock() {
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Runs a body that must be short, as everybody else waits meanwhile, and must not wait for anybody who needs the lock.
  @inlinable
  package func withLock<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
    lock()
    defer { unlock() }
    // Lives as long as this object; the mutex is held.
    return try unsafe body(&state.pointee)
  }

  /// How many threads wait for a change; a test that needs one to wait has nothing else to look at.
  package var waiterCount: Int {
    lock()
    defer { unlock() }
    return waiters
  }

  /// Wakes those who wait, after a change to the state.
  package func wakeAll() {
    unsafe pthread_cond_broadcast(condition)
  }

  /// Runs the body again and again, waiting for a change in between, until it gives a value or the time is over.
  ///
  /// The body and not the caller waits by giving `nil`: waiting inside the body would leave `state` borrowed while
  /// other threads change it.
  @discardableResult
  package func wait<R, Failure: Error>(
    atMost limit: Duration = .seconds(1_000_000_000),
    until body: (inout State) throws(Failure) -> R?
  ) throws(Failure) -> R? {
    lock()
    defer { unlock() }
    // Lives as long as this object; the mutex is held.
    if let result = try unsafe body(&state.pointee) { return result }
    waiters += 1
    defer { waiters -= 1 }
    var deadline = timespec()
    // The call only writes into the local it is given.
    unsafe clock_gettime(CLOCK_REALTIME, &deadline)
    // Within what a clock can be moved by.
    let (seconds, attoseconds) = min(max(limit, .zero), .seconds(1_000_000_000)).components
    let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    while true {
      // Both live as long as this object, whose mutex is held here.
      let outcome = unsafe pthread_cond_timedwait(condition, mutex, &deadline)
      if let result = try unsafe body(&state.pointee) { return result }
      if outcome != 0 { return nil }
    }
  }
}
