/// The counts of many days, added up by quarter of the day.
///
/// Nearly all days have a byte for each quarter: eight of them are added in four steps, in lanes of 32 bits. One by one
/// they took a third of a whole answer.
struct QuarterSums {
  private static let laneMask: UInt64 = 0x0000_00FF_0000_00FF

  private var counts = Array(repeating: 0, count: QuarterHour.countPerDay)
  /// Two quarters each; room for the bytes of 16 million days.
  private var lanes = Array(repeating: UInt64(0), count: QuarterHour.countPerDay / 2)

  /// Adds a day.
  mutating func add(_ fields: borrowing DayCountsFields) {
    guard fields.hasByteForEachQuarter else { return fields.addQuarters(to: &counts) }
    for word in 0..<(QuarterHour.countPerDay / 8) {
      let eight = fields.eightQuarters(from: 8 * word)
      for lane in 0..<4 { lanes[4 * word + lane] &+= eight >> UInt64(8 * lane) & Self.laneMask }
    }
  }

  /// The sums, which begin anew.
  mutating func take() -> [Int] {
    for (index, lane) in lanes.enumerated() {
      // The first quarter of eight is the highest byte of its word: the upper half of the last lane.
      let first = 8 * (index / 4) + 3 - index % 4
      counts[first] += Int(lane >> 32)
      counts[first + 4] += Int(lane & UInt64(UInt32.max))
    }
    let sums = counts
    self = QuarterSums()
    return sums
  }
}
