import Foundation
import LMDB
import TallyEngine

/// A query that searches titles, notes and tags.
///
/// ```swift
/// SearchQuery("tax for")               // "for" is a prefix: form, forms
/// SearchQuery("\"tax form\" 2026")     // the two words in a row, and the year
/// SearchQuery("orm", .substrings)      // anywhere, inside words too
/// ```
///
/// Every word must be found, in any order and in any of the three texts; a phrase must be found in one of them. The
/// last word matches as a prefix unless it is quoted. Case, accents and width do not matter. In
/// scripts without spaces, such as Chinese, Japanese, Korean and Thai, a word is found inside a longer text.
public struct SearchQuery: Hashable, Sendable {
  /// How the words of a query are matched.
  public enum Matching: Hashable, Sendable {
    /// As words, the last one as a prefix.
    case words
    /// Anywhere in a text. This reads every task, because the index contains only words.
    case substrings
  }

  /// The text of the query.
  public let text: String
  /// How its words are matched.
  public let matching: Matching
  /// The terms, all of which must be found; empty if the text has no words.
  let terms: [SearchTerm]

  /// Creates a query from any text; a search for more than 256 different words or 10,000 bytes throws
  /// `valueOutOfRange`.
  ///
  /// An unclosed quotation mark quotes up to the end, where the person is typing.
  public init(_ text: String, _ matching: Matching = .words) {
    self.text = text
    self.matching = matching
    var folder = TextFolder()
    // Parts without words are dropped first, so that "milk -" also ends in a prefix.
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

  /// Whether the query has too many words or bytes, since each term is searched for in each text.
  let isTooLong: Bool
  static let mostWords = 256
  private static let mostBytes = 10_000

  /// Whether the query has no words; searching for it throws `emptySearch`.
  public var isEmpty: Bool { terms.isEmpty }

  /// The parts of a text between spaces and quotation marks.
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

/// One term to be found: a word, a phrase, or any bytes.
struct SearchTerm: Hashable, Sendable {
  /// A word of the term.
  struct Word: Hashable, Sendable {
    /// The word in UTF-8, folded.
    var bytes: [UInt8]
    var isUnspaced: Bool
  }

  /// The words in sequence; empty for a term of any bytes.
  let words: [Word]
  /// Whether the last word matches as a prefix.
  let endsInPrefix: Bool
  /// The whole term in UTF-8, folded.
  let bytes: [UInt8]
  /// Bytes that every text with the term contains: its longest word.
  let needle: [UInt8]

  /// Creates a term; `nil` if the text has nothing to search for.
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
