/// How a task repeats: by the calendar, or some time after each completion.
///
/// ```swift
/// let rent = try Recurrence(phrase: "every month on the 1st")
/// let plants = try Recurrence(phrase: "every 3 days after completion")
/// rent.text                                      // "FREQ=MONTHLY;BYMONTHDAY=1"
/// plants.words                                   // "3 days after completion"
/// ```
public enum Recurrence: Hashable, Sendable {
  /// On the days of a rule.
  case rule(RecurrenceRule)
  /// This long after the task was completed, each time.
  case afterCompletion(RecurrenceInterval)
}
