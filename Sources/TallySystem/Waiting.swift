/// Tries until there is a result or the time is over, with a pause before each new attempt.
///
/// The one loop of all waiting with a limit. The limit follows a clock that nobody sets, and counts time and not
/// attempts: on a busy machine a pause takes longer than it should. There is always one attempt, and one after the last
/// pause.
///
/// `deadline` is looked at only after the first attempt, which usually succeeds and may cost less than the clock. `pause`
/// may return early. A test may give a clock of its own as `now`.
@inlinable
package func waitForResult<R, Failure: Error>(
  until deadline: @autoclosure () -> ContinuousClock.Instant, now: () -> ContinuousClock.Instant = { .now },
  pausing pause: (_ deadline: ContinuousClock.Instant) -> Void, _ attempt: () throws(Failure) -> R?
) throws(Failure) -> R? {
  if let result = try attempt() { return result }
  return try retry(until: deadline(), now: now, pausing: pause, attempt)
}

/// As `waitForResult`, after a first attempt that the caller has made.
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
  /// As good as for ever, and small enough to be added to a time.
  public static let longestWait = Duration.seconds(1_000_000_000)
}

extension ContinuousClock.Instant {
  /// The end of a limit that begins now.
  public static func after(_ limit: Duration) -> ContinuousClock.Instant {
    .now + min(limit, .longestWait)
  }
}

/// Pauses between attempts that become longer, so that a short wait ends soon and a long one costs little.
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
