import Tally

extension Session {
  /// Warns of a reminder that nobody will get, as its time has passed; in any format, because it is likely a mistake.
  func warnIfPast(reminder: Timestamp?) {
    guard let reminder, reminder < clock.now else { return }
    note("Warning: the time of the reminder, \(clock.relativeName(of: reminder)), has passed.")
  }
}
