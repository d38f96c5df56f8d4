internal import Foundation
internal import Tally

/// Reads the to-dos of a calendar; events, journals and other components are skipped.
final class CalendarSource: ForeignSource {
  private let context: FormatContext
  private var lines: ContentLineReader
  private var identity: ContentIdentity
  private var zones = CalendarZones()
  private var hasBegun = false
  /// The name of the calendar, which is the list of its to-dos.
  private var calendarName: String?
  /// A to-do that was read ahead and is not part of the series.
  private var pending: ToDo?
  /// Occurrences of the series that was returned last.
  private var waiting: [(TaskDocument, TextPosition)] = []

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("iCalendar", context)
    lines = ContentLineReader(input, context)
  }

  var byteCount: Int64 { lines.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    guard let first = try nextToDo() else { return nil }
    // A series is followed by those of its occurrences that differ from it.
    guard first.record.first("RRULE") != nil, let uid = first.record.first("UID")?.value else { return task(first) }
    var occurrences: [ToDo] = []
    while let next = try nextToDo() {
      guard next.record.first("UID")?.value == uid, next.record.first("RECURRENCE-ID") != nil else {
        pending = next
        break
      }
      occurrences.append(next)
    }
    var series = task(first)
    // An occurrence that is described, open or closed, is a task of its own.
    let described = occurrences.compactMap { $0.record.first("RECURRENCE-ID") }
    let days = (described + first.record.lines.filter { $0.name == "EXDATE" }).flatMap { line in
      line.value.split(separator: ",").compactMap { value in
        // What is not understood of it is named with its to-do.
        context.remarks.discarding {
          CalendarDate(ContentLine(line.name, parameters: line.parameters, String(value)), zones: zones, context)
        }?.day(in: context)
      }
    }
    series.0.moveOn(past: Set(days), context)
    waiting = occurrences.map(task)
    return series
  }

  /// A to-do with its place.
  private struct ToDo {
    let record: CalendarRecord
    let contents: String
    let number: Int
  }

  /// The next to-do; the other components are zones, or are named in the account.
  private func nextToDo() throws -> ToDo? {
    if let next = pending.take() { return next }
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
      case "VTIMEZONE": zones.note(component)
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
    var document = TaskDocument()
    do {
      document = try record.importing(context)
      record.remark(context)
    } catch {
      context.remarks.add("component", toDo.contents)
    }
    // A to-do needs no summary (RFC 5545, section 3.6.2), a task does.
    if document[.text]?.text?.isBlank ?? true { document[.text] = .text("Untitled") }
    document.listName = document.listName ?? calendarName
    identity.identify(&document, by: toDo.contents)
    context.remarks.position = nil
    return (document, place)
  }

  private static func place(_ line: Int) -> TextPosition { TextPosition(line: line, column: 1) }
}

extension TaskDocument {
  /// Moves an open series and its dates to the first occurrence that is not in `days`.
  fileprivate mutating func moveOn(past days: Set<CalendarDay>, _ context: FormatContext) {
    guard case .recurrence(.rule(let rule))? = self[.recurrence], self[.state] != .state(.completed), !days.isEmpty,
      let start = firstDay(context)
    else { return }
    var (day, count) = (start, 0)
    while days.contains(day), let next = rule.next(after: day, from: start) { (day, count) = (next, count + 1) }
    if case .count(let whole) = rule.end, whole > count, count > 0 {
      let text = rule.text.replacingOccurrences(of: "COUNT=\(whole)", with: "COUNT=\(whole - count)")
      self[.recurrence] = (try? Recurrence(text: text)).map { .recurrence($0) }
    }
    let distance = Int(day.dayNumber) - Int(start.dayNumber)
    guard distance > 0 else { return }
    for field in [TaskField.scheduledDate, .dueDay] {
      if case .day(let day)? = self[field] { self[field] = (try? day.adding(days: distance)).map { .day($0) } }
    }
    for field in [TaskField.dueDate, .reminderDate] {
      guard case .instant(let instant)? = self[field] else { continue }
      // By the clock of the person's zone.
      let moved = context.calendar.date(byAdding: .day, value: distance, to: instant.date)
      self[field] = moved.map { .instant(Timestamp(clamping: $0)) }
    }
  }

  private func firstDay(_ context: FormatContext) -> CalendarDay? {
    if case .day(let day)? = self[.scheduledDate] ?? self[.dueDay] { return day }
    if case .instant(let instant)? = self[.dueDate] { return context.day(of: instant) }
    return nil
  }
}

/// Writes a calendar of to-dos.
struct CalendarWriter: DocumentWriter {
  private let context: FormatContext
  /// The zones that have been described.
  private var described: Set<String> = []
  var bytes: [UInt8] = []

  init(_ context: FormatContext) {
    self.context = context
  }

  mutating func begin() {
    let product = "-//Tally//Tally \(TaskStore.libraryVersion)//EN"
    append([ContentLine("BEGIN", "VCALENDAR"), ContentLine("VERSION", "2.0"), ContentLine("PRODID", product)])
  }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    var record = CalendarRecord.exporting(task, in: list?.name, context)
    // The parent may have a UID of its own.
    if let parent {
      let exact = record.exact
      record = CalendarRecord(task, in: list?.name, parentUID: CalendarRecord.uid(of: parent), context)
      record.exact = exact
    }
    for zone in (record.lines + record.components.joined()).compactMap({ $0.parameter("TZID") }) {
      if described.insert(zone).inserted, let zone = WrittenZone.named(zone) { append(zone.component) }
    }
    append([ContentLine("BEGIN", "VTODO")] + record.lines)
    for component in record.components { append(component) }
    append([ContentLine("END", "VTODO")])
  }

  mutating func end() { append([ContentLine("END", "VCALENDAR")]) }

  private mutating func append(_ lines: [ContentLine]) {
    for line in lines { line.append(to: &bytes) }
  }
}
