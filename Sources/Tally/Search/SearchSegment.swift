import Foundation
import LMDB

/// A part of the search index: the tasks whose last change lies in a range of the log of changes.
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
/// A task that has changed since has a later row, and no longer belongs to the segment, whatever its postings say.
struct SearchSegment: Equatable {
  private static let widthInVersion1 = 2 * ChangeKey.width + 8
  static let width = widthInVersion1 + 8
  var number: UInt32
  var lower: ChangeKey
  var upper: ChangeKey
  var taskCount: Int
  /// The open tasks come first.
  var openCount: Int
  /// When the first task was created; `nil` if version 1 has written the segment.
  var firstCreatedAt: Timestamp?

  /// The best rank that a task of the segment can have.
  var bestRank: SearchRank {
    SearchRank(quality: .best, isCompleted: openCount == 0, createdAt: firstCreatedAt ?? .latest, id: .lowest)
  }

  /// Whether a task with its last change in a commit belongs to the segment.
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

/// How far the search index reaches.
///
/// ```
/// offset size
///      0    2  the version of folding, words and rows
///      2    4  the number of the next segment
///      6   25  the last row of the log that is indexed
/// ```
struct SearchState: Equatable {
  /// Of any other version nothing is used: the index is built again.
  ///
  /// Version 2 differs from version 1 in the rows of segments only, and both kinds of rows may be in one index.
  static let knownVersions: ClosedRange<UInt16> = 1...2
  static let width = 6 + ChangeKey.width
  var nextSegment: UInt32 = 1
  var through = ChangeKey.beforeAll

  var encodedBytes: [UInt8] {
    Self.knownVersions.upperBound.bigEndianBytes + nextSegment.bigEndianBytes + through.encodedBytes
  }

  /// Nothing is indexed.
  init() {}

  /// `nil` for a state of another version, or one that cannot be right.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.width, Self.knownVersions.contains(bytes.load(bigEndianAt: 0)) else { return nil }
    nextSegment = bytes.load(bigEndianAt: 2)
    through = ChangeKey(fields: bytes.extracting(6..<Self.width))
    guard nextSegment > 0 else { return nil }
  }
}

extension ChangeKey: Comparable {
  /// Before every row of the log.
  static let beforeAll = ChangeKey(sequence: 0, .task, .lowest)

  static func < (left: Self, right: Self) -> Bool {
    (left.sequence, left.kindRawValue, left.id.words.high, left.id.words.low)
      < (right.sequence, right.kindRawValue, right.id.words.high, right.id.words.low)
  }
}
