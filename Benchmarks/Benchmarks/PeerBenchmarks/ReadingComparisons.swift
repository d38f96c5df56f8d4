import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import Tally

/// Tasks and views, in a transaction each and many in one.
enum ReadingComparisons {
  private static let batch = 100

  static func register() {
    comparison("read-one-task") {
      let peers = try Peers("read-one-task")
      let ids = peers.sampleIDs
      try compareTasks(of: peers)
      return Comparison(
        tallyRepetitionCount: batch, peerRepetitionCount: batch,
        tally: { number in _ = try peers.tally.read { try $0.task(ids[number % ids.count]) } },
        peer: { number in
          _ = try peers.sqlite.pool.read { try SQLiteTaskStore.task(ids[number % ids.count], in: $0) }
        },
        close: peers.close)
    }
    comparison("read-many-tasks") {
      let peers = try Peers("read-many-tasks")
      return Comparison(
        tally: { number in
          try peers.tally.read { transaction in
            for id in slice(of: peers, number) { _ = try transaction.task(id) }
          }
        },
        peer: { number in
          try peers.sqlite.pool.read { database in
            for id in slice(of: peers, number) { _ = try SQLiteTaskStore.task(id, in: database) }
          }
        },
        close: peers.close)
    }
    comparison("view-500") {
      let peers = try Peers("view-500")
      let view = TaskView.list(peers.project)
      let tally: @Sendable () throws -> [TaskItem] = { try peers.tally.read { try $0.view(view).tasks } }
      let sqlite: @Sendable () throws -> [TaskItem] = {
        try peers.sqlite.pool.read { try SQLiteTaskStore.tasks(ofList: peers.project, in: $0) }
      }
      try expectSameAnswer(AnswerHash(try tally()), AnswerHash(try sqlite()), "a list of 500 tasks")
      return Comparison(tally: { _ in _ = try tally() }, peer: { _ in _ = try sqlite() }, close: peers.close)
    }
    rawReads()
  }

  /// 100 of the sampled ids, others for each number.
  private static func slice(of peers: Peers, _ number: Int) -> ArraySlice<UUID> {
    let start = number * batch % (peers.sampleIDs.count - batch + 1)
    return peers.sampleIDs[start..<start + batch]
  }

  private static func compareTasks(of peers: Peers) throws {
    let ids = peers.sampleIDs.prefix(1_000)
    let tally = try peers.tally.read { transaction in try ids.compactMap { try transaction.task($0) } }
    let sqlite = try peers.sqlite.pool.read { database in
      try ids.compactMap { try SQLiteTaskStore.task($0, in: database) }
    }
    try expectEqual(tally.count, ids.count, "tasks found")
    try expectSameAnswer(AnswerHash(tally), AnswerHash(sqlite), "1,000 tasks by id")
  }

  private static func rawReads() {
    rawComparison("read-one-task-raw", repetitionCount: batch) { peers, raw in
      let ids = peers.sampleIDs
      return (
        { number in _ = try peers.tally.read { try $0.task(ids[number % ids.count]) } },
        { number in try raw.read(ids[number % ids.count]) }
      )
    }
    rawComparison("read-many-tasks-raw") { peers, raw in
      (
        { number in
          try peers.tally.read { transaction in
            for id in slice(of: peers, number) { _ = try transaction.task(id) }
          }
        }, { number in try raw.read(slice(of: peers, number)) }
      )
    }
    rawComparison("view-500-raw") { peers, raw in
      let view = TaskView.list(peers.project)
      let count = try peers.tally.read { try $0.view(view).tasks.count }
      return (
        { _ in _ = try peers.tally.read { try $0.view(view).tasks } },
        { _ in try expectEqual(raw.readList(peers.project), count, "tasks of a list, by liblmdb") }
      )
    }
  }

  private typealias Work = @Sendable (Int) throws -> Void

  /// Registers a comparison with liblmdb, on a copy of its own.
  private static func rawComparison(
    _ name: String, repetitionCount: Int = 1,
    _ works: @escaping @Sendable (Peers, RawStore) throws -> (tally: Work, raw: Work)
  ) {
    comparison(name) {
      let peers = try Peers(name)
      let raw = try RawStore(copyOf: Peers.dataSet, "\(name)-lmdb")
      let (tally, liblmdb) = try works(peers, raw)
      return Comparison(
        tallyRepetitionCount: repetitionCount, peerRepetitionCount: repetitionCount, tally: tally, peer: liblmdb,
        close: {
          raw.close()
          try peers.close()
        })
    }
  }
}
