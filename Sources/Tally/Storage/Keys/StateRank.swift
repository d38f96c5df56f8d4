/// The position of a state in a view: active tasks first, then those not started, then the closed ones.
///
/// It is part of stored keys: do not change the numbers.
enum StateRank: UInt8 {
  case active = 0
  case notStarted = 1
  /// Completed and cancelled tasks, which share one order.
  case completed = 2

  init(_ state: TaskState) {
    switch state {
    case .active: self = .active
    case .notStarted: self = .notStarted
    case .completed, .cancelled: self = .completed
    }
  }

  /// The number after the last rank, an upper bound for ranges of keys.
  static let endRawValue: UInt8 = 3
}
