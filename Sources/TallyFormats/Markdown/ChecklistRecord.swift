internal import Foundation
internal import Tally

/// An item of a checklist: `- [x] Water the plants #garden due:2026-11-21`, and lines of notes under it.
///
/// Source: "Task list items (extension)", GitHub Flavored Markdown, section 5.3. What the words cannot say is in a
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

  /// Takes the text behind the mark apart.
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

  /// JSON that does not end a comment or a line: signs that could are in texts alone, where an escape says the same.
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
    mark = task.isCompleted ? task.attributes["STATUS"] == "CANCELLED" ? "-" : "x" : " "
    heading = list
    var words = [Self.plain(task.title)]
    for tag in task.tags where Self.isTag(tag) { words.append("#\(tag)") }
    if let due = task.dueDay(in: context.timeZone) { words.append("due:\(due)") }
    text = words.joined(separator: " ")
    self = ChecklistRecord(mark: mark, text: text, under: list)
    guard let notes = task.notes, !notes.isEmpty else { return }
    self.notes = notes.split(separator: "\n", omittingEmptySubsequences: false).map { Self.plain(String($0)) }
    // An item would be a task. Empty lines at the start or the end would not come back.
    let isExact = self.notes.contains { ChecklistLine($0).isItem || $0.hasPrefix("#") }
    if isExact || self.notes.first?.trimmed.isEmpty ?? true || self.notes.last?.trimmed.isEmpty ?? true {
      self.notes = []
    }
  }

  private static func plain(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.properties.isWhitespace || scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespaces)
  }

  /// A number alone is mostly that of an issue.
  private static func isTag(_ text: String) -> Bool {
    !text.isEmpty && !text.allSatisfy(\.isNumber) && !text.unicodeScalars.contains { $0.properties.isWhitespace }
  }

  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    let noted = NotebookMarks(text, context)
    var words = noted.text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).map(Substring.init)
    var tags: [String] = []
    document[.dueDay] = noted.due.map { .day($0) }
    document[.dueDate] = nil
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
    if let day = noted.planned { document[.scheduledDate] = .day(day) }
    if let day = noted.created { document[.createdAt] = .instant(context.start(of: day)) }
    if let priority = noted.priority { document[.priority] = .priority(priority) }
    if let recurrence = noted.recurrence { document[.recurrence] = .recurrence(recurrence) }
    let isCancelled = mark == "-" || mark == "~"
    let isCompleted = mark == "x" || mark == "X" || isCancelled
    document.set(noted.attributes.merging(isCancelled ? ["STATUS": "CANCELLED"] : [:]) { $1 })
    if "<>!?*".contains(mark) { context.remarks.add("state", "[\(mark)] \(text)") }
    document[.state] = .state(isCompleted ? .completed : mark == "/" ? .active : .notStarted)
    let completed = noted.completed.map(context.noon) ?? context.undatedCompletion
    document[.completedAt] = isCompleted ? .offsetInstant(completed) : nil
    if isCompleted { document.latestCompletion = .latest }
    document.listName = heading
    document[.listID] = nil
    return document
  }

  /// What identifies an item without an id: its text and its heading.
  var contents: String { "\(heading ?? "")\u{1E}\(text)" }
}

extension ChecklistRecord {
  /// The heading of a list, with its name in a comment where the words do not give it back.
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
