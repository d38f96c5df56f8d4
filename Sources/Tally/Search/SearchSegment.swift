import Foundation
import LMDB
import TallyEngine

/// A part of the search index: the tasks whose last change is in a range of the change log.
///
/// ```
/// offset size
///      0   25  the row of the log after which the range begins
///     25   25  the last row of the range
///     50    4  tasks
///     54    4  how many of them are open
///     58    8  when the first of them was created, in microseconds since 1970; missing in version 1
/// ```
///
/// A task that has changed since has a later row and no longer belongs to the segment, although its postings remain.
struct SearchSegment: Equatable {
  private static let widthInVersion1 = 2 * ChangeKey.width + 8
  static let width = widthInVersion1 + 8
  var number: UInt32
  var lower: ChangeKey
  var upper: ChangeKey
  var taskCount: Int
  /// The number of open tasks, which come first.
  var openCount: Int
  /// When the first task was created; `nil` if the segment was written in version 1.
  var firstCreatedAt: Timestamp?

  /// The best possible rank of a task in the segment.
  var bestRank: SearchRank {
    SearchRank(quality: .best, isCompleted: openCount == 0, createdAt: firstCreatedAt ?? .latest, id: .lowest)
  }

  /// Whether a task that was last changed in a commit belongs to the segment.
  func contains(_ id: UUID, changedIn sequence: UInt64) -> Bool {
    let row = ChangeKey(sequence: sequence, .task, id)
    return lower < row && row <= upper
  }

  var encodedBytes: [UInt8] {
    lower.encodedBytes + upper.encodedBytes + UInt32(taskCount).bigEndianBytes + UInt32(openCount).bigEndianBytes
      + (firstCreatedAt.map { UInt64(bitPattern: $0.microsecondsSince1970).bigEndianBytes } ?? [])
  }

  init(number: UInt32, after lower: ChangeKey, through upper: ChangeKey, members: [SegmentBuilder.Member]) {
    self.number = number
    self.lower = lower
    self.upper = upper
    taskCount = members.count
    openCount = members.firstIndex(where: \.isCompleted) ?? members.count
    firstCreatedAt = members.first?.createdAt
  }

  init(number: UInt32, decoding bytes: RawSpan) throws(LMDBError) {
    guard [Self.widthInVersion1, Self.width].contains(bytes.byteCount) else {
      throw .undecodable("a segment of the search index has a wrong size")
    }
    self.number = number
    lower = ChangeKey(fields: bytes.extracting(first: ChangeKey.width))
    upper = ChangeKey(fields: bytes.extracting(ChangeKey.width..<2 * ChangeKey.width))
    taskCount = Int(bytes.load(bigEndianAt: 2 * ChangeKey.width, as: UInt32.self))
    openCount = Int(bytes.load(bigEndianAt: 2 * ChangeKey.width + 4, as: UInt32.self))
    if bytes.byteCount == Self.width {
      firstCreatedAt = Timestamp(clamping: Int64(bitPattern: bytes.load(bigEndianAt: Self.widthInVersion1)))
    }
    guard lower < upper, openCount <= taskCount, taskCount <= SegmentBuilder.maximumTaskCount else {
      throw .undecodable("a segment of the search index cannot be right")
    }
  }
}

/// How far the search index reaches in the change log.
///
/// ```
/// offset size
///      0    2  the version of folding, words and rows
///      2    4  the number of the next segment
///      6   25  the last row of the log that is indexed
/// ```
struct SearchState: Equatable {
  /// The versions that can be read; an index of any other version is rebuilt.
  ///
  /// Version 2 differs from version 1 only in the rows that describe segments, and one index may contain both kinds.
  static let knownVersions: ClosedRange<UInt16> = 1...2
  static let width = 6 + ChangeKey.width
  var nextSegment: UInt32 = 1
  var through = ChangeKey.beforeAll

  var encodedBytes: [UInt8] {
    Self.knownVersions.upperBound.bigEndianBytes + nextSegment.bigEndianBytes + through.encodedBytes
  }

  /// Creates the state of an empty index.
  init() {}

  /// Decodes a state; `nil` for one of another version or an invalid one.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.width, Self.knownVersions.contains(bytes.load(bigEndianAt: 0)) else { return nil }
    nextSegment = bytes.load(bigEndianAt: 2)
    through = ChangeKey(fields: bytes.extracting(6..<Self.width))
    guard nextSegment > 0 else { return nil }
  }
}

extension ChangeKey: Comparable {
  /// A key before every row of the log.
  static let beforeAll = ChangeKey(sequence: 0, .task, .lowest)

  static func < (left: Self, right: Self) -> Bool {
    (left.sequence, left.kindRawValue, left.id.words.high, left.id.words.low)
      < (right.sequence, right.kindRawValue, right.id.words.high, right.id.words.low)
  }
}

/// Collects the terms of some tasks, and produces the rows of an index segment.
struct SegmentBuilder {
  /// A task of the segment.
  struct Member: Equatable {
    var id: UUID
    var createdAt: Timestamp
    var isCompleted: Bool

    /// Whether the task precedes another with the same quality of match; see ``SearchRank``.
    func precedes(_ other: Self) -> Bool {
      if isCompleted != other.isCompleted { return other.isCompleted }
      if createdAt != other.createdAt { return createdAt > other.createdAt }
      return id.precedes(other.id)
    }
  }

  private var members: [Member] = []
  private var terms = TermTable()
  /// Each number combines the number of a term, the number of a task in the order of insertion, and a text.
  private var postings: [UInt64] = []
  private var folder = TextFolder()
  /// The folded text that is being added.
  private var buffer: [UInt8] = []

  /// The maximum number of tasks in a segment.
  static let maximumTaskCount = 1 << 20

  var taskCount: Int { members.count }

  /// Adds a task; its texts are added next.
  mutating func add(_ member: Member) {
    members.append(member)
  }

  /// Adds a text of the last task added.
  mutating func add(_ text: RawSpan, as field: SearchedField) {
    let task = UInt64(members.count - 1) << 2 | UInt64(field.rawValue)
    buffer.removeAll(keepingCapacity: true)
    folder.fold(text, into: &buffer)
    let folded = buffer
    IndexTerm.forEach(in: folded) { range in
      postings.append(UInt64(terms.number(of: range, in: folded)) << 32 | task)
    }
  }

  /// Calls `body` with each term, in byte order, and its posting list.
  ///
  /// Returns the tasks in the order of ``SearchRank``, in which the postings number them.
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
      // The best text of a task comes first.
      guard task != last, let field = SearchedField(rawValue: UInt8(posting & 3)) else { continue }
      PostingList.append(task, field, after: last, to: &list)
      last = task
    }
    if !list.isEmpty { try body(terms[termOrder[rank]], list) }
  }
}

/// Numbers the terms of a segment in the order of their first occurrence.
///
/// A custom hash table, because a dictionary with array keys would allocate memory for each word of each text.
struct TermTable {
  /// The bytes of all terms, concatenated.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// For each hash slot, the number of a term plus one; zero if the slot is free.
  private var slots = [UInt32](repeating: 0, count: 1 << 10)

  var count: Int { ends.count }

  /// The bytes of a term.
  subscript(number: Int) -> ArraySlice<UInt8> {
    bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
  }

  /// The number of a term, which is inserted if it is new.
  mutating func number(of range: Range<Int>, in text: [UInt8]) -> Int {
    var slot = Self.hash(range, in: text) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if self[number].elementsEqual(text[range]) { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    bytes += text[range]
    ends.append(bytes.count)
    slots[slot] = UInt32(count)
    if count * 2 > slots.count { grow() }
    return count - 1
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 4)
    for number in 0..<count {
      let range = (number == 0 ? 0 : ends[number - 1])..<ends[number]
      var slot = Self.hash(range, in: bytes) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }

  /// The FNV-1a hash, with its high bits mixed into the low ones that select the slot.
  private static func hash(_ range: Range<Int>, in text: [UInt8]) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for offset in range { hash = (hash ^ UInt64(text[offset])) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: hash ^ hash >> 32)
  }
}

extension IndexTerm {
  /// The terms that every text with a query's word has; the last one may be a prefix.
  static func terms(of word: SearchTerm.Word) -> [[UInt8]] { terms(of: word.bytes, isUnspaced: word.isUnspaced) }
}

/// The tasks of a segment that have a term, in ascending order, each with the best text that contains it.
///
/// Each posting is stored as one number in groups of seven bits, the lowest first: the distance from the
/// previous task, times four, plus the text.
enum PostingList {
  /// Appends a posting in its stored form.
  static func append(_ task: Int, _ field: SearchedField, after previous: Int?, to bytes: inout [UInt8]) {
    assert(task > previous ?? -1, "postings are out of order")
    var number = UInt64(task - (previous ?? -1)) << 2 | UInt64(field.rawValue)
    while number >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: number))
  }

  /// Reads a posting list on demand; several lists may share the same bytes.
  struct Reader {
    private var offset: Int
    private let end: Int
    /// The task of the last posting; -1 before the first.
    private(set) var task = -1
    /// The best text of that task that contains the term.
    private(set) var field = SearchedField.title
    /// Whether all bytes read so far are valid postings.
    private(set) var isSound = true

    /// Creates a reader for a range of bytes, which the caller has checked.
    init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

    /// Advances to the next posting.
    ///
    /// - Returns: false at the end of the list, and if the bytes are not a valid posting for that number of tasks.
    @inline(__always)
    mutating func next(in bytes: RawSpan, of taskCount: Int) -> Bool {
      guard offset < end else { return false }
      var number = 0
      var shift = 0
      var byte: UInt8
      repeat {
        guard offset < end, shift <= 35 else { return fail() }
        // The offset has been checked; a byte has no alignment.
        byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        number |= Int(byte & 0x7F) << shift
        shift += 7
        offset += 1
      } while byte >= 0x80
      task += number >> 2
      guard number >> 2 > 0, task < taskCount, let field = SearchedField(rawValue: UInt8(number & 3)) else {
        return fail()
      }
      self.field = field
      return true
    }

    private mutating func fail() -> Bool {
      (isSound, offset) = (false, end)
      return false
    }
  }

  /// Calls `body` with each posting.
  ///
  /// - Returns: false if the bytes are not a valid posting list for that number of tasks.
  @inline(__always)
  static func forEach(in bytes: RawSpan, of taskCount: Int, _ body: (Int, SearchedField) -> Void) -> Bool {
    var reader = Reader(0..<bytes.byteCount)
    while reader.next(in: bytes, of: taskCount) { body(reader.task, reader.field) }
    return reader.isSound
  }
}
