internal import Tally

/// What the words of a line give, read from its end.
struct TodoTxtReading {
  var projects: [String] = []
  var contexts: [String] = []
  var due: CalendarDay?
  var threshold: CalendarDay?
  var recurrence: Recurrence?
  var priority: Character?
  var attributes: [String: AttributeValue] = [:]

  /// The keys of which a value that Tally does not understand is kept as an attribute.
  static let keptKeys = ["due", "rec", "t"]

  /// Takes a word.
  ///
  /// Known keys are taken wherever they stand. Projects, contexts and other keys belong to the title as well if words
  /// of the title follow them, as in "Ask @Ann about it".
  ///
  /// - Returns: whether the word does not belong to the title.
  mutating func take(
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
    if takeKnown(key, value, context) { return true }
    if isTrailing, attributes[key] == nil, Self.keptKeys.contains(key) {
      context.remarks.add(key == "rec" ? "recurrence" : "date", "\(key):\(value)")
    }
    guard isTrailing, attributes[key] == nil else { return false }
    attributes[key] = .text(value)
    return true
  }

  private mutating func takeKnown(_ key: String, _ value: String, _ context: FormatContext) -> Bool {
    switch key {
    case "due" where due == nil:
      due = WrittenDate(value, context)?.day(context)
      return due != nil
    case "t" where threshold == nil:
      threshold = WrittenDate(value, context)?.day(context)
      return threshold != nil
    case "rec" where recurrence == nil:
      recurrence = TodoTxtRecurrence.recurrence(value)
      return recurrence != nil
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

  /// The text of a recurrence; `nil` for one that the format cannot say.
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
