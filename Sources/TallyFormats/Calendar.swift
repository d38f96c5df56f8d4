import Foundation
import Tally
import TallyEngine

/// Reads the to-dos of a calendar; events, journals and other components are skipped.
final class CalendarSource: ForeignSource {
  private var lines: ContentLineReader
  private var zones = CalendarZones()
  private var hasBegun = false
  /// The name of the calendar, which is the list of its to-dos.
  private var calendarName: String?
  /// The series, which come last: their occurrences may be described anywhere in the document.
  private var series: ArraySlice<ToDo> = []

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    lines = ContentLineReader(input, context)
    super.init("iCalendar", context)
  }

  override var byteCount: Int64 { lines.byteCount }

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let next = try nextToDo() {
      let uid = next.record.first("UID")?.unescaped
      if let uid, let occurrence = next.record.first("RECURRENCE-ID") {
        // An occurrence that is described, open or closed, is a task of its own.
        context.occurrences[uid, default: []].append(occurrence)
      } else if uid != nil, next.record.first("RRULE") != nil {
        series.append(next)
        continue
      }
      return task(next)
    }
    return series.popFirst().map(task)
  }

  /// A to-do with its place.
  private struct ToDo {
    let record: CalendarRecord
    let contents: String
    let number: Int
  }

  /// The next to-do; the other components are zones, or are named in the account.
  private func nextToDo() throws -> ToDo? {
    while let (line, number) = try lines.next() {
      guard hasBegun || line.name == "BEGIN" && line.value.trimmed.uppercased() == "VCALENDAR" else {
        throw TallyError.malformed("The document does not begin with BEGIN:VCALENDAR", line: number)
      }
      hasBegun = true
      if line.name == "X-WR-CALNAME", !line.unescaped.trimmed.isEmpty { calendarName = line.unescaped.trimmed }
      guard line.name == "BEGIN", line.value.trimmed.uppercased() != "VCALENDAR" else { continue }
      let component = try readComponent(line, number)
      switch line.value.trimmed.uppercased() {
      case "VTODO": return toDo(component, number)
      case "VTIMEZONE": zones.add(component)
      case let name:
        let summary = component.first { $0.name == "SUMMARY" }?.unescaped
        context.remarks.add(
          "component", [name, summary].compactMap(\.self).joined(separator: " "), at: Self.place(number))
      }
    }
    return nil
  }

  /// The lines up to the end of a component, those of components inside it included.
  private func readComponent(_ first: ContentLine, _ number: Int) throws -> [ContentLine] {
    var open = [first.value.uppercased()]
    var component = [first]
    while let (line, number) = try lines.next() {
      component.append(line)
      if line.name == "BEGIN" { open.append(line.value.uppercased()) }
      guard line.name == "END" else { continue }
      guard open.popLast() == line.value.uppercased() else {
        throw TallyError.malformed("An END has no BEGIN of the same name", line: number)
      }
      if open.isEmpty { return component }
    }
    throw TallyError.malformed("The component has no END; the file may be cut off", line: number)
  }

  private func toDo(_ component: [ContentLine], _ number: Int) -> ToDo {
    var properties: [ContentLine] = []
    var components: [[ContentLine]] = []
    var depth = 0
    for line in component.dropFirst().dropLast() {
      if line.name == "BEGIN" {
        if depth == 0 { components.append([]) }
        depth += 1
      }
      if depth > 0 { components[components.count - 1].append(line) } else { properties.append(line) }
      if line.name == "END" { depth -= 1 }
    }
    let record = CalendarRecord(lines: properties, components: components, zones: zones)
    return ToDo(record: record, contents: component.map(\.text).joined(separator: "\n"), number: number)
  }

  private func task(_ toDo: ToDo) -> (TaskDocument, TextPosition) {
    let place = Self.place(toDo.number)
    context.remarks.position = place
    var record = toDo.record
    record.zones = zones
    let zone = record.seriesZone(context)?.identifier
    // What Tally has written says itself whether its times are fixed to a zone.
    let isFixed = zone != nil && record.exact == nil
    let local = isFixed ? context.in(zone) : context
    var document = record.importing(local)
    record.remark(local)
    // A to-do needs no summary (RFC 5545, section 3.6.2), a task does.
    if document[.text]?.text?.isBlank ?? true { document[.text] = .text("Untitled") }
    document.listName = document.listName ?? calendarName
    identity.identify(&document, by: toDo.contents)
    if record.first("RRULE") != nil {
      let described = record.days(context.occurrences[record.first("UID")?.unescaped ?? ""] ?? [], context.in(zone))
      document.describeSeries(besides: Set(described), isFixed: isFixed, context.in(zone))
    }
    context.remarks.position = nil
    return (document, place)
  }

  private static func place(_ line: Int) -> TextPosition { TextPosition(line: line, column: 1) }
}

/// Writes a calendar of to-dos.
struct CalendarWriter: DocumentWriter {
  private var context: FormatContext
  /// The zones that have been described.
  private var described: Set<String> = []
  /// The UIDs of tasks on which others depend, as far as they are not their ids.
  private var uids: [UUID: String] = [:]
  var bytes: [UInt8] = []

  init(_ context: FormatContext) { self.context = context }

  mutating func begin() {
    let product = "-//Tally//Tally \(TaskStore.libraryVersion)//EN"
    append([ContentLine("BEGIN", "VCALENDAR"), ContentLine("VERSION", "2.0"), ContentLine("PRODID", product)])
  }

  mutating func prepare(_ task: TaskItem) {
    guard case .text(let text)? = task.attributes["RECURRENCE-ID"], case .text(let uid)? = task.attributes["UID"],
      CalendarRecord.uid(of: task) == uid, let lines = CalendarRecord.written(text, of: "RECURRENCE-ID")
    else { return }
    context.occurrences[uid, default: []] += lines
  }

  mutating func prepare(dependency task: TaskItem) {
    let uid = CalendarRecord.uid(of: task)
    if uid != task.id.uuidString.lowercased() { uids[task.id] = uid }
  }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    var record = CalendarRecord.exporting(task, in: list?.name, context)
    // The parent may have a UID of its own.
    if let parent {
      let exact = record.exact
      record = CalendarRecord(task, in: list?.name, parentUID: CalendarRecord.uid(of: parent), context)
      record.exact = exact
    }
    for (index, line) in record.lines.enumerated() where line.isDependency {
      guard let uid = uids[CalendarRecord.id(ofUID: line.unescaped)] else { continue }
      record.lines[index] = ContentLine("RELATED-TO", parameters: line.parameters, ContentLine.escape(uid))
    }
    for zone in (record.lines + record.components.joined()).compactMap({ $0.parameter("TZID") }) {
      if described.insert(zone).inserted, let zone = WrittenZone.named(zone) { append(zone.component) }
    }
    append([ContentLine("BEGIN", "VTODO")] + record.lines)
    for component in record.components { append(component) }
    append([ContentLine("END", "VTODO")])
  }

  mutating func end() { append([ContentLine("END", "VCALENDAR")]) }

  private mutating func append(_ lines: [ContentLine]) { for line in lines { line.append(to: &bytes) } }
}

/// A to-do of iCalendar: the lines of a `VTODO` component (RFC 5545, section 3.6.2).
struct CalendarRecord: ForeignRecord {
  /// The properties, in the document's order.
  var lines: [ContentLine]
  /// The components inside it, alarms above all, each with its `BEGIN` and `END`.
  var components: [[ContentLine]]
  /// The zones of the document.
  var zones = CalendarZones()

  /// A planned day or a start beside a due time is written as its midnight.
  static func isLocal(_ task: TaskItem) -> Bool {
    task.dueDate != nil && (task.scheduledDate ?? task.start?.day) != nil
  }

  static let hasSeries = true

  static let extensionName = "X-TALLY"
  static let listName = "X-TALLY-LIST"
  /// The property with the day before which a task waits: `DTSTART` is that day, unless a rule counts from it.
  static let startName = "X-TALLY-START"

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
    lines += task.dependsOn.map {
      ContentLine("RELATED-TO", parameters: ContentLine.dependency, $0.uuidString.lowercased())
    }
    if let list { lines.append(ContentLine(Self.listName, ContentLine.escape(list))) }
    if let rule = Self.writtenRule(of: task, context) {
      let series = CalendarSeries(task, context)
      let local = context.inZone(ofSeriesOf: task)
      lines.append(ContentLine("RRULE", text(of: series?.rule ?? rule, local)))
      lines += exceptions(series, of: rule, from: task, local)
    }
    for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) {
      guard case .text(let text) = value else { continue }
      // A readable date is already written from the field, or is out of date.
      if name == "DTSTART" || name == "DUE", date(name, text, context) != nil { continue }
      if name == "EXDATE", case .rule? = task.recurrence { continue }
      append(text, of: name)
    }
    appendAlarms(of: task, context)
    appendOtherAlarms(of: task, context)
  }

  /// The original CATEGORIES lines, if they still say the task's tags; else a line of the tags.
  private static func categories(of task: TaskItem) -> [ContentLine] {
    if case .text(let text)? = task.attributes["CATEGORIES"], let lines = written(text, of: "CATEGORIES"),
      TagSet(lines.flatMap(\.unescapedList)).allowed.tags == task.tags
    {
      return lines
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

  private mutating func appendState(of task: TaskItem) {
    let status =
      switch task.state {
      case .notStarted: "NEEDS-ACTION"
      case .active: "IN-PROCESS"
      // Earlier versions kept a cancelled task as a completed one with this attribute.
      case .completed: task.attributes["STATUS"] == "CANCELLED" ? "CANCELLED" : "COMPLETED"
      case .cancelled: "CANCELLED"
      }
    lines.append(ContentLine("STATUS", status))
    guard let completed = task.completedAt, status != "CANCELLED" else { return }
    lines.append(ContentLine("COMPLETED", BasicDate.text(completed.instant)))
    lines.append(ContentLine("PERCENT-COMPLETE", "100"))
  }

  private mutating func appendDates(of task: TaskItem, _ context: FormatContext) {
    let (repeats, series) = (Self.writtenRule(of: task, context) != nil, CalendarSeries(task, context))
    // The start of a task that repeats would move the rule, which counts from it.
    let day = (repeats ? nil : task.start?.day) ?? task.scheduledDate
    // Both dates have times or neither, and the due date is the later one (RFC 5545, section 3.8.2.3).
    let time = task.recurrence?.hours == nil ? nil : task.timeOfStep
    let local = context.inZone(ofSeriesOf: task)
    let isSame = { (date: WrittenDate) in time.map { $0 == date.instant(local) } ?? (date.day(local) == day) }
    if let start = imported("DTSTART", of: task, where: isSame, context) {
      lines.append(start)
    } else if let series {
      lines.append(series.start)
    } else if let due = task.dueDate, repeats {
      lines.append(zonedLine("DTSTART", due, context))
    } else if let day, let due = task.dueDate {
      let start = context.start(of: day)
      if start < due { lines.append(zonedLine("DTSTART", start, context)) }
    } else if let day, task.dueDay.map({ $0 > day }) ?? true {
      lines.append(ContentLine("DTSTART", parameters: ";VALUE=DATE", BasicDate.text(day)))
    }
    if let day = task.start?.day {
      lines.append(ContentLine(Self.startName, parameters: ";VALUE=DATE", BasicDate.text(day)))
    }
    if let line = series?.due, first("DTSTART") == series?.start {
      let imported = imported("DUE", of: task, where: { $0.instant(context) == task.dueDate }, context)
      lines.append(imported ?? line)
      return
    }
    if let due = task.dueDate {
      let isZoned = first("DTSTART")?.parameter("TZID") == context.timeZone.identifier
      lines.append(
        imported("DUE", of: task, where: { $0.instant(context) == due }, context)
          ?? (isZoned ? zonedLine("DUE", due, context) : ContentLine("DUE", BasicDate.text(due))))
    }
    if let day = task.dueDay { lines.append(ContentLine("DUE", parameters: ";VALUE=DATE", BasicDate.text(day))) }
  }

  /// The imported date line, if it still equals the task's date.
  private func imported(
    _ name: String, of task: TaskItem, where isEqual: (WrittenDate) -> Bool, _ context: FormatContext
  ) -> ContentLine? {
    guard case .text(let text)? = task.attributes[name], let (line, date) = date(name, text, context), isEqual(date)
    else { return nil }
    // Drop the line if its zone is unknown, because no VTIMEZONE can be written.
    guard let zone = line.parameter("TZID") else { return line }
    return WrittenZone.named(zone)?.instant(line.value) == date.instant(context) ? line : nil
  }

  /// The line and the date of an attribute with a date; `nil` if it is not understood.
  private func date(_ name: String, _ text: String, _ context: FormatContext) -> (ContentLine, WrittenDate)? {
    guard let line = ContentLine("\(name)\(text.hasPrefix(";") ? "" : ":")\(text)"), line.name == name,
      let date = WrittenDate(line, zones: zones, context)
    else { return nil }
    return (line, date)
  }

  /// An instant as the local time of the person's zone, so that a series has the same local time after changes of the
  /// clock; in UTC if the written zone results in another instant.
  func zonedLine(_ name: String, _ instant: Timestamp, _ context: FormatContext) -> ContentLine {
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
      components.insert(Self.alarm(trigger, of: task), at: 0)
    }
  }

  private static func alarm(_ trigger: ContentLine, of task: TaskItem) -> [ContentLine] {
    [
      ContentLine("BEGIN", "VALARM"), ContentLine("ACTION", "DISPLAY"),
      ContentLine("DESCRIPTION", ContentLine.escape(task.title)), trigger, ContentLine("END", "VALARM"),
    ]
  }

  /// Writes an alarm for each of the other reminders; a relative one has a relative trigger.
  private mutating func appendOtherAlarms(of task: TaskItem, _ context: FormatContext) {
    for reminder in task.otherReminders {
      guard let instant = task.instant(of: reminder, in: context.timeZone) else { continue }
      let relative = reminder.relative.flatMap { trigger(of: $0, at: instant, task) }
      components.append(Self.alarm(relative ?? trigger(at: instant, of: task, context), of: task))
    }
  }

  /// The trigger of a relative reminder; `nil` if the to-do does not have the date, or has it with a time that the task
  /// does not have.
  private func trigger(of reminder: RelativeReminder, at instant: Timestamp, _ task: TaskItem) -> ContentLine? {
    guard reminder.anchor == .due || !startIsOwn,
      let line = first(reminder.anchor == .due ? "DUE" : "DTSTART")
    else { return nil }
    let parameters = reminder.anchor == .due ? ";RELATED=END" : ";RELATED=START"
    if BasicDate.day(line.value) != nil {
      // A day is its first instant (RFC 5545, section 3.8.6.3), and the reminder of a day without a time is at 9:00.
      let minutes = (reminder.minuteOfDay ?? 540) - 1_440 * reminder.days - reminder.minutes
      return ContentLine("TRIGGER", parameters: parameters, CalendarDuration.text(60 * Int64(minutes)))
    }
    guard reminder.anchor == .due, let due = task.dueDate else { return nil }
    guard reminder.minuteOfDay != nil else {
      let isNow = reminder.days == 0 && reminder.minutes == 0
      return ContentLine("TRIGGER", parameters: parameters, isNow ? "PT0S" : "-" + reminder.distance)
    }
    let seconds = (instant.microsecondsSince1970 - due.microsecondsSince1970) / 1_000_000
    return ContentLine("TRIGGER", parameters: parameters, CalendarDuration.text(seconds))
  }

  /// The trigger of a reminder: the distance from its date for a series, otherwise an instant.
  private func trigger(at reminder: Timestamp, of task: TaskItem, _ context: FormatContext) -> ContentLine {
    if Self.writtenRule(of: task, context) != nil, let line = first("DTSTART") ?? first("DUE"),
      let start = WrittenDate(line, zones: zones, context)?.instant(context)
    {
      let seconds = (reminder.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
      return ContentLine("TRIGGER", CalendarDuration.text(seconds))
    }
    return ContentLine("TRIGGER", parameters: ";VALUE=DATE-TIME", BasicDate.text(reminder))
  }

  static let numbers: [Priority: String] = [.high: "1", .medium: "5", .low: "9"]

  /// The imported number, if it still means the task's priority.
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

  func document(_ context: FormatContext) -> TaskDocument {
    var document = TaskDocument()
    if let uid = first("UID")?.unescaped {
      let occurrence = first("RECURRENCE-ID").map { Self.text([$0]) }
      document[.id] = .id(Self.id(ofUID: uid, occurrence: occurrence))
    }
    document[.text] = .text(first("SUMMARY")?.unescaped ?? "")
    document[.notes] = (first("DESCRIPTION")?.unescaped).map { .text($0) }
    readDates(into: &document, context)
    readState(into: &document, context)
    document[.priority] = first("PRIORITY").map { .priority(Self.priority($0.value)) }
    if document[.priority] == .priority(.none) { document[.priority] = nil }
    let tags = TagSet(lines.filter { $0.name == "CATEGORIES" }.flatMap(\.unescapedList).filter { !$0.isEmpty })
    document[.tags] = tags.isEmpty ? nil : .tags(tags)
    // A relation without a type is that to the parent (RFC 5545, section 3.2.15).
    let parent = lines.first { $0.isParent }
    document[.parentID] = parent.map { .id(Self.id(ofUID: $0.unescaped)) }
    document.keptParent = parent.map { ("RELATED-TO", Self.text([$0])) }
    let dependencies = TaskIDSet(lines.filter(\.isDependency).map { Self.id(ofUID: $0.unescaped) })
    document[.dependsOn] = dependencies.isEmpty ? nil : .ids(dependencies)
    document[.listID] = nil
    document.listName = first(Self.listName)?.unescaped
    document.attributes = attributes(document, context)
    return document
  }

  /// The date of a property; one that is not understood leaves a remark.
  private func date(_ name: String, _ context: FormatContext) -> WrittenDate? {
    guard let line = first(name) else { return nil }
    let date = WrittenDate(line, zones: zones, context)
    if date == nil { context.remarks.add("date", line.text) }
    return date
  }

  /// The due date, or the end of a duration (RFC 5545, section 3.8.2.5).
  private func due(_ start: WrittenDate?, _ context: FormatContext) -> WrittenDate? {
    guard first("DUE") == nil, let duration = first("DURATION"), let start else { return date("DUE", context) }
    guard let seconds = CalendarDuration.seconds(duration.value) else {
      context.remarks.add("duration", duration.value)
      return nil
    }
    if case .day(let day) = start, seconds % 86_400 == 0, let end = try? day.adding(days: Int(seconds / 86_400)) {
      return .day(end)
    }
    return .instant(start.instant(context).adding(seconds: seconds))
  }

  private func readDates(into document: inout TaskDocument, _ context: FormatContext) {
    let modified = date("LAST-MODIFIED", context) ?? date("DTSTAMP", context)
    if let modified { document[.updatedAt] = .instant(modified.instant(context)) }
    let created = date("CREATED", context) ?? modified
    if let created { document[.createdAt] = .instant(created.instant(context)) }
    let start = date("DTSTART", context)
    let day = start?.day(context)
    document[.scheduledDate] = startIsOwn ? nil : day.map { .day($0) }
    document[.dueDate] = nil
    document[.dueDay] = nil
    if let due = due(start, context) { document.setDue(due) }
    readStart(day, into: &document, context)
    document[.reminderDate] = (reminder(context)?.instant).map { .instant($0) }
    let others = otherAlarms(context).compactMap { reminder(ofAlarm: components[$0], context) }
    let all = ReminderSet(others + (reminder(context).map { [.at($0.instant)] } ?? []))
    document[.reminders] = others.isEmpty ? nil : .reminders(all.allowed)
    document[.recurrence] = nil
    guard let rule = first("RRULE")?.value else { return }
    let exceptions = days(lines.filter { $0.name == "EXDATE" }, context)
    // More days than a rule can leave out stay in their lines.
    let recurrence =
      TaskDocument.recurrence(rule, except: exceptions, in: context.timeZone)
      ?? TaskDocument.recurrence(rule, except: [], in: context.timeZone)
    document[.recurrence] = recurrence.map { .recurrence($0) }
    if recurrence?.hours != nil { checkHours(of: &document, from: start, context) }
    if document[.recurrence] == nil { context.remarks.add("recurrence", rule) }
  }

  /// Takes the time of a rule for hours from its start, and leaves the rule out if it has no time, or leaves out single
  /// hours of a day.
  private func checkHours(of document: inout TaskDocument, from start: WrittenDate?, _ context: FormatContext) {
    if document[.dueDate] == nil, document[.reminderDate] == nil, document[.dueDay] == nil,
      case .instant(let instant)? = start
    {
      document[.dueDate] = .instant(instant)
    }
    let exceptions = lines.filter { $0.name == "EXDATE" && $0.parameter("VALUE")?.uppercased() != "DATE" }
    let described = context.occurrences[first("UID")?.unescaped ?? ""] ?? []
    let hours = Dictionary(grouping: days(exceptions + described, context)) { $0 }
    let areDays = hours.allSatisfy { $0.value.count >= 24 }
    if document.task.timeOfStep == nil || !areDays { document[.recurrence] = nil }
  }

  /// The state; a status that is not known leaves a remark.
  func state(_ context: FormatContext) -> TaskState {
    let status = first("STATUS")?.value.trimmed.uppercased() ?? ""
    let known = [
      "COMPLETED": TaskState.completed, "IN-PROCESS": .active, "NEEDS-ACTION": .notStarted, "CANCELLED": .cancelled,
    ]
    if let state = known[status] { return state }
    if !status.isEmpty { context.remarks.add("state", status) }
    let percent = first("PERCENT-COMPLETE").flatMap { Int($0.value) } ?? 0
    let isCompleted = first("COMPLETED").flatMap { WrittenDate($0, zones: zones, context) } != nil || percent == 100
    return isCompleted ? .completed : (1..<100).contains(percent) ? .active : .notStarted
  }

  private func readState(into document: inout TaskDocument, _ context: FormatContext) {
    let completed = date("COMPLETED", context)?.instant(context)
    // What a person closed without doing it was closed not today, but when the document was changed last.
    let instant = completed ?? (document.has(.updatedAt) ? document.task.updatedAt : nil)
    document.setState(
      state(context),
      at: instant.map { OffsetTimestamp($0, in: context.timeZone) } ?? context.undatedCompletion)
  }
}

extension ContentLine {
  /// Whether the line names the parent; a relation without a type does (RFC 5545, section 3.2.15).
  var isParent: Bool { name == "RELATED-TO" && (parameter("RELTYPE") ?? "PARENT").uppercased() == "PARENT" }

  /// Whether the line names a task to be done before (RFC 9253, section 9.1), and nothing else, such as a gap.
  var isDependency: Bool { name == "RELATED-TO" && parameters.uppercased() == Self.dependency }

  static let dependency = ";RELTYPE=DEPENDS-ON"
}
