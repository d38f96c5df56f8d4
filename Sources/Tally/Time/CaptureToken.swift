/// A word, a number or another character of a text to read, with its place.
struct CaptureToken: Hashable {
  enum Kind: Hashable {
    /// Letters.
    case word
    /// Digits of ASCII.
    case number
    /// Any other single character that is not white space.
    case symbol
  }

  let kind: Kind
  /// The text; words in lower case.
  let text: String
  let range: Range<String.Index>
  /// Whether the token follows another one without white space between them.
  let isGlued: Bool

  /// The tokens of a text, in order.
  static func all(of text: String) -> [CaptureToken] {
    var tokens: [CaptureToken] = []
    var index = text.startIndex
    while index < text.endIndex {
      guard !text[index].isWhitespace else {
        index = text.index(after: index)
        continue
      }
      let kind = Kind(text[index])
      var end = text.index(after: index)
      while kind != .symbol, end < text.endIndex, Kind(text[end]) == kind { end = text.index(after: end) }
      let isGlued = tokens.last?.range.upperBound == index
      tokens.append(
        CaptureToken(kind: kind, text: text[index..<end].lowercased(), range: index..<end, isGlued: isGlued))
      index = end
    }
    return tokens
  }
}

extension CaptureToken.Kind {
  fileprivate init(_ character: Character) {
    // Digits of other scripts are left to words, so that a number is always one that `Int` can read.
    if character.isLetter || character.isNumber && !character.isASCII {
      self = .word
    } else {
      self = character.isNumber ? .number : .symbol
    }
  }
}
