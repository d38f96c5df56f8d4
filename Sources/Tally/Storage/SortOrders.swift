import Foundation
import LMDB
import TallyEngine

/// The numbers that define a task's position among its neighbours.
///
/// New tasks are `spacing` apart, so that a move usually finds a free number between two neighbours and rewrites only
/// one record.
enum SortOrder {
  /// All sort orders lie between `-limit` and `limit`.
  static let limit = TaskItem.sortOrders.upperBound
  /// The distance between neighbours where there is room: it can be halved twenty times.
  static let spacing: Int64 = 1 << 20
  /// The least distance after spreading: it can be halved ten times before spreading is needed again.
  static let minimumSpacing: Int64 = 1 << 10

  /// A stored number, limited to the valid range; only damaged records lie outside it.
  static func clamped(_ sortOrder: Int64) -> Int64 { min(max(sortOrder, -limit), limit) }

  /// A free number between two neighbours, either of which may be missing; `nil` if there is none.
  static func between(_ lower: Int64?, _ upper: Int64?) -> Int64? {
    switch (lower.map(clamped), upper.map(clamped)) {
    case (nil, nil): return 0
    case (let lower?, nil):
      return lower <= limit - spacing ? lower + spacing : middle(lower, limit + 1)
    case (nil, let upper?):
      return upper >= spacing - limit ? upper - spacing : middle(-limit - 1, upper)
    case (let lower?, let upper?): return middle(lower, upper)
    }
  }

  /// The middle of an open interval; `nil` if it holds no number.
  private static func middle(_ lower: Int64, _ upper: Int64) -> Int64? {
    upper - lower >= 2 ? lower + (upper - lower) / 2 : nil
  }
}

/// The open interval between two neighbours, either of which may be missing.
struct SortOrderGap {
  let lower: Int64?
  let upper: Int64?

  /// A free number inside; `nil` if there is none.
  var middle: Int64? { SortOrder.between(lower, upper) }

  /// The interval that is inside both gaps.
  func intersection(with other: SortOrderGap) -> SortOrderGap {
    SortOrderGap(
      lower: [lower, other.lower].compactMap { $0 }.max(), upper: [upper, other.upper].compactMap { $0 }.min())
  }
}

/// A group in which tasks are ordered: a list, a day or the inbox.
enum Place: Hashable {
  case inbox
  case day(CalendarDay)
  case list(UUID)

  /// The place whose order decides first: the task's list, else its day, else the inbox.
  init(of task: TaskItem) {
    if let listID = task.listID {
      self = .list(listID)
    } else if let day = task.scheduledDate {
      self = .day(day)
    } else {
      self = .inbox
    }
  }

  /// Every place of a task: its list and its day, or the inbox if it has neither.
  static func all(of task: TaskItem) -> [Place] {
    switch (task.listID, task.scheduledDate) {
    case (let list?, let day?): [.list(list), .day(day)]
    default: [Place(of: task)]
    }
  }
}

/// The entries around one entry of an ordered index, limited to its state and place.
struct Neighborhood<Key: PlacedKey> {
  let index: Index<Key>
  let anchor: Key

  /// The open interval of sort orders for a record that moves directly before or after the anchor.
  ///
  /// The current position of the record that moves, `mover`, is ignored.
  func gap<T: LMDBTransaction & ~Copyable>(
    on side: Side, excluding mover: UUID, in transaction: borrowing T
  ) throws(LMDBError) -> SortOrderGap {
    let neighbor = try neighbors(on: side, count: 2, in: transaction).first { $0.id != mover }?.sortOrder
    let own = anchor.order.sortOrder
    return side == .before ? SortOrderGap(lower: neighbor, upper: own) : SortOrderGap(lower: own, upper: neighbor)
  }

  /// New sort orders for the anchor and the neighbours that are too close, in ascending order.
  ///
  /// Takes a window around the anchor and doubles it until its entries fit `SortOrder.minimumSpacing` apart, so that
  /// many insertions at one spot are cheap. The order of the entries does not change. A window that covers the whole
  /// place always has room: its margins alone add a quarter of a million numbers for each entry.
  func spread<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> [(id: UUID, sortOrder: Int64)] {
    var reach = 8
    while true {
      let before = try neighbors(on: .before, count: reach + 1, in: transaction)
      let after = try neighbors(on: .after, count: reach + 1, in: transaction)
      let own = (id: anchor.id, sortOrder: SortOrder.clamped(anchor.order.sortOrder))
      let window = before.prefix(reach).reversed() + [own] + after.prefix(reach)
      let margin = SortOrder.spacing * Int64(reach)
      let lower = before.count > reach ? before[reach].sortOrder : max(window[0].sortOrder - margin, -SortOrder.limit)
      let upper =
        after.count > reach
        ? after[reach].sortOrder : min(window[window.count - 1].sortOrder + margin, SortOrder.limit)
      let step = (upper - lower) / Int64(window.count + 1)
      if step >= SortOrder.minimumSpacing {
        return window.enumerated().map { ($1.id, lower + step * Int64($0 + 1)) }
      }
      reach *= 2
    }
  }

  /// Up to `count` entries beside the anchor, nearest first.
  private func neighbors<T: LMDBTransaction & ~Copyable>(
    on side: Side, count: Int, in transaction: borrowing T
  ) throws(LMDBError) -> [(id: UUID, sortOrder: Int64)] {
    var found: [(id: UUID, sortOrder: Int64)] = []
    var cursor = try index.cursor(in: transaction)
    guard try cursor.move(to: anchor) else { return found }
    while found.count < count, side == .before ? try cursor.previous() : try cursor.next() {
      let key = try cursor.key()
      guard key.isBeside(anchor) else { break }
      found.append((key.id, SortOrder.clamped(key.order.sortOrder)))
    }
    return found
  }
}

/// The two sides of a neighbour.
package enum Side: String {
  case before, after
}
