/// The numbers that define a task's position among its neighbours.
///
/// New tasks are `spacing` apart, so that a move finds a free number between two neighbours and rewrites one record.
enum SortOrder {
  /// All sort orders lie within ± this.
  static let limit = TaskItem.sortOrders.upperBound
  /// The distance between neighbours if there is room: twenty halvings.
  static let spacing: Int64 = 1 << 20
  /// The least distance that spreading must leave, so that it is not needed again soon: ten halvings.
  static let minimumSpacing: Int64 = 1 << 10

  /// A stored number within the limits, where only a damaged one does not lie already.
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

  /// The part that both gaps share.
  func intersection(with other: SortOrderGap) -> SortOrderGap {
    SortOrderGap(
      lower: [lower, other.lower].compactMap { $0 }.max(), upper: [upper, other.upper].compactMap { $0 }.min())
  }
}
