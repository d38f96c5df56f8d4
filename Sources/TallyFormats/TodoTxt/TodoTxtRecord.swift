internal import Foundation
internal import Tally

/// A line of todo.txt: a mark of completion, a priority, dates, then words, some of which are projects, contexts or
/// pairs of a key and a value.
///
/// Source: "todo.txt format rules", github.com/todotxt/todo.txt. Of the keys, `due:` is widely used, `t:`, `rec:` and
/// `pri:` are those of the "Simpletask" and "topydo" programs.
struct TodoTxtRecord: ForeignRecord {
  /// The key of what the format cannot say: JSON without white space.
  private static let extensionKey = "tally"

  private var isCompleted = false
  private var priority: Character?
  private var completed: CalendarDay?
  private var created: CalendarDay?
  private var words: [Substring]
  var exact: String?

  static func isLocal(_ task: TaskItem) -> Bool { true }

  /// Takes a line apart.
  init(line: String) {
    words = Self.words(of: line)
    // Remove the extension first. Otherwise a title that is only `(B)` reads as a priority.
    let mark = Self.extensionKey + ":{"
    if let index = words.lastIndex(where: { $0.hasPrefix(mark) }) {
      exact = String(words.remove(at: index).dropFirst(mark.count - 1))
    }
    if words.first == "x", words.count > 1 {
      isCompleted = true
      words.removeFirst()
    }
    readPriority()
    var dates: [CalendarDay] = []
    while dates.count < (isCompleted ? 2 : 1), let day = words.first.flatMap({ Self.day($0) }), words.count > 1 {
      dates.append(day)
      words.removeFirst()
    }
    // A completed task has the completion date first, then perhaps that of the creation; an open task has only the
    // latter.
    if isCompleted { (completed, created) = (dates.first, dates.dropFirst().first) } else { created = dates.first }
    // Some programs keep the priority behind the mark.
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
    if isCompleted { parts.append("x") }
    if let priority { parts.append("(\(priority))") }
    // Without the date of completion that of the creation would be taken for it.
    if isCompleted { parts += [completed, completed == nil ? nil : created].compactMap { $0?.iso8601 } }
    if !isCompleted, let created { parts.append(created.iso8601) }
    parts += words.map(String.init)
    if let exact { parts.append(Self.extensionKey + ":" + Self.withoutBlanks(exact)) }
    return parts.joined(separator: " ")
  }

  /// JSON has blanks only in texts, where an escape says the same.
  private static func withoutBlanks(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == " " { text += scalar.escapedInJSON } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension TodoTxtRecord {
  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    isCompleted = task.isCompleted
    completed = task.completedAt.flatMap { $0.instant == FormatContext.longAgo ? nil : context.day(of: $0.instant) }
    created = context.day(of: task.createdAt)
    words = Self.words(of: Self.plain(task.title))
    let letter = Self.letter(of: task)
    if isCompleted { if let letter { words.append("pri:\(letter)") } } else { priority = letter }
    // The title may have them already.
    let titleWords = words
    if let list, Self.isWord(list), titleWords.last(where: { $0.hasPrefix("+") }) != "+\(list)" {
      words.append("+\(list)")
    }
    for tag in task.tags where Self.isWord(tag) && !titleWords.contains("@\(tag)") { words.append("@\(tag)") }
    if let due = task.dueDay(in: context.timeZone) { words.append("due:\(due)") }
    if let day = task.scheduledDate { words.append("t:\(day)") }
    if let recurrence = task.recurrence, let text = TodoTxtRecurrence.text(recurrence) { words.append("rec:\(text)") }
    for key in TodoTxtReading.keptKeys where !words.contains(where: { $0.hasPrefix(key + ":") }) {
      if case .text(let text)? = task.attributes[key], Self.isValue(text) { words.append("\(key):\(text)") }
    }
    for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) {
      guard case .text(let text) = value, Self.isKey(name), Self.isValue(text) else { continue }
      words.append("\(name):\(text)")
    }
    // What the words mean is seen when they are read.
    self = TodoTxtRecord(line: line)
  }

  /// A title as words of one line that no reader takes for anything else than words.
  private static func plain(_ title: String) -> String {
    String(
      String.UnicodeScalarView(title.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 0x20 ? " " : $0 }))
  }

  private static let priorities: [(letter: Character, priority: Priority)] = [
    ("A", .high), ("B", .medium), ("C", .low),
  ]

  /// The letter that the task came with, as long as it means its priority.
  private static func letter(of task: TaskItem) -> Character? {
    if case .text(let text)? = task.attributes["priority"], text.count == 1, let letter = text.first,
      ("D"..."Z").contains(letter), task.priority == .low
    {
      return letter
    }
    return priorities.first { $0.priority == task.priority }?.letter
  }

  private static let ownKeys: Set<String> = ["due", "t", "rec", "pri", "priority", extensionKey]

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7F }
  }

  private static func isKey(_ name: String) -> Bool {
    isWord(name) && !ownKeys.contains(name) && !name.contains(":") && !"+@(".contains(name.prefix(1))
  }

  /// `https://…` is an address and no key with a value.
  private static func isValue(_ text: String) -> Bool { isWord(text) && !text.hasPrefix("//") && !text.hasPrefix(":") }

  /// A word as a key and its value.
  private static func pair(_ word: Substring) -> (key: String, value: String)? {
    guard let colon = word.firstIndex(of: ":") else { return nil }
    let (key, value) = (String(word[..<colon]), String(word[word.index(after: colon)...]))
    guard !key.isEmpty, isValue(value), !"+@(".contains(key.prefix(1)) else { return nil }
    return (key, value)
  }
}

extension TodoTxtRecord {
  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    var reading = TodoTxtReading()
    var title: [Substring] = []
    var isTrailing = true
    // From the end: what stands behind the last word of the title belongs to the task and not to its title.
    for word in words.reversed() {
      let isTaken = reading.take(word, Self.pair(word), isTrailing: isTrailing, context)
      if !isTaken { title.append(word) }
      if !isTaken, !word.isEmpty { isTrailing = false }
    }
    document[.text] = .text(title.reversed().joined(separator: " "))
    document[.state] = .state(isCompleted ? .completed : .notStarted)
    readDates(into: &document, context)
    let letter = priority ?? reading.priority
    document[.priority] = letter.map { letter in
      .priority(Self.priorities.first { $0.letter == letter }?.priority ?? .low)
    }
    if let letter, !("A"..."C").contains(letter) { reading.attributes["priority"] = .text(String(letter)) }
    document.listName = reading.projects.first
    document[.listID] = nil
    document[.tags] = reading.contexts.isEmpty ? nil : .tags(TagSet(reading.contexts.reversed()))
    document[.dueDay] = reading.due.map { .day($0) }
    document[.dueDate] = nil
    document[.scheduledDate] = reading.threshold.map { .day($0) }
    document[.recurrence] = reading.recurrence.map { .recurrence($0) }
    document.set(reading.attributes)
    return document
  }

  private func readDates(into document: inout TaskDocument, _ context: FormatContext) {
    if isCompleted {
      document[.completedAt] = .offsetInstant(completed.map(context.noon) ?? context.undatedCompletion)
      document.latestCompletion = completed.map(context.end) ?? .latest
    } else {
      document[.completedAt] = nil
    }
    if let created { document[.createdAt] = .instant(context.start(of: created)) }
  }

  /// What identifies a line without an id: everything but whether it is completed.
  var contents: String { ([created?.iso8601 ?? ""] + words.map(String.init)).joined(separator: " ") }
}
