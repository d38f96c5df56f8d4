import Foundation
import TallyEngine

/// Reads a recurrence in English, word by word; case does not matter.
///
/// ```
/// recurrence = {clause} ("after" interval | interval "after completion" | "every!" interval | repeats) {clause}
/// repeats    = every | "every" days | "every" dates | "every other" days
/// every      = "hourly" | "daily" | "weekly" | "biweekly" | "fortnightly" | "monthly" | "bimonthly" | "quarterly" | "yearly"
///            | "annually"
///            | "every" interval | "every other" UNIT | "every" ORDINAL UNIT | ["every"] ("weekday" | "workday") | ["every"] "weekend"
/// interval   = [NUMBER | "a"] UNIT     UNIT: hour (not after completion), day, week, fortnight, month, quarter, year; NUMBER: 2, two
/// days       = DAY {["," | "and" | "or"] DAY} ["of the month" | ["of"] "each month" | "of the year"]
///            | DAY {["," | "and"] DAY} ("in" | "of") months | dates
///            | NUMBER {"," NUMBER}                  in digits, at least two: days of the month
/// DAY        = WEEKDAY | ("each" | "a") WEEKDAY | ["the"] ORDINAL {("," | "and") ["the"] ORDINAL} WEEKDAY
///            | ["the"] ORDINAL ["day"]
///            | ["the"] ORDINAL ("weekday" | "workday" | "weekend day") | ["the"] ORDINAL "or else the last day"
/// dates      = date {["," | "and"] date}            date: 1 march, march 1, the 1st of march, the last day of february
/// ORDINAL    = "first" | "1st" | "last" | "second to last" | …
/// clause     = "on" days | "if it is" days            after what they limit
///            | "in week" NUMBER | "in" months | [","] "but only" ORDINAL {"and" ORDINAL} "of these"
///            | [","] "skipping shorter months" | [","] "with weeks from" WEEKDAY | [","] except exceptions
///            | [","] ("until" | "till" | "ending") DATE | [","] ["for"] NUMBER "times"    not directly before "every"
///            | ("starting" | "beginning" | "from") DATE [("to" | "through") DATE]
///            | [","] ("after completion" | "when done")
/// except     = "except" ["for"] | "excluding" | "but not"
/// exceptions = WEEKDAY | "weekends" | ["in"] MONTH | DATE, several of them joined by "," or "and"
/// DATE       = "2026-12-31" | "31 December 2026" | "December 31, 2026"
/// ```
///
/// `ev` is short for `every`, so is `each`, and `every!` counts from each completion. A phrase with two meanings is
/// refused: `every second Monday` can be every other Monday or the second of each month, and `3 times every week` can be
/// three times in each week or in three weeks, as `for 3 times every week`. `every 3rd friday` means the third Friday of
/// the month, and `every 3rd day` means every three days. Weekdays may follow each other without a comma or `and`; no
/// other days may. `from monday to friday` is refused, too: it can be every weekday or a first and a
/// last day. Only with ``today`` may a date have no year, and only with ``reference`` may the phrase have a first day.
struct RecurrencePhrase {
  let words: [String]
  /// The next word to read.
  var index = 0
  /// How many of the words were looked at, those included that did not belong to the recurrence in the end.
  var reach: Int { max(index, furthest) }
  private var furthest = 0
  /// The day from which a date without a year is meant; `nil` if each date needs one.
  var today: CalendarDay?
  /// The reference of other words for days, such as `next monday`; `nil` if there can be none.
  var reference: DateReference?
  /// Whether a number had more digits than any valid number.
  private var hasTooLargeNumber = false

  /// Creates a phrase from a text whose words are separated by white space or commas.
  init(_ text: String) {
    self.init(words: text.replacing(",", with: " , ").split(whereSeparator: \.isWhitespace).map(String.init))
  }

  /// Creates a phrase from words, with each comma as a separate word.
  init(words: [String]) {
    self.words = words.map { word in
      let word = word.lowercased()
      return word == "ev" ? "every" : word == "ev!" ? "every!" : word
    }
  }

  /// A recurrence as it is read: the rule itself, and the clauses before and after it.
  struct Reading {
    var repeats: Repeats
    var clauses = Clauses()

    /// Whether one recurrence says all of it.
    var isPossible: Bool {
      guard clauses.followsCompletion else { return RecurrenceParts(repeats, clauses) != nil }
      return repeats.unit != .hour && repeats.days.isEmpty
        && clauses == Clauses(start: clauses.start, followsCompletion: true)
    }

    /// The recurrence.
    ///
    /// - Throws: `invalidRecurrence` for values that no rule has.
    func recurrence() throws(TallyError) -> Recurrence {
      guard !clauses.followsCompletion else {
        return .afterCompletion(try RecurrenceInterval(repeats.count, repeats.unit))
      }
      guard let rule = try RecurrenceParts(repeats, clauses)?.rule() else {
        throw .invalidRecurrence("No rule says all of the recurrence", remedy: RecurrencePhrase.remedy)
      }
      return .rule(clauses.skipsShortMonths ? rule : rule.clamped)
    }
  }

  /// Reads all of the words.
  ///
  /// - Throws: `invalidRecurrence` if there are others than those of one recurrence.
  mutating func whole() throws(TallyError) -> Reading {
    guard let reading = reading() else { throw ambiguity ?? fault }
    // An error of the values says more than one about the words after them.
    _ = try reading.recurrence()
    if let end = secondEnd(of: reading) {
      throw .invalidRecurrence(
        "“\(end)” is a second end of the recurrence", remedy: "Give a last day or a number of times, and not both")
    }
    guard index == words.count else { throw fault }
    return reading
  }

  /// Reads the longest recurrence at the start of some words, where the sentence continues with something else.
  ///
  /// - Parameters:
  ///   - words: The words, with each comma as a separate word.
  ///   - today: The day from which dates without a year are meant; `nil` if there can be none.
  /// - Returns: The recurrence, `nil` if the words do not begin with one; the number of its words; and how many words were
  ///   looked at.
  static func prefix(of words: [String], today: CalendarDay? = nil) -> (reading: Reading?, wordCount: Int, reach: Int) {
    var phrase = RecurrencePhrase(words: words)
    phrase.today = today
    let reading = phrase.reading().flatMap { (try? $0.recurrence()) == nil ? nil : $0 }
    return (reading, phrase.index, phrase.reach)
  }

  /// Reads the longest recurrence at the start of the words, with its clauses in any order.
  private mutating func reading() -> Reading? {
    // The clauses before the rule limit any of them.
    var first = Reading(repeats: Repeats(count: 1, unit: .day))
    while let clauses = attempt({ $0.clauses(addedTo: first.clauses, after: first.repeats) }) {
      first.clauses = clauses
    }
    let start = index
    _ = skip(",")
    if let interval = attempt({ $0.intervalAfterCompletion() }) {
      first.repeats = Repeats(count: interval.count, unit: interval.unit)
      first.clauses.followsCompletion = true
    } else if let repeats = attempt({ $0.repeats() }) {
      first.repeats = repeats
    } else {
      index = start
      return nil
    }
    var (end, reading, possible) = (index, first, first.isPossible ? first : nil)
    while let longer = attempt({ $0.longer(reading) }) {
      reading = longer
      if reading.isPossible { (end, possible) = (index, reading) }
    }
    index = possible == nil && start > 0 ? 0 : end
    return possible
  }

  /// Reads one more clause after the rule.
  private mutating func longer(_ reading: Reading) -> Reading? {
    var longer = reading
    let unit = reading.repeats.unit
    if reading.repeats.days.isEmpty, let days = attempt({ $0.days(after: "on", where: { $0.canFollow(unit) }) }) {
      longer.repeats.days = days
    } else if reading.repeats.canHaveCondition,
      let days = attempt({ $0.days(after: "if", "it", "is", where: \.areCondition) })
    {
      longer.repeats.hasCondition = true
      longer.repeats.days.weekdays += days.weekdays
      longer.repeats.days.monthDays += days.monthDays
      longer.repeats.days.months += days.months
    } else if let clauses = attempt({ $0.clauses(addedTo: reading.clauses, after: reading.repeats) }) {
      longer.clauses = clauses
    } else {
      return nil
    }
    return longer
  }

  /// The error for the words that cannot be understood.
  private var fault: TallyError {
    guard !hasTooLargeNumber else {
      return .invalidRecurrence("A number of the recurrence is too large", remedy: "Give a number from 1 to 9999")
    }
    guard !words.contains(where: ["minute", "minutes"].contains) else {
      return .invalidRecurrence(
        "Minutes are not a way to repeat: the smallest unit is an hour", remedy: "Write it as in 'every 2 hours'")
    }
    guard !areHoursAfterCompletion else {
      return .invalidRecurrence(
        "Hours are not counted from a completion", remedy: "Write 'every 8 hours', or count in days: 'after 1 day'")
    }
    guard !hasFrequency else {
      return .invalidRecurrence(
        "How many times within a day, a week or the like is not a way to repeat",
        remedy: "Name the days or hours, as in 'every monday, wednesday and friday' or 'every 8 hours';"
          + " for an end, write 'every week for 3 times'")
    }
    let unread = unreadWords
    let text = unread.joined(separator: " ").replacing(" ,", with: ",").trimmingCharacters(in: [",", " "])
    guard unread.count < words.count, let first = unread.first else {
      return .invalidRecurrence("The text is not a way to repeat", remedy: Self.remedy)
    }
    return .invalidRecurrence(
      "“\(text)” is not understood as a part of a recurrence",
      remedy: remedy(beginningWith: first, at: unread.startIndex))
  }

  /// What to do about words that are not understood, the first of which is at an index.
  private func remedy(beginningWith first: String, at place: Int) -> String {
    if first == "at" { return "Give the task a due time or a reminder instead" }
    guard Self.wordsBeforeDays.contains(first) else { return Self.remedy }
    var phrase = self
    phrase.index = place + 1
    if first == "to", phrase.isAtWeekday { return "Write 'every weekday', or each day: 'every monday and tuesday'" }
    guard phrase.writtenDay() != nil else { return "Write a day, as in '\(first) 2026-12-31'" }
    return "Leave it out: what counts from a completion has no end, and a recurrence has one first and one last day"
  }

  private static let remedy =
    "Write it as in 'every 2 weeks on monday', 'every month on the last friday', 'every day until 2026-12-31'"
    + " or 'after 3 days'"
  private static let wordsBeforeDays: Set = ["until", "till", "ending", "from", "starting", "beginning", "to"]
  private static let mostUnreadWords = 12

  /// The words from the next one up to one that can be understood again.
  private var unreadWords: ArraySlice<String> {
    let rest = words[index...].drop { $0 == "," }.prefix(Self.mostUnreadWords)
    let end = rest.indices.dropFirst().first { place in
      var phrase = self
      phrase.index = place
      let isClause = phrase.clauses(addedTo: Clauses(), after: Repeats(count: 1, unit: .day)) != nil
      phrase.index = place
      let isRule = ["every", "every!", "each"].contains(words[place]) || Self.adverbs[words[place]] != nil
      return !["and", "or"].contains(words[place - 1]) && (isClause || isRule && phrase.reading() != nil)
    }
    return rest[..<(end ?? rest.endIndex)]
  }

  private var ambiguity: TallyError? {
    var phrase = self
    guard phrase.skip("every"), let days = phrase.days(), days.isAmbiguous else { return nil }
    return .invalidRecurrence(
      "The recurrence can be every other week or a week of the month",
      remedy: "Write 'every other monday', or 'every second monday of the month'")
  }
}

// The basic steps. Each returns `nil` if it cannot read on; `attempt` then restores the position.
extension RecurrencePhrase {
  mutating func attempt<Value>(_ read: (inout Self) -> Value?) -> Value? {
    let start = index
    if let value = read(&self) { return value }
    furthest = reach
    index = start
    return nil
  }

  /// Skips the next words if they are these.
  mutating func skip(_ expected: String...) -> Bool {
    skipAll(expected)
  }

  /// Skips the next words, with or without a comma before them, if they are these.
  mutating func skipAfterComma(_ expected: String...) -> Bool {
    skipAll([","] + expected) || skipAll(expected)
  }

  private mutating func skipAll(_ expected: [String]) -> Bool {
    guard words.dropFirst(index).starts(with: expected) else { return false }
    index += expected.count
    return true
  }

  /// Reads the next word if the closure returns a meaning for it.
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
    return word { Self.numberWords.firstIndex(of: $0).map { $0 + 1 } ?? $0.smallNumber }
  }

  static let numberWords = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

  mutating func unit() -> RecurrenceUnit? {
    word { word in RecurrenceUnit.allCases.first { word == $0.name || word == $0.name + "s" } }
  }
}

extension StringProtocol {
  /// The number if the text is only digits, and few enough for every range used here.
  var smallNumber: Int? {
    utf8.count <= 9 && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(self) : nil
  }
}

extension String {
  /// The number of an ordinal: `first` to `fifth`, or digits with their ending.
  var ordinalNumber: Int? {
    if let index = Int.ordinalWords.firstIndex(of: self) { return index + 1 }
    guard let number = dropLast(2).smallNumber, hasSuffix(number.ordinalEnding) else { return nil }
    return number > 0 ? number : nil
  }
}

extension RecurrencePhrase {
  /// How often something repeats, and on which days if the phrase has already named them.
  struct Repeats {
    var count: Int
    var unit: RecurrenceUnit
    var days = Days()
    var hasCondition = false

    /// Whether `if it is` may follow: only if the rule is by days, or by days of the month, since those are not
    /// limited to weekdays.
    var canHaveCondition: Bool {
      !hasCondition && (unit == .day || unit != .week && ![days.monthDays, days.yearDays].joined().isEmpty)
    }
  }

  /// Reads `after 3 days`, `every! 3 days` or `3 days after completion`.
  private mutating func intervalAfterCompletion() -> (count: Int, unit: RecurrenceUnit)? {
    if skip("after") || skip("every!") { return interval() }
    guard let interval = interval(), skipCompletion() else { return nil }
    return interval
  }

  /// Skips `after completion` or `when done`.
  mutating func skipCompletion() -> Bool {
    skipAfterComma("after", "completion") || skipAfterComma("when", "done")
  }

  /// Whether the words begin with hours after completion, which are not a recurrence.
  private var areHoursAfterCompletion: Bool {
    var phrase = RecurrencePhrase(words: words)
    let interval = phrase.attempt { $0.intervalAfterCompletion() }
    return interval.map { $0.unit == .hour } ?? (phrase.repeats()?.unit == .hour && phrase.skipCompletion())
  }

  /// Reads how often something repeats.
  mutating func repeats() -> Repeats? {
    if let (count, unit) = word({ Self.adverbs[$0] }) { return Repeats(count: count, unit: unit) }
    let isEvery = skip("every") || skip("each")
    if let days = word({ Self.groups[$0]?.compactMap { try? RecurrenceWeekday($0) } }) {
      return Repeats(count: 1, unit: .week, days: Days(weekdays: days))
    }
    guard isEvery else { return nil }
    // `each other` is a pronoun.
    if words[index - 1] == "every", skip("other") {
      if let interval = attempt({ $0.unitInterval() }) {
        return Repeats(count: 2 * interval.count, unit: interval.unit)
      }
      guard let days = days(), days.areWeekdays else { return nil }
      return Repeats(count: 2, unit: .week, days: days)
    }
    if let interval = attempt({ $0.nthUnit() }) ?? attempt({ $0.interval() }) {
      return Repeats(count: interval.count, unit: interval.unit)
    }
    guard let days = days(), let unit = days.unitAfterEvery else { return nil }
    return Repeats(count: 1, unit: unit, days: days)
  }

  /// Reads `3rd day`, which means every three days; in `3rd day of the month` it is a day of each month.
  private mutating func nthUnit() -> (count: Int, unit: RecurrenceUnit)? {
    guard let count = ordinal(), count > 1, let interval = unitInterval(), !skip("of") else { return nil }
    return (count * interval.count, interval.unit)
  }

  private mutating func interval() -> (count: Int, unit: RecurrenceUnit)? {
    let count = number()
    if count == nil { _ = skip("a") }
    return unitInterval().map { ((count ?? 1) * $0.count, $0.unit) }
  }

  /// Reads a unit; a quarter, for example, is three months.
  private mutating func unitInterval() -> (count: Int, unit: RecurrenceUnit)? {
    if let unit = unit() { return (1, unit) }
    if skip("quarter") || skip("quarters") { return (3, .month) }
    return skip("fortnight") || skip("fortnights") ? (2, .week) : nil
  }

  static let adverbs: [String: (count: Int, unit: RecurrenceUnit)] = [
    "hourly": (1, .hour), "daily": (1, .day), "weekly": (1, .week), "biweekly": (2, .week), "fortnightly": (2, .week),
    "monthly": (1, .month), "bimonthly": (2, .month), "quarterly": (3, .month), "yearly": (1, .year),
    "annually": (1, .year),
  ]

  static let groups: [String: ClosedRange<Int>] = [
    "weekday": 1...5, "weekdays": 1...5, "workday": 1...5, "workdays": 1...5, "weekend": 6...7, "weekends": 6...7,
  ]
}
