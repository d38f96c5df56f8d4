import Tally

/// Which day a weekday's name means.
enum WeekdayMeaning {
  /// The first one after today, for what is planned.
  case next
  /// The last one up to today, for looking back.
  case latest
}

/// What a day without a time means where an instant is expected.
enum TimeOfBareDay {
  /// The last instant of the day, for what is due on it.
  case endOfDay
  /// 09:00, for a reminder: midnight would wake people up.
  case morning
  /// Nothing: the time is required.
  case mustBeGiven
}

extension LocalClock {
  /// Reads a DAY: `today`, `tomorrow`, `yesterday`, a weekday or `YYYY-MM-DD`.
  ///
  /// - Throws: ``CommandFailure``, or the library's error for a day that the calendar does not have.
  func day(_ text: String, weekdays: WeekdayMeaning = .next) throws -> CalendarDay {
    switch text.lowercased() {
    case "today": return today
    case "tomorrow": return try today.adding(days: 1)
    case "yesterday": return try today.adding(days: -1)
    default:
      if let weekday = WeekdayName.number(of: text) { return try day(onWeekday: weekday, weekdays) }
      guard text.first?.isASCII == true, text.first?.isNumber == true else { throw Self.notADay(text) }
      return try CalendarDay(iso8601: text)
    }
  }

  /// Reads a WHEN: a DAY, a DAY and `HH:MM`, or an ISO 8601 instant.
  ///
  /// - Throws: ``CommandFailure``, or the library's error for an instant that does not exist.
  func instant(_ text: String, bareDay: TimeOfBareDay) throws -> Timestamp {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    if words.count == 2, let time = Self.timeOfDay(words[1]) {
      // A required time is that of work done: weekdays then look back.
      let day = try day(words[0], weekdays: bareDay == .mustBeGiven ? .latest : .next)
      return instant(of: day, hour: time.hour, minute: time.minute)
    }
    guard words.count == 1, let word = words.first else { throw Self.notATime(text) }
    if Self.looksLikeInstant(word) { return try Timestamp(iso8601: word) }
    if Self.timeOfDay(word) != nil {
      throw CommandFailure.usage(
        "'\(word)' is a time without a day", code: "invalidInstant",
        remedy: "Put a day before it, as in 'today \(word)'")
    }
    let day = try day(word)
    switch bareDay {
    case .endOfDay: return end(of: day)
    case .morning: return instant(of: day, hour: 9, minute: 0)
    case .mustBeGiven: throw Self.notATime(text)
    }
  }

  /// Reads the DAY of an option, whose name comes before the message of an error.
  func day(_ text: String, of option: String, weekdays: WeekdayMeaning = .next) throws -> CalendarDay {
    try CommandFailure.naming(option) { try day(text, weekdays: weekdays) }
  }

  /// Reads the WHEN of an option, whose name comes before the message of an error.
  func instant(_ text: String, of option: String, bareDay: TimeOfBareDay) throws -> Timestamp {
    try CommandFailure.naming(option) { try instant(text, bareDay: bareDay) }
  }

  private func day(onWeekday weekday: Int, _ meaning: WeekdayMeaning) throws -> CalendarDay {
    let daysAhead = (weekday - today.weekday + 7) % 7
    switch meaning {
    case .next: return try today.adding(days: daysAhead == 0 ? 7 : daysAhead)
    case .latest: return try today.adding(days: daysAhead == 0 ? 0 : daysAhead - 7)
    }
  }

  /// A day, a letter T and more: nothing else that is valid starts this way.
  private static func looksLikeInstant(_ word: String) -> Bool {
    let bytes = Array(word.utf8.prefix(11))
    return bytes.count == 11 && (bytes[10] | 0x20) == UInt8(ascii: "t") && bytes[4] == UInt8(ascii: "-")
  }

  /// Reads `HH:MM`; hours below ten may have one digit.
  static func timeOfDay(_ text: String) -> (hour: Int, minute: Int)? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isTime =
      parts.count == 2 && (1...2).contains(parts[0].utf8.count) && parts[1].utf8.count == 2
      && parts.joined().utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isTime, let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60 else { return nil }
    return (hour, minute)
  }

  private static func notADay(_ text: String) -> CommandFailure {
    let names = ["today", "tomorrow", "yesterday"] + WeekdayName.full.map { $0.lowercased() }
    let guess = text.nearNames(among: names, limit: 1).first.map { "Did you mean '\($0)'? " } ?? ""
    return .usage(
      "'\(text.escapedForDisplay())' is not a day", code: "invalidDay",
      remedy: "\(guess)Write today, tomorrow, yesterday, a weekday or YYYY-MM-DD")
  }

  private static func notATime(_ text: String) -> CommandFailure {
    .usage(
      "'\(text.escapedForDisplay())' is not a time", code: "invalidInstant",
      remedy: "Write a day and HH:MM as in 'friday 14:00', or an instant as in 2026-11-21T12:00:00Z")
  }
}
