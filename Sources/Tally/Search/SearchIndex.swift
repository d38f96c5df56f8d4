import Foundation
import LMDB
import TallyEngine

// The search index is derived from the records and lags behind them. A segment covers the tasks whose last change is in
// a range of the change log (`byChange`). It is written once and never modified: when a task changes, its row moves to
// the end of the log, and so the task leaves its segment. The part of the log after the last segment, the tail, is read
// by every search. A write therefore does nothing for the index, and a search is still exact.

/// The search index in one snapshot.
struct SearchIndex {
  private(set) var state: SearchState
  /// The segments in the order of the log.
  private(set) var segments: [SearchSegment]

  /// Creates an empty index.
  init() {
    state = SearchState()
    segments = []
  }

  /// Reads the index; one of another version, or an invalid one, counts as empty.
  init<T: LMDBTransaction & ~Copyable>(_ tables: Tables, in transaction: borrowing T) throws {
    self.init()
    guard let bytes = try tables.search.bytes(forKey: SearchKey(.state), in: transaction),
      let state = SearchState(bytes)
    else { return }
    var segments: [SearchSegment] = []
    var isReadable = true
    try tables.search.forEach(withPrefix: Self.segmentPrefix, in: transaction) { key, value in
      guard key.byteCount == 9,
        let segment = try? SearchSegment(number: key.load(bigEndianAt: 5), decoding: value)
      else {
        isReadable = false
        return false
      }
      segments.append(segment)
      return true
    }
    segments.sort { $0.lower < $1.lower }
    let isInOrder = zip(segments, segments.dropFirst()).allSatisfy { $0.upper <= $1.lower }
    guard isReadable, isInOrder, segments.last.map({ $0.upper <= state.through }) ?? true,
      segments.allSatisfy({ (1..<state.nextSegment).contains($0.number) })
    else { return }
    self.state = state
    self.segments = segments
  }

  private static let segmentPrefix = SearchKey.prefix(of: 0) + [SearchKey.Kind.segment.rawValue]

  /// The number of tasks in the segments, including those that have changed since.
  var taskCount: Int { segments.reduce(0) { $0 + $1.taskCount } }
}

extension TaskFields {
  /// Calls `body` with each searched text of the task.
  func forEachText(_ body: (RawSpan, SearchedField) -> Void) throws(LMDBError) {
    body(titleBytes, .title)
    var cursor = cursor
    if try cursor.advance(to: TaskField.notes.tag) { body(cursor.value, .notes) }
    guard try cursor.advance(to: TaskField.tags.tag) else { return }
    for tag in try TagSet(stored: cursor.value) {
      var tag = tag
      tag.withUTF8 { unsafe body($0.span.bytes, .tags) }
    }
  }
}

/// Extends the search index to the end of the change log, in steps that a write transaction can afford.
struct SearchIndexer {
  let tables: Tables

  /// What a segment of some rows of the log of changes has.
  struct Step {
    /// The tasks, in the order of their numbers in the postings.
    var members: [SegmentBuilder.Member] = []
    /// The terms in the order of their bytes, each with its postings.
    var terms: [(term: [UInt8], postings: [UInt8])] = []
    /// The last of the rows.
    var last: ChangeKey?
    /// Whether there are no more rows.
    var isAtEnd = true
  }

  /// The number of rows at which a write turns the tail into a segment; a search reads the whole tail.
  static let tailLimit = 512
  /// The number of commits between checks of the tail's length.
  static let commitsPerCheck: UInt64 = 64
  /// The maximum number of tasks that an ordinary write indexes.
  static let taskLimitOfWrite = 1_024
  /// The maximum number of tasks in a step's segment, which takes some hundredths of a second.
  static let taskLimit = 8_192
  /// The number of record bytes after which a step ends, however few tasks it has read.
  static let byteLimit = 4 << 20
  /// The maximum number of record bytes to index again when segments are merged.
  private static let byteLimitOfRenewal = 16 << 20
  /// The number of small segments at the end of the log at which they are merged.
  private static let smallSegmentLimit = 16

  /// Indexes the end of the log of changes if this commit is due for a check and the tail is long enough.
  ///
  /// With a log, ``bringUp(in:)`` does so outside the commits.
  func advanceIfDue(at sequence: UInt64, in transaction: inout WriteTransaction) throws {
    guard sequence.isMultiple(of: Self.commitsPerCheck),
      try isTailLong(after: SearchIndex(tables, in: transaction), in: transaction)
    else { return }
    _ = try advance(atMost: Self.taskLimitOfWrite, byteCount: Self.byteLimit, in: &transaction)
  }

  private func isTailLong<T: LMDBTransaction & ~Copyable>(
    after index: SearchIndex, in transaction: borrowing T
  ) throws -> Bool {
    var count = 0
    try forEachRow(after: index.state.through, in: transaction) { _ in
      count += 1
      return count < Self.tailLimit
    }
    return count >= Self.tailLimit
  }

  /// Indexes the end of the log of changes while the tail is long, and merges segments that need it.
  ///
  /// The tasks are read before the writes begin, which only store what a segment has. A task that changes in between is in
  /// the tail again, and searches ignore what the segment has of it.
  func bringUp(in environment: LMDBEnvironment) throws {
    while true {
      let work = try environment.read { transaction -> (SearchIndex, Step, renewed: ArraySlice<SearchSegment>?)? in
        let index = try SearchIndex(tables, in: transaction)
        if try isTailLong(after: index, in: transaction) {
          let step = try rows(
            after: index.state.through, atMost: Self.taskLimitOfWrite, byteCount: Self.byteLimit, in: transaction)
          return (index, step, nil)
        }
        guard let few = try segmentsToRenew(index, in: transaction), let first = few.first, let last = few.last else {
          return nil
        }
        return (index, try rows(after: first.lower, through: last.upper, in: transaction), few)
      }
      guard let (known, step, renewed) = work else { return }
      try environment.write { transaction in
        // Otherwise another process was faster.
        guard try SearchIndex(tables, in: transaction).state == known.state else { return }
        if let renewed { return try replace(renewed, with: step, known.state, in: &transaction) }
        try store(step, after: known.state, in: &transaction)
      }
      if renewed != nil { return }
    }
  }

  /// Indexes the next tasks in the log as a segment, and merges or renews other segments that need it.
  ///
  /// A segment ends after `limit` tasks, or with the task whose record reaches `byteLimit`. Returns whether
  /// there are more tasks to index.
  func advance(atMost limit: Int, byteCount byteLimit: Int, in transaction: inout WriteTransaction) throws -> Bool {
    let state = try SearchIndex(tables, in: transaction).state
    let step = try rows(after: state.through, atMost: limit, byteCount: byteLimit, in: transaction)
    try store(step, after: state, in: &transaction)
    let index = try SearchIndex(tables, in: transaction)
    if let few = try segmentsToRenew(index, in: transaction), let first = few.first, let last = few.last {
      let renewed = try rows(after: first.lower, through: last.upper, in: transaction)
      try replace(few, with: renewed, index.state, in: &transaction)
    }
    return !step.isAtEnd
  }

  /// Stores the next rows as a segment.
  private func store(_ step: Step, after state: SearchState, in transaction: inout WriteTransaction) throws {
    // Removes rows of another version and invalid rows, which would be in the way.
    if state == SearchState() { try tables.search.removeAll(in: &transaction) }
    guard let last = step.last else { return }
    var next = state
    next.through = last
    try write(step, after: state.through, through: last, &next, in: &transaction)
  }

  /// The segments to merge into one, as far as a step can; `nil` if there are none.
  private func segmentsToRenew<T: LMDBTransaction & ~Copyable>(
    _ index: SearchIndex, in transaction: borrowing T
  ) throws -> ArraySlice<SearchSegment>? {
    guard let wasteful = Self.segmentsToRenew(index, liveCount: try tables.tasks.count(in: transaction)) else {
      return nil
    }
    return try affordable(index.segments[wasteful], in: transaction)
  }

  /// The segments to merge: the small ones at the end, or, if many indexed tasks have changed since, the ones
  /// written first.
  private static func segmentsToRenew(_ index: SearchIndex, liveCount: Int) -> Range<Int>? {
    let segments = index.segments
    let small = segments.reversed().prefix { $0.taskCount < taskLimit / 2 }
    if small.count >= smallSegmentLimit { return segments.count - small.count..<segments.count }
    guard index.taskCount > liveCount + liveCount / 2 + taskLimit,
      let oldest = segments.indices.min(by: { segments[$0].number < segments[$1].number })
    else { return nil }
    var (end, count) = (oldest + 1, segments[oldest].taskCount)
    while end < segments.count, count + segments[end].taskCount <= taskLimit {
      count += segments[end].taskCount
      end += 1
    }
    return oldest..<end
  }

  /// The longest suffix of some segments that one step can merge; `nil` if it is too short to be useful.
  private func affordable<T: LMDBTransaction & ~Copyable>(
    _ segments: ArraySlice<SearchSegment>, in transaction: borrowing T
  ) throws -> ArraySlice<SearchSegment>? {
    var (start, byteCount) = (segments.endIndex, 0)
    while start > segments.startIndex {
      let segment = segments[start - 1]
      byteCount += try self.byteCount(of: segment, in: transaction)
      if byteCount > Self.byteLimitOfRenewal { break }
      start -= 1
    }
    let few = segments[start...]
    return few.count == segments.count || few.count >= Self.smallSegmentLimit ? few : nil
  }

  /// The total size of the records of a segment's live tasks in bytes; counting stops once it is too large for a step.
  private func byteCount<T: LMDBTransaction & ~Copyable>(
    of segment: SearchSegment, in transaction: borrowing T
  ) throws -> Int {
    var byteCount = 0
    try forEachRow(after: segment.lower, in: transaction) { row in
      guard row <= segment.upper, byteCount <= Self.byteLimitOfRenewal else { return false }
      if row.kind == .task {
        byteCount += try tables.tasks.bytes(forKey: IDKey(row.id), in: transaction)?.byteCount ?? 0
      }
      return true
    }
    return byteCount
  }

  /// Replaces adjacent segments by one of the rows in their range, which are only those of their live tasks.
  private func replace(
    _ segments: ArraySlice<SearchSegment>, with step: Step, _ state: SearchState,
    in transaction: inout WriteTransaction
  ) throws {
    guard let first = segments.first, let last = segments.last else { return }
    for segment in segments {
      try tables.search.removeAll(withPrefix: SearchKey.prefix(of: segment.number), in: &transaction)
      try tables.search.remove(forKey: SearchKey(.segment, number: segment.number), in: &transaction)
    }
    var state = state
    try write(step, after: first.lower, through: last.upper, &state, in: &transaction)
  }
}

extension SearchIndexer {
  /// Calls `body` with each row of the log after another row, until it returns false.
  func forEachRow<T: LMDBTransaction & ~Copyable>(
    after lower: ChangeKey, in transaction: borrowing T, _ body: (ChangeKey) throws -> Bool
  ) throws {
    try tables.byChange.forEach(from: lower, in: transaction) { key, _ in
      let key = try ChangeKey(decoding: key)
      return try key == lower || body(key)
    }
  }

  /// Reads the tasks of a range of rows of the log.
  func rows<T: LMDBTransaction & ~Copyable>(
    after lower: ChangeKey, through upper: ChangeKey? = nil, atMost limit: Int = .max, byteCount byteLimit: Int = .max,
    in transaction: borrowing T
  ) throws -> Step {
    var builder = SegmentBuilder()
    var (step, byteCount) = (Step(), 0)
    try forEachRow(after: lower, in: transaction) { row in
      if let upper, upper < row { return false }
      guard builder.taskCount < limit, byteCount < byteLimit else {
        step.isAtEnd = false
        return false
      }
      if row.kind == .task, let record = try tables.tasks.bytes(forKey: IDKey(row.id), in: transaction) {
        byteCount += record.byteCount
        // Skips a record that cannot be read, which verification reports, so that it does not block other writes.
        try? builder.add(IDKey(row.id), record)
      }
      step.last = row
      return true
    }
    step.members = builder.finish { term, postings in step.terms.append((Array(term), postings)) }
    return step
  }

  /// Appends a segment's rows to the index, and writes the state.
  private func write(
    _ step: Step, after lower: ChangeKey, through upper: ChangeKey, _ state: inout SearchState,
    in transaction: inout WriteTransaction
  ) throws {
    let members = step.members
    if !members.isEmpty {
      let number = state.nextSegment
      state.nextSegment += 1
      for (term, postings) in step.terms {
        try append(postings, forKey: SearchKey(.term, of: number, term), in: &transaction)
      }
      for start in stride(from: 0, to: members.count, by: SegmentBuilder.Member.countPerRow) {
        let row = members[start..<min(start + SegmentBuilder.Member.countPerRow, members.count)]
        let key = SearchKey(.members, of: number, number: UInt32(start))
        try append(row.flatMap(\.encodedBytes), forKey: key, in: &transaction)
      }
      let segment = SearchSegment(number: number, after: lower, through: upper, members: members)
      try tables.search.put(
        segment.encodedBytes, forKey: SearchKey(.segment, number: number), in: &transaction)
    }
    try tables.search.put(state.encodedBytes, forKey: SearchKey(.state), in: &transaction)
  }

  /// Appends a row, which fills pages completely; a row that belongs earlier, as after damage, is inserted instead.
  private func append(_ value: [UInt8], forKey key: SearchKey, in transaction: inout WriteTransaction) throws {
    do throws(LMDBError) {
      try tables.search.append(value, forKey: key, in: &transaction)
    } catch {
      guard error.code == .keyExists else { throw error }
      try tables.search.put(value, forKey: key, in: &transaction)
    }
  }
}

extension SegmentBuilder {
  /// Adds a task and its texts from its record.
  mutating func add(_ key: IDKey, _ record: RawSpan) throws(LMDBError) {
    let fields = try TaskFields(record)
    add(Member(id: key.id, createdAt: try fields.createdAt, isCompleted: fields.isClosed))
    try fields.forEachText { add($0, as: $1) }
  }
}

extension SegmentBuilder.Member {
  /// The size of the id and the time of creation in bytes; the segment says which tasks are open.
  static let width = 24
  /// The number of members in a row, chosen so that two rows fill a page.
  static let countPerRow = 80

  var encodedBytes: [UInt8] {
    let (high, low) = id.words
    let created = UInt64(bitPattern: createdAt.microsecondsSince1970)
    return high.bigEndianBytes + low.bigEndianBytes + created.bigEndianBytes
  }

  init(_ bytes: RawSpan, at index: Int, isCompleted: Bool) {
    id = bytes.load(idAt: index * Self.width)
    createdAt = Timestamp(clamping: Int64(bitPattern: bytes.load(bigEndianAt: index * Self.width + 16)))
    self.isCompleted = isCompleted
  }
}

extension Tables {
  /// Indexes for search what the merges of a log have left to do.
  func bringUp(in environment: LMDBEnvironment) throws { try SearchIndexer(tables: self).bringUp(in: environment) }
}

/// Compares the search index with the records: every live task in a segment's range must be in the segment
/// exactly once, with exactly its terms.
///
/// Entries of tasks that have changed since are not checked, because searches ignore them as well.
struct SearchIndexCheck {
  private let tables: Tables
  private(set) var faults: [StoreFault] = []

  /// Reads the whole index, and the tasks of its segments.
  init<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, lastSequence: UInt64, in transaction: borrowing T
  ) throws {
    self.tables = tables
    let state = try tables.search.bytes(forKey: SearchKey(.state), in: transaction)
    // An index of another version is rebuilt before it is used.
    if let state, state.byteCount >= 2, !SearchState.knownVersions.contains(state.load(bigEndianAt: 0)) { return }
    let index = try SearchIndex(tables, in: transaction)
    guard index.state.through.sequence <= lastSequence else {
      add(.wrongEntry)
      return
    }
    try checkRows(of: index, in: transaction)
    var end = ChangeKey.beforeAll
    for segment in index.segments {
      try checkGap(after: end, through: segment.lower, in: transaction)
      try check(segment, in: transaction)
      end = segment.upper
    }
    try checkGap(after: end, through: index.state.through, in: transaction)
  }

  private mutating func add(_ kind: StoreFault.Kind, _ id: UUID? = nil) {
    faults.append(StoreFault(kind: kind, table: TableName.search.rawValue, id: id))
  }

  /// Checks that every row belongs to a segment or is one of those that describe the segments.
  private mutating func checkRows<T: LMDBTransaction & ~Copyable>(
    of index: SearchIndex, in transaction: borrowing T
  ) throws {
    let numbers = Set(index.segments.map(\.number))
    var strangerCount = 0
    try tables.search.forEach(in: transaction) { key, _ in
      guard let key = try? SearchKey(decoding: key) else {
        strangerCount += 1
        return true
      }
      let isKnown =
        switch key.kind {
        // Reading the index has already shown that these can be decoded.
        case .state, .segment: key.segment == 0 && index.state != SearchState()
        case .term, .members: numbers.contains(key.segment)
        case nil: false
        }
      strangerCount += isKnown ? 0 : 1
      return true
    }
    if strangerCount > 0 { add(.danglingEntry) }
  }

  /// Checks that the log has no tasks in the gap between two segments.
  private mutating func checkGap<T: LMDBTransaction & ~Copyable>(
    after lower: ChangeKey, through upper: ChangeKey, in transaction: borrowing T
  ) throws {
    guard lower < upper else { return }
    var missing: [UUID] = []
    try SearchIndexer(tables: tables).forEachRow(after: lower, in: transaction) { row in
      guard row <= upper else { return false }
      if row.kind == .task { missing.append(row.id) }
      return true
    }
    for id in missing { add(.missingEntry, id) }
  }

  private mutating func check<T: LMDBTransaction & ~Copyable>(
    _ segment: SearchSegment, in transaction: borrowing T
  ) throws {
    let indexer = SearchIndexer(tables: tables)
    let step = try indexer.rows(after: segment.lower, through: segment.upper, in: transaction)
    let expected = Dictionary(step.terms.map { ($0.term, $0.postings) }, uniquingKeysWith: { $1 })
    let live = step.members
    guard let members = try members(of: segment, in: transaction) else { return add(.wrongEntry) }
    if let created = segment.firstCreatedAt, created != members.first?.createdAt { add(.wrongEntry) }
    let places = Dictionary(members.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { min($0, $1) })
    var liveNumbers = [Int?](repeating: nil, count: members.count)
    for (number, member) in live.enumerated() {
      guard let place = places[member.id] else {
        add(.missingEntry, member.id)
        continue
      }
      if members[place] != member { add(.wrongEntry, member.id) }
      liveNumbers[place] = number
    }
    // If a task is missing or duplicated, its postings cannot be compared.
    guard faults.isEmpty else { return }
    if try !postingsAreEqual(in: segment, liveNumbers, expected, transaction) { add(.wrongEntry) }
  }

  /// The tasks of a segment; `nil` if their number or order is wrong.
  private func members<T: LMDBTransaction & ~Copyable>(
    of segment: SearchSegment, in transaction: borrowing T
  ) throws -> [SegmentBuilder.Member]? {
    var members: [SegmentBuilder.Member] = []
    do {
      var cursor = try tables.search.cursor(in: transaction)
      for number in 0..<segment.taskCount {
        let member = try segment.member(number, by: &cursor)
        if let last = members.last, !last.precedes(member) { return nil }
        members.append(member)
      }
      return members
    } catch is TallyError {
      // Errors of the storage propagate: an unreadable page says nothing about the index.
      return nil
    }
  }

  /// Whether the postings of the live tasks are exactly those of their texts.
  private func postingsAreEqual<T: LMDBTransaction & ~Copyable>(
    in segment: SearchSegment, _ liveNumbers: [Int?], _ expected: [[UInt8]: [UInt8]], _ transaction: borrowing T
  ) throws -> Bool {
    var expected = expected
    var isEqual = true
    let prefix = SearchKey(.term, of: segment.number).encodedBytes
    try tables.search.forEach(withPrefix: prefix, in: transaction) { key, list in
      var found: [UInt8] = []
      var last: Int?
      let isSound = PostingList.forEach(in: list, of: segment.taskCount) { task, field in
        guard let number = liveNumbers[task] else { return }
        PostingList.append(number, field, after: last, to: &found)
        last = number
      }
      let own = expected.removeValue(forKey: key.bytes(from: prefix.count)) ?? []
      isEqual = isSound && own == found
      return isEqual
    }
    return isEqual && expected.isEmpty
  }
}
