import TallyEngine

/// Reads a recurrence in English, word by word; case does not matter.
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
/// `ev` is short for `every`, and `every!` counts from each completion. A phrase with two meanings is refused: `every
/// second Monday` can be every other Monday or the second of each month. `every 3rd friday` means the third Friday of
/// the month, and `every 3rd day` means every three days. Weekdays may follow each other without a comma or `and`;
/// no other days may.
struct RecurrencePhrase {
  let words: [String]
  /// The next word to read.
  private(set) var index = 0
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

  var isAtEnd: Bool { index == words.count }

  /// The error for a phrase that cannot be understood.
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

  /// Reads the longest recurrence at the start of the words.
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
    let weekStart = attempt { $0.skipAfterComma("with", "weeks", "from") ? $0.weekday() : nil }
    return .rule(
      try RecurrenceRule(
        every: RecurrenceInterval(repeats.count, repeats.unit), on: repeats.days.weekdays,
        onMonthDays: repeats.days.monthDays, end: attempt { $0.end() } ?? .never, weekStart: weekStart ?? 1))
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
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return word { names.firstIndex(of: $0).map { $0 + 1 } ?? $0.smallNumber }
  }

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

extension RecurrencePhrase {
  /// The days that a phrase lists.
  struct Days {
    var weekdays: [RecurrenceWeekday] = []
    var monthDays: [Int] = []
    /// Whether a weekday has neither an ordinal nor `each`, so that it is ambiguous within a month.
    var hasBareWeekday = false
    /// The ordinals that can only count weekdays within a month.
    var certainOrdinals: Set<Int> = []
    /// The unit in `of the month` or `of the year`.
    var scope: RecurrenceUnit?
  }

  /// Reads some words and then a list of days that satisfies a condition.
  mutating func days(after expected: String..., where isRight: (Days) -> Bool) -> Days? {
    guard expected.allSatisfy({ skip($0) }), let days = days(), isRight(days) else { return nil }
    return days
  }

  /// Reads a list of days.
  mutating func days() -> Days? {
    if let numbers = attempt({ $0.bareMonthDays() }) { return numbers }
    guard var days = attempt({ $0.day(addedTo: Days()) }) else { return nil }
    while let longer = attempt({ phrase in
      let hasComma = phrase.skip(",")
      let isJoined = phrase.skip("and") || phrase.skip("or") || hasComma
      return isJoined || days.endsWithWeekday && phrase.isAtWeekday ? phrase.day(addedTo: days) : nil
    }) {
      days = longer
    }
    days.scope = attempt { phrase in
      // `15th each month` needs no `of`; `monday each month` does not say which Monday.
      let hasOf = phrase.skip("of")
      guard hasOf || days.weekdays.allSatisfy({ $0.ordinal != nil }),
        hasOf && phrase.skip("the") || phrase.skip("each") || phrase.skip("every"), let unit = phrase.unit()
      else { return nil }
      return unit == .month || hasOf && unit == .year ? unit : nil
    }
    return days
  }

  private var isAtWeekday: Bool { words.dropFirst(index).first.flatMap(CalendarNames.weekday) != nil }

  /// Reads `2, 15, 27`, but not a single number.
  private mutating func bareMonthDays() -> Days? {
    var days = Days()
    repeat {
      guard let number = word({ $0.smallNumber }), (1...31).contains(number) else { return nil }
      days.monthDays.append(number)
    } while words.dropFirst(index + 1).first?.smallNumber != nil && skip(",")
    return days.monthDays.count > 1 ? days : nil
  }

  private mutating func day(addedTo list: Days) -> Days? {
    var days = list
    let isEach = skip("each") || skip("every") || skip("a") || skip("an")
    let isOne = !isEach && skip("the")
    // `3rd friday` counts within the month; `second monday` may mean every other one.
    let isCertain = words.dropFirst(index).first?.first?.isNumber ?? false
    if !isEach, let ordinal = ordinal() {
      if let weekday = weekday() {
        if ordinal > 2, isCertain { days.certainOrdinals.insert(ordinal) }
        guard let weekday = try? RecurrenceWeekday(weekday, ordinal: ordinal) else { return nil }
        days.weekdays.append(weekday)
      } else {
        guard skip("day") || ordinal > 0 else { return nil }
        days.monthDays.append(ordinal)
      }
      return days
    }
    guard !isOne, let weekday = weekday().flatMap({ try? RecurrenceWeekday($0) }) else { return nil }
    days.weekdays.append(weekday)
    days.hasBareWeekday = days.hasBareWeekday || !isEach
    return days
  }

  /// Reads `first`, `1st`, `last` or `second to last`; ordinals from the end are negative.
  mutating func ordinal() -> Int? {
    if skip("last") { return -1 }
    guard let number = word({ $0.ordinalNumber }) else { return nil }
    return skip("to", "last") || skip("last") ? -number : number
  }
}

extension RecurrencePhrase.Days {
  var isEmpty: Bool { weekdays.isEmpty && monthDays.isEmpty }
  /// Whether another weekday may follow without a comma, as in `mon wed fri`.
  var endsWithWeekday: Bool { monthDays.isEmpty && weekdays.last.map { $0.ordinal == nil } ?? false }
  private var hasOrdinals: Bool { weekdays.contains { $0.ordinal != nil } }

  /// Whether they are plain weekdays, as a weekly rule has.
  var areWeekdays: Bool { monthDays.isEmpty && !hasOrdinals && scope == nil }

  /// Whether they are days of a month, or numbered weekdays of one.
  private var areOfPeriod: Bool { weekdays.isEmpty || (monthDays.isEmpty && !hasBareWeekday) }

  /// Whether they may follow `on` in a rule with this unit.
  func canFollow(_ unit: RecurrenceUnit) -> Bool {
    switch unit {
    case .day: false
    case .week: areWeekdays
    case .month: areOfPeriod && scope != .year
    case .year: areOfPeriod && (weekdays.isEmpty ? scope == .month : scope != .month)
    }
  }

  /// The unit of a rule where `every` comes directly before these days, as in `every last friday of the month`.
  var unitAfterEvery: RecurrenceUnit? {
    if areWeekdays { return .week }
    let isOfPeriod = weekdays.isEmpty ? scope != .year : monthDays.isEmpty && weekdays.allSatisfy { $0.ordinal != nil }
    return isOfPeriod && !isAmbiguous ? scope ?? .month : nil
  }

  /// Whether an ordinal could also count weeks.
  var isAmbiguous: Bool {
    scope == nil && weekdays.contains { $0.ordinal.map { $0 > 1 && !certainOrdinals.contains($0) } ?? false }
  }
}

extension String {
  /// The number of an ordinal: `first` to `fifth`, or digits with their ending.
  fileprivate var ordinalNumber: Int? {
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

    /// Whether `if it is` may follow: only if the rule is by days, or by days of the month, since those are not
    /// limited to weekdays.
    var canHaveCondition: Bool {
      unit == .day || (unit != .week && !days.monthDays.isEmpty)
    }
  }

  /// Reads `after 3 days` or `every 3 days after completion`.
  mutating func intervalAfterCompletion() -> (count: Int, unit: RecurrenceUnit)? {
    if skip("after") || skip("every!") { return interval() }
    _ = skip("every")
    guard let interval = interval(), skip("after", "completion") else { return nil }
    return interval
  }

  /// Reads how often something repeats.
  mutating func repeats() -> Repeats? {
    if let (count, unit) = word({ Self.adverbs[$0] }) { return Repeats(count: count, unit: unit) }
    let isEvery = skip("every")
    if let days = word({ Self.groups[$0]?.compactMap { try? RecurrenceWeekday($0) } }) {
      return Repeats(count: 1, unit: .week, days: Days(weekdays: days))
    }
    guard isEvery else { return nil }
    if skip("other") {
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

  private static let adverbs: [String: (count: Int, unit: RecurrenceUnit)] = [
    "daily": (1, .day), "weekly": (1, .week), "fortnightly": (2, .week), "monthly": (1, .month),
    "quarterly": (3, .month), "yearly": (1, .year), "annually": (1, .year),
  ]

  private static let groups: [String: ClosedRange<Int>] = [
    "weekday": 1...5, "weekdays": 1...5, "workday": 1...5, "workdays": 1...5, "weekend": 6...7, "weekends": 6...7,
  ]
}

extension RecurrencePhrase {
  /// Reads the end of a recurrence: a last day, or a number of times.
  mutating func end() -> RecurrenceEnd? {
    if skipAfterComma("until") { return date().map { .until($0) } }
    _ = skip(",")
    _ = skip("for")
    guard let count = number(), skip("times") || skip("time") else { return nil }
    return .count(count)
  }

  /// Reads `2026-12-31`, `31 December 2026` or `December 31, 2026`.
  private mutating func date() -> CalendarDay? {
    if let day = word({ try? CalendarDay(iso8601: $0) }) { return day }
    let day: Int?
    let month: Int?
    if let number = number() {
      (day, month) = (number, word(CalendarNames.month))
    } else {
      (month, day) = (word(CalendarNames.month), number())
      _ = skip(",")
    }
    guard let day, let month, let year = word({ $0.smallNumber }) else { return nil }
    return try? CalendarDay(year: year, month: month, day: day)
  }
}

/// The English names of weekdays and months.
public enum CalendarNames {
  /// From Monday on.
  public static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  /// From January on.
  public static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]

  /// The number of a weekday, from 1 for Monday, given its name in any case: in full, in the plural, or cut
  /// after three or more letters (`mon`, `tues`).
  static func weekday(_ word: String) -> Int? {
    number(of: word, among: weekdays)
      ?? (word.hasSuffix("s") ? number(of: String(word.dropLast()), among: weekdays) : nil)
  }

  /// The number of a month, from 1 for January, given its name in any case, in full or cut after three or more letters.
  static func month(_ word: String) -> Int? {
    number(of: word, among: months)
  }

  private static func number(of word: String, among names: [String]) -> Int? {
    guard word.utf8.count >= 3 else { return nil }
    return names.firstIndex { $0.lowercased().hasPrefix(word.lowercased()) }.map { $0 + 1 }
  }
}

extension CalendarNames {
  /// The number of a weekday, given its name or a common abbreviation in lower case.
  ///
  /// Stricter than ``weekday(_:)``: in a sentence, a name cut at any letter is more often another word.
  static func commonWeekday(_ word: String) -> Int? {
    let isCommon = word.utf8.count == 3 || ["tues", "weds", "thur", "thurs"].contains(word)
    // `weds` is the only abbreviation that is not a prefix of the name.
    return number(of: word == "weds" ? "wed" : word, among: weekdays, isAbbreviated: isCommon)
  }

  /// The number of a month, given its name or a common abbreviation in lower case; `Marc` is not one.
  static func commonMonth(_ word: String) -> Int? {
    number(of: word, among: months, isAbbreviated: word.utf8.count == 3 || word == "sept")
  }

  private static func number(of word: String, among names: [String], isAbbreviated: Bool) -> Int? {
    names.firstIndex { $0.lowercased() == word || isAbbreviated && $0.lowercased().hasPrefix(word) }.map { $0 + 1 }
  }
}
