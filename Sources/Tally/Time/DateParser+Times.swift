import TallyEngine

extension DateParser {
  /// Reads a time without a day.
  mutating func time() -> DateExpression.TimeOfDay? {
    attempt { parser in
      let hasPreposition = parser.skip("at")
      if parser.skip("noon") { return .noon }
      if parser.skip("midnight") { return .midnight }
      return parser.clock(allowsBareHour: hasPreposition)
    }
  }

  /// Reads a time that follows a day.
  mutating func time(after day: DateExpression.Day) -> DateExpression.TimeOfDay? {
    attempt { parser in
      if parser.skip("@") { return parser.clock(allowsBareHour: true) }
      let hasPreposition = parser.skip("at")
      if parser.skip("midnight") { return parser.ambiguousMidnight() }
      if parser.skip("noon") { return .noon }
      if let time = parser.timeInPartOfDay() { return time }
      // Spans such as `3pm-4pm` are not single times; `QuickEntryParser.span(at:)` reads them.
      guard hasPreposition || !parser.isAtTimeSpan else { return nil }
      return parser.clock(allowsBareHour: hasPreposition || parser.allowsBareHours)
    }
  }

  /// Reads `tonight` or `this evening`, with or without a time.
  mutating func partOfToday() -> DateExpression.Form? {
    attempt { parser in
      let today = DateExpression.Day(.today)
      guard parser.skip("tonight") else {
        guard parser.skip("this") else { return nil }
        return parser.timeInPartOfDay().map { .dayAndTime(today, $0) }
      }
      return .dayAndTime(today, parser.time(in: .night))
    }
  }

  /// Reads the time that follows a part of the day, or returns that part's default time.
  private mutating func time(in part: DateExpression.TimeOfDay) -> DateExpression.TimeOfDay {
    let time = attempt { parser in
      let hasPreposition = parser.skip("at")
      return parser.clock(allowsBareHour: hasPreposition || parser.allowsBareHours, isInPart: true)
    }
    guard let time else { return part }
    // In 'tonight at 8', the hour is not in the morning.
    let noon = DateExpression.TimeOfDay.noon.minute
    return part.minute > noon && time.minute < noon ? DateExpression.TimeOfDay(minute: time.minute + noon) : time
  }

  /// Reads a part of the day such as `morning`, with or without a time.
  mutating func timeInPartOfDay() -> DateExpression.TimeOfDay? {
    word { Self.partsOfDay[$0] }.map { time(in: $0) }
  }

  /// Whether a word is a part of the day such as `morning`.
  static func isPartOfDay(_ word: String) -> Bool {
    partsOfDay[word] != nil
  }

  private static let partsOfDay: [String: DateExpression.TimeOfDay] = [
    "morning": .morning, "afternoon": .afternoon, "evening": .evening, "night": .night,
  ]

  /// Reads `17:00`, `5pm`, `5:30 pm` and, where it can only be an hour, `17`.
  ///
  /// A bare hour from 1 to 6 is in the afternoon, unless `isInPart` says that a part of the day decides; `05`
  /// is in the morning.
  private mutating func clock(allowsBareHour: Bool, isInPart: Bool = false) -> DateExpression.TimeOfDay? {
    setFaultIfTooLarge(digits: 2, Self.impossibleTime) { ahead in
      let isClock = ahead.skip(":", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
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

  /// Reads the start of a time span: `3pm-4pm`, `from 9:00 to 10:30`, `between 2 and 3pm`.
  mutating func timeSpan() -> DateExpression.TimeOfDay? {
    attempt { parser in
      let isBetween = parser.skip("between")
      _ = isBetween || parser.skip("from")
      let joints = isBetween ? ["and"] : ["-", "–", "to", "until", "till"]
      guard let start = parser.edgeOfSpan(), let joint = parser.token()?.text, joints.contains(joint) else {
        return nil
      }
      parser.index += 1
      guard let end = parser.edgeOfSpan(), !parser.continuesNumber, start.isClock || end.isClock else { return nil }
      // `2-3pm` begins in the afternoon, `11-1pm` begins before noon.
      let isAfternoon = end.half == 12 && start.half == nil && start.hour < 12 && start.hour <= end.hour % 12
      let half = start.half ?? (isAfternoon ? 12 : nil)
      guard let half else { return DateExpression.TimeOfDay(hour: start.hour, minute: start.minute) }
      return DateExpression.TimeOfDay(hour: start.hour % 12 + half, minute: start.minute)
    }
  }

  /// One end of a time span, as written.
  private struct EdgeOfSpan {
    let hour: Int
    let minute: Int
    let half: Int?
    /// Whether the end can only be a time, not just a number.
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
      parser.skip(":", isGlued: true) ? parser.number(digits: 2...2, isGlued: true) : nil
    }
  }

  /// Reads the `.30` of `9.30am`; without `am` or `pm` it would be a decimal number.
  private mutating func dottedMinute() -> Int? {
    attempt { parser in
      guard parser.skip(".", isGlued: true), let minute = parser.number(digits: 2...2, isGlued: true) else {
        return nil
      }
      var ahead = parser
      return ahead.half() == nil ? nil : minute
    }
  }

  /// Reads `am` or `pm` and returns the hours that it adds.
  private mutating func half() -> Int? {
    word { ["am": 0, "pm": 12][$0] }
  }

  /// Whether the tokens read so far are only the start of something longer, such as `12:30:15` or `9x`.
  private var continuesNumber: Bool {
    guard let token = token(isGlued: true) else { return false }
    return token.kind != .symbol || [":", "-", "/", "+", "%", "°"].contains(token.text) || isDecimalPoint(token)
  }

  private func isDecimalPoint(_ token: CaptureToken) -> Bool {
    guard [".", ","].contains(token.text), index + 1 < tokens.count else { return false }
    return tokens[index + 1].isGlued && tokens[index + 1].kind == .number
  }

  /// Refuses midnight, because people mean either of the two days it borders.
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
  /// Also the time of a reminder without one: midnight would wake people up.
  static let morning = Self(minute: 9 * 60)
  fileprivate static let afternoon = Self(minute: 15 * 60)
  fileprivate static let evening = Self(minute: 18 * 60)
  fileprivate static let night = Self(minute: 20 * 60)
}

extension DateParser {
  /// Reads signed distances without blanks, such as `+3d` or `+1y-2w`; after a base, the first sign must follow
  /// directly.
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

  /// Reads a distance from the present: `now+2h`, `+2h`, `in 2 hours`, `2 hours ago`, `1d12h`.
  mutating func offsetFromNow() -> DateExpression.Offset? {
    attempt { parser in
      if parser.skip("now") { return parser.offset(hasBase: true) ?? .zero }
      if let offset = parser.offset(hasBase: false) { return offset.seconds == 0 ? nil : offset }
      if parser.skip("in") { return parser.anyDuration().flatMap { $0.seconds == 0 ? nil : $0 } }
      guard let duration = parser.anyDuration() else { return nil }
      if parser.skip(words: "from", "now") { return duration.seconds == 0 ? nil : duration }
      guard parser.skip("ago") else { return parser.isBeforeOtherDay ? nil : duration }
      return duration.seconds == 0 ? nil : .zero.adding(duration, times: -1)
    }
  }

  /// Whether the distance just read counts from a day that follows, as in `3 days before 24 dec`.
  private var isBeforeOtherDay: Bool {
    var ahead = self
    return ahead.direction() != nil && ahead.base() != nil
  }

  private mutating func direction() -> Int? { word { ["before": -1, "after": 1, "from": 1][$0] } }

  /// Reads `in 3 days`, `3 days ago`, `3 days from now` and `3 days before 24 dec`.
  mutating func distanceInWords() -> DateExpression.Day? {
    attempt { parser in
      let isFromToday = parser.skip("in")
      guard let offset = parser.anyDuration(), offset.seconds == 0 else { return nil }
      var day = DateExpression.Day(.today)
      if isFromToday || parser.skip(words: "from", "now") {
        day.offset = offset
      } else if parser.skip("ago") {
        day.offset = day.offset.adding(offset, times: -1)
      } else {
        guard let sign = parser.direction(), let base = parser.base() else { return nil }
        day = base
        day.offset = day.offset.adding(offset, times: sign)
      }
      return day
    }
  }

  /// Reads `1d12h`: numbers with units and without blanks.
  private mutating func duration(isGlued: Bool) -> DateExpression.Offset? {
    attempt { parser in
      var duration: DateExpression.Offset?
      while let part = parser.attempt({ $0.part(isGlued: isGlued || duration != nil, unitIsGlued: true) }) {
        duration = (duration ?? .zero).adding(part, times: 1)
      }
      return parser.token(isGlued: true)?.kind == .number ? nil : duration
    }
  }

  /// Reads `1d12h`, or one number and unit with a blank between them: `3 days`, `a week`, `two hours`, `half an hour`.
  mutating func anyDuration() -> DateExpression.Offset? {
    duration(isGlued: false) ?? fractionOfHours() ?? severalUnits()
      ?? attempt { parser in
        guard let part = parser.part(isGlued: false, unitIsGlued: false) else { return nil }
        // Reads 'an hour and a half'.
        guard part.seconds == 3_600, parser.skip(words: "and", "a", "half") else { return part }
        return .init(seconds: 5_400)
      }
  }

  /// Reads `half an hour`, `1.5 hours` and `two and a half hours`.
  private mutating func fractionOfHours() -> DateExpression.Offset? {
    attempt { parser in
      if parser.skip("half") {
        _ = parser.skip("an") || parser.skip("a")
        return parser.skip("hour") ? .init(seconds: 1_800) : nil
      }
      guard let hours = parser.number(digits: 1...3) ?? parser.word({ Self.numberWords[$0] }) else { return nil }
      guard !parser.skip(words: "and", "a", "half") else {
        return parser.skip("hours") ? .init(seconds: 3_600 * hours + 1_800) : nil
      }
      guard parser.skip(".", isGlued: true) || parser.skip(",", isGlued: true),
        let tenths = parser.number(digits: 1...1, isGlued: true),
        parser.word({ ["h", "hr", "hrs", "hour", "hours"].contains($0) ? true : nil }) != nil
      else { return nil }
      return .init(seconds: 3_600 * hours + 360 * tenths)
    }
  }

  /// Reads `a couple of days`.
  private mutating func severalUnits() -> DateExpression.Offset? {
    attempt { parser in
      guard parser.skip(words: "a", "couple") else { return nil }
      _ = parser.skip("of")
      return parser.word { Self.units[$0] }.map { .zero.adding($0, times: 2) }
    }
  }

  private mutating func part(isGlued: Bool, unitIsGlued: Bool) -> DateExpression.Offset? {
    setFaultIfTooLarge(digits: 7, isGlued: isGlued, Self.tooLargeDistance) { ahead in
      ahead.word { Self.units[$0] } != nil
    }
    let count =
      number(digits: 1...7, isGlued: isGlued) ?? (unitIsGlued ? nil : word { Self.numberWords[$0] })
    guard let count, let unit = word(isGlued: unitIsGlued, { Self.units[$0] }) else { return nil }
    return .zero.adding(unit, times: count)
  }

  private mutating func sign(isGlued: Bool) -> Int? {
    if skip("+", isGlued: isGlued) { return 1 }
    return skip("-", isGlued: isGlued) ? -1 : nil
  }

  private static let tooLargeDistance = TallyError(
    .valueOutOfRange, "The distance is too large for the years 1 to 9999",
    remedy: "Write a smaller number, as in today+30d or 2h")

  /// The units by name; months are not `m`, which means minutes in a duration.
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
  /// Adds another distance a number of times; counts of seven digits cannot overflow.
  func adding(_ other: DateExpression.Offset, times count: Int) -> DateExpression.Offset {
    DateExpression.Offset(
      months: months + count * other.months, days: days + count * other.days,
      seconds: seconds + count * other.seconds)
  }
}

/// A word, a number or another character of the text to parse, with its position.
struct CaptureToken: Hashable {
  enum Kind: Hashable {
    /// Letters.
    case word
    /// ASCII digits.
    case number
    /// Any other single character that is not white space.
    case symbol
  }

  let kind: Kind
  /// The text; a word is in lower case.
  let text: String
  let range: Range<String.Index>
  /// Whether the token follows another one without white space between them.
  let isGlued: Bool

  /// The tokens of a text, in order.
  static func all(of text: String) -> [CaptureToken] {
    var tokens: [CaptureToken] = []
    var index = text.startIndex
    while index < text.endIndex {
      guard !text[index].isWhitespace else {
        index = text.index(after: index)
        continue
      }
      let kind = Kind(text[index])
      var end = text.index(after: index)
      while kind != .symbol, end < text.endIndex, Kind(text[end]) == kind { end = text.index(after: end) }
      let isGlued = tokens.last?.range.upperBound == index
      tokens.append(
        CaptureToken(kind: kind, text: text[index..<end].lowercased(), range: index..<end, isGlued: isGlued))
      index = end
    }
    return tokens
  }
}

extension CaptureToken.Kind {
  fileprivate init(_ character: Character) {
    // Digits of other scripts count as letters, so that `Int` can read every number.
    if character.isLetter || character.isNumber && !character.isASCII {
      self = .word
    } else {
      self = character.isNumber ? .number : .symbol
    }
  }
}
