import Foundation
import Tally

/// Reads the items of checklists; headings are lists, and everything else is skipped with a remark.
final class ChecklistSource: LineSource {
  private var heading: String?
  /// The items above the next one, with their indentation.
  private var ancestors: [(indentation: Int, id: UUID)] = []
  /// The line after the notes of an item.
  private var pending: TextLine?
  private var isAtStart = true

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let line = try pending.take() ?? lines.next() {
      defer { isAtStart = false }
      if let isEnd = Self.end(ofBlockBeginningWith: line.text, isAtStart: isAtStart) {
        context.remarks.add(isAtStart && line.text == "---" ? "front matter" : "code", line.text, at: line.position)
        while let next = try lines.next(), !isEnd(next.text.trimmed) {}
        continue
      }
      let read = ChecklistLine(line.text)
      if read.headingLevel != nil {
        let name = ChecklistRecord.listName(read.text)
        heading = name.isEmpty ? nil : name
        ancestors = []
      } else if let mark = read.mark, !read.text.trimmed.isEmpty {
        context.remarks.position = line.position
        var record = ChecklistRecord(mark: mark, text: read.text, under: heading)
        try readNotes(into: &record, under: read.indentation)
        return (task(record, read.indentation), line.position)
      } else if !read.text.trimmed.isEmpty {
        if read.indentation == 0 { ancestors = [] }
        context.remarks.add("text", read.text, at: line.position)
      }
    }
    return nil
  }

  /// A test for the end of a fenced code block or of front matter; `nil` if the line begins neither.
  private static func end(ofBlockBeginningWith line: String, isAtStart: Bool) -> ((String) -> Bool)? {
    if isAtStart, line == "---" { return { $0 == "---" || $0 == "..." } }
    let fence = line.trimmed.prefix { $0 == "`" || $0 == "~" }
    guard fence.count >= 3, let sign = fence.first, Set(fence).count == 1 else { return nil }
    return { $0.count >= fence.count && $0.allSatisfy { $0 == sign } }
  }

  /// Notes are the indented lines under an item, with empty lines between them, up to another item.
  private func readNotes(into record: inout ChecklistRecord, under indentation: Int) throws {
    var emptyCount = 0
    while let line = try lines.next() {
      let read = ChecklistLine(line.text)
      if read.text.trimmed.isEmpty {
        emptyCount += record.notes.isEmpty ? 0 : 1
        continue
      }
      guard !read.isItem, read.indentation > indentation else { return pending = line }
      record.notes += Array(repeating: "", count: emptyCount) + [Self.unindented(line.text, under: indentation)]
      emptyCount = 0
    }
  }

  /// A line of notes without the indentation of its item and two further blanks.
  private static func unindented(_ line: String, under indentation: Int) -> String {
    var scalars = line.unicodeScalars[...]
    for _ in 0..<indentation + 2 where scalars.first == " " { scalars.removeFirst() }
    return String(scalars)
  }

  private func task(_ record: ChecklistRecord, _ indentation: Int) -> TaskDocument {
    ancestors.removeAll { $0.indentation >= indentation }
    var document = record.importing(context)
    document[.parentID] = (ancestors.last?.id).map { .id($0) }
    identity.identify(&document, by: record.contents)
    if let id = document[.id]?.id { ancestors.append((indentation, id)) }
    return document
  }
}

/// Writes a checklist under a heading for each list, sub-tasks under their tasks.
struct ChecklistWriter: DocumentWriter {
  private let context: FormatContext
  private var tasks: [(task: TaskItem, list: TaskList?)] = []
  var bytes: [UInt8] = []

  init(_ context: FormatContext) { self.context = context }

  mutating func begin() {}

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) { tasks.append((task, list)) }

  /// Writes the tasks without a list first, because a task after a heading belongs to the list of that heading.
  mutating func end() {
    let subtasks = Dictionary(grouping: tasks.filter { $0.task.parentID != nil }) { $0.task.parentID }
    let roots = Dictionary(grouping: tasks.filter { $0.task.parentID == nil }) { $0.list }
    for list in roots.keys.sorted(by: {
      ($0?.sortOrder ?? .min, $0?.name ?? "") < ($1?.sortOrder ?? .min, $1?.name ?? "")
    }) {
      if let list { append(["", ChecklistRecord.heading(list.name), ""], indentation: 0) }
      for (task, _) in roots[list] ?? [] { write(task, list, subtasks, depth: 0) }
    }
    tasks = []
  }

  private mutating func write(
    _ task: TaskItem, _ list: TaskList?, _ subtasks: [UUID?: [(task: TaskItem, list: TaskList?)]], depth: Int
  ) {
    var plain = task
    // The indentation shows the parent.
    plain.parentID = nil
    append(ChecklistRecord.exporting(plain, in: list?.name, context).lines, indentation: 2 * depth)
    for (subtask, _) in subtasks[task.id] ?? [] { write(subtask, list, subtasks, depth: depth + 1) }
  }

  private mutating func append(_ lines: [String], indentation: Int) {
    for line in lines where !(line.isEmpty && bytes.isEmpty) {
      if !line.isEmpty { bytes += [UInt8](repeating: UInt8(ascii: " "), count: indentation) }
      bytes += Array(line.utf8) + [UInt8(ascii: "\n")]
    }
  }
}

/// A line of a document in Markdown: an item of a checklist, a heading or anything else.
struct ChecklistLine {
  /// The blanks before it; a tab counts as four.
  let indentation: Int
  /// The mark between the brackets, for an item.
  private(set) var mark: Character?
  /// The text after the mark or the signs of a heading, or the whole line.
  private(set) var text: String
  /// The depth of a heading.
  private(set) var headingLevel: Int?

  var isItem: Bool { mark != nil }

  init(_ line: String) {
    // As scalars, since a combining mark may follow a blank.
    let scalars = line.unicodeScalars
    indentation = scalars.prefix { $0 == " " || $0 == "\t" }.reduce(0) { $0 + ($1 == "\t" ? 4 : 1) }
    let body = Substring(scalars.drop { $0 == " " || $0 == "\t" })
    text = String(body)
    if let match = body.prefixMatch(
      of: /(?:[-*+]|[0-9]+[.)])[ ]+\[(.)\](?:[ ](.*))?$/.matchingSemantics(.unicodeScalar))
    {
      // Besides the marks for open, done and started tasks there are cancelled ones and those of note-taking programs.
      if " xX/-~<>!?*".contains(match.1) { (mark, text) = (Character(String(match.1)), String(match.2 ?? "")) }
    } else if indentation < 4,
      let match = body.prefixMatch(of: /(#{1,6})[ ]+(.*?)[ ]*#*$/.matchingSemantics(.unicodeScalar))
    {
      (headingLevel, text) = (match.1.count, String(match.2))
    }
  }
}

/// An item of a checklist: `- [x] Water the plants #garden due:2026-11-21`, and lines of notes under it.
///
/// Source: "Task list items (extension)", GitHub Flavored Markdown, section 5.3. What the words cannot express is in a
/// comment at the end of the line, which no viewer shows.
struct ChecklistRecord: ForeignRecord {
  fileprivate static let commentStart = "<!-- tally {"
  fileprivate static let commentEnd = "-->"

  private var mark: Character
  private var text: String
  var notes: [String] = []
  /// The list, which is the heading above.
  private(set) var heading: String?
  var exact: String?

  static func isLocal(_ task: TaskItem) -> Bool { task.dueDate != nil }

  /// Reads the text after the mark.
  init(mark: Character, text: String, under heading: String?) {
    (self.mark, self.heading) = (mark, heading)
    self.text = text.trimmingCharacters(in: .whitespaces)
    guard let start = text.range(of: Self.commentStart, options: .backwards),
      let end = text.range(of: Self.commentEnd, range: start.upperBound..<text.endIndex)
    else { return }
    exact = "{" + text[start.upperBound..<end.lowerBound]
    self.text = (text[..<start.lowerBound] + text[end.upperBound...]).trimmingCharacters(in: .whitespaces)
  }

  /// The line, without its indentation, and the lines of the notes.
  var lines: [String] {
    var line = "- [\(mark)] \(text)"
    if let exact { line += " \(Self.commentStart)\(Self.commentText(exact).dropFirst())\(Self.commentEnd)" }
    return [line] + notes.map { $0.isEmpty ? "" : "  " + $0 }
  }

  /// JSON that cannot end a comment or a line.
  ///
  /// The characters that could do so occur only in JSON strings, where an escape means the same.
  private static func commentText(_ json: String) -> String {
    var text = ""
    for scalar in json.unicodeScalars {
      let isSafe = scalar != ">" && scalar != "-" && (scalar == " " || !scalar.properties.isWhitespace)
      if isSafe || scalar == "-" && text.last != "-" {
        text.unicodeScalars.append(scalar)
      } else {
        text += scalar.escapedInJSON
      }
    }
    return text
  }

  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    // Earlier versions kept a cancelled task as a completed one with this attribute.
    let isCancelled = task.isCancelled || task.isCompleted && task.attributes["STATUS"] == "CANCELLED"
    mark = isCancelled ? "-" : task.isCompleted ? "x" : " "
    heading = list
    var words = [Self.plain(task.title)]
    for tag in task.tags where Self.isTag(tag) { words.append("#\(tag)") }
    if let due = task.dueDay(in: context.timeZone) { words.append("due:\(due)") }
    text = words.joined(separator: " ")
    self = ChecklistRecord(mark: mark, text: text, under: list)
    guard let notes = task.notes, !notes.isEmpty else { return }
    self.notes = notes.split(separator: "\n", omittingEmptySubsequences: false).map { Self.plain(String($0)) }
    // An item in the notes would be read as a task, and empty lines at the start or the end would be lost.
    let isExact = self.notes.contains { ChecklistLine($0).isItem || $0.hasPrefix("#") }
    if isExact || self.notes.first?.trimmed.isEmpty ?? true || self.notes.last?.trimmed.isEmpty ?? true {
      self.notes = []
    }
  }

  private static func plain(_ text: String) -> String {
    text.blanking { $0.properties.isWhitespace || $0.isControl }.trimmingCharacters(in: .whitespaces)
  }

  /// Whether a text can be a tag: a number alone is usually that of an issue.
  private static func isTag(_ text: String) -> Bool {
    !text.isEmpty && !text.allSatisfy(\.isNumber) && !text.unicodeScalars.contains { $0.properties.isWhitespace }
  }

  func document(_ context: FormatContext) -> TaskDocument {
    let marks = NotebookMarks(text, context)
    var document = marks.document
    var words = marks.text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).map(Substring.init)
    var tags: [String] = []
    while words.count > 1, let word = words.last {
      if word.hasPrefix("#"), Self.isTag(String(word.dropFirst())), !word.dropFirst().contains("#") {
        tags.append(String(word.dropFirst()))
      } else if word.hasPrefix("due:"), let day = try? CalendarDay(iso8601: String(word.dropFirst(4))) {
        document[.dueDay] = .day(day)
      } else if !word.isEmpty {
        break
      }
      words.removeLast()
    }
    document[.text] = .text(words.joined(separator: " "))
    document[.tags] = tags.isEmpty ? nil : .tags(TagSet(tags.reversed()))
    document[.notes] = notes.isEmpty ? nil : .text(notes.joined(separator: "\n"))
    let isCancelled = mark == "-" || mark == "~"
    let isClosed = mark == "x" || mark == "X" || isCancelled
    if "<>!?*".contains(mark) { context.remarks.add("state", "[\(mark)] \(text)") }
    let open: TaskState = mark == "/" ? .active : .notStarted
    let day = isCancelled ? marks.cancelled ?? marks.completed : marks.completed
    document.setState(
      isCancelled ? .cancelled : isClosed ? .completed : open, at: day.map(context.noon) ?? context.undatedCompletion)
    if isClosed { document.latestCompletion = .latest }
    document.listName = heading
    document[.listID] = nil
    return document
  }

  /// The identity of an item without an id: its text and its heading.
  var contents: String { "\(heading ?? "")\u{1E}\(text)" }

  /// The heading of a list, with its name in a comment where the name cannot be read back from the words.
  static func heading(_ name: String) -> String {
    let text = plain(name)
    let read = ChecklistLine("# " + text)
    if read.headingLevel == 1, listName(read.text).utf8.elementsEqual(name.utf8) { return "# " + text }
    let empty = TaskItem(id: UUID(namedBy: ""), title: "", createdAt: .earliest)
    let exact = TaskDocument.text(of: empty, [], TaskDocument.Surroundings(list: .some(name)))
    return "# \(text) \(commentStart)\(commentText(exact).dropFirst())\(commentEnd)"
  }

  /// The name of the list under a heading.
  static func listName(_ heading: String) -> String {
    let record = ChecklistRecord(mark: " ", text: heading, under: nil)
    let exact = record.exact.flatMap { try? TaskDocument.read($0).surroundings.list }
    return (exact ?? nil) ?? record.text
  }
}

/// Dates and other fields that notebook programs write after the text of an item:
/// `Clean 🔁 every week 📅 2026-12-01 #home`.
///
/// Source: the documentation of the plug-in Tasks for Obsidian, its formats "Emoji" and "Dataview":
/// `[due:: 2026-12-01]`.
struct NotebookMarks {
  /// The text without the parts that were understood.
  private(set) var text: String
  /// The fields that the marks set; the due day, the due date and the attributes are `nil` if no mark sets them.
  private(set) var document = TaskDocument()
  private(set) var completed: CalendarDay?
  private(set) var cancelled: CalendarDay?

  private static let signs: [(sign: String, name: String)] = [
    ("📅", "due"), ("📆", "due"), ("🗓", "due"), ("⏳", "scheduled"), ("⌛", "scheduled"), ("🛫", "start"),
    ("➕", "created"), ("✅", "completion"), ("❌", "cancelled"), ("🔁", "repeat"), ("🔺", "highest"), ("⏫", "high"),
    ("🔼", "medium"), ("🔽", "low"), ("⏬", "lowest"), ("🆔", "id"), ("⛔", "dependsOn"), ("🏁", "onCompletion"),
  ]
  private static let priorities: [String: Priority] = [
    "highest": .high, "high": .high, "medium": .medium, "low": .low, "lowest": .low,
  ]

  /// Reads the marks of a text; a mark that is not understood stays in the text, with a remark.
  init(_ text: String, _ context: FormatContext) {
    self.text = text
    (document[.dueDay], document[.dueDate], document[.attributes]) = (nil, nil, nil)
    // Most texts have none: one pass over the bytes is cheaper than a search for each sign.
    guard text.utf8.contains(where: { $0 >= 0xE2 }) || text.contains("::") else { return }
    readSigns(context)
    readBrackets(context)
  }

  /// Reads the words between each sign and the next; tags stay in the text.
  private mutating func readSigns(_ context: FormatContext) {
    var starts: [(range: Range<String.Index>, name: String)] = []
    for (sign, name) in Self.signs {
      for range in text.ranges(of: sign) { starts.append((range, name)) }
    }
    starts.sort { $0.range.lowerBound < $1.range.lowerBound }
    guard let first = starts.first else { return }
    var rest = String(text[..<first.range.lowerBound]).trimmed
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : text.endIndex
      let words = text[start.range.upperBound..<end].split { $0 == " " || $0 == "\u{FE0F}" }
      let value = words.prefix { !$0.hasPrefix("#") }.joined(separator: " ")
      let isUnderstood = read(start.name, value, context)
      let others = isUnderstood ? words.drop { !$0.hasPrefix("#") } : words[...]
      rest += (isUnderstood ? "" : " " + text[start.range]) + others.map { " " + $0 }.joined()
    }
    text = rest
  }

  private mutating func readBrackets(_ context: FormatContext) {
    for match in text.matches(of: /[ ]?[\[(](\w+)::[ ]*([^\])]*)[\])]/).reversed() {
      let value = String(match.2).trimmed
      let isPriority = match.1 == "priority"
      guard isPriority || Self.signs.contains(where: { $0.name == match.1 }) else { continue }
      if read(isPriority ? value : String(match.1), isPriority ? "" : value, context) {
        text.removeSubrange(match.range)
      }
    }
  }

  /// Reads one value.
  ///
  /// - Returns: Whether it was understood.
  private mutating func read(_ name: String, _ value: String, _ context: FormatContext) -> Bool {
    if let priority = Self.priorities[name] {
      // A priority has no words: a sign that words follow stays in the text.
      if value.isEmpty { document[.priority] = .priority(priority) }
      return value.isEmpty
    }
    if ["start", "id", "dependsOn", "onCompletion"].contains(name) {
      let kind = name == "start" ? "date" : "attribute"
      document.store(value, as: name, remark: kind, "\(name) \(value)", context)
      return true
    }
    if name == "repeat" {
      let recurrence = try? Recurrence(phrase: value)
      if let recurrence { document[.recurrence] = .recurrence(recurrence) }
      if recurrence == nil { context.remarks.add("recurrence", value) }
      return recurrence != nil
    }
    guard let day = try? CalendarDay(iso8601: value) else {
      context.remarks.add("date", "\(name) \(value)")
      return false
    }
    switch name {
    case "due": document[.dueDay] = .day(day)
    case "scheduled": document[.scheduledDate] = .day(day)
    case "created": document[.createdAt] = .instant(context.start(of: day))
    case "cancelled": cancelled = day
    default: completed = day
    }
    return true
  }
}
