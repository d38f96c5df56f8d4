extension RecurrencePhrase {
  /// The days that a phrase lists.
  struct Days {
    var weekdays: [RecurrenceWeekday] = []
    var monthDays: [Int] = []
    /// Whether a weekday has neither an ordinal nor `each`, so that in a month it is not clear which one is meant.
    var hasBareWeekday = false
    /// The ordinals that can only count weekdays of a month.
    var certainOrdinals: Set<Int> = []
    /// The unit of `of the month` or `of the year`.
    var scope: RecurrenceUnit?
  }

  /// Reads a list of days after some words, if it has a property.
  mutating func days(after expected: String..., where isRight: (Days) -> Bool) -> Days? {
    guard expected.allSatisfy({ take($0) }), let days = days(), isRight(days) else { return nil }
    return days
  }

  /// Reads a list of days.
  mutating func days() -> Days? {
    if let numbers = attempt({ $0.bareMonthDays() }) { return numbers }
    guard var days = attempt({ $0.day(addedTo: Days()) }) else { return nil }
    while let longer = attempt({ phrase in
      let hasComma = phrase.take(",")
      let isJoined = phrase.take("and") || phrase.take("or") || hasComma
      return isJoined || days.endsWithWeekday && phrase.isAtWeekday ? phrase.day(addedTo: days) : nil
    }) {
      days = longer
    }
    days.scope = attempt { phrase in
      // `15th each month` needs no `of`, while `monday each month` does not say which one.
      let hasOf = phrase.take("of")
      guard hasOf || days.weekdays.allSatisfy({ $0.ordinal != nil }),
        hasOf && phrase.take("the") || phrase.take("each") || phrase.take("every"), let unit = phrase.unit()
      else { return nil }
      return unit == .month || hasOf && unit == .year ? unit : nil
    }
    return days
  }

  private var isAtWeekday: Bool { words.dropFirst(index).first.flatMap(CalendarNames.weekday) != nil }

  /// Reads `2, 15, 27`, but no number alone.
  private mutating func bareMonthDays() -> Days? {
    var days = Days()
    repeat {
      guard let number = word({ $0.smallNumber }), (1...31).contains(number) else { return nil }
      days.monthDays.append(number)
    } while words.dropFirst(index + 1).first?.smallNumber != nil && take(",")
    return days.monthDays.count > 1 ? days : nil
  }

  private mutating func day(addedTo list: Days) -> Days? {
    var days = list
    let isEach = take("each") || take("every") || take("a") || take("an")
    let isOne = !isEach && take("the")
    // `3rd friday` counts in the month, while `second monday` may be every other.
    let isCertain = words.dropFirst(index).first?.first?.isNumber ?? false
    if !isEach, let ordinal = ordinal() {
      if let weekday = weekday() {
        if ordinal > 2, isCertain { days.certainOrdinals.insert(ordinal) }
        guard let weekday = try? RecurrenceWeekday(weekday, ordinal: ordinal) else { return nil }
        days.weekdays.append(weekday)
      } else {
        guard take("day") || ordinal > 0 else { return nil }
        days.monthDays.append(ordinal)
      }
      return days
    }
    guard !isOne, let weekday = weekday().flatMap({ try? RecurrenceWeekday($0) }) else { return nil }
    days.weekdays.append(weekday)
    days.hasBareWeekday = days.hasBareWeekday || !isEach
    return days
  }

  /// Reads `first`, `1st`, `last` or `second to last`; those from the end are negative.
  mutating func ordinal() -> Int? {
    if take("last") { return -1 }
    guard let number = word({ $0.ordinalNumber }) else { return nil }
    return take("to", "last") || take("last") ? -number : number
  }
}

extension RecurrencePhrase.Days {
  var isEmpty: Bool { weekdays.isEmpty && monthDays.isEmpty }
  /// Whether another weekday may follow without a comma, as in `mon wed fri`.
  var endsWithWeekday: Bool { monthDays.isEmpty && weekdays.last.map { $0.ordinal == nil } ?? false }
  private var hasOrdinals: Bool { weekdays.contains { $0.ordinal != nil } }

  /// Whether they are plain weekdays, as for a rule by weeks.
  var areWeekdays: Bool { monthDays.isEmpty && !hasOrdinals && scope == nil }

  /// Whether they are days of a month, or weekdays of one.
  private var areOfPeriod: Bool { weekdays.isEmpty || (monthDays.isEmpty && !hasBareWeekday) }

  /// Whether they may come after `on` in a rule by days, weeks, months or years.
  func canFollow(_ unit: RecurrenceUnit) -> Bool {
    switch unit {
    case .day: false
    case .week: areWeekdays
    case .month: areOfPeriod && scope != .year
    case .year: areOfPeriod && (weekdays.isEmpty ? scope == .month : scope != .month)
    }
  }

  /// The unit of a rule that is `every` before these days, as in `every last friday of the month`.
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
