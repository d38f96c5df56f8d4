/// A text for display in which some parts matched a search.
struct MarkedText {
  private var pieces: [(text: String, isMatch: Bool)] = []

  /// Divides a text at ranges in ascending order, grown to whole characters, and escapes what a terminal must not see.
  ///
  /// What comes before `start` is left out.
  init(_ text: String, matches: [Range<String.Index>], from start: String.Index? = nil) {
    var end = start ?? text.startIndex
    for range in matches {
      let lower = text.index(atCharacterOf: max(range.lowerBound, end))
      let upper = text.index(behindCharacterBefore: range.upperBound)
      guard lower >= end, lower < upper else { continue }
      append(text[end..<lower], isMatch: false)
      append(text[lower..<upper], isMatch: true)
      end = upper
    }
    append(text[end...], isMatch: false)
  }

  private mutating func append(_ text: Substring, isMatch: Bool) {
    if !text.isEmpty { pieces.append((text.escapedForDisplay(), isMatch)) }
  }

  /// The text without its marks.
  var plain: String { pieces.map(\.text).joined() }

  /// The text in at most `width` columns, with an ellipsis if something was cut off.
  func truncated(toWidth width: Int) -> MarkedText {
    guard plain.displayWidth > width else { return self }
    var rest = max(width - 1, 0)
    var result = self
    result.pieces = []
    for piece in pieces {
      let isWhole = piece.text.displayWidth <= rest
      let kept = isWhole ? piece.text : String(piece.text.truncated(toWidth: rest + 1).dropLast())
      result.pieces.append((kept, piece.isMatch))
      rest -= kept.displayWidth
      guard kept == piece.text else { break }
    }
    result.pieces.append(("…", false))
    return result
  }

  /// The text broken into lines of at most `width` columns; at least one.
  func wrapped(toWidth width: Int) -> [MarkedText] {
    guard plain.displayWidth > width else { return [self] }
    let characters = pieces.flatMap { piece in piece.text.map { (character: $0, isMatch: piece.isMatch) } }
    var start = 0
    return plain.wrapped(toWidth: width).map { line in
      let end = start + line.count
      var marked = MarkedText("", matches: [])
      for (character, isMatch) in characters[start..<end] { marked.append(character, isMatch) }
      // The blank at which the line was broken, unless that was inside a word.
      start = end < characters.count && characters[end].character == " " ? end + 1 : end
      return marked
    }
  }

  private mutating func append(_ character: Character, _ isMatch: Bool) {
    if let last = pieces.last, last.isMatch == isMatch {
      pieces[pieces.count - 1].text.append(character)
    } else {
      pieces.append((String(character), isMatch))
    }
  }

  /// The text with its matches painted, and the rest in another role if there is one.
  func painted(by painter: Painter, rest role: Painter.Role? = nil) -> String {
    pieces.map { piece in
      if piece.isMatch { return painter.paint(piece.text, .match) }
      return role.map { painter.paint(piece.text, $0) } ?? piece.text
    }.joined()
  }
}

extension String {
  /// The beginning of the character in which an index lies.
  fileprivate func index(atCharacterOf index: Index) -> Index {
    index < endIndex ? rangeOfCharacter(at: index).lowerBound : endIndex
  }

  /// The end of the character that holds the text before an index.
  fileprivate func index(behindCharacterBefore index: Index) -> Index {
    guard index > startIndex else { return startIndex }
    return rangeOfCharacter(at: unicodeScalars.index(before: index)).upperBound
  }

  private func rangeOfCharacter(at index: Index) -> Range<Index> {
    // From the scalar back to the first boundary; characters are short.
    var start = index
    while start > startIndex, String.Index(start, within: self) == nil { start = unicodeScalars.index(before: start) }
    return start..<self.index(after: start)
  }
}
