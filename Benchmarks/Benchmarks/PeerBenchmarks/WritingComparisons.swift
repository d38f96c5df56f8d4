import Benchmark
import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import Tally

/// Creates, one by one and by many callers, and a bulk insert.
enum WritingComparisons {
  private static let callerCount = 16
  private static let createsPerCaller = 8

  static func register() {
    for isSteady in [false, true] {
      let suffix = isSteady ? "-steady" : ""
      creates("create-durable\(suffix)", isDurable: true, isSteady: isSteady)
      creates("create-relaxed\(suffix)", isDurable: false, isSteady: isSteady)
    }
    concurrentCreates("create-durable-16", isDurable: true)
    concurrentCreates("create-relaxed-16", isDurable: false)
    comparison("create-durable-raw") {
      let peers = try Peers("create-durable-raw")
      let raw = try RawStore(copyOf: Peers.dataSet, "create-durable-raw-lmdb")
      return Comparison(
        tally: { number in _ = try peers.tally.writeAndWait { try $0.add(title(number), to: .list(peers.project)) } },
        peer: { try raw.create($0) },
        close: {
          raw.close()
          try peers.close()
        })
    }
    leastCreates("create-durable-least", isDurable: true)
    leastCreates("create-relaxed-least", isDurable: false)
    comparison("create-with-fields", createWithFields)
    comparison("create-with-search", iterations: 60, seconds: 20, createWithSearch)
    comparison("create-durable-16-raw", iterations: 60, concurrentCreatesBesideLMDB)
    comparison("bulk-insert", iterations: 9, seconds: 60, bulkInsert)
    comparison("bulk-insert-raw", iterations: 9, seconds: 60, bulkInsertBesideLMDB)
  }

  private static func title(_ number: Int) -> String { "Water the plants \(number)" }

  /// How many pairs of creates are done before those that are timed, and how many are timed, where both stores are to be
  /// in their steady state: a peer's log grows through its first thousand writes, and is then written anew from its
  /// beginning, with a checkpoint now and then.
  private static let pairsBeforeSteady = BenchmarkFolder.isSmoke ? 2 : 1_200
  private static let steadyPairs = 3_000

  private static func creates(_ name: String, isDurable: Bool, isSteady: Bool) {
    comparison(name, iterations: isSteady ? steadyPairs : 200, seconds: isSteady ? 30 : 6) {
      let peers = try Peers(name, isDurable: isDurable)
      let tally: @Sendable (Int) throws -> Void = { number in
        _ = try peers.tally.writeAndWait { try $0.add(title(number), to: .list(peers.project)) }
      }
      if isSteady {
        for number in 0..<pairsBeforeSteady {
          try tally(number)
          try add(number, to: peers)
        }
      }
      return Comparison(tally: tally, peer: { try add($0, to: peers) }, close: peers.close)
    }
  }

  /// The least that a create on liblmdb can cost, beside the peer: the same entries, and one flushed block or no flush.
  private static func leastCreates(_ name: String, isDurable: Bool) {
    comparison(name) {
      let peers = try Peers(name, isDurable: isDurable)
      let raw = try RawStore(copyOf: Peers.dataSet, "\(name)-lmdb")
      let block = try BenchmarkFolder.makeScratch("\(name)-block").appending("block")
      try raw.skipFlushes(exceptBlockIn: isDurable ? block : nil)
      return Comparison(
        tally: { try raw.create($0) },
        peer: { try add($0, to: peers) },
        close: {
          raw.close()
          try peers.close()
        })
    }
  }

  /// Creates a task in SQLite.
  private static func add(_ number: Int, to peers: Peers) throws {
    try peers.sqlite.pool.write {
      try SQLiteTaskStore.add(title(number), toList: peers.project, at: TaskGenerator.now, in: $0)
    }
  }

  /// The fields that most tasks lack, beside a create without them in another store.
  @Sendable private static func createWithFields() throws -> Comparison {
    let peers = try Peers("create-with-fields")
    let bare = try Peers.dataSet.openCopy("peers-create-bare", durability: .durable)
    return Comparison(
      tally: { number in
        _ = try peers.tally.writeAndWait { transaction in
          try transaction.add(title(number), to: .list(peers.project)) { task in
            task.tags = ["home", "garden", "water"]
            task.priority = .high
            task.dueDate = TaskGenerator.now.adding(seconds: Int64(number))
          }
        }
      },
      peer: { number in _ = try bare.writeAndWait { try $0.add(title(number), to: .list(peers.project)) } },
      close: {
        try bare.close()
        try peers.close()
      })
  }

  /// Creates whose words are in the search index at once, beside creates that leave it to a later commit.
  ///
  /// That is more than a create does: of its own accord a store indexes some hundred tasks at a time. The peer does so in
  /// one pair of eight, which the median leaves out.
  @Sendable private static func createWithSearch() throws -> Comparison {
    let peers = try Peers("create-with-search")
    let bare = try Peers.dataSet.openCopy("peers-create-without-search", durability: .durable)
    let count = 64
    @Sendable func create(_ number: Int, in store: TaskStore) throws {
      for index in 0..<count {
        _ = try store.writeAndWait { try $0.add(title(count * number + index), to: .list(peers.project)) }
      }
    }
    for store in [peers.tally, bare] { try store.updateSearchIndex() }
    return Comparison(
      tally: { number in
        try create(number, in: peers.tally)
        try peers.tally.updateSearchIndex()
      },
      peer: { number in try create(number, in: bare) },
      close: {
        try bare.close()
        try peers.close()
      })
  }

  /// Sixteen callers that each wait for their own creates; the time is that of all of them together.
  private static func concurrentCreates(_ name: String, isDurable: Bool) {
    comparison(name, iterations: 60) {
      let peers = try Peers(name, isDurable: isDurable)
      let creates = callerCount * createsPerCaller
      return Comparison(
        tally: { number in
          try waitForCallers { try await peers.tally.write { _ = try $0.add(title(number), to: .list(peers.project)) } }
        },
        peer: { number in
          try waitForCallers {
            try await peers.sqlite.pool.write {
              try SQLiteTaskStore.add(title(number), toList: peers.project, at: TaskGenerator.now, in: $0)
            }
          }
        },
        close: {
          let before = Peers.dataSet.taskCount
          let added = try peers.tally.read { try $0.taskCount } - before
          guard added > 0, added.isMultiple(of: creates) else { throw WrongAnswer(description: "a create was lost") }
          try peers.close()
        })
    }
  }

  /// liblmdb alone, with one create per caller in each commit.
  @Sendable private static func concurrentCreatesBesideLMDB() throws -> Comparison {
    let peers = try Peers("create-durable-16-raw")
    let raw = try RawStore(copyOf: Peers.dataSet, "create-durable-16-raw-lmdb")
    return Comparison(
      tally: { number in
        try waitForCallers { try await peers.tally.write { _ = try $0.add(title(number), to: .list(peers.project)) } }
      },
      peer: { number in
        for commit in 0..<createsPerCaller {
          try raw.create((number * createsPerCaller + commit) * callerCount, count: callerCount)
        }
      },
      close: {
        raw.close()
        try peers.close()
      })
  }

  private static func waitForCallers(_ create: @escaping @Sendable () async throws -> Void) throws {
    try runAndWait {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<callerCount {
          group.addTask { for _ in 0..<createsPerCaller { try await create() } }
        }
        try await group.waitForAll()
      }
    }
  }

  @Sendable private static func bulkInsert() throws -> Comparison {
    let tasks = try Peers.dataSet.tasks()
    let folder = try BenchmarkFolder.makeScratch("bulk-insert")
    return Comparison(
      tally: { try fillStore(at: folder.appending("tally-\($0)"), with: tasks) },
      peer: { number in
        let store = try SQLiteTaskStore(at: folder.appending("sqlite-\(number)"), synchronous: .full)
        try store.insert(tasks)
        try store.close()
      })
  }

  /// liblmdb alone, given the same entries in the order of their keys.
  @Sendable private static func bulkInsertBesideLMDB() throws -> Comparison {
    let tasks = try Peers.dataSet.tasks()
    let entries = try RawEntries(of: Peers.dataSet, "bulk-insert-raw-entries")
    let folder = try BenchmarkFolder.makeScratch("bulk-insert-raw")
    return Comparison(
      tally: { try fillStore(at: folder.appending("tally-\($0)"), with: tasks) },
      peer: { try entries.write(to: folder.appending("lmdb-\($0)")) })
  }

  private static func fillStore(at directory: FilePath, with tasks: [TaskItem]) throws {
    let store = try DataSet.makeStoreOfLists(at: directory)
    try store.writeAndWait { try $0.insert(contentsOf: tasks) }
    try store.close()
  }
}
