/// Adds up, day by day, what happened in each hour of the local day.
///
/// While an offset stays the same the quarters of all days are added up as they are; the sums alone are then moved by
/// the offset.
struct HourProfile {
  /// What the counters cannot tell, as it is a part of a quarter hour of theirs: to be counted event by event.
  let raggedIntervals: [LocalDays.Interval]
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

  /// - Parameter intervals: the time to look at, in order.
  init(_ intervals: [LocalDays.Interval]) {
    var ragged: [LocalDays.Interval] = []
    for interval in intervals {
      let first = QuarterHour.number(atOrAfter: interval.start)
      let end = QuarterHour.number(containing: interval.end)
      let offset = interval.offsetInMicroseconds
      guard offset % QuarterHour.microseconds == 0, first < end else {
        // Some zones had offsets of odd seconds once: there the quarters of the counters are not the zone's.
        ragged.append(interval)
        continue
      }
      ragged.append(LocalDays.Interval(start: interval.start, end: first * QuarterHour.microseconds, offset))
      ragged.append(LocalDays.Interval(start: end * QuarterHour.microseconds, end: interval.end, offset))
      runs.append(Run(quarters: first..<end, offsetInQuarters: offset / QuarterHour.microseconds))
    }
    raggedIntervals = ragged.filter { $0.start < $0.end }
  }

  /// Adds the counts of a UTC day; days must come in order.
  mutating func add(_ fields: borrowing DayCountsFields, ofDay dayNumber: Int32) {
    let first = Int64(dayNumber) * Int64(QuarterHour.countPerDay)
    let day = first..<(first + Int64(QuarterHour.countPerDay))
    while position < runs.count, runs[position].quarters.upperBound <= day.lowerBound {
      moveSums()
      position += 1
    }
    guard position < runs.count else { return }
    if runs[position].quarters.contains(day.lowerBound), day.upperBound <= runs[position].quarters.upperBound {
      return sums.add(fields)
    }
    for run in runs[position...].prefix(while: { $0.quarters.lowerBound < day.upperBound }) {
      for quarter in run.quarters.clamped(to: day) {
        let index = Int(quarter - first)
        add(fields.sum(of: index..<(index + 1)), atQuarter: index, of: run)
      }
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

  /// Moves what has been summed to local quarters.
  private mutating func moveSums() {
    for (quarter, count) in sums.take().enumerated() { add(count, atQuarter: quarter, of: runs[position]) }
  }

  private mutating func add(_ count: Int, atQuarter quarter: Int, of run: Run) {
    localCounts[QuarterHour.position(of: Int64(quarter) + run.offsetInQuarters).quarter] += count
  }
}
