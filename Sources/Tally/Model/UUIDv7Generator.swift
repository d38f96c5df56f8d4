public import Foundation
import TallySystem

/// Generates ascending UUIDs of version 7 from a clock of its own.
///
/// Follows RFC 9562, section 6.2, method 1: the 12 bits of `rand_a` are a counter. A new millisecond seeds it with 11
/// random bits, which leaves room for at least 2,048 steps; each further id of that millisecond, or of an earlier one
/// if the clock went back, adds one. When the counter is used up the time in the ids moves on by one millisecond, ahead
/// of the clock, rather than waiting for it. The 62 bits of `rand_b` are fresh from the system in every id.
///
/// May be used from any thread.
public final class UUIDv7Generator: Sendable {
  private struct State {
    /// Milliseconds since 1970 in the latest id.
    var milliseconds: UInt64 = 0
    /// The counter in the latest id, below 4,096.
    var counter: UInt16 = 0
  }

  private static let counterLimit: UInt16 = 1 << 12
  private static let seedLimit: UInt16 = 1 << 11

  // Constant.
  private let clock: @Sendable () -> Timestamp
  // Guarded by itself.
  private let state = Monitor(State())

  /// Creates a generator.
  ///
  /// - Parameter clock: Returns the current time; the system's clock by default.
  public init(clock: @escaping @Sendable () -> Timestamp = Timestamp.now) {
    self.clock = clock
  }

  /// Returns an id for now, greater than every one returned before.
  public func next() -> UUID {
    next(at: clock())
  }

  /// Returns an id for an instant, greater than every one returned before; years before 1970 count as 1970.
  ///
  /// An instant before the latest one that was used counts as the latest: after an instant far ahead, all later ids carry
  /// that time.
  public func next(at instant: Timestamp) -> UUID {
    let wanted = UInt64(max(0, instant.microsecondsSince1970) / 1_000)
    let (milliseconds, counter) = state.withLock { state in
      if wanted <= state.milliseconds, state.counter + 1 < Self.counterLimit {
        state.counter += 1
      } else {
        state.milliseconds = max(wanted, state.milliseconds + 1)
        state.counter = UInt16.random(in: 0..<Self.seedLimit)
      }
      return (state.milliseconds, state.counter)
    }
    assert(milliseconds < 1 << 48 && counter < Self.counterLimit, "a time or counter beyond its bits")
    let random = UInt64.random(in: 0..<1 << 62)
    return UUID(high: milliseconds << 16 | 7 << 12 | UInt64(counter), low: 0b10 << 62 | random)
  }
}
