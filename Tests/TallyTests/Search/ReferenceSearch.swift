import Foundation

@testable import Tally
@testable import TallyEngine

/// What a search finds, said with strings and regular expressions.
struct ReferenceSearch {
  private var terms: [(words: [String], endsInPrefix: Bool)] = []

  init(_ query: String) {
    var pieces: [(text: String, quoted: Bool)] = []
    for (index, part) in query.components(separatedBy: "\"").enumerated() {
      let isLast = index == query.components(separatedBy: "\"").count - 1
      if index % 2 == 1 {
        pieces.append((part, !isLast))
      } else {
        pieces += part.components(separatedBy: .whitespacesAndNewlines).map { ($0, false) }
      }
    }
    let found = pieces.map { (words: Self.words(of: $0.text), quoted: $0.quoted) }.filter { !$0.words.isEmpty }
    for (index, piece) in found.enumerated() {
      terms.append((piece.words, index == found.count - 1 && !piece.quoted))
    }
  }

  func finds(_ text: String) -> Bool {
    let words = Self.words(of: text)
    return !terms.isEmpty && terms.allSatisfy { Self.finds($0.words, $0.endsInPrefix, in: words) }
  }

  private static func finds(_ term: [String], _ endsInPrefix: Bool, in words: [String]) -> Bool {
    if term.count == 1, isUnspaced(term[0]) { return words.contains { isUnspaced($0) && holds($0, term[0]) } }
    return words.indices.contains { start in
      guard start + term.count <= words.count else { return false }
      return term.indices.allSatisfy { index in
        let (wanted, word) = (term[index], words[start + index])
        guard isUnspaced(wanted) == isUnspaced(word) else { return false }
        if wanted == word { return true }
        if index == term.count - 1, isUnspaced(word) || endsInPrefix { return starts(word, wanted) }
        return index == 0 && isUnspaced(word) && starts(reversed(word), reversed(wanted))
      }
    }
  }

  private static func holds(_ word: String, _ part: String) -> Bool {
    word.range(of: part, options: .literal) != nil
  }

  private static func reversed(_ word: String) -> String {
    String(String.UnicodeScalarView(word.unicodeScalars.reversed()))
  }

  /// By scalars: characters may take in the marks that follow.
  private static func starts(_ word: String, _ beginning: String) -> Bool {
    word.unicodeScalars.starts(with: beginning.unicodeScalars)
  }

  private static let unspaced = #"(?:[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー]|👍|🏽)"#
  private static let spaced = #"(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー])[\p{L}\p{N}\p{M}])"#
  private static let word = try? NSRegularExpression(pattern: "\(spaced)+|\(unspaced)+")

  private static func words(of text: String) -> [String] {
    var folder = TextFolder()
    let folded = folder.fold(text) as NSString
    return word?.matches(in: folded as String, range: NSRange(location: 0, length: folded.length))
      .map { folded.substring(with: $0.range) } ?? []
  }

  private static func isUnspaced(_ word: String) -> Bool {
    word.unicodeScalars.first?.wordKind == .unspaced
  }
}
