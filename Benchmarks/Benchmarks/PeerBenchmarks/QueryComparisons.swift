import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import Tally

/// Filters: one that no index serves, and a tag whose index has the order.
enum QueryComparisons {
  private static let limit = 50

  static func register() {
    comparison("filter-without-index") {
      let peers = try Peers("filter-without-index")
      let query = TaskQuery(.title(contains: "bicycle") && .is(.open), by: .place, limit: limit)
      return try compare(query, peers, "a filter that no index serves") {
        try SQLiteTaskStore.openTasks(withTitleContaining: "bicycle", limit: limit, in: $0)
      }
    }
    comparison("tag-open-first-50") {
      let peers = try Peers("tag-open-first-50")
      let query = TaskQuery(.tag(TaskGenerator.tag) && .is(.open), by: .place, limit: limit)
      return try compare(query, peers, "open tasks with a tag") {
        try SQLiteTaskStore.openTasks(withTag: TaskGenerator.tag, limit: limit, in: $0)
      }
    }
  }

  private static func compare(
    _ query: TaskQuery, _ peers: Peers, _ name: String,
    _ ask: @escaping @Sendable (Database) throws -> [TaskItem]
  ) throws -> Comparison {
    let tally: @Sendable () throws -> [TaskItem] = { try peers.tally.read { try $0.tasks(query).tasks } }
    let sqlite: @Sendable () throws -> [TaskItem] = { try peers.sqlite.pool.read(ask) }
    let (found, expected) = (try tally(), try sqlite())
    try expectEqual(found.count, expected.count, "tasks found by \(name)")
    try expectSameAnswer(AnswerHash(found), AnswerHash(expected), name)
    return Comparison(tally: { _ in _ = try tally() }, peer: { _ in _ = try sqlite() }, close: peers.close)
  }
}
