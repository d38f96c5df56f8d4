import TallyEngine

extension RecurrencePhrase {
  /// The days that a phrase lists.
  struct Days {
    var weekdays: [RecurrenceWeekday] = []
    var monthDays: [Int] = []
    /// The days of the year, as in `the 100th day of the year`.
    var yearDays: [Int] = []
    /// Dates of each year.
    var dates: [DayOfYear] = []
    /// The weekdays among which `the first weekday` counts, and the ordinals.
    var group: [RecurrenceWeekday] = []
    var positions: [Int] = []
    /// The months in `the last friday in november`.
    var months: [Int] = []
    /// Whether a weekday has neither an ordinal nor `each`, so that it is ambiguous within a month.
    var hasBareWeekday = false
    /// The ordinals that can only count weekdays within a month.
    var certainOrdinals: Set<Int> = []
    /// Whether `or else the last day` follows a day of the month.
    var isOrElseLast = false
    /// The unit in `of the month` or `of the year`.
    var scope: RecurrenceUnit?
  }

  /// Reads some words and then a list of days that satisfies a condition.
  mutating func days(after expected: String..., where isRight: (Days) -> Bool) -> Days? {
    _ = skip(",")
    guard expected.allSatisfy({ skip($0) }), let days = days(), isRight(days) else { return nil }
    return days
  }

  /// Reads a list of days.
  mutating func days() -> Days? {
    if let numbers = attempt({ $0.bareMonthDays() }) { return numbers }
    guard var days = attempt({ $0.day(addedTo: Days()) }) else { return nil }
    while let longer = attempt({ phrase in
      let isJoined = phrase.skipJoint()
      return isJoined || days.endsWithWeekday && phrase.isAtWeekday ? phrase.day(addedTo: days) : nil
    }) {
      days = longer
    }
    // A date has its month: in `on dec 5 every month`, the rest is another recurrence.
    guard days.dates.isEmpty else { return days }
    days.scope = attempt { phrase in
      // `15th each month` needs no `of`; `monday each month` does not say which Monday.
      let hasOf = phrase.skip("of")
      guard hasOf || days.weekdays.allSatisfy({ $0.ordinal != nil }),
        hasOf && phrase.skip("the") || phrase.skip("each") || phrase.skip("every"), let unit = phrase.unit()
      else { return nil }
      return unit == .month || hasOf && unit == .year ? unit : nil
    }
    if days.scope == .year { (days.yearDays, days.monthDays) = (days.monthDays, []) }
    // `every monday in june` is a rule for weeks, whose months follow as a clause.
    if days.dates.isEmpty, days.weekdays.allSatisfy({ $0.ordinal != nil }) {
      days.months = attempt { $0.monthsAfterPreposition() } ?? []
    }
    return days
  }

  var isAtWeekday: Bool { words.dropFirst(index).first.flatMap(CalendarNames.weekday) != nil }

  /// Skips a comma, `and` or `or`, or a comma before one of these words.
  mutating func skipJoint() -> Bool {
    let hasComma = skip(",")
    return skip("and") || skip("or") || hasComma
  }

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
    if let date = attempt({ $0.dayOfYear() }) {
      guard days.weekdays.isEmpty, days.group.isEmpty else { return nil }
      // In `the 1st and 15th of march`, both are in March.
      days.dates += days.monthDays.map { DayOfYear(month: date.month, day: $0) } + [date]
      days.monthDays = []
      return days
    }
    guard days.dates.isEmpty else { return nil }
    let isEach = skip("each") || skip("every") || skip("a") || skip("an")
    let isOne = !isEach && skip("the")
    // `3rd friday` counts within the month; `second monday` may mean every other one.
    let isCertain = words.dropFirst(index).first?.first?.isNumber ?? false
    if !isEach, let weekdays = attempt({ $0.numberedWeekdays() }) {
      days.certainOrdinals.formUnion(weekdays.compactMap(\.ordinal))
      days.weekdays += weekdays
      return days
    }
    if !isEach, let ordinal = ordinal() {
      let group = attempt { $0.group() } ?? []
      guard days.isEmpty || days.group == group else { return nil }
      if !group.isEmpty {
        if ordinal > 2, isCertain { days.certainOrdinals.insert(ordinal) }
        days.group = group
        days.positions.append(ordinal)
      } else if let weekday = weekday() {
        if ordinal > 2, isCertain { days.certainOrdinals.insert(ordinal) }
        guard let weekday = try? RecurrenceWeekday(weekday, ordinal: ordinal) else { return nil }
        days.weekdays.append(weekday)
      } else {
        guard skip("day") || ordinal > 0 else { return nil }
        days.monthDays.append(ordinal)
        if ordinal > 28, skip("or", "else", "the", "last", "day") { days.isOrElseLast = true }
      }
      return days
    }
    guard !isOne, days.group.isEmpty, let weekday = weekday().flatMap({ try? RecurrenceWeekday($0) }) else {
      return nil
    }
    days.weekdays.append(weekday)
    days.hasBareWeekday = days.hasBareWeekday || !isEach
    return days
  }

  /// Reads `first and third monday` or `1st and 3rd monday`, which can only be days of a month.
  ///
  /// `the 1st and the second monday` is a day of the month and a weekday.
  private mutating func numberedWeekdays() -> [RecurrenceWeekday]? {
    var (ordinals, areDigits): ([Int], Set<Bool>) = ([], [])
    repeat {
      _ = skip("the")
      areDigits.insert(words.dropFirst(index).first?.first?.isNumber ?? false)
      guard let ordinal = ordinal(), abs(clamping: ordinal) <= 5 else { return nil }
      ordinals.append(ordinal)
    } while skipJoint()
    guard ordinals.count > 1, areDigits.count == 1, let weekday = weekday() else { return nil }
    return ordinals.compactMap { try? RecurrenceWeekday(weekday, ordinal: $0) }
  }

  /// Reads `weekday` or `weekend day` after an ordinal.
  private mutating func group() -> [RecurrenceWeekday]? {
    if skip("weekday") || skip("workday") || skip("working", "day") { return RecurrenceWeekday.workdays }
    return skip("weekend", "day") ? RecurrenceWeekday.weekend : nil
  }

  /// Reads `1 march`, `march 1`, `the 1st of march` or `the last day of february`.
  private mutating func dayOfYear() -> DayOfYear? {
    var date: DayOfYear?
    if let month = word(CalendarNames.month) {
      _ = skip("the")
      date = dayOfMonth().map { DayOfYear(month: month, day: $0) }
    } else {
      _ = skip("the")
      if let day = dayOfMonth() {
        if skip("day"), !words.dropFirst(index).starts(with: ["of"]) { return nil }
        _ = skip("of")
        date = word(CalendarNames.month).map { DayOfYear(month: $0, day: day) }
      }
    }
    // In years without it, the day is the last of February.
    if date == DayOfYear(month: 2, day: 29) { date?.day = -1 }
    return date.flatMap { $0.isInEveryYear ? $0 : nil }
  }

  private mutating func dayOfMonth() -> Int? {
    let number = attempt { $0.ordinal() } ?? word { $0.smallNumber }
    return number.flatMap { (1...31).contains(abs(clamping: $0)) ? $0 : nil }
  }

  /// Reads months after `in` or `of`.
  mutating func monthsAfterPreposition() -> [Int]? {
    guard skip("in") || skip("of") else { return nil }
    return months()
  }

  /// Reads a list of months.
  mutating func months() -> [Int]? {
    guard let first = word(CalendarNames.month) else { return nil }
    var months = [first]
    while let month = attempt({ $0.skipJoint() ? $0.word(CalendarNames.month) : nil }) { months.append(month) }
    return months
  }

  /// Reads `first`, `1st`, `last` or `second to last`; ordinals from the end are negative.
  mutating func ordinal() -> Int? {
    if skip("last") { return -1 }
    guard let number = word({ $0.ordinalNumber }) else { return nil }
    return skip("to", "last") || skip("last") ? -number : number
  }
}

extension RecurrencePhrase.Days {
  var isEmpty: Bool {
    weekdays.isEmpty && [monthDays, yearDays, positions].joined().isEmpty && dates.isEmpty
  }
  /// Whether another weekday may follow without a comma, as in `mon wed fri`.
  var endsWithWeekday: Bool { monthDays.isEmpty && weekdays.last.map { $0.ordinal == nil } ?? false }
  private var hasOrdinals: Bool { weekdays.contains { $0.ordinal != nil } }

  /// Whether they are plain weekdays, as a weekly rule has.
  var areWeekdays: Bool {
    [monthDays, yearDays, positions].joined().isEmpty && dates.isEmpty && !hasOrdinals && scope == nil
  }

  /// Whether they may follow `if it is`.
  var areCondition: Bool { scope == nil && dates.isEmpty && positions.isEmpty && !isOrElseLast }

  /// Whether they are days of a month, or numbered weekdays of one.
  private var areOfPeriod: Bool {
    dates.isEmpty && (weekdays.isEmpty || (monthDays.isEmpty && !hasBareWeekday))
  }

  /// Whether they may follow `on` in a rule with this unit.
  func canFollow(_ unit: RecurrenceUnit) -> Bool {
    switch unit {
    case .day: return false
    case .hour, .week: return areWeekdays
    case .month: return areOfPeriod && scope != .year
    case .year:
      guard dates.isEmpty, !isOrElseLast else { return !dates.isEmpty }
      let areOfMonths = !positions.isEmpty || !months.isEmpty || scope != nil
      return areOfPeriod && (weekdays.isEmpty ? areOfMonths && (positions.isEmpty || scope != .month) : scope != .month)
    }
  }

  /// The unit of a rule where `every` comes directly before these days, as in `every last friday of the month`.
  var unitAfterEvery: RecurrenceUnit? {
    if !dates.isEmpty { return .year }
    if areWeekdays { return .week }
    let isOfPeriod = weekdays.isEmpty || monthDays.isEmpty && weekdays.allSatisfy { $0.ordinal != nil }
    guard isOfPeriod, !isAmbiguous else { return nil }
    // A position counts in all months of a year together.
    return scope ?? (months.isEmpty || !positions.isEmpty || isOrElseLast ? .month : .year)
  }

  /// Whether an ordinal could also count weeks.
  var isAmbiguous: Bool {
    scope == nil && months.isEmpty
      && (weekdays.compactMap(\.ordinal) + positions).contains { $0 > 1 && !certainOrdinals.contains($0) }
  }
}
