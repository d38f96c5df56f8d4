import TallyEngine

/// One row of `counts`.
///
/// A block has 1,536 slots: the quarter hours of sixteen UTC days, or the same number of buckets of cycle times. Blocks
/// are numbered from the one that begins on 1970-01-01, or from the shortest time.
///
/// With a row for each day, ten years would take 3,650 cursor steps, which cost more than the additions. With a row for
/// each month and a byte for each quarter hour, a row would not fit on a page. Two rows of sixteen days do.
enum CounterBlock {
  /// Stored: do not change.
  static let dayCount = 16
  static let slotCount = dayCount * QuarterHour.countPerDay

  /// The block that contains a quarter hour, given by its number.
  static func number(containing quarter: Int64) -> Int32 {
    Int32(clamping: floorDivide(quarter, by: Int64(slotCount)))
  }

  /// The blocks from the one that contains `start` to the one that contains `end`.
  static func numbers(from start: Int64, through end: Int64) -> ClosedRange<Int32> {
    number(containing: QuarterHour.number(containing: start))...number(containing: QuarterHour.number(containing: end))
  }

  /// The number of a block's first quarter hour.
  static func firstQuarter(of block: Int32) -> Int64 {
    Int64(block) * Int64(slotCount)
  }

  /// The days that some blocks cover.
  static func days(of blocks: ClosedRange<Int32>) -> ClosedRange<Int32> {
    let first = Int64(blocks.lowerBound) * Int64(dayCount)
    let end = (Int64(blocks.upperBound) + 1) * Int64(dayCount)
    return Int32(clamping: first)...Int32(clamping: end - 1)
  }
}
