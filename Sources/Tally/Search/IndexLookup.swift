/// What the index is asked for one part of a query: the tasks with a term, or with terms that begin alike.
///
/// A task that matches the query is found by all lookups of it. The converse holds only for words by themselves: the
/// index does not know whether the words of a phrase follow each other.
struct IndexLookup: Hashable {
  let term: [UInt8]
  /// Whether longer terms are found, too.
  let isPrefix: Bool
  /// How much of a word a longer term shows to be found.
  let extentOfLonger: MatchQuality.Extent
  /// Whether the term is of a phrase, so that the phrase may be in another text than the best one that has the term.
  let isOfPhrase: Bool

  /// The lookups of a query; prefixes last, as they have more lists to read.
  static func lookups(of query: SearchQuery) -> [IndexLookup] {
    var lookups: [IndexLookup] = []
    var known: Set<IndexLookup> = []
    for term in query.terms {
      for (index, word) in term.words.enumerated() {
        let isLast = index == term.words.count - 1
        let own = Self.lookups(
          of: word, endsInPrefix: isLast && term.endsInPrefix, isOfPhrase: term.words.count > 1)
        for lookup in own where known.insert(lookup).inserted { lookups.append(lookup) }
      }
    }
    return lookups.filter { !$0.isPrefix } + lookups.filter(\.isPrefix)
  }

  private static func lookups(
    of word: SearchTerm.Word, endsInPrefix: Bool, isOfPhrase: Bool
  ) -> [IndexLookup] {
    let terms = IndexTerm.terms(of: word)
    // A single scalar without spaces is the beginning of its pair with the next one.
    let isPrefix = word.isUnspaced ? word.bytes.isSingleScalar : endsInPrefix
    return terms.map {
      IndexLookup(
        term: $0, isPrefix: isPrefix, extentOfLonger: word.isUnspaced ? .whole : .prefix, isOfPhrase: isOfPhrase)
    }
  }
}

extension [UInt8] {
  /// Whether the bytes are one scalar of a folded text.
  fileprivate var isSingleScalar: Bool { !isEmpty && UTF8.width(foldedScalar(at: 0)) == count }
}
