/// What to search for in titles, notes and tags.
///
/// ```swift
/// SearchQuery("tax for")               // "for" is a prefix: form, forms
/// SearchQuery("\"tax form\" 2026")     // the two words in a row, and the year
/// SearchQuery("orm", .substrings)      // anywhere, inside words too
/// ```
///
/// Every word must be found, in any order and any of the three texts; a phrase in one of them. The last word is taken
/// as the beginning of one, unless it is quoted. Case, accents and width do not matter (``TextFolder``). In
/// scripts without spaces, Chinese, Japanese, Korean, Thai and others, a word is found inside longer text.
public struct SearchQuery: Hashable, Sendable {
  /// How words of a query are found.
  public enum Matching: Hashable, Sendable {
    /// As words, the last one as the beginning of a word.
    case words
    /// Anywhere in a text. Looks at every task: the index knows words.
    case substrings
  }

  /// The given query.
  public let text: String
  /// How its words are found.
  public let matching: Matching
  /// What must be found, all of it; empty if the text has no word.
  let terms: [SearchTerm]

  /// Creates a query from any text; searching for more than 256 different words or 10,000 bytes throws `valueOutOfRange`.
  ///
  /// A quotation mark that is not closed quotes to the end, where one is typing.
  public init(_ text: String, _ matching: Matching = .words) {
    self.text = text
    self.matching = matching
    var folder = TextFolder()
    // Parts without words are left out first: "milk -" ends in a prefix, too.
    let found = Self.pieces(of: text).map { (bytes: FoldedText($0.text, with: &folder).utf8, isClosed: $0.isClosed) }
      .filter { SearchTerm($0.bytes, endsInPrefix: false, matching) != nil }
    var terms: [SearchTerm] = []
    var known: Set<SearchTerm> = []
    for (index, piece) in found.enumerated() {
      let endsInPrefix = index == found.count - 1 && !piece.isClosed
      guard let term = SearchTerm(piece.bytes, endsInPrefix: endsInPrefix, matching) else { continue }
      if known.insert(term).inserted { terms.append(term) }
    }
    self.terms = terms
    isTooLong =
      terms.reduce(0) { $0 + max($1.words.count, 1) } > Self.mostWords
      || terms.reduce(0) { $0 + $1.bytes.count } > Self.mostBytes
  }

  /// Whether it has too many words or bytes to search for: each term is looked for in each text.
  let isTooLong: Bool
  static let mostWords = 256
  private static let mostBytes = 10_000

  /// Whether it has no words: a search for it throws `emptySearch`.
  public var isEmpty: Bool { terms.isEmpty }

  /// The parts between spaces and quotation marks.
  private static func pieces(of text: String) -> [(text: String, isClosed: Bool)] {
    var pieces: [(text: String, isClosed: Bool)] = []
    var piece = ""
    var isQuoted = false
    func end(closed: Bool) {
      if !piece.isEmpty { pieces.append((piece, closed)) }
      piece = ""
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "“", "”":
        end(closed: isQuoted)
        isQuoted.toggle()
      case _ where scalar.properties.isWhitespace && !isQuoted: end(closed: false)
      default: piece.unicodeScalars.append(scalar)
      }
    }
    end(closed: false)
    return pieces
  }
}

/// One thing that must be found: a word, a phrase, or any bytes.
struct SearchTerm: Hashable, Sendable {
  /// A word of the term.
  struct Word: Hashable, Sendable {
    /// Folded, in UTF-8.
    var bytes: [UInt8]
    var isUnspaced: Bool
  }

  /// The words that must follow each other; empty when looking for bytes.
  let words: [Word]
  /// Whether the last word may be the beginning of one.
  let endsInPrefix: Bool
  /// The whole term, folded.
  let bytes: [UInt8]
  /// Bytes without which no text has the term: the longest word.
  let needle: [UInt8]

  /// `nil` if there is nothing to look for.
  init?(_ folded: [UInt8], endsInPrefix: Bool, _ matching: SearchQuery.Matching) {
    bytes = folded
    self.endsInPrefix = endsInPrefix
    switch matching {
    case .words: words = folded.words.map { Word(bytes: Array(folded[$0.range]), isUnspaced: $0.isUnspaced) }
    case .substrings: words = []
    }
    needle = words.max { $0.bytes.count < $1.bytes.count }?.bytes ?? folded
    guard !bytes.isEmpty, matching == .substrings || !words.isEmpty else { return nil }
  }
}
