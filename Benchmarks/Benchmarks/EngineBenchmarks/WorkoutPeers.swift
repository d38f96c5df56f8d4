import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import TallyEngine

/// The engine and the peer with the same workouts.
struct WorkoutPeers<Record: WorkoutRecord>: Sendable {
  let tally: Store
  let sqlite: SQLiteWorkoutStore
  /// Some of the workouts' ids, in an order unrelated to the pages of either.
  let sampleIDs: [UUID]

  /// Fills new stores, at the same durability.
  init(_ name: String, isDurable: Bool = true, keepsSums: Bool = true) throws {
    let folder = try BenchmarkFolder.makeScratch("engine-\(name)")
    var random = SeededRandom(seed: 1)
    let workouts = WorkoutGenerator.workouts
    sampleIDs = workouts.map(\.id).shuffled(using: &random)
    tally = try Self.openStore(at: folder.appending("tally"), isDurable: isDurable)
    try tally.writeAndWait { try $0.insert(contentsOf: workouts.map { Record($0) }) }
    sqlite = try SQLiteWorkoutStore(
      at: folder.appending("workouts.sqlite"), synchronous: isDurable ? .full : .normal, keepsSums: keepsSums)
    try sqlite.insert(workouts)
    // The log is empty, as after the checkpoint of an application.
    try sqlite.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try compareEverything("the workouts of \(name)")
  }

  static func openStore(at directory: FilePath, isDurable: Bool) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = isDurable ? .durable : .relaxed
    return try Store(
      at: URL(filePath: directory.string), schema: Schema(Record.collection), configuration: configuration)
  }

  func close() throws {
    try tally.close()
    try sqlite.close()
  }

  /// Compares the number of workouts, the minutes of each sport, and a thousand workouts by their ids.
  func compareEverything(_ question: String) throws {
    let numbers = try tally.read { reader in
      try [reader.count(Record.self)] + reader.totals(Record.trained).map { Int($0.value) }
    }
    let sessions = try tally.read { try $0.total(Record.sessions) }
    try expectEqual(Int(sessions), numbers[0], "sessions")
    let expected = try sqlite.everything()
    try expectSameAnswer(AnswerHash(numbers), AnswerHash(expected), question)
    let ids = sampleIDs.prefix(1_000)
    let ours = try tally.read { reader in try ids.compactMap { try reader.record(Record.self, $0)?.workout } }
    let others = try sqlite.pool.read { database in
      try ids.compactMap { try SQLiteWorkoutStore.workout($0, in: database)?.workout }
    }
    try expectEqual(ours.count, ids.count, "workouts found")
    try expectSameAnswer(AnswerHash(ours), AnswerHash(others), "a thousand workouts by id")
  }
}
