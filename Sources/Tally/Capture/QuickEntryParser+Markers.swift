extension QuickEntryParser {
  /// Reads `#tag`, `+tag` or `@tag`.
  func tag(at index: Int) -> Match? {
    let start = index + 1
    guard tokens[index].text == "#" || isTagOfWord(at: index) else { return nil }
    var end = start
    while end < tokens.count, tokens[end].isGlued, !Self.endOfTag.contains(tokens[end].text) { end += 1 }
    work.stepCount += end - start
    // Punctuation behind the tag belongs to the sentence.
    while end > start, tokens[end - 1].kind == .symbol, Self.punctuation.contains(tokens[end - 1].text) { end -= 1 }
    guard end > start, isEnd(end), tokens[start..<end].contains(where: isNameOfTag) else { return nil }
    let tag = String(text[tokens[start].range.lowerBound..<tokens[end - 1].range.upperBound])
    guard (try? TagSet.validate(tag)) != nil else { return nil }
    return Match(finding: .tag(tag), end: end)
  }

  /// Whether `+` or `@` begins a tag: before a word, and not where `@ann` is a person to write to.
  private func isTagOfWord(at index: Int) -> Bool {
    guard index + 1 < tokens.count, tokens[index + 1].isGlued, tokens[index + 1].kind == .word else { return false }
    guard tokens[index].text == "@", index > 0 else { return true }
    return index == endOfLastPart || !Self.wordsBeforeAccounts.contains(tokens[index - 1].text)
  }

  /// Whether a token can stand alone as a tag: a word or a picture, as numbers and punctuation are issues and doodles.
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
    // `!h` is more often an exclamation.
    guard let priority = Priority(written: name), hasColon || name.utf8.count != 1 || tokens[value].kind == .number,
      isMark || hasColon || isNumberedPriority(at: index)
    else { return nil }
    return Match(finding: .priority(priority), end: value + 1)
  }

  /// Whether `p1` is a priority: not a page, and not the first word of a name such as `P1 bug`.
  private func isNumberedPriority(at index: Int) -> Bool {
    guard tokens[index].text == "p", tokens[index + 1].kind == .number else { return false }
    let isPage = index > 0 && index != endOfLastPart && Self.wordsBeforePages.contains(tokens[index - 1].text)
    return !isPage && (isFollowedByParts(index + 2) || index == 0 && !isCapitalized(index))
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
      // A much longer quotation is not the name: changing the case changes the length of a text less than that. So long
      // texts are not compared at each word.
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

  /// Reads the longest name of a list that stands at a token.
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

  /// Reads a capitalized word as a list, if a part stands before it and none or only parts behind it.
  private func guessedList(at index: Int) -> Match? {
    guard index < tokens.count, index > 1, endOfLastPart == index - 1, hasLowercase, tokens[index].kind == .word,
      isCapitalized(index), isEnd(index + 1), isFollowedByParts(index + 1)
    else { return nil }
    // `for Monday` is a day.
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
