/// What one row of `counts` holds.
///
/// A block has 1,536 slots: the quarter hours of sixteen UTC days, or as many buckets of cycle times. Blocks are counted
/// from the one that begins on 1970-01-01, and from the shortest time.
///
/// A row a day would make ten years 3,650 steps of a cursor, which cost more than the adding up; a row of a month would
/// not fit on a page with a byte for each quarter. Two rows of sixteen days do.
enum CounterBlock {
  /// Stored: do not change.
  static let dayCount = 16
  static let slotCount = dayCount * QuarterHour.countPerDay

  /// The block that a quarter lies in, by the quarter's number.
  static func number(containing quarter: Int64) -> Int32 {
    Int32(clamping: floorDivide(quarter, by: Int64(slotCount)))
  }

  /// The blocks that the quarters from one instant's to another one's lie in.
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
