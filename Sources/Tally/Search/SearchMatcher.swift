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

// Words follow Unicode Standard Annex #29, with two differences for search. First, apostrophes, full stops and
// underscores separate words, where the annex joins letters and digits around them. So `eau` finds l'eau and
// `example` finds example.com, while `don't` or `3.14` in a query is searched for as a sequence of its parts.
// Second, text in scripts without spaces, which the annex leaves to dictionaries, is one word from separator to
// separator, and any part of it can be found. The standard library's word breaking is not public, and
// Foundation's depends on the locale and the system's version.

/// A word of a folded text, as a range of its bytes.
struct FoldedWord: Equatable {
  var range: Range<Int>
  /// Whether the word is in a script without spaces, so that any part of it counts as a word.
  var isUnspaced: Bool
}

extension [UInt8] {
  /// Calls `body` with each word of a folded text, in order.
  func forEachWord(_ body: (FoldedWord) -> Void) {
    var start = 0
    var kind = WordKind.separator
    var offset = 0
    while offset < count {
      let scalar = foldedScalar(at: offset)
      let next = scalar.wordKind
      if next != kind, next != .mark {
        if kind != .separator { body(FoldedWord(range: start..<offset, isUnspaced: kind == .unspaced)) }
        start = offset
        kind = next
      }
      offset += UTF8.width(scalar)
    }
    if kind != .separator { body(FoldedWord(range: start..<offset, isUnspaced: kind == .unspaced)) }
  }

  /// The words of a folded text, in order.
  var words: [FoldedWord] {
    var words: [FoldedWord] = []
    forEachWord { words.append($0) }
    return words
  }

  /// Decodes the scalar at an offset of a folded text, which is well-formed UTF-8.
  @inline(__always)
  func foldedScalar(at offset: Int) -> Unicode.Scalar {
    let first = self[offset]
    if first.isASCII { return Unicode.Scalar(first) }
    var offset = offset
    return span.nextScalar(at: &offset)
  }
}

/// The role of a scalar in dividing a folded text into words.
enum WordKind {
  /// A scalar that separates words.
  case separator
  /// A letter or digit of a script with spaces between words, as most have.
  case spaced
  /// An emoji, or a letter of a script without spaces, such as Chinese, Japanese and Thai; also of Korean,
  /// whose words are often written together.
  case unspaced
  /// A vowel sign or another mark, which belongs to the scalar before it.
  case mark
}

extension Unicode.Scalar {
  var wordKind: WordKind {
    switch value {
    case 0x30...0x39, 0x61...0x7A: .spaced
    case 0x00...0x7F: .separator
    // The letters of the most common alphabets, checked before the lookup of properties.
    case 0x03B1...0x03C9, 0x0430...0x045F, 0x05D0...0x05EA, 0x0620...0x063F, 0x0641...0x064A: .spaced
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: .unspaced
    default: wordKindByCategory
    }
  }

  private var wordKindByCategory: WordKind {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      isOfUnspacedScript ? .unspaced : .spaced
    case .nonspacingMark, .spacingMark, .enclosingMark: isOfUnspacedScript ? .unspaced : .mark
    // An emoji stands for a word.
    case .otherSymbol: .unspaced
    // The modifiers of skin tone are emoji; other modifiers separate words.
    case .modifierSymbol: properties.isEmoji ? .unspaced : .separator
    default: .separator
    }
  }

  /// Whether the scalar is in a block of Thai, Lao, Burmese, Khmer, Hangul, kana or ideographs.
  private var isOfUnspacedScript: Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x2E80...0x31FF, 0xA960...0xA97F: true
    case 0xAA60...0xAA7F, 0xD7B0...0xD7FF, 0xF900...0xFAFF, 0x1AFF0...0x1B16F, 0x20000...0x3FFFF: true
    default: false
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
