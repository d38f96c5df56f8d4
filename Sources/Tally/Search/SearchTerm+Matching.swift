extension SearchTerm {
  /// Calls `body` with the range and the extent of each place where a folded text has the term.
  func forEachMatch(
    in folded: [UInt8], words found: [FoldedWord], _ body: (Range<Int>, MatchQuality.Extent) -> Void
  ) {
    if words.isEmpty {
      folded.forEachOccurrence(of: bytes, within: folded.startIndex..<folded.endIndex) { body($0, extent($0, found)) }
    } else if words.count == 1, words[0].isUnspaced {
      for word in found where word.isUnspaced {
        folded.forEachOccurrence(of: words[0].bytes, within: word.range) { body($0, .whole) }
      }
    } else {
      forEachPhrase(in: folded, words: found, body)
    }
  }

  private func forEachPhrase(
    in folded: [UInt8], words found: [FoldedWord], _ body: (Range<Int>, MatchQuality.Extent) -> Void
  ) {
    guard words.count <= found.count else { return }
    for first in 0...(found.count - words.count) {
      guard let start = start(in: folded, found[first]) else { continue }
      let last = found[first + words.count - 1]
      let isMiddleEqual = (1..<max(words.count - 1, 1)).allSatisfy { equals(words[$0], folded, found[first + $0]) }
      guard isMiddleEqual, let (end, extent) = end(in: folded, last) else { continue }
      body(start..<end, extent)
    }
  }

  /// Where the first word begins in a word of the text that can be the first; the last word is looked at by itself.
  private func start(in folded: [UInt8], _ found: FoldedWord) -> Int? {
    let word = words[0]
    guard word.isUnspaced == found.isUnspaced else { return nil }
    if words.count == 1 { return found.range.lowerBound }
    // Text without spaces goes on from before.
    let suffix = folded[found.range].suffix(word.isUnspaced ? word.bytes.count : found.range.count)
    return suffix.elementsEqual(word.bytes) ? suffix.startIndex : nil
  }

  private func equals(_ word: Word, _ folded: [UInt8], _ found: FoldedWord) -> Bool {
    word.isUnspaced == found.isUnspaced && folded[found.range].elementsEqual(word.bytes)
  }

  /// Where the last word ends in a word of the text, if it can be the last, and how much of it that is.
  private func end(in folded: [UInt8], _ found: FoldedWord) -> (Int, MatchQuality.Extent)? {
    let word = words[words.count - 1]
    guard word.isUnspaced == found.isUnspaced, folded[found.range].starts(with: word.bytes) else { return nil }
    let isWhole = word.isUnspaced || word.bytes.count == found.range.count
    guard isWhole || endsInPrefix else { return nil }
    return (found.range.lowerBound + word.bytes.count, isWhole ? .whole : .prefix)
  }

  /// How much of a word a range of bytes is.
  private func extent(_ range: Range<Int>, _ found: [FoldedWord]) -> MatchQuality.Extent {
    guard found.contains(where: { $0.range.lowerBound == range.lowerBound }) else { return .inside }
    return found.contains { $0.range.upperBound == range.upperBound } ? .whole : .prefix
  }
}

extension [UInt8] {
  /// Calls `body` with each range of bytes that equals others, from left to right without overlaps.
  fileprivate func forEachOccurrence(of bytes: [UInt8], within range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start + bytes.count <= range.upperBound {
      let candidate = start..<(start + bytes.count)
      if self[start] == bytes[0], self[candidate].elementsEqual(bytes) {
        body(candidate)
        start = candidate.upperBound
      } else {
        start += 1
      }
    }
  }
}
