import LMDB

/// The tasks of one segment that may match a query, best first, as far as the index knows.
struct SegmentSearch {
  let segment: SearchSegment
  private let tables: Tables
  /// In ascending order of the qualities, then of the tasks.
  private var candidates: [Posting] = []
  private var position = 0

  /// A task's number with the quality of its match.
  struct Posting {
    private let bits: UInt64

    init(_ quality: MatchQuality, _ task: Int) { bits = UInt64(quality.rank) << 32 | UInt64(task) }

    var quality: MatchQuality { MatchQuality(rank: UInt8(truncatingIfNeeded: bits >> 32)) }
    var rank: Int { Int(bits >> 32) }
    var task: Int { Int(bits & 0xFFFF_FFFF) }
  }

  /// Looks for nothing.
  init(_ segment: SearchSegment, _ tables: Tables) {
    self.segment = segment
    self.tables = tables
  }

  /// Looks for the tasks that have everything that is asked for.
  init<T: LMDBTransaction & ~Copyable>(
    _ segment: SearchSegment, for lookups: [IndexLookup], _ tables: Tables, in transaction: borrowing T
  ) throws {
    self.init(segment, tables)
    // The rarest term first: most segments lack it, or have few tasks with it.
    var exact: [(lookup: IndexLookup, byteCount: Int)] = []
    for lookup in lookups where !lookup.isPrefix {
      let key = SearchKey(.term, of: segment.number, lookup.term)
      guard let list = try tables.search.bytes(forKey: key, in: transaction) else { return }
      exact.append((lookup, list.byteCount))
    }
    exact.sort { $0.byteCount < $1.byteCount }
    var found: [Posting]?
    for lookup in exact.map(\.lookup) + lookups.filter(\.isPrefix) {
      let postings =
        try lookup.isPrefix ? postings(ofPrefix: lookup, in: transaction) : postings(of: lookup, in: transaction)
      found = found.map { Self.intersection($0, postings) } ?? postings
      if found?.isEmpty != false { return }
    }
    candidates = Self.sorted(found ?? [])
  }

  /// The next candidate, which matches no better than that.
  mutating func next() -> Posting? {
    guard position < candidates.count else { return nil }
    defer { position += 1 }
    return candidates[position]
  }

  /// The id and the time of creation of a task.
  func member<T: LMDBTransaction & ~Copyable>(
    _ task: Int, in transaction: borrowing T
  ) throws -> SegmentBuilder.Member {
    let index = task % SegmentBuilder.Member.countPerRow
    let key = SearchKey(.members, of: segment.number, number: UInt32(task - index))
    guard let row = try tables.search.bytes(forKey: key, in: transaction),
      (index + 1) * SegmentBuilder.Member.width <= row.byteCount
    else { throw TallyError.damagedSearchIndex }
    return SegmentBuilder.Member(row, at: index, isCompleted: task >= segment.openCount)
  }

  /// The tasks with a term, in ascending order.
  private func postings<T: LMDBTransaction & ~Copyable>(
    of lookup: IndexLookup, in transaction: borrowing T
  ) throws -> [Posting] {
    let key = SearchKey(.term, of: segment.number, lookup.term)
    guard let list = try tables.search.bytes(forKey: key, in: transaction) else { return [] }
    var postings: [Posting] = []
    postings.reserveCapacity(list.byteCount)
    let isSound = PostingList.forEach(in: list, of: segment.taskCount) { task, field in
      postings.append(Posting(MatchQuality(field: field, extent: .whole), task))
    }
    guard isSound else { throw TallyError.damagedSearchIndex }
    return postings
  }

  /// The tasks with a term or a longer one, in ascending order.
  private func postings<T: LMDBTransaction & ~Copyable>(
    ofPrefix lookup: IndexLookup, in transaction: borrowing T
  ) throws -> [Posting] {
    var best = [UInt8](repeating: .max, count: segment.taskCount)
    // The tasks found, while they are few.
    let mostSorted = segment.taskCount / Self.tasksPerSorted
    var tasks: [Int] = []
    let key = SearchKey(.term, of: segment.number, lookup.term).encodedBytes
    try tables.search.forEach(withPrefix: key, in: transaction) { found, list in
      let extent = found.byteCount == key.count ? .whole : lookup.extentOfLonger
      var ranks = best.mutableSpan
      let isSound = PostingList.forEach(in: list, of: ranks.count) { task, field in
        let rank = MatchQuality(field: field, extent: extent).rank
        let known = ranks[task]
        if known == .max, tasks.count <= mostSorted { tasks.append(task) }
        ranks[task] =
          lookup.isOfPhrase && known != .max
          ? MatchQuality(rank: known).bound(with: MatchQuality(rank: rank)).rank : min(known, rank)
      }
      guard isSound else { throw TallyError.damagedSearchIndex }
      return true
    }
    // A constant that no closure captures: loops over it are faster.
    let ranks = best
    // Those of a single term are sorted already.
    if tasks.count <= mostSorted { return tasks.sorted().map { Posting(MatchQuality(rank: ranks[$0]), $0) } }
    var postings: [Posting] = []
    for task in ranks.indices where ranks[task] != .max {
      postings.append(Posting(MatchQuality(rank: ranks[task]), task))
    }
    return postings
  }

  /// How many tasks are looked at in the time in which one is sorted among many.
  private static let tasksPerSorted = 64

  /// Sorts postings, which are in the order of the tasks, by their qualities: there are only a few of these.
  private static func sorted(_ postings: [Posting]) -> [Posting] {
    var lists = [[Posting]](repeating: [], count: Int(MatchQuality.rankCount))
    for posting in postings { lists[posting.rank].append(posting) }
    return Array(lists.joined())
  }

  /// The tasks that are in both of two lists, which are in the order of the tasks.
  private static func intersection(_ left: [Posting], _ right: [Posting]) -> [Posting] {
    var both: [Posting] = []
    var index = 0
    for posting in left {
      while index < right.count, right[index].task < posting.task { index += 1 }
      guard index < right.count else { break }
      if right[index].task == posting.task {
        both.append(Posting(posting.quality.combined(with: right[index].quality), posting.task))
      }
    }
    return both
  }
}

extension TallyError {
  static let damagedSearchIndex = TallyError(
    .damagedStore, "The search index contradicts itself", remedy: "Run a repair, which builds it again")
}
