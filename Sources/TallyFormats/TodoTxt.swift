import Foundation
import Tally

/// Reads lines of todo.txt; empty ones are skipped.
final class TodoTxtSource: LineSource {
  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let line = try lines.next() {
      guard line.text.contains(where: { !$0.isWhitespace }) else { continue }
      context.remarks.position = line.position
      let record = TodoTxtRecord(line: line.text)
      var document = record.importing(context)
      // A line of nothing but projects, contexts or keys is its own title.
      if document[.text]?.text?.isBlank == true { document[.text] = .text(line.text) }
      identity.identify(&document, by: record.contents)
      return (document, line.position)
    }
    return nil
  }
}

/// Writes a line for each task.
struct TodoTxtWriter: DocumentWriter {
  private let context: FormatContext
  var bytes: [UInt8] = []

  init(_ context: FormatContext) { self.context = context }

  mutating func begin() {}

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    bytes += Array(TodoTxtRecord.exporting(task, in: list?.name, context).line.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  mutating func end() {}
}

/// A line of todo.txt: a mark of completion, a priority, dates, then words, some of which are projects, contexts or
/// pairs of a key and a value.
///
/// Source: "todo.txt format rules", github.com/todotxt/todo.txt. Of the keys, `due:` is widely used, `t:`, `rec:` and
/// `pri:` are those of the "Simpletask" and "topydo" programs. The format has no word for cancelled tasks: they are done
/// lines, which no program shows as open, with `status:cancelled`. A done task that has such a word of its own ends with
/// `status:completed`, as the last such word of a line says how the task ended.
struct TodoTxtRecord: ForeignRecord {
  /// The key of the JSON, without white space, for values that the format cannot express.
  private static let extensionKey = "tally"

  /// Whether the line has the mark of a task that is done, or was cancelled.
  private var isClosed = false
  private var priority: Character?
  private var closed: CalendarDay?
  private var created: CalendarDay?
  private var words: [Substring]
  var exact: String?

  static func isLocal(_ task: TaskItem) -> Bool { true }

  /// Reads a line.
  init(line: String) {
    words = Self.words(of: line)
    // Remove the extension first. Otherwise a title that is only `(B)` reads as a priority.
    let mark = Self.extensionKey + ":{"
    if let index = words.lastIndex(where: { $0.hasPrefix(mark) }) {
      exact = String(words.remove(at: index).dropFirst(mark.count - 1))
    }
    if words.first == "x", words.count > 1 {
      isClosed = true
      words.removeFirst()
    }
    readPriority()
    var dates: [CalendarDay] = []
    while dates.count < (isClosed ? 2 : 1), let day = words.first.flatMap({ Self.day($0) }), words.count > 1 {
      dates.append(day)
      words.removeFirst()
    }
    // A closed task has the date of that first, then perhaps that of the creation; an open task has only the latter.
    if isClosed { (closed, created) = (dates.first, dates.dropFirst().first) } else { created = dates.first }
    // Some programs write the priority after the mark.
    if priority == nil { readPriority() }
  }

  /// The parts between blanks; as scalars, since a combining mark may follow a blank.
  private static func words(of text: String) -> [Substring] {
    text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).map(Substring.init)
  }

  private mutating func readPriority() {
    let word = Array(words.first ?? "")
    guard word.count == 3, word[0] == "(", word[2] == ")", ("A"..."Z").contains(word[1]), words.count > 1 else {
      return
    }
    priority = word[1]
    words.removeFirst()
  }

  /// A day as the format writes it; other forms are words.
  private static func day(_ word: Substring) -> CalendarDay? {
    guard word.utf8.count == 10 else { return nil }
    return try? CalendarDay(iso8601: String(word))
  }

  /// The whole line.
  var line: String {
    var parts: [String] = []
    if isClosed { parts.append("x") }
    if let priority { parts.append("(\(priority))") }
    // Without a date of completion, readers would mistake the date of creation for it.
    if isClosed { parts += [closed, closed == nil ? nil : created].compactMap { $0?.iso8601 } }
    if !isClosed, let created { parts.append(created.iso8601) }
    parts += words.map(String.init)
    if let exact { parts.append(Self.extensionKey + ":" + Self.withoutBlanks(exact)) }
    return parts.joined(separator: " ")
  }

  /// JSON without blanks: this layout has them only in strings, where an escape means the same.
  private static func withoutBlanks(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == " " { text += scalar.escapedInJSON } else { text.unicodeScalars.append(scalar) }
    }
  }

  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    isClosed = task.isClosed
    closed = (task.completedAt ?? task.cancelledAt).flatMap { time in
      time.instant == TaskDocument.longAgo ? nil : context.day(of: time.instant)
    }
    created = context.day(of: task.createdAt)
    words = Self.words(of: Self.plain(task.title))
    let letter = Self.letter(of: task)
    if isClosed { if let letter { words.append("pri:\(letter)") } } else { priority = letter }
    // The title may contain the project and the contexts already.
    let titleWords = words
    if let list, Self.isWord(list), titleWords.last(where: { $0.hasPrefix("+") }) != "+\(list)" {
      words.append("+\(list)")
    }
    for tag in task.tags where Self.isWord(tag) && !titleWords.contains("@\(tag)") { words.append("@\(tag)") }
    if let due = task.dueDay(in: context.timeZone) { words.append("due:\(due)") }
    // Other programs hide a task until the day behind `t:`.
    if let day = task.scheduledDate ?? task.start?.day { words.append("t:\(day)") }
    if let recurrence = task.recurrence, let text = TodoTxtRecurrence.text(recurrence) { words.append("rec:\(text)") }
    for key in TodoTxtReading.understoodKeys where !words.contains(where: { $0.hasPrefix(key + ":") }) {
      if case .text(let text)? = task.attributes[key], Self.isValue(text) { words.append("\(key):\(text)") }
    }
    for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) {
      guard case .text(let text) = value, Self.isKey(name), Self.isValue(text) else { continue }
      words.append("\(name):\(text)")
    }
    if task.isCancelled { words.append(Self.cancelled) }
    if task.isCompleted, words.contains(where: Self.isCancelled) { words.append(Self.completed) }
    // The line is read back, so that each word has the meaning that a reader gives it: a title may begin with `(A)`.
    self = TodoTxtRecord(line: line)
  }

  /// A title on one line: blanks replace other white space and control characters.
  private static func plain(_ title: String) -> String {
    title.blanking { $0.properties.isWhitespace || $0.value < 0x20 }
  }

  private static let priorities: [(letter: Character, priority: Priority)] = [
    ("A", .high), ("B", .medium), ("C", .low),
  ]

  /// The letter with which the task was imported if it still means the task's priority; otherwise that of the priority.
  private static func letter(of task: TaskItem) -> Character? {
    if case .text(let text)? = task.attributes["priority"], text.count == 1, let letter = text.first,
      ("D"..."Z").contains(letter), task.priority == .low
    {
      return letter
    }
    return priorities.first { $0.priority == task.priority }?.letter
  }

  private static let cancelled: Substring = "status:cancelled"
  private static let completed: Substring = "status:completed"

  /// Whether a word says that the task was cancelled.
  private static func isCancelled(_ word: Substring) -> Bool {
    pair(word).map { $0.key == "status" && TableValue.isCancelled($0.value) } ?? false
  }

  /// The index of the word that says how a closed task ended: the last of those for cancelled and completed ones; `nil` in a
  /// line without a word for cancelled tasks, where the others are of the person.
  private var indexOfOutcome: Int? {
    guard isClosed, words.contains(where: Self.isCancelled) else { return nil }
    return words.lastIndex { $0 == Self.completed || Self.isCancelled($0) }
  }

  private static let ownKeys: Set<String> = ["due", "t", "rec", "pri", "priority", extensionKey]

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7F }
  }

  private static func isKey(_ name: String) -> Bool {
    isWord(name) && !ownKeys.contains(name) && !name.contains(":") && !"+@(".contains(name.prefix(1))
  }

  /// `https://…` is an address, not a key with a value.
  private static func isValue(_ text: String) -> Bool { isWord(text) && !text.hasPrefix("//") && !text.hasPrefix(":") }

  /// A word as a key and its value.
  private static func pair(_ word: Substring) -> (key: String, value: String)? {
    guard let colon = word.firstIndex(of: ":") else { return nil }
    let (key, value) = (String(word[..<colon]), String(word[word.index(after: colon)...]))
    guard !key.isEmpty, isValue(value), !"+@(".contains(key.prefix(1)) else { return nil }
    return (key, value)
  }

  func document(_ context: FormatContext) -> TaskDocument {
    var reading = TodoTxtReading()
    let outcome = indexOfOutcome
    var title: [Substring] = []
    var isTrailing = true
    // The words are read from the end: those after the last word of the title are fields and not part of the title.
    for (index, word) in words.enumerated().reversed() where index != outcome {
      let isField = reading.read(word, Self.pair(word), isTrailing: isTrailing, context)
      if !isField { title.append(word) }
      if !isField, !word.isEmpty { isTrailing = false }
    }
    var document = reading.document
    document[.text] = .text(title.reversed().joined(separator: " "))
    let isCancelled = outcome.map { words[$0] != Self.completed } ?? false
    let state: TaskState = !isClosed ? .notStarted : isCancelled ? .cancelled : .completed
    document.setState(state, at: closed.map(context.noon) ?? context.undatedCompletion)
    if isClosed { document.latestCompletion = closed.map(context.end) ?? .latest }
    if let created { document[.createdAt] = .instant(context.start(of: created)) }
    let letter = priority ?? reading.priority
    document[.priority] = letter.map { letter in
      .priority(Self.priorities.first { $0.letter == letter }?.priority ?? .low)
    }
    document.attributes = reading.attributes
    if let letter, !("A"..."C").contains(letter) { document.attributes["priority"] = .text(String(letter)) }
    document.listName = reading.projects.first
    document[.listID] = nil
    document[.tags] = reading.contexts.isEmpty ? nil : .tags(TagSet(reading.contexts.reversed()))
    document[.dueDate] = nil
    return document
  }

  /// The identity of a line without an id: everything except whether it is closed.
  var contents: String {
    let outcome = indexOfOutcome
    let words = self.words.enumerated().filter { $0.offset != outcome }.map { String($0.element) }
    return ([created?.iso8601 ?? ""] + words).joined(separator: " ")
  }
}

/// The fields of a line, whose words are read from its end.
struct TodoTxtReading {
  var projects: [String] = []
  var contexts: [String] = []
  /// The due day, the planned day and the recurrence, each `nil` if the line does not have it.
  private(set) var document = TaskDocument()
  var priority: Character?
  var attributes: [String: AttributeValue] = [:]

  /// The keys that Tally understands; a value that it does not understand becomes an attribute.
  static let understoodKeys = ["due", "rec", "t"]

  init() {
    (document[.dueDay], document[.scheduledDate], document[.recurrence]) = (nil, nil, nil)
  }

  /// Reads a word.
  ///
  /// Known keys are read anywhere in the line. Projects, contexts and other keys belong to the title as well if words
  /// of the title follow them, as in "Ask @Ann about it".
  ///
  /// - Returns: Whether the word does not belong to the title.
  mutating func read(
    _ word: Substring, _ pair: (key: String, value: String)?, isTrailing: Bool, _ context: FormatContext
  ) -> Bool {
    if word.count > 1, word.hasPrefix("+") {
      // Only the last project of the line is the task's list: the others stay in the title.
      projects.append(String(word.dropFirst()))
      return isTrailing && projects.count == 1
    }
    if word.count > 1, word.hasPrefix("@") {
      contexts.append(String(word.dropFirst()))
      return isTrailing
    }
    guard let (key, value) = pair else { return false }
    if readKnown(key, value, context) { return true }
    if isTrailing, attributes[key] == nil, Self.understoodKeys.contains(key) {
      context.remarks.add(key == "rec" ? "recurrence" : "date", "\(key):\(value)")
    }
    guard isTrailing, attributes[key] == nil else { return false }
    attributes[key] = .text(value)
    return true
  }

  private mutating func readDay(_ text: String, into field: TaskField, _ context: FormatContext) -> Bool {
    document[field] = WrittenDate(text, context).map { .day($0.day(context)) }
    return document[field] != nil
  }

  private mutating func readKnown(_ key: String, _ value: String, _ context: FormatContext) -> Bool {
    switch key {
    case "due" where document[.dueDay] == nil: return readDay(value, into: .dueDay, context)
    case "t" where document[.scheduledDate] == nil: return readDay(value, into: .scheduledDate, context)
    case "rec" where document[.recurrence] == nil:
      document[.recurrence] = TodoTxtRecurrence.recurrence(value).map { .recurrence($0) }
      return document[.recurrence] != nil
    case "pri" where priority == nil && value.count == 1:
      priority = value.first.flatMap { ("A"..."Z").contains($0) ? $0 : nil }
      return priority != nil
    default: return false
    }
  }
}

/// The value of `rec:`: a number and `d`, `b`, `w`, `m` or `y`, after a `+` if it counts from the due date.
enum TodoTxtRecurrence {
  private static let units: [(letter: Character, frequency: String, name: String)] = [
    ("d", "DAILY", "day"), ("w", "WEEKLY", "week"), ("m", "MONTHLY", "month"), ("y", "YEARLY", "year"),
  ]

  static func recurrence(_ text: String) -> Recurrence? {
    let digits = text.drop { $0 == "+" }.dropLast()
    guard let count = Int(digits), count > 0, let letter = text.last,
      let unit = units.first(where: { $0.letter == letter })
    else { return text == "+1b" ? try? Recurrence(text: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR") : nil }
    let isStrict = text.hasPrefix("+")
    return try? Recurrence(text: isStrict ? "FREQ=\(unit.frequency);INTERVAL=\(count)" : "after \(count) \(unit.name)")
  }

  /// The text of a recurrence; `nil` for one that the format cannot express.
  static func text(_ recurrence: Recurrence) -> String? {
    for unit in units {
      let interval =
        switch recurrence {
        case .rule(let rule): rule.interval
        case .afterCompletion(let interval): interval
        }
      let strict = "+\(interval.count)\(unit.letter)"
      if self.recurrence(strict) == recurrence { return strict }
      if self.recurrence(String(strict.dropFirst())) == recurrence { return String(strict.dropFirst()) }
    }
    return self.recurrence("+1b") == recurrence ? "+1b" : nil
  }
}

/// Decides whether a text in no recognized format is a list of tasks, one on each line.
///
/// Any text has lines, but a program, a log, a table of users or a list of words must not become a thousand tasks. Therefore a text
/// whose lines look like one of these is refused, unless its format is named.
enum TodoTxtGuess {
  /// Throws `malformedDocument` unless the beginning of a document may be a list of tasks.
  static func check(_ head: String) throws(TallyError) {
    let isBinary = head.unicodeScalars.contains { $0.value < 0x20 && !"\t\n\r\u{C}".unicodeScalars.contains($0) }
    // The last line may be cut.
    var lines = head.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
    if lines.count > 1, head.utf8.count > 4_000 { lines.removeLast() }
    let strange = lines.count { isStrange($0) && !isMarked($0) }
    let isMostlyStrange = strange * 2 >= max(lines.count, 1) || strange > 2 && strange * 4 > lines.count
    // One word may be a task, but many are a list of words.
    let words = lines.count { $0.split(whereSeparator: \.isWhitespace).count < 2 && !isMarked($0) }
    let isListOfWords = lines.count > 1 && words * 20 >= lines.count * 19
    guard isBinary || isOfAnotherKind(lines) || isMostlyStrange || isListOfWords else { return }
    guard isListOfWords, !isBinary else {
      throw TallyError(
        .malformedDocument, "The document does not look like a list of tasks",
        remedy: "Check the file; if each of its lines is a task, import it as todo.txt: --format todotxt")
    }
    throw TallyError(
      .malformedDocument, "Each line is a single word, so the document may be a list of words and not of tasks",
      remedy: "To make a task of each line, import it as todo.txt: --format todotxt")
  }

  /// Whether a text begins like a script, an office document, a calendar, a contact card or an e-mail.
  private static func isOfAnotherKind(_ lines: [Substring]) -> Bool {
    guard let first = lines.first else { return false }
    if ["#!", "%PDF-", "{\\rtf", "%!PS"].contains(where: first.hasPrefix) { return true }
    if first.uppercased().hasPrefix("BEGIN:") { return true }
    let headers = ["From:", "To:", "Subject:", "Date:", "Received:", "Message-ID:", "Return-Path:", "MIME-Version:"]
    return lines.prefix(8).count { line in headers.contains(where: line.hasPrefix) } > 1
  }

  /// Whether a line has a mark of todo.txt.
  private static func isMarked(_ line: Substring) -> Bool {
    let words = line.split(separator: " ")
    let isPriority = words.first.map { $0.count == 3 && $0.hasPrefix("(") && $0.hasSuffix(")") } ?? false
    return isPriority || words.first == "x" && words.count > 1
      || words.contains { $0.count > 1 && ($0.hasPrefix("+") || $0.hasPrefix("@") || $0.hasPrefix("due:")) }
  }

  /// Whether a line is one of a program, a log, a table or a file of settings.
  private static func isStrange(_ line: Substring) -> Bool {
    let text = line.drop { $0 == " " || $0 == "\t" }
    let ends = [";", "{", "}", "*/", "\\", "</", "/>"],
      starts = ["<", "//", "/*", "#include", "import ", "}", "@@", "---"]
    return ends.contains { text.hasSuffix($0) } || starts.contains { text.hasPrefix($0) } || text.count > 1_000
      || text.count { $0 == ":" } >= 4 && !text.contains(" ")
      || text.count { $0 == "\t" || $0 == "|" || $0 == ";" } >= 3
      || isAssignment(text) || isOfLog(text) || isProse(text)
  }

  /// Whether a line is prose, as in a letter.
  private static func isProse(_ text: Substring) -> Bool {
    let wordCount = text.split(separator: " ").count
    return wordCount > 12 && text.contains(". ") || wordCount > 25
      || text.wholeMatch(of: #/(?:Dear|Hello|Hi) .*,/#) != nil
  }

  /// Whether a line is like `key = value`, `[section]` or `def name():`.
  private static func isAssignment(_ text: Substring) -> Bool {
    text.wholeMatch(of: #/[A-Za-z_][\w.-]*\s*=\s*\S.*/#) != nil || text.wholeMatch(of: #/\[[\w .:"\/-]+\]/#) != nil
      || text.wholeMatch(of: #/(?:def|class|func|elif)\b.*[:(].*/#) != nil
      || text.wholeMatch(of: #/["'][\w-]+["']:.*|[\w-]+:/#) != nil
  }

  /// Whether a line begins with an instant or an IP address, as in a log.
  private static func isOfLog(_ text: Substring) -> Bool {
    text.prefixMatch(of: #/\[?\d{4}[-\/]\d{2}[-\/]\d{2}[T ]\d{2}:\d{2}/#) != nil
      || text.prefixMatch(of: #/[A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2} /#) != nil
      || text.prefixMatch(of: #/\d{1,3}(?:\.\d{1,3}){3} /#) != nil
  }
}
