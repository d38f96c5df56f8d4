import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Completions by hour of the local day.
  func byHour(_ frame: StatisticsFrame) throws -> [Int] {
    guard let days = frame.namedDays ?? frame.historyDays else { return Array(repeating: 0, count: 24) }
    var quarters = Array(repeating: 0, count: QuarterHour.countPerDay)
    for interval in frame.completionDays(days).intervals {
      try addQuarters(frame, interval, to: &quarters)
    }
    return (0..<24).map { hour in quarters[(4 * hour)..<(4 * hour + 4)].reduce(0, +) }
  }

  /// Adds the completions of a span with one offset to the quarters of the local day.
  private func addQuarters(
    _ frame: StatisticsFrame,
    _ interval: LocalDays.Interval,
    to counts: inout [Int]
  ) throws {
    let first = QuarterHour.number(atOrAfter: interval.start)
    let last = QuarterHour.number(containing: interval.end)
    guard interval.offsetInMicroseconds % QuarterHour.microseconds == 0, first < last else {
      // Some zones had offsets of odd seconds once: there the quarters of the counters are not the zone's.
      return try addEvents(frame, from: interval.start, to: interval.end, interval, to: &counts)
    }
    try addEvents(frame, from: interval.start, to: first * QuarterHour.microseconds, interval, to: &counts)
    try addEvents(frame, from: last * QuarterHour.microseconds, to: interval.end, interval, to: &counts)
    let shift = Int(interval.offsetInMicroseconds / QuarterHour.microseconds)
    let (start, end) = (QuarterHour.position(of: first), QuarterHour.position(of: last))
    try forEachDay(frame.series, frame.scope, start.dayNumber...end.dayNumber) { day, fields in
      let lower = day == start.dayNumber ? start.quarter : 0
      let upper = day == end.dayNumber ? end.quarter : QuarterHour.countPerDay
      // The quarters of one UTC day fall on at most two local days; each turn moves a part of them by whole days.
      for turn in [-1, 0, 1] {
        let turned = shift + turn * QuarterHour.countPerDay
        let (first, end) = (max(lower, -turned), min(upper, QuarterHour.countPerDay - turned))
        if first < end { fields.add(quarters: first..<end, to: &counts, shiftedBy: turned) }
      }
    }
  }

  private func addEvents(
    _ frame: StatisticsFrame,
    from start: Int64,
    to end: Int64,
    _ interval: LocalDays.Interval,
    to counts: inout [Int]
  ) throws {
    guard start < end else { return }
    var found: [Int64] = []
    try forEachEvent(frame.series, frame.scope, from: start, to: end) { found.append($0) }
    for instant in found {
      let local = instant + interval.offsetInMicroseconds
      counts[QuarterHour.position(of: QuarterHour.number(containing: local)).quarter] += 1
    }
  }

  /// Completions by the list they were made in.
  func byList(_ frame: StatisticsFrame) throws -> [ListCount] {
    var scopes: [CounterScope] = []
    try tables.totals.forEach(
      from: TotalKey(.completed, .noList),
      upTo: TotalKey(.created, .all),
      in: base
    ) { key, _ in
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
    var buckets: [UInt16: Int] = [:]
    if let days = frame.namedDays {
      for interval in frame.completionDays(days).intervals {
        try forEachCompletion(frame, in: interval) { key, record in
          let duration = floorDivide(key.microseconds - record.createdAtMicroseconds, by: 1_000_000)
          buckets[CycleTimeBucket.number(ofSeconds: duration), default: 0] += 1
        }
      }
    } else {
      let first = TotalKey(cycleTimeBucket: 0, frame.scope)
      try tables.totals.forEach(from: first, in: base) { key, value in
        let key = try TotalKey(decoding: key)
        guard key.seriesRawValue == 0, key.scope == frame.scope else { return false }
        buckets[key.bucket] = Int(try UInt64(decoding: value))
        return true
      }
    }
    return CycleTime(buckets)
  }

  private func forEachCompletion(
    _ frame: StatisticsFrame,
    in interval: LocalDays.Interval,
    _ body: (InstantKey, CompletionRecord) -> Void
  ) throws {
    guard frame.series == .completedAsRecorded else {
      return try forEachCompletion(frame.scope, from: interval.start, to: interval.end, body)
    }
    let day = QuarterHour.microsecondsPerDay
    try forEachCompletion(frame.scope, from: interval.start - day, to: interval.end + day) { key, record in
      let local = key.microseconds + Int64(record.utcOffsetInMinutes) * 60_000_000
      if interval.start <= local, local < interval.end { body(key, record) }
    }
  }
}

extension CycleTime {
  /// Reads median and percentile off a histogram; the median of an even number is the mean of the two in the middle.
  fileprivate init(_ buckets: [UInt16: Int]) {
    let ascending = buckets.sorted { $0.key < $1.key }
    let count = ascending.reduce(0) { $0 + $1.value }
    func value(at rank: Int) -> Int64? {
      var seen = 0
      for (bucket, size) in ascending {
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
