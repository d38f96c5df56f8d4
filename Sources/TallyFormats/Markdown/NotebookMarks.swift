internal import Tally

/// Dates and more that notebook programs write behind the text of an item: `Clean 🔁 every week 📅 2026-12-01 #home`.
///
/// Source: the documentation of the plug-in Tasks for Obsidian, its formats "Emoji" and "Dataview":
/// `[due:: 2026-12-01]`.
struct NotebookMarks {
  /// The text without what was understood.
  private(set) var text: String
  private(set) var due: CalendarDay?
  private(set) var planned: CalendarDay?
  private(set) var created: CalendarDay?
  private(set) var completed: CalendarDay?
  private(set) var priority: Priority?
  private(set) var recurrence: Recurrence?
  /// What Tally has no field for, by name.
  private(set) var attributes: [String: AttributeValue] = [:]

  private static let signs: [(sign: String, name: String)] = [
    ("📅", "due"), ("📆", "due"), ("🗓", "due"), ("⏳", "scheduled"), ("⌛", "scheduled"), ("🛫", "start"),
    ("➕", "created"), ("✅", "completion"), ("❌", "cancelled"), ("🔁", "repeat"), ("🔺", "highest"), ("⏫", "high"),
    ("🔼", "medium"), ("🔽", "low"), ("⏬", "lowest"), ("🆔", "id"), ("⛔", "dependsOn"), ("🏁", "onCompletion"),
  ]
  private static let priorities: [String: Priority] = [
    "highest": .high, "high": .high, "medium": .medium, "low": .low, "lowest": .low,
  ]

  /// Takes a text apart; what is not understood stays in it, with a remark.
  init(_ text: String, _ context: FormatContext) {
    self.text = text
    // Most texts have none: a look at the bytes is cheaper than a search for each sign.
    guard text.utf8.contains(where: { $0 >= 0xE2 }) || text.contains("::") else { return }
    readSigns(context)
    readBrackets(context)
  }

  /// Takes the words between each sign and the next; tags stay in the text.
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
      let isUnderstood = take(start.name, value, context)
      let kept = isUnderstood ? words.dropFirst(words.prefix { !$0.hasPrefix("#") }.count) : words[...]
      rest += (isUnderstood ? "" : " " + text[start.range]) + kept.map { " " + $0 }.joined()
    }
    text = rest
  }

  private mutating func readBrackets(_ context: FormatContext) {
    for match in text.matches(of: /[ ]?[\[(](\w+)::[ ]*([^\])]*)[\])]/).reversed() {
      let value = String(match.2).trimmed
      let isPriority = match.1 == "priority"
      guard isPriority || Self.signs.contains(where: { $0.name == match.1 }) else { continue }
      if take(isPriority ? value : String(match.1), isPriority ? "" : value, context) {
        text.removeSubrange(match.range)
      }
    }
  }

  /// Takes one value.
  ///
  /// - Returns: whether it was understood.
  private mutating func take(_ name: String, _ value: String, _ context: FormatContext) -> Bool {
    if let priority = Self.priorities[name] {
      // A priority has no words: a sign with words behind it stays in the text.
      if value.isEmpty { self.priority = priority }
      return value.isEmpty
    }
    if ["start", "cancelled", "id", "dependsOn", "onCompletion"].contains(name) {
      attributes[name] = .text(value)
      context.remarks.add(name == "start" || name == "cancelled" ? "date" : "attribute", "\(name) \(value)")
      return true
    }
    if name == "repeat" {
      recurrence = Self.recurrence(value)
      if recurrence == nil { context.remarks.add("recurrence", value) }
      return recurrence != nil
    }
    guard let day = try? CalendarDay(iso8601: value) else {
      context.remarks.add("date", "\(name) \(value)")
      return false
    }
    switch name {
    case "due": due = day
    case "scheduled": planned = day
    case "created": created = day
    default: completed = day
    }
    return true
  }

  /// `every week`, or `every week when done`, which counts from the completion.
  private static func recurrence(_ text: String) -> Recurrence? {
    guard text.hasSuffix(" when done") else { return try? Recurrence(phrase: text) }
    let phrase = text.dropLast(" when done".count)
    guard phrase.hasPrefix("every "), case .rule(let rule)? = try? Recurrence(phrase: String(phrase)) else {
      return nil
    }
    let words = phrase.dropFirst("every ".count)
    return try? Recurrence(text: "after " + (rule.interval.count == 1 ? "1 \(words)" : String(words)))
  }
}
