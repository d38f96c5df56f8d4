import Foundation
import LMDB

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
