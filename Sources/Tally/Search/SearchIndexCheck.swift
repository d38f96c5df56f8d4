import Foundation
import LMDB

/// Compares the search index with the records: every live task in the range of a segment is there once, with its terms
/// and no others.
///
/// What a segment says of tasks that have changed since is not looked at, as searches do not believe it either.
struct SearchIndexCheck {
  private let tables: Tables
  private(set) var faults: [StoreFault] = []

  /// Reads the whole index, and the tasks in its segments again.
  init<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, lastSequence: UInt64, in transaction: borrowing T
  ) throws {
    self.tables = tables
    let state = try tables.search.bytes(forKey: SearchKey(.state), in: transaction)
    // An index of another version is built again before it is used.
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

  /// Every row belongs to a segment, or is one of those that name the segments.
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
        // That they can be read, the index has found out.
        case .state, .segment: key.segment == 0 && index.state != SearchState()
        case .term, .members: numbers.contains(key.segment)
        case nil: false
        }
      strangerCount += isKnown ? 0 : 1
      return true
    }
    if strangerCount > 0 { add(.danglingEntry) }
  }

  /// Between segments there may be rows of the log, but no tasks.
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
    var builder = try indexer.rows(after: segment.lower, through: segment.upper, in: transaction).builder
    var expected: [[UInt8]: [UInt8]] = [:]
    let live = builder.finish { expected[Array($0)] = $1 }
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
    // Of a task that is missing, or twice there, the postings cannot be compared.
    guard faults.isEmpty else { return }
    if try !postingsAreEqual(in: segment, liveNumbers, expected, transaction) { add(.wrongEntry) }
  }

  /// The tasks of a segment; `nil` if they are not as many as they should be, or not in order.
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
      // What the storage throws goes on: a page that cannot be read says nothing about the index.
      return nil
    }
  }

  /// Whether the postings of the live tasks are those that their texts give.
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
