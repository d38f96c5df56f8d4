import BenchmarkData
import Foundation
import GRDB
import TallyEngine

/// Sums by local periods, in a zone with summer time.
enum SummingComparisons {
  /// Repetitions between two readings of the clock, of what takes microseconds and of what takes more.
  private static let (many, few) = (20, 2)

  static func register() {
    for source in [SQLiteWorkoutStore.Source.rows, .sums] {
      comparison("week-\(source)") {
        let years = try Years()
        return try sums(
          "week-\(source)", WorkoutGenerator.sports, by: .week, of: .weekOfYear, over: years.decade, years, source)
      }
      comparison("year-\(source)") {
        let years = try Years()
        return try sums("year-\(source)", WorkoutGenerator.sports, by: .day, of: .day, over: years.year, years, source)
      }
    }
    comparison("week-of-all") {
      let years = try Years()
      return try sums("week-of-all", [nil], by: .week, of: .weekOfYear, over: years.decade, years, .sums)
    }
    comparison("groups-of-decade") { try groups("groups-of-decade", over: Years().decade) }
    comparison("groups-of-year") { try groups("groups-of-year", over: Years().year) }
  }

  /// The minutes of a sport, in turn, or of all (`nil`), by period.
  private static func sums(
    _ name: String, _ sports: [String?], by period: Period, of component: Calendar.Component, over range: Range<Date>,
    _ years: Years, _ source: SQLiteWorkoutStore.Source
  ) throws -> Comparison {
    let peers = try WorkoutPeers<Workout>(name, keepsSums: source == .sums)
    let boundaries = try years.boundaries(of: component, in: range)
    let tally: @Sendable (Int) throws -> [SeriesPoint] = { number in
      try peers.tally.read {
        try $0.series(Workout.trained, for: sports[number % sports.count], by: period, over: range, in: years.zone)
      }
    }
    let sqlite: @Sendable (Int) throws -> [Int] = { number in
      try peers.sqlite.pool.read {
        try SQLiteWorkoutStore.minutes(
          of: sports[number % sports.count] ?? "", between: boundaries, from: source, in: $0)
      }
    }
    for number in sports.indices {
      let points = try tally(number)
      try expectEqual(points.count, boundaries.count - 1, "the number of periods")
      try expectSameAnswer(AnswerHash(points.map { Int($0.value) }), AnswerHash(try sqlite(number)), name)
    }
    return Comparison(
      tallyRepetitionCount: many, peerRepetitionCount: few, tally: { _ = try tally($0) }, peer: { _ = try sqlite($0) },
      close: peers.close)
  }

  /// The minutes of each sport in a range.
  private static func groups(_ name: String, over range: Range<Date>) throws -> Comparison {
    let peers = try WorkoutPeers<Workout>(name)
    let (first, last) = (Years.microseconds(range.lowerBound), Years.microseconds(range.upperBound))
    let tally: @Sendable () throws -> [(group: String, value: Int64)] = {
      try peers.tally.read { try $0.totals(Workout.trained, over: range) }
    }
    let sqlite: @Sendable () throws -> [Int] = {
      try peers.sqlite.pool.read { try SQLiteWorkoutStore.minutesBySport(between: first, and: last, in: $0) }
    }
    let answer = try tally()
    try expectEqual(answer.map(\.group), WorkoutGenerator.sports, "the sports")
    try expectSameAnswer(AnswerHash(answer.map { Int($0.value) }), AnswerHash(try sqlite()), name)
    return Comparison(
      tallyRepetitionCount: many, peerRepetitionCount: few, tally: { _ in _ = try tally() },
      peer: { _ in _ = try sqlite() }, close: peers.close)
  }
}
