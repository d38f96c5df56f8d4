import Foundation
import LMDB

/// The entries around one entry of an ordered index, within its state and place.
struct Neighborhood<Key: PlacedKey> {
  let index: Index<Key>
  let anchor: Key

  /// The sort orders between which a new neighbour before or after the anchor must lie.
  ///
  /// The present position of the record to be moved, `mover`, does not count.
  func gap<T: LMDBTransaction & ~Copyable>(
    on side: Side, excluding mover: UUID, in transaction: borrowing T
  ) throws(LMDBError) -> SortOrderGap {
    let neighbor = try orders(on: side, count: 2, in: transaction).first { $0.id != mover }?.sortOrder
    let own = anchor.order.sortOrder
    return side == .before ? SortOrderGap(lower: neighbor, upper: own) : SortOrderGap(lower: own, upper: neighbor)
  }

  /// New sort orders for the anchor and the neighbours that are too close, in ascending order.
  ///
  /// Looks at a window around the anchor and doubles it until its entries fit with some distance between them, so that
  /// many insertions at one spot cost little each. The order of the entries stays.
  func spread<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> [(id: UUID, sortOrder: Int64)] {
    var reach = 8
    while true {
      let before = try orders(on: .before, count: reach + 1, in: transaction)
      let after = try orders(on: .after, count: reach + 1, in: transaction)
      let window = before.prefix(reach).reversed() + [anchor.order] + after.prefix(reach)
      let margin = SortOrder.spacing * Int64(reach)
      let lower = before.count > reach ? before[reach].sortOrder : max(window[0].sortOrder - margin, -SortOrder.limit)
      let upper =
        after.count > reach
        ? after[reach].sortOrder : min(window[window.count - 1].sortOrder + margin, SortOrder.limit)
      let isWhole = before.count <= reach && after.count <= reach
      let step = (upper - lower) / Int64(window.count + 1)
      if step >= SortOrder.minimumSpacing || isWhole {
        return Self.place(window.map(\.id), from: lower, step: step)
      }
      reach *= 2
    }
  }

  /// Spaces records evenly; if even the whole place is too narrow, over the full range of numbers.
  private static func place(_ ids: [UUID], from lower: Int64, step: Int64) -> [(id: UUID, sortOrder: Int64)] {
    let isNarrow = step < SortOrder.minimumSpacing
    let start = isNarrow ? -SortOrder.limit : lower
    let distance = isNarrow ? 2 * SortOrder.limit / Int64(ids.count + 1) : step
    return ids.enumerated().map { ($1, start + distance * Int64($0 + 1)) }
  }

  /// Up to `count` entries beside the anchor, nearest first.
  private func orders<T: LMDBTransaction & ~Copyable>(
    on side: Side, count: Int, in transaction: borrowing T
  ) throws(LMDBError) -> [OrderKey] {
    var found: [OrderKey] = []
    var cursor = try index.cursor(in: transaction)
    guard try cursor.move(to: anchor) else { return found }
    while found.count < count, side == .before ? try cursor.previous() : try cursor.next() {
      let key = try cursor.key()
      guard key.isBeside(anchor) else { break }
      found.append(key.order)
    }
    return found
  }
}

/// The two sides of a neighbour.
package enum Side: String {
  case before, after
}
