/// Parses a task from a sentence, from left to right.
///
/// At the start of each word it looks for a part. A part whose field already has a value stays in the title.
struct QuickEntryParser {
  let text: String
  let tokens: [CaptureToken]
  let reference: DateReference
  let lists: KnownListNames?
  /// Facts about each token, computed in advance so that the parser never has to look far ahead: the time to
  /// parse a sentence is proportional to its length.
  let marks: QuickEntryMarks
  /// The lists named after `for`, by the index of that word; filled only if the existing lists are known.
  private(set) var namedLists: [Int: Match] = [:]
  /// Whether the sentence has lowercase letters, so that capital letters carry meaning.
  let hasLowercase: Bool

  var entry: QuickEntry
  var dates = QuickEntryDates()
  /// Whether a priority was given, which may be `none`.
  private var hasPriority = false
  let work = CaptureWork()
  /// The index of the token after the last part.
  var endOfLastPart = 0
  /// The first recurrence of the sentence and the index at which it begins.
  ///
  /// It is found before the sentence is read, because its clauses may stand before it.
  private(set) var recurrence: (start: Int, match: Match)?
  /// The index after the clauses of a recurrence with which the sentence begins, as in `except sunday every day`; 0
  /// without any.
  private(set) var endOfOpening = 0
  /// The index after the clauses that directly follow the recurrence, as in `every week from friday clean the bath`; 0
  /// without any.
  private(set) var endOfClauses = 0
  /// Whether the parser looks for the recurrence, on whose days reminders may count that stand before it.
  private(set) var looksAhead = false
  /// The ranges of the backslashes that escape words.
  private var escapes: [Range<String.Index>] = []

  init(_ text: String, reference: DateReference, lists: [String]?) {
    self.text = text
    self.reference = reference
    tokens = CaptureToken.all(of: text)
    let namesList = tokens.contains { $0.text == "for" || $0.text == "list" }
    self.lists = lists.map { KnownListNames(namesList ? $0 : []) }
    marks = QuickEntryMarks(tokens)
    hasLowercase = text.contains(where: \.isLowercase)
    entry = QuickEntry(title: text)
  }

  /// Parses the sentence.
  mutating func read() -> QuickEntry {
    findNamedLists()
    endOfOpening = endOfOpeningClauses()
    findRecurrence()
    var index = readRequestToRemind()
    while index < tokens.count {
      index = isStart(index) ? readPart(at: index) : index + 1
    }
    dates.apply(to: &entry, reference: reference)
    if entry.start == .someday, hasSchedule || !dates.due.isEmpty || !dates.reminder.isEmpty { leaveSomeday() }
    // Without a day, `for 2 hours` says what to do rather than how long it takes.
    if !hasSchedule { entry.leftovers.removeAll { $0.reason == .duration } }
    let title = QuickEntryTitle(text, removing: entry.parts.map(\.range), and: escapes).text
    guard let title else { return QuickEntry(title: text.trimmed) }
    entry.title = title
    return entry
  }

  /// Finds the lists named after `for`, from right to left, because a name counts only if other parts follow
  /// it, which may be another list.
  private mutating func findNamedLists() {
    guard lists != nil else { return }
    for index in tokens.indices.reversed() where tokens[index].text == "for" {
      namedLists[index] = knownList(at: index + 1)
    }
  }

  /// Finds the first recurrence that can be read, and keeps all of it but a time.
  private mutating func findRecurrence() {
    var ahead = self
    ahead.looksAhead = true
    var index = endOfOpening
    while index < tokens.count, ahead.recurrence == nil {
      index = ahead.isStart(index) ? ahead.readPart(at: index) : index + 1
    }
    guard let found = ahead.recurrence, case .recurrence(let reading, let expression, let isOfDue) = found.match.finding
    else { return }
    var day = expression
    if case .time? = expression?.form { day = nil }
    recurrence = found
    endOfClauses = endOfClauses(from: found.match.end, after: reading.clauses)
    _ = dates.add(.recurrence(reading, day, ofDue: isOfDue), reference: reference)
  }

  /// Reads the part that begins at a token, and returns the index at which to continue.
  mutating func readPart(at index: Int) -> Int {
    work.stepCount += 1
    if let end = endOfQuotation(from: index) { return end }
    if tokens[index].text == "\\", index + 1 < tokens.count, tokens[index + 1].isGlued {
      return readEscape(at: index)
    }
    let isRecurrence = index == recurrence?.start
    guard let match = isRecurrence ? recurrence?.match : match(at: index) else {
      guard let (reason, end) = leftover(at: index) else { return endOfLiteralDate(at: index) ?? index + 1 }
      leave(reason, from: index, to: end)
      return end
    }
    if isRecurrence {
      if case .recurrence(_, let time?, _) = match.finding { _ = dates.add(.schedule(time), reference: reference) }
    } else if !add(match.finding) {
      leave(.repeated, from: index, to: match.end)
      return match.end
    } else if case .recurrence = match.finding {
      recurrence = (index, match)
    }
    if case .span = match.finding {
      leave(.timeSpan, from: index, to: match.end)
      return match.end
    }
    entry.parts.append(QuickEntry.Part(range: range(from: index, to: match.end), kind: match.finding.kind))
    endOfLastPart = match.end
    return match.end
  }

  /// Leaves words in the title and reports why they set no field.
  private mutating func leave(_ reason: QuickEntry.Reason, from start: Int, to end: Int) {
    let range = tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound
    entry.leftovers.append(QuickEntry.Leftover(range: range, reason: reason))
  }

  /// Leaves `someday` in the title of a task that has a date.
  private mutating func leaveSomeday() {
    entry.start = nil
    let words = entry.parts.filter { $0.kind == .start }
    entry.parts.removeAll { $0.kind == .start }
    entry.leftovers += words.map { QuickEntry.Leftover(range: $0.range, reason: .someday) }
    entry.leftovers.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// A date parser that starts at a token.
  func dateParser(at index: Int) -> DateParser {
    DateParser(tokens, at: index, dateOrder: reference.dateOrder, counting: work)
  }

  /// Reads a backslash and the words that it escapes, which stay in the title.
  private mutating func readEscape(at index: Int) -> Int {
    if Self.isQuotationMark(tokens[index + 1]) {
      escapes.append(tokens[index].range)
      return index + 2
    }
    guard let match = match(at: index + 1) else { return index + 1 }
    escapes.append(tokens[index].range)
    return match.end
  }

  /// The range of some tokens, including parentheses around them.
  func range(from start: Int, to end: Int) -> Range<String.Index> {
    let isInParentheses =
      start > 0 && end < tokens.count
      && [("(", ")"), ("[", "]")].contains { $0.0 == tokens[start - 1].text && $0.1 == tokens[end].text }
    let (first, last) = isInParentheses ? (start - 1, end) : (start, end - 1)
    return tokens[first].range.lowerBound..<tokens[last].range.upperBound
  }
}

extension QuickEntryParser {
  /// A part of a sentence that was understood.
  enum Finding {
    case schedule(DateExpression)
    case due(DateExpression)
    case reminder(DateExpression)
    case relativeReminders([WrittenReminder])
    /// A recurrence, the day or the time at which it begins, and whether its days are those on which the task is due.
    case recurrence(RecurrencePhrase.Reading, DateExpression?, ofDue: Bool)
    /// All clauses of the recurrence so far.
    case clauses(RecurrencePhrase.Clauses)
    /// The days of the recurrence, apart from it.
    case days(RecurrencePhrase.Days)
    /// The last day of the recurrence, and perhaps its first one.
    case lastDay(DateExpression, from: DateExpression?)
    case duration(DateExpression.Offset)
    /// The start of a time span, whose words stay in the title.
    case span(DateExpression)
    case tag(String)
    case priority(Priority)
    case list(String)
    case start(TaskStart)

    var kind: QuickEntry.Kind {
      switch self {
      case .schedule, .span: .schedule
      case .due: .due
      case .reminder, .relativeReminders: .reminder
      case .recurrence, .clauses, .days, .lastDay, .duration: .recurrence
      case .tag: .tag
      case .priority: .priority
      case .list: .list
      case .start: .start
      }
    }
  }

  /// A finding, and the index of the token after it.
  struct Match {
    let finding: Finding
    let end: Int
  }

  /// The finding that begins at a token.
  func match(at index: Int) -> Match? {
    switch tokens[index].text {
    case "#": tag(at: index)
    case "+", "@": date(at: index) ?? tag(at: index)
    case "!": priority(at: index)
    case "p", "pri", "priority": priority(at: index)
    case "wait", "someday": someday(at: index) ?? date(at: index)
    default:
      list(at: index) ?? lastDay(at: index) ?? clause(at: index) ?? recurrence(at: index) ?? span(at: index)
        ?? date(at: index) ?? daysOfRecurrence(at: index)
    }
  }

  /// Stores a finding, unless its field already has a value.
  private mutating func add(_ finding: Finding) -> Bool {
    switch finding {
    case .schedule, .due, .reminder, .relativeReminders, .recurrence, .clauses, .days, .lastDay, .duration, .span:
      return dates.add(finding, reference: reference)
    case .tag(let tag):
      guard entry.tags.count < TagSet.maximumCount else { return false }
      entry.tags.insert(tag)
    case .priority(let priority):
      guard !hasPriority else { return false }
      hasPriority = true
      entry.priority = priority
    case .list(let name):
      guard entry.listName == nil else { return false }
      entry.listName = name
    case .start(let start):
      guard entry.start == nil else { return false }
      entry.start = start
    }
    return true
  }
}

extension String {
  /// The text without leading and trailing white space.
  ///
  /// Tests scalars, like the rule for titles: a combining mark on a blank is not white space.
  var trimmed: String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}

extension QuickEntryParser {
  /// Reads `#tag`, `+tag` or `@tag`.
  func tag(at index: Int) -> Match? {
    let start = index + 1
    guard tokens[index].text == "#" || isTagOfWord(at: index) else { return nil }
    var end = start
    while end < tokens.count, tokens[end].isGlued, !Self.endOfTag.contains(tokens[end].text) { end += 1 }
    work.stepCount += end - start
    // Punctuation after the tag belongs to the sentence.
    while end > start, tokens[end - 1].kind == .symbol, Self.punctuation.contains(tokens[end - 1].text) { end -= 1 }
    guard end > start, isEnd(end), tokens[start..<end].contains(where: isNameOfTag) else { return nil }
    let tag = String(text[tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound])
    guard (try? TagSet.validate(tag)) != nil else { return nil }
    return Match(finding: .tag(tag), end: end)
  }

  /// Whether `+` or `@` begins a tag: a word must follow, and `@` must not address a person, as in `email @ann`.
  private func isTagOfWord(at index: Int) -> Bool {
    guard index + 1 < tokens.count, tokens[index + 1].isGlued, tokens[index + 1].kind == .word else { return false }
    guard tokens[index].text == "@", index > 0 else { return true }
    return index == endOfLastPart || !Self.wordsBeforeAccounts.contains(tokens[index - 1].text)
  }

  /// Whether a token can be a tag by itself: a word or an emoji, but not a number or punctuation, as in issue
  /// numbers and doodles.
  private func isNameOfTag(_ token: CaptureToken) -> Bool {
    token.kind == .word || token.text.contains { $0.isSymbol && !$0.isASCII }
  }

  /// Reads `!high`, `!1`, `p:high` or `p1`.
  func priority(at index: Int) -> Match? {
    let isMark = tokens[index].text == "!"
    let hasColon = !isMark && index + 1 < tokens.count && tokens[index + 1].isGlued && tokens[index + 1].text == ":"
    let value = index + (hasColon ? 2 : 1)
    guard value < tokens.count, tokens[value].isGlued, isEnd(value + 1) else { return nil }
    let name = tokens[value].text
    // `!h` is more often an exclamation than a priority.
    guard let priority = Priority(written: name), hasColon || name.utf8.count != 1 || tokens[value].kind == .number,
      isMark || hasColon || isNumberedPriority(at: index)
    else { return nil }
    return Match(finding: .priority(priority), end: value + 1)
  }

  /// Whether `p1` is a priority, not a page number or the first word of a name such as `P1 bug`.
  private func isNumberedPriority(at index: Int) -> Bool {
    guard tokens[index].text == "p", tokens[index + 1].kind == .number else { return false }
    let isPage = index > 0 && index != endOfLastPart && Self.wordsBeforePages.contains(tokens[index - 1].text)
    return !isPage && (isFollowedByParts(index + 2) || index == 0 && !isCapitalized(index))
  }

  /// Reads `someday` or `wait:someday`.
  func someday(at index: Int) -> Match? {
    if isWait(index) {
      let end = index + 3
      guard end <= tokens.count, tokens[end - 1].text == "someday", tokens[end - 1].isGlued, isEnd(end) else {
        return nil
      }
      return Match(finding: .start(.someday), end: end)
    }
    guard tokens[index].text == "someday", !(hasLowercase && isCapitalized(index)), isEnd(index + 1),
      isFollowedByParts(index + 1), index > 0
    else { return nil }
    return Match(finding: .start(.someday), end: index + 1)
  }

  /// Whether `wait:` begins at a token.
  func isWait(_ index: Int) -> Bool {
    tokens[index].text == "wait" && index + 1 < tokens.count && tokens[index + 1].text == ":"
      && tokens[index + 1].isGlued
  }

  /// Reads `list:Work`, `list:"House work"`, `project:Work` or `for Work`.
  func list(at index: Int) -> Match? {
    switch tokens[index].text {
    case "list", "project", "proj": namedList(at: index)
    case "for": lists == nil ? guessedList(at: index + 1) : namedLists[index]
    default: nil
    }
  }

  private func namedList(at index: Int) -> Match? {
    let start = index + 2
    guard start < tokens.count, tokens[index + 1].text == ":", tokens[index + 1].isGlued, tokens[start].isGlued else {
      return nil
    }
    if let end = endOfQuotation(from: start) {
      let name = text[tokens[start].range.upperBound..<tokens[end - 1].range.lowerBound]
      guard let lists else {
        return name.allSatisfy(\.isWhitespace) ? nil : Match(finding: .list(String(name)), end: end)
      }
      // A much longer quotation cannot be the name, since changing the case changes the length less than that.
      // Long texts are therefore not compared at each word.
      let names = lists.names(at: tokens[start + 1]).filter { 4 * $0.utf8.count >= name.utf8.count }
      let known = names.first { $0 == name } ?? names.first { $0.lowercased() == name.lowercased() }
      return known.map { Match(finding: .list($0), end: end) }
    }
    if lists != nil { return knownList(at: start, ignoringCase: true) }
    var end = start
    while end < tokens.count, tokens[end].isGlued { end += 1 }
    while end > start, Self.punctuation.contains(tokens[end - 1].text) { end -= 1 }
    guard end > start else { return nil }
    let name = text[tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound]
    return Match(finding: .list(String(name)), end: end)
  }

  /// Reads the longest list name that begins at a token.
  func knownList(at index: Int, ignoringCase: Bool = false) -> Match? {
    guard let lists, index < tokens.count else { return nil }
    let names = lists.names(at: tokens[index])
    let start = tokens[index].range.lowerBound
    let matches = names.compactMap { name -> (name: String, end: Int)? in
      let candidate = text[start...].prefix(name.count)
      let isSame = ignoringCase ? candidate.lowercased() == name.lowercased() : candidate == name[...]
      guard !name.isEmpty, isSame else { return nil }
      let end = tokens[index...].firstIndex { $0.range.lowerBound >= candidate.endIndex } ?? tokens.count
      guard tokens[end - 1].range.upperBound == candidate.endIndex, isEnd(end) else { return nil }
      return ignoringCase || isFollowedByParts(end) ? (name, end) : nil
    }
    return matches.max { $0.end < $1.end }.map { Match(finding: .list($0.name), end: $0.end) }
  }

  /// Reads a capitalized word as a list, if a part comes before it and only parts, or nothing, come after it.
  private func guessedList(at index: Int) -> Match? {
    guard index < tokens.count, index > 1, endOfLastPart == index - 1, hasLowercase, tokens[index].kind == .word,
      isCapitalized(index), isEnd(index + 1), isFollowedByParts(index + 1)
    else { return nil }
    // In `for Monday`, the word is a day.
    var parser = dateParser(at: index)
    guard parser.expression() == nil, CalendarNames.commonMonth(tokens[index].text) == nil else { return nil }
    return Match(finding: .list(String(text[tokens[index].range])), end: index + 1)
  }

  private static let wordsBeforePages: Set = [
    "page", "pages", "print", "read", "see", "slide", "slides", "to", "from", "until", "and", "or", "of", "the",
  ]

  private static let wordsBeforeAccounts: Set = [
    "about", "and", "ask", "by", "call", "cc", "contact", "dm", "email", "follow", "for", "from", "invite", "mail",
    "mention", "message", "of", "or", "ping", "reply", "tell", "text", "thank", "the", "to", "tweet", "unfollow", "via",
    "with",
  ]

  private static let endOfTag: Set = ["#", ",", ";", "\"", "“", "”", "(", ")", "[", "]", "{", "}", "<", ">", "'", "’"]
  private static let punctuation: Set = [".", ",", ";", ":", "!", "?", ")", "]", "…", "'", "’"]
}

extension QuickEntryParser {
  /// Whether a part may begin at a token: after a blank, an opening parenthesis or, for a tag, another tag.
  func isStart(_ index: Int) -> Bool {
    guard index > 0, tokens[index].isGlued else { return true }
    let hasComma = tokens[index - 1].text == ","
    let isNextTag = tokens[index].text == "#" && index == endOfLastPart + (hasComma ? 1 : 0) && endOfLastPart > 0
    return isNextTag || ["(", "["].contains(tokens[index - 1].text) && !tokens[index - 1].isGlued
  }

  /// Whether a part may end before a token: at a blank, or at punctuation that ends a word.
  func isEnd(_ index: Int) -> Bool { marks.isEnd[index] }

  /// Whether no word follows that could belong to the part, as `report` does in `friday report`.
  func isBoundary(_ index: Int) -> Bool {
    guard index < tokens.count, !isAfterOpening(index) else { return true }
    let token = tokens[index]
    switch token.kind {
    case .symbol: return token.text != "\"" && token.text != "&" && token.text != "/"
    case .number:
      return startsMarker(at: index) || isNumberOfTimes(index) || isDate(at: index)
        || dateParser(at: index).isAtTimeSpan
    case .word:
      return Self.functionWords.contains(token.text) || startsMarker(at: index) || isDate(at: index)
        || dateParser(at: index).isAtTimeSpan
    }
  }

  /// Whether another part or the end of the sentence follows.
  func isFollowedByParts(_ index: Int) -> Bool {
    guard index < tokens.count, !isAfterOpening(index) else { return true }
    return tokens[index].kind == .symbol && tokens[index].text != "\"" || startsMarker(at: index) || isDate(at: index)
      || dateParser(at: index).isAtTimeSpan
  }

  /// Whether the clauses of the sentence's recurrence end before a token, with which its title begins.
  private func isAfterOpening(_ index: Int) -> Bool {
    index > 0 && (index == endOfOpening || index == endOfClauses) && dates.reading != nil
  }

  private func isDate(at index: Int) -> Bool {
    var parser = dateParser(at: index)
    parser.allowsBareHours = tokens[index].text == "at"
    guard let expression = parser.expression(), isEnd(parser.index) else { return false }
    // `The 13th` alone is not a date: `Friday the 13th` is a film.
    if case .day(let day) = expression.form, case .dayOfMonth = day.base { return false }
    return true
  }

  private func startsMarker(at index: Int) -> Bool {
    switch tokens[index].text {
    case _ where index == recurrence?.start: true
    case "until", "till", "except", "from", "beginning": dates.reading != nil
    case "due", "by", "deadline", "every", "remind", "reminder", "repeat", "list", "starting", "ending", "someday": true
    case "for":
      list(at: index) != nil || duration(at: index) != nil || dates.reading != nil && isNumberOfTimes(index + 1)
    case "ev": isEvery(index)
    case "wait": isWait(index)
    case _ where dates.reading != nil && (isNumberOfTimes(index) || isClause(index)): true
    case "p", "pri", "priority", "project", "proj": index + 1 < tokens.count && tokens[index + 1].isGlued
    default: false
    }
  }

  /// Whether the word before a token shows that a date belongs to the title, as in `the friday report`.
  func isClaimed(at index: Int) -> Bool {
    isRecurrenceClaimed(at: index)
      || index > 0 && index != endOfLastPart && Self.namesOfDays.contains(tokens[index - 1].text)
  }

  /// Whether the word before a token shows that a recurrence belongs to the title, as in `a day of every week`.
  func isRecurrenceClaimed(at index: Int) -> Bool {
    index > 0 && index != endOfLastPart && Self.claimingWords.contains(tokens[index - 1].text)
  }

  /// Whether a token comes directly after a part, perhaps with a comma between them.
  func isAfterPart(_ index: Int) -> Bool {
    index > 0 && (index == endOfLastPart || index == endOfLastPart + 1 && tokens[index - 1].text == ",")
  }

  /// The index of the token after one or more dates that belong to the title, so that no part of them is read
  /// as a date.
  func endOfLiteralDate(at index: Int) -> Int? {
    var parser = dateParser(at: index)
    guard let first = parser.expression() else { return nil }
    guard isClaimed(at: index) || isOneOfSeveral(first, before: parser.index) else { return nil }
    var end = parser.index
    while isJoin(end) || isWeekday(end) {
      parser.index = end + (isJoin(end) ? 1 : 0)
      guard parser.expression() != nil else { break }
      end = parser.index
    }
    return end
  }

  /// Whether a date is one end of a span or one of several, as in `monday to friday` or `8am and 8pm`.
  func isOneOfSeveral(_ expression: DateExpression, before end: Int) -> Bool {
    if isRow(of: expression, before: end) { return true }
    guard isJoin(end) else { return false }
    let isDash = ["-", "–"].contains(tokens[end].text)
    if isDash, end + 1 < tokens.count, tokens[end + 1].kind == .number { return true }
    var parser = dateParser(at: end + 1)
    parser.allowsBareHours = false
    switch (expression.form, parser.expression()?.form) {
    // A time after a comma belongs to the day.
    case (.day, .time?): return tokens[end].text != ","
    case (_, nil): return false
    default: return true
    }
  }

  /// Whether a weekday is followed by another one, as in `gym mon wed fri 18:00`.
  func isRow(of expression: DateExpression, before end: Int) -> Bool {
    guard case .day(let day) = expression.form, case .weekday = day.base, isWeekday(end), isEnd(end + 1) else {
      return false
    }
    return isWeekday(end + 1) || isBoundary(end + 1)
  }

  private func isWeekday(_ index: Int) -> Bool {
    index < tokens.count && !tokens[index].isGlued && CalendarNames.commonWeekday(tokens[index].text) != nil
  }

  /// Whether a token joins dates; beside a recurrence, `until` begins its end instead.
  private func isJoin(_ index: Int) -> Bool {
    guard index < tokens.count, dates.reading == nil || !["until", "till"].contains(tokens[index].text) else {
      return false
    }
    return Self.joiningWords.contains(tokens[index].text)
  }

  /// Whether a word is part of a name: capitalized, next to another capitalized word.
  func isInName(_ index: Int) -> Bool {
    guard hasLowercase, isCapitalized(index) else { return false }
    let followsName = index > 1 && isCapitalized(index - 1)
    return followsName || index + 1 < tokens.count && !tokens[index + 1].isGlued && isCapitalized(index + 1)
  }

  func isCapitalized(_ index: Int) -> Bool {
    text[tokens[index].range.lowerBound].isUppercase
  }

  /// Words that begin a new phrase, so that a date before them is complete.
  private static let functionWords: Set = [
    "about", "after", "and", "at", "because", "before", "but", "due", "for", "from", "if", "in", "near", "on", "re",
    "regarding", "so", "then", "to", "until", "via", "when", "while", "with", "without",
  ]

  /// The words before a weekday in names such as Good Friday.
  private static let namesOfDays: Set = ["ash", "black", "cyber", "easter", "giving", "good", "palm"]

  /// Words that make the following date part of the title.
  private static let claimingWords: Set = [
    "a", "after", "an", "and", "before", "between", "each", "every", "for", "from", "is", "its", "last",
    "my",
    "not", "of", "or", "our", "past", "since", "than", "that", "the", "their", "this", "through", "till", "to", "until",
    "versus", "vs", "was", "your", "st", "nd", "rd", "th",
    "first", "second", "third", "other",
  ]

  private static let joiningWords: Set = [
    "and", "or", "to", "until", "till", "through", "vs", "versus", ",", "&", "/", "-", "–",
  ]
}

extension QuickEntryParser {
  /// The index of the token after a quotation that begins here; `nil` if none begins here or it is not closed.
  func endOfQuotation(from index: Int) -> Int? {
    guard Self.isQuotationMark(tokens[index]) else { return nil }
    return marks.closing[index].map { $0 + 1 }
  }

  static func isQuotationMark(_ token: CaptureToken) -> Bool {
    token.text == "\"" || token.text == "“"
  }
}
