import Foundation
import LMDB
import TallyEngine

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
