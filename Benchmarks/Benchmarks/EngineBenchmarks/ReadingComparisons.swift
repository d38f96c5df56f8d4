import BenchmarkData
import Foundation
import GRDB
import TallyEngine

/// Records by id and by an index, in a transaction each.
enum ReadingComparisons {
  private static let batch = 100
  private static let pageLength = 500

  static func register() {
    comparison("read-one", readOne)
    comparison("read-one-by-hand", readOneByHand)
    comparison("page-500", page)
    comparison("page-500-by-hand", pageByHand)
  }

  @Sendable private static func readOne() throws -> Comparison {
    let peers = try WorkoutPeers<Workout>("read-one")
    let ids = peers.sampleIDs
    return Comparison(
      tallyRepetitionCount: batch, peerRepetitionCount: batch,
      tally: { number in _ = try peers.tally.read { try $0.record(Workout.self, ids[number % ids.count]) } },
      peer: { number in
        _ = try peers.sqlite.pool.read { try SQLiteWorkoutStore.workout(ids[number % ids.count], in: $0) }
      },
      close: peers.close)
  }

  @Sendable private static func readOneByHand() throws -> Comparison {
    let peers = try WorkoutPeers<WorkoutByHand>("read-one-by-hand")
    let ids = peers.sampleIDs
    let byHand = try peers.sqlite.pool.read { try SQLiteWorkoutStore.workoutByHand(ids[0], in: $0) }
    let tally = try peers.tally.read { try $0.record(WorkoutByHand.self, ids[0]) }
    try expectSameAnswer(
      AnswerHash([tally].compactMap { $0?.workout }), AnswerHash([byHand].compactMap(\.self)), "a workout by hand")
    return Comparison(
      tallyRepetitionCount: batch, peerRepetitionCount: batch,
      tally: { number in _ = try peers.tally.read { try $0.record(WorkoutByHand.self, ids[number % ids.count]) } },
      peer: { number in
        _ = try peers.sqlite.pool.read { try SQLiteWorkoutStore.workoutByHand(ids[number % ids.count], in: $0) }
      },
      close: peers.close)
  }

  @Sendable private static func page() throws -> Comparison {
    let (peers, start) = (try WorkoutPeers<Workout>("page-500"), try Years().year.lowerBound)
    let tally: @Sendable (String) throws -> [Workout] = { sport in
      try peers.tally.read { try $0.records(in: Workout.bySport, sport, from: start, limit: pageLength) }
    }
    let sqlite: @Sendable (String) throws -> [SQLiteWorkout] = { sport in
      try peers.sqlite.pool.read { try SQLiteWorkoutStore.page(sport, from: start, limit: pageLength, in: $0) }
    }
    try compare(tally, { try sqlite($0).map(\.workout) })
    return Comparison(
      tally: { _ = try tally(sport($0)) }, peer: { _ = try sqlite(sport($0)) }, close: peers.close)
  }

  @Sendable private static func pageByHand() throws -> Comparison {
    let (peers, start) = (try WorkoutPeers<WorkoutByHand>("page-500-by-hand"), try Years().year.lowerBound)
    let tally: @Sendable (String) throws -> [WorkoutByHand] = { sport in
      try peers.tally.read { try $0.records(in: WorkoutByHand.bySport, sport, from: start, limit: pageLength) }
    }
    let sqlite: @Sendable (String) throws -> [Workout] = { sport in
      try peers.sqlite.pool.read { try SQLiteWorkoutStore.pageByHand(sport, from: start, limit: pageLength, in: $0) }
    }
    try compare({ try tally($0).map(\.workout) }, sqlite)
    return Comparison(
      tally: { _ = try tally(sport($0)) }, peer: { _ = try sqlite(sport($0)) }, close: peers.close)
  }

  private static func sport(_ number: Int) -> String {
    WorkoutGenerator.sports[number % WorkoutGenerator.sports.count]
  }

  /// Compares the pages of all sports.
  private static func compare(
    _ tally: (String) throws -> [Workout], _ sqlite: (String) throws -> [Workout]
  ) throws {
    for sport in WorkoutGenerator.sports {
      let (page, expected) = (try tally(sport), try sqlite(sport))
      let isShort = BenchmarkFolder.isSmoke ? page.isEmpty : page.count != pageLength
      guard !isShort else { throw WrongAnswer(description: "a page of \(sport) has \(page.count) workouts") }
      try expectSameAnswer(AnswerHash(page), AnswerHash(expected), "a page of \(sport)")
    }
  }
}
