import Foundation

/// A reading of the clock, and of the time that the process has had on processors: others may use the machine, too.
struct Moment: Sendable {
  private let time: ContinuousClock.Instant
  private let processorMicroseconds: Int

  static var now: Moment {
    Moment(time: .now, processorMicroseconds: Int(clock()) * 1_000_000 / Int(CLOCKS_PER_SEC))
  }

  /// The nanoseconds since an earlier one.
  func nanoseconds(since start: Moment) -> Int { Int((time - start.time) / .nanoseconds(1)) }

  /// The nanoseconds on processors since an earlier one.
  func processorNanoseconds(since start: Moment) -> Int {
    1_000 * (processorMicroseconds - start.processorMicroseconds)
  }
}
