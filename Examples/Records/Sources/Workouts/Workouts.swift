// Workouts: sums by week in a time zone, streaks with days of rest, and from every number back to its records.
//
//   swift run --package-path Examples/Records Workouts FOLDER

import Foundation
import TallyEngine

enum Sport: String, Codable, KeyComponent { case run, ride, swim }

struct Workout: StoredRecord, Codable {
  var id = UUID()
  var sport: Sport
  var start: Date
  var minutes: Int
}

extension Workout {
  static let bySport = index("bySport") { ($0.sport, $0.start) }
  static let newest = index("newest") { Descending($0.start) }
  static let trained = sum("trained", of: \.minutes, over: bySport, totals: true)
  static let length = distribution("length", of: \.minutes)
  static let collection = Collection<Workout>("workouts") {
    bySport
    newest
    trained
    length
  }

  /// A workout on each day of March but Sundays and the 11th, always at half past eleven in the evening.
  static func ofMarch(in zone: TimeZone) throws -> [Workout] {
    let first = try CalendarDay(year: 2026, month: 3, day: 1)
    return try (0..<31).compactMap { number in
      let day = try first.adding(days: number)
      guard day.weekday != 7, day.day != 11 else { return nil }
      let sport: Sport = [.run, .ride, .swim][number % 3]
      let start = day.instant(atMinute: 23 * 60 + 30, in: zone).date
      return Workout(sport: sport, start: start, minutes: 20 + number * 7 % 50)
    }
  }
}

@main
struct Workouts {
  static func main() async throws {
    guard let folder = CommandLine.arguments.dropFirst().first, let berlin = TimeZone(identifier: "Europe/Berlin")
    else {
      FileHandle.standardError.write(Data("usage: Workouts FOLDER\n".utf8))
      exit(64)
    }
    // A program in use leaves the clock as it is. Here it stands still, so that the streak is always the same.
    var configuration = StoreConfiguration()
    let evening = try Timestamp(iso8601: "2026-03-31T23:45:00+02:00")
    configuration.now = { evening }
    let store = try Store(
      at: URL(filePath: folder), schema: Schema(Workout.collection), configuration: configuration)

    let workouts = try Workout.ofMarch(in: berlin)
    try await store.write { try $0.insert(contentsOf: workouts) }
    let march = try (CalendarDay(year: 2026, month: 3, day: 1)..<CalendarDay(year: 2026, month: 4, day: 1)).dates(
      in: berlin)

    try store.read { try report($0, over: march, in: berlin) }

    // What a person does can be undone, also after the program has been started again.
    let deletedCount = try await store.write { writer in
      try writer.setActionName("Delete All Swims")
      return try writer.deleteRecords(in: Workout.bySport, .swim)
    }
    let left = try store.read { try $0.total(Workout.trained, over: march) }
    let undone = try await store.undo()
    let restored = try store.read { try $0.total(Workout.trained, over: march) }
    print("\(undone.actionName ?? ""): \(deletedCount) workouts, \(left) minutes left; undone: \(restored) minutes")
    try store.close()
  }

  /// Answers questions from one snapshot; a function that also serves a write takes `some StoreQueries & ~Copyable`.
  static func report(_ reader: borrowing Reader, over march: Range<Date>, in zone: TimeZone) throws {
    let weeks = try reader.series(Workout.trained, by: .week, over: march, in: zone)
    print("Minutes by week")
    for week in weeks { print("  from \(week.day(in: zone)): \(week.value)") }

    print("Minutes by sport")
    for (sport, minutes) in try reader.totals(Workout.trained, over: march) { print("  \(sport.rawValue): \(minutes)") }

    let strict = try reader.streak(Workout.trained, in: zone)
    let withRest = try reader.streak(Workout.trained, in: zone, restDays: [7])
    print("Days in a row: \(strict.current), at most \(strict.longest)")
    print("The same, resting on Sundays: \(withRest.current), at most \(withRest.longest)")

    let median = try reader.quantile(0.5, of: Workout.length)
    print("Half of the workouts take at most \(median ?? 0) minutes")

    // From the number to its records: the runs of the best week.
    guard let best = weeks.indices.max(by: { weeks[$0].value < weeks[$1].value }) else { return }
    let end = best + 1 < weeks.count ? weeks[best + 1].start : march.upperBound
    let runs = try reader.records(in: Workout.bySport, .run, from: weeks[best].start, upTo: end)
    print("Runs of the best week: \(runs.map { "\($0.minutes)" }.joined(separator: ", "))")
    let last = try reader.records(in: Workout.newest, limit: 1).first
    print("The last workout: \(last?.sport.rawValue ?? "none")")
  }
}
