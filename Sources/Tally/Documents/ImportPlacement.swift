internal import LMDB

/// Finds the sort orders of imported records that have none: last in their place, after those read before them.
///
/// The records of a batch are not stored yet when the next one needs an order, so the orders in use are kept here.
struct ImportPlacement {
  /// The next free order of each place that the document has used so far.
  private var nextOrders: [Place: Int64] = [:]
  private var nextListOrder: Int64?

  /// The order that puts a task last in its list or the inbox, and on its day.
  func orderAtEnd(
    for task: TaskItem, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> Int64 {
    let stored = try transaction.lastSortOrder(ofPlacesOf: task)
    return Place.all(of: task).reduce(stored) { max($0, nextOrders[$1] ?? $0) }
  }

  /// The order that puts a list last.
  func listOrderAtEnd(in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws -> Int64 {
    let last = try transaction.tables.listsByOrder.lastKey(in: transaction.base)?.sortOrder
    let stored = SortOrder.between(last, nil) ?? SortOrder.limit
    return max(stored, nextListOrder ?? stored)
  }

  /// Notes the place of a task.
  mutating func note(_ task: TaskItem) {
    let next = SortOrder.between(task.sortOrder, nil) ?? SortOrder.limit
    for place in Place.all(of: task) { nextOrders[place] = max(next, nextOrders[place] ?? next) }
  }

  /// Notes the place of a list.
  mutating func note(_ list: TaskList) {
    let next = SortOrder.between(list.sortOrder, nil) ?? SortOrder.limit
    nextListOrder = max(next, nextListOrder ?? next)
  }
}
