extension DateParser {
  /// Reads distances with signs and without blanks, such as `+3d` or `+1y-2w`; with a base, the first sign must directly
  /// follow it.
  mutating func offset(hasBase: Bool) -> DateExpression.Offset? {
    attempt { parser in
      var offset: DateExpression.Offset?
      while let sign = parser.sign(isGlued: hasBase || offset != nil) {
        guard let part = parser.duration(isGlued: true) else { return nil }
        offset = (offset ?? .zero).adding(part, times: sign)
      }
      return offset
    }
  }

  /// Reads what counts from the present: `now+2h`, `+2h`, `in 2 hours`, `2 hours ago`, `1d12h`.
  mutating func offsetFromNow() -> DateExpression.Offset? {
    attempt { parser in
      if parser.take("now") { return parser.offset(hasBase: true) ?? .zero }
      if let offset = parser.offset(hasBase: false) { return offset.seconds == 0 ? nil : offset }
      if parser.take("in") {
        return parser.anyDuration().flatMap { $0.seconds == 0 ? nil : $0 }
      }
      guard let duration = parser.anyDuration() else { return nil }
      if parser.take(words: "from", "now") { return duration.seconds == 0 ? nil : duration }
      guard parser.take("ago") else { return parser.isBeforeOtherDay ? nil : duration }
      return duration.seconds == 0 ? nil : .zero.adding(duration, times: -1)
    }
  }

  /// Whether a distance that was just read counts from a day that follows, as in `3 days before 24 dec`.
  private var isBeforeOtherDay: Bool {
    var ahead = self
    return ahead.direction() != nil && ahead.base() != nil
  }

  private mutating func direction() -> Int? { word { ["before": -1, "after": 1, "from": 1][$0] } }

  /// Reads `in 3 days`, `3 days ago`, `3 days from now` and `3 days before 24 dec`.
  mutating func distanceInWords() -> DateExpression.Day? {
    attempt { parser in
      let isFromToday = parser.take("in")
      guard let offset = parser.anyDuration(), offset.seconds == 0 else { return nil }
      var day = DateExpression.Day(.today)
      if isFromToday || parser.take(words: "from", "now") {
        day.offset = offset
      } else if parser.take("ago") {
        day.offset = day.offset.adding(offset, times: -1)
      } else {
        guard let sign = parser.direction(), let base = parser.base() else { return nil }
        day = base
        day.offset = day.offset.adding(offset, times: sign)
      }
      return day
    }
  }

  /// Reads `1d12h`: numbers with units, without blanks.
  private mutating func duration(isGlued: Bool) -> DateExpression.Offset? {
    attempt { parser in
      var duration: DateExpression.Offset?
      while let part = parser.attempt({ $0.part(isGlued: isGlued || duration != nil, unitIsGlued: true) }) {
        duration = (duration ?? .zero).adding(part, times: 1)
      }
      return parser.token(isGlued: true)?.kind == .number ? nil : duration
    }
  }

  /// Reads `1d12h`, or one number and unit with a blank: `3 days`, `a week`, `two hours`, `half an hour`.
  mutating func anyDuration() -> DateExpression.Offset? {
    duration(isGlued: false) ?? fractionOfHours() ?? severalUnits()
      ?? attempt { parser in
        guard let part = parser.part(isGlued: false, unitIsGlued: false) else { return nil }
        // `An hour and a half`.
        guard part.seconds == 3_600, parser.take(words: "and", "a", "half") else { return part }
        return .init(seconds: 5_400)
      }
  }

  /// Reads `half an hour`, `1.5 hours` and `two and a half hours`.
  private mutating func fractionOfHours() -> DateExpression.Offset? {
    attempt { parser in
      if parser.take("half") {
        _ = parser.take("an") || parser.take("a")
        return parser.take("hour") ? .init(seconds: 1_800) : nil
      }
      guard let hours = parser.number(digits: 1...3) ?? parser.word({ Self.numberWords[$0] }) else { return nil }
      guard !parser.take(words: "and", "a", "half") else {
        return parser.take("hours") ? .init(seconds: 3_600 * hours + 1_800) : nil
      }
      guard parser.take(".", isGlued: true) || parser.take(",", isGlued: true),
        let tenths = parser.number(digits: 1...1, isGlued: true),
        parser.word({ ["h", "hr", "hrs", "hour", "hours"].contains($0) ? true : nil }) != nil
      else { return nil }
      return .init(seconds: 3_600 * hours + 360 * tenths)
    }
  }

  /// Reads `a couple of days`.
  private mutating func severalUnits() -> DateExpression.Offset? {
    attempt { parser in
      guard parser.take(words: "a", "couple") else { return nil }
      _ = parser.take("of")
      return parser.word { Self.units[$0] }.map { .zero.adding($0, times: 2) }
    }
  }

  private mutating func part(isGlued: Bool, unitIsGlued: Bool) -> DateExpression.Offset? {
    noteIfTooLarge(digits: 7, isGlued: isGlued, Self.tooLargeDistance) { ahead in
      ahead.word { Self.units[$0] } != nil
    }
    let count =
      number(digits: 1...7, isGlued: isGlued) ?? (unitIsGlued ? nil : word { Self.numberWords[$0] })
    guard let count, let unit = word(isGlued: unitIsGlued, { Self.units[$0] }) else { return nil }
    return .zero.adding(unit, times: count)
  }

  private mutating func sign(isGlued: Bool) -> Int? {
    if take("+", isGlued: isGlued) { return 1 }
    return take("-", isGlued: isGlued) ? -1 : nil
  }

  private static let tooLargeDistance = TallyError(
    .valueOutOfRange, "The distance is too large for the years 1 to 9999",
    remedy: "Write a smaller number, as in today+30d or 2h")

  /// Months are not `m`: in a duration that means minutes.
  private static let units: [String: DateExpression.Offset] = {
    let names: [(DateExpression.Offset, [String])] = [
      (.init(seconds: 1), ["s", "sec", "secs", "second", "seconds"]),
      (.init(seconds: 60), ["m", "min", "mins", "minute", "minutes"]),
      (.init(seconds: 3_600), ["h", "hr", "hrs", "hour", "hours"]),
      (.init(days: 1), ["d", "day", "days"]),
      (.init(days: 7), ["w", "wk", "wks", "week", "weeks"]),
      (.init(months: 1), ["mo", "mos", "month", "months"]),
      (.init(months: 12), ["y", "yr", "yrs", "year", "years"]),
    ]
    return Dictionary(uniqueKeysWithValues: names.flatMap { unit, names in names.map { ($0, unit) } })
  }()

  private static let numberWords = [
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
  ]
}

extension DateExpression.Offset {
  mutating func add(_ other: DateExpression.Offset) {
    self = adding(other, times: 1)
  }

  /// Another distance added some times; counts of seven digits cannot overflow.
  func adding(_ other: DateExpression.Offset, times count: Int) -> DateExpression.Offset {
    DateExpression.Offset(
      months: months + count * other.months, days: days + count * other.days,
      seconds: seconds + count * other.seconds)
  }
}
