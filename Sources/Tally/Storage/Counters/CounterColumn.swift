import LMDB

/// The events of one series and scope, in order, to be added to the counters or taken from them.
struct CounterColumn {
  /// The series; zero for times from creation to completion.
  private let seriesRawValue: UInt8
  private let scope: CounterScope
  /// Quarters, or buckets of durations, shifted left; the lowest bit says that the event is taken away.
  private let events: [Int32]

  /// How much the quarters of one day change.
  struct DayChanges {
    fileprivate let firstQuarter: Int64
    fileprivate let events: ArraySlice<Int32>
  }

  init(seriesRawValue: UInt8, scope: CounterScope, sorting events: [Int32]) {
    self.seriesRawValue = seriesRawValue
    self.scope = scope
    self.events = events.sorted()
  }

  /// Hands the events of each day to a closure; none for cycle times, which have totals only.
  func forEachDay(_ body: (DayCountsKey, DayChanges) throws(LMDBError) -> Void) throws(LMDBError) {
    guard let series = CounterSeries(rawValue: seriesRawValue) else { return }
    var start = events.startIndex
    while start < events.endIndex {
      let dayNumber = QuarterHour.position(of: Int64(events[start] >> 1)).dayNumber
      let firstQuarter = Int64(dayNumber) * Int64(QuarterHour.countPerDay)
      let nextDay = firstQuarter + Int64(QuarterHour.countPerDay)
      var end = start + 1
      while end < events.endIndex, Int64(events[end] >> 1) < nextDay { end += 1 }
      let day = DayChanges(firstQuarter: firstQuarter, events: events[start..<end])
      if !day.isNothing { try body(DayCountsKey(series, scope, dayNumber: dayNumber), day) }
      start = end
    }
  }

  /// Hands each total that changes to a closure.
  func forEachTotal<Failure: Error>(_ body: (TotalKey, Int64) throws(Failure) -> Void) throws(Failure) {
    if let series = CounterSeries(rawValue: seriesRawValue) {
      let delta = Self.sum(events[...])
      if delta != 0 { try body(TotalKey(series, scope), delta) }
      return
    }
    var start = events.startIndex
    while start < events.endIndex {
      var end = start + 1
      while end < events.endIndex, events[end] >> 1 == events[start] >> 1 { end += 1 }
      let delta = Self.sum(events[start..<end])
      if delta != 0 { try body(TotalKey(cycleTimeBucket: UInt16(events[start] >> 1), scope), delta) }
      start = end
    }
  }

  private static func sum(_ events: ArraySlice<Int32>) -> Int64 {
    events.reduce(0) { $0 + ($1 & 1 == 0 ? 1 : -1) }
  }
}

extension CounterColumn.DayChanges {
  /// Whether what is added is taken away again: most changes of a task leave most counters alone.
  fileprivate var isNothing: Bool {
    var start = events.startIndex
    while start < events.endIndex {
      let removed = events[start] | 1
      var delta = 0
      while start < events.endIndex, events[start] | 1 == removed {
        delta += events[start] == removed ? -1 : 1
        start += 1
      }
      if delta != 0 { return false }
    }
    return true
  }
}

extension DayCounts {
  /// Adds the events of a day, and takes away what is to be taken away.
  mutating func apply(_ day: CounterColumn.DayChanges) throws(LMDBError) {
    // What comes stands before what goes in each quarter, so no count is negative on the way.
    for event in day.events {
      guard add(event & 1 == 0 ? 1 : -1, toQuarter: Int(Int64(event >> 1) - day.firstQuarter)) else {
        throw .undecodable("a counter disagrees with the records")
      }
    }
  }
}
