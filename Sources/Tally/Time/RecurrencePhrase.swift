/// Reads recurrences in English, word by word; case does not count.
///
/// ```
/// recurrence = "after" interval | ["every"] interval "after completion" | "every!" interval
///            | repeats [", with weeks from" WEEKDAY] [end]
/// repeats    = every ["on" days] ["if it is" days] | "every" days | "every other" days
/// every      = "daily" | "weekly" | "fortnightly" | "monthly" | "quarterly" | "yearly" | "annually"
///            | "every" interval | "every other" UNIT | "every" ORDINAL UNIT | ["every"] ("weekday" | "workday") | ["every"] "weekend"
/// interval   = [NUMBER | "a"] UNIT     UNIT: day, week, fortnight, month, quarter, year; NUMBER: 2, two
/// days       = DAY {["," | "and" | "or"] DAY} ["of the month" | ["of"] "each month" | "of the year"]
///            | NUMBER {"," NUMBER}                  in digits, at least two: days of the month
/// DAY        = WEEKDAY | ("each" | "a") WEEKDAY | ["the"] ORDINAL WEEKDAY | ["the"] ORDINAL ["day"]
/// ORDINAL    = "first" | "1st" | "last" | "second to last" | …
/// end        = [","] "until" DATE | [","] ["for"] NUMBER "times"
/// DATE       = "2026-12-31" | "31 December 2026" | "December 31, 2026"
/// ```
///
/// `ev` is `every`, and `every!` counts from each completion. A phrase with two meanings is refused: `every second Monday`
/// can be every other Monday or the second of each month; `every 3rd friday` is one of the month. `every 3rd day` comes every three days,
/// and only weekdays need no word between them.
struct RecurrencePhrase {
  let words: [String]
  /// The next word to read.
  private(set) var index = 0
  /// Whether a number had more digits than any valid number.
  private var hasTooLargeNumber = false

  /// A phrase whose words are separated by white space or commas.
  init(_ text: String) {
    self.init(words: text.replacing(",", with: " , ").split(whereSeparator: \.isWhitespace).map(String.init))
  }

  /// A phrase of words, with each comma as a word of its own.
  init(words: [String]) {
    self.words = words.map { word in
      let word = word.lowercased()
      return word == "ev" ? "every" : word == "ev!" ? "every!" : word
    }
  }

  var isAtEnd: Bool { index == words.count }

  /// The error of a phrase that cannot be read on.
  var fault: TallyError {
    guard !hasTooLargeNumber else {
      return .invalidRecurrence("A number of the recurrence is too large", remedy: "Give a number from 1 to 9999")
    }
    let count = words.prefix(index).count { $0 != "," }
    return .invalidRecurrence(
      count == 0 ? "The text is not a way to repeat" : "The recurrence is not understood after word \(count)",
      remedy: "Write it as in 'every 2 weeks on monday', 'every month on the last friday', 'every day until 2026-12-31'"
        + " or 'after 3 days'")
  }

  /// Reads the longest recurrence with which the words begin.
  ///
  /// - Throws: `invalidRecurrence` if there is none.
  mutating func recurrence() throws(TallyError) -> Recurrence {
    if let interval = attempt({ $0.intervalAfterCompletion() }) {
      return .afterCompletion(try RecurrenceInterval(interval.count, interval.unit))
    }
    guard var repeats = attempt({ $0.repeats() }) else { throw ambiguity ?? fault }
    if repeats.days.isEmpty, let days = attempt({ $0.days(after: "on", where: { $0.canFollow(repeats.unit) }) }) {
      repeats.days = days
    }
    if repeats.canHaveCondition, let days = attempt({ $0.days(after: "if", "it", "is", where: { $0.scope == nil }) }) {
      repeats.days.weekdays += days.weekdays
      repeats.days.monthDays += days.monthDays
    }
    let weekStart = attempt { $0.takeAfterComma("with", "weeks", "from") ? $0.weekday() : nil }
    return .rule(
      try RecurrenceRule(
        every: RecurrenceInterval(repeats.count, repeats.unit), on: repeats.days.weekdays,
        onMonthDays: repeats.days.monthDays, end: attempt { $0.end() } ?? .never, weekStart: weekStart ?? 1))
  }

  private var ambiguity: TallyError? {
    var phrase = self
    guard phrase.take("every"), let days = phrase.days(), days.isAmbiguous else { return nil }
    return .invalidRecurrence(
      "The recurrence can be every other week or a week of the month",
      remedy: "Write 'every other monday', or 'every second monday of the month'")
  }
}

// Steps that later ones are made of. Each returns `nil` where it cannot read on; `attempt` then returns to its start.
extension RecurrencePhrase {
  mutating func attempt<Value>(_ read: (inout Self) -> Value?) -> Value? {
    let start = index
    if let value = read(&self) { return value }
    index = start
    return nil
  }

  /// Reads the next words if they are these.
  mutating func take(_ expected: String...) -> Bool {
    takeAll(expected)
  }

  /// Reads the next words, before which there may be a comma, if they are these.
  mutating func takeAfterComma(_ expected: String...) -> Bool {
    takeAll([","] + expected) || takeAll(expected)
  }

  private mutating func takeAll(_ expected: [String]) -> Bool {
    guard words.dropFirst(index).starts(with: expected) else { return false }
    index += expected.count
    return true
  }

  /// Reads the next word if it means something.
  mutating func word<Value>(_ meaning: (String) -> Value?) -> Value? {
    guard let word = words.dropFirst(index).first, let value = meaning(word) else { return nil }
    index += 1
    return value
  }

  mutating func weekday() -> Int? {
    word(CalendarNames.weekday)
  }

  /// Reads a number in digits, or in words up to ten.
  mutating func number() -> Int? {
    if let word = words.dropFirst(index).first, word.utf8.count > 9, word.utf8.allSatisfy(\.isDigit) {
      hasTooLargeNumber = true
    }
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return word { names.firstIndex(of: $0).map { $0 + 1 } ?? $0.smallNumber }
  }

  mutating func unit() -> RecurrenceUnit? {
    word { word in RecurrenceUnit.allCases.first { word == $0.name || word == $0.name + "s" } }
  }
}

extension StringProtocol {
  /// The number of a text of digits alone, if there are few enough for every range here.
  var smallNumber: Int? {
    utf8.count <= 9 && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(self) : nil
  }
}
