public import Foundation
import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// Returns the number of tasks completed in an interval, exact to the microsecond.
  ///
  /// - Parameters:
  ///   - interval: The interval, whose end is excluded; `nil` for all time.
  ///   - listID: The list in which the tasks were completed; `nil` for all lists.
  /// - Returns: The number of completions, including those of deleted tasks.
  /// - Throws: Errors of the storage.
  /// - Complexity: The number of days in the interval, and of completions in the quarter hours that its ends cut.
  @_specialize(where Base == ReadTransaction)
  public func completionCount(in interval: Range<Timestamp>? = nil, list listID: UUID? = nil) throws -> Int {
    let scope = listID.map { CounterScope.list($0) } ?? .all
    guard let interval else { return try total(.completed, scope) }
    let (start, end) = (interval.lowerBound.microsecondsSince1970, interval.upperBound.microsecondsSince1970)
    return try count(.completed, scope, from: start, to: end)
  }

  /// Returns the number of tasks completed on a local day.
  ///
  /// - Complexity: A few small reads, regardless of the size of the store and its history.
  @_specialize(where Base == ReadTransaction)
  public func completionCount(on day: CalendarDay, list listID: UUID? = nil) throws -> Int {
    var options = StatisticsOptions()
    options.listID = listID
    options.from = day
    options.to = day
    return try heatMap(options).reduce(0) { $0 + $1.completed }
  }

  /// Returns completions, creations and open tasks over time, by day, week, month or year.
  ///
  /// - Throws: The errors of `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func series(_ options: StatisticsOptions) throws -> Series {
    try series(statisticsContext(options))
  }

  /// Returns the completions of each local day that the options name, or of the last 30 days.
  ///
  /// - Returns: A count for each day, including zeros; a day that the time zone skipped is left out.
  /// - Throws: The errors of `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func heatMap(_ options: StatisticsOptions) throws -> [DayCount] {
    let context = try statisticsContext(options)
    return try dailyCounts(context.series, context.seriesDays, context).existing.map { day, count in
      DayCount(day: CalendarDay(clamping: Int64(day)), completed: count)
    }
  }

  /// Returns the consecutive days with a completion, over the whole history up to today.
  ///
  /// - Throws: The errors of `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func streak(_ options: StatisticsOptions = StatisticsOptions()) throws -> Streak {
    let context = try statisticsContext(options, needsHistory: true)
    return Streak(try dailyCompletions(context).0, today: context.periods.today)
  }

  /// Returns the time from creation to completion, for completions on the days that the options name, or for all.
  ///
  /// - Throws: The errors of `statistics(_:)`.
  @_specialize(where Base == ReadTransaction)
  public func cycleTime(_ options: StatisticsOptions = StatisticsOptions()) throws -> CycleTime {
    try cycleTime(statisticsContext(options))
  }
}

/// The number of tasks completed on a day.
public struct DayCount: Hashable, Sendable {
  /// The local day.
  public let day: CalendarDay
  /// The number of completions.
  public let completed: Int
}

extension TaskStore {
  /// Returns all statistics, as of an instant and in a calendar that the caller chooses.
  ///
  /// - Parameters:
  ///   - instant: The instant that counts as now; `nil` for the store's clock.
  ///   - calendar: The calendar with its time zone and first weekday; `nil` for the store's.
  ///   - options: The selection.
  /// - Returns: The statistics of one snapshot.
  /// - Throws: The errors of `StoreTransaction.statistics(_:)`.
  public func statistics(
    asOf instant: Timestamp? = nil,
    calendar: Calendar? = nil,
    _ options: StatisticsOptions = StatisticsOptions()
  ) throws -> Statistics {
    try connection.use { store in
      let transaction = StoreReadTransaction(
        base: try store.environment.beginRead(), tables: store.tables, now: instant ?? configuration.now(),
        calendar: calendar ?? configuration.calendar, dayStartInMinutes: configuration.dayStart, ids: configuration.ids)
      return try transaction.statistics(options)
    }
  }
}

// Counts of events in intervals. Whole days and quarter hours come from the counters; the parts of quarter
// hours at the ends come from the ledger and the tasks themselves.

extension StoreTransaction where Base: ~Copyable {

  /// The number of events from one instant up to, but not including, another.
  func count(_ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64) throws -> Int {
    guard start < end else { return 0 }
    var count = 0
    try forEachBlock(series, scope, CounterBlock.numbers(from: start, through: end)) { block, fields in
      var events = BlockEvents(of: block)
      let earlier = try events.count(before: start, fields) { try countEvents(series, scope, from: $0, to: $1) }
      count += try events.count(before: end, fields) { try countEvents(series, scope, from: $0, to: $1) } - earlier
    }
    return count
  }

  /// The number of events before each of some ascending instants, counted from the start of the first instant's block.
  ///
  /// Scans the blocks from the first to the last instant once; `visit` is called with the counts of each block
  /// on the way.
  func cumulativeCounts(
    _ series: CounterSeries, _ scope: CounterScope, at instants: [Int64],
    _ visit: (Int32, borrowing BlockCountsFields) -> Void = { _, _ in }
  ) throws -> [Int] {
    var counter = CumulativeCounter(instants: instants)
    guard let first = instants.first, let last = instants.last else { return [] }
    try forEachBlock(series, scope, CounterBlock.numbers(from: first, through: last)) { block, fields in
      visit(block, fields)
      try counter.add(fields, of: block) { start, end in
        try countEvents(series, scope, from: start, to: end)
      }
    }
    return counter.finish()
  }

  /// Calls `body` with the counts of each block that has events, in order.
  func forEachBlock(
    _ series: CounterSeries, _ scope: CounterScope, _ blocks: ClosedRange<Int32>,
    _ body: (Int32, borrowing BlockCountsFields) throws -> Void
  ) throws {
    let first = BlockCountsKey(series, scope, block: blocks.lowerBound)
    var cursor = try tables.counts.cursor(in: base)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: first)
    while isAtEntry, first.isOfSameColumn(as: cursor.keyBytes) {
      let block = BlockCountsKey.block(cursor.keyBytes)
      guard block <= blocks.upperBound else { return }
      try body(block, BlockCountsFields(cursor.valueBytes))
      // The count of a day reads one or two blocks, so one step too many would be a large part of its cost.
      guard block < blocks.upperBound else { return }
      isAtEntry = try cursor.next()
    }
  }

  /// The range of UTC days whose blocks have events; `nil` if there are none.
  func dayRange(_ series: CounterSeries, _ scope: CounterScope) throws -> ClosedRange<Int32>? {
    let lowest = BlockCountsKey(series, scope, block: .min)
    let highest = BlockCountsKey(series, scope, block: .max)
    var cursor = try tables.counts.cursor(in: base)
    guard try cursor.move(toFirstAtOrAfter: lowest) else { return nil }
    let first = try cursor.key()
    guard lowest.isOfSameColumn(as: cursor.keyBytes), try cursor.move(toLastBefore: highest) else { return nil }
    return CounterBlock.days(of: first.block...(try cursor.key()).block)
  }

  /// Counts events one by one, within a quarter hour.
  func countEvents(_ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64) throws -> Int {
    var count = 0
    try forEachEvent(series, scope, from: start, to: end) { _ in count += 1 }
    return count
  }

  /// Calls `body` with the instant of each event in an interval.
  func forEachEvent(
    _ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64, _ body: (Int64) -> Void
  ) throws {
    switch series {
    case .completed, .completedAsRecorded:
      try forEachCompletion(series, scope, from: start, to: end) { instant, _, _ in body(instant) }
    case .completedBeforeCreation:
      try forEachCompletion(.completed, scope, from: start, to: end) { instant, _, record in
        if instant < record.createdAtMicroseconds { body(instant) }
      }
    case .created: try forEachCreation(scope, from: start, to: end) { created, _ in body(created) }
    case .createdAfterCompletion:
      try forEachCreation(scope, from: start, to: end) { created, completed in
        if let completed, completed < created { body(created) }
      }
    case .openDue, .openDueDay, .cancelled:
      let kinds: [DueKey.Kind] =
        series == .openDue ? [.open] : series == .openDueDay ? [.openDay, .openFloating] : [.cancelled]
      for kind in kinds {
        let (first, last) = (DueKey(kind, .start(at: start)), DueKey(kind, .start(at: end)))
        try forEachKey(of: tables.byDue, from: first, to: last) { key in
          if try scope == .all || scope.contains(indexedTask(key.id).classification) { body(key.due.microseconds) }
        }
      }
    }
  }

  /// Calls `body` with each completion in an interval, including those of deleted tasks: first its instant, or
  /// its recorded local time for a series by local time, and then its key and record.
  func forEachCompletion(
    _ series: CounterSeries, _ scope: CounterScope, passing predicate: RecordPredicate? = nil,
    from start: Int64, to end: Int64, ofDeletedTasks selection: [Bool] = [false, true], reversed: Bool = false,
    _ body: (Int64, InstantKey, CompletionRecord) throws -> Void
  ) throws {
    // A recorded offset is always less than a day.
    let isAsRecorded = series == .completedAsRecorded
    let margin = isAsRecorded ? QuarterHour.microsecondsPerDay : 0
    var tester = try tester(of: predicate)
    for isTaskDeleted in selection {
      try tables.completions.forEach(
        from: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: start - margin)),
        upTo: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: end + margin)),
        reversed: reversed, in: base
      ) { key, value in
        let record = try CompletionRecord(decoding: value)
        let key = try CompletionKey(decoding: key)
        let completed = key.completed
        let offset = isAsRecorded ? Int64(record.utcOffsetInMinutes) * 60_000_000 : 0
        let instant = completed.microseconds + offset
        guard start <= instant, instant < end, scope.contains(record.classification) else { return true }
        if try passes(&tester, key, value) { try body(instant, completed, record) }
        return true
      }
    }
  }

  /// Calls `body` with the instant of each creation in an interval, and the instant of the completion if there is one.
  private func forEachCreation(
    _ scope: CounterScope, from start: Int64, to end: Int64, _ body: (Int64, Int64?) -> Void
  ) throws {
    try forEachKey(of: tables.byCreated, from: .start(at: start), to: .start(at: end)) { key in
      let task = try indexedTask(key.id)
      var classification = task.classification
      if let completion = CompletionKey(of: task),
        let record = try tables.completions.value(forKey: completion, in: base)
      {
        classification = record.classification
      }
      if scope.contains(classification) {
        body(key.microseconds, task.completedAt?.instant.microsecondsSince1970)
      }
    }
    let first = DeletedCreationKey(createdAtMicroseconds: start, completed: .start(at: .min))
    let last = DeletedCreationKey(createdAtMicroseconds: end, completed: .start(at: .min))
    try forEachKey(of: tables.deletedByCreated, from: first, to: last) { key in
      let completion = CompletionKey(isTaskDeleted: true, completed: key.completed)
      let record = try tables.completions.value(forKey: completion, in: base)
      if let record, scope.contains(record.classification) {
        body(key.createdAtMicroseconds, key.completed.microseconds)
      }
    }
  }
}

/// Counts the events of one block before each of some ascending instants.
private struct BlockEvents {
  private let start: Int64
  /// The end of the block in microseconds since 1970.
  let end: Int64
  private var progress = BlockCountsFields.Progress()
  private var sum = 0

  init(of block: Int32) {
    start = CounterBlock.firstQuarter(of: block) * QuarterHour.microseconds
    end = CounterBlock.firstQuarter(of: block + 1) * QuarterHour.microseconds
  }

  /// The number of the block's events before an instant; `countEvents` counts those within a quarter hour.
  mutating func count(
    before instant: Int64, _ fields: borrowing BlockCountsFields, countEvents: (Int64, Int64) throws -> Int
  ) throws -> Int {
    guard start < instant else { return 0 }
    guard instant < end else { return fields.total }
    let quarter = Int((instant - start) / QuarterHour.microseconds)
    let quarterStart = start + Int64(quarter) * QuarterHour.microseconds
    sum += fields.sum(upTo: quarter, from: &progress)
    return sum + (quarterStart < instant ? try countEvents(quarterStart, instant) : 0)
  }
}

/// Adds up counts block by block, and records the sum at each of some instants.
private struct CumulativeCounter {
  private let instants: [Int64]
  private var counts: [Int] = []
  private var sum = 0

  init(instants: [Int64]) {
    assert(zip(instants, instants.dropFirst()).allSatisfy(<=), "instants must ascend")
    self.instants = instants
    counts.reserveCapacity(instants.count)
  }

  /// Records the sum at the instants before and within a block, and then adds the block.
  mutating func add(
    _ fields: borrowing BlockCountsFields, of block: Int32, countEvents: (Int64, Int64) throws -> Int
  ) throws {
    var events = BlockEvents(of: block)
    while counts.count < instants.count, instants[counts.count] < events.end {
      counts.append(sum + (try events.count(before: instants[counts.count], fields, countEvents: countEvents)))
    }
    sum += fields.total
  }

  /// Returns the sums at all instants.
  mutating func finish() -> [Int] {
    while counts.count < instants.count { counts.append(sum) }
    return counts
  }
}

/// The number of events on each day in a range of local days.
struct DailyCounts {
  let days: ClosedRange<Int32>
  private var counts: [Int]
  /// The days that the zone skipped; such a day exists anyway if an event was recorded on it in another zone.
  private let skippedDays: Set<Int32>

  init(_ days: ClosedRange<Int32>, localDays: LocalDays, cumulative: [Int], skippedDays: Set<Int32>) {
    assert(cumulative.count == localDays.boundaries.count, "a sum for each boundary")
    self.days = days
    self.skippedDays = skippedDays
    counts = Array(repeating: 0, count: days.count)
    for (index, piece) in localDays.pieces.enumerated() where piece.dayNumber != LocalDays.noDay {
      counts[Int(piece.dayNumber - days.lowerBound)] += cumulative[index + 1] - cumulative[index]
    }
  }

  /// The sum over some days; days outside the range count as zero.
  func sum(_ days: ClosedRange<Int32>) -> Int {
    guard days.overlaps(self.days) else { return 0 }
    let range = days.clamped(to: self.days)
    let first = Int(range.lowerBound - self.days.lowerBound)
    return counts[first..<(first + range.count)].reduce(0, +)
  }

  /// Whether at least one of some days exists.
  func contains(anyOf days: ClosedRange<Int32>) -> Bool {
    days.contains { !skippedDays.contains($0) } || sum(days) > 0
  }

  /// The days that exist with their counts, in order.
  var existing: some Sequence<(Int32, Int)> {
    zip(days, counts).lazy.filter { day, count in count > 0 || !skippedDays.contains(day) }
  }
}

/// Local days divided into pieces, each of which lies within one local day and has one UTC offset.
///
/// A local day consists of all instants with its local date. Usually that is one piece. A day has several
/// pieces if the clock goes back across midnight, and none if the zone skips it.
struct LocalDays {
  /// A piece of a day, which ends where the next piece starts; in microseconds since 1970.
  struct Piece {
    let start: Int64
    let dayNumber: Int32
    let offsetInMicroseconds: Int64
  }

  /// Marks time between two pieces that belongs to none of the days in the range.
  static let noDay = Int32.min

  /// The pieces in ascending order.
  let pieces: [Piece]
  /// The end of the last piece.
  let end: Int64

  /// Divides a range of local days, each of which begins some time after local midnight.
  ///
  /// The offsets must extend at least two days beyond the range on both sides.
  init(_ days: ClosedRange<Int32>, offsets: ZoneOffsets, dayStartInMicroseconds dayStart: Int64) {
    let day = QuarterHour.microsecondsPerDay
    var pieces: [Piece] = []
    var end = Int64.max
    pieces.reserveCapacity(days.count + 2 * offsets.spans.count)
    for span in offsets.spans {
      let shift = span.offsetInMicroseconds - dayStart
      let first = max(floorDivide(span.start + shift, by: day), Int64(days.lowerBound))
      let last = min(floorDivide(span.end - 1 + shift, by: day), Int64(days.upperBound))
      guard first <= last else {
        // Skipped days end where the clock jumps over them.
        if pieces.isEmpty, first > days.upperBound { end = min(end, span.start) }
        continue
      }
      for number in first...last {
        let start = max(span.start, number * day - shift)
        if start != end, !pieces.isEmpty {
          pieces.append(Piece(start: end, dayNumber: Self.noDay, offsetInMicroseconds: 0))
        }
        pieces.append(Piece(start: start, dayNumber: Int32(number), offsetInMicroseconds: span.offsetInMicroseconds))
        end = min(span.end, (number + 1) * day - shift)
      }
    }
    self.pieces = pieces
    self.end = end
  }

  /// The pieces within the range of days, with adjacent pieces of the same offset merged.
  var intervals: [OffsetSpan] {
    var intervals: [OffsetSpan] = []
    for (index, piece) in pieces.enumerated() where piece.dayNumber != Self.noDay {
      let (offset, end) = (piece.offsetInMicroseconds, end(ofPiece: index))
      var start = piece.start
      if let last = intervals.last, last.end == start, last.offsetInMicroseconds == offset {
        start = last.start
        intervals.removeLast()
      }
      intervals.append(OffsetSpan(start: start, end: end, offsetInMicroseconds: offset))
    }
    return intervals
  }

  /// The start of the first piece; the end if there are no pieces.
  var start: Int64 {
    pieces.first?.start ?? end
  }

  /// The start of each piece, and the end of the last one.
  var boundaries: [Int64] {
    pieces.map(\.start) + [end]
  }

  /// The end of a piece.
  func end(ofPiece index: Int) -> Int64 {
    index + 1 < pieces.count ? pieces[index + 1].start : end
  }

  /// The last end of each of some ascending ranges of days; a skipped range ends where the one before it does.
  func ends(of ranges: [ClosedRange<Int32>]) -> [Int64] {
    var lastEnds: [Int32: Int64] = [:]
    for (index, piece) in pieces.enumerated() { lastEnds[piece.dayNumber] = end(ofPiece: index) }
    // If the first range was skipped, it ends where the next range begins.
    var end = start
    return ranges.map { range in
      end = range.reversed().lazy.compactMap { lastEnds[$0] }.first ?? end
      return end
    }
  }
}

/// A span of time with one UTC offset; in microseconds since 1970.
struct OffsetSpan {
  let start: Int64
  let end: Int64
  let offsetInMicroseconds: Int64
}

/// The UTC offsets of a time zone over some years, as spans in which the offset stays the same.
///
/// One span may cover thousands of days.
struct ZoneOffsets {
  /// The spans in ascending order, without gaps.
  let spans: [OffsetSpan]

  /// Creates the spans of a time zone for an interval that starts and ends at whole seconds.
  ///
  /// - Complexity: One step for each change of the offset.
  init(of timeZone: TimeZone, in time: Range<Int64>) {
    let rules = TimeZoneRules(of: timeZone)
    var spans: [OffsetSpan] = []
    var spanStart = time.lowerBound
    while spanStart < time.upperBound {
      let second = floorDivide(spanStart, by: 1_000_000)
      let offset = rules.offset(atSecond: second) * 1_000_000
      let spanEnd = rules.change(afterSecond: second).map { min($0 * 1_000_000, time.upperBound) } ?? time.upperBound
      spans.append(OffsetSpan(start: spanStart, end: spanEnd, offsetInMicroseconds: offset))
      spanStart = spanEnd
    }
    assert(zip(spans, spans.dropFirst()).allSatisfy { $0.end == $1.start }, "a gap between two spans")
    self.spans = spans
  }

  /// Creates a single span with an offset of zero, for times that are already local.
  init(localIn time: Range<Int64>) {
    spans = [OffsetSpan(start: time.lowerBound, end: time.upperBound, offsetInMicroseconds: 0)]
  }

  /// The days that the zone skips, as when it crosses the date line.
  func skippedDays(dayStartInMicroseconds dayStart: Int64) -> Set<Int32> {
    let day = QuarterHour.microsecondsPerDay
    var skipped: Set<Int32> = []
    for (before, after) in zip(spans, spans.dropFirst()) {
      let last = floorDivide(before.end - 1 + before.offsetInMicroseconds - dayStart, by: day)
      let next = floorDivide(after.start + after.offsetInMicroseconds - dayStart, by: day)
      for number in last..<max(last, next - 1) { skipped.insert(Int32(clamping: number + 1)) }
    }
    return skipped
  }
}
