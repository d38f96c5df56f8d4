internal import Foundation
internal import Tally

/// How Taskwarrior says that a task repeats: `weekly`, `3days`, `2mo`.
enum TaskwarriorRecurrence {
  private static let names: [String: String] = [
    "daily": "FREQ=DAILY", "day": "FREQ=DAILY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekly": "FREQ=WEEKLY", "sennight": "FREQ=WEEKLY", "biweekly": "FREQ=WEEKLY;INTERVAL=2",
    "fortnight": "FREQ=WEEKLY;INTERVAL=2", "monthly": "FREQ=MONTHLY", "bimonthly": "FREQ=MONTHLY;INTERVAL=2",
    "quarterly": "FREQ=MONTHLY;INTERVAL=3", "semiannual": "FREQ=MONTHLY;INTERVAL=6", "annual": "FREQ=YEARLY",
    "yearly": "FREQ=YEARLY", "biannual": "FREQ=YEARLY;INTERVAL=2", "biyearly": "FREQ=YEARLY;INTERVAL=2",
  ]
  private static let units: [(name: String, frequency: String)] = [
    ("d", "DAILY"), ("day", "DAILY"), ("days", "DAILY"), ("w", "WEEKLY"), ("wk", "WEEKLY"), ("wks", "WEEKLY"),
    ("week", "WEEKLY"), ("weeks", "WEEKLY"), ("m", "MONTHLY"), ("mo", "MONTHLY"), ("mth", "MONTHLY"),
    ("mths", "MONTHLY"), ("month", "MONTHLY"), ("months", "MONTHLY"), ("y", "YEARLY"), ("yr", "YEARLY"),
    ("yrs", "YEARLY"), ("year", "YEARLY"), ("years", "YEARLY"),
  ]

  /// Reads a recurrence; `nil` for one that Tally does not have, such as hours.
  static func recurrence(_ text: String) -> Recurrence? {
    let text = text.lowercased()
    if let rule = names[text] { return try? Recurrence(text: rule) }
    var digits = text.prefix { $0.isASCII && $0.isNumber }
    var unit = text.dropFirst(digits.count)
    if text.hasPrefix("p"), let last = text.last {
      digits = text.dropFirst().dropLast()
      unit = String(last)[...]
    }
    guard let count = Int(digits), let frequency = units.first(where: { $0.name == unit })?.frequency else {
      return nil
    }
    return try? Recurrence(text: "FREQ=\(frequency);INTERVAL=\(count)")
  }
}
