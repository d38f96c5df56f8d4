extension DateParser {
  /// Reads a time without a day.
  mutating func time() -> DateExpression.TimeOfDay? {
    attempt { parser in
      if parser.take("noon") { return .noon }
      if parser.take("midnight") { return .midnight }
      let hasPreposition = parser.take("at")
      // Not by recursion: `at at at …` would be read to its end from each of its words.
      if hasPreposition, parser.take("noon") { return .noon }
      if hasPreposition, parser.take("midnight") { return .midnight }
      return parser.clock(allowsBareHour: hasPreposition)
    }
  }

  /// Reads a time behind a day.
  mutating func time(after day: DateExpression.Day) -> DateExpression.TimeOfDay? {
    attempt { parser in
      if parser.take("@") { return parser.clock(allowsBareHour: true) }
      let hasPreposition = parser.take("at")
      if parser.take("midnight") { return parser.ambiguousMidnight() }
      if parser.take("noon") { return .noon }
      if let time = parser.timeInPartOfDay() { return time }
      // `QuickEntryParser.span(at:)` reads spans such as `3pm-4pm`; they are not single times.
      guard hasPreposition || !parser.isAtTimeSpan else { return nil }
      return parser.clock(allowsBareHour: hasPreposition || parser.allowsBareHours)
    }
  }

  /// Reads `tonight` and `this evening`, with a time or not.
  mutating func partOfToday() -> DateExpression.Form? {
    attempt { parser in
      let today = DateExpression.Day(.today)
      guard parser.take("tonight") else {
        guard parser.take("this") else { return nil }
        return parser.timeInPartOfDay().map { .dayAndTime(today, $0) }
      }
      return .dayAndTime(today, parser.time(in: .night))
    }
  }

  /// Reads the time behind a part of the day, which is that part's own if there is none.
  private mutating func time(in part: DateExpression.TimeOfDay) -> DateExpression.TimeOfDay {
    let time = attempt { parser in
      let hasPreposition = parser.take("at")
      return parser.clock(allowsBareHour: hasPreposition || parser.allowsBareHours, isInPart: true)
    }
    guard let time else { return part }
    // "Tonight at 8" is not in the morning.
    let noon = DateExpression.TimeOfDay.noon.minute
    return part.minute > noon && time.minute < noon ? DateExpression.TimeOfDay(minute: time.minute + noon) : time
  }

  /// Reads `morning` and the like, with a time or not.
  mutating func timeInPartOfDay() -> DateExpression.TimeOfDay? {
    word { Self.partsOfDay[$0] }.map { time(in: $0) }
  }

  /// Whether a word is `morning` or the like.
  static func isPartOfDay(_ word: String) -> Bool {
    partsOfDay[word] != nil
  }

  private static let partsOfDay: [String: DateExpression.TimeOfDay] = [
    "morning": .morning, "afternoon": .afternoon, "evening": .evening, "night": .night,
  ]

  /// Reads `17:00`, `5pm`, `5:30 pm` and, where it cannot mean anything else, `17`.
  ///
  /// An hour alone from 1 to 6 is in the afternoon, unless `isInPart` says that a part of the day decides; `05` is in
  /// the morning.
  private mutating func clock(allowsBareHour: Bool, isInPart: Bool = false) -> DateExpression.TimeOfDay? {
    noteIfTooLarge(digits: 2, Self.impossibleTime) { ahead in
      let isClock = ahead.take(":", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
      return isClock || ahead.half() != nil
    }
    return attempt { parser in
      let isOneDigit = parser.token()?.text.utf8.count == 1
      guard var hour = parser.number(digits: 1...2) else { return nil }
      let minute = parser.minute() ?? parser.dottedMinute()
      let half = parser.half()
      parser.hasBareHour = minute == nil && half == nil
      guard allowsBareHour || !parser.hasBareHour, !parser.continuesNumber else { return nil }
      if let half {
        guard (1...12).contains(hour) else { return parser.impossibleTime() }
        hour = hour % 12 + half
      } else if parser.hasBareHour, isOneDigit, !isInPart, (1...6).contains(hour) {
        hour += 12
      }
      return DateExpression.TimeOfDay(hour: hour, minute: minute ?? 0) ?? parser.impossibleTime()
    }
  }

  /// Whether a span such as `3pm-4pm` comes next.
  var isAtTimeSpan: Bool {
    var ahead = self
    return ahead.timeSpan() != nil
  }

  /// Reads `3pm-4pm`, `from 9:00 to 10:30`, `between 2 and 3pm`: its start.
  mutating func timeSpan() -> DateExpression.TimeOfDay? {
    attempt { parser in
      let isBetween = parser.take("between")
      _ = isBetween || parser.take("from")
      let joints = isBetween ? ["and"] : ["-", "–", "to", "until", "till"]
      guard let start = parser.edgeOfSpan(), let joint = parser.token()?.text, joints.contains(joint) else {
        return nil
      }
      parser.index += 1
      guard let end = parser.edgeOfSpan(), !parser.continuesNumber, start.isClock || end.isClock else { return nil }
      // `2-3pm` is in the afternoon, `11-1pm` begins before noon.
      let isAfternoon = end.half == 12 && start.half == nil && start.hour < 12 && start.hour <= end.hour % 12
      let half = start.half ?? (isAfternoon ? 12 : nil)
      guard let half else { return DateExpression.TimeOfDay(hour: start.hour, minute: start.minute) }
      return DateExpression.TimeOfDay(hour: start.hour % 12 + half, minute: start.minute)
    }
  }

  /// One end of a span of time, as it is written.
  private struct EdgeOfSpan {
    let hour: Int
    let minute: Int
    let half: Int?
    /// Whether it is surely a time, not just a number.
    let isClock: Bool
  }

  private mutating func edgeOfSpan() -> EdgeOfSpan? {
    attempt { parser in
      guard let hour = parser.number(digits: 1...2) else { return nil }
      let (minute, half) = (parser.minute(), parser.half())
      guard hour < 24, minute ?? 0 < 60, half == nil || (1...12).contains(hour) else { return nil }
      return EdgeOfSpan(hour: hour, minute: minute ?? 0, half: half, isClock: minute != nil || half != nil)
    }
  }

  private mutating func minute() -> Int? {
    attempt { parser in
      parser.take(":", isGlued: true) ? parser.number(digits: 2...2, isGlued: true) : nil
    }
  }

  /// Reads `.30` of `9.30am`; without `am` or `pm` it is a number.
  private mutating func dottedMinute() -> Int? {
    attempt { parser in
      guard parser.take(".", isGlued: true), let minute = parser.number(digits: 2...2, isGlued: true) else {
        return nil
      }
      var ahead = parser
      return ahead.half() == nil ? nil : minute
    }
  }

  /// The hours that `am` or `pm` adds.
  private mutating func half() -> Int? {
    word { ["am": 0, "pm": 12][$0] }
  }

  /// Whether the tokens so far are only the start of something else, such as `12:30:15` or `9x`.
  private var continuesNumber: Bool {
    guard let token = token(isGlued: true) else { return false }
    return token.kind != .symbol || [":", "-", "/", "+", "%", "°"].contains(token.text) || isDecimalPoint(token)
  }

  private func isDecimalPoint(_ token: CaptureToken) -> Bool {
    guard [".", ","].contains(token.text), index + 1 < tokens.count else { return false }
    return tokens[index + 1].isGlued && tokens[index + 1].kind == .number
  }

  /// People mean either of the two days to which midnight belongs.
  private mutating func ambiguousMidnight() -> DateExpression.TimeOfDay? {
    fault = TallyError(
      .invalidInstant, "Midnight belongs to two days", remedy: "Write 0:00 for its beginning, or 23:59 for its end")
    return nil
  }

  private mutating func impossibleTime() -> DateExpression.TimeOfDay? {
    fault = Self.impossibleTime
    return nil
  }

  private static let impossibleTime = TallyError(
    .invalidInstant, "The time of day does not exist", remedy: "Write it as in 17:30, 5:30pm or 23:59")
}

extension DateExpression.TimeOfDay {
  /// Also when a reminder without a time comes: midnight would wake people up.
  static let morning = Self(minute: 9 * 60)
  fileprivate static let afternoon = Self(minute: 15 * 60)
  fileprivate static let evening = Self(minute: 18 * 60)
  fileprivate static let night = Self(minute: 20 * 60)
}
