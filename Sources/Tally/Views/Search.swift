import Foundation
import LMDB
import TallyEngine

/// A task that a search has found, with the ranges that match.
///
/// ```swift
/// for match in try store.search(SearchQuery("tax for"), limit: 20) {
///   for range in match.titleRanges { print(match.task.title[range]) }
/// }
/// ```
public struct SearchMatch: Hashable, Sendable {
  /// The task.
  public let task: TaskItem
  /// The ranges of the title that match, in ascending order and without overlaps.
  public let titleRanges: [Range<String.Index>]
  /// The ranges of the notes that match; empty if there are no notes.
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
  /// Returns the tasks that have all words of a query in their titles, notes and tags, best match first.
  ///
  /// ```swift
  /// let matches = try store.read { try $0.search(SearchQuery("tax form"), limit: 20) }
  /// ```
  ///
  /// A match in the title comes before one in a tag, and that before one in the notes. Then a whole word comes
  /// before a prefix, an open task before a completed one, and a newer task before an older one; ties are
  /// sorted by id. What this transaction has written is included.
  ///
  /// - Parameters:
  ///   - query: The words to search for.
  ///   - limit: The maximum number of matches to return; `nil` for all.
  /// - Returns: The matches, best first.
  /// - Throws: `emptySearch` for a query without words (``SearchQuery/isEmpty``); `valueOutOfRange` for a query
  ///   of more than 256 different words or 10,000 bytes; `damagedStore`, and the errors of the storage.
  /// - Complexity: Two lookups for each word in each 8,192 tasks, and one record for each match. A few hundred
  ///   recently changed tasks are read in addition. A search for substrings reads every task.
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
    // Opens a segment only when its first task could be the next result.
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

  /// The rank of a task in a segment; `nil` if it has changed since it was indexed, is deleted, or does not match.
  private func rank(of id: UUID, in segment: SearchSegment, _ matcher: inout SearchMatcher) throws -> SearchRank? {
    guard let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    let fields = try TaskFields(record)
    guard segment.contains(id, changedIn: fields.stamp.changed) else { return nil }
    return try matcher.rank(of: fields, id)
  }

  /// Reads the tasks that have changed since the index was last extended.
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

/// A task that was found, the next candidate of a segment, or a segment not yet opened, ordered by best possible rank.
private struct RankedItem: Comparable {
  var rank: SearchRank
  /// The number of the segment; `nil` for a task that was found.
  var segment: Int?

  static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

extension SearchSegment {
  /// The best possible rank of a candidate.
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
    return SearchRank(quality: quality, isCompleted: fields.isClosed, createdAt: try fields.createdAt, id: id)
  }
}

extension TaskStore {
  /// Returns the tasks that have all words of a query, best match first, in a snapshot of their own.
  ///
  /// The result is that of ``StoreTransaction/search(_:limit:)``.
  ///
  /// - Parameters:
  ///   - query: The words to search for.
  ///   - limit: The maximum number of matches to return; `nil` for all.
  /// - Returns: The matches, best first.
  /// - Throws: The errors of ``StoreTransaction/search(_:limit:)`` and ``read(_:)``.
  public func search(_ query: SearchQuery, limit: Int? = nil) throws -> [SearchMatch] {
    try read { try $0.search(query, limit: limit) }
  }

  /// Brings the search index up to date, in several commits of a few hundredths of a second each.
  ///
  /// Searches find everything without this call, and writes extend the index on their own. Only after many tasks have
  /// been written at once, as by an import, are searches slower, for a few hundred commits or until this is called.
  ///
  /// - Throws: `permissionDenied` for a store opened for reading only; `cancelled`, `diskFull`, and the errors
  ///   of a write.
  /// - Complexity: Some microseconds for each task that has changed since the last update.
  @available(*, noasync)
  public func updateSearchIndex() throws {
    var isBehind = true
    while isBehind {
      try TallyError.checkCancellation()
      isBehind = try connection.use { store in
        try store.checkWritable()
        return try configuration.store.retrying {
          try store.environment.write { base in
            let indexer = SearchIndexer(tables: store.tables)
            return try indexer.advance(atMost: SearchIndexer.taskLimit, byteCount: SearchIndexer.byteLimit, in: &base)
          }
        }
      }
    }
  }
}
