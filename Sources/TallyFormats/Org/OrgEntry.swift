internal import Foundation
internal import Tally

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

/// What stands under a heading.
struct OrgEntry {
  /// The texts behind `SCHEDULED:`, `DEADLINE:` and `CLOSED:`.
  private(set) var dates: [String: String] = [:]
  private(set) var id: String?
  private(set) var attributes: [String: AttributeValue] = [:]
  private(set) var notes: [String] = []
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
  mutating func read(_ line: String) {
    let text = line.trimmed
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
        rest.removeSubrange(match.range)
      }
      // Words beside the dates are a person's.
      if !rest.trimmed.isEmpty { notes.append(rest.trimmed) }
    } else if !notes.isEmpty || !text.isEmpty {
      notes.append(line)
    }
  }

  private mutating func closeDrawer() {
    guard let (name, lines) = drawer.take() else { return }
    guard name.uppercased() == "PROPERTIES" else {
      let text = lines.dropLast().joined(separator: "\n")
      // A second drawer of a name is read behind the first.
      if case .text(let first)? = attributes[name.uppercased()] {
        attributes[name.uppercased()] = .text(first + "\n" + text)
      } else {
        attributes[name.uppercased()] = .text(text)
      }
      return
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
  /// Whether everything in it is in the date and the recurrence.
  private(set) var isUnderstood = true

  /// `nil` unless the text begins with a day.
  init?(_ text: String, _ context: FormatContext) {
    let words = text.drop { "<[".contains($0) }.prefix { !">]".contains($0) }.split(separator: " ").map(String.init)
    guard let first = words.first, let day = try? CalendarDay(iso8601: first) else { return nil }
    var date = WrittenDate.day(day)
    isUnderstood = !text.contains("--")
    for word in words.dropFirst() {
      if word.wholeMatch(of: /\d{1,2}:\d{2}/) != nil, let time = WrittenDate("\(first) \(word)", context) {
        date = time
      } else if let match = word.wholeMatch(of: /(\+|\+\+|\.\+)(\d+)([hdwmy])(?:\/\d+[hdwmy])?/) {
        recurrence = Self.recurrence(String(match.1), String(match.2), String(match.3))
        if recurrence == nil || word.contains("/") { isUnderstood = false }
      } else if word.contains(where: \.isNumber) {
        isUnderstood = false
      }
    }
    self.date = date
  }

  private static func recurrence(_ mark: String, _ count: String, _ unit: String) -> Recurrence? {
    let units = [
      "d": ("DAILY", "days"), "w": ("WEEKLY", "weeks"), "m": ("MONTHLY", "months"), "y": ("YEARLY", "years"),
    ]
    guard let (frequency, name) = units[unit] else { return nil }
    return try? mark == ".+"
      ? Recurrence(text: "after \(count) \(count == "1" ? String(name.dropLast()) : name)")
      : Recurrence(text: "FREQ=\(frequency);INTERVAL=\(count)")
  }
}
