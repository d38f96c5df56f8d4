internal import Foundation
internal import Tally

/// Reads a project as Todoist exports it: rows of tasks, sections and notes.
///
/// Source: "Import or export a project as a CSV file in Todoist", its help pages. Of priorities, 1 is the highest and 4
/// is none. Labels are words of the content with an `@`.
final class TodoistSource: ForeignSource {
  private let context: FormatContext
  private var rows: TableReader
  private var columns: [String]?
  private var identity = ContentIdentity("Todoist")
  private var section: String?
  /// The tasks above the next one, outermost first.
  private var ancestors: [UUID] = []
  /// A task whose notes may follow.
  private var pending: (document: TaskDocument, position: TextPosition)?

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    rows = TableReader(input)
  }

  var byteCount: Int64 { rows.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (row, position) = try nextRow() {
      let content = row["CONTENT"] ?? ""
      switch row["TYPE"]?.lowercased() {
      case "task":
        let finished = pending
        pending = (try task(row, position), position)
        if let finished { return (finished.document, finished.position) }
      case "section":
        section = content
        ancestors = []
        if let finished = pending {
          pending = nil
          return (finished.document, finished.position)
        }
      case "note": addNote(content)
      default: continue
      }
    }
    defer { pending = nil }
    return pending.map { ($0.document, $0.position) }
  }

  private func nextRow() throws -> ([String: String], TextPosition)? {
    if columns == nil {
      guard let head = try rows.next() else { return nil }
      columns = head.map { $0.text.trimmed.uppercased() }
      guard columns?.contains("TYPE") == true, columns?.contains("CONTENT") == true else {
        throw TallyError.malformed("The first row does not have the columns TYPE and CONTENT", line: 1)
      }
    }
    guard let row = try rows.next(), let columns else { return nil }
    let cells = zip(columns, row).map { ($0, $1.text) }.filter { !$0.1.isEmpty }
    return (Dictionary(cells) { first, _ in first }, row[0].position)
  }

  private func addNote(_ note: String) {
    guard var document = pending?.document, !note.isEmpty else { return }
    let notes = [document[.notes]?.text, note].compactMap(\.self).joined(separator: "\n")
    document[.notes] = .text(notes)
    pending?.document = document
  }

  private func task(_ row: [String: String], _ position: TextPosition) throws -> TaskDocument {
    var document = TaskDocument()
    let content = row["CONTENT"] ?? ""
    let labels = content.split(separator: " ").filter { $0.count > 1 && $0.hasPrefix("@") }
    let title = content.split(separator: " ").filter { !labels.contains($0) }.joined(separator: " ")
    document[.text] = .text(title.isEmpty ? content : title)
    if let notes = row["DESCRIPTION"] { document[.notes] = .text(notes) }
    if !labels.isEmpty { document[.tags] = .tags(TagSet(labels.map { String($0.dropFirst()) })) }
    document[.priority] = ["1": .high, "2": .medium, "3": .low][row["PRIORITY"] ?? ""].map { .priority($0) }
    document.listName = section
    readDate(row, into: &document)
    keepOthers(of: row, in: &document)
    let depth = max(0, (Int(row["INDENT"] ?? "1") ?? 1) - 1)
    ancestors = Array(ancestors.prefix(depth))
    if let parent = ancestors.last { document[.parentID] = .id(parent) }
    identity.identify(&document, by: section ?? "", "\(ancestors)", content, row["DATE"] ?? "")
    if let id = document[.id]?.id { ancestors.append(id) }
    return document
  }

  /// A date is a recurrence, a day or a time in words.
  private func readDate(_ row: [String: String], into document: inout TaskDocument) {
    guard let text = row["DATE"], ["en", nil].contains(row["DATE_LANG"]) else { return }
    let reference = DateReference(now: context.now, calendar: context.calendar)
    if let recurrence = try? Recurrence(phrase: text) {
      document[.recurrence] = .recurrence(recurrence)
    } else if let day = try? CalendarDay(iso8601: text) {
      document[.dueDay] = .day(day)
    } else {
      switch try? DateExpression(text).resolved(against: reference) {
      case .day(let day)?: document[.dueDay] = .day(day)
      case .instant(let instant)?: document[.dueDate] = .instant(instant)
      case nil: break
      }
    }
  }

  /// Keeps what Tally has no field for, and a date that was not understood or counts from the day of the import.
  private func keepOthers(of row: [String: String], in document: inout TaskDocument) {
    let known: Set = ["TYPE", "CONTENT", "DESCRIPTION", "PRIORITY", "INDENT", "DATE_LANG"]
    var attributes: [String: AttributeValue] = [:]
    for (name, text) in row where !known.contains(name) { attributes[name] = .text(text) }
    document.set(attributes)
  }
}
