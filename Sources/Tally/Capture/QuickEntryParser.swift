/// Reads a task from a sentence, from left to right.
///
/// At the start of each word it looks for a part. A part whose field is taken already stays in the title.
struct QuickEntryParser {
  let text: String
  let tokens: [CaptureToken]
  let reference: DateReference
  let lists: KnownListNames?
  /// What is known about each token in advance: nothing has to look far ahead, so the time to read a sentence is
  /// proportional to its length.
  let marks: QuickEntryMarks
  /// The lists named after `for`, by the token of that word; only if the lists are known.
  private(set) var namedLists: [Int: Match] = [:]
  /// Whether capital letters mean something.
  let hasLowercase: Bool

  var entry: QuickEntry
  var dates = QuickEntryDates()
  /// Whether a priority was given, which may be none.
  private var hasPriority = false
  let work = CaptureWork()
  /// Where the last part ends, as an index of a token.
  var endOfLastPart = 0
  /// The backslashes that kept words from being understood.
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

  /// Reads the sentence.
  mutating func read() -> QuickEntry {
    findNamedLists()
    var index = readRequestToRemind()
    while index < tokens.count {
      index = isStart(index) ? readPart(at: index) : index + 1
    }
    dates.apply(to: &entry, reference: reference)
    // Without a day, `for 2 hours` is what is done rather than how long.
    if !hasSchedule { entry.leftovers.removeAll { $0.reason == .duration } }
    let title = QuickEntryTitle(text, removing: entry.parts.map(\.range), and: escapes).text
    guard let title else { return QuickEntry(title: text.trimmed) }
    entry.title = title
    return entry
  }

  /// Finds the lists named after `for`, from right to left: whether one counts depends on what follows it, which may be
  /// another one.
  private mutating func findNamedLists() {
    guard lists != nil else { return }
    for index in tokens.indices.reversed() where tokens[index].text == "for" {
      namedLists[index] = knownList(at: index + 1)
    }
  }

  /// Reads what begins at a token, and returns where to read on.
  mutating func readPart(at index: Int) -> Int {
    work.stepCount += 1
    if let end = endOfQuotation(from: index) { return end }
    if tokens[index].text == "\\", index + 1 < tokens.count, tokens[index + 1].isGlued {
      return readEscape(at: index)
    }
    guard let match = match(at: index) else {
      guard let (reason, end) = leftover(at: index) else { return endOfLiteralDate(at: index) ?? index + 1 }
      leave(reason, from: index, to: end)
      return end
    }
    guard take(match.finding) else {
      leave(.repeated, from: index, to: match.end)
      return match.end
    }
    if case .span = match.finding {
      leave(.timeSpan, from: index, to: match.end)
      return match.end
    }
    entry.parts.append(QuickEntry.Part(range: range(from: index, to: match.end), kind: match.finding.kind))
    endOfLastPart = match.end
    return match.end
  }

  /// Keeps words in the title, and notes that they look like more.
  private mutating func leave(_ reason: QuickEntry.Reason, from start: Int, to end: Int) {
    let range = tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound
    entry.leftovers.append(QuickEntry.Leftover(range: range, reason: reason))
  }

  /// A reader of dates from a token on.
  func dateParser(at index: Int) -> DateParser {
    DateParser(tokens, at: index, dateOrder: reference.dateOrder, counting: work)
  }

  /// Leaves out a backslash that keeps the following words as they are.
  private mutating func readEscape(at index: Int) -> Int {
    if Self.isQuotationMark(tokens[index + 1]) {
      escapes.append(tokens[index].range)
      return index + 2
    }
    guard let match = match(at: index + 1) else { return index + 1 }
    escapes.append(tokens[index].range)
    return match.end
  }

  /// The place of some tokens, with the parentheses around them.
  func range(from start: Int, to end: Int) -> Range<String.Index> {
    let isInParentheses =
      start > 0 && end < tokens.count
      && [("(", ")"), ("[", "]")].contains { $0.0 == tokens[start - 1].text && $0.1 == tokens[end].text }
    let (first, last) = isInParentheses ? (start - 1, end) : (start, end - 1)
    return tokens[first].range.lowerBound..<tokens[last].range.upperBound
  }
}

extension QuickEntryParser {
  /// Something understood.
  enum Finding {
    case schedule(DateExpression)
    case due(DateExpression)
    case reminder(DateExpression)
    /// A recurrence, with the day or the time at which it begins.
    case recurrence(Recurrence, DateExpression?)
    case lastDay(DateExpression)
    /// The start of a span of time, whose words stay in the title.
    case span(DateExpression)
    case tag(String)
    case priority(Priority)
    case list(String)

    var kind: QuickEntry.Kind {
      switch self {
      case .schedule, .span: .schedule
      case .due: .due
      case .reminder: .reminder
      case .recurrence, .lastDay: .recurrence
      case .tag: .tag
      case .priority: .priority
      case .list: .list
      }
    }
  }

  /// Something understood, and the token behind it.
  struct Match {
    let finding: Finding
    let end: Int
  }

  /// The part that begins at a token.
  func match(at index: Int) -> Match? {
    switch tokens[index].text {
    case "#": tag(at: index)
    case "+", "@": date(at: index) ?? tag(at: index)
    case "!": priority(at: index)
    case "p", "pri", "priority": priority(at: index)
    default: list(at: index) ?? lastDay(at: index) ?? recurrence(at: index) ?? span(at: index) ?? date(at: index)
    }
  }

  /// Keeps a finding, unless its field has a value already.
  private mutating func take(_ finding: Finding) -> Bool {
    switch finding {
    case .schedule, .due, .reminder, .recurrence, .lastDay, .span:
      return dates.take(finding, reference: reference)
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
    }
    return true
  }
}

extension String {
  /// The text without white space at its ends.
  ///
  /// By scalars, as a title is checked: a combining mark on a blank is something to keep.
  var trimmed: String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}
