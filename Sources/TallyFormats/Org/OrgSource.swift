internal import Foundation
internal import Tally

/// Reads the headings of org-mode that have a state or a date; the other headings are their lists.
///
/// Source: "The Org Manual", chapters 2, 5, 6 and 8. A heading under a task is its sub-task. Drawers and properties
/// become attributes, and the rest of an entry its notes.
final class OrgSource: ForeignSource {
  private let context: FormatContext
  private var lines: LineReader
  private var identity: ContentIdentity
  private var keywords = OrgKeywords()
  private var fileTags: [String] = []
  /// The headings above the next one: their levels, and either a task or the name of a list.
  private var ancestors: [Ancestor] = []

  private struct Ancestor {
    let level: Int
    var task: UUID?
    var list: String?
    var position: TextPosition
    /// Whether a task is under the heading, which is then its list.
    var hasTasks = false
  }

  /// The heading behind the entry that was read last.
  private var pending: (heading: OrgHeading, line: Line)?

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("org", context)
    lines = LineReader(input, context)
  }

  var byteCount: Int64 { lines.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (heading, line) = try nextHeading() {
      context.remarks.position = line.position
      let entry = try readEntry()
      leaveHeadings(from: heading.level)
      guard heading.keyword != nil || entry.hasDates else {
        let hasContents = !entry.notes.isEmpty || !entry.attributes.isEmpty
        if hasContents { context.remarks.add("text", ([heading.title] + entry.notes).joined(separator: " ")) }
        let list = heading.title.isEmpty ? nil : heading.title
        // A heading with contents already has a remark.
        ancestors.append(
          Ancestor(level: heading.level, list: list, position: line.position, hasTasks: hasContents || list == nil))
        continue
      }
      for index in ancestors.indices { ancestors[index].hasTasks = true }
      let document = task(heading, entry)
      ancestors.append(
        Ancestor(level: heading.level, task: document[.id]?.id, position: line.position, hasTasks: true))
      return (document, line.position)
    }
    leaveHeadings(from: 0)
    return nil
  }

  /// Ends headings; those that are neither a task nor above one are named.
  private func leaveHeadings(from level: Int) {
    while let last = ancestors.last, last.level >= level {
      if !last.hasTasks { context.remarks.add("heading", last.list ?? "", at: last.position) }
      ancestors.removeLast()
    }
  }

  /// The next heading; lines before the first one are file settings.
  private func nextHeading() throws -> (OrgHeading, Line)? {
    if let next = pending.take() { return (next.heading, next.line) }
    while let line = try lines.next() {
      if let heading = OrgHeading(line.text, keywords) { return (heading, line) }
      readSetting(line)
    }
    return nil
  }

  private func readSetting(_ line: Line) {
    let text = line.text.trimmed
    guard let match = text.wholeMatch(of: /#\+(\w+):\s*(.*)/) else {
      if !text.isEmpty, !text.hasPrefix("#"), !text.hasPrefix(":") {
        context.remarks.add("text", text, at: line.position)
      }
      return
    }
    switch match.1.uppercased() {
    case "TODO", "SEQ_TODO", "TYP_TODO": keywords.add(String(match.2))
    case "FILETAGS": fileTags += match.2.split(separator: ":").map(String.init)
    default: break
    }
  }

  /// Reads what belongs to a heading, up to the next one.
  private func readEntry() throws -> OrgEntry {
    var entry = OrgEntry()
    while let line = try lines.next() {
      if let heading = OrgHeading(line.text, keywords) {
        pending = (heading, line)
        break
      }
      entry.read(line.text)
    }
    entry.finish()
    return entry
  }

  private func task(_ heading: OrgHeading, _ entry: OrgEntry) -> TaskDocument {
    var document = TaskDocument()
    var attributes = entry.attributes
    document[.text] = .text(heading.title)
    let notes = entry.notes.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    document[.notes] = notes.isEmpty ? nil : .text(notes)
    let tags = heading.tags + fileTags
    document[.tags] = tags.isEmpty ? nil : .tags(TagSet(tags))
    readPriority(heading, into: &document, &attributes)
    readState(heading, entry, into: &document, &attributes)
    readDates(entry, into: &document, &attributes)
    document.listName = ancestors.last { $0.list != nil }?.list
    document[.parentID] = ancestors.last?.task.map { .id($0) }
    if let text = entry.id { document[.id] = .id(UUID(uuidString: text) ?? UUID(namedBy: "org", text)) }
    document.set(attributes)
    let place = ancestors.compactMap { $0.list ?? $0.task?.uuidString }
    identity.identify(&document, by: place.joined(separator: "/"), heading.title, entry.dates.values.sorted().joined())
    return document
  }

  private func readPriority(
    _ heading: OrgHeading, into document: inout TaskDocument, _ attributes: inout [String: AttributeValue]
  ) {
    guard let letter = heading.priority else { return }
    let priority: Priority? = ["A": .high, "B": .medium, "C": .low][letter]
    document[.priority] = priority.map { .priority($0) }
    guard priority == nil else { return }
    attributes["priority"] = .text(letter)
    context.remarks.add("priority", letter)
  }

  private func readState(
    _ heading: OrgHeading, _ entry: OrgEntry, into document: inout TaskDocument,
    _ attributes: inout [String: AttributeValue]
  ) {
    let keyword = heading.keyword ?? ""
    let isClosed = keywords.isClosed(keyword)
    let isActive = ["STARTED", "DOING", "INPROGRESS", "IN-PROGRESS", "STRT"].contains(keyword)
    document[.state] = .state(isClosed ? .completed : isActive ? .active : .notStarted)
    if isClosed, TableValue.isCancelled(keyword) || keyword == "KILL" {
      attributes["STATUS"] = "CANCELLED"
    } else if !["", "TODO", "DONE"].contains(keyword), !isActive {
      // Waiting, next and the like are no states of Tally.
      attributes["org state"] = .text(keyword)
      context.remarks.add("state", keyword)
    }
    guard isClosed else { return }
    let closed = entry.dates["CLOSED"].flatMap { OrgDate($0, context) }
    if closed == nil, let text = entry.dates["CLOSED"] {
      attributes["CLOSED"] = .text(text)
      context.remarks.add("date", "CLOSED: \(text)")
    }
    document[.completedAt] = .offsetInstant(
      closed.map { TableValue.completion($0.date, context) } ?? context.undatedCompletion)
    document.latestCompletion = .latest
  }

  private func readDates(
    _ entry: OrgEntry, into document: inout TaskDocument, _ attributes: inout [String: AttributeValue]
  ) {
    for (name, text) in entry.dates.sorted(by: { $0.key < $1.key }) where name != "CLOSED" {
      let date = OrgDate(text, context)
      if date?.isUnderstood != true {
        attributes[name] = .text(text)
        context.remarks.add(date == nil ? "date" : "recurrence", "\(name): \(text)")
      }
      guard let date else { continue }
      if let recurrence = date.recurrence {
        if document[.recurrence] == nil {
          document[.recurrence] = .recurrence(recurrence)
        } else if document[.recurrence] != .recurrence(recurrence) {
          attributes[name] = .text(text)
          context.remarks.add("recurrence", "\(name): \(text)")
        }
      }
      switch (name, date.date) {
      case ("DEADLINE", .day(let day)): document[.dueDay] = .day(day)
      case ("DEADLINE", .instant(let instant)): document[.dueDate] = .instant(instant)
      case (_, .day(let day)): document[.scheduledDate] = .day(day)
      case (_, .instant(let instant)):
        document[.scheduledDate] = .day(context.day(of: instant))
        document[.reminderDate] = .instant(instant)
      }
    }
  }
}
