import Foundation
import LMDB
import TallyEngine

/// Adds up the events in each hour of the local day, block by block.
///
/// As long as the UTC offset stays the same, the quarter hours of all days are added up in UTC; only the sums
/// are then shifted by the offset.
struct HourProfile {
  /// Parts of quarter hours, which counters cannot resolve, so that their events must be counted one by one.
  let raggedIntervals: [OffsetSpan]
  /// Runs of whole quarter hours with one offset, in ascending order.
  private var runs: [Run] = []
  private var position = 0
  private var sums = QuarterSums()
  /// The counts by quarter hour of the local day.
  private var localCounts = Array(repeating: 0, count: QuarterHour.countPerDay)

  private struct Run {
    let quarters: Range<Int64>
    let offsetInQuarters: Int64
  }

  /// - Parameter intervals: The intervals to count, in ascending order.
  init(_ intervals: [OffsetSpan]) {
    var ragged: [OffsetSpan] = []
    for interval in intervals {
      let first = QuarterHour.number(atOrAfter: interval.start)
      let end = QuarterHour.number(containing: interval.end)
      let offset = interval.offsetInMicroseconds
      guard offset % QuarterHour.microseconds == 0, first < end else {
        // Some zones had offsets with odd seconds, so that their quarter hours are not those of the counters.
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

  /// Adds the counts of a block of days; blocks must be added in ascending order.
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

  /// Adds an event in a ragged interval.
  mutating func addEvent(atLocal microseconds: Int64) {
    localCounts[QuarterHour.position(of: QuarterHour.number(containing: microseconds)).quarter] += 1
  }

  /// Returns the counts of the 24 hours.
  mutating func finish() -> [Int] {
    if position < runs.count { moveSums() }
    return (0..<24).map { hour in
      let first = hour * QuarterHour.countPerHour
      return localCounts[first..<(first + QuarterHour.countPerHour)].reduce(0, +)
    }
  }

  /// Shifts the sums to local quarter hours.
  private mutating func moveSums() {
    let offset = runs[position].offsetInQuarters
    for (quarter, count) in sums.take().enumerated() {
      localCounts[QuarterHour.position(of: Int64(quarter) + offset).quarter] += count
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Completions by hour of the local day; if no days are named, from the profile of the whole history.
  func byHour(_ context: StatisticsContext, _ profile: consuming HourProfile) throws -> [Int] {
    if let events = context.events { return byHour(context, events) }
    if let days = context.namedDays {
      let localDays = context.completionDays(days)
      profile = HourProfile(localDays.intervals)
      let blocks = CounterBlock.numbers(from: localDays.start, through: localDays.end)
      try forEachBlock(context.series, context.scope, blocks) { profile.add($1, of: $0) }
    }
    for interval in profile.raggedIntervals {
      try forEachEvent(context.series, context.scope, from: interval.start, to: interval.end) {
        profile.addEvent(atLocal: $0 + interval.offsetInMicroseconds)
      }
    }
    return profile.finish()
  }

  private func byHour(_ context: StatisticsContext, _ events: SelectedEvents) -> [Int] {
    var profile = HourProfile([])
    for interval in context.completionDays(context.namedDays ?? context.completedDays).intervals {
      for instant in events.instants(context.series, from: interval.start, to: interval.end) {
        profile.addEvent(atLocal: instant + interval.offsetInMicroseconds)
      }
    }
    return profile.finish()
  }

  /// The time from creation to completion.
  func cycleTime(_ context: StatisticsContext) throws -> CycleTime {
    if let events = context.events { return CycleTime(events.cycleTimes) }
    guard context.namedDays != nil else { return CycleTime(ascending: try cycleTimeBuckets(context.scope)) }
    var buckets: [UInt16: Int] = [:]
    for time in context.namedTimes {
      try forEachCompletion(context.series, context.scope, from: time.lowerBound, to: time.upperBound) {
        _, key, record in
        let duration = floorDivide(key.microseconds - record.createdAtMicroseconds, by: 1_000_000)
        buckets[CycleTimeBucket.number(ofSeconds: duration), default: 0] += 1
      }
    }
    return CycleTime(buckets)
  }

  private func cycleTimeBuckets(_ scope: CounterScope) throws -> [(bucket: UInt16, count: Int)] {
    var buckets: [(bucket: UInt16, count: Int)] = []
    let first = BlockCountsKey(seriesRawValue: 0, scope, block: 0)
    let end = BlockCountsKey(seriesRawValue: 0, scope, block: .max)
    try tables.counts.forEach(from: first, upTo: end, in: base) { key, value in
      let firstBucket = Int(BlockCountsKey.block(key)) * CounterBlock.slotCount
      try BlockCountsFields(value).forEachBusySlot(in: 0..<CounterBlock.slotCount) { slot, count in
        buckets.append((bucket: UInt16(clamping: firstBucket + slot), count: count))
      }
      return true
    }
    return buckets
  }
}

extension CycleTime {
  fileprivate init(_ buckets: [UInt16: Int]) {
    self.init(ascending: buckets.sorted { $0.key < $1.key }.map { (bucket: $0.key, count: $0.value) })
  }

  /// Computes the median and the percentile of a histogram; the median of an even number is the mean of the middle two.
  fileprivate init(ascending buckets: [(bucket: UInt16, count: Int)]) {
    let count = buckets.reduce(0) { $0 + $1.count }
    func value(at rank: Int) -> Int64? {
      var seen = 0
      for (bucket, size) in buckets {
        seen += size
        if seen >= rank { return CycleTimeBucket.middleInSeconds(of: bucket) }
      }
      return nil
    }
    let middle = [value(at: (count + 1) / 2), value(at: count / 2 + 1)].compactMap { $0 }
    self.init(
      count: count,
      medianInSeconds: count == 0 ? nil : middle.reduce(0, +) / Int64(middle.count),
      percentile90InSeconds: count == 0 ? nil : value(at: (9 * count + 9) / 10)
    )
  }
}
