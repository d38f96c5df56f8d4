import TallyEngine

/// Finds words that look like dates or durations but set no field.
///
/// The words stay in the title and are reported, so that nobody believes that they were understood.
extension QuickEntryParser {
  /// Why the words from a token on set no field, and the index after them; `nil` for an ordinary word.
  func leftover(at index: Int) -> (reason: QuickEntry.Reason, end: Int)? {
    duration(at: index) ?? reminderBefore(at: index) ?? otherTime(at: index) ?? frequency(at: index)
      ?? weekdays(at: index) ?? unreadClause(at: index) ?? impossibleRecurrence(at: index) ?? impossibleDate(at: index)
  }

  /// Finds `for 1h` and `for 45 minutes`, and beside a recurrence `for 3 days`.
  func duration(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard tokens[index].text == "for" else { return nil }
    var parser = dateParser(at: index + 1)
    guard let duration = parser.anyDuration(), duration.seconds > 0 || dates.reading != nil,
      isEnd(parser.index)
    else { return nil }
    return (.duration, parser.index)
  }

  /// Finds `remind me 30 minutes before`.
  private func reminderBefore(at index: Int) -> (QuickEntry.Reason, Int)? {
    var parser = dateParser(at: index)
    guard parser.skip("remind") || parser.skip("reminder") else { return nil }
    _ = parser.skip("me")
    guard parser.anyDuration() != nil,
      parser.skip("before") || parser.skip("earlier") || parser.skip("ahead") || parser.skip("early"),
      isEnd(parser.index)
    else { return nil }
    return (.reminder, parser.index)
  }

  /// Finds `and 8pm` after the first time of a recurrence.
  private func otherTime(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard index == endOfLastPart, tokens[index].text == "and" || tokens[index].text == "&", dates.reading != nil,
      dates.schedule.time != nil
    else { return nil }
    var parser = dateParser(at: index + 1)
    guard parser.time() != nil, isEnd(parser.index) else { return nil }
    return (.repeated, parser.index)
  }

  /// Finds `3 times a week`, `twice daily` and `5 times every month`: how often within a time, which no rule says.
  ///
  /// `Once every week` is a rule for weeks.
  private func frequency(at index: Int) -> (QuickEntry.Reason, Int)? {
    let isOnce = tokens[index].text == "once"
    let start = isOnce || tokens[index].text == "twice" ? index + 1 : index + 2
    let isOfTimes = isNumberOfTimes(index) && !(index > 0 && tokens[index - 1].text == "for")
    guard start == index + 1 || isOfTimes, start < tokens.count else { return nil }
    var end: Int?
    if isEvery(start) || isAdverb(start) {
      end = isOnce ? nil : phrase(at: start)?.end
    } else if RecurrencePhrase.articles.contains(tokens[start].text), isUnit(start + 1) {
      end = start + 2
    }
    guard let end, isEnd(end), index == endOfOpening || isBoundary(end) else { return nil }
    return (.recurrence, end)
  }

  /// Finds `mon wed fri 18:00`, which could be a recurrence without `every` or a plan for one of the days.
  private func weekdays(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard !isClaimed(at: index), CalendarNames.commonWeekday(tokens[index].text) != nil else { return nil }
    var parser = dateParser(at: index)
    guard let first = parser.expression(), isRow(of: first, before: parser.index) else { return nil }
    return endOfLiteralDate(at: index).map { (.recurrence, $0) }
  }

  /// Finds `every 90 minutes`, `every day except holidays` and other recurrences that no rule can express.
  ///
  /// `Every good boy` is a title: words of dates must follow, and then the end of the sentence, another part or a word
  /// such as `and`. `Daily stand-up` is one, too: after `daily` and the like, `except` must follow.
  private func impossibleRecurrence(at index: Int) -> (QuickEntry.Reason, Int)? {
    let isAdverb = isAdverb(index) && isLimited(index + 1)
    let isPronoun = tokens[index].text == "each" && index + 1 < tokens.count && tokens[index + 1].text == "other"
    guard isEvery(index) && !isPronoun || isAdverb, !isRecurrenceClaimed(at: index), !isInName(index) else {
      return nil
    }
    var (end, current, isDate) = (index + 1, index + 1, isAdverb)
    if current < tokens.count, tokens[current].text == "!", tokens[current].isGlued { current += 1 }
    while current < min(tokens.count, index + Self.mostWordsOfList) {
      let word = tokens[current].text
      if Self.isOfDates(word) || tokens[current].kind == .number {
        isDate = isDate || tokens[current].kind == .word
        end = current + 1
      } else if !Self.joints.contains(word), !(tokens[current].isGlued && ["-", "/"].contains(word)) {
        break
      }
      current += 1
    }
    // The words after `except` belong to it, whatever they are, up to another part.
    if isDate, isLimited(end), !isEndOfText(end + 1) { return (.recurrence, endOfClause(from: end)) }
    // A phrase that can be parsed was left in the title because of the words after it.
    let isReadable = phrase(at: index).map { $0.end >= end } ?? false
    guard isDate, !isReadable, isEnd(end), isBoundary(end) else { return nil }
    return (.recurrence, end)
  }

  /// The index after a clause that was not understood: that of another part, or of a word such as `and`.
  private func endOfClause(from start: Int) -> Int {
    var end = endOfLiteralDate(at: start + 1) ?? start + 2
    while !isEnd(end) || !isBoundary(end) { end += 1 }
    // In `until easter monday`, the day is part of a name.
    return end < tokens.count ? endOfLiteralDate(at: end) ?? end : end
  }

  /// Finds `until easter` and what else limits the recurrence in a way that was not understood.
  private func unreadClause(at index: Int) -> (QuickEntry.Reason, Int)? {
    guard dates.reading != nil, index != recurrence?.start, index + 1 < tokens.count else { return nil }
    // Other words than `until` are often those of a title, unless they follow a part.
    let isAfterPart = isAfterPart(index)
    // `From easter` begins a title, and `from monday to friday` does not.
    let isOpening = index == 0 && endOfOpening > 0
    let isClause =
      switch tokens[index].text {
      case "until", "till", "except", "excluding", "unless": true
      case "from", "starting", "beginning", "ending": isAfterPart || isOpening
      case "for": isAfterPart && isNumberOfTimes(index + 1)
      case "to", "through":
        isAfterPart && (entry.parts.last.map { text[$0.range].lowercased().hasPrefix("from") } ?? false)
      default: isAfterPart && isNumberOfTimes(index)
      }
    return isClause ? (.recurrence, endOfClause(from: index)) : nil
  }

  private func isEndOfText(_ index: Int) -> Bool { index >= tokens.count }

  private static func isOfDates(_ word: String) -> Bool {
    let singular = word.hasSuffix("s") ? String(word.dropLast()) : word
    return words.contains(singular) || CalendarNames.commonWeekday(singular) != nil
      || CalendarNames.commonMonth(word) != nil || Int.ordinalWords.contains(word)
  }

  private static let words: Set = [
    "minute", "min", "hour", "day", "week", "month", "quarter", "year", "weekday", "workday", "weekend", "fortnight",
    "st",
    "nd", "rd", "th", "other", "last",
  ]
  private static let joints: Set = ["and", "or", "of", "the", "in", "on", "except", ",", "to"]

  /// Finds a date that does not exist or is ambiguous, where the words are surely meant as a date.
  func impossibleDate(at index: Int) -> (QuickEntry.Reason, Int)? {
    let (lead, start) = lead(at: index)
    guard start < tokens.count else { return nil }
    let isWritten = isClock(at: index) || endOfDayInMonth(from: start) != nil
    guard lead != .none || isWritten || Self.resemblesDate(tokens[start...].prefix(3)) else { return nil }
    guard lead == .due || !isClaimed(at: index) else { return nil }
    var parser = dateParser(at: start)
    parser.allowsDecimals = lead != .none
    // In `31st of november`, the 31st alone would be a valid day.
    let isUnread = parser.expression() == nil || endOfDayInMonth(from: start).map { $0 > parser.index } ?? false
    guard isUnread, parser.fault != nil else { return nil }
    var end = endOfDayInMonth(from: start) ?? endOfWord(from: start)
    // `at 25:00` consists of two words.
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

  /// The index of the token after `30 feb`, `30th of february` or `feb 30th`.
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
  private static func resemblesDate(_ tokens: ArraySlice<CaptureToken>) -> Bool {
    guard let first = tokens.first, first.kind == .number, tokens.count == 3, let last = tokens.last,
      tokens.dropFirst().allSatisfy(\.isGlued), let separator = tokens.dropFirst().first?.text
    else { return false }
    if separator == "-" { return first.text.utf8.count == 4 }
    let canBeDays = [first, last].allSatisfy { token in Int(token.text).map { (1...31).contains($0) } ?? false }
    return separator == "/" && canBeDays
  }

  /// The index of the token after a word, without the punctuation at its end.
  private func endOfWord(from start: Int) -> Int {
    var end = start + 1
    // No date has more than 12 tokens.
    while end < min(tokens.count, start + 12), tokens[end].isGlued, !isEnd(end) { end += 1 }
    return end
  }
}
