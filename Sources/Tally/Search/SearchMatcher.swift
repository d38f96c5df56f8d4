/// Finds a query's terms in the texts of one task after the other, by reading them.
///
/// This is what matching means: the index only proposes tasks, and what it does not know yet is read like this.
struct SearchMatcher {
  let query: SearchQuery
  private var folder = TextFolder()
  /// The text that is being read, folded.
  private var buffer: [UInt8] = []
  /// The best match of each term in the texts read since ``begin()``.
  private var best: [MatchQuality?]

  init(_ query: SearchQuery) {
    self.query = query
    best = Array(repeating: nil, count: query.terms.count)
  }

  /// Starts over with another task.
  mutating func begin() {
    for index in best.indices { best[index] = nil }
  }

  /// Reads one of the task's texts.
  mutating func read(_ text: RawSpan, as field: SearchedField) {
    // Most texts have none of the words: they are not divided into theirs, and if they are ASCII not even folded.
    if text.isASCII, !query.terms.contains(where: { $0.needle.span.isFoundIgnoringCase(in: text) }) { return }
    buffer.removeAll(keepingCapacity: true)
    folder.fold(text, into: &buffer)
    let folded = buffer
    var words: [FoldedWord]?
    for (index, term) in query.terms.enumerated() {
      guard unsafe term.needle.span.isFoundIgnoringCase(in: folded.span.bytes) else { continue }
      let found = words ?? folded.words
      words = found
      term.forEachMatch(in: folded, words: found) { _, extent in
        let quality = MatchQuality(field: field, extent: extent)
        best[index] = best[index].map { min($0, quality) } ?? quality
      }
    }
  }

  /// How well the task matches; `nil` unless every term was found.
  var quality: MatchQuality? {
    var combined: MatchQuality?
    for quality in best {
      guard let quality else { return nil }
      combined = combined?.combined(with: quality) ?? quality
    }
    return combined
  }

  /// Where a text has any of the terms: ranges in ascending order that do not overlap.
  mutating func ranges(in text: String) -> [Range<String.Index>] {
    let folded = FoldedText(text, with: &folder)
    let words = folded.utf8.words
    var found: [Range<Int>] = []
    for term in query.terms {
      term.forEachMatch(in: folded.utf8, words: words) { range, _ in found.append(folded.originalRange(of: range)) }
    }
    found.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
    var merged: [Range<Int>] = []
    for range in found {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged.map { text.range(ofUTF8: $0) }
  }
}

extension String {
  /// The range of some bytes of the UTF-8, which begin and end with scalars.
  fileprivate func range(ofUTF8 offsets: Range<Int>) -> Range<Index> {
    let start = utf8.index(startIndex, offsetBy: offsets.lowerBound)
    return start..<utf8.index(start, offsetBy: offsets.count)
  }
}
