import Foundation
import TallyEngine

/// Finds a query's terms by reading the texts of tasks, one task at a time.
///
/// This is the definition of a match: the index only proposes candidates, and tasks not yet indexed are read in this
/// way.
struct SearchMatcher {
  let query: SearchQuery
  private var folder = TextFolder()
  /// The folded text that is being read.
  private var buffer: [UInt8] = []
  /// The best match of each term in the texts read since ``begin()``; `nil` if there is none.
  private var best: [MatchQuality?]

  init(_ query: SearchQuery) {
    self.query = query
    best = Array(repeating: nil, count: query.terms.count)
  }

  /// Starts a new task.
  mutating func begin() {
    for index in best.indices { best[index] = nil }
  }

  /// Reads one text of the task.
  mutating func read(_ text: RawSpan, as field: SearchedField) {
    // Most texts contain none of the words. They are not split into words, and if they are ASCII they are not
    // even folded.
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

  /// The quality of the task's match; `nil` unless every term was found.
  var quality: MatchQuality? {
    var combined: MatchQuality?
    for quality in best {
      guard let quality else { return nil }
      combined = combined?.combined(with: quality) ?? quality
    }
    return combined
  }

  /// The ranges of a text that match any of the terms, in ascending order and without overlaps.
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
  /// The range for offsets of the UTF-8, which must be on scalar boundaries.
  fileprivate func range(ofUTF8 offsets: Range<Int>) -> Range<Index> {
    let start = utf8.index(startIndex, offsetBy: offsets.lowerBound)
    return start..<utf8.index(start, offsetBy: offsets.count)
  }
}

extension SearchTerm {
  /// Calls `body` with the range and the extent of each match of the term in a folded text.
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

  /// Where a match can start in a word of the text; `nil` if it cannot start there.
  ///
  /// If the term has only one word, `end(in:_:)` compares it.
  private func start(in folded: [UInt8], _ found: FoldedWord) -> Int? {
    let word = words[0]
    guard word.isUnspaced == found.isUnspaced else { return nil }
    if words.count == 1 { return found.range.lowerBound }
    // In a script without spaces, the match may start inside the text's word.
    let suffix = folded[found.range].suffix(word.isUnspaced ? word.bytes.count : found.range.count)
    return suffix.elementsEqual(word.bytes) ? suffix.startIndex : nil
  }

  private func equals(_ word: Word, _ folded: [UInt8], _ found: FoldedWord) -> Bool {
    word.isUnspaced == found.isUnspaced && folded[found.range].elementsEqual(word.bytes)
  }

  /// Where a match can end in a word of the text, and how much of the word it covers; `nil` if it cannot end there.
  private func end(in folded: [UInt8], _ found: FoldedWord) -> (Int, MatchQuality.Extent)? {
    let word = words[words.count - 1]
    guard word.isUnspaced == found.isUnspaced, folded[found.range].starts(with: word.bytes) else { return nil }
    let isWhole = word.isUnspaced || word.bytes.count == found.range.count
    guard isWhole || endsInPrefix else { return nil }
    return (found.range.lowerBound + word.bytes.count, isWhole ? .whole : .prefix)
  }

  /// How much of a word a range of bytes covers.
  private func extent(_ range: Range<Int>, _ found: [FoldedWord]) -> MatchQuality.Extent {
    guard found.contains(where: { $0.range.lowerBound == range.lowerBound }) else { return .inside }
    return found.contains { $0.range.upperBound == range.upperBound } ? .whole : .prefix
  }
}

extension [UInt8] {
  /// Calls `body` with each occurrence of some bytes in a range, from left to right and without overlaps.
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

/// The searched texts of a task, the most important first.
enum SearchedField: UInt8, CaseIterable, Sendable {
  case title, tags, notes
}

/// How well a term was found in a task: in which text, and how much of a word it covers; the best one is the smallest.
struct MatchQuality: Comparable, Hashable, Sendable {
  /// How much of a word a match covers.
  enum Extent: UInt8, Sendable {
    case whole, prefix, inside
  }

  let field: SearchedField
  let extent: Extent

  init(field: SearchedField, extent: Extent) {
    self.field = field
    self.extent = extent
  }

  /// The best quality: a whole word of the title.
  static let best = MatchQuality(field: .title, extent: .whole)

  /// The quality as a number; the smallest is the best.
  var rank: UInt8 { field.rawValue * 3 + extent.rawValue }

  /// The number of different qualities.
  static let rankCount: UInt8 = 9

  /// Creates a quality from its ``rank``.
  init(rank: UInt8) {
    field = SearchedField(rawValue: rank / 3) ?? .notes
    extent = Extent(rawValue: rank % 3) ?? .inside
  }

  static func < (left: Self, right: Self) -> Bool {
    left.rank < right.rank
  }

  /// The quality of two terms together: the worse text and the worse extent.
  func combined(with other: Self) -> Self {
    MatchQuality(
      field: field.rawValue < other.field.rawValue ? other.field : field,
      extent: extent.rawValue < other.extent.rawValue ? other.extent : extent)
  }

  /// A bound for two qualities: the better text and the better extent.
  func bound(with other: Self) -> Self {
    MatchQuality(
      field: field.rawValue < other.field.rawValue ? field : other.field,
      extent: extent.rawValue < other.extent.rawValue ? extent : other.extent)
  }
}

/// The sort key of a task among the results, best first: quality, open before completed, newer before older, id.
struct SearchRank: Comparable, Hashable, Sendable {
  var quality: MatchQuality
  var isCompleted: Bool
  var createdAt: Timestamp
  var id: UUID

  static func < (left: Self, right: Self) -> Bool {
    if left.quality != right.quality { return left.quality < right.quality }
    if left.isCompleted != right.isCompleted { return right.isCompleted }
    if left.createdAt != right.createdAt { return left.createdAt > right.createdAt }
    return left.id.precedes(right.id)
  }
}
