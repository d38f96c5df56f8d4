import LMDB
import TallyEngine

/// The tasks of one segment that may match a query according to the index, best first.
struct SegmentSearch {
  let segment: SearchSegment
  /// A cursor for each lookup, the one with the fewest bytes first.
  private var lookups: [LookupCursor] = []
  /// The task number from which to search for the next candidate; `nil` once all have been found.
  private var position: Int? = 0
  /// Candidates that were found, but that a later task may outrank.
  private var waiting: [Posting] = []
  /// The number of waiting candidates already returned.
  private var returnedCount = 0

  /// The number of a task and the quality of its match.
  struct Posting {
    private let bits: UInt64

    init(_ quality: MatchQuality, _ task: Int) { bits = UInt64(quality.rank) << 32 | UInt64(task) }

    var quality: MatchQuality { MatchQuality(rank: UInt8(truncatingIfNeeded: bits >> 32)) }
    var rank: Int { Int(bits >> 32) }
    var task: Int { Int(bits & 0xFFFF_FFFF) }
  }

  /// Searches a segment for the tasks that all lookups find.
  ///
  /// The posting lists are copied at once, but are decoded only as far as candidates are needed.
  ///
  /// Most segments lack one of the words, often the same one. A lookup that finds nothing here is therefore
  /// moved to the front of `lookups`, so that the next such segment needs only one lookup.
  init(_ segment: SearchSegment, for lookups: inout [IndexLookup], by cursor: inout SearchCursor) throws {
    self.segment = segment
    self.lookups.reserveCapacity(lookups.count)
    for (index, lookup) in lookups.enumerated() {
      // Skips a prefix's many lists if no task has all the other words.
      if lookup.isPrefix, !self.lookups.isEmpty, try nextOfAll(from: 0) == nil {
        position = nil
        return
      }
      guard let lists = try LookupCursor(lookup, in: segment, by: &cursor) else {
        // Prefixes stay last: they are read only if some task has all the other words.
        let place = lookup.isPrefix ? lookups.firstIndex(where: \.isPrefix) ?? 0 : 0
        lookups.insert(lookups.remove(at: index), at: place)
        position = nil
        return
      }
      self.lookups.append(lists)
    }
    if lookups.count > 1 { self.lookups.sort { $0.byteCount < $1.byteCount } }
  }

  /// Returns the next candidate, with the best quality that its match can have.
  mutating func next() throws -> Posting? {
    while let start = position {
      guard let posting = try nextOfAll(from: start) else {
        position = nil
        waiting = Self.sorted(waiting)
        break
      }
      position = posting.task + 1
      // Tasks are numbered in the order of the results, except for the quality of their matches.
      if posting.quality <= bestQuality { return posting }
      waiting.append(posting)
    }
    guard returnedCount < waiting.count else { return nil }
    defer { returnedCount += 1 }
    return waiting[returnedCount]
  }

  /// The best quality that a task of the segment can have.
  private var bestQuality: MatchQuality {
    lookups.reduce(.best) { $0.combined(with: $1.bestQuality) }
  }

  /// The first task from a number on that all lookups find.
  private mutating func nextOfAll(from start: Int) throws -> Posting? {
    guard !lookups.isEmpty else { return nil }
    var task = start
    search: while true {
      var quality = MatchQuality.best
      for index in lookups.indices {
        guard let posting = try lookups[index].first(from: task) else { return nil }
        if posting.task > task {
          task = posting.task
          continue search
        }
        quality = quality.combined(with: posting.quality)
      }
      return Posting(quality, task)
    }
  }

  /// Sorts postings by quality, keeping the order of their tasks, with one bucket for each of the few qualities.
  private static func sorted(_ postings: [Posting]) -> [Posting] {
    var lists = [[Posting]](repeating: [], count: Int(MatchQuality.rankCount))
    for posting in postings { lists[posting.rank].append(posting) }
    return Array(lists.joined())
  }
}

/// The tasks of a segment that one lookup finds, in ascending order, read on demand.
private struct LookupCursor {
  /// The posting lists of the terms, concatenated.
  private var bytes: [UInt8] = []
  /// One reader for each list; the one with the first task is on top.
  private var lists = MinimumHeap<TermCursor>()
  private let taskCount: Int
  private let isOfPhrase: Bool
  /// How much of a word the best of the terms covers.
  private var bestExtent: MatchQuality.Extent
  /// The last posting returned.
  private var current: SegmentSearch.Posting?

  /// Opens the lists of a lookup; `nil` if the segment has none of its terms.
  init?(_ lookup: IndexLookup, in segment: SearchSegment, by cursor: inout SearchCursor) throws {
    (taskCount, isOfPhrase, bestExtent) = (segment.taskCount, lookup.isOfPhrase, lookup.extentOfLonger)
    let key = SearchKey(.term, of: segment.number, lookup.term)
    var isFound = try cursor.move(toFirstAtOrAfter: key)
    while isFound, key.isPrefix(of: cursor.keyBytes) {
      let isWhole = cursor.keyBytes.byteCount == key.encodedByteCount
      guard isWhole || lookup.isPrefix else { break }
      if isWhole { bestExtent = .whole }
      try append(cursor.valueBytes, isWhole ? .whole : lookup.extentOfLonger)
      guard lookup.isPrefix else { return }
      isFound = try cursor.next()
    }
    if bytes.isEmpty { return nil }
  }

  private mutating func append(_ list: RawSpan, _ extent: MatchQuality.Extent) throws {
    let start = bytes.count
    // The buffer does not outlive the closure; the array copies it.
    unsafe list.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    var term = TermCursor(reader: PostingList.Reader(start..<bytes.count), extent: extent)
    if try term.next(in: bytes, of: taskCount) { lists.insert(term) }
  }

  var byteCount: Int { bytes.count }

  /// The best quality that a task can have.
  var bestQuality: MatchQuality { MatchQuality(field: .title, extent: bestExtent) }

  /// Returns the first posting from a task number on, but never one before the last posting returned.
  mutating func first(from task: Int) throws -> SegmentSearch.Posting? {
    while current.map({ $0.task < task }) ?? true {
      guard let first = lists.first else { return nil }
      let next = first.reader.task
      var quality = first.quality
      while var term = lists.first, term.reader.task == next {
        quality = isOfPhrase ? quality.bound(with: term.quality) : min(quality, term.quality)
        if try term.next(in: bytes, of: taskCount) {
          lists.replaceFirst(with: term)
        } else {
          _ = lists.removeFirst()
        }
      }
      current = SegmentSearch.Posting(quality, next)
    }
    return current
  }
}

/// A cursor of the search index.
typealias SearchCursor = Cursor<SearchKey, [UInt8]>

extension SearchSegment {
  /// Reads the id and the time of creation of a task.
  func member(_ task: Int, by cursor: inout SearchCursor) throws -> SegmentBuilder.Member {
    let index = task % SegmentBuilder.Member.countPerRow
    let key = SearchKey(.members, of: number, number: UInt32(task - index))
    guard try cursor.move(to: key), (index + 1) * SegmentBuilder.Member.width <= cursor.valueBytes.byteCount else {
      throw TallyError.damagedSearchIndex
    }
    return SegmentBuilder.Member(cursor.valueBytes, at: index, isCompleted: task >= openCount)
  }
}

/// Reads the postings of one term.
private struct TermCursor: Comparable {
  var reader: PostingList.Reader
  let extent: MatchQuality.Extent

  /// The quality of the last task read.
  var quality: MatchQuality { MatchQuality(field: reader.field, extent: extent) }

  /// Advances to the next posting; returns false at the end.
  mutating func next(in bytes: [UInt8], of taskCount: Int) throws -> Bool {
    if unsafe reader.next(in: bytes.span.bytes, of: taskCount) { return true }
    guard reader.isSound else { throw TallyError.damagedSearchIndex }
    return false
  }

  static func < (left: Self, right: Self) -> Bool { left.reader.task < right.reader.task }
  static func == (left: Self, right: Self) -> Bool { left.reader.task == right.reader.task }
}

extension TallyError {
  static let damagedSearchIndex = TallyError(
    .damagedStore, "The search index contradicts itself", remedy: "Run a repair, which builds it again")
}

/// The look-up in the index for one part of a query: the tasks with a term, or with any term that has a prefix.
///
/// All lookups of a query find every task that matches it. The converse holds only for single words: the index
/// does not know whether the words of a phrase follow each other.
struct IndexLookup: Hashable {
  let term: [UInt8]
  /// Whether longer terms with this prefix are found as well.
  let isPrefix: Bool
  /// How much of a word a match of a longer term covers.
  let extentOfLonger: MatchQuality.Extent
  /// Whether the term belongs to a phrase, so that the phrase may be in another text than the term's best one.
  let isOfPhrase: Bool

  /// The lookups of a query; prefixes are last because they have more lists to read.
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
    // In a script without spaces, a single scalar is the prefix of its pair with the next one.
    let isPrefix = word.isUnspaced ? word.bytes.isSingleScalar : endsInPrefix
    return terms.map {
      IndexLookup(
        term: $0, isPrefix: isPrefix, extentOfLonger: word.isUnspaced ? .whole : .prefix, isOfPhrase: isOfPhrase)
    }
  }
}
