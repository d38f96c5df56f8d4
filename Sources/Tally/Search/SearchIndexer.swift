import LMDB

/// Brings the search index up to the log of changes, in steps that a write transaction can afford.
struct SearchIndexer {
  let tables: Tables

  /// How many rows the tail may have before a write makes a segment of them: a search reads them all.
  static let tailLimit = 512
  /// Every few dozen commits a write looks how long the tail is.
  static let commitsPerLook: UInt64 = 64
  /// The most tasks that a write indexes on its way.
  static let taskLimitOfWrite = 1_024
  /// The most tasks of a segment that a step makes: some hundredths of a second.
  static let taskLimit = 8_192
  /// The bytes of records after which a step ends, however few tasks it has read.
  static let byteLimit = 4 << 20
  /// The most bytes of records to index again when several segments become one.
  private static let byteLimitOfRenewal = 16 << 20
  /// How many small segments there may be at the end of the log.
  private static let smallSegmentLimit = 16

  /// Indexes the end of the log if a commit is due to look, and finds enough there.
  func advanceIfDue(at sequence: UInt64, in transaction: inout WriteTransaction) throws {
    guard sequence.isMultiple(of: Self.commitsPerLook) else { return }
    let index = try SearchIndex(tables, in: transaction)
    var count = 0
    try forEachRow(after: index.state.through, in: transaction) { _ in
      count += 1
      return count < Self.tailLimit
    }
    if count >= Self.tailLimit {
      _ = try advance(atMost: Self.taskLimitOfWrite, byteCount: Self.byteLimit, in: &transaction)
    }
  }

  /// Makes a segment of the next tasks in the log, and joins or renews others that need it.
  ///
  /// A segment ends after `limit` tasks, or with the task whose record reaches `byteLimit`. Returns whether there is more in
  /// the log.
  func advance(atMost limit: Int, byteCount byteLimit: Int, in transaction: inout WriteTransaction) throws -> Bool {
    var index = try SearchIndex(tables, in: transaction)
    // Rows of another version, or that cannot be right, would be in the way.
    if index.state == SearchState() { try tables.search.removeAll(in: &transaction) }
    let step = try rows(after: index.state.through, atMost: limit, byteCount: byteLimit, in: transaction)
    if let last = step.last {
      var state = index.state
      state.through = last
      try write(step.builder, after: index.state.through, through: last, &state, in: &transaction)
      index = try SearchIndex(tables, in: transaction)
    }
    if let wasteful = Self.segmentsToRenew(index, liveCount: try tables.tasks.count(in: transaction)),
      let few = try affordable(index.segments[wasteful], in: transaction)
    {
      try renew(few, state: index.state, in: &transaction)
    }
    return !step.isAtEnd
  }

  /// The segments that should be one: the small ones at the end, or the ones that were made first if many of the tasks
  /// in segments have changed since.
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

  /// The last of some segments, as many as one step can join; `nil` if these are too few for it to be of use.
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

  /// The bytes of the records of a segment's live tasks; counted only until there are too many for a step.
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

  /// Makes one segment of several that follow each other: from the log, in which only their live tasks are.
  private func renew(
    _ segments: ArraySlice<SearchSegment>, state: SearchState, in transaction: inout WriteTransaction
  ) throws {
    guard let first = segments.first, let last = segments.last else { return }
    let step = try rows(after: first.lower, through: last.upper, in: transaction)
    for segment in segments {
      try tables.search.removeAll(withPrefix: SearchKey.prefix(of: segment.number), in: &transaction)
      try tables.search.remove(forKey: SearchKey(.segment, number: segment.number), in: &transaction)
    }
    var state = state
    try write(step.builder, after: first.lower, through: last.upper, &state, in: &transaction)
  }
}

extension SearchIndexer {
  /// Calls `body` with each row of the log after another one, until it answers false.
  func forEachRow<T: LMDBTransaction & ~Copyable>(
    after lower: ChangeKey, in transaction: borrowing T, _ body: (ChangeKey) throws -> Bool
  ) throws {
    try tables.byChange.forEach(from: lower, in: transaction) { key, _ in
      let key = try ChangeKey(decoding: key)
      return try key == lower || body(key)
    }
  }

  /// Reads the tasks of some rows of the log.
  func rows<T: LMDBTransaction & ~Copyable>(
    after lower: ChangeKey, through upper: ChangeKey? = nil, atMost limit: Int = .max, byteCount byteLimit: Int = .max,
    in transaction: borrowing T
  ) throws -> (builder: SegmentBuilder, last: ChangeKey?, isAtEnd: Bool) {
    var builder = SegmentBuilder()
    var last: ChangeKey?
    var (isAtEnd, byteCount) = (true, 0)
    try forEachRow(after: lower, in: transaction) { row in
      if let upper, upper < row { return false }
      guard builder.taskCount < limit, byteCount < byteLimit else {
        isAtEnd = false
        return false
      }
      if row.kind == .task, let record = try tables.tasks.bytes(forKey: IDKey(row.id), in: transaction) {
        byteCount += record.byteCount
        // A record that cannot be read is found by verifying, and must not keep others from being written.
        try? builder.add(IDKey(row.id), record)
      }
      last = row
      return true
    }
    return (builder, last, isAtEnd)
  }

  /// Writes a segment's rows behind all others, and the state.
  private func write(
    _ builder: SegmentBuilder, after lower: ChangeKey, through upper: ChangeKey, _ state: inout SearchState,
    in transaction: inout WriteTransaction
  ) throws {
    if builder.taskCount > 0 {
      let number = state.nextSegment
      state.nextSegment += 1
      var builder = builder
      let members = try builder.finish { term, postings in
        try append(postings, forKey: SearchKey(.term, of: number, Array(term)), in: &transaction)
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

  /// Appends a row, which fills the pages; one that must come earlier, as after damage, is put in its place.
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
  /// Adds a task's record.
  mutating func add(_ key: IDKey, _ record: RawSpan) throws(LMDBError) {
    let fields = try TaskFields(record)
    add(Member(id: key.id, createdAt: try fields.createdAt, isCompleted: fields.isCompleted))
    try fields.forEachText { add($0, as: $1) }
  }
}

extension SegmentBuilder.Member {
  /// The id and the time of creation; which tasks are open the segment says.
  static let width = 24
  /// How many are in a row: two rows fill a page.
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
