import Foundation
import LMDB

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
