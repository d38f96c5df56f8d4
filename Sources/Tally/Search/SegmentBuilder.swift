import Foundation

/// Gathers the terms of some tasks, and gives the rows of a segment of the index.
struct SegmentBuilder {
  /// A task of the segment.
  struct Member: Equatable {
    var id: UUID
    var createdAt: Timestamp
    var isCompleted: Bool

    /// Whether the task comes before another of the same quality, see ``SearchRank``.
    func precedes(_ other: Self) -> Bool {
      if isCompleted != other.isCompleted { return other.isCompleted }
      if createdAt != other.createdAt { return createdAt > other.createdAt }
      return id.precedes(other.id)
    }
  }

  private var members: [Member] = []
  private var terms = TermTable()
  /// A term's number, a task's number in the order of addition, and a text, in one number.
  private var postings: [UInt64] = []
  private var folder = TextFolder()
  /// The text that is being added, folded.
  private var buffer: [UInt8] = []

  /// The most tasks of a segment.
  static let maximumTaskCount = 1 << 20

  var taskCount: Int { members.count }

  /// Adds a task, whose texts follow.
  mutating func add(_ member: Member) {
    members.append(member)
  }

  /// Adds a text of the task that was added last.
  mutating func add(_ text: RawSpan, as field: SearchedField) {
    let task = UInt64(members.count - 1) << 2 | UInt64(field.rawValue)
    buffer.removeAll(keepingCapacity: true)
    folder.fold(text, into: &buffer)
    let folded = buffer
    IndexTerm.forEach(in: folded) { range in
      postings.append(UInt64(terms.number(of: range, in: folded)) << 32 | task)
    }
  }

  /// The tasks in the order of ``SearchRank``, which is that of their numbers in the postings.
  ///
  /// Calls `body` with each term, in the order of the bytes, and its list of postings.
  mutating func finish(_ body: (ArraySlice<UInt8>, [UInt8]) throws -> Void) rethrows -> [Member] {
    let order = members.indices.sorted { members[$0].precedes(members[$1]) }
    var numbers = [UInt64](repeating: 0, count: members.count)
    for (number, index) in order.enumerated() { numbers[index] = UInt64(number) }
    let termOrder = (0..<terms.count).sorted { terms[$0].lexicographicallyPrecedes(terms[$1]) }
    var ranks = [UInt64](repeating: 0, count: terms.count)
    for (rank, term) in termOrder.enumerated() { ranks[term] = UInt64(rank) }
    for index in postings.indices {
      let posting = postings[index]
      let task = numbers[Int(posting >> 2 & 0x3FFF_FFFF)]
      postings[index] = ranks[Int(posting >> 32)] << 32 | task << 2 | posting & 3
    }
    postings.sort()
    try forEachList(termOrder, body)
    return order.map { members[$0] }
  }

  private func forEachList(_ termOrder: [Int], _ body: (ArraySlice<UInt8>, [UInt8]) throws -> Void) rethrows {
    var list: [UInt8] = []
    var rank = 0
    var last: Int?
    for posting in postings {
      if Int(posting >> 32) != rank {
        try body(terms[termOrder[rank]], list)
        list.removeAll(keepingCapacity: true)
        (rank, last) = (rank + 1, nil)
      }
      let task = Int(posting >> 2 & 0x3FFF_FFFF)
      // The best text comes first.
      guard task != last, let field = SearchedField(rawValue: UInt8(posting & 3)) else { continue }
      PostingList.append(task, field, after: last, to: &list)
      last = task
    }
    if !list.isEmpty { try body(terms[termOrder[rank]], list) }
  }
}
