import Foundation
import Tally

// Properties and components that Tally has no field for are attributes of their own names. A property's text is its
// value; with parameters, or where there are several of the name, it is everything after the name, on a line for each.
extension CalendarRecord {
  /// The properties that are written from the fields of a task.
  private static let mapped: Set<String> = [
    "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SUMMARY", "DESCRIPTION", "STATUS", "COMPLETED", "PERCENT-COMPLETE",
    "DTSTART", "DUE", "PRIORITY", "CATEGORIES", "RELATED-TO", "RRULE", "BEGIN", "END", extensionName, listName,
    startName,
  ]
  /// The other properties of a to-do (RFC 5545, section 3.6.2, and RFC 7986).
  private static let others: Set<String> = [
    "CLASS", "GEO", "LOCATION", "ORGANIZER", "RECURRENCE-ID", "SEQUENCE", "URL", "DURATION", "ATTACH", "ATTENDEE",
    "COMMENT", "CONTACT", "EXDATE", "REQUEST-STATUS", "RESOURCES", "RDATE", "COLOR", "IMAGE", "CONFERENCE",
  ]
  /// The properties whose text becomes an attribute where their field cannot have it: a text that is not understood,
  /// a percentage, other relations.
  private static let preserved: Set<String> = [
    "DTSTART", "DUE", "COMPLETED", "RRULE", "PERCENT-COMPLETE", "RELATED-TO", "STATUS", "PRIORITY",
  ]
  /// The properties that a to-do may have more than once.
  private static let repeated: Set<String> = [
    "ATTACH", "ATTENDEE", "CATEGORIES", "COMMENT", "CONTACT", "EXDATE", "RELATED-TO", "REQUEST-STATUS", "RESOURCES",
    "RDATE", "IMAGE", "CONFERENCE",
  ]
  /// Properties that need no remark: a field reflects them, or they only count versions.
  private static let understood: Set<String> = ["RECURRENCE-ID", "DURATION", "SEQUENCE"]
  /// The attribute with the components that are not plain reminders.
  static let componentsName = "VALARM"

  /// Writes an attribute that came from a property or component.
  mutating func append(_ text: String, of name: String) {
    if name == Self.componentsName {
      components += Self.components(text)
    } else if name == "DURATION", first("DUE") != nil {
      // Only one of the two may be there (RFC 5545, section 3.6.2), and the due date may have changed.
      return
    } else if Self.isProperty(name) || Self.preserved.contains(name) && canAppend(name) {
      lines += Self.written(text, of: name) ?? []
    }
  }

  /// The lines of an attribute that came from a property.
  ///
  /// - Returns: `nil` if a value is malformed: other programs would refuse the calendar, so it is written into Tally's
  ///   extension only.
  static func written(_ text: String, of name: String) -> [ContentLine]? {
    var lines: [ContentLine] = []
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isWhole = part.hasPrefix(";") || part.hasPrefix(":")
      guard let line = ContentLine(isWhole ? "\(name)\(part)" : "\(name):\(part)"), line.name == name,
        line.text.unicodeScalars.allSatisfy(isPlain), isWellFormed(line)
      else { return nil }
      lines.append(line)
    }
    return lines.count == 1 || repeated.contains(name) || name.hasPrefix("X-") ? lines : nil
  }

  /// Whether a value has the form of its property's type (RFC 5545, section 3.8).
  private static func isWellFormed(_ line: ContentLine) -> Bool {
    switch line.name {
    case "PRIORITY", "PERCENT-COMPLETE", "SEQUENCE": Int(line.value) != nil
    case "DTSTART", "DUE", "COMPLETED", "RECURRENCE-ID": BasicDate.isWellFormed(line.value)
    case "EXDATE": line.value.split(separator: ",").allSatisfy { BasicDate.isWellFormed(String($0)) }
    case "RRULE": line.value.uppercased().split(separator: ";").contains { $0.hasPrefix("FREQ=") }
    case "DURATION": CalendarDuration.seconds(line.value) != nil
    case "GEO": line.value.split(separator: ";").compactMap { Double($0) }.count == 2
    default: true
    }
  }

  /// Whether a property may be written unchanged: there is none of its name yet, or there may be several.
  private func canAppend(_ name: String) -> Bool {
    // These would contradict the state, which is written from the field.
    if name == "STATUS" || name == "COMPLETED" { return false }
    return name == "RELATED-TO" || first(name) == nil
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool { scalar == "\t" || !scalar.isControl }

  private static func isProperty(_ name: String) -> Bool {
    guard !mapped.contains(name) else { return false }
    let isName = name.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "-") }
    return others.contains(name) || name.hasPrefix("X-") && isName
  }

  /// The attributes of a to-do that was read.
  func attributes(_ document: TaskDocument, _ context: FormatContext) -> [String: AttributeValue] {
    var texts: [String: [ContentLine]] = [:]
    for line in lines where Self.isProperty(line.name) || !Self.mapped.contains(line.name) {
      texts[line.name, default: []].append(line)
    }
    var attributes: [String: AttributeValue] = [:]
    for (name, lines) in texts { attributes[name] = .text(Self.text(lines)) }
    let alarms = components.indices.filter { instant(ofAlarm: components[$0], context) != nil }
    var foreign = components
    // Tally writes the alarms that say nothing else again from the reminders.
    let others = otherAlarms(context)
    if let own = reminder(context)?.index, alarms.count == 1 + others.count, Self.isPlainAlarm(components[own]) {
      foreign = foreign.indices.filter { $0 != own && !others.contains($0) }.map { foreign[$0] }
    } else {
      foreign = foreign.indices.filter { !others.contains($0) }.map { foreign[$0] }
    }
    if !foreign.isEmpty { attributes[Self.componentsName] = .text(Self.text(components: foreign)) }
    let isOccurrence = first("RECURRENCE-ID") != nil
    if let uid = first("UID")?.unescaped, isOccurrence || UUID(uuidString: uid)?.uuidString.lowercased() != uid {
      attributes["UID"] = .text(uid)
    }
    let status = first("STATUS")?.value.trimmed ?? ""
    if !["", "COMPLETED", "IN-PROCESS", "NEEDS-ACTION", "CANCELLED"].contains(status.uppercased()) {
      attributes["STATUS"] = .text(status)
    }
    if let line = first("COMPLETED"), !BasicDate.isWellFormed(line.value) {
      attributes["COMPLETED"] = .text(Self.text([line]))
    }
    for name in ["DTSTART", "DUE"] {
      guard let line = first(name), name == "DTSTART" || BasicDate.instant(line.value) == nil else { continue }
      if BasicDate.day(line.value) == nil || line.parameters != ";VALUE=DATE" {
        attributes[name] = .text(Self.text([line]))
      }
    }
    if case .tags(let tags)? = document[.tags], tags.allowed.tags != tags {
      attributes["CATEGORIES"] = .text(Self.text(lines.filter { $0.name == "CATEGORIES" }))
    }
    if document[.recurrence] == nil, let rule = first("RRULE") { attributes["RRULE"] = .text(Self.text([rule])) }
    let isCompleted = document[.state] == .state(.completed)
    if let percent = first("PERCENT-COMPLETE"), !isCompleted { attributes["PERCENT-COMPLETE"] = .text(percent.value) }
    var relations = lines.filter { $0.name == "RELATED-TO" }
    if let parent = relations.firstIndex(where: \.isParent) { relations.remove(at: parent) }
    relations.removeAll(where: \.isDependency)
    if !relations.isEmpty { attributes["RELATED-TO"] = .text(Self.text(relations)) }
    for name in ["SUMMARY", "DESCRIPTION"] {
      if let line = first(name), !line.parameters.isEmpty { attributes[name] = .text(line.parameters) }
    }
    if let number = first("PRIORITY")?.value, number != "0", Self.numbers[Self.priority(number)] != number {
      attributes["PRIORITY"] = .text(number)
    }
    return attributes
  }

  /// The text of an attribute for the lines of a property.
  static func text(_ lines: [ContentLine]) -> String {
    let parts = lines.map { line in
      let isPlain = line.parameters.isEmpty && !line.value.hasPrefix(";") && !line.value.hasPrefix(":")
      return isPlain ? line.value : "\(line.parameters):\(line.value)"
    }
    return parts.joined(separator: "\n")
  }

  private static func text(components: [[ContentLine]]) -> String {
    components.flatMap { $0.map(\.text) }.joined(separator: "\n")
  }

  /// Components from lines; lines outside of a `BEGIN` and its `END` are left out.
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

  /// Whether an alarm is what Tally writes for a reminder.
  private static func isPlainAlarm(_ component: [ContentLine]) -> Bool {
    isDisplayAlarm(component) && component.first { $0.name == "TRIGGER" }?.parameters == ";VALUE=DATE-TIME"
  }

  /// Whether an alarm shows a text and does nothing else; its lines may be in any order.
  private static func isDisplayAlarm(_ component: [ContentLine]) -> Bool {
    component.map(\.name).sorted() == ["ACTION", "BEGIN", "DESCRIPTION", "END", "TRIGGER"]
      && component.first { $0.name == "ACTION" }?.value == "DISPLAY"
  }

  /// The alarm that is the task's reminder: the first one as Tally writes it, else the first one that has an instant.
  func reminder(_ context: FormatContext) -> (index: Int, instant: Timestamp)? {
    let alarms = components.indices.compactMap { index in
      instant(ofAlarm: components[index], context).map { (index: index, instant: $0) }
    }
    return alarms.first { Self.isPlainAlarm(components[$0.index]) } ?? alarms.first
  }

  /// The alarms besides that of ``reminder(_:)`` that are reminders and nothing else, as many as a task can have.
  func otherAlarms(_ context: FormatContext) -> [Int] {
    let own = reminder(context)?.index
    let others = components.indices.filter { index in
      let component = components[index]
      return index != own && Self.isDisplayAlarm(component) && reminder(ofAlarm: component, context) != nil
    }
    return Array(others.prefix(ReminderSet.maximumCount))
  }

  /// An alarm as a reminder: relative if its trigger is, and the task has the date from which it counts.
  func reminder(ofAlarm component: [ContentLine], _ context: FormatContext) -> Reminder? {
    guard let instant = instant(ofAlarm: component, context) else { return nil }
    guard let trigger = component.first(where: { $0.name == "TRIGGER" }), BasicDate.instant(trigger.value) == nil,
      let seconds = CalendarDuration.seconds(trigger.value), seconds % 60 == 0
    else { return .at(instant) }
    let isFromEnd = trigger.parameter("RELATED")?.uppercased() == "END" || first("DTSTART") == nil
    guard let line = first(isFromEnd ? "DUE" : "DTSTART") else { return .at(instant) }
    guard isFromEnd || !startIsOwn else { return .at(instant) }
    let anchor: RelativeReminder.Anchor = isFromEnd ? .due : .scheduled
    let relative: RelativeReminder?
    if BasicDate.day(line.value) != nil {
      let days = max(0, (-seconds + 86_399) / 86_400)
      let minute = Int(seconds / 60 + 1_440 * days)
      relative = try? RelativeReminder(daysBefore: Int(days), anchor, atMinute: minute)
    } else {
      let distance = RelativeReminder.minutes(ofDistance: String(trigger.value.drop { $0 == "-" }))
      guard isFromEnd, seconds <= 0, let distance = seconds == 0 ? (0, 0) : distance else { return .at(instant) }
      relative = try? RelativeReminder(daysBefore: distance.days, minutesBefore: distance.minutes, anchor)
    }
    return relative.map { .before($0) } ?? .at(instant)
  }

  /// The instant of an alarm: one of its own, or a distance from the start, or from the due date if the alarm says so
  /// or there is no start (RFC 5545, section 3.8.6.3).
  ///
  /// - Returns: `nil` for other components and for location alarms, whose time is a placeholder.
  func instant(ofAlarm component: [ContentLine], _ context: FormatContext) -> Timestamp? {
    guard component.first?.value.uppercased() == "VALARM",
      let trigger = component.first(where: { $0.name == "TRIGGER" }),
      !component.contains(where: { $0.name == "X-APPLE-PROXIMITY" })
    else { return nil }
    if let instant = BasicDate.instant(trigger.value) { return instant }
    guard let seconds = CalendarDuration.seconds(trigger.value) else { return nil }
    let isFromEnd = trigger.parameter("RELATED")?.uppercased() == "END"
    let line = isFromEnd ? first("DUE") ?? first("DTSTART") : first("DTSTART") ?? first("DUE")
    // Reading the date already left its remarks.
    guard let line, let date = context.remarks.discarding({ WrittenDate(line, zones: zones, context) }) else {
      return nil
    }
    let length =
      isFromEnd && line.name == "DTSTART" ? first("DURATION").flatMap { CalendarDuration.seconds($0.value) } : 0
    return date.instant(context).adding(seconds: (length ?? 0) + seconds)
  }

  /// Whether the recurrence has the days of the `EXDATE` lines: only with a rule, and not more than it can leave out.
  private func leavesDaysOut(_ context: FormatContext) -> Bool {
    guard let rule = first("RRULE")?.value else { return false }
    let days = days(lines.filter { $0.name == "EXDATE" }, context)
    return TaskDocument.recurrence(rule, except: days, in: context.timeZone) != nil
  }

  /// Adds remarks about values without a field in Tally.
  func remark(_ context: FormatContext) {
    if let number = first("PRIORITY")?.value, !(Int(number).map { (0...9).contains($0) } ?? false) {
      context.remarks.add("priority", number)
    }
    let areDaysLeftOut = leavesDaysOut(context)
    for line in lines where line.name != Self.extensionName && line.name != Self.listName {
      if line.name == "EXDATE", areDaysLeftOut, Self.isWellFormed(line) { continue }
      let isRange = line.name == "RECURRENCE-ID" && line.parameter("RANGE") != nil
      if isRange || !Self.mapped.contains(line.name) && !Self.understood.contains(line.name) {
        context.remarks.add("property", line.text)
      }
    }
    let reminders = otherAlarms(context) + (reminder(context).map { [$0.index] } ?? [])
    for (index, component) in components.enumerated() where !reminders.contains(index) {
      let isAlarm = component.first?.value.uppercased() == "VALARM"
      context.remarks.add(isAlarm ? "alarm" : "component", component.map(\.text).joined(separator: " "))
    }
    for line in lines where line.name == "RELATED-TO" && !line.isParent && !line.isDependency {
      context.remarks.add("relation", line.text)
    }
  }
}

/// A duration of iCalendar (RFC 5545, section 3.3.6): `-PT15M`, `P1D`.
enum CalendarDuration {
  /// A duration in the shortest form: `-PT15M`, `P1D`.
  static func text(_ seconds: Int64) -> String {
    var rest = abs(seconds)
    var text = seconds < 0 ? "-P" : "P"
    if rest >= 86_400 { text += "\(rest / 86_400)D" }
    rest %= 86_400
    if rest == 0 { return text.hasSuffix("P") ? text + "T0S" : text }
    text += "T"
    for (unit, length) in [("H", Int64(3_600)), ("M", 60), ("S", 1)] where rest >= length {
      text += "\(rest / length)\(unit)"
      rest %= length
    }
    return text
  }

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

extension WrittenDate {
  /// Reads the value of a property (RFC 5545, sections 3.3.4 and 3.3.5): a day, an instant in UTC, one in the zone that
  /// `TZID` names, or a local time.
  ///
  /// A zone that is not known leaves a remark, and the time is that of the context's zone.
  /// - Returns: `nil` for a value of none of these forms.
  init?(_ line: ContentLine, zones: CalendarZones, _ context: FormatContext) {
    let value = line.value.trimmed
    if let day = BasicDate.day(value) ?? (try? CalendarDay(iso8601: value)) {
      self = .day(day)
    } else if let instant = BasicDate.instant(value) {
      self = .instant(instant)
    } else if let name = line.parameter("TZID"), let instant = zones.instant(value, in: name) {
      self = .instant(instant)
    } else if let instant = BasicDate.instant(value, in: context.timeZone) {
      if let name = line.parameter("TZID") { context.remarks.add("zone", name) }
      self = .instant(instant)
    } else if case .instant(let instant)? = WrittenDate(value, context) {
      self = .instant(instant)
    } else {
      return nil
    }
  }
}

/// The time zones that a document names.
struct CalendarZones: Sendable {
  /// The zones that `VTIMEZONE` components describe.
  private var described: [String: DescribedZone] = [:]
  /// The locations that they name, `X-LIC-LOCATION`.
  private var locations: [String: String] = [:]

  /// Adds the zone of a `VTIMEZONE` component.
  mutating func add(_ component: [ContentLine]) {
    guard let name = component.first(where: { $0.name == "TZID" })?.value else { return }
    described[name] = DescribedZone(component)
    locations[name] = component.first { $0.name == "X-LIC-LOCATION" }?.value
  }

  /// The instant of a local time in the zone of a name, as the document describes it, or as it is known elsewhere; `nil` for
  /// a name that nobody knows.
  func instant(_ local: String, in name: String) -> Timestamp? {
    if let zone = described[name], let wall = DescribedZone.wallSeconds(local[...]) {
      return zone.instant(ofWallSeconds: wall)
    }
    return (locations[name].flatMap(Self.named) ?? Self.named(name)).flatMap { BasicDate.instant(local, in: $0) }
  }

  /// The zone of the tz database whose clock is that of a name in the document, from a local time on for a year.
  ///
  /// - Returns: the zone that is described elsewhere; the given one if the name is not known, or has its clock; `nil` if the
  ///   document describes another clock.
  func zone(named name: String, at local: String, or home: TimeZone) -> TimeZone? {
    let candidates = [locations[name].flatMap(Self.named), Self.named(name), home].compactMap(\.self)
    guard let zone = described[name], let start = DescribedZone.wallSeconds(local[...]) else { return candidates.first }
    // Clocks change at night, so the noon of each day tells two clocks apart.
    let noons = (0..<366).map { (start / 86_400 + $0) * 86_400 + 43_200 }
    return candidates.first { candidate in
      noons.allSatisfy { noon in
        zone.instant(ofWallSeconds: noon) == Timestamp(wallClock: Timestamp(clampingSeconds: noon), in: candidate)
      }
    }
  }

  /// A zone of the tz database, whose name may follow a prefix, as in `/example.org/20260101/Europe/Berlin`, or one
  /// that Windows names.
  static func named(_ name: String) -> TimeZone? {
    let parts = name.split(separator: "/")
    for count in [parts.count, 3, 2, 1] where count <= parts.count && count > 0 {
      if let zone = TimeZone(identifier: parts.suffix(count).joined(separator: "/")) { return zone }
    }
    return WindowsZones.identifier(of: name).flatMap { TimeZone(identifier: $0) }
  }
}
