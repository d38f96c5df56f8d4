/// Where a task stands among others of the same place: active ones first, then those not started, then the completed
/// ones; inside a state by sort order, creation and identifier.
///
/// The order of the indexes, for tasks that are at hand.
struct ViewOrder: Comparable, Hashable {
  let rankRawValue: UInt8
  let order: OrderKey

  init(_ task: TaskItem) {
    rankRawValue = StateRank(task.state).rawValue
    order = OrderKey(of: task)
  }

  static func < (left: ViewOrder, right: ViewOrder) -> Bool {
    left.rankRawValue == right.rankRawValue ? left.order < right.order : left.rankRawValue < right.rankRawValue
  }
}
