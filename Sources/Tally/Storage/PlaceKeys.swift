import Foundation
import LMDB
import TallyEngine

/// The key of `byPlace`: the inbox or a list, the state's rank, then the order within it; 50 bytes.
struct PlaceKey: IndexKey {
  /// The kind of a task's place; the raw values are stored: do not change them.
  enum Kind: UInt8 {
    case inbox = 1
    case list = 2
  }

  static let width = 18 + OrderKey.width
  let kindRawValue: UInt8
  let listID: UUID
  let rankRawValue: UInt8
  let order: OrderKey

  var id: UUID { order.id }

  /// The key of a task in a list, or in the inbox if `listID` is `nil`.
  init(listID: UUID?, rankRawValue: UInt8, order: OrderKey) {
    assert(rankRawValue <= StateRank.endRawValue, "a rank out of range")
    kindRawValue = (listID == nil ? Kind.inbox : .list).rawValue
    self.listID = listID ?? .lowest
    self.rankRawValue = rankRawValue
    self.order = order
  }

  init(fields bytes: RawSpan) {
    kindRawValue = bytes.load(bigEndianAt: 0)
    listID = bytes.load(idAt: 1)
    rankRawValue = bytes.load(bigEndianAt: 17)
    order = OrderKey(fields: bytes.extracting(18..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(kindRawValue)
    output.append(listID)
    output.append(rankRawValue)
    order.encode(into: &output)
  }
}

extension PlaceKey {
  /// The key of a task; `nil` if it has a day and no list: such a task is in `byDay` only.
  init?(of task: TaskItem) {
    guard task.listID != nil || task.scheduledDate == nil else { return nil }
    self.init(listID: task.listID, rankRawValue: StateRank(task.state).rawValue, order: OrderKey(of: task))
  }
}

/// A key that ends in an order: of the tasks of one state in one place, or of the lists.
protocol PlacedKey: IndexKey {
  var order: OrderKey { get }
  /// Whether another key has the same place and state, and so differs only in the order.
  func isBeside(_ other: Self) -> Bool
}

extension PlaceKey: PlacedKey {
  func isBeside(_ other: PlaceKey) -> Bool {
    (kindRawValue, rankRawValue) == (other.kindRawValue, other.rankRawValue) && listID == other.listID
  }
}

extension DayKey: PlacedKey {
  func isBeside(_ other: DayKey) -> Bool {
    (isCompleted, dayNumber, rankRawValue) == (other.isCompleted, other.dayNumber, other.rankRawValue)
  }
}

extension OrderKey: PlacedKey {
  var order: OrderKey { self }

  func isBeside(_ other: OrderKey) -> Bool { true }
}

/// The order within one state of one place: sort order, then creation, then identifier; 32 bytes.
///
/// It is the whole key of active tasks and of lists, and the end of `PlaceKey`, `DayKey` and `GroupKey`.
struct OrderKey: IndexKey {
  static let width = 32
  let sortOrder: Int64
  let createdAtMicroseconds: Int64
  let id: UUID

  init(sortOrder: Int64, createdAtMicroseconds: Int64, id: UUID) {
    self.sortOrder = sortOrder
    self.createdAtMicroseconds = createdAtMicroseconds
    self.id = id
  }

  init(fields bytes: RawSpan) {
    sortOrder = bytes.load(orderedInt64At: 0)
    createdAtMicroseconds = bytes.load(orderedInt64At: 8)
    id = bytes.load(idAt: 16)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(ordered: sortOrder)
    output.append(ordered: createdAtMicroseconds)
    output.append(id)
  }

  /// A lower bound of all keys.
  static let lowest = OrderKey(sortOrder: .min, createdAtMicroseconds: .min, id: .lowest)
}

extension OrderKey {
  /// The position of a task within its state.
  init(of task: TaskItem) {
    self.init(
      sortOrder: task.sortOrder, createdAtMicroseconds: task.createdAt.microsecondsSince1970, id: task.id)
  }

  /// The position of a list among the lists.
  init(of list: TaskList) {
    self.init(
      sortOrder: list.sortOrder, createdAtMicroseconds: list.createdAt.microsecondsSince1970, id: list.id)
  }
}

/// The key of `byTail`: the hexadecimal digits of an identifier, in reverse order; 16 bytes.
///
/// Neighbours in this index share the longest tails. Therefore the shortest unique handle of a task follows from the
/// entries before and after its own, and the tasks that match a handle are adjacent.
struct TailKey: IndexKey {
  static let width = 16
  /// The number of hexadecimal digits in an identifier.
  static let digitCount = 32
  /// The identifier with its digits in reverse order.
  let reversed: UUID

  var id: UUID { Self.reverse(reversed) }

  init(_ id: UUID) {
    reversed = Self.reverse(id)
  }

  init(fields bytes: RawSpan) {
    reversed = bytes.load(idAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(reversed)
  }

  /// The lowest possible key of a handle, given as at most 32 digits from 0 to 15 in written order.
  init(firstEndingIn digits: [UInt8]) {
    assert(digits.count <= Self.digitCount && digits.allSatisfy { $0 < 16 }, "not digits of an identifier")
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (place, digit) in digits.reversed().enumerated() {
      let shift = UInt64(60 - 4 * (place % 16))
      if place < 16 { words.high |= UInt64(digit) << shift } else { words.low |= UInt64(digit) << shift }
    }
    reversed = UUID(high: words.high, low: words.low)
  }

  /// How many digits two identifiers share at their end.
  func sharedDigitCount(with other: TailKey) -> Int {
    let (left, right) = (reversed.words, other.reversed.words)
    let high = (left.high ^ right.high).leadingZeroBitCount
    return (high < 64 ? high : 64 + (left.low ^ right.low).leadingZeroBitCount) / 4
  }

  private static func reverse(_ id: UUID) -> UUID {
    UUID(high: reverseDigits(id.words.low), low: reverseDigits(id.words.high))
  }

  /// Reverses the bytes, then the two digits in each.
  private static func reverseDigits(_ word: UInt64) -> UInt64 {
    let bytes = word.byteSwapped
    let lowDigits: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    return (bytes & lowDigits) << 4 | (bytes >> 4) & lowDigits
  }
}

/// The key of `byTag` and `byParent`: the tag or parent, the state's rank, then the order within it; 49 bytes.
///
/// `byParent` also has the tasks that depend on a task: in its group, with ``dependentRank``.
struct GroupKey: IndexKey {
  static let width = 17 + OrderKey.width
  /// The hash of a tag (see `TagID`), or the id of the parent.
  let groupID: UUID
  let rankRawValue: UInt8
  let order: OrderKey

  /// The rank of tasks that depend on the group's task, in any state: beyond those of sub-tasks.
  static let dependentRank: UInt8 = 16

  var id: UUID { order.id }

  init(groupID: UUID, rankRawValue: UInt8, order: OrderKey) {
    assert(rankRawValue <= StateRank.endRawValue || rankRawValue / 2 == Self.dependentRank / 2, "a rank out of range")
    self.groupID = groupID
    self.rankRawValue = rankRawValue
    self.order = order
  }

  init(fields bytes: RawSpan) {
    groupID = bytes.load(idAt: 0)
    rankRawValue = bytes.load(bigEndianAt: 16)
    order = OrderKey(fields: bytes.extracting(17..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(groupID)
    output.append(rankRawValue)
    order.encode(into: &output)
  }
}

extension GroupKey {
  /// The key of a task in a group.
  init(of task: TaskItem, in groupID: UUID) {
    self.init(groupID: groupID, rankRawValue: StateRank(task.state).rawValue, order: OrderKey(of: task))
  }
}

extension KeyRange {
  /// The range of the tasks of a group that have some ranks; all ranks by default.
  static func group(_ groupID: UUID, _ ranks: Range<UInt8> = 0..<StateRank.endRawValue) -> KeyRange {
    KeyRange(
      GroupKey(groupID: groupID, rankRawValue: ranks.lowerBound, order: .lowest),
      GroupKey(groupID: groupID, rankRawValue: ranks.upperBound, order: .lowest))
  }
}
