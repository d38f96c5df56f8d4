internal import Foundation
internal import Tally

/// A to-do of iCalendar: the lines of a `VTODO` component (RFC 5545, section 3.6.2).
struct CalendarRecord: ForeignRecord {
  /// The properties, in the document's order.
  var lines: [ContentLine]
  /// The components inside it, alarms above all, each with its `BEGIN` and `END`.
  var components: [[ContentLine]]
  /// The zones of the document.
  var zones = CalendarZones()
  /// The UID of the parent, where that is not a UUID.
  var parentUID: String?

  static let extensionName = "X-TALLY"
  static let listName = "X-TALLY-LIST"

  init(lines: [ContentLine], components: [[ContentLine]], zones: CalendarZones) {
    (self.lines, self.components, self.zones) = (lines, components, zones)
  }

  static func isLocal(_ task: TaskItem) -> Bool { false }

  var exact: String? {
    get { first(Self.extensionName)?.unescaped }
    set {
      lines.removeAll { $0.name == Self.extensionName }
      if let newValue { lines.append(ContentLine(Self.extensionName, ContentLine.escape(newValue))) }
    }
  }

  func first(_ name: String) -> ContentLine? { lines.first { $0.name == name } }

  /// The id of a task: its UID if that is a UUID, else one that follows from it.
  static func id(ofUID uid: String) -> UUID { UUID(uuidString: uid) ?? UUID(namedBy: "iCalendar", uid) }

  /// The UID that a task came with, or its id.
  static func uid(of task: TaskItem) -> String {
    if case .text(let uid)? = task.attributes["UID"], id(ofUID: uid) == task.id { return uid }
    return task.id.uuidString.lowercased()
  }
}

extension CalendarRecord {
  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    self.init(task, in: list, parentUID: task.parentID?.uuidString.lowercased(), context)
  }

  init(_ task: TaskItem, in list: String?, parentUID: String?, _ context: FormatContext) {
    lines = [
      ContentLine("UID", ContentLine.escape(Self.uid(of: task))),
      ContentLine("DTSTAMP", BasicDate.text(task.updatedAt)), ContentLine("CREATED", BasicDate.text(task.createdAt)),
      ContentLine("LAST-MODIFIED", BasicDate.text(task.updatedAt)),
      ContentLine("SUMMARY", ContentLine.escape(task.title)),
    ]
    components = []
    if let notes = task.notes { lines.append(ContentLine("DESCRIPTION", ContentLine.escape(notes))) }
    appendState(of: task)
    appendDates(of: task, context)
    if let number = Self.numbers[task.priority] {
      lines.append(ContentLine("PRIORITY", Self.number(of: task) ?? number))
    }
    if !task.tags.isEmpty {
      lines.append(ContentLine("CATEGORIES", task.tags.map(ContentLine.escape).joined(separator: ",")))
    }
    if let parentUID { lines.append(ContentLine("RELATED-TO", ContentLine.escape(parentUID))) }
    if let list { lines.append(ContentLine(Self.listName, ContentLine.escape(list))) }
    if case .rule(let rule)? = task.recurrence { lines.append(ContentLine("RRULE", rule.text)) }
    for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) {
      guard case .text(let text) = value else { continue }
      append(text, of: name)
    }
  }

  private mutating func appendState(of task: TaskItem) {
    let status =
      switch task.state {
      case .notStarted: task.attributes["STATUS"] == "CANCELLED" ? "CANCELLED" : "NEEDS-ACTION"
      case .active: "IN-PROCESS"
      case .completed: "COMPLETED"
      }
    lines.append(ContentLine("STATUS", status))
    guard let completed = task.completedAt else { return }
    lines.append(ContentLine("COMPLETED", BasicDate.text(completed.instant)))
    lines.append(ContentLine("PERCENT-COMPLETE", "100"))
  }

  /// Writes the start that the task came with, as long as it is on the task's day.
  private mutating func appendStart(of task: TaskItem, _ context: FormatContext) {
    guard case .text(let text)? = task.attributes["DTSTART"],
      let line = ContentLine("DTSTART\(text.hasPrefix(";") ? "" : ":")\(text)"), line.name == "DTSTART",
      let date = try? CalendarDate(line, zones: zones, context), date.day(in: context) == task.scheduledDate
    else { return }
    lines.removeAll { $0.name == "DTSTART" }
    lines.append(line)
  }

  private mutating func appendDates(of task: TaskItem, _ context: FormatContext) {
    // Both dates have times or neither, and the due date is the later one (RFC 5545, section 3.8.2.3).
    if let day = task.scheduledDate, task.dueDate == nil, task.dueDay.map({ $0 > day }) ?? true {
      lines.append(ContentLine("DTSTART", parameters: ";VALUE=DATE", BasicDate.text(day)))
    }
    appendStart(of: task, context)
    if let due = task.dueDate { lines.append(ContentLine("DUE", BasicDate.text(due))) }
    if let day = task.dueDay { lines.append(ContentLine("DUE", parameters: ";VALUE=DATE", BasicDate.text(day))) }
    guard let reminder = task.reminderDate else { return }
    components.append([
      ContentLine("BEGIN", "VALARM"), ContentLine("ACTION", "DISPLAY"),
      ContentLine("DESCRIPTION", ContentLine.escape(task.title)),
      ContentLine("TRIGGER", parameters: ";VALUE=DATE-TIME", BasicDate.text(reminder)), ContentLine("END", "VALARM"),
    ])
  }

  static let numbers: [Priority: String] = [.high: "1", .medium: "5", .low: "9"]

  /// The number that the task came with, as long as it means its priority.
  private static func number(of task: TaskItem) -> String? {
    guard case .text(let text)? = task.attributes["PRIORITY"], priority(text) == task.priority else { return nil }
    return text
  }

  /// RFC 5545, section 3.8.1.9: 1 to 4 are high, 5 is medium, 6 to 9 are low.
  static func priority(_ text: String) -> Priority {
    switch Int(text) {
    case (1...4)?: .high
    case 5?: .medium
    case (6...9)?: .low
    default: .none
    }
  }
}
