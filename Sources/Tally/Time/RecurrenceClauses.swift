import TallyEngine

extension RecurrencePhrase {
  /// What may stand before or after a rule.
  struct Clauses: Equatable {
    var weekNumbers: [Int] = []
    var months: [Int] = []
    var positions: [Int] = []
    var skipsShortMonths = false
    var weekStart: Int?
    var end = RecurrenceEnd.never
    /// What is left out.
    var withoutWeekdays: [Int] = []
    var withoutMonths: [Int] = []
    var exceptions: [CalendarDay] = []
    /// The first day, if the words name one.
    var start: CalendarDay?
    /// Whether the recurrence counts from each completion.
    var followsCompletion = false
  }

  /// Reads another clause.
  mutating func clauses(addedTo clauses: Clauses, after repeats: Repeats) -> Clauses? {
    var clauses = clauses
    if clauses.weekNumbers.isEmpty, let numbers = attempt({ $0.weekNumbers() }) {
      clauses.weekNumbers = numbers
    } else if clauses.months.isEmpty, repeats.days.months.isEmpty, let months = attempt({ $0.monthsAfterPreposition() })
    {
      clauses.months = months
    } else if clauses.positions.isEmpty, let positions = attempt({ $0.positions() }) {
      clauses.positions = positions
    } else if skipAfterComma("skipping", "shorter", "months") {
      clauses.skipsShortMonths = true
    } else if clauses.weekStart == nil,
      let day = attempt({ $0.skipAfterComma("with", "weeks", "from") ? $0.weekday() : nil })
    {
      clauses.weekStart = day
    } else if clauses.end == .never, let end = attempt({ $0.end() }) {
      clauses.end = end
    } else if let longer = attempt({ $0.exceptions(addedTo: clauses) }) {
      clauses = longer
    } else if clauses.start == nil, let (start, end) = attempt({ $0.firstDay(mayEnd: clauses.end == .never) }) {
      clauses.start = start
      if let end { clauses.end = .until(end) }
    } else if !clauses.followsCompletion, skipCompletion() {
      clauses.followsCompletion = true
    } else {
      return nil
    }
    return clauses
  }

  /// Reads `in week 20` or `in weeks 1, 20 and -1`.
  private mutating func weekNumbers() -> [Int]? {
    guard skip("in", "week") || skip("in", "weeks"), let first = word({ Int($0) }) else { return nil }
    var numbers = [first]
    // In `in weeks 1 and 20, 6 times`, six is no week.
    while let number = attempt({ phrase -> Int? in
      guard phrase.skipJoint(), let number = phrase.word({ Int($0) }) else { return nil }
      return phrase.skip("times") || phrase.skip("time") ? nil : number
    }) {
      numbers.append(number)
    }
    return numbers
  }

  /// Reads `but only the first and the last of these`.
  private mutating func positions() -> [Int]? {
    guard skipAfterComma("but", "only") else { return nil }
    var positions: [Int] = []
    repeat {
      _ = skip("the")
      guard let ordinal = ordinal() else { return nil }
      positions.append(ordinal)
    } while skipJoint()
    return skip("of", "these") ? positions : nil
  }

  /// Reads `except sundays`, `except in august` or `except 24 december 2026 and 31 december 2026`.
  private mutating func exceptions(addedTo clauses: Clauses) -> Clauses? {
    guard skipAfterComma("except") || skipAfterComma("excluding") || skipAfterComma("but", "not") else { return nil }
    _ = skip("for")
    guard var longer = attempt({ $0.exception(addedTo: clauses) }) else { return nil }
    while let more = attempt({ $0.skipJoint() ? $0.exception(addedTo: longer) : nil }) { longer = more }
    return longer
  }

  private mutating func exception(addedTo clauses: Clauses) -> Clauses? {
    var clauses = clauses
    _ = skip("on") || skip("in")
    if let day = attempt({ $0.date() }) {
      clauses.exceptions.append(day)
    } else if let days = word({ Self.groups[$0] }) {
      clauses.withoutWeekdays += days
    } else if let month = word(CalendarNames.month) {
      clauses.withoutMonths.append(month)
    } else {
      // In `except 24 december, every monday`, the rule follows.
      _ = skip("a") || words[index - 1] != "," && (skip("each") || skip("every"))
      guard let day = weekday() else { return nil }
      clauses.withoutWeekdays.append(day)
    }
    return clauses
  }

  /// Reads `starting 1 march` or `from 1 march to 5 march`.
  private mutating func firstDay(mayEnd: Bool) -> (start: CalendarDay, end: CalendarDay?)? {
    guard reference != nil,
      skipAfterComma("starting") || skipAfterComma("beginning") || skipAfterComma("from")
    else { return nil }
    _ = skip("on") || skip("from")
    let isWeekday = isAtWeekday
    guard let start = writtenDay() else { return nil }
    let end = attempt { phrase -> CalendarDay? in
      // `Monday to friday` are more likely the days of each week.
      guard mayEnd, phrase.skip("to") || phrase.skip("through"), !isWeekday || !phrase.isAtWeekday else { return nil }
      return phrase.writtenDay()
    }
    return (start, end)
  }

  /// Reads the end of a recurrence: a last day, or a number of times.
  private mutating func end() -> RecurrenceEnd? {
    if skipAfterComma("until") || reference != nil && (skipAfterComma("till") || skipAfterComma("ending")) {
      return writtenDay().map { .until($0) }
    }
    _ = skip(",")
    let isFor = skip("for")
    guard let count = number(), skip("times") || skip("time"), isFor || !isAtFrequency else { return nil }
    return .count(count)
  }

  /// Whether the next words make a frequency of a number of times, as in `3 times every week`.
  private var isAtFrequency: Bool {
    guard let word = words.dropFirst(index).first else { return false }
    return Self.articles.contains(word) || ["every", "each"].contains(word) || Self.adverbs[word] != nil
  }

  /// Whether the words have a number of times within a day, a week or the like, which no rule says.
  var hasFrequency: Bool {
    words.indices.contains { place in
      var phrase = self
      phrase.index = place
      guard !phrase.skip("once"), !phrase.skip("for"), place == 0 || words[place - 1] != "for" else { return false }
      let isTimes = phrase.skip("twice") || phrase.number() != nil && (phrase.skip("times") || phrase.skip("time"))
      return isTimes && phrase.isAtFrequency
    }
  }

  /// The words of a second end where the recurrence has one already; `nil` for anything else.
  func secondEnd(of reading: Reading) -> String? {
    var phrase = self
    guard reading.clauses.end != .never, phrase.end() != nil else { return nil }
    return words[index..<phrase.index].drop { $0 == "," }.joined(separator: " ").replacing(" ,", with: ",")
  }

  /// The words before a unit in `3 times a week`.
  static let articles: Set = ["a", "an", "per"]

  /// Reads a date, or another expression for a day if there is a reference.
  mutating func writtenDay() -> CalendarDay? {
    if let day = attempt({ $0.date() }) { return day }
    guard let reference else { return nil }
    for count in stride(from: min(4, words.count - index), to: 0, by: -1) {
      let text = words[index..<index + count].joined(separator: " ")
      guard let day = try? DateExpression(text, as: .day).day(against: reference) else { continue }
      index += count
      return day
    }
    return nil
  }

  /// Reads `2026-12-31`, `31 December 2026` or `December 31, 2026`; with ``today`` also `31 December`, the next one.
  private mutating func date() -> CalendarDay? {
    if let day = word({ try? CalendarDay(iso8601: $0) }) { return day }
    let day: Int?
    let month: Int?
    if let number = number() ?? word({ $0.ordinalNumber }) {
      _ = skip("of")
      (day, month) = (number, word(CalendarNames.month))
    } else {
      (month, day) = (word(CalendarNames.month), number() ?? word { $0.ordinalNumber })
    }
    // In `except in october 17 times`, it is no day.
    guard let day, let month, !["time", "times"].contains(words.dropFirst(index).first) else { return nil }
    let isYear = { [today] (word: String) in today == nil || word.utf8.count == 4 }
    let year = attempt { phrase in
      _ = phrase.skip(",")
      return phrase.word { isYear($0) ? $0.smallNumber : nil }
    }
    if let year { return try? CalendarDay(year: year, month: month, day: day) }
    guard let today else { return nil }
    // February 29 is at most eight years away.
    return (0...8).lazy.compactMap { try? CalendarDay(year: today.year + $0, month: month, day: day) }
      .first { $0 >= today }
  }
}

/// The parts of a rule that a phrase names.
struct RecurrenceParts {
  private let interval: (count: Int, unit: RecurrenceUnit)
  private var unit: RecurrenceUnit
  private var weekdays: [RecurrenceWeekday]
  private var months: [Int]
  private var monthDays: [Int]
  private var yearDays: [Int]
  private var positions: [Int]
  private let clauses: RecurrencePhrase.Clauses

  /// Combines the days with what follows them; `nil` if no rule says it.
  init?(_ repeats: RecurrencePhrase.Repeats, _ clauses: RecurrencePhrase.Clauses) {
    let days = repeats.days
    interval = (repeats.count, repeats.unit)
    (unit, self.clauses) = (repeats.unit, clauses)
    (weekdays, months) = (days.weekdays + days.group, days.months + clauses.months)
    (monthDays, yearDays, positions) = (days.monthDays, days.yearDays, days.positions + clauses.positions)
    guard !days.isOrElseLast || unit == .month, days.positions.isEmpty || clauses.positions.isEmpty else { return nil }
    if !days.dates.isEmpty {
      guard months.isEmpty else { return nil }
      if let product = DayOfYear.product(days.dates) {
        (months, monthDays) = product
      } else {
        let numbers = days.dates.map(\.number)
        guard !numbers.contains(nil) else { return nil }
        yearDays += numbers.compactMap(\.self)
      }
    }
    guard removeWeekdays(), removeMonths() else { return nil }
  }

  /// Leaves out weekdays; false if no rule says it.
  private mutating func removeWeekdays() -> Bool {
    guard !clauses.withoutWeekdays.isEmpty else { return true }
    let areNamed = !weekdays.isEmpty || unit == .day || unit == .hour || !monthDays.isEmpty || !yearDays.isEmpty
    guard positions.isEmpty, weekdays.allSatisfy({ $0.ordinal == nil }), areNamed else { return false }
    // A rule for every day that names weekdays is better known as one for every week.
    if unit == .day, interval.count == 1, monthDays.isEmpty { unit = .week }
    let named = weekdays.isEmpty ? RecurrenceWeekday.workdays + RecurrenceWeekday.weekend : weekdays
    weekdays = named.filter { !clauses.withoutWeekdays.contains($0.weekday) }
    return !weekdays.isEmpty
  }

  /// Leaves out months; false if no rule says it.
  private mutating func removeMonths() -> Bool {
    guard !clauses.withoutMonths.isEmpty else { return true }
    if unit == .year {
      // In a rule for years, months change the meaning of the other parts.
      let areKept = !months.isEmpty || !monthDays.isEmpty || !yearDays.isEmpty
      guard positions.isEmpty, areKept else { return false }
    }
    months = (months.isEmpty ? Array(1...12) : months).filter { !clauses.withoutMonths.contains($0) }
    return !months.isEmpty
  }

  func rule() throws(TallyError) -> RecurrenceRule {
    try RecurrenceRule(
      every: RecurrenceInterval(interval.count, unit), on: weekdays, onMonthDays: monthDays, onYearDays: yearDays,
      inWeeks: clauses.weekNumbers, inMonths: months, atPositions: positions, except: clauses.exceptions,
      end: clauses.end, weekStart: clauses.weekStart ?? 1)
  }
}
