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
