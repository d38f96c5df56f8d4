/// One row of `counts`.
///
/// A block has 1,536 slots: the quarter hours of sixteen UTC days, or the same number of buckets of cycle times. Blocks
/// are numbered from the one that begins on 1970-01-01, and from the shortest time.
///
/// With a row per day, ten years would be 3,650 steps of a cursor, which cost more than the additions; a row of a month
/// would not fit on a page with a byte for each quarter. Two rows of sixteen days do.
enum CounterBlock {
  /// Stored: do not change.
  static let dayCount = 16
  static let slotCount = dayCount * QuarterHour.countPerDay

  /// The block of a quarter, by the quarter's number.
  static func number(containing quarter: Int64) -> Int32 {
    Int32(clamping: floorDivide(quarter, by: Int64(slotCount)))
  }

  /// The blocks of the quarters from one instant's to another one's.
  static func numbers(from start: Int64, through end: Int64) -> ClosedRange<Int32> {
    number(containing: QuarterHour.number(containing: start))...number(containing: QuarterHour.number(containing: end))
  }

  /// The number of a block's first quarter.
  static func firstQuarter(of block: Int32) -> Int64 {
    Int64(block) * Int64(slotCount)
  }

  /// The days of some blocks.
  static func days(of blocks: ClosedRange<Int32>) -> ClosedRange<Int32> {
    let first = Int64(blocks.lowerBound) * Int64(dayCount)
    let end = (Int64(blocks.upperBound) + 1) * Int64(dayCount)
    return Int32(clamping: first)...Int32(clamping: end - 1)
  }
}
