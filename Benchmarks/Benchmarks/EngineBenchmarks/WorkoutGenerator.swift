import BenchmarkData
import Foundation

/// Workouts from a fixed seed, over ten years and in no order.
enum WorkoutGenerator {
  static let sports = ["climb", "hike", "ride", "row", "run", "ski", "swim", "yoga"]
  static let count = BenchmarkFolder.isSmoke ? 1_000 : 100_000

  /// The workouts that a store has before anything is timed.
  static let workouts = make(count, seed: 2_026_11_28)

  /// Workouts that no store has yet.
  static func newWorkouts(_ count: Int) -> [Workout] { make(count, seed: 2_026_11_29) }

  private static func make(_ count: Int, seed: UInt64) -> [Workout] {
    var random = SeededRandom(seed: seed)
    // From the middle of the first day to that of the last one: every zone has all of them within the ten years.
    let (first, last) = (1_420_113_600, 1_735_646_400)
    return (0..<count).map { _ in
      Workout(
        id: random.uuid(), sport: random.element(of: sports),
        start: Date(timeIntervalSince1970: Double(Int.random(in: first...last, using: &random))),
        minutes: Int.random(in: 5...180, using: &random), notes: "Felt good today, number \(random.below(1_000_000))",
        isRace: random.isOne(in: 10))
    }
  }
}

extension SeededRandom {
  /// A random UUID of version 4.
  fileprivate mutating func uuid() -> UUID {
    let halves = [next(), next()]
    var bytes = halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(8 * $0)) } }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}

/// The ranges of time that questions concern, in a zone with summer time.
struct Years {
  let zone: TimeZone
  /// Ten years, from midnight to midnight.
  let decade: Range<Date>
  /// One of them.
  let year: Range<Date>
  private let calendar: Calendar

  init() throws {
    guard let zone = TimeZone(identifier: "Europe/Berlin") else {
      throw WrongAnswer(description: "the system does not know the time zone")
    }
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = zone
    let starts = try [2_015, 2_020, 2_021, 2_025].map { year in
      guard let start = calendar.date(from: DateComponents(year: year, month: 1, day: 1)) else {
        throw WrongAnswer(description: "the calendar has no year \(year)")
      }
      return start
    }
    (self.zone, self.calendar) = (zone, calendar)
    (decade, year) = (starts[0]..<starts[3], starts[1]..<starts[2])
  }

  /// The instants in microseconds at which the periods of a range begin, and its end: by Foundation's calendar, which the
  /// engine does not use.
  func boundaries(of component: Calendar.Component, in range: Range<Date>) throws -> [Int64] {
    guard var date = calendar.dateInterval(of: component, for: range.lowerBound)?.start else {
      throw WrongAnswer(description: "the calendar has no such period")
    }
    var boundaries: [Int64] = []
    while date < range.upperBound {
      boundaries.append(Self.microseconds(max(date, range.lowerBound)))
      guard let next = calendar.date(byAdding: component, value: 1, to: date) else {
        throw WrongAnswer(description: "the calendar has no next period")
      }
      date = next
    }
    return boundaries + [Self.microseconds(range.upperBound)]
  }

  static func microseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1_000_000) }
}
