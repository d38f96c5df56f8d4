/// Adds up, block by block, the events in each hour of the local day.
///
/// While the offset stays the same, the quarters of all days are added up in UTC; only the sums are then moved by the
/// offset.
struct HourProfile {
  /// Parts of quarter hours, which the counters cannot resolve: to be counted event by event.
  let raggedIntervals: [OffsetSpan]
  /// Runs of whole quarters with one offset, in order.
  private var runs: [Run] = []
  private var position = 0
  private var sums = QuarterSums()
  /// By quarter of the local day.
  private var localCounts = Array(repeating: 0, count: QuarterHour.countPerDay)

  private struct Run {
    let quarters: Range<Int64>
    let offsetInQuarters: Int64
  }

  /// - Parameter intervals: the intervals to count, in order.
  init(_ intervals: [OffsetSpan]) {
    var ragged: [OffsetSpan] = []
    for interval in intervals {
      let first = QuarterHour.number(atOrAfter: interval.start)
      let end = QuarterHour.number(containing: interval.end)
      let offset = interval.offsetInMicroseconds
      guard offset % QuarterHour.microseconds == 0, first < end else {
        // Some zones once had offsets of odd seconds: there the quarters of the counters are not the zone's.
        ragged.append(interval)
        continue
      }
      let (wholeStart, wholeEnd) = (first * QuarterHour.microseconds, end * QuarterHour.microseconds)
      ragged.append(OffsetSpan(start: interval.start, end: wholeStart, offsetInMicroseconds: offset))
      ragged.append(OffsetSpan(start: wholeEnd, end: interval.end, offsetInMicroseconds: offset))
      runs.append(Run(quarters: first..<end, offsetInQuarters: offset / QuarterHour.microseconds))
    }
    raggedIntervals = ragged.filter { $0.start < $0.end }
  }

  /// Adds the counts of a block of days; blocks must come in order.
  mutating func add(_ fields: borrowing BlockCountsFields, of block: Int32) {
    let (first, end) = (CounterBlock.firstQuarter(of: block), CounterBlock.firstQuarter(of: block + 1))
    while position < runs.count, runs[position].quarters.lowerBound < end {
      let part = runs[position].quarters.clamped(to: first..<end)
      sums.add(fields, Int(part.lowerBound - first)..<Int(part.upperBound - first))
      guard runs[position].quarters.upperBound <= end else { return }
      moveSums()
      position += 1
    }
  }

  /// Adds an event that lies in a ragged interval.
  mutating func addEvent(atLocal microseconds: Int64) {
    localCounts[QuarterHour.position(of: QuarterHour.number(containing: microseconds)).quarter] += 1
  }

  /// The counts of the 24 hours.
  mutating func finish() -> [Int] {
    if position < runs.count { moveSums() }
    return (0..<24).map { hour in
      let first = hour * QuarterHour.countPerHour
      return localCounts[first..<(first + QuarterHour.countPerHour)].reduce(0, +)
    }
  }

  /// Moves the sums to local quarters.
  private mutating func moveSums() {
    let offset = runs[position].offsetInQuarters
    for (quarter, count) in sums.take().enumerated() {
      localCounts[QuarterHour.position(of: Int64(quarter) + offset).quarter] += count
    }
  }
}
