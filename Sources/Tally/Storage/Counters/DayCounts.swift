import LMDB

/// How often something happened in each quarter hour of one UTC day.
///
/// ```
/// offset size
///      0    1  bytes a count: 1, 2 or 4, the least that holds the greatest count
///      1    1  1 if every quarter has its count, 0 if only those with a bit do
///      2    2  reserved, zero
///      4    4  the day's total
///      8   12  where only some have: a bit for each quarter, the first one highest
///              then the counts, in the order of the quarters
/// ```
///
/// Every quarter has its count where more than a third of them is not zero: then a range is one run of bytes. The form
/// follows from the counts alone, so that counters rebuilt from the records have the same bytes.
struct DayCounts: BinaryCodable, Equatable {
  static let headByteCount = 8
  static let bitmapByteCount = 12
  private static let densestSparseCount = 32

  /// The counts, one a quarter.
  private(set) var quarters: [UInt32]

  /// A day on which nothing happened.
  init() {
    quarters = Array(repeating: 0, count: QuarterHour.countPerDay)
  }

  var total: UInt32 { quarters.reduce(0, &+) }

  /// Adds to a quarter's count.
  ///
  /// - Returns: false, and changes nothing, if the count would leave its range: the counters disagree with the records.
  mutating func add(_ delta: Int64, toQuarter quarter: Int) -> Bool {
    let sum = Int64(quarters[quarter]) + delta
    guard let count = UInt32(exactly: sum) else { return false }
    quarters[quarter] = count
    return true
  }

  /// How the counts are stored.
  private var form: (width: Int, isDense: Bool, byteCount: Int) {
    // All bits of all counts: as wide as the greatest. One pass, as every change of a counter comes by here.
    var bits: UInt32 = 0
    var busyCount = 0
    for count in quarters {
      bits |= count
      if count != 0 { busyCount += 1 }
    }
    let width = bits < 1 << 8 ? 1 : bits < 1 << 16 ? 2 : 4
    let isDense = busyCount > Self.densestSparseCount
    let counts = isDense ? QuarterHour.countPerDay * width : Self.bitmapByteCount + busyCount * width
    return (width, isDense, Self.headByteCount + counts)
  }

  var encodedByteCount: Int { form.byteCount }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    let (width, isDense, _) = form
    output.append(UInt8(width))
    output.append(isDense ? 1 : 0)
    output.append(bigEndian: UInt16(0))
    output.append(bigEndian: total)
    if !isDense {
      for start in stride(from: 0, to: QuarterHour.countPerDay, by: 8) {
        output.append(quarters[start..<(start + 8)].reduce(0) { $0 << 1 | ($1 == 0 ? 0 : 1) })
      }
    }
    for count in quarters where isDense || count != 0 {
      switch width {
      case 1: output.append(UInt8(truncatingIfNeeded: count))
      case 2: output.append(bigEndian: UInt16(truncatingIfNeeded: count))
      default: output.append(bigEndian: count)
      }
    }
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    self.init()
    let fields = try DayCountsFields(bytes)
    for quarter in 0..<QuarterHour.countPerDay {
      quarters[quarter] = UInt32(fields.sum(of: quarter..<(quarter + 1)))
    }
  }
}
