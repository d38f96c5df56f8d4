import Foundation
import LMDB
import TallyEngine

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
