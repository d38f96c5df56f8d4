extension QuickEntryParser {
  /// Whether a part may begin at a token: behind a blank, an opening parenthesis or, for a tag, another one.
  func isStart(_ index: Int) -> Bool {
    guard index > 0, tokens[index].isGlued else { return true }
    let hasComma = tokens[index - 1].text == ","
    let isNextTag = tokens[index].text == "#" && index == endOfLastPart + (hasComma ? 1 : 0) && endOfLastPart > 0
    return isNextTag || ["(", "["].contains(tokens[index - 1].text) && !tokens[index - 1].isGlued
  }

  /// Whether a part may end before a token: at a blank, or at punctuation that ends a word.
  func isEnd(_ index: Int) -> Bool { marks.isEnd[index] }

  /// Whether nothing comes behind a part that could belong to it, as `report` does in `friday report`.
  func isBoundary(_ index: Int) -> Bool {
    guard index < tokens.count else { return true }
    let token = tokens[index]
    switch token.kind {
    case .symbol: return token.text != "\"" && token.text != "&" && token.text != "/"
    case .number: return isDate(at: index) || dateParser(at: index).isAtTimeSpan
    case .word:
      return Self.functionWords.contains(token.text) || startsMarker(at: index) || isDate(at: index)
        || dateParser(at: index).isAtTimeSpan
    }
  }

  /// Whether another part or the end of the sentence follows.
  func isFollowedByParts(_ index: Int) -> Bool {
    guard index < tokens.count else { return true }
    return tokens[index].kind == .symbol && tokens[index].text != "\"" || startsMarker(at: index) || isDate(at: index)
      || dateParser(at: index).isAtTimeSpan
  }

  private func isDate(at index: Int) -> Bool {
    var parser = dateParser(at: index)
    parser.allowsBareHours = false
    guard let expression = parser.expression(), isEnd(parser.index) else { return false }
    // `The 13th` alone is no date: `Friday the 13th` is a film.
    if case .day(let day) = expression.form, case .dayOfMonth = day.base { return false }
    return true
  }

  private func startsMarker(at index: Int) -> Bool {
    switch tokens[index].text {
    case "due", "by", "deadline", "every", "remind", "reminder", "repeat", "list", "starting", "ending", "someday": true
    case "for": list(at: index) != nil || duration(at: index) != nil
    case "ev": isEvery(index)
    case "p", "pri", "priority", "project", "proj": index + 1 < tokens.count && tokens[index + 1].isGlued
    default: false
    }
  }

  /// Whether the word before a token shows that a date belongs to the title, as in `the friday report`.
  func isClaimed(at index: Int) -> Bool {
    index > 0 && index != endOfLastPart && Self.claimingWords.contains(tokens[index - 1].text)
  }

  /// The token behind a date that belongs to the title, or behind several, so that no part of it is taken for a date.
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

  /// Whether a date is one end of a span or one of several, such as `monday to friday` or `8am and 8pm`.
  func isOneOfSeveral(_ expression: DateExpression, before end: Int) -> Bool {
    if isRow(of: expression, before: end) { return true }
    guard isJoin(end) else { return false }
    let isDash = ["-", "–"].contains(tokens[end].text)
    if isDash, end + 1 < tokens.count, tokens[end + 1].kind == .number { return true }
    var parser = dateParser(at: end + 1)
    parser.allowsBareHours = false
    switch (expression.form, parser.expression()?.form) {
    // A time behind a comma belongs to the day.
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

  /// Whether a token joins dates; `until` after a recurrence ends that.
  private func isJoin(_ index: Int) -> Bool {
    guard index < tokens.count, dates.recurrence == nil || tokens[index].text != "until" else { return false }
    return Self.joiningWords.contains(tokens[index].text)
  }

  /// Whether a word is written as part of a name: with a capital letter, beside another one.
  func isInName(_ index: Int) -> Bool {
    guard hasLowercase, isCapitalized(index) else { return false }
    let followsName = index > 1 && isCapitalized(index - 1)
    return followsName || index + 1 < tokens.count && !tokens[index + 1].isGlued && isCapitalized(index + 1)
  }

  func isCapitalized(_ index: Int) -> Bool {
    text[tokens[index].range.lowerBound].isUppercase
  }

  /// Words that begin something new, so that a date before them stands alone.
  private static let functionWords: Set = [
    "about", "after", "and", "at", "because", "before", "but", "due", "for", "from", "if", "in", "near", "on", "re",
    "regarding", "so", "then", "to", "until", "via", "when", "while", "with", "without",
  ]

  /// Words that make the following date part of the title, those of Good Friday and the like included.
  private static let claimingWords: Set = [
    "a", "after", "an", "and", "before", "between", "each", "every", "for", "from", "is", "its", "last",
    "my",
    "not", "of", "or", "our", "past", "since", "than", "that", "the", "their", "this", "through", "till", "to", "until",
    "versus", "vs", "was", "your", "ash", "black", "cyber", "easter", "giving", "good", "palm", "st", "nd", "rd", "th",
    "first", "second", "third", "other",
  ]

  private static let joiningWords: Set = [
    "and", "or", "to", "until", "till", "through", "vs", "versus", ",", "&", "/", "-", "–",
  ]
}

extension QuickEntryParser {
  /// The token behind a quotation that begins here; `nil` where none does, or where it is not closed.
  func endOfQuotation(from index: Int) -> Int? {
    guard Self.isQuotationMark(tokens[index]) else { return nil }
    return marks.closing[index].map { $0 + 1 }
  }

  static func isQuotationMark(_ token: CaptureToken) -> Bool {
    token.text == "\"" || token.text == "“"
  }
}
