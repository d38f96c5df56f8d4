public import Foundation
import TallySystem

/// UUIDs of version 7 (RFC 9562), which begin with the time of their creation.
///
/// They ascend in the order of their creation, so that a store appends new records at the end of a table.
public enum UUIDv7 {
  private static let shared = UUIDv7Generator()

  /// Returns an id for the current time, greater than all ids returned before.
  ///
  /// To use another clock, create a ``UUIDv7Generator``; each store has its own.
  public static func next() -> UUID {
    shared.next()
  }

  /// The instant encoded in an id, to the millisecond; `nil` for UUIDs of another version.
  public static func timestamp(of id: UUID) -> Timestamp? {
    let (high, low) = id.words
    guard high >> 12 & 0xF == 7, low >> 62 == 0b10 else { return nil }
    return Timestamp(clamping: Int64(high >> 16) * 1_000)
  }
}

/// Generates ascending UUIDs of version 7 from a clock of its own.
///
/// Follows RFC 9562, section 6.2, method 1: the 12 bits of `rand_a` are a counter. Each new millisecond seeds
/// it with 11 random bits, which leaves room for at least 2,048 steps. Every further id in that millisecond, or
/// in an earlier one if the clock went back, increments it. When the counter overflows, the time in the ids
/// moves one millisecond ahead of the clock instead of waiting for it. The 62 bits of `rand_b` are fresh random
/// bits from the system in every id.
///
/// Safe to use from any thread.
public final class UUIDv7Generator: Sendable {
  private struct State {
    /// Milliseconds since 1970 in the latest id.
    var milliseconds: UInt64 = 0
    /// The counter in the latest id, below 4,096.
    var counter: UInt16 = 0
    /// The system's generator, except in tests.
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  }

  private static let counterLimit: UInt16 = 1 << 12
  private static let seedLimit: UInt16 = 1 << 11

  // Constant.
  private let clock: @Sendable () -> Timestamp
  // Guarded by its own lock.
  private let state: Monitor<State>

  /// Creates a generator.
  ///
  /// - Parameters:
  ///   - clock: Returns the current time; the system's clock by default.
  ///   - seed: Makes the ids depend only on the seed and the clock, for tests that compare them; with `nil`,
  ///     random numbers come from the system.
  public init(clock: @escaping @Sendable () -> Timestamp = Timestamp.now, seed: UInt64? = nil) {
    self.clock = clock
    state = Monitor(State(random: seed.map { SeededGenerator(state: $0) } ?? SystemRandomNumberGenerator()))
  }

  /// Returns an id for the current time, greater than all ids returned before.
  public func next() -> UUID {
    next(at: clock())
  }

  /// Returns an id for an instant, greater than all ids returned before; an instant before 1970 counts as 1970.
  ///
  /// An instant before the latest one used counts as the latest: after an instant far in the future, all later
  /// ids carry that time.
  public func next(at instant: Timestamp) -> UUID {
    let wanted = UInt64(max(0, instant.microsecondsSince1970) / 1_000)
    return state.withLock { state in
      Self.advance(&state, to: wanted)
      return Self.id(milliseconds: state.milliseconds, counter: state.counter, random: state.random.next())
    }
  }

  private static func advance(_ state: inout State, to milliseconds: UInt64) {
    if milliseconds <= state.milliseconds, state.counter + 1 < counterLimit {
      state.counter += 1
    } else {
      state.milliseconds = max(milliseconds, state.milliseconds + 1)
      state.counter = UInt16(truncatingIfNeeded: state.random.next()) % seedLimit
    }
  }

  private static func id(milliseconds: UInt64, counter: UInt16, random: UInt64) -> UUID {
    assert(milliseconds < 1 << 48 && counter < counterLimit, "a time or counter beyond its bits")
    return UUID(high: milliseconds << 16 | 7 << 12 | UInt64(counter), low: 0b10 << 62 | random >> 2)
  }
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= goldenGamma
    return mix(state)
  }
}

/// The id of a write among all writes to a store: its commit, and its position among the writes of that commit.
///
/// ```swift
/// let deletion = try store.writeAndWait { transaction in
///   try transaction.delete(id)
///   return try transaction.changeID
/// }
/// try store.writeAndWait { try $0.undo(deletion) }
/// ```
public struct ChangeID: Hashable, Comparable, Sendable {
  /// The number of the commit.
  public let sequence: UInt64
  /// The position among the writes of the commit, from 0: writes that wait at the same time share a commit.
  public let position: Int

  package init(sequence: UInt64, position: Int) {
    (self.sequence, self.position) = (sequence, position)
  }

  /// The highest position that a key can hold.
  package static let maximumPosition = Int(UInt16.max)

  /// Whether one write came before another.
  public static func < (left: ChangeID, right: ChangeID) -> Bool {
    (left.sequence, left.position) < (right.sequence, right.position)
  }
}

extension ChangeID: TextCodable {
  /// The commit and the position, such as `42.0`.
  public var text: String { "\(sequence).\(position)" }

  /// Reads the commit and the position; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = UInt64(parts[0]), let position = Int(parts[1]),
      (0...Self.maximumPosition).contains(position)
    else { throw .invalidToken("write") }
    self.init(sequence: sequence, position: position)
  }
}
