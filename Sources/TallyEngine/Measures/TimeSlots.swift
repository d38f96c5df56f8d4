/// Quarter hours, the resolution of the counters: the UTC offsets of all zones in use are multiples of it.
@usableFromInline
package enum QuarterHour {
  @inlinable package static var countPerDay: Int { 96 }
  @inlinable package static var countPerHour: Int { 4 }
  @inlinable package static var microseconds: Int64 { 900_000_000 }
  @inlinable package static var microsecondsPerDay: Int64 { 86_400_000_000 }
  /// An instant after every event, local times included: the first instant of 10000-01-03.
  @inlinable package static var endOfTime: Int64 { 253_402_473_600_000_000 }

  /// The number of the quarter hour that contains an instant, counted from 1970.
  @inlinable
  package static func number(containing microseconds: Int64) -> Int64 {
    floorDivide(microseconds, by: self.microseconds)
  }

  /// The number of the first quarter hour that begins at or after an instant.
  @inlinable
  package static func number(atOrAfter microseconds: Int64) -> Int64 {
    -floorDivide(-microseconds, by: self.microseconds)
  }

  /// The day of a quarter hour, given by its number, and its position within that day.
  @inlinable
  package static func position(of number: Int64) -> (dayNumber: Int32, quarter: Int) {
    let day = floorDivide(number, by: Int64(countPerDay))
    return (Int32(clamping: day), Int(number - day * Int64(countPerDay)))
  }
}

/// One row of `counts`.
///
/// A block has 1,536 slots: the quarter hours of sixteen UTC days, or the same number of buckets of cycle times. Blocks
/// are numbered from the one that begins on 1970-01-01, or from the shortest time.
///
/// With a row for each day, ten years would take 3,650 cursor steps, which cost more than the additions. With a row for
/// each month and a byte for each quarter hour, a row would not fit on a page. Two rows of sixteen days do.
@usableFromInline
package enum CounterBlock {
  /// Stored: do not change.
  @inlinable package static var dayCount: Int { 16 }
  @inlinable package static var slotCount: Int { dayCount * QuarterHour.countPerDay }

  /// The block that contains a quarter hour, given by its number.
  @inlinable
  package static func number(containing quarter: Int64) -> Int32 {
    Int32(clamping: floorDivide(quarter, by: Int64(slotCount)))
  }

  /// The blocks from the one that contains `start` to the one that contains `end`.
  @inlinable
  package static func numbers(from start: Int64, through end: Int64) -> ClosedRange<Int32> {
    number(containing: QuarterHour.number(containing: start))...number(containing: QuarterHour.number(containing: end))
  }

  /// The number of a block's first quarter hour.
  @inlinable
  package static func firstQuarter(of block: Int32) -> Int64 {
    Int64(block) * Int64(slotCount)
  }

  /// The days that some blocks cover.
  @inlinable
  package static func days(of blocks: ClosedRange<Int32>) -> ClosedRange<Int32> {
    let first = Int64(blocks.lowerBound) * Int64(dayCount)
    let end = (Int64(blocks.upperBound) + 1) * Int64(dayCount)
    return Int32(clamping: first)...Int32(clamping: end - 1)
  }
}

/// Buckets of durations: whole seconds up to 127, and less than 1.6% wide above.
///
/// As in HdrHistogram, a bucket is a power of two and the six binary digits after the first. The arithmetic is on
/// integers, so a duration falls into the same bucket on every machine. The middle of a bucket is at most 0.8% from the
/// exact value.
@usableFromInline
package enum CycleTimeBucket {
  @inlinable static var digitCount: Int { 6 }

  /// The bucket of a duration; a negative duration, which differing clocks can cause, counts as zero.
  @inlinable
  package static func number(ofSeconds duration: Int64) -> UInt16 {
    let seconds = UInt64(clamping: duration)
    guard seconds >= 1 << digitCount else { return UInt16(seconds) }
    let exponent = UInt64.bitWidth - 1 - seconds.leadingZeroBitCount
    let digits = (seconds >> UInt64(exponent - digitCount)) & (1 << UInt64(digitCount) - 1)
    return UInt16((exponent - digitCount + 1) << digitCount) | UInt16(digits)
  }

  /// The middle of a bucket, in seconds.
  @inlinable
  package static func middleInSeconds(of bucket: UInt16) -> Int64 {
    guard bucket >= 1 << digitCount else { return Int64(bucket) }
    let exponent = Int64(bucket >> UInt16(digitCount)) + Int64(digitCount) - 1
    let shift = exponent - Int64(digitCount)
    let digits = Int64(bucket & (1 << UInt16(digitCount) - 1)) | 1 << Int64(digitCount)
    return digits << shift + ((1 << shift) - 1) / 2
  }
}
