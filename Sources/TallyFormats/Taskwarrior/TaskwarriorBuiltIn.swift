internal import Foundation

/// Taskwarrior's own attributes that Tally keeps as attributes, and which values Taskwarrior takes for them.
enum TaskwarriorBuiltIn {
  private static let dates: Set<String> = ["wait", "until", "start"]
  private static let ids: Set<String> = ["parent", "template"]
  private static let others: Set<String> = ["depends", "mask", "imask", "recur", "rtype", "last"]

  static func named(_ name: String) -> Bool {
    dates.contains(name) || ids.contains(name) || others.contains(name)
  }

  /// Whether Taskwarrior takes a value; anything for an attribute that is not its own.
  static func isValid(_ text: String, of name: String) -> Bool {
    if dates.contains(name) { return BasicDate.instant(text) != nil }
    if ids.contains(name) { return UUID(uuidString: text) != nil }
    switch name {
    case "depends": return dependencies(text)
    case "mask": return text.allSatisfy { "-+XW".contains($0) }
    case "imask", "last": return Double(text) != nil
    case "recur": return TaskwarriorRecurrence.recurrence(text) != nil
    case "rtype": return text == "periodic" || text == "chained"
    default: return true
    }
  }

  /// Whether a text is ids with commas between them, or an array of them.
  private static func dependencies(_ text: String) -> Bool {
    let ids = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).split(separator: ",")
    return !ids.isEmpty
      && ids.allSatisfy { UUID(uuidString: $0.trimmingCharacters(in: CharacterSet(charactersIn: "\" "))) != nil }
  }
}
