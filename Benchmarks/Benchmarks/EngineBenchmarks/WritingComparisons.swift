import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import TallyEngine

/// Creates one by one, and a bulk insert.
enum WritingComparisons {
  static func register() {
    for isSteady in [false, true] {
      let suffix = isSteady ? "-steady" : ""
      creates("create-durable\(suffix)", isDurable: true, isSteady: isSteady)
      creates("create-relaxed\(suffix)", isDurable: false, isSteady: isSteady)
    }
    bulkInsert("bulk-insert", Workout.self, keepsSums: true)
    bulkInsert("bulk-insert-without-sums", Workout.self, keepsSums: false)
    bulkInsert("bulk-insert-by-hand", WorkoutByHand.self, keepsSums: true)
  }

  /// How many pairs of creates are done before those that are timed, where the peer's log is to have its size.
  ///
  /// A create writes some eight pages of the log, which grows to a thousand.
  private static let pairsBeforeSteady = BenchmarkFolder.isSmoke ? 2 : 1_200
  private static let (growingPairs, steadyPairs) = (100, 3_000)

  private static func creates(_ name: String, isDurable: Bool, isSteady: Bool) {
    let (before, count) = isSteady ? (pairsBeforeSteady, steadyPairs) : (0, growingPairs)
    comparison(name, iterations: count, seconds: isSteady ? 30 : 6) {
      let peers = try WorkoutPeers<Workout>(name, isDurable: isDurable)
      // A few more, for what is done to warm up.
      let workouts = WorkoutGenerator.newWorkouts(before + count + 10)
      let tally: @Sendable (Int) throws -> Void = { number in
        _ = try peers.tally.writeAndWait { try $0.save(workouts[number]) }
      }
      let sqlite: @Sendable (Int) throws -> Void = { number in
        try peers.sqlite.pool.write { try SQLiteWorkoutStore.add(workouts[number], in: $0) }
      }
      for number in 0..<before {
        try tally(number)
        try sqlite(number)
      }
      return Comparison(
        tally: { try tally(before + $0) }, peer: { try sqlite(before + $0) },
        close: {
          try peers.compareEverything("the workouts after \(name)")
          try peers.close()
        })
    }
  }

  /// A bulk insert of all workouts into a new store; both are closed, which moves the peer's log into its file.
  private static func bulkInsert<Record: WorkoutRecord>(_ name: String, _ type: Record.Type, keepsSums: Bool) {
    comparison(name, iterations: 9, seconds: 60) {
      try WorkoutPeers<Record>("\(name)-compared", keepsSums: keepsSums).close()
      let workouts = WorkoutGenerator.workouts
      let records = workouts.map { Record($0) }
      let folder = try BenchmarkFolder.makeScratch(name)
      return Comparison(
        tally: { number in
          let store = try WorkoutPeers<Record>.openStore(at: folder.appending("tally-\(number)"), isDurable: true)
          try store.writeAndWait { try $0.insert(contentsOf: records) }
          try store.close()
        },
        peer: { number in
          let store = try SQLiteWorkoutStore(
            at: folder.appending("sqlite-\(number)"), synchronous: .full, keepsSums: keepsSums)
          try store.insert(workouts)
          try store.close()
        })
    }
  }
}
