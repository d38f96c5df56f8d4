import LMDB

/// A day's counts read in place; lives no longer than the span it reads.
struct DayCountsFields: ~Escapable {
  private let bytes: RawSpan
  private let width: Int
  private let isDense: Bool
  // The bits of quarters 0 to 63 and 64 to 95, the first one highest; all set where every quarter has its count.
  private let firstBits: UInt64
  private let lastBits: UInt64
  private let countsOffset: Int

  /// Checks the record's form once, so that the sums need no check.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= DayCounts.headByteCount else { throw .undecodable("a day's counts are too short") }
    self.bytes = bytes
    width = Int(bytes.load(bigEndianAt: 0, as: UInt8.self))
    isDense = bytes.load(bigEndianAt: 1, as: UInt8.self) != 0
    if isDense {
      (firstBits, lastBits) = (.max, UInt64(UInt32.max) << 32)
      countsOffset = DayCounts.headByteCount
    } else {
      guard bytes.byteCount >= DayCounts.headByteCount + DayCounts.bitmapByteCount else {
        throw .undecodable("a day's counts are too short")
      }
      firstBits = bytes.load(bigEndianAt: 8)
      lastBits = UInt64(bytes.load(bigEndianAt: 16, as: UInt32.self)) << 32
      countsOffset = DayCounts.headByteCount + DayCounts.bitmapByteCount
    }
    let storedCount = firstBits.nonzeroBitCount + lastBits.nonzeroBitCount
    guard [1, 2, 4].contains(width), bytes.byteCount == countsOffset + width * storedCount else {
      throw .undecodable("a day's counts have the wrong size")
    }
  }

  /// The day's total.
  var total: Int { Int(bytes.load(bigEndianAt: 4, as: UInt32.self)) }

  /// The sum over some of the day's quarters.
  func sum(of quarters: Range<Int>) -> Int {
    if quarters.count == QuarterHour.countPerDay { return total }
    return sumOfStored(storedCount(before: quarters.lowerBound)..<storedCount(before: quarters.upperBound))
  }

  /// Adds each quarter's count to its element of an array.
  func addQuarters(to counts: inout [Int]) {
    var index = 0
    for quarter in 0..<QuarterHour.countPerDay where isDense || isStored(quarter) {
      counts[quarter] += stored(index)
      index += 1
    }
  }

  /// Whether the counts are 96 bytes, one after the other.
  var hasByteForEachQuarter: Bool { isDense && width == 1 }

  /// The counts of eight quarters, a byte each, the first one highest; only where each quarter has a byte.
  func eightQuarters(from first: Int) -> UInt64 {
    bytes.load(bigEndianAt: countsOffset + first)
  }

  private func isStored(_ quarter: Int) -> Bool {
    let bits = quarter < 64 ? firstBits << UInt64(quarter) : lastBits << UInt64(quarter - 64)
    return bits >> 63 != 0
  }

  /// How many quarters before one have a stored count.
  private func storedCount(before quarter: Int) -> Int {
    if isDense { return quarter }
    // A shift by the full width gives zero.
    let first = (firstBits >> UInt64(max(0, 64 - quarter))).nonzeroBitCount
    let last = quarter <= 64 ? 0 : (lastBits >> UInt64(128 - quarter)).nonzeroBitCount
    return first + last
  }

  private func sumOfStored(_ range: Range<Int>) -> Int {
    var sum = 0
    switch width {
    case 1: for index in range { sum &+= Int(bytes.load(bigEndianAt: countsOffset + index, as: UInt8.self)) }
    default: for index in range { sum &+= stored(index) }
    }
    return sum
  }

  private func stored(_ index: Int) -> Int {
    switch width {
    case 1: Int(bytes.load(bigEndianAt: countsOffset + index, as: UInt8.self))
    case 2: Int(bytes.load(bigEndianAt: countsOffset + 2 * index, as: UInt16.self))
    default: Int(bytes.load(bigEndianAt: countsOffset + 4 * index, as: UInt32.self))
    }
  }
}
