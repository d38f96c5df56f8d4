public import Foundation
import LMDB

/// The groups that a question about a measure concerns.
enum GroupSelection {
  case all
  case one([UInt8])
}

extension RecordQueries where Self: ~Copyable {
  // MARK: Measures without groups.

  /// The sum of a measure over a range of time, exact to the instant.
  ///
  /// - Throws: `invalidIndex` if the collection does not list the measure; what the storage throws.
  /// - Complexity: linear in the number of sixteen-day blocks of the range that have an amount.
  public func total<Record>(_ measure: Measure<Record, NoKey>, over range: Range<Date>? = nil) throws -> Int64 {
    try snapshot.total(measure, .one([]), range)
  }

  /// The sums of a measure by local periods.
  ///
  /// ```swift
  /// let weeks = try store.read { try $0.series(Workout.sessions, by: .week, over: year, in: berlin) }
  /// ```
  ///
  /// - Parameters:
  ///   - measure: a measure that the collection lists.
  ///   - period: the unit of local time.
  ///   - range: the range; the first and the last period count only as far as they are in it.
  ///   - zone: the time zone whose clocks divide the range. A measure of days ignores it.
  ///   - firstWeekday: the weekday with which weeks begin, from 1 for Monday.
  /// - Returns: a number for each period that overlaps the range, in order.
  /// - Throws: `valueOutOfRange` for a range with more than ``SeriesPoint/maximumCount`` periods; `invalidIndex` if the
  ///   collection does not list the measure; what the storage throws.
  public func series<Record>(
    _ measure: Measure<Record, NoKey>, by period: Period, over range: Range<Date>, in zone: TimeZone,
    firstWeekday: Int = 1
  ) throws -> [SeriesPoint] {
    try snapshot.series(measure, .one([]), period, range, zone, firstWeekday)
  }

  /// The sums of a measure by weekday and hour: seven rows from Monday on, each with 24 numbers.
  public func profile<Record>(
    _ measure: Measure<Record, NoKey>, over range: Range<Date>, in zone: TimeZone
  ) throws -> [[Int64]] {
    try snapshot.profile(measure, .one([]), range, zone)
  }

  /// How many days in a row a measure had an amount, up to the present of the store's clock.
  ///
  /// - Parameters:
  ///   - measure: a measure that the collection lists.
  ///   - zone: the time zone of the days.
  ///   - restDays: the weekdays, from 1 for Monday, that need no amount: they neither break a streak nor count for it.
  /// - Returns: the current streak and the longest one.
  /// - Throws: `invalidIndex` if the collection does not list the measure; what the storage throws.
  public func streak<Record>(
    _ measure: Measure<Record, NoKey>, in zone: TimeZone, restDays: Set<Int> = []
  ) throws -> Streak {
    try snapshot.streak(measure, .one([]), zone, restDays)
  }

  /// A quantile of a distribution; `nil` if there are no records.
  ///
  /// The fraction is from 0 for the least amount to 1 for the greatest; 0.5 is the median.
  ///
  /// - Throws: `valueOutOfRange` for any other fraction; `invalidIndex` if the measure is not a distribution, or the
  ///   collection does not list it; what the storage throws.
  public func quantile<Record>(_ fraction: Double, of measure: Measure<Record, NoKey>) throws -> Int64? {
    try snapshot.quantile(fraction, measure, .one([]))
  }

  /// The sum over a range, compared with the range of the same length before it.
  public func comparisonWithBefore<Record>(
    _ measure: Measure<Record, NoKey>, over range: Range<Date>
  ) throws -> Comparison {
    try snapshot.comparison(measure, .one([]), range)
  }

  /// The sum over a range, compared with the same local dates a year earlier.
  public func comparisonWithYearBefore<Record>(
    _ measure: Measure<Record, NoKey>, over range: Range<Date>, in zone: TimeZone
  ) throws -> Comparison {
    try snapshot.comparison(measure, .one([]), range, aYearBeforeIn: zone)
  }

  // MARK: Measures with groups.

  /// The sum of a group, or of all groups, over a range of time, exact to the instant.
  public func total<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, over range: Range<Date>? = nil
  ) throws -> Int64 {
    try snapshot.total(measure, group.map { .group(Key1(A.keyComponent(of: $0))) } ?? .all, range)
  }

  /// The sums of a group, or of all groups, by local periods.
  ///
  /// ```swift
  /// let weeks = try store.read { try $0.series(Workout.trained, for: "run", by: .week, over: year, in: berlin) }
  /// ```
  public func series<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, by period: Period, over range: Range<Date>,
    in zone: TimeZone, firstWeekday: Int = 1
  ) throws -> [SeriesPoint] {
    let group = group.map { GroupSelection.group(Key1(A.keyComponent(of: $0))) } ?? .all
    return try snapshot.series(measure, group, period, range, zone, firstWeekday)
  }

  /// The sums of a group, or of all groups, by weekday and hour.
  public func profile<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, over range: Range<Date>, in zone: TimeZone
  ) throws -> [[Int64]] {
    try snapshot.profile(measure, group.map { .group(Key1(A.keyComponent(of: $0))) } ?? .all, range, zone)
  }

  /// How many days in a row a group, or any group, had an amount.
  public func streak<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, in zone: TimeZone, restDays: Set<Int> = []
  ) throws -> Streak {
    try snapshot.streak(measure, group.map { .group(Key1(A.keyComponent(of: $0))) } ?? .all, zone, restDays)
  }

  /// A quantile of the distribution of a group, or of all groups; `nil` if there are no records.
  public func quantile<Record, A>(
    _ fraction: Double, of measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil
  ) throws -> Int64? {
    try snapshot.quantile(fraction, measure, group.map { .group(Key1(A.keyComponent(of: $0))) } ?? .all)
  }

  /// The sum of a group, or of all groups, compared with the range of the same length before it.
  public func comparisonWithBefore<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, over range: Range<Date>
  ) throws -> Comparison {
    try snapshot.comparison(measure, group.map { .group(Key1(A.keyComponent(of: $0))) } ?? .all, range)
  }

  /// The sum of a group, or of all groups, compared with the same local dates a year earlier.
  public func comparisonWithYearBefore<Record, A>(
    _ measure: Measure<Record, Key1<A>>, for group: A.PlainKey? = nil, over range: Range<Date>, in zone: TimeZone
  ) throws -> Comparison {
    let group = group.map { GroupSelection.group(Key1(A.keyComponent(of: $0))) } ?? .all
    return try snapshot.comparison(measure, group, range, aYearBeforeIn: zone)
  }

  /// The groups that have an amount in a range, with their sums, in the order of their keys.
  public func totals<Record, A>(
    _ measure: Measure<Record, Key1<A>>, over range: Range<Date>? = nil
  ) throws -> [(group: A.PlainKey, value: Int64)] {
    try snapshot.totals(measure, range).map { ($0.group.a.plainKey, $0.value) }
  }

  /// The sum of a pair of groups over a range of time.
  public func total<Record, A, B>(
    _ measure: Measure<Record, Key2<A, B>>, for a: A.PlainKey, _ b: B.PlainKey, over range: Range<Date>? = nil
  ) throws -> Int64 {
    try snapshot.total(measure, .group(Key2(A.keyComponent(of: a), B.keyComponent(of: b))), range)
  }

  /// The sums of a pair of groups by local periods.
  public func series<Record, A, B>(
    _ measure: Measure<Record, Key2<A, B>>, for a: A.PlainKey, _ b: B.PlainKey, by period: Period,
    over range: Range<Date>, in zone: TimeZone, firstWeekday: Int = 1
  ) throws -> [SeriesPoint] {
    let group = GroupSelection.group(Key2(A.keyComponent(of: a), B.keyComponent(of: b)))
    return try snapshot.series(measure, group, period, range, zone, firstWeekday)
  }

  /// The sum of all pairs of groups over a range of time.
  public func total<Record, A, B>(_ measure: Measure<Record, Key2<A, B>>, over range: Range<Date>? = nil) throws
    -> Int64
  {
    try snapshot.total(measure, .all, range)
  }

  /// The sums of all pairs of groups by local periods.
  public func series<Record, A, B>(
    _ measure: Measure<Record, Key2<A, B>>, by period: Period, over range: Range<Date>, in zone: TimeZone,
    firstWeekday: Int = 1
  ) throws -> [SeriesPoint] {
    try snapshot.series(measure, .all, period, range, zone, firstWeekday)
  }

  /// The pairs of groups that have an amount in a range, with their sums, in the order of their keys.
  public func totals<Record, A, B>(
    _ measure: Measure<Record, Key2<A, B>>, over range: Range<Date>? = nil
  ) throws -> [(a: A.PlainKey, b: B.PlainKey, value: Int64)] {
    try snapshot.totals(measure, range).map { ($0.group.a.plainKey, $0.group.b.plainKey, $0.value) }
  }
}

extension GroupSelection {
  fileprivate static func group(_ key: some CompositeKey) -> GroupSelection { .one(KeyRange.prefix(key)) }
}

/// The answer to a question: sums between ascending instants, in microseconds.
private struct SumWalk {
  let boundaries: [Int64]
  /// The quarter hours in which the boundaries are.
  let quarters: [Int64]
  /// With twice the bits, as sums on the way may be greater than the answer.
  private(set) var sums: [Int128]
  private var place = 0
  /// The sum of all rows so far, and that at the last boundary.
  private var (before, edge) = (Int128(0), Int128(0))

  init(_ boundaries: [Int64], _ form: MeasureForm) {
    self.boundaries = boundaries
    // A day counts as its first instant, which a boundary within the same quarter hour comes after.
    quarters = boundaries.map {
      form == .days ? QuarterHour.number(atOrAfter: $0) : QuarterHour.number(containing: $0)
    }
    sums = Array(repeating: 0, count: max(boundaries.count - 1, 0))
  }

  /// Adds a row; returns false if no boundary is left.
  mutating func add(_ row: borrowing SumBlock, _ block: Int32) -> Bool {
    let first = CounterBlock.firstQuarter(of: block)
    let end = first + Int64(CounterBlock.slotCount)
    var progress = SumBlock.Progress()
    while place < quarters.count, quarters[place] < end {
      let slot = Int(quarters[place] - first)
      reach(before + (slot > 0 ? Int128(row.sum(before: slot, from: &progress)) : 0))
    }
    before += Int128(row.total)
    return place < quarters.count
  }

  /// Ends the rows of one group; the next one begins.
  mutating func finishGroup() {
    while place < quarters.count { reach(before) }
    (place, before, edge) = (0, 0, 0)
  }

  private mutating func reach(_ sum: Int128) {
    if place > 0 { sums[place - 1] += sum - edge }
    edge = sum
    place += 1
  }

  /// Adds an amount that is in no row yet.
  mutating func add(_ amount: Int64, quarter: Int64) {
    let low = quarters.firstIndex(after: quarter)
    if low > 0, low < quarters.count { sums[low - 1] += Int128(amount) }
  }

  /// Moves the amount of the beginning of a boundary's quarter hour from the sum after the boundary to that before.
  mutating func move(_ amount: Int128, before index: Int) {
    if index > 0 { sums[index - 1] += amount }
    if index < sums.count { sums[index] -= amount }
  }
}

extension [Int64] {
  /// The place of the first number of an ascending array that is above another one.
  fileprivate func firstIndex(after number: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension StoreSnapshot {
  private func rows<Record>(
    of measure: DeclaredMeasure<Record>, _ tables: RecordTables<Record>
  ) throws -> MeasureRows? {
    try checkIsLive()
    let position = tables.collection.measures.firstIndex { $0.name == measure.name && $0.version == measure.version }
    guard let position else { throw TallyError.unlisted(measure.name, tables.collection.name) }
    regions?.add(collection: tables.handles?.number)
    return tables.handles?.measures[position]
  }

  /// The sums between ascending instants.
  private func sums<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, between boundaries: [Int64]
  ) throws -> [Int64] {
    guard measure.declared.form != .distribution else {
      throw TallyError(
        .invalidIndex, "'\(measure.name)' is a distribution, which has no times", remedy: "Declare a sum or a count")
    }
    let tables = try self.tables.tables(of: Record.self)
    guard let rows = try rows(of: measure.declared, tables), boundaries.count > 1 else {
      return Array(repeating: 0, count: max(boundaries.count - 1, 0))
    }
    var walk = SumWalk(boundaries, measure.declared.form)
    let wanted: GroupSelection = if case .all = group, measure.declared.hasTotals { .one([]) } else { group }
    try forEachRow(of: measure, rows, tables, wanted, from: boundaries[0]) { isNewGroup, block, row in
      if isNewGroup { walk.finishGroup() }
      return walk.add(row, block)
    }
    walk.finishGroup()
    for (_, events) in pendingEvents(of: rows.number, wanted, measure.declared.hasTotals) {
      for event in events { walk.add(event.amount, quarter: Int64(event.slot)) }
    }
    let partial = boundaries.indices.filter { boundaries[$0] % QuarterHour.microseconds != 0 }
    if !partial.isEmpty, measure.declared.form == .instants {
      try addParts(of: partial.map { boundaries[$0] }, measure, group, tables) { index, amount in
        walk.move(amount, before: partial[index])
      }
    }
    // A closure that held the measure would look its generic type up for each number.
    let name = measure.name
    return try walk.sums.map { try Self.narrow($0, name) }
  }

  /// A sum as an answer, which has 64 bits.
  private static func narrow(_ sum: Int128, _ measure: String) throws(TallyError) -> Int64 {
    guard let answer = Int64(exactly: sum) else {
      throw TallyError(
        .valueOutOfRange, "A sum of the measure '\(measure)' exceeds 64 bits",
        remedy: "Ask for one group, or for a shorter range")
    }
    return answer
  }

  /// The amounts that a write has gathered for a measure.
  private func pendingEvents(
    of number: UInt16, _ group: GroupSelection, _ hasTotals: Bool
  ) -> [([UInt8], [MeasureDeltas.Event])] {
    guard let deltas = pending[number] else { return [] }
    return zip(deltas.groups, deltas.columns).filter { key, _ in
      switch group {
      case .one(let wanted): key == wanted
      case .all: !(hasTotals && key.isEmpty)
      }
    }
  }

  /// Calls a closure with the rows from an instant on, group by group; a stale measure is computed from all records.
  private func forEachRow<Record, Group>(
    of measure: Measure<Record, Group>, _ rows: MeasureRows, _ tables: RecordTables<Record>, _ group: GroupSelection,
    from start: Int64, _ body: (_ isNewGroup: Bool, Int32, borrowing SumBlock) throws -> Bool
  ) throws {
    let first = CounterBlock.number(containing: QuarterHour.number(containing: start))
    if try isReadable(rows.number, version: measure.declared.version) {
      if case .one(let key) = group {
        // Rows before the first boundary do not matter.
        try rows.forEach(ofGroup: key, from: first, in: view) { block, row in try body(false, block, SumBlock(row)) }
        return
      }
      var last: [UInt8]?
      try rows.forEach(in: view) { key, block, row in
        if measure.declared.hasTotals, key.isEmpty { return }
        _ = try body(last != nil && last != key, block, SumBlock(row))
        last = key
      }
      return
    }
    var (groups, all) = (MeasureDeltas(), MeasureDeltas())
    let input = try input(of: tables)
    try tables.handles?.records.raw.forEach(in: view) { key, value in
      measure.declared.gather([try tables.decode(value, RecordTables<Record>.id(key), input)], 1, &groups, &all)
      return true
    }
    groups.append(all)
    var last: [UInt8]?
    for (key, value) in try groups.rows() {
      let own = Array(key.dropLast(MeasureRows.blockByteCount))
      if case .one(let wanted) = group, own != wanted { continue }
      if case .all = group, measure.declared.hasTotals, own.isEmpty { continue }
      // Unsafe by signature only: bytes have no padding.
      let block = unsafe key.span.bytes.load(orderedInt32At: key.count - MeasureRows.blockByteCount)
      _ = try unsafe body(last != nil && last != own, block, SumBlock(value.span.bytes))
      last = own
    }
  }

  /// Calls a closure with the sum of the amounts between the beginning of each boundary's quarter hour and the boundary.
  private func addParts<Record, Group>(
    of boundaries: [Int64], _ measure: Measure<Record, Group>, _ group: GroupSelection, _ tables: RecordTables<Record>,
    _ body: (Int, Int128) -> Void
  ) throws {
    var parts = Array(repeating: Int128(0), count: boundaries.count)
    let input = try input(of: tables)
    try tables.handles?.records.raw.forEach(in: view) { key, value in
      let record = try tables.decode(value, RecordTables<Record>.id(key), input)
      measure.events(record) { own, instant, amount in
        if case .one(let wanted) = group, !wanted.isEmpty || Group.self == NoKey.self, KeyRange.prefix(own) != wanted {
          return
        }
        let quarter = QuarterHour.number(containing: instant)
        var index = boundaries.firstIndex(after: instant)
        while index < boundaries.count, QuarterHour.number(containing: boundaries[index]) == quarter {
          parts[index] += Int128(amount)
          index += 1
        }
      }
      return true
    }
    for index in parts.indices where parts[index] != 0 { body(index, parts[index]) }
  }

  private static func microseconds(_ date: Date) -> Int64 { Timestamp(clamping: date).microsecondsSince1970 }

  func total<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ range: Range<Date>?
  ) throws -> Int64 {
    if measure.declared.form == .distribution { return try counts(measure, group).reduce(0) { $0 + $1.amount } }
    let bounds = range.map { [Self.microseconds($0.lowerBound), Self.microseconds($0.upperBound)] }
    return try sums(
      measure, group, between: bounds ?? [Timestamp.earliest.microsecondsSince1970, QuarterHour.endOfTime])[0]
  }

  func series<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ period: Period, _ range: Range<Date>,
    _ zone: TimeZone, _ firstWeekday: Int
  ) throws -> [SeriesPoint] {
    let microseconds = Self.microseconds(range.upperBound) - Self.microseconds(range.lowerBound)
    let count = microseconds / 1_000_000 / period.shortestSeconds
    guard count <= SeriesPoint.maximumCount else {
      throw TallyError(
        .valueOutOfRange,
        "A series by \(period.rawValue) over this range has \(count) numbers, and at most \(SeriesPoint.maximumCount) "
          + "are given", remedy: "Ask for a shorter range or for longer periods")
    }
    return try points(measure, group, period, range, zone, firstWeekday)
  }

  private func points<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ period: Period, _ range: Range<Date>,
    _ zone: TimeZone, _ firstWeekday: Int
  ) throws -> [SeriesPoint] {
    let (lower, upper) = (Self.microseconds(range.lowerBound), Self.microseconds(range.upperBound))
    guard lower < upper else { return [] }
    let zone = measure.declared.form == .days ? TimeZone.gmt : zone
    let periods = LocalPeriods(in: zone, firstWeekday: firstWeekday)
    let starts = periods.starts(
      of: period, from: floorDivide(lower, by: 1_000_000), to: -floorDivide(-upper, by: 1_000_000))
    let boundaries = starts.map { min(max($0 * 1_000_000, lower), upper) }
    let sums = try sums(measure, group, between: boundaries)
    return sums.enumerated().map {
      SeriesPoint(start: Timestamp(clampingSeconds: starts[$0.offset]).date, value: $0.element)
    }
  }

  func profile<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ range: Range<Date>, _ zone: TimeZone
  ) throws -> [[Int64]] {
    guard let extent = try extent(measure, group) else {
      return Array(repeating: Array(repeating: 0, count: 24), count: 7)
    }
    // A range of all time has millions of hours; those without an amount do not matter.
    let range = range.clamped(
      to: Timestamp(clamping: extent.lowerBound).date..<Timestamp(clamping: extent.upperBound).date)
    var rows = Array(repeating: Array(repeating: Int128(0), count: 24), count: 7)
    let periods = LocalPeriods(in: measure.declared.form == .days ? .gmt : zone, firstWeekday: 1)
    for point in try points(measure, group, .hour, range, zone, 1) where point.value != 0 {
      let second = floorDivide(Self.microseconds(point.start), by: 1_000_000)
      let (hour, weekday) = periods.hourAndWeekday(of: second)
      rows[weekday - 1][hour] += Int128(point.value)
    }
    let name = measure.name
    return try rows.map { try $0.map { try Self.narrow($0, name) } }
  }

  func streak<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ zone: TimeZone, _ restDays: Set<Int>
  ) throws -> Streak {
    let own = LocalPeriods(in: zone, firstWeekday: 1)
    let today = own.dayNumber(containing: now.wholeSeconds)
    // A day of a measure of days is over when it is over in the zone.
    let isOfDays = measure.declared.form == .days
    let end = isOfDays ? (today + 1) * QuarterHour.microsecondsPerDay : now.microsecondsSince1970 + 1
    guard let first = try extent(measure, group)?.lowerBound, first < end else {
      return Streak(current: 0, longest: 0)
    }
    let range = Timestamp(clamping: first).date..<Timestamp(clamping: end).date
    let points = try points(measure, group, .day, range, zone, 1)
    let periods = isOfDays ? LocalPeriods(in: .gmt, firstWeekday: 1) : own
    var (current, longest) = (0, 0)
    for (offset, point) in points.enumerated() {
      if point.value != 0 {
        current += 1
        longest = max(longest, current)
      } else if offset != points.count - 1 {
        let second = floorDivide(Self.microseconds(point.start), by: 1_000_000)
        if restDays.isEmpty || !restDays.contains(LocalPeriods.weekday(of: periods.dayNumber(containing: second))) {
          current = 0
        }
      }
    }
    return Streak(current: current, longest: longest)
  }

  /// The quarter hours from the first to the last one with an amount, as instants; `nil` if there is none.
  private func extent<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection
  ) throws -> Range<Int64>? {
    let tables = try self.tables.tables(of: Record.self)
    guard let rows = try rows(of: measure.declared, tables) else { return nil }
    let wanted: GroupSelection = if case .all = group, measure.declared.hasTotals { .one([]) } else { group }
    var quarters: ClosedRange<Int64>?
    func note(_ quarter: Int64) {
      quarters = min(quarters?.lowerBound ?? quarter, quarter)...max(quarters?.upperBound ?? quarter, quarter)
    }
    try forEachRow(of: measure, rows, tables, wanted, from: Timestamp.earliest.microsecondsSince1970) { _, block, row in
      row.forEach { slot, _ in note(CounterBlock.firstQuarter(of: block) + Int64(slot)) }
      return true
    }
    for (_, events) in pendingEvents(of: rows.number, wanted, measure.declared.hasTotals) {
      for event in events { note(Int64(event.slot)) }
    }
    return quarters.map { $0.lowerBound * QuarterHour.microseconds..<($0.upperBound + 1) * QuarterHour.microseconds }
  }

  func comparison<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection, _ range: Range<Date>,
    aYearBeforeIn zone: TimeZone? = nil
  ) throws -> Comparison {
    let (lower, upper) = (Self.microseconds(range.lowerBound), Self.microseconds(range.upperBound))
    // The days of a measure of days begin at the same instants whatever the zone.
    let earlier =
      zone.map { measure.declared.form == .days ? .gmt : $0 }
      .map { (Self.aYear(before: lower, in: $0), Self.aYear(before: upper, in: $0)) }
      ?? (lower - (upper - lower), lower)
    let value = try sums(measure, group, between: [lower, upper])[0]
    return Comparison(
      value: value, earlier: try sums(measure, group, between: [earlier.0, max(earlier.0, earlier.1)])[0])
  }

  /// The instant at the same local date and time of the year before; of February 29, the first instant of March 1.
  private static func aYear(before microseconds: Int64, in zone: TimeZone) -> Int64 {
    let second = floorDivide(microseconds, by: 1_000_000)
    let local = second + zone.secondsFromGMT(atSecond: second)
    let day = floorDivide(local, by: 86_400)
    var date = CivilDate(dayNumber: Int32(clamping: day))
    date.year -= 1
    let isLeapDay = !date.exists
    if isLeapDay { date = CivilDate(year: date.year, month: 3, day: 1) }
    let time = isLeapDay ? 0 : local - day * 86_400
    let earlier = Timestamp(localSecond: Int64(date.dayNumber) * 86_400 + time, in: zone).microsecondsSince1970
    return earlier + (isLeapDay ? 0 : microseconds - second * 1_000_000)
  }

  /// The buckets of a distribution that have records, in ascending order.
  private func counts<Record, Group>(
    _ measure: Measure<Record, Group>, _ group: GroupSelection
  ) throws -> [(bucket: Int32, amount: Int64)] {
    let tables = try self.tables.tables(of: Record.self)
    guard let rows = try rows(of: measure.declared, tables) else { return [] }
    let wanted: GroupSelection = if case .all = group, measure.declared.hasTotals { .one([]) } else { group }
    var counts: [Int32: Int64] = [:]
    let start = Timestamp.earliest.microsecondsSince1970
    try forEachRow(of: measure, rows, tables, wanted, from: start) { _, block, row in
      row.forEach { slot, amount in
        counts[Int32(clamping: CounterBlock.firstQuarter(of: block) + Int64(slot)), default: 0] += amount
      }
      return true
    }
    for (_, events) in pendingEvents(of: rows.number, wanted, measure.declared.hasTotals) {
      for event in events { counts[event.slot, default: 0] += event.amount }
    }
    return counts.filter { $0.value != 0 }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }

  func quantile<Record, Group>(
    _ fraction: Double, _ measure: Measure<Record, Group>, _ group: GroupSelection
  ) throws -> Int64? {
    guard measure.declared.form == .distribution else {
      throw TallyError(
        .invalidIndex, "'\(measure.name)' is not a distribution", remedy: "Declare a distribution of the amount")
    }
    // Not a number is in no range, either.
    guard (0...1).contains(fraction) else {
      throw TallyError(
        .valueOutOfRange, "The fraction of a quantile is \(fraction)", remedy: "Give a number from 0 to 1")
    }
    let counts = try counts(measure, group)
    let total = counts.reduce(0) { $0 + $1.amount }
    guard total > 0 else { return nil }
    // The nearest rank: the least amount that the fraction of all records does not exceed.
    let rank = max(1, Int64((fraction * Double(total)).rounded(.up)))
    var sum: Int64 = 0
    for (bucket, amount) in counts {
      sum += amount
      if sum >= rank { return AmountBucket.middle(of: bucket) }
    }
    return nil
  }

  func totals<Record, Group>(
    _ measure: Measure<Record, Group>, _ range: Range<Date>?
  ) throws -> [(group: Group, value: Int64)] {
    let tables = try self.tables.tables(of: Record.self)
    guard let rows = try rows(of: measure.declared, tables) else { return [] }
    var keys: Set<[UInt8]> = []
    if try isReadable(rows.number, version: measure.declared.version) {
      keys = Set(try rows.groups(in: view))
    } else {
      let input = try input(of: tables)
      try tables.handles?.records.raw.forEach(in: view) { key, value in
        let record = try tables.decode(value, RecordTables<Record>.id(key), input)
        measure.events(record) { group, _, _ in keys.insert(KeyRange.prefix(group)) }
        return true
      }
    }
    for (key, _) in pendingEvents(of: rows.number, .all, measure.declared.hasTotals) { keys.insert(key) }
    if measure.declared.hasTotals { keys.remove([]) }
    return try keys.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { key in
      let value = try total(measure, .one(key), range)
      var offset = 0
      // Unsafe by signature only: bytes have no padding.
      return value == 0 ? nil : (unsafe try Group.readKey(key.span.bytes, at: &offset), value)
    }
  }
}
