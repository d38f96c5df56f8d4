import LMDB

/// The tasks of one segment that may match a query, best first, as far as the index knows.
struct SegmentSearch {
  let segment: SearchSegment
  /// The tasks of each lookup, those with the fewest bytes first.
  private var lookups: [LookupCursor] = []
  /// The number from which on to look for the next task; `nil` when all have been found.
  private var position: Int? = 0
  /// The tasks that were found, but that a task not read yet may beat.
  private var waiting: [Posting] = []
  /// How many of those that wait have been returned.
  private var returnedCount = 0

  /// A task's number with the quality of its match.
  struct Posting {
    private let bits: UInt64

    init(_ quality: MatchQuality, _ task: Int) { bits = UInt64(quality.rank) << 32 | UInt64(task) }

    var quality: MatchQuality { MatchQuality(rank: UInt8(truncatingIfNeeded: bits >> 32)) }
    var rank: Int { Int(bits >> 32) }
    var task: Int { Int(bits & 0xFFFF_FFFF) }
  }

  /// Looks for the tasks that have everything that is asked for.
  ///
  /// The lists of postings are copied now, and read later only as far as candidates are asked for.
  ///
  /// Most segments lack one of the words, often the same one: what is missing here comes first in `lookups` afterwards,
  /// so that one look is enough for the next such segment.
  init(_ segment: SearchSegment, for lookups: inout [IndexLookup], by cursor: inout SearchCursor) throws {
    self.segment = segment
    self.lookups.reserveCapacity(lookups.count)
    for (index, lookup) in lookups.enumerated() {
      // Skip a prefix's many lists if no task has all the other words.
      if lookup.isPrefix, !self.lookups.isEmpty, try nextOfAll(from: 0) == nil {
        position = nil
        return
      }
      guard let lists = try LookupCursor(lookup, in: segment, by: &cursor) else {
        // Prefixes stay last: they are read only if the other words share a task.
        let place = lookup.isPrefix ? lookups.firstIndex(where: \.isPrefix) ?? 0 : 0
        lookups.insert(lookups.remove(at: index), at: place)
        position = nil
        return
      }
      self.lookups.append(lists)
    }
    if lookups.count > 1 { self.lookups.sort { $0.byteCount < $1.byteCount } }
  }

  /// The next candidate, with the best quality that its match can have.
  mutating func next() throws -> Posting? {
    while let start = position {
      guard let posting = try nextOfAll(from: start) else {
        position = nil
        waiting = Self.sorted(waiting)
        break
      }
      position = posting.task + 1
      // The tasks are in the order of the results, except for how well they match.
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

  /// The first task, from a number on, that all lookups find.
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

  /// Sorts postings, which are in the order of the tasks, by their qualities: there are only a few of these.
  private static func sorted(_ postings: [Posting]) -> [Posting] {
    var lists = [[Posting]](repeating: [], count: Int(MatchQuality.rankCount))
    for posting in postings { lists[posting.rank].append(posting) }
    return Array(lists.joined())
  }
}

/// The tasks of a segment that one lookup finds, in ascending order, read on demand.
private struct LookupCursor {
  /// The lists of the terms, one after the other.
  private var bytes: [UInt8] = []
  /// One reader for each list, the one with the first task at the top.
  private var lists = MinimumHeap<TermCursor>()
  private let taskCount: Int
  private let isOfPhrase: Bool
  /// How much of its word the closest of the terms matches.
  private var bestExtent: MatchQuality.Extent
  /// The posting that was read last.
  private var current: SegmentSearch.Posting?

  /// `nil` if the segment has none of the terms.
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

  /// The first task from a number on, but none before the one that was read last.
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
  /// The id and the time of creation of a task.
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

  /// How well the task that was read last matches.
  var quality: MatchQuality { MatchQuality(field: reader.field, extent: extent) }

  /// Advances to the next posting; false at the end.
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
