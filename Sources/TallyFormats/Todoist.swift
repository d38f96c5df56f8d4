import Foundation
import Tally

/// Reads a project as Todoist exports it: rows of tasks, sections and notes.
///
/// Source: "Import or export a project as a CSV file in Todoist", its help pages. Of priorities, 1 is the highest and 4
/// is none. Labels are words of the content with an `@`. The file has the name of the project, which becomes the list.
final class TodoistSource: RowSource {
  private lazy var project = context.options.source.flatMap(Self.project)
  private var section: String?
  /// The tasks above the next one, outermost first.
  private var ancestors: [UUID] = []
  /// The columns without a field that have been named.
  private var namedColumns: Set<String> = []
  /// A task whose notes may follow.
  private var pending: (document: TaskDocument, position: TextPosition)?

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (row, position) = try nextRow() {
      let content = row["CONTENT"] ?? ""
      switch row["TYPE"]?.lowercased() {
      case "task":
        let finished = pending
        pending = (task(row, position), position)
        if let finished { return (finished.document, finished.position) }
      case "section":
        section = content
        ancestors = []
        if let finished = pending.take() { return (finished.document, finished.position) }
      case "note": addNote(content)
      case let type?:
        if type != "meta" { context.remarks.add("row", "\(type) \(content)", at: position) }
      case nil: continue
      }
    }
    return pending.take().map { ($0.document, $0.position) }
  }

  private func nextRow() throws -> (cells: [String: String], position: TextPosition)? {
    if columns == nil {
      guard let head = try rows.next() else { return nil }
      columns = head.map { $0.text.trimmed.uppercased() }
      guard columns?.contains("TYPE") == true, columns?.contains("CONTENT") == true else {
        throw TallyError.malformed("This is not a file of Todoist: it lacks the columns TYPE and CONTENT", line: 1)
      }
    }
    return try nextCells()
  }

  /// The name of the project that a file's name has: `Garden [2203].csv`.
  private static func project(_ source: String) -> String? {
    guard source.lowercased().hasSuffix(".csv") else { return nil }
    let project = String(source.dropLast(4)).replacing(#/ ?\[[0-9A-Za-z]+\]$/#, with: "").trimmed
    return project.isEmpty ? nil : project
  }

  private func addNote(_ note: String) {
    guard var document = pending?.document, !note.isEmpty else { return }
    let notes = [document[.notes]?.text, note].compactMap(\.self).joined(separator: "\n")
    document[.notes] = .text(notes)
    pending?.document = document
  }

  private func task(_ row: [String: String], _ position: TextPosition) -> TaskDocument {
    var document = TaskDocument()
    let content = row["CONTENT"] ?? ""
    let labels = content.split(separator: " ").filter { $0.count > 1 && $0.hasPrefix("@") }
    let title = content.split(separator: " ").filter { !labels.contains($0) }.joined(separator: " ")
    document[.text] = .text(title.isEmpty ? content : title)
    if let notes = row["DESCRIPTION"] { document[.notes] = .text(notes) }
    if !labels.isEmpty { document[.tags] = .tags(TagSet(labels.map { String($0.dropFirst()) })) }
    document[.priority] = ["1": .high, "2": .medium, "3": .low][row["PRIORITY"] ?? ""].map { .priority($0) }
    document.listName = project ?? section
    context.remarks.position = position
    readDate(row, into: &document)
    addAttributes(of: row, in: &document)
    let depth = max(0, (Int(row["INDENT"] ?? "1") ?? 1) - 1)
    ancestors = Array(ancestors.prefix(depth))
    if let parent = ancestors.last { document[.parentID] = .id(parent) }
    identity.identify(&document, by: section ?? "", "\(ancestors)", content, row["DATE"] ?? "")
    document.fixSeries(to: row["TIMEZONE"], context)
    if let id = document[.id]?.id { ancestors.append(id) }
    return document
  }

  /// A date is a recurrence, perhaps with its first day, or a day or a time, all in words.
  private func readDate(_ row: [String: String], into document: inout TaskDocument) {
    guard let text = row["DATE"] else { return }
    let context = context.in(row["TIMEZONE"])
    let isEnglish = ["en", nil].contains(row["DATE_LANG"])
    if isEnglish, readRecurrence(text, into: &document, context) || setDue(text, in: &document, context) { return }
    context.remarks.add(text.lowercased().hasPrefix("ev") ? "recurrence" : "date", text)
  }

  /// Reads a recurrence with its first day and its time; quick entry reads more than the phrases of a recurrence.
  private func readRepetition(_ phrase: String, into document: inout TaskDocument, _ context: FormatContext) -> Bool {
    let reference = DateReference(now: context.now, calendar: context.calendar)
    if let written = try? WrittenRecurrence(phrase, reference: reference) {
      document[.recurrence] = .recurrence(written.recurrence)
      document[.dueDay] = written.start.map { .day(written.recurrence.firstDay(onOrAfter: $0) ?? $0) }
      return true
    }
    let entry = QuickEntry.parse("task " + phrase, reference: reference)
    guard let recurrence = entry.recurrence, entry.title == "task" else { return false }
    document[.recurrence] = .recurrence(recurrence)
    document[.dueDate] = (entry.dueDate ?? entry.reminderDate).map { .instant($0) }
    if document[.dueDate] == nil { document[.dueDay] = (entry.dueDay ?? entry.scheduledDate).map { .day($0) } }
    return true
  }

  /// Reads a phrase such as `every 2 weeks starting 5 May` or `every! monday 9:00`.
  private func readRecurrence(_ text: String, into document: inout TaskDocument, _ context: FormatContext) -> Bool {
    let former = document
    var parts = [text[...]]
    if !readRepetition(text, into: &document, context) {
      parts = text.split(separator: #/(?i) (?:starting|from) /#, maxSplits: 1)
      guard parts.count > 1, readRepetition(String(parts[0]), into: &document, context) else { return false }
    }
    if case .recurrence(let recurrence)? = document[.recurrence], recurrence.hours != nil, document[.dueDate] == nil {
      document = former
      return false
    }
    if parts.count > 1, !setDue(String(parts[1]), in: &document, context) { context.remarks.add("date", parts[1]) }
    if document[.dueDay] == nil, document[.dueDate] == nil { setFirstDay(of: &document, context) }
    // Words mean the last day of a month that is too short.
    if case .recurrence(let recurrence)? = document[.recurrence],
      let first = document[.dueDay]?.day ?? document[.dueDate]?.instant.map({ context.day(of: $0) })
    {
      document[.recurrence] = .recurrence(recurrence.inWords(beginningOn: first))
    }
    return true
  }

  private func setDue(_ text: String, in document: inout TaskDocument, _ context: FormatContext) -> Bool {
    guard let date = WrittenDate(text, context) ?? WrittenDate(expression: text, context) else { return false }
    document.setDue(date)
    return true
  }

  /// Sets the date of a recurrence without one to the first day of its rule from today on.
  private func setFirstDay(of document: inout TaskDocument, _ context: FormatContext) {
    guard case .recurrence(let recurrence)? = document[.recurrence] else { return }
    let today = context.day(of: context.now)
    document[.dueDay] = .day(recurrence.firstDay(onOrAfter: today) ?? today)
  }

  /// The columns that are kept and need no remark: those that have a remark of their own if they are not
  /// understood, and those of Todoist alone.
  private static let understood: Set = [
    "DATE", "TIMEZONE", "DEADLINE", "DEADLINE_LANG", "AUTHOR", "IS_COLLAPSED", "PRIORITY", "INDENT",
  ]

  /// Adds attributes for the columns that Tally has no field for.
  ///
  /// They include a date that was not understood, or that counts from the day of the import.
  private func addAttributes(of row: [String: String], in document: inout TaskDocument) {
    var known: Set = ["TYPE", "CONTENT", "DESCRIPTION", "DATE_LANG"]
    if ["1", "2", "3", "4", nil].contains(row["PRIORITY"]) {
      known.insert("PRIORITY")
    } else if let priority = row["PRIORITY"] {
      context.remarks.add("priority", priority)
    }
    if ["1", "2", "3", "4", "5", nil].contains(row["INDENT"]) {
      known.insert("INDENT")
    } else if let indent = row["INDENT"] {
      context.remarks.add("value", "INDENT: \(indent)")
    }
    if let zone = row["TIMEZONE"], TimeZone(identifier: zone) == nil { context.remarks.add("zone", zone) }
    if let deadline = row["DEADLINE"] { context.remarks.add("date", "DEADLINE: \(deadline)") }
    // Todoist writes a unit without a duration.
    let isUnit = { (cell: (key: String, value: String)) in cell.key == "DURATION_UNIT" && row["DURATION"] == nil }
    let others = row.filter { !known.contains($0.key) && !$0.key.isEmpty && !isUnit($0) }
    for name in others.keys.sorted() where !Self.understood.contains(name) && namedColumns.insert(name).inserted {
      context.remarks.add("column", name, isListed: true)
    }
    document.attributes = others.mapValues { .text($0) }
    if let section, project != nil { document.attributes["section"] = .text(section) }
  }
}
