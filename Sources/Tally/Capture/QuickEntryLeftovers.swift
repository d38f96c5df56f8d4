/// Finds words that look like dates or durations but fit no field.
///
/// The words stay in the title, and are reported, so that nobody takes them for understood.
extension QuickEntryParser {
  /// Why the words from a token on are left over, and the token behind them; `nil` for an ordinary word.
  func leftover(at index: Int) -> (reason: QuickEntry.Reason, end: Int)? {
    someday(at: index) ?? duration(at: index) ?? reminderBefore(at: index) ?? otherTime(at: index)
      ?? weekdays(at: index) ?? impossibleRecurrence(at: index) ?? impossibleDate(at: index)
  }

  private func someday(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard tokens[index].text == "someday", !(hasLowercase && isCapitalized(index)), isEnd(index + 1),
      isFollowedByParts(index + 1), index > 0
    else { return nil }
    return (.someday, index + 1)
  }

  /// Finds `for 1h` and `for 45 minutes`.
  func duration(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard tokens[index].text == "for" else { return nil }
    var parser = dateParser(at: index + 1)
    guard let duration = parser.anyDuration(), duration.seconds > 0, isEnd(parser.index) else { return nil }
    return (.duration, parser.index)
  }

  /// Finds `remind me 30 minutes before`.
  private func reminderBefore(at index: Int) -> (QuickEntry.Reason, Int)? {
    var parser = dateParser(at: index)
    guard parser.take("remind") || parser.take("reminder") else { return nil }
    _ = parser.take("me")
    guard parser.anyDuration() != nil,
      parser.take("before") || parser.take("earlier") || parser.take("ahead") || parser.take("early"),
      isEnd(parser.index)
    else { return nil }
    return (.reminder, parser.index)
  }

  /// Finds `and 8pm` behind the first time of a recurrence.
  private func otherTime(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard index == endOfLastPart, tokens[index].text == "and" || tokens[index].text == "&", dates.recurrence != nil,
      dates.schedule.time != nil
    else { return nil }
    var parser = dateParser(at: index + 1)
    guard parser.time() != nil, isEnd(parser.index) else { return nil }
    return (.repeated, parser.index)
  }

  /// Finds `mon wed fri 18:00`: a recurrence without `every`, or a plan for one of the days.
  private func weekdays(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard !isClaimed(at: index), CalendarNames.commonWeekday(tokens[index].text) != nil else { return nil }
    var parser = dateParser(at: index)
    guard let first = parser.expression(), isRow(of: first, before: parser.index) else { return nil }
    return endOfLiteralDate(at: index).map { (.recurrence, $0) }
  }

  /// Finds `every 8 hours` and other recurrences that no rule has.
  private func impossibleRecurrence(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard isEvery(index), !isClaimed(at: index), !isInName(index) else { return nil }
    var (end, current, isDate) = (index + 1, index + 1, false)
    if current < tokens.count, tokens[current].text == "!", tokens[current].isGlued { current += 1 }
    while current < min(tokens.count, index + Self.mostWordsOfRecurrence) {
      let word = tokens[current].text
      if Self.isOfDates(word) || tokens[current].kind == .number {
        isDate = isDate || tokens[current].kind == .word
        end = current + 1
      } else if !Self.joints.contains(word) {
        break
      }
      current += 1
    }
    // One that can be read belongs to the title because of what follows it.
    let isReadable = phrase(at: index).map { $0.end >= end } ?? false
    guard isDate, !isReadable, isEnd(end), isBoundary(end) else { return nil }
    return (.recurrence, end)
  }

  private static func isOfDates(_ word: String) -> Bool {
    let singular = word.hasSuffix("s") ? String(word.dropLast()) : word
    return words.contains(singular) || CalendarNames.commonWeekday(singular) != nil
      || CalendarNames.commonMonth(word) != nil || Int.ordinalWords.contains(word)
  }

  private static let mostWordsOfRecurrence = 24
  private static let words: Set = [
    "minute", "min", "hour", "day", "week", "month", "quarter", "year", "weekday", "workday", "weekend", "fortnight",
    "st",
    "nd", "rd", "th", "other", "last",
  ]
  private static let joints: Set = ["and", "or", "of", "the", "in", "on", "except", ",", "to"]

  /// Finds a date that the calendar does not have, or that could be two, where a date is surely meant.
  private func impossibleDate(at index: Int) -> (QuickEntry.Reason, Int)? {
    let (lead, start) = lead(at: index)
    guard start < tokens.count else { return nil }
    let isWritten = isClock(at: index) || endOfDayInMonth(from: start) != nil
    guard lead != .none || isWritten || Self.looksLikeDate(tokens[start...].prefix(3)) else { return nil }
    guard lead == .due || !isClaimed(at: index) else { return nil }
    var parser = dateParser(at: start)
    parser.allowsDecimals = lead != .none
    // Of `31st of november`, the 31st alone would be a day.
    let isUnread = parser.expression() == nil || endOfDayInMonth(from: start).map { $0 > parser.index } ?? false
    guard isUnread, parser.fault != nil else { return nil }
    var end = endOfDayInMonth(from: start) ?? endOfWord(from: start)
    // `at 25:00` has two words.
    if end < tokens.count, end == start + 1, tokens[start].kind == .word, tokens[end].kind == .number {
      end = endOfWord(from: end)
    }
    return isEnd(end) && (isFollowedByParts(end) || isWritten && isBoundary(end)) ? (.date, end) : nil
  }

  /// Whether a time of day is written where one is surely meant: `at 25:00`, `at 13pm`, `tomorrow 25:00`.
  private func isClock(at index: Int) -> Bool {
    let isAt = tokens[index].text == "at"
    let start = index + (isAt ? 1 : 0)
    guard isAt || index == endOfLastPart, start + 1 < tokens.count, tokens[start].kind == .number else { return false }
    let next = tokens[start + 1]
    let hasMinutes = next.text == ":" && next.isGlued && start + 2 < tokens.count && tokens[start + 2].kind == .number
    return hasMinutes || next.text == "am" || next.text == "pm"
  }

  /// The token behind `30 feb`, `30th of february` or `feb 30th`.
  private func endOfDayInMonth(from start: Int) -> Int? {
    func number(_ index: Int) -> Int? {
      guard index < tokens.count, tokens[index].kind == .number, let day = Int(tokens[index].text),
        (1...31).contains(day)
      else { return nil }
      let hasEnding =
        index + 1 < tokens.count && tokens[index + 1].isGlued
        && ["st", "nd", "rd", "th"].contains(tokens[index + 1].text)
      return index + (hasEnding ? 2 : 1)
    }
    func month(_ index: Int) -> Int? {
      index < tokens.count && CalendarNames.commonMonth(tokens[index].text) != nil ? index + 1 : nil
    }
    if let end = number(start) { return month(end < tokens.count && tokens[end].text == "of" ? end + 1 : end) }
    return month(start).flatMap { number($0) }
  }

  /// Whether some tokens begin a date in digits: `2026-`, `3/`.
  private static func looksLikeDate(_ tokens: ArraySlice<CaptureToken>) -> Bool {
    guard let first = tokens.first, first.kind == .number, tokens.count == 3, let last = tokens.last,
      tokens.dropFirst().allSatisfy(\.isGlued), let separator = tokens.dropFirst().first?.text
    else { return false }
    if separator == "-" { return first.text.utf8.count == 4 }
    let canBeDays = [first, last].allSatisfy { token in Int(token.text).map { (1...31).contains($0) } ?? false }
    return separator == "/" && canBeDays
  }

  /// The token behind a word, without the punctuation at its end.
  private func endOfWord(from start: Int) -> Int {
    var end = start + 1
    // No date has more tokens.
    while end < min(tokens.count, start + 12), tokens[end].isGlued, !isEnd(end) { end += 1 }
    return end
  }
}
