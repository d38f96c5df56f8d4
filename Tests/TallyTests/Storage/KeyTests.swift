import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// liblmdb relies on it and nothing else checks it: a key's bytes sort as the keys do.
@Suite struct KeyTests {
  @Test func idKeysSortAsTheirBytes() throws {
    try checkKeys { IDKey($0.edgyUUID()) }
  }

  @Test func instantKeysSortAsTheirBytes() throws {
    try checkKeys { InstantKey(random: &$0) }
  }

  @Test func orderKeysSortAsTheirBytes() throws {
    try checkKeys { OrderKey(random: &$0) }
  }

  @Test func placeKeysSortAsTheirBytes() throws {
    try checkKeys { generator in
      PlaceKey(
        listID: generator.oneIn(3) ? nil : generator.edgyUUID(),
        rankRawValue: UInt8.random(in: 0...3, using: &generator),
        order: OrderKey(random: &generator)
      )
    }
  }

  @Test func dayKeysSortAsTheirBytes() throws {
    try checkKeys { generator in
      DayKey(
        isCompleted: generator.oneIn(2),
        dayNumber: generator.edgyInteger(),
        rankRawValue: UInt8.random(in: 0...3, using: &generator),
        order: OrderKey(random: &generator)
      )
    }
  }

  @Test func dueKeysSortAsTheirBytes() throws {
    try checkKeys {
      DueKey(DueKey.Kind(rawValue: UInt8.random(in: 0..<4, using: &$0)) ?? .open, InstantKey(random: &$0))
    }
  }

  @Test func completionKeysSortAsTheirBytes() throws {
    try checkKeys { CompletionKey(isTaskDeleted: $0.oneIn(2), completed: InstantKey(random: &$0)) }
  }

  @Test func tailKeysSortAsTheirBytes() throws {
    try checkKeys { TailKey($0.edgyUUID()) }
  }

  @Test func changeKeysSortAsTheirBytes() throws {
    try checkKeys { generator in
      ChangeKey(
        sequence: UInt64.random(in: 0...3, using: &generator), generator.oneIn(2) ? .task : .deletedList,
        generator.edgyUUID())
    }
  }

  @Test func aKeyOfAnotherWidthIsRefused() {
    for count in [0, 1, 15, 17, 49, 51, 511] where count != PlaceKey.width {
      #expect(throws: LMDBError.self) { try decoded([UInt8](repeating: 0, count: count), as: PlaceKey.self) }
    }
    #expect(throws: LMDBError.self) { try decoded([], as: TailKey.self) }
  }

  @Test func anInboxKeyDiffersFromTheOneOfAListWhoseIDIsZero() {
    let inbox = PlaceKey(listID: nil, rankRawValue: 0, order: .lowest)
    let list = PlaceKey(listID: .lowest, rankRawValue: 0, order: .lowest)
    #expect(encoded(inbox) != encoded(list))
    #expect(inbox.precedes(list))
  }

  /// Compares many pairs, most of which have much in common, so that later fields decide.
  private func checkKeys<Key: OrderedKey>(
    test: String = #function,
    _ makeKey: (inout SeededGenerator) -> Key
  ) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: test))
    let keys = (0..<400).map { _ in makeKey(&generator) }
    for key in keys {
      let bytes = encoded(key)
      #expect(bytes.count == Key.width, "all of one width, so none is a prefix of another")
      #expect(try decoded(bytes, as: Key.self) == key)
    }
    for left in keys {
      for right in keys.shuffled(using: &generator).prefix(40) {
        let isLess = encoded(left).lexicographicallyPrecedes(encoded(right))
        #expect(isLess == left.precedes(right), "\(left) and \(right)")
        #expect((encoded(left) == encoded(right)) == (left == right))
      }
    }
  }
}

extension SeededGenerator {
  /// An identifier, often one with few different bits.
  mutating func edgyUUID() -> UUID {
    switch Int.random(in: 0..<5, using: &self) {
    case 0: UUID(high: 0, low: 0)
    case 1: UUID(high: .max, low: .max)
    case 2: UUID(high: 0, low: 1 << UInt64.random(in: 0..<64, using: &self))
    case 3: UUID(high: 1 << UInt64.random(in: 0..<64, using: &self), low: 0)
    default: uuid()
    }
  }

  /// A number, often at an end of the range or near zero.
  mutating func edgyInteger<Number: FixedWidthInteger>() -> Number {
    let edges: [Number] = [.min, .min + 1, .max - 1, .max, 0, 1, 0 &- 1, 255, 256]
    return oneIn(2) ? edges.randomElement(using: &self) ?? 0 : Number.random(in: .min ... .max, using: &self)
  }
}

extension InstantKey {
  fileprivate init(random generator: inout SeededGenerator) {
    self.init(microseconds: generator.edgyInteger(), id: generator.edgyUUID())
  }
}

extension OrderKey {
  fileprivate init(random generator: inout SeededGenerator) {
    self.init(
      sortOrder: generator.edgyInteger(),
      createdAtMicroseconds: generator.edgyInteger(),
      id: generator.edgyUUID()
    )
  }
}

/// The order of a key, field by field, which its bytes must have.
protocol OrderedKey: IndexKey {
  func precedes(_ other: Self) -> Bool
}

extension IDKey: OrderedKey {
  func precedes(_ other: Self) -> Bool { id.precedes(other.id) }
}

extension TailKey: OrderedKey {
  func precedes(_ other: Self) -> Bool { reversed.precedes(other.reversed) }
}

extension InstantKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    microseconds == other.microseconds ? id.precedes(other.id) : microseconds < other.microseconds
  }
}

extension CompletionKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    isTaskDeleted == other.isTaskDeleted ? completed.precedes(other.completed) : other.isTaskDeleted
  }
}

extension DueKey: OrderedKey {
  func precedes(_ other: DueKey) -> Bool {
    kindRawValue == other.kindRawValue ? due.precedes(other.due) : kindRawValue < other.kindRawValue
  }
}

extension GroupKey: OrderedKey {
  func precedes(_ other: GroupKey) -> Bool {
    if groupID != other.groupID { return groupID.precedes(other.groupID) }
    return rankRawValue == other.rankRawValue ? order.precedes(other.order) : rankRawValue < other.rankRawValue
  }
}

extension OrderKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    (sortOrder, createdAtMicroseconds, id.words.high, id.words.low)
      < (other.sortOrder, other.createdAtMicroseconds, other.id.words.high, other.id.words.low)
  }
}

extension PlaceKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    if kindRawValue != other.kindRawValue { return kindRawValue < other.kindRawValue }
    if listID != other.listID { return listID.precedes(other.listID) }
    if rankRawValue != other.rankRawValue { return rankRawValue < other.rankRawValue }
    return order.precedes(other.order)
  }
}

extension DayKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    if isCompleted != other.isCompleted { return other.isCompleted }
    if dayNumber != other.dayNumber { return dayNumber < other.dayNumber }
    if rankRawValue != other.rankRawValue { return rankRawValue < other.rankRawValue }
    return order.precedes(other.order)
  }
}

extension ChangeKey: OrderedKey {
  func precedes(_ other: Self) -> Bool {
    if sequence != other.sequence { return sequence < other.sequence }
    return kindRawValue == other.kindRawValue ? id.precedes(other.id) : kindRawValue < other.kindRawValue
  }
}
