import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import Tally

/// Search by words, beside SQLite's FTS5.
enum SearchingComparisons {
  /// How many tasks have the rare word.
  private static let rareCount = 200
  private static let limit = 20

  static func register() {
    search("search-common-and-rare", "report zebra", peerWords: "report AND zebra*")
    search("search-rare", "zebra", peerWords: "zebra*")
    search("search-common", "report", peerWords: "report*")
    search("search-common-and-rare-million", "report zebra", peerWords: "report AND zebra*", in: Peers.largeDataSet)
  }

  private static func search(
    _ name: String, _ words: String, peerWords: String, in dataSet: DataSet = Peers.dataSet
  ) {
    comparison(name) {
      let peers = try Peers(name, of: dataSet)
      try addRareWords(to: peers)
      let query = SearchQuery(words)
      let (all, peerAll) = (
        try peers.tally.search(query).map(\.task.id),
        try peers.sqlite.pool.read { try SQLiteTaskStore.search(peerWords, limit: .max, in: $0) }
      )
      try expectEqual(Set(all), Set(peerAll), "the tasks with \(words)")
      print("found \(all.count)")
      return Comparison(
        tally: { _ in _ = try peers.tally.search(query, limit: limit) },
        peer: { _ in
          try peers.sqlite.pool.read { database in
            for id in try SQLiteTaskStore.search(peerWords, limit: limit, in: database) {
              _ = try SQLiteTaskStore.task(id, in: database)
            }
          }
        },
        close: peers.close)
    }
  }

  /// Half of the tasks with the rare word have the common one, too.
  private static func addRareWords(to peers: Peers) throws {
    var random = SeededRandom(seed: TaskGenerator.seed)
    let tasks = (0..<rareCount).map { number in
      let createdAt = TaskGenerator.now.adding(seconds: -Int64(number))
      return TaskItem(
        id: random.uuid(at: createdAt), title: number.isMultiple(of: 2) ? "Report on the zebra" : "Feed the zebra",
        createdAt: createdAt)
    }
    try peers.tally.writeAndWait { try $0.insert(contentsOf: tasks) }
    try peers.tally.updateSearchIndex()
    try peers.sqlite.insert(tasks)
    try peers.sqlite.makeSearchIndex()
  }
}
