extension QuickEntryParser {
  /// Reads `every month`, `repeat weekly`, `every 25 nov` or `every morning`.
  func recurrence(at index: Int) -> Match? {
    let word = tokens[index].text
    if word == "repeat" || word == "repeats" || word == "repeating" {
      return index + 1 < tokens.count ? phrase(at: index + 1) : nil
    }
    guard !isClaimed(at: index), !isInName(index) else { return nil }
    if word == "every", let match = every(at: index) { return match }
    if Self.adverbs.contains(word) {
      return phrase(at: index).flatMap { isFollowedByParts($0.end) ? $0 : nil }
    }
    let mayBegin = word == "every" || tokens[index].kind == .number || word == "a"
    guard mayBegin, let match = phrase(at: index) else { return nil }
    if let match = withPartOfDay(match) { return match }
    let isOpening = index == 0 && word == "every" && !isFollowedByVerb(match.end)
    return isOpening || isBoundary(match.end) ? match : nil
  }

  /// Reads `morning` behind `every saturday`.
  private func withPartOfDay(_ match: Match) -> Match? {
    var parser = DateParser(tokens, at: match.end)
    guard case .recurrence(let recurrence, _) = match.finding, let time = parser.timeInPartOfDay(), isEnd(parser.index),
      isBoundary(parser.index)
    else { return nil }
    return Match(finding: .recurrence(recurrence, DateExpression(.time(time))), end: parser.index)
  }

  /// Reads `until 25 nov` behind a recurrence, where the phrase itself had no end.
  func lastDay(at index: Int) -> Match? {
    guard dates.recurrence != nil, tokens[index].text == "until" else { return nil }
    var parser = DateParser(tokens, at: index + 1)
    guard let day = parser.day(), isEnd(parser.index), isBoundary(parser.index) else { return nil }
    return Match(finding: .lastDay(DateExpression(.day(day))), end: parser.index)
  }

  /// Reads what the phrases of recurrences do not have: a day of the year, or a part of the day.
  private func every(at index: Int) -> Match? {
    guard index + 1 < tokens.count else { return nil }
    var parser = DateParser(tokens, at: index + 1)
    let found: (RecurrenceUnit, DateExpression)? =
      if case .dayOfYear(let month, let day)? = parser.attempt({ $0.dayOfYear() }) {
        (.year, DateExpression(.day(.init(.dayOfYear(month: month, day: day)))))
      } else {
        parser.timeInPartOfDay().map { (.day, DateExpression(.time($0))) }
      }
    guard let (unit, expression) = found, isEnd(parser.index), isBoundary(parser.index),
      let rule = try? RecurrenceRule(every: RecurrenceInterval(1, unit))
    else { return nil }
    return Match(finding: .recurrence(.rule(rule), expression), end: parser.index)
  }

  /// Reads a phrase of ``Recurrence/init(phrase:)``.
  private func phrase(at index: Int) -> Match? {
    let words = phraseWords(from: index)
    guard let (recurrence, count) = Recurrence.prefix(of: words.map(\.text)), count > 0 else { return nil }
    let end = words[count - 1].end
    return isEnd(end) ? Match(finding: .recurrence(recurrence, nil), end: end) : nil
  }

  /// The words from a token on, as phrases want them: between blanks, with punctuation as words of their own.
  private func phraseWords(from start: Int) -> [(text: String, end: Int)] {
    var words: [(text: String, end: Int)] = []
    // No phrase has more words.
    var index = start
    while index < tokens.count, words.count < 48 {
      let first = index
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
