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
  ///
  /// An occurrence that a document describes beside its series has the series' UID, and is a task of its own.
  static func id(ofUID uid: String, occurrence: String? = nil) -> UUID {
    if let occurrence { return UUID(namedBy: "iCalendar", uid, occurrence) }
    return UUID(uuidString: uid) ?? UUID(namedBy: "iCalendar", uid)
  }

  /// The UID that a task came with, or its id.
  static func uid(of task: TaskItem) -> String {
    guard case .text(let uid)? = task.attributes["UID"] else { return task.id.uuidString.lowercased() }
    var occurrence: String?
    if case .text(let text)? = task.attributes["RECURRENCE-ID"] { occurrence = text }
    return id(ofUID: uid, occurrence: occurrence) == task.id ? uid : task.id.uuidString.lowercased()
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
      ContentLine("SUMMARY", parameters: Self.parameters("SUMMARY", of: task), ContentLine.escape(task.title)),
    ]
    components = []
    if let notes = task.notes {
      let parameters = Self.parameters("DESCRIPTION", of: task)
      lines.append(ContentLine("DESCRIPTION", parameters: parameters, ContentLine.escape(notes)))
    }
    appendState(of: task)
    appendDates(of: task, context)
    if let number = Self.numbers[task.priority] {
      lines.append(ContentLine("PRIORITY", Self.number(of: task) ?? number))
    }
    lines += Self.categories(of: task)
    if let parentUID { lines.append(ContentLine("RELATED-TO", ContentLine.escape(parentUID))) }
    if let list { lines.append(ContentLine(Self.listName, ContentLine.escape(list))) }
    if case .rule(let rule)? = task.recurrence { lines.append(ContentLine("RRULE", text(of: rule, context))) }
    for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) {
      guard case .text(let text) = value else { continue }
      // A readable date is already written from the field, or is out of date.
      if name == "DTSTART" || name == "DUE", date(name, text, context) != nil { continue }
      append(text, of: name)
    }
    appendAlarms(of: task, context)
  }

  /// The original CATEGORIES lines, if they still give the task's tags; else a line of the tags.
  private static func categories(of task: TaskItem) -> [ContentLine] {
    if case .text(let text)? = task.attributes["CATEGORIES"], let kept = written(text, of: "CATEGORIES"),
      TagSet(kept.flatMap(\.unescapedList)).allowed.tags == task.tags
    {
      return kept
    }
    if task.tags.isEmpty { return [] }
    return [ContentLine("CATEGORIES", task.tags.map(ContentLine.escape).joined(separator: ","))]
  }

  /// The imported parameters of a text.
  private static func parameters(_ name: String, of task: TaskItem) -> String {
    guard case .text(let text)? = task.attributes[name], text.hasPrefix(";"),
      ContentLine(name + text + ":")?.parameters == text
    else { return "" }
    return text
  }

  /// The rule; its last day is an instant in UTC if the start has a time (RFC 5545, section 3.3.10).
  private func text(of rule: RecurrenceRule, _ context: FormatContext) -> String {
    guard case .until(let day) = rule.end, first("DTSTART").map({ BasicDate.day($0.value) == nil }) ?? false else {
      return rule.text
    }
    return rule.text.replacingOccurrences(
      of: "UNTIL=\(BasicDate.text(day))", with: "UNTIL=\(BasicDate.text(context.end(of: day)))")
  }

  private mutating func appendState(of task: TaskItem) {
    let status =
      switch task.state {
      case .notStarted: "NEEDS-ACTION"
      case .active: "IN-PROCESS"
      case .completed: task.attributes["STATUS"] == "CANCELLED" ? "CANCELLED" : "COMPLETED"
      }
    lines.append(ContentLine("STATUS", status))
    guard let completed = task.completedAt, status != "CANCELLED" else { return }
    lines.append(ContentLine("COMPLETED", BasicDate.text(completed.instant)))
    lines.append(ContentLine("PERCENT-COMPLETE", "100"))
  }

  private mutating func appendDates(of task: TaskItem, _ context: FormatContext) {
    // Both dates have times or neither, and the due date is the later one (RFC 5545, section 3.8.2.3).
    if let start = kept("DTSTART", of: task, where: { $0.day(in: context) == task.scheduledDate }, context) {
      lines.append(start)
    } else if let due = task.dueDate, case .rule? = task.recurrence {
      lines.append(zonedLine("DTSTART", due, context))
    } else if let day = task.scheduledDate, let due = task.dueDate {
      let start = context.start(of: day)
      if start < due { lines.append(zonedLine("DTSTART", start, context)) }
    } else if let day = task.scheduledDate, task.dueDay.map({ $0 > day }) ?? true {
      lines.append(ContentLine("DTSTART", parameters: ";VALUE=DATE", BasicDate.text(day)))
    }
    if let due = task.dueDate {
      let isZoned = first("DTSTART")?.parameter("TZID") == context.timeZone.identifier
      lines.append(
        kept("DUE", of: task, where: { $0.instant(in: context) == due }, context)
          ?? (isZoned ? zonedLine("DUE", due, context) : ContentLine("DUE", BasicDate.text(due))))
    }
    if let day = task.dueDay { lines.append(ContentLine("DUE", parameters: ";VALUE=DATE", BasicDate.text(day))) }
  }

  /// The imported date line, if it still equals the task's date.
  private func kept(
    _ name: String, of task: TaskItem, where isEqual: (CalendarDate) -> Bool, _ context: FormatContext
  ) -> ContentLine? {
    guard case .text(let text)? = task.attributes[name], let (line, date) = date(name, text, context), isEqual(date)
    else {
      return nil
    }
    // Drop the line if its zone is unknown, because no VTIMEZONE can be written.
    guard let zone = line.parameter("TZID") else { return line }
    return WrittenZone.named(zone)?.instant(line.value) == date.instant(in: context) ? line : nil
  }

  /// The line and the date of an attribute with a date; `nil` if it is not understood.
  private func date(_ name: String, _ text: String, _ context: FormatContext) -> (ContentLine, CalendarDate)? {
    guard let line = ContentLine("\(name)\(text.hasPrefix(";") ? "" : ":")\(text)"), line.name == name,
      let date = CalendarDate(line, zones: zones, context)
    else { return nil }
    return (line, date)
  }

  /// An instant as the local time of the person's zone, so that a series keeps it over changes of the clock; in UTC if
  /// the written zone does not give the same instant.
  private func zonedLine(_ name: String, _ instant: Timestamp, _ context: FormatContext) -> ContentLine {
    let zone = context.timeZone.identifier
    let wall = instant.adding(seconds: Int64(context.timeZone.secondsFromGMT(for: instant.date)))
    let local = String(BasicDate.text(wall).dropLast())
    let whole = Timestamp(clamping: instant.microsecondsSince1970 / 1_000_000 * 1_000_000)
    guard WrittenZone.named(zone)?.instant(local) == whole else { return ContentLine(name, BasicDate.text(instant)) }
    return ContentLine(name, parameters: ";TZID=\(zone)", local)
  }

  /// Writes the alarms that the task came with, and one for its reminder if it came with none.
  ///
  /// If the reminder has moved or is gone, the alarm that it came from follows it.
  private mutating func appendAlarms(of task: TaskItem, _ context: FormatContext) {
    let own = self.reminder(context)
    guard let reminder = task.reminderDate else {
      if let own { components.remove(at: own.index) }
      return
    }
    let whole = Timestamp(clamping: reminder.microsecondsSince1970 / 1_000_000 * 1_000_000)
    if own?.instant == whole { return }
    let trigger = trigger(at: reminder, of: task, context)
    if let own {
      components[own.index] = components[own.index].map { $0.name == "TRIGGER" ? trigger : $0 }
    } else {
      components.insert(
        [
          ContentLine("BEGIN", "VALARM"), ContentLine("ACTION", "DISPLAY"),
          ContentLine("DESCRIPTION", ContentLine.escape(task.title)), trigger, ContentLine("END", "VALARM"),
        ], at: 0)
    }
  }

  /// The trigger of a reminder: the distance from its date for a series, otherwise an instant.
  private func trigger(at reminder: Timestamp, of task: TaskItem, _ context: FormatContext) -> ContentLine {
    if case .rule? = task.recurrence, let line = first("DTSTART") ?? first("DUE"),
      let start = CalendarDate(line, zones: zones, context)?.instant(in: context)
    {
      let seconds = (reminder.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
      return ContentLine("TRIGGER", CalendarDuration.text(seconds))
    }
    return ContentLine("TRIGGER", parameters: ";VALUE=DATE-TIME", BasicDate.text(reminder))
  }

  static let numbers: [Priority: String] = [.high: "1", .medium: "5", .low: "9"]

  /// The imported number, if it still gives the task's priority.
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
