import Tally

/// The time by which reminders fall due.
struct ReminderClock {
  /// The instant that `--now` gave; `nil` without it.
  let fixed: Timestamp?
  /// The wall clock.
  private let wall: () -> Timestamp
  private let startedAt = ContinuousClock.now

  init(fixed: Timestamp?, wall: @escaping () -> Timestamp = Timestamp.now) {
    self.fixed = fixed
    self.wall = wall
  }

  /// The wall clock, looked at each time, since it may be corrected; with `--now`, that instant and the time since.
  var now: Timestamp {
    guard let fixed else { return wall() }
    let (seconds, attoseconds) = (ContinuousClock.now - startedAt).components
    return fixed.adding(microseconds: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }
}
