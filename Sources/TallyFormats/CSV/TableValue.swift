internal import Foundation
internal import Tally

/// The values of cells, as Tally writes them and as people and other programs do.
enum TableValue {
  /// The value of a field; `nil` for a text that means none.
  static func value(_ field: TaskField, _ text: String, _ context: FormatContext) -> FieldValue? {
    switch field.kind {
    case .text: .text(text)
    case .state: state(text).map { .state($0) }
    case .integer: Int64(text.trimmed).map { .integer($0) }
    case .instant: (try? Timestamp(iso8601: text)).map { .instant($0) } ?? instant(text, context)
    case .offsetInstant: offsetInstant(text, context).map { .offsetInstant($0) }
    case .day: WrittenDate(text, context).map { .day($0.day(context)) }
    case .id: UUID(uuidString: text.trimmed).map { .id($0) }
    case .priority: priority(text).map { .priority($0) }
    case .recurrence: recurrence(text).map { .recurrence($0) }
    case .tags, .series, .attributes: .tags(TagSet(text.split { ",;|".contains($0) }.map(String.init)))
    }
  }

  /// The remark's kind for a bad value of a field.
  static func kind(of field: TaskField) -> String {
    switch field.kind {
    case .instant, .offsetInstant, .day: "date"
    case .priority: "priority"
    case .recurrence: "recurrence"
    case .state: "state"
    case .id: "id"
    default: "value"
    }
  }

  private static func instant(_ text: String, _ context: FormatContext) -> FieldValue? {
    WrittenDate(text, context).map { .instant($0.instant(context)) }
  }

  private static func offsetInstant(_ text: String, _ context: FormatContext) -> OffsetTimestamp? {
    (try? OffsetTimestamp(iso8601: text)) ?? WrittenDate(text, context).map { completion($0, context) }
  }

  /// The completion time for a written date; noon for a day.
  static func completion(_ date: WrittenDate, _ context: FormatContext) -> OffsetTimestamp {
    switch date {
    case .day(let day): context.noon(of: day)
    case .instant(let instant): OffsetTimestamp(instant, in: context.timeZone)
    }
  }

  private static func state(_ text: String) -> TaskState? {
    if let state = try? TaskState(name: text) { return state }
    switch TableHeading.key(text) {
    case "active", "started", "inprogress", "doing", "next": return .active
    case "todo", "open", "notstarted", "pending", "needsaction", "new", "waiting", "0", "backlog", "normal",
      "deferred", "waitingonsomeoneelse", "onhold", "someday":
      return .notStarted
    default: return isCancelled(text) || isDone(text) == true ? .completed : nil
    }
  }

  /// Whether a text says that a task is closed without being done.
  static func isCancelled(_ text: String) -> Bool {
    ["cancelled", "canceled", "abandoned", "wontdo", "won'tdo", "dropped"].contains(TableHeading.key(text))
  }

  /// What a text says about being done; `nil` if nothing.
  static func isDone(_ text: String) -> Bool? {
    switch TableHeading.key(text) {
    case "yes", "y", "true", "1", "x", "✓", "✔", "✅", "☑", "[x]", "done", "completed", "complete", "finished", "closed",
      "ja",
      "oui":
      true
    case "no", "n", "false", "0", "-", "", "[]", "☐", "open", "todo", "notdone", "incomplete", "nein", "non": false
    default: nil
    }
  }

  private static func priority(_ text: String) -> Priority? {
    switch TableHeading.key(text) {
    case "high", "h", "urgent", "highest", "critical", "p1", "a", "1", "!!!": .high
    case "medium", "m", "med", "normal", "p2", "b", "2", "!!": .medium
    case "low", "l", "lowest", "p3", "c", "3", "!": .low
    case "none", "no", "p4", "0": Priority.none
    default: nil
    }
  }

  private static func recurrence(_ text: String) -> Recurrence? {
    let rule = text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text
    return (try? Recurrence(text: rule)) ?? (try? Recurrence(phrase: rule))
  }
}
