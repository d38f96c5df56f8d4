import Foundation
import Tally
import TestSupport

extension HelperAct {
  /// Answers questions about recurrences, one a line, until there are no more.
  ///
  /// - `days START COUNT RULE`: the first days of a rule.
  /// - `next START DAY RULE`: the first day of a rule after another day.
  /// - `move ZONE INSTANT DAY NEW-DAY`: where an instant goes with its day.
  func recur() throws {
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 4).map(String.init)
      say(try answer(words))
    }
  }

  private func answer(_ words: [String]) throws -> String {
    guard words.count > 3 else { throw Misuse() }
    if words[0] == "move" {
      guard let zone = TimeZone(identifier: words[1]), words.count > 4 else { throw Misuse() }
      let (day, newDay) = (try CalendarDay(iso8601: words[3]), try CalendarDay(iso8601: words[4]))
      return try Timestamp(iso8601: words[2]).moved(from: day, to: newDay, in: zone).iso8601
    }
    let start = try CalendarDay(iso8601: words[1])
    guard case .rule(let rule) = try Recurrence(text: words[3]) else { throw Misuse() }
    if words[0] == "next" {
      return rule.next(after: try CalendarDay(iso8601: words[2]), from: start)?.iso8601 ?? "none"
    }
    return rule.occurrences(from: start).prefix(Int(words[2]) ?? 0).map(\.iso8601).joined(separator: " ")
  }
}
