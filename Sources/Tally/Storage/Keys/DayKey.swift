import Foundation
import LMDB
import TallyEngine

/// The key of `byDay`: open or completed, the scheduled day, the state's rank, then the order within it; 38 bytes.
///
/// Open tasks come first, so that the Past view never scans the completed ones.
struct DayKey: IndexKey {
  static let width = 6 + OrderKey.width
  let isCompleted: Bool
  let dayNumber: Int32
  let rankRawValue: UInt8
  let order: OrderKey

  var id: UUID { order.id }

  init(isCompleted: Bool, dayNumber: Int32, rankRawValue: UInt8, order: OrderKey) {
    assert(rankRawValue <= StateRank.endRawValue, "a rank out of range")
    self.isCompleted = isCompleted
    self.dayNumber = dayNumber
    self.rankRawValue = rankRawValue
    self.order = order
  }

  init(fields bytes: RawSpan) {
    isCompleted = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    dayNumber = bytes.load(orderedInt32At: 1)
    rankRawValue = bytes.load(bigEndianAt: 5)
    order = OrderKey(fields: bytes.extracting(6..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(isCompleted ? 1 : 0)
    output.append(ordered: dayNumber)
    output.append(rankRawValue)
    order.encode(into: &output)
  }
}

extension DayKey {
  /// The key of a task; `nil` if it has no scheduled day.
  init?(of task: TaskItem) {
    guard let day = task.scheduledDate else { return nil }
    self.init(
      isCompleted: task.isClosed, dayNumber: day.dayNumber, rankRawValue: StateRank(task.state).rawValue,
      order: OrderKey(of: task))
  }

  /// The lowest possible key of a day.
  static func start(of dayNumber: Int32, isCompleted: Bool) -> DayKey {
    DayKey(isCompleted: isCompleted, dayNumber: dayNumber, rankRawValue: 0, order: .lowest)
  }

  /// A key after every key of a day.
  static func end(of dayNumber: Int32, isCompleted: Bool) -> DayKey {
    DayKey(isCompleted: isCompleted, dayNumber: dayNumber, rankRawValue: StateRank.endRawValue, order: .lowest)
  }
}
