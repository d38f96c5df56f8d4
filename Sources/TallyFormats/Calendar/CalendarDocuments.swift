internal import Foundation
internal import Tally

/// Reads the to-dos of a calendar; events, journals and other components are skipped.
final class CalendarSource: ForeignSource {
  private let context: FormatContext
  private var lines: ContentLineReader
  private var identity = ContentIdentity("iCalendar")
  private var zones = CalendarZones()
  private var hasBegun = false

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    lines = ContentLineReader(input)
  }

  var byteCount: Int64 { lines.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (line, number) = try lines.next() {
      guard hasBegun || line.name == "BEGIN" && line.value.uppercased() == "VCALENDAR" else {
        throw TallyError.malformed("The document does not begin with BEGIN:VCALENDAR", line: number)
      }
      hasBegun = true
      guard line.name == "BEGIN", line.value.uppercased() != "VCALENDAR" else { continue }
      let component = try readComponent(line, number)
      switch line.value.uppercased() {
      case "VTODO": return (try task(component, number), TextPosition(line: number, column: 1))
      case "VTIMEZONE": note(zone: component)
      default: break
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

  private func task(_ component: [ContentLine], _ number: Int) throws -> TaskDocument {
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
    do {
      var document = try record.importing(context)
      // A to-do needs no summary (RFC 5545, section 3.6.2), a task does.
      if document[.text]?.text?.allSatisfy(\.isWhitespace) ?? true { document[.text] = .text("Untitled") }
      identity.identify(&document, by: component.map(\.text).joined(separator: "\n"))
      return document
    } catch let error as TallyError {
      throw error.placed(at: TextPosition(line: number, column: 1))
    }
  }

  private func note(zone: [ContentLine]) {
    guard let name = zone.first(where: { $0.name == "TZID" })?.value else { return }
    if let location = zone.first(where: { $0.name == "X-LIC-LOCATION" })?.value {
      zones.note(name, location: location)
    }
    let offsets = Set(zone.filter { $0.name == "TZOFFSETTO" }.map(\.value))
    guard offsets.count == 1, let text = offsets.first, text.count >= 5, let number = Int(text.prefix(5)) else {
      return
    }
    zones.note(name, offsetInSeconds: (number / 100 * 60 + number % 100) * 60)
  }
}

/// Writes a calendar of to-dos.
struct CalendarWriter: DocumentWriter {
  private let context: FormatContext
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
    append([ContentLine("BEGIN", "VTODO")] + record.lines)
    for component in record.components { append(component) }
    append([ContentLine("END", "VTODO")])
  }

  mutating func end() { append([ContentLine("END", "VCALENDAR")]) }

  private mutating func append(_ lines: [ContentLine]) {
    for line in lines { line.append(to: &bytes) }
  }
}
