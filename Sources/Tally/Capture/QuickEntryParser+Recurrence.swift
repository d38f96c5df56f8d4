import TallyEngine

extension QuickEntryParser {
  /// Reads `every month`, `repeat weekly`, `every 25 nov` or `every morning`.
  func recurrence(at index: Int) -> Match? {
    let word = tokens[index].text
    if word == "due" || word == "deadline" { return recurrenceOfDue(at: index) }
    if word == "repeat" || word == "repeats" || word == "repeating" {
      return index + 1 < tokens.count ? phrase(at: index + 1) : nil
    }
    guard !isRecurrenceClaimed(at: index), !isInName(index) else { return nil }
    if let match = dayOfEachMonth(at: index) { return match }
    let isEvery = isEvery(index)
    if isEvery, let match = everyAfterCompletion(at: index) ?? every(at: index) { return match }
    if isAdverb(index) {
      guard let match = phrase(at: index), case .recurrence(let reading, _, _) = match.finding else { return nil }
      let hasClause = openingClause(at: match.end, after: reading.clauses) != nil
      let isOpening = index == endOfOpening && match.end > index + 1 && !isFollowedByVerb(match.end)
      return isOpening || hasClause || isFollowedByParts(match.end) ? match : nil
    }
    // `3 days after completion`; the next word is checked first because a number may begin anything.
    let mayBegin = isEvery || (tokens[index].kind == .number || word == "a") && isUnit(index + 1)
    guard mayBegin, let match = phrase(at: index) else { return nil }
    if let match = withPartOfDay(match) { return match }
    // `Each day counts` is a title.
    let isOpening = index == endOfOpening && isEvery && word != "each" && !isFollowedByVerb(match.end)
    return isOpening || isBoundary(match.end) ? match : nil
  }

  /// Reads `due every friday` and `deadline daily`.
  private func recurrenceOfDue(at index: Int) -> Match? {
    let (lead, start) = lead(at: index)
    guard lead == .due, start < tokens.count, !["due", "deadline"].contains(tokens[start].text),
      let match = recurrence(at: start),
      case .recurrence(let reading, let expression, _) = match.finding
    else { return nil }
    return Match(finding: .recurrence(reading, expression, ofDue: true), end: match.end)
  }

  /// Reads `morning` after `every saturday`.
  private func withPartOfDay(_ match: Match) -> Match? {
    var parser = dateParser(at: match.end)
    guard case .recurrence(let reading, _, _) = match.finding, let time = parser.timeInPartOfDay(), isEnd(parser.index),
      isBoundary(parser.index)
    else { return nil }
    return Match(finding: .recurrence(reading, DateExpression(.time(time)), ofDue: false), end: parser.index)
  }

  /// Reads `until 25 nov`, `from 1 april to 10 april` or `for 3 weeks` beside a recurrence.
  func lastDay(at index: Int) -> Match? {
    guard dates.reading != nil else { return nil }
    var parser = dateParser(at: index + 1)
    _ = parser.skip("on")
    let finding: Finding?
    switch tokens[index].text {
    case "until", "till", "ending": finding = parser.day().map { .lastDay(DateExpression(.day($0)), from: nil) }
    case "from", "starting", "beginning": finding = firstToLastDay(&parser)
    case "for":
      finding = parser.anyDuration().flatMap { offset in
        offset.seconds == 0 && dates.repeats(within: offset, reference: reference) ? .duration(offset) : nil
      }
    default: return nil
    }
    guard let finding, isEnd(parser.index), isBoundary(parser.index), isBesideRecurrence(index, parser.index) else {
      return nil
    }
    return Match(finding: finding, end: parser.index)
  }

  /// The index after the clauses of a recurrence with which the sentence begins; 0 without any, or for a title.
  func endOfOpeningClauses() -> Int {
    var (end, clauses) = (endOfOpeningDays() ?? 0, RecurrencePhrase.Clauses())
    while let (longer, next) = openingClause(at: end, after: clauses) { (clauses, end) = (longer, next) }
    if end > 0, end < tokens.count, tokens[end].text == "," { end += 1 }
    guard end < tokens.count, !isFollowedByVerb(end) else { return 0 }
    // `After completion` also begins titles.
    let hasRule = isEvery(end) || isAdverb(end) || tokens[end].kind == .number
    return clauses.followsCompletion && !hasRule ? 0 : end
  }

  /// The index after the clauses that directly follow a recurrence; 0 without any, or before a verb.
  func endOfClauses(from start: Int, after clauses: RecurrencePhrase.Clauses) -> Int {
    var (end, clauses) = (start, clauses)
    while let (longer, next) = openingClause(at: end, after: clauses) { (clauses, end) = (longer, next) }
    return end == start || isFollowedByVerb(end) ? 0 : end
  }

  /// The index after `on friday at 9` or `on the 1st and 15th`, with which the sentence begins; `nil` without such days.
  ///
  /// The `1st floor` is not a day.
  private func endOfOpeningDays() -> Int? {
    guard let first = tokens.first, first.text == "on", dayOfEachMonth(at: 0) == nil else { return nil }
    let days = longestReading(from: 0) { words in
      var phrase = RecurrencePhrase(words: words)
      return (phrase.days(after: "on") { $0.scope == nil }, phrase.index, phrase.reach)
    }
    let end = max(days?.end ?? 0, endOfDay(at: 1) ?? 0)
    guard end > 0, end < tokens.count, isEnd(end), !Self.countedThings.contains(tokens[end].text) else { return nil }
    return end
  }

  /// The index after a day, perhaps with a time; `nil` without one.
  private func endOfDay(at index: Int) -> Int? {
    var parser = dateParser(at: index)
    switch parser.expression()?.form {
    case .day?, .dayAndTime?: return parser.index
    default: return nil
    }
  }

  /// Things other than days that an ordinal counts.
  private static let countedThings: Set = [
    "anniversary", "attempt", "birthday", "floor", "half", "hour", "level", "line", "month", "page", "quarter", "round",
    "row", "shelf", "thought", "try", "week", "weekend", "year",
  ]

  private func openingClause(
    at index: Int, after clauses: RecurrencePhrase.Clauses
  ) -> (RecurrencePhrase.Clauses, Int)? {
    let start = index + (index > 0 && index < tokens.count && tokens[index].text == "," ? 1 : 0)
    guard start < tokens.count, isStart(start) else { return nil }
    var parser = dateParser(at: start + 1)
    if tokens[start].text == "for", let duration = parser.anyDuration(), duration.seconds == 0, isEnd(parser.index) {
      return (clauses, parser.index)
    }
    let found = longestReading(from: start) { words in
      var phrase = RecurrencePhrase(words: words)
      (phrase.today, phrase.reference) = (reference.today, reference)
      let found = phrase.clauses(addedTo: clauses, after: .init(count: 1, unit: .day))
      return (found, phrase.index, phrase.reach)
    }
    guard let (longer, endOfClause) = found else { return nil }
    // In `from friday at 9`, the time belongs to the day.
    let hasTime = longer.start != clauses.start && longer.end == clauses.end
    let end = max(endOfClause, hasTime ? endOfDay(at: start + 1) ?? 0 : 0)
    guard isEnd(end) else { return nil }
    // `3 times` is the number of what the title names, unless a comma follows.
    let isPlainNumber = isNumberOfTimes(start) && !(end < tokens.count && tokens[end].text == ",")
    return isPlainNumber ? nil : (longer, end)
  }

  private func firstToLastDay(_ parser: inout DateParser) -> Finding? {
    guard let first = parser.day(), parser.skip("to") || parser.skip("through"), let last = parser.day() else {
      return nil
    }
    // `Monday to friday` are more likely the days of each week.
    if case .weekday = first.base, case .weekday = last.base { return nil }
    return .lastDay(DateExpression(.day(last)), from: DateExpression(.day(first)))
  }

  /// Reads `10 times`, `except sundays` and other clauses of a recurrence that are apart from it.
  func clause(at index: Int) -> Match? {
    guard let reading = dates.reading, Self.wordsOfClauses.contains(tokens[index].text) || isNumberOfTimes(index) else {
      return nil
    }
    let found = longestReading(from: index) { words in
      var phrase = RecurrencePhrase(words: words)
      phrase.today = reference.today
      let found = phrase.clauses(addedTo: reading.clauses, after: reading.repeats)
      return (found, phrase.index, phrase.reach)
    }
    guard let (clauses, end) = found else { return nil }
    return isEnd(end) && (isAfterPart(index) || isFollowedByParts(end))
      ? Match(finding: .clauses(clauses), end: end) : nil
  }

  /// Whether a clause belongs to the recurrence: after it anywhere, before it only if no other words follow.
  private func isBesideRecurrence(_ index: Int, _ end: Int) -> Bool {
    recurrence.map { index > $0.start } ?? false || isFollowedByParts(end)
  }

  /// Reads `on the last friday` or `on the 1st and 15th`, which is not a date but gives the days of a recurrence
  /// elsewhere in the sentence.
  func daysOfRecurrence(at index: Int) -> Match? {
    guard tokens[index].text == "on", let repeats = dates.reading?.repeats, repeats.days.isEmpty else { return nil }
    let found = longestReading(from: index) { words in
      var phrase = RecurrencePhrase(words: words)
      return (phrase.days(after: "on") { $0.canFollow(repeats.unit) }, phrase.index, phrase.reach)
    }
    guard let (days, end) = found, isEnd(end), isFollowedByParts(end) else { return nil }
    return Match(finding: .days(days), end: end)
  }

  /// Whether `10 times` begins at a token.
  func isNumberOfTimes(_ index: Int) -> Bool {
    index + 1 < tokens.count && ["time", "times"].contains(tokens[index + 1].text)
      && (tokens[index].kind == .number || RecurrencePhrase.numberWords.contains(tokens[index].text))
  }

  /// Whether two words that begin a clause of a recurrence, and nothing else, are at a token.
  func isClause(_ index: Int) -> Bool {
    index + 1 < tokens.count && Self.pairsOfClauses.contains("\(tokens[index].text) \(tokens[index + 1].text)")
  }

  private static let pairsOfClauses: Set = [
    "after completion", "but not", "but only", "skipping shorter", "when done", "with weeks",
  ]
  private static let wordsOfClauses: Set = [
    "after", "but", "except", "excluding", "for", "in", "skipping", "when", "with",
  ]

  /// Whether a token is `every`, `each` or `ev`; `EV` is a car.
  func isEvery(_ index: Int) -> Bool {
    tokens[index].text == "every" || tokens[index].text == "each" || tokens[index].text == "ev" && !isCapitalized(index)
  }

  /// Reads `on the 1st of every month`, `the last friday of each month` or `15th each month`.
  private func dayOfEachMonth(at index: Int) -> Match? {
    let start = index + (tokens[index].text == "on" ? 1 : 0)
    guard start < tokens.count, tokens[start].kind == .number || Self.wordsOfDays.contains(tokens[start].text) else {
      return nil
    }
    // Checked first because parsing phrases costs more.
    let isEach = { (token: CaptureToken) in token.text == "every" || token.text == "each" }
    guard let each = tokens[start...].prefix(Self.mostWords).firstIndex(where: isEach), each > start,
      each + 1 < tokens.count, ["month", "year"].contains(tokens[each + 1].text),
      let (reading, end) = longestReading(from: start, after: ["every"], prefix)
    else { return nil }
    // `On the 1st of every month` may begin a sentence, as `every month` may.
    let isOpening = index == 0 && start > index && !isFollowedByVerb(end)
    guard end > each + 1, isEnd(end), isOpening || isBoundary(end), !isLimited(end) else { return nil }
    return Match(finding: .recurrence(reading, nil, ofDue: false), end: end)
  }

  func isUnit(_ index: Int) -> Bool {
    index < tokens.count && RecurrenceUnit.allCases.contains { tokens[index].text.hasPrefix($0.name) }
  }

  /// Reads `every! 3 days`, which counts from each completion.
  private func everyAfterCompletion(at index: Int) -> Match? {
    guard index + 1 < tokens.count, tokens[index + 1].text == "!", tokens[index + 1].isGlued else { return nil }
    guard let (reading, end) = longestReading(from: index + 2, after: ["every!"], prefix) else { return nil }
    guard isEnd(end), isBoundary(end) || index == 0 else { return nil }
    return Match(finding: .recurrence(reading, nil, ofDue: false), end: end)
  }

  /// Reads recurrences that ``Recurrence/init(phrase:)`` does not: by a day of the year, or with a part of the day.
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
      !isOneOfSeveral(expression, before: parser.index)
    else { return nil }
    let reading = RecurrencePhrase.Reading(repeats: .init(count: 1, unit: unit))
    return Match(finding: .recurrence(reading, expression, ofDue: false), end: parser.index)
  }

  /// Reads a phrase of ``Recurrence/init(phrase:)``.
  func phrase(at index: Int) -> Match? {
    guard let (reading, end) = longestReading(from: index, prefix) else { return nil }
    return isEnd(end) && !isLimited(end) ? Match(finding: .recurrence(reading, nil, ofDue: false), end: end) : nil
  }

  /// The longest recurrence at the start of some words, the number of its words, and how many were looked at.
  private func prefix(of words: [String]) -> (RecurrencePhrase.Reading?, Int, Int) {
    RecurrencePhrase.prefix(of: words, today: reference.today)
  }

  /// Reads something from the words at a token, of which it gets more if it may go on behind them.
  ///
  /// - Parameters:
  ///   - start: The index of the first token.
  ///   - lead: Words to read before those of the sentence.
  ///   - read: Returns a value, the number of its words, and how many words it has looked at.
  /// - Returns: The value and the index of the token after it; `nil` also if no word of the sentence belongs to it.
  private func longestReading<Value>(
    from start: Int, after lead: [String] = [], _ read: ([String]) -> (Value?, Int, Int)
  ) -> (value: Value, end: Int)? {
    var limit = Self.mostWords
    while true {
      let words = phraseWords(from: start, upTo: limit)
      let (value, count, reach) = read(lead + words.map(\.text))
      // A date has at most four words, with a joint before and after it.
      guard words.count == limit, reach + 8 > limit, limit < Self.mostWordsOfList else {
        return count > lead.count ? value.map { ($0, words[count - lead.count - 1].end) } : nil
      }
      limit *= 4
    }
  }

  /// Whether a recurrence is limited in a way that was not understood: `except holidays`, `unless it rains`.
  func isLimited(_ index: Int) -> Bool {
    guard index < tokens.count else { return false }
    let hasMonth = index + 1 < tokens.count && CalendarNames.commonMonth(tokens[index + 1].text) != nil
    let text = tokens[index].text
    return ["except", "excluding", "unless"].contains(text) || text == "in" && hasMonth
      || text == "on" && impossibleDate(at: index) != nil
  }

  /// Whether a token is `daily` or the like.
  func isAdverb(_ index: Int) -> Bool { RecurrencePhrase.adverbs[tokens[index].text] != nil }

  /// The words from a token on as a phrase needs them: split at blanks, with punctuation as separate words.
  ///
  /// Those before the sentence's recurrence end there.
  func phraseWords(from start: Int, upTo count: Int = mostWords) -> [(text: String, end: Int)] {
    var words: [(text: String, end: Int)] = []
    var index = start
    let end = recurrence.flatMap { start < $0.start ? $0.start : nil } ?? tokens.count
    while index < end, words.count < count {
      let first = index
      work.stepCount += 1
      // No word of a phrase has more tokens than a date.
      repeat { index += 1 } while index < min(end, first + 6) && tokens[index].isGlued && !isEnd(index)
      words.append((tokens[first..<index].map(\.text).joined(), index))
    }
    return words
  }

  /// Whether a verb or a clause follows, as in `every day is Sunday`.
  private func isFollowedByVerb(_ index: Int) -> Bool {
    index < tokens.count && ["is", "was", "has", "of", "that", "i", "we", "you", "they"].contains(tokens[index].text)
  }

  /// The words after `on` in `on the last friday of each month`.
  private static let wordsOfDays = Set(["the", "last"] + Int.ordinalWords)
  /// Few recurrences have more words.
  static let mostWords = 48
  /// The longest list of days that a rule leaves out has fewer words.
  static let mostWordsOfList = 64 * mostWords
}
