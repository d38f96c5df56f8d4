import Foundation

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

// Words follow Unicode Standard Annex #29 with two differences, both for search. Apostrophes, full stops and low lines
// separate words, where the annex joins letters and digits around them: so `eau` finds l'eau and `example` finds
// example.com, while a query's own `don't` or `3.14` is looked for as its parts in a row. And what the annex leaves
// to dictionaries, scripts without spaces, is one word from separator to separator in which any part can be found.
// The standard library's word breaking is not public, and Foundation's depends on the locale and the system's version.

/// A word of a folded text: the range of its bytes.
struct FoldedWord: Equatable {
  var range: Range<Int>
  /// Whether it is text of a script without spaces, so that any part of it counts as a word.
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

  /// The scalar at an offset of a folded text, which is well-formed UTF-8.
  @inline(__always)
  func foldedScalar(at offset: Int) -> Unicode.Scalar {
    let first = UInt32(self[offset])
    let value =
      switch first {
      case ..<0x80: first
      case ..<0xE0: (first & 0x1F) << 6 | continuation(offset + 1)
      case ..<0xF0: (first & 0x0F) << 12 | continuation(offset + 1) << 6 | continuation(offset + 2)
      default:
        (first & 0x07) << 18 | continuation(offset + 1) << 12 | continuation(offset + 2) << 6
          | continuation(offset + 3)
      }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  @inline(__always)
  private func continuation(_ offset: Int) -> UInt32 { UInt32(self[offset] & 0x3F) }
}

/// What a scalar of a folded text is to words.
enum WordKind {
  /// Separates words.
  case separator
  /// Belongs to a word between separators: letters and digits of most scripts.
  case spaced
  /// Belongs to a script without spaces, such as Chinese, Japanese, Thai, or is an emoji; Korean too, whose words are
  /// written together often.
  case unspaced
  /// Belongs to what comes before it: vowel signs and other marks.
  case mark
}

extension Unicode.Scalar {
  var wordKind: WordKind {
    switch value {
    case 0x30...0x39, 0x61...0x7A: .spaced
    case 0x00...0x7F: .separator
    // Letters of the commonest alphabets, before the look-up.
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
    // Emoji, which are pictures of words.
    case .otherSymbol: .unspaced
    // Tones of skin.
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

/// The texts of a task that are searched, the most important first.
enum SearchedField: UInt8, CaseIterable, Sendable {
  case title, tags, notes
}

/// How well something was found in a task: in which text, and as how much of a word; the best comes first.
struct MatchQuality: Comparable, Hashable, Sendable {
  /// How much of a word was found.
  enum Extent: UInt8, Sendable {
    case whole, prefix, inside
  }

  private(set) var field: SearchedField
  private(set) var extent: Extent

  init(field: SearchedField, extent: Extent) {
    self.field = field
    self.extent = extent
  }

  /// A whole word of the title.
  static let best = MatchQuality(field: .title, extent: .whole)

  /// The quality as a number, of which the least is the best.
  var rank: UInt8 { field.rawValue * 3 + extent.rawValue }

  /// How many qualities there are.
  static let rankCount: UInt8 = 9

  /// The quality of a number that ``rank`` gave.
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

  /// The better text and the better extent of two.
  func bound(with other: Self) -> Self {
    MatchQuality(
      field: field.rawValue < other.field.rawValue ? field : other.field,
      extent: extent.rawValue < other.extent.rawValue ? extent : other.extent)
  }
}

/// The place of a task among the results, best first: how well it matches, open before completed, newer first, id.
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
