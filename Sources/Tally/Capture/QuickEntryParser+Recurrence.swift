extension QuickEntryParser {
  /// Reads `every month`, `repeat weekly`, `every 25 nov` or `every morning`.
  func recurrence(at index: Int) -> Match? {
    let word = tokens[index].text
    if word == "repeat" || word == "repeats" || word == "repeating" {
      return index + 1 < tokens.count ? phrase(at: index + 1) : nil
    }
    guard !isClaimed(at: index), !isInName(index) else { return nil }
    if let match = dayOfEachMonth(at: index) { return match }
    let isEvery = isEvery(index)
    if isEvery, let match = everyAfterCompletion(at: index) ?? every(at: index) { return match }
    if Self.adverbs.contains(word) {
      return phrase(at: index).flatMap { isFollowedByParts($0.end) ? $0 : nil }
    }
    // `3 days after completion`; the next word is looked at first, as any number may begin something.
    let mayBegin = isEvery || (tokens[index].kind == .number || word == "a") && isUnit(index + 1)
    guard mayBegin, let match = phrase(at: index) else { return nil }
    if let match = withPartOfDay(match) { return match }
    let isOpening = index == 0 && isEvery && !isFollowedByVerb(match.end)
    return isOpening || isBoundary(match.end) ? match : nil
  }

  /// Reads `morning` behind `every saturday`.
  private func withPartOfDay(_ match: Match) -> Match? {
    var parser = dateParser(at: match.end)
    guard case .recurrence(let recurrence, _) = match.finding, let time = parser.timeInPartOfDay(), isEnd(parser.index),
      isBoundary(parser.index)
    else { return nil }
    return Match(finding: .recurrence(recurrence, DateExpression(.time(time))), end: parser.index)
  }

  /// Reads `until 25 nov` or `for 3 weeks` behind a recurrence, where the phrase itself had no end.
  func lastDay(at index: Int) -> Match? {
    guard dates.recurrence != nil else { return nil }
    var parser = dateParser(at: index + 1)
    let day: DateExpression.Day?
    switch tokens[index].text {
    case "until", "till", "ending":
      _ = parser.take("on")
      day = parser.day()
    case "for":
      // The planned day counts as the first day of the duration.
      day = parser.anyDuration().flatMap { offset in
        var day = dates.schedule.day ?? DateExpression.Day(.today)
        day.offset = day.offset.adding(offset, times: 1).adding(.init(days: 1), times: -1)
        return offset.seconds == 0 ? day : nil
      }
    default: return nil
    }
    guard let day, isEnd(parser.index), isBoundary(parser.index) else { return nil }
    return Match(finding: .lastDay(DateExpression(.day(day))), end: parser.index)
  }

  /// Whether a token is `every`, or `ev`; `EV` is a car.
  func isEvery(_ index: Int) -> Bool {
    tokens[index].text == "every" || tokens[index].text == "ev" && !isCapitalized(index)
  }

  /// Reads `on the 1st of every month`, `the last friday of each month` or `15th each month`.
  private func dayOfEachMonth(at index: Int) -> Match? {
    let start = index + (tokens[index].text == "on" ? 1 : 0)
    // Looked for at first, as reading phrases costs more.
    let isEach = { (token: CaptureToken) in token.text == "every" || token.text == "each" }
    guard let each = tokens[start...].prefix(12).firstIndex(where: isEach), each > start, each + 1 < tokens.count,
      ["month", "year"].contains(tokens[each + 1].text)
    else { return nil }
    let words = phraseWords(from: start)
    guard let (recurrence, count) = Recurrence.prefix(of: ["every"] + words.map(\.text)), count > 1 else { return nil }
    let end = words[count - 2].end
    guard end > each + 1, isEnd(end), isBoundary(end), !isLimited(end) else { return nil }
    return Match(finding: .recurrence(recurrence, nil), end: end)
  }

  private func isUnit(_ index: Int) -> Bool {
    index < tokens.count && RecurrenceUnit.allCases.contains { tokens[index].text.hasPrefix($0.name) }
  }

  /// Reads `every! 3 days`: that long after each completion.
  private func everyAfterCompletion(at index: Int) -> Match? {
    guard index + 1 < tokens.count, tokens[index + 1].text == "!", tokens[index + 1].isGlued else { return nil }
    let words = phraseWords(from: index + 2)
    guard let (recurrence, count) = Recurrence.prefix(of: ["every!"] + words.map(\.text)), count > 1 else { return nil }
    let end = words[count - 2].end
    guard isEnd(end), isBoundary(end) || index == 0 else { return nil }
    return Match(finding: .recurrence(recurrence, nil), end: end)
  }

  /// Reads what the phrases of recurrences do not have: a day of the year, or a part of the day.
  private func every(at index: Int) -> Match? {
    guard index + 1 < tokens.count else { return nil }
    var parser = dateParser(at: index + 1)
    let found: (RecurrenceUnit, DateExpression)? =
      if case .dayOfYear(let month, let day)? = parser.attempt({ $0.dayOfYear() ?? $0.numericDay() }) {
        (.year, DateExpression(.day(.init(.dayOfYear(month: month, day: day)))))
      } else {
        parser.timeInPartOfDay().map { (.day, DateExpression(.time($0))) }
      }
    guard let (unit, expression) = found, isEnd(parser.index), isBoundary(parser.index),
      !isOneOfSeveral(expression, before: parser.index),
      let rule = try? RecurrenceRule(every: RecurrenceInterval(1, unit))
    else { return nil }
    return Match(finding: .recurrence(.rule(rule), expression), end: parser.index)
  }

  /// Reads a phrase of ``Recurrence/init(phrase:)``.
  func phrase(at index: Int) -> Match? {
    let words = phraseWords(from: index)
    guard let (recurrence, count) = Recurrence.prefix(of: words.map(\.text)), count > 0 else { return nil }
    let end = words[count - 1].end
    return isEnd(end) && !isLimited(end) ? Match(finding: .recurrence(recurrence, nil), end: end) : nil
  }

  /// Whether a recurrence is limited in a way that no rule has: `except sundays`, `in june`.
  private func isLimited(_ index: Int) -> Bool {
    guard index < tokens.count else { return false }
    let hasMonth = index + 1 < tokens.count && CalendarNames.commonMonth(tokens[index + 1].text) != nil
    return tokens[index].text == "except" || tokens[index].text == "in" && hasMonth
  }

  /// The words from a token on, as phrases want them: between blanks, with punctuation as words of their own.
  private func phraseWords(from start: Int) -> [(text: String, end: Int)] {
    var words: [(text: String, end: Int)] = []
    // No phrase has more words.
    var index = start
    while index < tokens.count, words.count < 48 {
      let first = index
      work.stepCount += 1
      // No word of a phrase has more tokens than a date.
      repeat { index += 1 } while index < min(tokens.count, first + 6) && tokens[index].isGlued && !isEnd(index)
      words.append((tokens[first..<index].map(\.text).joined(), index))
    }
    return words
  }

  /// Whether a sentence goes on as `every day is Sunday` does.
  private func isFollowedByVerb(_ index: Int) -> Bool {
    index < tokens.count && ["is", "was", "has", "of", "that", "i", "we", "you", "they"].contains(tokens[index].text)
  }

  private static let adverbs: Set = [
    "daily", "weekly", "fortnightly", "monthly", "quarterly", "yearly", "annually",
  ]
}
