#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tries until there is a result or the time is over, with a pause before each new attempt.
///
/// All waiting with a limit uses this one loop. The limit follows a clock that nobody can set. It counts time and not
/// attempts, because on a busy machine a pause takes longer than it should. There is always one attempt, and one after
/// the last pause.
///
/// `deadline` is read only after the first attempt, which usually succeeds and may cost less than the clock. `pause`
/// may return early. A test may give a clock of its own as `now`.
@inlinable
package func waitForResult<R, Failure: Error>(
  until deadline: @autoclosure () -> ContinuousClock.Instant, now: () -> ContinuousClock.Instant = { .now },
  pausing pause: (_ deadline: ContinuousClock.Instant) -> Void, _ attempt: () throws(Failure) -> R?
) throws(Failure) -> R? {
  if let result = try attempt() { return result }
  return try retry(until: deadline(), now: now, pausing: pause, attempt)
}

/// Does the same as `waitForResult`, after a first attempt that the caller has made.
@inlinable
public func retry<R, Failure: Error>(
  until deadline: ContinuousClock.Instant,
  now: () -> ContinuousClock.Instant = { .now },
  pausing pause: (_ deadline: ContinuousClock.Instant) -> Void,
  _ attempt: () throws(Failure) -> R?
) throws(Failure) -> R? {
  while now() < deadline {
    pause(deadline)
    if let result = try attempt() { return result }
  }
  return nil
}

extension Duration {
  /// Practically for ever, and small enough to be added to a time.
  public static let longestWait = Duration.seconds(1_000_000_000)
}

extension ContinuousClock.Instant {
  /// The end of a limit that begins now.
  public static func after(_ limit: Duration) -> ContinuousClock.Instant {
    .now + min(limit, .longestWait)
  }
}

/// Pauses of growing length between attempts, so that a short wait ends soon and a long one costs little.
package struct GrowingPause {
  private var sleptMicroseconds: UInt32 = 0
  private let range: ClosedRange<UInt32>
  private static let divisor: UInt32 = 64

  /// Each pause is a 64th of the time slept so far, within the range.
  ///
  /// The resource may be free only for moments; doubling pauses would soon miss most of them.
  package init(microseconds range: ClosedRange<UInt32>) {
    assert(range.lowerBound > 0, "a pause of zero does not grow")
    self.range = range
  }

  /// Sleeps.
  package mutating func pass() {
    pause(microseconds: next())
  }

  /// The microseconds of the next pause.
  package mutating func next() -> UInt32 {
    let next = min(max(sleptMicroseconds / Self.divisor, range.lowerBound), range.upperBound)
    sleptMicroseconds = min(sleptMicroseconds + next, Self.divisor * range.upperBound)
    return next
  }
}

/// State behind a lock, with waiting for a condition.
///
/// `Synchronization.Mutex` cannot wait, a registry must be able to hold its lock across `fork`, and ThreadSanitizer sees
/// `pthread` locks only. An uncontended pass costs about 20 ns.
///
/// Public, although only this package has the module: the compiler (6.3.1) specialises generic code of another module only
/// if it is public, and each read passes here. Unspecialised, a read takes a fifth longer.
@safe
public final class Monitor<State>: @unchecked Sendable {
  // Constant; both live at stable addresses, as pthread demands, and are freed with the monitor.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  // Guarded by `mutex`, and at an address of its own: the check of exclusive access that a property of a class gets at
  // run time would cost as much as the lock, which already keeps everybody else out.
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
    // None of these calls can fail except for lack of memory, which traps in Swift anyway.
    unsafe pthread_mutex_init(mutex, nil)
    unsafe initialize(condition)
  }

  deinit {
    // Nobody can hold or wait on a monitor to which nobody refers.
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Acquires the lock without a scope; for the handlers of `fork`.
  public func lock() {
    // Initialised, and freed only with this object.
    unsafe pthread_mutex_lock(mutex)
  }

  /// Releases the lock.
  public func unlock() {
    assert(isLocked, "unlocking what is not locked")
    // As above; the caller holds it.
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Whether the lock is taken; for assertions only, as it acquires the lock if nobody has it.
  private var isLocked: Bool {
    // Initialised, and freed only with this object.
    unsafe pthread_mutex_trylock(mutex) != 0
  }

  /// Runs a body, which must be short because all other threads wait for it, and which must not wait for a thread that
  /// needs the lock.
  @inlinable
  public func withLock<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
    lock()
    defer { unlock() }
    // Lives as long as this object; the mutex is held.
    return try unsafe body(&state.pointee)
  }

  /// How many threads wait for a change; a test that needs one to wait can see it only here.
  package var waiterCount: Int {
    lock()
    defer { unlock() }
    return waiters
  }

  /// Wakes the waiting threads, after a change to the state.
  package func wakeAll() {
    // Initialised, and freed only with this object.
    unsafe pthread_cond_broadcast(condition)
  }

  /// Runs the body again after each change of the state, until it returns a value or the time is over.
  ///
  /// The body returns `nil` to wait: waiting inside the body would leave `state` borrowed while other threads change it.
  @inlinable
  @discardableResult
  public func wait<R, Failure: Error>(
    atMost limit: Duration = .longestWait,
    until body: (inout State) throws(Failure) -> R?
  ) throws(Failure) -> R? {
    lock()
    defer { unlock() }
    // Lives as long as this object; the mutex is held. The first attempt is here and not in the loop, because it mostly
    // succeeds and is part of every read.
    if let result = try unsafe body(&state.pointee) { return result }
    return try retry(until: .after(limit), pausing: sleep) { () throws(Failure) -> R? in
      // Lives as long as this object; the mutex is held.
      try unsafe body(&state.pointee)
    }
  }

  /// Releases the lock until `wakeAll` or a deadline, perhaps for a shorter time; the caller holds the lock.
  @usableFromInline
  func sleep(until deadline: ContinuousClock.Instant) {
    assert(isLocked, "waiting without the lock")
    waiters += 1
    defer { waiters -= 1 }
    var time = timespec(min(max(deadline - .now, .zero), .longestWait))
    // The call only reads the local; both others live as long as this object, whose mutex is held here.
    #if canImport(Darwin)
      unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var now = timespec()
      // Only writes into the local.
      unsafe clock_gettime(CLOCK_MONOTONIC, &now)
      time.tv_sec += now.tv_sec + (time.tv_nsec + now.tv_nsec) / 1_000_000_000
      time.tv_nsec = (time.tv_nsec + now.tv_nsec) % 1_000_000_000
      unsafe pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }
}

/// Initialises a condition whose waits do not change when somebody sets the clock.
private func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
  #if canImport(Darwin)
    // Darwin's waits take durations. The call initialises memory that has just been allocated.
    unsafe pthread_cond_init(condition, nil)
  #else
    var attributes = pthread_condattr_t()
    // The calls only write into the local, and into memory that has just been allocated.
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  #endif
}

extension timespec {
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}
