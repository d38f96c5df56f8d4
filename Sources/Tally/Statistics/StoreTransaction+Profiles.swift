import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Completions by hour of the local day; where no days are named, from the profile of the whole history.
  func byHour(_ frame: StatisticsFrame, _ profile: consuming HourProfile) throws -> [Int] {
    if let days = frame.namedDays {
      let localDays = frame.completionDays(days)
      profile = HourProfile(localDays.intervals)
      let blocks = CounterBlock.numbers(from: localDays.start, through: localDays.end)
      try forEachBlock(frame.series, frame.scope, blocks) { profile.add($1, of: $0) }
    }
    for interval in profile.raggedIntervals {
      try forEachEvent(frame.series, frame.scope, from: interval.start, to: interval.end) {
        profile.addEvent(atLocal: $0 + interval.offsetInMicroseconds)
      }
    }
    return profile.finish()
  }

  /// Completions by their list at the time.
  func byList(_ frame: StatisticsFrame) throws -> [ListCount] {
    var scopes: [CounterScope] = []
    try tables.totals.forEach(from: TotalKey(.completed, .noList), upTo: TotalKey(.created, .all), in: base) { key, _ in
      scopes.append(try TotalKey(decoding: key).scope)
      return true
    }
    if frame.scope != .all { scopes.removeAll { $0 != frame.scope } }
    let lists = try lists()
    var counts: [UUID?: Int] = [:]
    for scope in scopes {
      let count = try countInNamedDays(frame, scope)
      guard count > 0 else { continue }
      if case .list(let id) = scope { counts[id] = count } else { counts[nil] = count }
    }
    let known = Set(lists.map(\.id))
    let deleted = counts.keys.compactMap { $0 }.filter { !known.contains($0) }.sorted { $0.precedes($1) }
    let order: [(UUID?, String?)] = [(nil, nil)] + lists.map { ($0.id, $0.name) } + deleted.map { ($0, nil) }
    return order.compactMap { id, name in
      counts[id].map { ListCount(listID: id, name: name, completed: $0) }
    }
  }

  private func countInNamedDays(_ frame: StatisticsFrame, _ scope: CounterScope) throws -> Int {
    guard let days = frame.namedDays else { return try total(.completed, scope) }
    return try frame.completionDays(days).intervals.reduce(0) { sum, interval in
      sum + (try count(frame.series, scope, from: interval.start, to: interval.end))
    }
  }

  /// The time from creation to completion.
  func cycleTime(_ frame: StatisticsFrame) throws -> CycleTime {
    guard let days = frame.namedDays else { return CycleTime(ascending: try cycleTimeBuckets(frame.scope)) }
    var buckets: [UInt16: Int] = [:]
    for interval in frame.completionDays(days).intervals {
      try forEachCompletion(frame.series, frame.scope, from: interval.start, to: interval.end) { _, key, record in
        let duration = floorDivide(key.microseconds - record.createdAtMicroseconds, by: 1_000_000)
        buckets[CycleTimeBucket.number(ofSeconds: duration), default: 0] += 1
      }
    }
    return CycleTime(ascending: buckets.sorted { $0.key < $1.key }.map { (bucket: $0.key, count: $0.value) })
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
  /// Computes median and percentile of a histogram; the median of an even number is the mean of the two in the middle.
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
