import Tally

/// Which failed programs are tried again, and when: three times, after 30 seconds, one minute and two.
struct ReminderRetries {
  private static let firstDelayInSeconds: Int64 = 30
  private static let maximumCount = 3

  private var failures: [ReminderJournal.Entry: (count: Int, next: Timestamp)] = [:]

  /// Notes that a program has failed at an instant; returns when it is tried again, or `nil` after the last try.
  mutating func noteFailure(of entry: ReminderJournal.Entry, at now: Timestamp) -> Timestamp? {
    let count = (failures[entry]?.count ?? 0) + 1
    guard count <= Self.maximumCount else {
      failures[entry] = nil
      return nil
    }
    let next = now.adding(seconds: Self.firstDelayInSeconds << Int64(count - 1))
    failures[entry] = (count, next)
    return next
  }

  /// Notes that a program has ended well, or that its reminder was moved or deleted.
  mutating func forget(_ entry: ReminderJournal.Entry) { failures[entry] = nil }

  /// Restores what a journal says: a failure, and when to try again.
  mutating func restore(_ entry: ReminderJournal.Entry, next: Timestamp) {
    failures[entry] = ((failures[entry]?.count ?? 0) + 1, next)
  }

  /// The reminders whose next try is due, earliest first.
  func due(at now: Timestamp) -> [ReminderJournal.Entry] {
    failures.filter { $0.value.next <= now }.sorted { $0.value.next < $1.value.next }.map(\.key)
  }
}
