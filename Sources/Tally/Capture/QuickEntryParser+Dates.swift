extension QuickEntryParser {
  /// The words before a date that say what it is for.
  private enum Lead {
    case none, on, due, by, reminder
  }

  /// A date that may be meant.
  private struct Candidate {
    let lead: Lead
    /// Where the expression begins and ends.
    let start: Int
    let end: Int
    let expression: DateExpression
    let hasBareHour: Bool
  }

  /// Reads a date with the words that lead to it.
  func date(at index: Int) -> Match? {
    let (lead, start) = lead(at: index)
    guard start < tokens.count, lead == .due || lead == .reminder || !isClaimed(at: index) else { return nil }
    for allowsBareHours in [true, false] {
      var parser = DateParser(tokens, at: start)
      parser.allowsBareHours = allowsBareHours
      guard let expression = parser.expression() else { continue }
      let candidate = Candidate(
        lead: lead, start: start, end: parser.index, expression: expression, hasBareHour: parser.hasBareHour)
      if let match = match(candidate) { return match }
    }
    return nil
  }

  private func match(_ candidate: Candidate) -> Match? {
    let isSubject = candidate.end < tokens.count && ["is", "was"].contains(tokens[candidate.end].text)
    guard isEnd(candidate.end), !isSubject, !isOneOfSeveral(candidate.expression, before: candidate.end),
      isClear(candidate)
    else { return nil }
    switch candidate.lead {
    case .none, .on: return Match(finding: .schedule(candidate.expression), end: candidate.end)
    case .due, .by: return Match(finding: .due(candidate.expression), end: candidate.end)
    case .reminder:
      // `Remind me at 9 to call Ann`.
      let hasTo = candidate.end + 1 < tokens.count && tokens[candidate.end].text == "to" && entry.parts.isEmpty
      return Match(finding: .reminder(candidate.expression), end: candidate.end + (hasTo ? 1 : 0))
    }
  }

  private func lead(at index: Int) -> (lead: Lead, start: Int) {
    var parser = DateParser(tokens, at: index)
    if parser.take("due") {
      _ = parser.take(":", isGlued: true) || parser.take("on") || parser.take("by")
      return (.due, parser.index)
    }
    if parser.take("by") { return isAfterVerbWithBy(index) ? (.none, index) : (.by, parser.index) }
    if parser.take("remind") || parser.take("reminder") {
      _ = parser.take("me") || parser.take(":", isGlued: true)
      _ = parser.take("on")
      return (.reminder, parser.index)
    }
    if parser.take("starting") || dates.recurrence != nil && parser.take("from") {
      _ = parser.take("on")
      return (.on, parser.index)
    }
    if parser.take("@") { return parser.token()?.kind == .number ? (.on, parser.index) : (.none, index) }
    return parser.take("on") ? (.on, parser.index) : (.none, index)
  }

  /// Whether `by` belongs to a verb, as in `drop by tomorrow`.
  private func isAfterVerbWithBy(_ index: Int) -> Bool {
    index > 0 && ["come", "drop", "go", "pass", "stand", "stop", "swing"].contains(tokens[index - 1].text)
  }

  /// Whether a date is surely meant as one.
  private func isClear(_ candidate: Candidate) -> Bool {
    switch candidate.expression.form {
    case .sinceNow: isToCome(candidate) && !hasCapitalizedUnit(candidate)
    case .instant: isToCome(candidate)
    case .time: isClearTime(candidate)
    case .day(let day): isToCome(candidate) && isClearDay(day, candidate)
    case .dayAndTime(let day, _): isToCome(candidate) && isClearDayWithTime(day, candidate)
    }
  }

  /// Whether a date is not before today; a task may be overdue from the beginning.
  private func isToCome(_ candidate: Candidate) -> Bool {
    let isDue = candidate.lead == .due
    switch (candidate.expression.form, try? candidate.expression.resolved(against: reference)) {
    case (_, nil): return false
    // A duration alone is how long something takes.
    case (.sinceNow, .instant(let instant)?):
      return instant > reference.now && ["in", "+"].contains(tokens[candidate.start].text)
    case (_, .day(let day)?): return isDue || day >= reference.today
    case (.dayAndTime, .instant(let instant)?):
      // "This morning", said in the afternoon, is not a plan.
      if tokens[candidate.start].text == "this" { return isDue || instant > reference.now }
      return isDue || CalendarDay(containing: instant, in: reference.timeZone) >= reference.today
    case (_, .instant(let instant)?): return isDue || instant > reference.now
    }
  }
}

extension QuickEntryParser {
  private func isClearTime(_ candidate: Candidate) -> Bool {
    let first = tokens[candidate.start]
    let isBoundary = isBoundary(candidate.end)
    // `at 9`, `by noon`; not `9` and `High Noon`.
    let hasPreposition = first.text == "at" || candidate.lead != .none
    if candidate.hasBareHour || first.kind == .word && first.text != "at" { return hasPreposition && isBoundary }
    let hasHalf = tokens[candidate.start..<candidate.end].contains { $0.text == "am" || $0.text == "pm" }
    // `3:16` alone is a verse or a score rather than a plan for the night.
    let isPlausible = first.text.utf8.count == 2 || Int(first.text).map { $0 >= 5 } ?? true
    return hasHalf || hasPreposition || isPlausible && (candidate.start == 0 || isBoundary)
  }

  private func isClearDay(_ day: DateExpression.Day, _ candidate: Candidate) -> Bool {
    let isBoundary = isBoundary(candidate.end)
    switch day.base {
    case .today: return !isNameOfToday(candidate) && !hasCapitalizedUnit(candidate)
    case .weekday(_, let occurrence):
      let isExplicit = candidate.lead != .none || occurrence != .nearest
      return isBoundary && (isExplicit || !isAlsoAWord(candidate.start))
    case .date: return isBoundary || tokens[candidate.start].text.utf8.count == 4
    case .dayOfYear, .end: return isBoundary
    case .dayOfMonth: return isBoundary && candidate.lead != .none
    // `som` and `sow` are words of other meanings.
    case .start: return isBoundary && ["next", "last"].contains(tokens[candidate.start].text)
    }
  }

  private func isClearDayWithTime(_ day: DateExpression.Day, _ candidate: Candidate) -> Bool {
    let isTimeFirst = tokens[candidate.start].kind == .number && !isDayFirst(candidate.start)
    let hasPreposition = tokens[candidate.start..<candidate.end].contains { $0.text == "at" || $0.text == "@" }
    if candidate.hasBareHour, !hasPreposition {
      return isFollowedByParts(candidate.end) && !isAlsoAWord(candidate.start)
    }
    if day.base == .today { return !isNameOfToday(candidate) && (!isTimeFirst || isBoundary(candidate.end)) }
    // `Saturday Night Fever`.
    let endsWithPartOfDay = DateParser.isPartOfDay(tokens[candidate.end - 1].text)
    return !isTimeFirst && !endsWithPartOfDay || isBoundary(candidate.end)
  }

  private func isDayFirst(_ index: Int) -> Bool {
    var parser = DateParser(tokens, at: index)
    return parser.day() != nil
  }

  /// Whether `today` and the like are part of a name, as in `Tomorrow Never Dies`.
  private func isNameOfToday(_ candidate: Candidate) -> Bool {
    candidate.lead == .none && tokens[candidate.start].kind == .word && isInName(candidate.start)
  }

  /// Whether a distance is part of a name, as in `Around the World in 80 Days`.
  private func hasCapitalizedUnit(_ candidate: Candidate) -> Bool {
    hasLowercase && tokens[candidate.start].text == "in" && isCapitalized(candidate.end - 1)
  }

  /// Whether a weekday is abbreviated to another word or a name.
  private func isAlsoAWord(_ index: Int) -> Bool {
    ["mon", "sat", "sun", "wed"].contains(tokens[index].text)
  }
}

extension QuickEntryParser {
  /// Skips `remind me to` at the start, if the sentence then has a date to remind of, and returns where to read on.
  mutating func readRequestToRemind() -> Int {
    var parser = DateParser(tokens)
    guard parser.take(words: "remind", "me", "to"), parser.index < tokens.count else { return 0 }
    var rest = self
    var index = parser.index
    while index < tokens.count, !rest.hasSchedule {
      index = rest.isStart(index) ? rest.readPart(at: index) : index + 1
    }
    guard rest.hasSchedule else { return 0 }
    dates.remindsOfDay = true
    entry.parts = [QuickEntry.Part(range: range(from: 0, to: parser.index), kind: .reminder)]
    return parser.index
  }

  private var hasSchedule: Bool { !dates.schedule.isEmpty || dates.recurrence != nil }
}
