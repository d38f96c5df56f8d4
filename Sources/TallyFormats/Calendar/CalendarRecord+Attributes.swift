internal import Foundation
internal import Tally

// Properties and components that Tally has no field for are attributes of their own names. A property's text is its
// value; with parameters, or where there are several of the name, it is everything behind the name, on a line for each.
extension CalendarRecord {
  /// The properties that are written from the fields of a task.
  private static let mapped: Set<String> = [
    "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SUMMARY", "DESCRIPTION", "STATUS", "COMPLETED", "PERCENT-COMPLETE",
    "DTSTART", "DUE", "PRIORITY", "CATEGORIES", "RELATED-TO", "RRULE", "BEGIN", "END", extensionName, listName,
  ]
  /// The other properties of a to-do (RFC 5545, section 3.6.2, and RFC 7986).
  private static let others: Set<String> = [
    "CLASS", "GEO", "LOCATION", "ORGANIZER", "RECURRENCE-ID", "SEQUENCE", "URL", "DURATION", "ATTACH", "ATTENDEE",
    "COMMENT", "CONTACT", "EXDATE", "REQUEST-STATUS", "RESOURCES", "RDATE", "COLOR", "IMAGE", "CONFERENCE",
  ]
  /// The attribute with the components that are not plain reminders.
  static let componentsName = "VALARM"

  /// Writes an attribute that came from a property or component.
  mutating func append(_ text: String, of name: String) {
    if name == Self.componentsName {
      components += Self.components(text)
    } else if Self.isProperty(name) {
      let written = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        let isWhole = line.hasPrefix(";") || line.hasPrefix(":")
        return ContentLine(isWhole ? "\(name)\(line)" : "\(name):\(line)")
      }
      // A text that no line can hold is exact only.
      guard written.allSatisfy({ $0?.name == name && $0?.text.unicodeScalars.allSatisfy(Self.isPlain) == true }) else {
        return
      }
      lines += written.compactMap(\.self)
    }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\t" || scalar.value >= 0x20 && scalar.value != 0x7F
  }

  private static func isProperty(_ name: String) -> Bool {
    guard !mapped.contains(name) else { return false }
    let isName = name.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "-") }
    return others.contains(name) || name.hasPrefix("X-") && isName
  }

  /// The attributes of a to-do that was read.
  func attributes(_ document: TaskDocument) -> [String: AttributeValue] {
    var texts: [String: [ContentLine]] = [:]
    for line in lines where Self.isProperty(line.name) || !Self.mapped.contains(line.name) {
      texts[line.name, default: []].append(line)
    }
    var attributes: [String: AttributeValue] = [:]
    for (name, lines) in texts { attributes[name] = .text(Self.text(lines)) }
    let foreign = components.filter { Self.reminder(of: $0, self, document) == nil || !Self.isPlainAlarm($0) }
    if !foreign.isEmpty { attributes[Self.componentsName] = .text(Self.text(components: foreign)) }
    if let uid = first("UID")?.unescaped, UUID(uuidString: uid)?.uuidString.lowercased() != uid {
      attributes["UID"] = .text(uid)
    }
    if first("STATUS")?.value == "CANCELLED" { attributes["STATUS"] = "CANCELLED" }
    if let start = first("DTSTART"), BasicDate.day(start.value) == nil || start.parameters != ";VALUE=DATE" {
      attributes["DTSTART"] = .text(Self.text([start]))
    }
    if let number = first("PRIORITY")?.value, Self.priority(number) != .none,
      Self.numbers[Self.priority(number)] != number
    {
      attributes["PRIORITY"] = .text(number)
    }
    return attributes
  }

  private static func text(_ lines: [ContentLine]) -> String {
    let parts = lines.map { line in
      let isPlain = line.parameters.isEmpty && !line.value.hasPrefix(";") && !line.value.hasPrefix(":")
      return isPlain ? line.value : "\(line.parameters):\(line.value)"
    }
    return parts.joined(separator: "\n")
  }

  private static func text(components: [[ContentLine]]) -> String {
    components.flatMap { $0.map(\.text) }.joined(separator: "\n")
  }

  /// Components from lines; whatever is not within a `BEGIN` and its `END` is left out.
  private static func components(_ text: String) -> [[ContentLine]] {
    var components: [[ContentLine]] = []
    var current: [ContentLine] = []
    for line in text.split(separator: "\n").compactMap({ ContentLine(String($0)) }) {
      guard line.text.unicodeScalars.allSatisfy(isPlain), line.name == "BEGIN" || !current.isEmpty else { continue }
      current.append(line)
      guard line.name == "END", line.value == current[0].value else { continue }
      components.append(current)
      current = []
    }
    return components
  }
}

extension CalendarRecord {
  /// Whether an alarm is what Tally writes for a reminder.
  private static func isPlainAlarm(_ component: [ContentLine]) -> Bool {
    component.map(\.name) == ["BEGIN", "ACTION", "DESCRIPTION", "TRIGGER", "END"]
      && component[1].value == "DISPLAY" && component[3].parameters == ";VALUE=DATE-TIME"
  }

  /// The reminder of the first alarm that has an instant, or one that follows from the due date.
  func reminder(_ document: TaskDocument, _ context: FormatContext) -> Timestamp? {
    let plain = components.first { Self.isPlainAlarm($0) }.flatMap { Self.reminder(of: $0, self, document) }
    return plain ?? components.lazy.compactMap { Self.reminder(of: $0, self, document) }.first
  }

  /// The instant of an alarm: of itself, or so long before or after the start or the due date (RFC 5545, 3.8.6.3).
  private static func reminder(
    of component: [ContentLine], _ record: CalendarRecord, _ document: TaskDocument
  ) -> Timestamp? {
    guard let trigger = component.first(where: { $0.name == "TRIGGER" }) else { return nil }
    if let instant = BasicDate.instant(trigger.value) { return instant }
    guard let seconds = CalendarDuration.seconds(trigger.value), let due = document[.dueDate]?.instant else {
      return nil
    }
    return due.adding(seconds: seconds)
  }
}

/// A duration of iCalendar (RFC 5545, section 3.3.6): `-PT15M`, `P1D`.
enum CalendarDuration {
  private static let units: [Character: Int64] = ["W": 604_800, "D": 86_400, "H": 3_600, "M": 60, "S": 1]

  /// The seconds of a duration; `nil` for any other text.
  static func seconds(_ text: String) -> Int64? {
    let sign: Int64 = text.hasPrefix("-") ? -1 : 1
    var number: Int64?
    var total: Int64 = 0
    let body = text.drop { $0 == "+" || $0 == "-" }
    guard body.first == "P", body.count > 2 else { return nil }
    for character in body.dropFirst() {
      if let digit = character.wholeNumberValue, character.isASCII {
        number = (number ?? 0) * 10 + Int64(digit)
        guard let number, number < 10_000_000 else { return nil }
      } else if let unit = units[character], let count = number {
        total += count * unit
        number = nil
      } else if character != "T" {
        return nil
      }
    }
    return number == nil ? sign * total : nil
  }
}
