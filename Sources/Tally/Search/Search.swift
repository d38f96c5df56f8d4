import Foundation
import LMDB

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

/// A task that a search has found, and where.
///
/// ```swift
/// for match in try store.search(SearchQuery("tax for"), limit: 20) {
///   for range in match.titleRanges { print(match.task.title[range]) }
/// }
/// ```
public struct SearchMatch: Hashable, Sendable {
  /// The task.
  public let task: TaskItem
  /// The ranges of the title that match, in ascending order, without overlaps.
  public let titleRanges: [Range<String.Index>]
  /// The ranges of the notes that match; none if there are no notes.
  public let notesRanges: [Range<String.Index>]
  /// The ranges of each tag that match, in the order of the task's tags.
  public let tagRanges: [[Range<String.Index>]]

  init(_ task: TaskItem, _ matcher: inout SearchMatcher) {
    self.task = task
    titleRanges = matcher.ranges(in: task.title)
    notesRanges = task.notes.map { matcher.ranges(in: $0) } ?? []
    tagRanges = task.tags.map { matcher.ranges(in: $0) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The tasks that have all words of a query in their titles, notes and tags, best first.
  ///
  /// ```swift
  /// let matches = try store.read { try $0.search(SearchQuery("tax form"), limit: 20) }
  /// ```
  ///
  /// A match in the title comes before one in a tag, that before one in the notes; then a whole word before the
  /// beginning of one, an open task before a completed one, a newer one before an older one; at last ids decide. What
  /// this transaction has written is found.
  ///
  /// - Parameters:
  ///   - query: The words to look for.
  ///   - limit: The most matches to return; `nil` for all.
  /// - Returns: The matches, best first.
  /// - Throws: `emptySearch` for a query without words (``SearchQuery/isEmpty``); `valueOutOfRange` for one of more
  ///   than 256 different words or 10,000 bytes; `damagedStore`, and what else the storage throws.
  /// - Complexity: two lookups for each 8,192 tasks and word, then one record for each match; some hundred tasks that
  ///   have changed last are read. Substrings are looked for in every task.
  public func search(_ query: SearchQuery, limit: Int? = nil) throws -> [SearchMatch] {
    let limit = limit ?? .max
    guard !query.isEmpty else {
      throw TallyError(
        .emptySearch, "The search has no word to look for", remedy: "Give at least one word with a letter or a digit")
    }
    guard !query.isTooLong else {
      throw TallyError(
        .valueOutOfRange,
        "The search has more than \(SearchQuery.mostWords) different words, or is longer than 10,000 bytes",
        remedy: "Look for fewer words; a part of a sentence is enough to find it")
    }
    guard limit > 0 else { return [] }
    var matcher = SearchMatcher(query)
    let index = query.matching == .words ? try SearchIndex(tables, in: base) : SearchIndex()
    var heap = MinimumHeap<RankedItem>()
    try readTail(after: index.state.through, &matcher) { heap.insert(RankedItem(rank: $0)) }
    var lookups = IndexLookup.lookups(of: query)
    var cursor = try tables.search.cursor(in: base)
    // Open a segment only when its first task could be the next result.
    var searches = [SegmentSearch?](repeating: nil, count: index.segments.count)
    for (number, segment) in index.segments.enumerated() {
      heap.insert(RankedItem(rank: segment.bestRank, segment: number))
    }
    var matches: [SearchMatch] = []
    while matches.count < limit, let best = heap.removeFirst() {
      guard let number = best.segment else {
        matches.append(SearchMatch(try indexedTask(best.rank.id), &matcher))
        continue
      }
      let isOpen = searches[number] != nil
      if !isOpen { searches[number] = try SegmentSearch(index.segments[number], for: &lookups, by: &cursor) }
      if let next = try searches[number]?.next() {
        let rank = try index.segments[number].rank(of: next, by: &cursor)
        heap.insert(RankedItem(rank: rank, segment: number))
      }
      if isOpen, let rank = try rank(of: best.rank.id, in: index.segments[number], &matcher) {
        heap.insert(RankedItem(rank: rank))
      }
    }
    return matches
  }

  /// The rank of a task that a segment names; `nil` if it has changed since, is deleted, or does not match.
  private func rank(of id: UUID, in segment: SearchSegment, _ matcher: inout SearchMatcher) throws -> SearchRank? {
    guard let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    let fields = try TaskFields(record)
    guard segment.contains(id, changedIn: fields.stamp.changed) else { return nil }
    return try matcher.rank(of: fields, id)
  }

  /// Reads the tasks that have changed since the index was written.
  private func readTail(
    after row: ChangeKey, _ matcher: inout SearchMatcher, _ body: (SearchRank) -> Void
  ) throws {
    try forEachKey(of: tables.byChange, from: row) { key in
      guard key != row, key.kind == .task else { return }
      guard let record = try tables.tasks.bytes(forKey: IDKey(key.id), in: base) else {
        throw TallyError.missingRecord(of: "byChange")
      }
      if let rank = try matcher.rank(of: try TaskFields(record), key.id) { body(rank) }
    }
  }
}

/// A task that was found, the next candidate of a segment, or a segment that is not open yet, by their best ranks.
private struct RankedItem: Comparable {
  var rank: SearchRank
  /// The number of the segment; `nil` for a task that was found.
  var segment: Int?

  static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  static func == (left: Self, right: Self) -> Bool { left.rank == right.rank }
}

extension SearchSegment {
  /// The rank that a candidate has at best.
  fileprivate func rank(of candidate: SegmentSearch.Posting, by cursor: inout SearchCursor) throws -> SearchRank {
    let member = try member(candidate.task, by: &cursor)
    return SearchRank(
      quality: candidate.quality, isCompleted: member.isCompleted, createdAt: member.createdAt, id: member.id)
  }
}

extension SearchMatcher {
  /// The rank of a task; `nil` if it does not match.
  fileprivate mutating func rank(of fields: borrowing TaskFields, _ id: UUID) throws(LMDBError) -> SearchRank? {
    begin()
    try fields.forEachText { read($0, as: $1) }
    guard let quality else { return nil }
    return SearchRank(quality: quality, isCompleted: fields.isCompleted, createdAt: try fields.createdAt, id: id)
  }
}
