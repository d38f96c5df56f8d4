import Foundation
import Tally

/// Reads the headings of org-mode that have a state or a date; the other headings are their lists.
///
/// Source: "The Org Manual", chapters 2, 5, 6 and 8. A heading under a task is its sub-task. Drawers and properties
/// become attributes, and the rest of an entry its notes.
final class OrgSource: LineSource {
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

  /// The heading after the entry that was read last.
  private var pending: (heading: OrgHeading, line: TextLine)?

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (heading, line) = try nextHeading() {
      context.remarks.position = line.position
      let entry = try readEntry()
      endHeadings(from: heading.level)
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
      ancestors.append(Ancestor(level: heading.level, task: document[.id]?.id, position: line.position, hasTasks: true))
      return (document, line.position)
    }
    endHeadings(from: 0)
    return nil
  }

  /// Ends headings; those that are neither a task nor above one are named.
  private func endHeadings(from level: Int) {
    while let last = ancestors.last, last.level >= level {
      if !last.hasTasks { context.remarks.add("heading", last.list ?? "", at: last.position) }
      ancestors.removeLast()
    }
  }

  /// The next heading; lines before the first one are file settings.
  private func nextHeading() throws -> (OrgHeading, TextLine)? {
    if let next = pending.take() { return (next.heading, next.line) }
    while let line = try lines.next() {
      if let heading = OrgHeading(line.text, keywords) { return (heading, line) }
      readSetting(line)
    }
    return nil
  }

  private func readSetting(_ line: TextLine) {
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
      entry.read(line)
    }
    entry.finish()
    return entry
  }

  private func task(_ heading: OrgHeading, _ entry: OrgEntry) -> TaskDocument {
    var document = TaskDocument()
    document.attributes = entry.attributes
    document[.text] = .text(heading.title)
    let notes = entry.notes.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    document[.notes] = notes.isEmpty ? nil : .text(notes)
    let tags = heading.tags + fileTags
    document[.tags] = tags.isEmpty ? nil : .tags(TagSet(tags))
    readPriority(heading, into: &document)
    readState(heading, entry, into: &document)
    readDates(entry, into: &document)
    for (kind, line) in entry.remarks { context.remarks.add(kind, line.text.trimmed, at: line.position) }
    document.listName = ancestors.last { $0.list != nil }?.list
    document[.parentID] = ancestors.last?.task.map { .id($0) }
    if let text = entry.id { document[.id] = .id(UUID(uuidString: text) ?? UUID(namedBy: "org", text)) }
    let place = ancestors.compactMap { $0.list ?? $0.task?.uuidString }
    identity.identify(&document, by: place.joined(separator: "/"), heading.title, entry.dates.values.sorted().joined())
    return document
  }

  private func readPriority(_ heading: OrgHeading, into document: inout TaskDocument) {
    guard let letter = heading.priority else { return }
    let priority: Priority? = ["A": .high, "B": .medium, "C": .low][letter]
    document[.priority] = priority.map { .priority($0) }
    if priority == nil { document.store(letter, as: "priority", remark: "priority", letter, context) }
  }

  private func readState(_ heading: OrgHeading, _ entry: OrgEntry, into document: inout TaskDocument) {
    let keyword = heading.keyword ?? ""
    let isClosed = keywords.isClosed(keyword)
    let isActive = ["STARTED", "DOING", "INPROGRESS", "IN-PROGRESS", "STRT"].contains(keyword)
    let isCancelled = isClosed && (TableValue.isCancelled(keyword) || keyword == "KILL")
    document[.state] = .state(isClosed ? .completed : isActive ? .active : .notStarted)
    if !isCancelled, !["", "TODO", "DONE"].contains(keyword), !isActive {
      // Waiting, next and the like are no states of Tally.
      document.store(keyword, as: "org state", remark: "state", keyword, context)
    }
    guard isClosed else { return }
    let closed = entry.dates["CLOSED"].flatMap { OrgDate($0, context) }
    if closed == nil, let text = entry.dates["CLOSED"] {
      context.remarks.position = entry.positions["CLOSED"]
      document.store(text, as: "CLOSED", remark: "date", "CLOSED: \(text)", context)
    }
    document.setState(
      isCancelled ? .cancelled : .completed,
      at: closed.map { TableValue.completion($0.date, context) } ?? context.undatedCompletion)
    document.latestCompletion = .latest
  }

  private func readDates(_ entry: OrgEntry, into document: inout TaskDocument) {
    for (name, text) in entry.dates.sorted(by: { $0.key < $1.key }) where name != "CLOSED" {
      let date = OrgDate(text, context)
      context.remarks.position = entry.positions[name]
      if let fault = date == nil ? "date" : date?.fault {
        document.store(text, as: name, remark: fault, "\(name): \(text)", context)
      }
      guard let date else { continue }
      if let recurrence = date.recurrence {
        if document[.recurrence] == nil {
          document[.recurrence] = .recurrence(recurrence)
        } else if document[.recurrence] != .recurrence(recurrence), date.fault == nil {
          document.store(text, as: name, remark: "recurrence", "\(name): \(text)", context)
        }
      }
      if name == "DEADLINE" {
        document.setDue(date.date)
      } else {
        document[.scheduledDate] = .day(date.date.day(context))
        if case .instant(let instant) = date.date { document[.reminderDate] = .instant(instant) }
      }
    }
  }
}

/// The states of a file's headings: those for open tasks and those for closed ones.
struct OrgKeywords {
  private var open: Set = [
    "TODO", "NEXT", "STARTED", "DOING", "INPROGRESS", "IN-PROGRESS", "STRT", "WAIT", "WAITING", "HOLD", "SOMEDAY",
    "PROJ",
  ]
  private var closed: Set = ["DONE", "CANCELLED", "CANCELED", "KILL"]

  /// Adds the states that a file names: `NEXT(n) WAIT | DONE CANCELLED(c@)`; without a bar the last one is closed.
  mutating func add(_ text: String) {
    let words = text.split(separator: " ").map { String($0.prefix { $0 != "(" }) }
    let bar = words.firstIndex(of: "|") ?? max(words.count - 1, 1)
    for (index, word) in words.enumerated() where word != "|" {
      if index < bar {
        open.insert(word)
        closed.remove(word)
      } else {
        closed.insert(word)
        open.remove(word)
      }
    }
  }

  func contains(_ word: String) -> Bool { open.contains(word) || closed.contains(word) }

  func isClosed(_ word: String) -> Bool { closed.contains(word) }
}

/// A heading: `** NEXT [#A] Title :home:garden:`.
struct OrgHeading {
  let level: Int
  private(set) var keyword: String?
  private(set) var priority: String?
  private(set) var title: String
  private(set) var tags: [String] = []

  /// `nil` for another line.
  init?(_ line: String, _ keywords: OrgKeywords) {
    level = line.prefix { $0 == "*" }.count
    let rest = line.dropFirst(level)
    guard level > 0, rest.first == " " || rest.isEmpty else { return nil }
    title = String(rest).trimmed
    if let word = title.split(separator: " ").first.map(String.init), keywords.contains(word) {
      keyword = word
      title = String(title.dropFirst(word.count)).trimmed
    }
    if let match = title.prefixMatch(of: /\[#(\w+)\]\s*/) {
      priority = match.1.uppercased()
      title = String(title[match.range.upperBound...])
    }
    if let match = title.firstMatch(of: /(?:^|\s+):([\w@#%:]+):$/) {
      tags = match.1.split(separator: ":").map(String.init)
      title = String(title[..<match.range.lowerBound]).trimmed
    }
  }
}

/// The content under a heading.
struct OrgEntry {
  /// The texts after `SCHEDULED:`, `DEADLINE:` and `CLOSED:`.
  private(set) var dates: [String: String] = [:]
  private(set) var id: String?
  private(set) var attributes: [String: AttributeValue] = [:]
  private(set) var notes: [String] = []
  /// Where the dates are.
  private(set) var positions: [String: TextPosition] = [:]
  /// The lines that are kept and mean more than a text, each with the kind of its remark.
  private(set) var remarks: [(kind: String, line: TextLine)] = []
  /// The drawer that is being read, and its lines.
  private var drawer: (name: String, lines: [String])?

  /// Whether the entry has a date that makes a task of its heading.
  var hasDates: Bool { dates["SCHEDULED"] != nil || dates["DEADLINE"] != nil }

  private static var planning: Regex<(Substring, Substring, Substring)> {
    /(SCHEDULED|DEADLINE|CLOSED):\s*([<\[][^>\]]*[>\]](?:--[<\[][^>\]]*[>\]])?)/
  }

  /// Ends the entry; the lines of a drawer without an end are notes.
  mutating func finish() {
    guard let (name, lines) = drawer.take() else { return }
    notes += [":\(name):"] + lines
  }

  /// Reads a line.
  mutating func read(_ line: TextLine) {
    let text = line.text.trimmed
    // Times of work, and dates of the agenda that are neither of the planning.
    if text.hasPrefix("CLOCK:") { remarks.append(("clock", line)) }
    if text.prefixMatch(of: /<\d{4}-\d{2}-\d{2}/) != nil { remarks.append(("date", line)) }
    if var open = drawer {
      open.lines.append(text)
      drawer = open
      if text.uppercased() == ":END:" { closeDrawer() }
    } else if let match = text.wholeMatch(of: /:([\w-]+):/) {
      drawer = (String(match.1), [])
    } else if notes.isEmpty, text.prefixMatch(of: /(?:SCHEDULED|DEADLINE|CLOSED):/) != nil {
      var rest = text
      for match in text.matches(of: Self.planning).reversed() {
        dates[String(match.1)] = String(match.2)
        positions[String(match.1)] = line.position
        rest.removeSubrange(match.range)
      }
      // A person has written the words beside the dates: they are notes.
      if !rest.trimmed.isEmpty { notes.append(rest.trimmed) }
    } else if !notes.isEmpty || !text.isEmpty {
      notes.append(line.text)
    }
  }

  private mutating func closeDrawer() {
    guard let (name, lines) = drawer.take() else { return }
    guard name.uppercased() == "PROPERTIES" else {
      // A second drawer of a name continues the first.
      let texts: [String?] = [attributes[name.uppercased()]?.text, lines.dropLast().joined(separator: "\n")]
      return attributes[name.uppercased()] = .text(texts.compactMap(\.self).joined(separator: "\n"))
    }
    for line in lines.dropLast() {
      guard let match = line.wholeMatch(of: /:([^:\s]+):\s*(.*)/) else {
        notes.append(line)
        continue
      }
      if match.1.uppercased() == "ID" {
        id = String(match.2)
      } else {
        attributes[String(match.1)] = .text(String(match.2))
      }
    }
  }
}

/// A date: `<2026-04-15 Wed 09:00 +1w -2d>`.
struct OrgDate {
  let date: WrittenDate
  private(set) var recurrence: Recurrence?
  /// The kind of a remark about words that are not in the date or the recurrence; `nil` if there are none.
  private(set) var fault: String?

  /// `nil` unless the text begins with a day.
  init?(_ text: String, _ context: FormatContext) {
    let words = text.drop { "<[".contains($0) }.prefix { !">]".contains($0) }.split(separator: " ").map(String.init)
    guard let first = words.first, let day = try? CalendarDay(iso8601: first) else { return nil }
    var date = WrittenDate.day(day)
    // The end of a range has no field.
    if text.contains("--") { fault = "date" }
    for word in words.dropFirst() {
      if let match = word.wholeMatch(of: /(\d{1,2}:\d{2})(-\d{1,2}:\d{2})?/),
        let time = WrittenDate("\(first) \(match.1)", context)
      {
        date = time
        if match.2 != nil { fault = "date" }
      } else if let match = word.wholeMatch(of: /(\+|\+\+|\.\+)(\d+)([hdwmy])(?:\/\d+[hdwmy])?/) {
        recurrence = Self.recurrence(String(match.1), String(match.2), String(match.3))
        // After `+`, org comes to each day that was missed, and habits have a second interval.
        if recurrence == nil || match.1 == "+" || word.contains("/") { fault = "recurrence" }
      } else if word.contains(where: \.isNumber) {
        fault = "recurrence"
      }
    }
    self.date = date
    // An entry without a time cannot say at which hours it repeats.
    if case .day = date, recurrence?.hours != nil { (recurrence, fault) = (nil, "recurrence") }
  }

  private static func recurrence(_ mark: String, _ count: String, _ unit: String) -> Recurrence? {
    let units = [
      "h": ("HOURLY", "hours"), "d": ("DAILY", "days"), "w": ("WEEKLY", "weeks"), "m": ("MONTHLY", "months"),
      "y": ("YEARLY", "years"),
    ]
    guard let (frequency, name) = units[unit] else { return nil }
    return try? mark == ".+"
      ? Recurrence(text: "after \(count) \(count == "1" ? String(name.dropLast()) : name)")
      : Recurrence(text: "FREQ=\(frequency);INTERVAL=\(count)")
  }
}
