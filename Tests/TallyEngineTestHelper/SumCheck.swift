import Foundation
import TallyEngine
import TestSupport

/// The questions about one group of a measure, or about all groups together.
struct SumQuestions {
  let total: (Range<Date>?) throws -> Int64
  let series: (Period, Range<Date>, TimeZone, Int) throws -> [SeriesPoint]
  var profile: ((Range<Date>, TimeZone) throws -> [[Int64]])?
  var streak: ((TimeZone, Set<Int>) throws -> Streak)?
  var before: ((Range<Date>) throws -> Comparison)?
  var yearBefore: ((Range<Date>, TimeZone) throws -> Comparison)?
}

/// Compares sums over time with those of single amounts, in zones whose clocks Foundation knows well.
struct SumCheck {
  let name: String
  /// Whether amounts are on days and not at instants.
  let isOfDays: Bool
  /// The instants and amounts of the group.
  let amounts: [(instant: Int64, amount: Int128)]
  let now: Date

  private static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland",
  ].compactMap { TimeZone(identifier: $0) }

  private func sum(_ range: Range<Int64>) -> Int128 {
    amounts.reduce(0) { range.contains($1.instant) ? $0 + $1.amount : $0 }
  }

  /// Whether some sums may exceed 64 bits.
  private var mayOverflow: Bool { amounts.reduce(Int128(0)) { $0 + Int128($1.amount.magnitude) } > Int64.max }

  /// Compares a sum; one beyond 64 bits must be refused.
  static func compare(_ expected: Int128, _ what: String, _ ask: () throws -> Int64) throws {
    do {
      try Difference.check(Int128(ask()), expected, what)
    } catch let error as TallyError where error.code == .valueOutOfRange && Int64(exactly: expected) == nil {}
  }

  /// Asks a question that is refused only if a part of its answer may exceed 64 bits.
  private func asking<Answer>(_ ask: () throws -> Answer) throws -> Answer? {
    do {
      return try ask()
    } catch let error as TallyError where error.code == .valueOutOfRange && mayOverflow {
      return nil
    }
  }

  /// A random range: often with bounds inside a quarter hour, and sometimes empty or beyond all amounts.
  private func randomRange(_ generator: inout SeededGenerator) -> Range<Int64> {
    func bound() -> Int64 {
      let some = generator.oneIn(3) ? nil : amounts.randomElement(using: &generator)?.instant
      if let some { return some + Int64.random(in: -1...1, using: &generator) }
      return Content.start + Int64.random(in: -400...4_000, using: &generator) * 900_000_000
        + (generator.oneIn(2) ? 0 : Int64.random(in: 0..<900_000_000, using: &generator))
    }
    let (one, other) = (bound(), generator.oneIn(20) ? nil : bound())
    guard let other else { return one..<one }
    // A series by hours of decades has too many numbers to look at.
    return min(one, other)..<min(max(one, other), min(one, other) + 5_000_000_000_000)
  }

  func run(_ questions: SumQuestions, _ generator: inout SeededGenerator) throws {
    let all = Int64.min..<Int64.max
    try Self.compare(sum(all), "\(name), the total") { try questions.total(nil) }
    let range = randomRange(&generator)
    let dates = Self.dates(range)
    try Self.compare(sum(range), "\(name), the total of \(range)") { try questions.total(dates) }
    let zone = Self.zones.randomElement(using: &generator) ?? .gmt
    // Each question costs more than a write: some of them are asked after each step.
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: try checkProfile(questions, range, zone)
    case 1: try checkStreak(questions, zone, &generator)
    case 2: try checkComparisons(questions, range)
    case 3, 4: try checkSeries(questions, Period.allCases.randomElement(using: &generator) ?? .day, range, zone)
    default: break
    }
  }

  private func checkComparisons(_ questions: SumQuestions, _ range: Range<Int64>) throws {
    let dates = Self.dates(range)
    if let before = questions.before, let found = try asking({ try before(dates) }) {
      let earlier = (range.lowerBound - (range.upperBound - range.lowerBound))..<range.lowerBound
      try Difference.check(Int128(found.value), sum(range), "\(name), compared")
      try Difference.check(
        Int128(found.earlier), sum(earlier), "\(name), before \(range)")
    }
    guard let ask = questions.yearBefore, let zone = TimeZone(identifier: "Asia/Kathmandu") else { return }
    if let found = try asking({ try ask(dates, isOfDays ? .gmt : zone) }) {
      // The zone's clocks do not change, and the last February 29 before these instants is more than a year ago.
      let year = Int64(365) * 86_400_000_000
      let earlier = (range.lowerBound - year)..<(range.upperBound - year)
      if range.lowerBound >= Content.start {
        try Difference.check(Int128(found.earlier), sum(earlier), "\(name), a year before \(range)")
      }
    }
  }

  static func dates(_ range: Range<Int64>) -> Range<Date> {
    Timestamp(clamping: range.lowerBound).date..<Timestamp(clamping: range.upperBound).date
  }

  private func checkSeries(
    _ questions: SumQuestions, _ period: Period, _ range: Range<Int64>, _ zone: TimeZone
  ) throws {
    let dates = Self.dates(range)
    guard let points = try asking({ try questions.series(period, dates, zone, 1) }) else { return }
    let what = "\(name), by \(period.rawValue) over \(range) in \(zone.identifier)"
    let starts = points.map { Timestamp(clamping: $0.start).microsecondsSince1970 }
    guard let first = starts.first else { return try Difference.check(range.isEmpty, true, what) }
    guard first <= range.lowerBound, zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }),
      starts.last ?? 0 < range.upperBound
    else { throw Difference("\(what): the periods begin at \(starts)") }
    for (index, point) in points.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : range.upperBound
      let own = max(starts[index], range.lowerBound)..<end
      try Difference.check(
        Int128(point.value), sum(own), "\(what), at \(starts[index])")
    }
  }

  private static func local(_ instant: Int64, _ zone: TimeZone) -> Int64 {
    floor(instant, 1_000_000) + Int64(zone.secondsFromGMT(for: Timestamp(clamping: instant).date))
  }

  private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    (number - ((number % divisor) + divisor) % divisor) / divisor
  }

  private func checkProfile(_ questions: SumQuestions, _ range: Range<Int64>, _ zone: TimeZone) throws {
    let dates = Self.dates(range)
    guard let profile = questions.profile, let found = try asking({ try profile(dates, zone) }) else { return }
    var expected = Array(repeating: Array(repeating: Int128(0), count: 24), count: 7)
    for (instant, amount) in amounts where range.contains(instant) {
      let local = Self.local(instant, isOfDays ? .gmt : zone)
      let day = Self.floor(local, 86_400)
      // 1970-01-05 was a Monday.
      expected[Int(((day - 4) % 7 + 7) % 7)][Int((local - day * 86_400) / 3_600)] += amount
    }
    try Difference.check(
      found.map { $0.map { Int128($0) } }, expected, "\(name), the profile of \(range) in \(zone.identifier)")
  }

  private func checkStreak(_ questions: SumQuestions, _ zone: TimeZone, _ generator: inout SeededGenerator) throws {
    guard let streak = questions.streak else { return }
    let rest = Set((1...7).filter { _ in generator.oneIn(5) })
    guard let found = try asking({ try streak(zone, rest) }) else { return }
    let now = Timestamp(clamping: now).microsecondsSince1970
    let today = Self.floor(Self.local(now, zone), 86_400)
    var days: [Int64: Int128] = [:]
    for (instant, amount) in amounts {
      let day = Self.floor(isOfDays ? Self.floor(instant, 1_000_000) : Self.local(instant, zone), 86_400)
      if isOfDays ? day <= today : instant <= now { days[day, default: 0] += amount }
    }
    var (current, longest) = (0, 0)
    if let first = days.keys.min(), first <= today {
      for day in first...today {
        if days[day, default: 0] != 0 {
          current += 1
          longest = max(longest, current)
        } else if day != today, !rest.contains(Int(((day - 4) % 7 + 7) % 7) + 1) {
          current = 0
        }
      }
    }
    try Difference.check(
      [found.current, found.longest], [current, longest],
      "\(name), the streak in \(zone.identifier) at \(now) with the rest days \(rest.sorted())")
  }
}
