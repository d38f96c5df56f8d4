import TallyEngine

extension QuickEntryParser {
  /// The kinds of words before a date that say which field it sets.
  enum Lead {
    case none, on, due, by, reminder, wait
  }

  /// A date that the words may mean.
  private struct Candidate {
    let lead: Lead
    /// The first token of the expression and the token after it.
    let start: Int
    let end: Int
    let expression: DateExpression
    let hasBareHour: Bool
  }

  /// Reads a date and the words that introduce it.
  func date(at index: Int) -> Match? {
    let (lead, start) = lead(at: index)
    guard start < tokens.count, lead == .due || lead == .reminder || lead == .wait || !isClaimed(at: index) else {
      return nil
    }
    guard !isPerson(start, behind: lead) else { return nil }
    // In `on its day`, the preposition is part of the reminder.
    if lead == .reminder, let match = relativeReminders(at: tokens[start - 1].text == "on" ? start - 1 : start) {
      return match
    }
    for allowsBareHours in [true, false] {
      var parser = dateParser(at: start)
      parser.allowsBareHours = allowsBareHours
      parser.allowsDecimals = lead != .none
      guard let expression = parser.expression() else { continue }
      let candidate = Candidate(
        lead: lead, start: start, end: parser.index, expression: expression, hasBareHour: parser.hasBareHour)
      if let match = match(candidate) { return match }
    }
    return nil
  }

  /// Reads `1 day before and 2 hours before`, after a date that they can count from.
  private func relativeReminders(at index: Int) -> Match? {
    guard dates.hasDay || looksAhead else { return nil }
    var parser = dateParser(at: index)
    var reminders: [WrittenReminder] = []
    repeat {
      guard let reminder = parser.relativeReminder() else { return nil }
      reminders.append(reminder)
    } while parser.skip("and") || parser.skip(",")
    // In `1 hour before lunch`, something else follows.
    return isFollowedByParts(parser.index) ? Match(finding: .relativeReminders(reminders), end: parser.index) : nil
  }

  private func match(_ candidate: Candidate) -> Match? {
    let isSubject = candidate.end < tokens.count && ["is", "was"].contains(tokens[candidate.end].text)
    let isOfSeveral = isOneOfSeveral(candidate.expression, before: candidate.end)
    guard isEnd(candidate.end), !isSubject, !isOfSeveral || isFirstTimeOfDay(candidate), isClear(candidate)
    else { return nil }
    switch candidate.lead {
    case .none, .on: return Match(finding: .schedule(candidate.expression), end: candidate.end)
    case .due, .by: return Match(finding: .due(candidate.expression), end: candidate.end)
    case .wait:
      guard case .day(let day)? = try? candidate.expression.resolved(against: reference) else { return nil }
      return Match(finding: .start(.day(day)), end: candidate.end)
    case .reminder:
      // In `remind me at 9 to call Ann`, the `to` is part of the date.
      let hasTo = candidate.end + 1 < tokens.count && tokens[candidate.end].text == "to" && entry.parts.isEmpty
      return Match(finding: .reminder(candidate.expression), end: candidate.end + (hasTo ? 1 : 0))
    }
  }

  /// Whether a time is the first of several on the days of a recurrence, as in `daily at 8am and 8pm`; a task
  /// has only one.
  private func isFirstTimeOfDay(_ candidate: Candidate) -> Bool {
    guard case .time = candidate.expression.form, dates.reading != nil else { return false }
    return ["and", "&", ","].contains(tokens[candidate.end].text)
  }

  func lead(at index: Int) -> (lead: Lead, start: Int) {
    var parser = dateParser(at: index)
    if parser.skip("due") || !isDeadlineOfTitle(at: index) && parser.skip("deadline") {
      _ = parser.skip(":", isGlued: true) || parser.skip("on") || parser.skip("by")
      return (.due, parser.index)
    }
    if parser.skip("by") { return isAfterVerbWithBy(index) ? (.none, index) : (.by, parser.index) }
    if parser.skip("remind") || parser.skip("reminder") {
      _ = parser.skip("me") || parser.skip(":", isGlued: true)
      _ = parser.skip("on")
      return (.reminder, parser.index)
    }
    if isWait(index) { return (.wait, index + 2) }
    if parser.skip("starting") || dates.reading != nil && (parser.skip("from") || parser.skip("beginning")) {
      _ = parser.skip("on")
      return (.on, parser.index)
    }
    if parser.skip("@") {
      let isTime = parser.token().map { $0.kind == .number || ["noon", "midnight"].contains($0.text) } ?? false
      return isTime ? (.on, parser.index) : (.none, index)
    }
    return parser.skip("on") ? (.on, parser.index) : (.none, index)
  }

  /// Whether `by` belongs to a verb, as in `drop by tomorrow`.
  private func isAfterVerbWithBy(_ index: Int) -> Bool {
    index > 0 && ["come", "drop", "go", "pass", "stand", "stop", "swing"].contains(tokens[index - 1].text)
  }

  /// Whether the word `deadline` belongs to the title, as in `discuss the deadline`.
  private func isDeadlineOfTitle(at index: Int) -> Bool {
    index > 0 && index != endOfLastPart
      && (isClaimed(at: index) || Self.wordsBeforeDeadlines.contains(tokens[index - 1].text))
  }

  private static let wordsBeforeDeadlines: Set = [
    "about", "announce", "ask", "change", "check", "confirm", "discuss", "extend", "find", "meet", "miss", "move",
    "new",
    "next", "no", "on", "postpone", "push", "set",
  ]

  /// Whether `tom` is a person: capitalized, after a word such as `call`, or before another word.
  private func isPerson(_ index: Int, behind lead: Lead) -> Bool {
    guard ["tom", "tod"].contains(tokens[index].text) else { return false }
    let isWithPerson = index > 0 && index != endOfLastPart && Self.wordsBeforePersons.contains(tokens[index - 1].text)
    return lead == .by || isCapitalized(index) || isWithPerson || !isFollowedByParts(index + 1)
  }

  private static let wordsBeforePersons: Set = [
    "about", "and", "ask", "by", "call", "contact", "dm", "email", "for", "from", "give", "help", "invite", "join",
    "mail", "meet", "message", "of", "on", "or", "pay", "phone", "pick", "ping", "remind", "ring", "see", "send",
    "show",
    "tell", "text", "thank", "to", "uncle", "up", "visit", "with",
  ]

  /// Reads a time span: the task gets its start, and the words stay in the title.
  func span(at index: Int) -> Match? {
    var parser = dateParser(at: index)
    _ = parser.skip("at")
    guard !isClaimed(at: index), let time = parser.timeSpan(), isEnd(parser.index), isBoundary(parser.index),
      dates.schedule.time == nil
    else { return nil }
    // Without a day, `open 9am-5pm` and `sleep from 10pm to 6am` belong to the description of the task.
    let isOfTitle = index > 0 && Self.wordsBeforeSpans.contains(tokens[index - 1].text)
    let isPlan = tokens[index].kind == .number && !isOfTitle && isFollowedByParts(parser.index)
    guard dates.schedule.day != nil || isPlan else { return nil }
    return Match(finding: .span(DateExpression(.time(time))), end: parser.index)
  }

  private static let wordsBeforeSpans: Set = [
    "available", "closed", "hours", "open", "opening", "quiet", "score", "shift", "sleep", "work",
  ]

  /// Whether the words are surely meant as a date.
  private func isClear(_ candidate: Candidate) -> Bool {
    switch candidate.expression.form {
    case .sinceNow: isToCome(candidate) && !hasCapitalizedUnit(candidate)
    case .instant: isToCome(candidate)
    case .time: isClearTime(candidate)
    case .day(let day): isToCome(candidate) && isClearDay(day, candidate)
    case .dayAndTime(let day, _): isToCome(candidate) && isClearDayWithTime(day, candidate)
    }
  }

  /// Whether a date is not in the past; only a due date may be in the past.
  private func isToCome(_ candidate: Candidate) -> Bool {
    let isDue = candidate.lead == .due
    switch (candidate.expression.form, try? candidate.expression.resolved(against: reference)) {
    case (_, nil): return false
    // A duration without `in`, `+` or `from now` says how long something takes.
    case (.sinceNow, .instant(let instant)?):
      let isFromNow = ["in", "+"].contains(tokens[candidate.start].text) || tokens[candidate.end - 1].text == "now"
      return instant > reference.now && isFromNow
    case (_, .day(let day)?): return isDue || day >= reference.today
    case (.dayAndTime, .instant(let instant)?):
      // 'This morning', written in the afternoon, is not a plan.
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
    // `at 9` and `by noon` are times; `9` and `High Noon` are not.
    let hasPreposition = first.text == "at" || candidate.lead != .none
    if candidate.hasBareHour || first.kind == .word && first.text != "at" { return hasPreposition && isBoundary }
    let hasHalf = tokens[candidate.start..<candidate.end].contains { $0.text == "am" || $0.text == "pm" }
    // `3:16` alone is more likely a verse or a score than a time at night.
    let isPlausible = first.text.utf8.count == 2 || Int(first.text).map { $0 >= 5 } ?? true
    return hasHalf || hasPreposition || isPlausible && (candidate.start == 0 || isBoundary)
  }

  private func isClearDay(_ day: DateExpression.Day, _ candidate: Candidate) -> Bool {
    let isBoundary = isBoundary(candidate.end)
    guard isClearInDigits(candidate) else { return false }
    switch day.base {
    case .today: return !isNameOfToday(candidate) && !hasCapitalizedUnit(candidate)
    case .weekday(_, let occurrence):
      let isExplicit = candidate.lead != .none || occurrence != .nearest
      if !isExplicit, candidate.end < tokens.count, isNameOfWork(candidate.start) { return false }
      return isBoundary && (isExplicit || !isAlsoAWord(candidate.start))
    case .date: return isBoundary || tokens[candidate.start].text.utf8.count == 4
    case .dayOfYear, .end: return isBoundary
    case .dayOfMonth: return isBoundary && candidate.lead != .none
    // `som`, `sow` and `soy` have other meanings too.
    case .start: return isBoundary && !["som", "sow", "soy"].contains(tokens[candidate.start].text)
    }
  }

  /// Whether digits that look like a date are one, unlike those of `24/7` and `Ubuntu 24.04.`.
  private func isClearInDigits(_ candidate: Candidate) -> Bool {
    let start = candidate.start
    guard candidate.lead == .none, tokens[start].kind == .number, start + 2 < candidate.end,
      [".", "/"].contains(tokens[start + 1].text), case .day(let day) = candidate.expression.form,
      case .dayOfYear = day.base
    else { return true }
    let isOfThing = start > 0 && start != endOfLastPart && Self.wordsBeforeNumbers.contains(tokens[start - 1].text)
    let (first, second) = (tokens[start].text, tokens[start + 2].text)
    let isFraction = tokens[start + 1].text == "/" && Self.fractions.contains("\(first)/\(second)")
    let isUnclear = Int(first).map { $0 <= 12 } ?? true && Int(second).map { $0 <= 12 } ?? true
    return !isOfThing && !isFraction && (!isUnclear || isFollowedByParts(candidate.end))
  }

  private static let fractions: Set = ["1/2", "1/3", "1/4", "1/5", "1/8", "2/3", "2/4", "3/4", "9/11", "24/7"]

  private static let wordsBeforeNumbers: Set = [
    "$", "€", "£", "¥", "android", "build", "ch", "chapter", "debian", "exercise", "fedora", "fig", "figure", "grade",
    "ios", "java", "level", "macos", "node", "page", "part", "pay", "paid", "problem", "python", "question", "rated",
    "release", "score", "section", "step", "swift", "table", "ubuntu", "update", "v", "version",
  ]

  private func isClearDayWithTime(_ day: DateExpression.Day, _ candidate: Candidate) -> Bool {
    let isTimeFirst = tokens[candidate.start].kind == .number && !isDayFirst(candidate.start)
    let hasPreposition = tokens[candidate.start..<candidate.end].contains { $0.text == "at" || $0.text == "@" }
    if candidate.hasBareHour, !hasPreposition {
      return isFollowedByParts(candidate.end) && !isAlsoAWord(candidate.start)
    }
    if day.base == .today { return !isNameOfToday(candidate) && (!isTimeFirst || isBoundary(candidate.end)) }
    // As in `Saturday Night Fever`.
    let endsWithPartOfDay = DateParser.isPartOfDay(tokens[candidate.end - 1].text)
    return !isTimeFirst && !endsWithPartOfDay || isBoundary(candidate.end)
  }

  private func isDayFirst(_ index: Int) -> Bool {
    var parser = dateParser(at: index)
    return parser.day() != nil
  }

  /// Whether `today` or the like is part of a name, as in `Tomorrow Never Dies`.
  private func isNameOfToday(_ candidate: Candidate) -> Bool {
    candidate.lead == .none && tokens[candidate.start].kind == .word && isInName(candidate.start)
  }

  /// Whether a weekday begins the title of a film or a book, as in `watch Friday the 13th`.
  private func isNameOfWork(_ index: Int) -> Bool {
    hasLowercase && index > 0 && isCapitalized(index)
      && ["watch", "rewatch", "read", "reread", "play", "sing", "stream"].contains(tokens[index - 1].text)
  }

  /// Whether a distance is part of a name, as in `Around the World in 80 Days`.
  private func hasCapitalizedUnit(_ candidate: Candidate) -> Bool {
    hasLowercase && tokens[candidate.start].text == "in" && isCapitalized(candidate.end - 1)
  }

  /// Whether the abbreviation of a weekday is also another word or a name.
  private func isAlsoAWord(_ index: Int) -> Bool {
    ["mon", "sat", "sun", "wed"].contains(tokens[index].text)
  }
}

extension QuickEntryParser {
  /// Skips `remind me to` at the start if the rest of the sentence has a date for the reminder, and returns the
  /// index at which to continue.
  mutating func readRequestToRemind() -> Int {
    var parser = dateParser(at: 0)
    guard parser.skip(words: "remind", "me", "to"), parser.index < tokens.count else { return 0 }
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

  var hasSchedule: Bool { !dates.schedule.isEmpty || dates.reading != nil }
}
