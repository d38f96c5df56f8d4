import Foundation
import Tally

/// Local days by asking the zone about every single instant: slow, and without spans or transitions.
final class BruteForceDays {
  static let day: Int64 = 86_400_000_000
  private static let second: Int64 = 1_000_000

  let calendar: Calendar
  let dayStart: Int64
  private let sample: ZoneSample
  private let greenwich: Calendar
  private var offsets: [Int64: Int64] = [:]
  private var existing: [Int64: Bool] = [:]
  private var lastInstants: [Int64: Int64] = [:]
  private var periods: [Int64: Int] = [:]

  init(_ sample: ZoneSample, calendar: Calendar, dayStartInMinutes: Int) {
    self.sample = sample
    self.calendar = calendar
    dayStart = Int64(dayStartInMinutes) * 60 * Self.second
    var greenwich = calendar
    greenwich.timeZone = .gmt
    self.greenwich = greenwich
  }

  static func floor(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    dividend / divisor - (dividend % divisor < 0 ? 1 : 0)
  }

  /// The time on a clock in the zone, as if it were UTC.
  func local(_ instant: Int64) -> Int64 {
    let second = Self.floor(instant, Self.second)
    if let offset = offsets[second] { return instant + offset }
    let offset = sample.offset(in: calendar.timeZone, atSecond: second) * Self.second
    offsets[second] = offset
    return instant + offset
  }

  /// The day that a local time belongs to.
  func dayNumber(ofLocal local: Int64) -> Int64 {
    Self.floor(local - dayStart, Self.day)
  }

  func dayNumber(of instant: Int64) -> Int64 {
    dayNumber(ofLocal: local(instant))
  }

  /// Whether the zone has a day at all: not where it crossed the date line.
  func exists(_ number: Int64) -> Bool {
    if let known = existing[number] { return known }
    let found = steadyOffset(around: number) != nil || samples(around: number).contains { dayNumber(of: $0) == number }
    existing[number] = found
    return found
  }

  /// The last microsecond of a day that exists.
  func lastInstant(of number: Int64) -> Int64 {
    if let known = lastInstants[number] { return known }
    if let offset = steadyOffset(around: number) { return (number + 1) * Self.day + dayStart - offset - 1 }
    var low = samples(around: number).reversed().first { dayNumber(of: $0) == number } ?? .min
    var high = low + 900 * Self.second
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if dayNumber(of: middle) == number { low = middle } else { high = middle }
    }
    lastInstants[number] = low
    return low
  }

  /// The offset on a day if it is the same for days around it: then no closer look is needed.
  private func steadyOffset(around number: Int64) -> Int64? {
    let instants = stride(from: (number - 2) * Self.day, through: (number + 4) * Self.day, by: 21_600_000_000)
    let offsets = Set(instants.map { local($0) - $0 })
    return offsets.count == 1 ? offsets.first : nil
  }

  /// Every quarter of an hour from well before a day to well after it; in the tests days start on quarters.
  private func samples(around number: Int64) -> [Int64] {
    let start = number * Self.day + dayStart - 30 * 3_600 * Self.second
    let end = (number + 1) * Self.day + dayStart + 30 * 3_600 * Self.second
    return Array(stride(from: start, to: end, by: 900_000_000))
  }

  /// A number that all days of one period share, and no other day has.
  func period(_ unit: Series.Unit, of number: Int64) -> Int {
    switch unit {
    case .day: return Int(number)
    case .week: return Int(number) - weekday(of: number)
    case .month: return month(of: number)
    case .year: return month(of: number) / 100
    }
  }

  /// The day of the week, 0 for the calendar's first one.
  func weekday(of number: Int64) -> Int {
    // 1970-01-01 was a Thursday, 5 in Foundation's count from Sunday as 1.
    let weekday = ((Int(number) + 4) % 7 + 7) % 7 + 1
    return (weekday - calendar.firstWeekday + 7) % 7
  }

  /// Era, year and month, as digits side by side.
  private func month(of number: Int64) -> Int {
    if let known = periods[number] { return known }
    let noon = Date(timeIntervalSince1970: (Double(number) + 0.5) * 86_400)
    let parts = greenwich.dateComponents([.era, .year, .month], from: noon)
    let found = ((parts.era ?? 0) * 100_000 + (parts.year ?? 0)) * 100 + (parts.month ?? 0)
    periods[number] = found
    return found
  }

  /// All days of the period that a day lies in.
  func days(_ unit: Series.Unit, around number: Int64) -> ClosedRange<Int64> {
    var (first, last) = (number, number)
    let wanted = period(unit, of: number)
    while period(unit, of: first - 1) == wanted { first -= 1 }
    while period(unit, of: last + 1) == wanted { last += 1 }
    return first...last
  }
}
