internal import Foundation
internal import Tally

extension TaskwarriorRecord {
  private static let dates = ["entry", "modified", "end", "due", "scheduled", "start", "wait", "until"]
  private static let texts = ["uuid", "description", "status", "project", "priority"]
  private static let states: Set = ["pending", "completed", "waiting", "recurring", "deleted"]
  /// Taskwarrior's own attributes that Tally keeps, but does not act on.
  private static let keptOnly = ["wait", "until", "depends"]

  /// Leaves out each value that is not what Taskwarrior writes, with a remark; its text stays in an attribute.
  mutating func leaveOutFaulty(_ context: FormatContext) {
    for name in Self.texts {
      guard let value = values[name], value.text == nil else { continue }
      values[name] = value.number.map { .text($0) }
      if values[name] == nil { leaveOut(name, value, "value", context) }
    }
    for name in Self.dates { checkDate(name, context) }
    if let letter = values["priority"]?.text, !letter.isEmpty, !Self.letters.values.contains(letter) {
      leaveOut("priority", .text(letter), "priority", context)
    }
    if let tags = values["tags"], !tags.isListOfTags { leaveOut("tags", tags, "tag", context) }
    if let status = values["status"]?.text, !Self.states.contains(status) {
      leaveOut("status", .text(status), "state", context)
    }
    if let uuid = values["uuid"]?.text, UUID(uuidString: uuid) == nil {
      leaveOut("uuid", .text(uuid), "uuid", context)
    }
    if values["description"] == nil { context.remarks.add("title", values["uuid"]?.text ?? "") }
    for name in Self.keptOnly {
      if let value = values[name] { context.remarks.add(name, value.text ?? value.number ?? value.json ?? "") }
    }
  }

  /// Reads a date that is written in another way than Taskwarrior does.
  private mutating func checkDate(_ name: String, _ context: FormatContext) {
    guard let value = values[name], value.text.flatMap(BasicDate.instant) == nil else { return }
    if let date = value.text.flatMap({ WrittenDate($0, context) }) {
      values[name] = .text(BasicDate.text(date.instant(context)))
    } else {
      leaveOut(name, value, "date", context)
    }
  }

  private mutating func leaveOut(_ name: String, _ value: TaskwarriorValue, _ kind: String, _ context: FormatContext) {
    let text = value.text ?? value.number ?? value.json ?? ""
    values[name] = nil
    values["\(name)_imported"] = .text(text)
    context.remarks.add(kind, "\(name): \(text)")
  }
}

extension TaskwarriorValue {
  /// A number as text.
  fileprivate var number: String? {
    switch self {
    case .integer(let number): String(number)
    case .real(let number): String(number)
    default: nil
    }
  }

  fileprivate var json: String? { if case .json(let text) = self { text } else { nil } }

  fileprivate var isListOfTags: Bool {
    switch self {
    case .text: true
    case .json(let array): TaskwarriorRecord.tags(array) != nil
    default: false
    }
  }
}
