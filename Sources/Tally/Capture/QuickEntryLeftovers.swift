/// Finds words that look like dates or durations but fit no field.
///
/// The words stay in the title, and are reported, so that nobody takes them for understood.
extension QuickEntryParser {
  /// Why the words from a token on are left over, and the token behind them; `nil` for an ordinary word.
  func leftover(at index: Int) -> (reason: QuickEntry.Reason, end: Int)? {
    someday(at: index) ?? duration(at: index) ?? impossibleRecurrence(at: index)
      ?? impossibleDate(at: index)
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
    guard start < tokens.count, lead != .none || Self.looksLikeDate(tokens[start...].prefix(3)) else { return nil }
    guard lead == .due || !isClaimed(at: index) else { return nil }
    var parser = dateParser(at: start)
    parser.allowsDecimals = lead != .none
    guard parser.expression() == nil, parser.fault != nil else { return nil }
    var end = endOfWord(from: start)
    // `31 nov` has two words.
    if end < tokens.count, CalendarNames.commonMonth(tokens[end].text) != nil || tokens[start].kind == .word,
      isDateWord(tokens[end])
    {
      end = endOfWord(from: end)
    }
    return isEnd(end) && isFollowedByParts(end) ? (.date, end) : nil
  }

  private func isDateWord(_ token: CaptureToken) -> Bool {
    token.kind == .number || CalendarNames.commonMonth(token.text) != nil
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
