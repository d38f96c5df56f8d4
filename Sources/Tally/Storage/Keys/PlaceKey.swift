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
