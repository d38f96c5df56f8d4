import Benchmark
import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import Tally

/// The cost of a log with many commits, for reads and for opening; several processes; bytes written, and the growth of files.
enum LogComparisons {
  /// Almost as many commits as make a merge due.
  private static let unmergedCommits = 240
  private static let processCount = 4
  private static let createsPerProcess = 25

  static func register() {
    reads()
    for isDurable in [true, false] {
      comparison("create-\(isDurable ? "durable" : "relaxed")-processes", iterations: 40, seconds: 20) {
        try processes(isDurable: isDurable)
      }
    }
    comparison("open-beside-log", iterations: 50) { try openings(isKilled: false) }
    comparison("open-killed", iterations: 20, seconds: 20) { try openings(isKilled: true) }
    written()
  }

  private static func title(_ number: Int) -> String { "Water the plants \(number)" }

  /// A store whose tail has commits, and as the peer one with the same tasks that has none.
  private static func reads() {
    tail("read-one-task-tail", repetitions: 100) { store, ids, _, number in
      _ = try store.read { try $0.task(ids[number % ids.count]) }
    }
    tail("view-500-tail") { store, _, project, _ in
      _ = try store.read { try $0.view(.list(project)).tasks }
    }
    tail("count-year-tail", repetitions: 20) { store, _, _, _ in
      let year = try StatisticsPeriods.interval(of: .year)
      _ = try store.read { try $0.completionCount(in: year) }
    }
  }

  private static func tail(
    _ name: String, repetitions: Int = 1,
    _ work: @escaping @Sendable (TaskStore, [UUID], _ project: UUID, _ number: Int) throws -> Void
  ) {
    comparison(name) {
      let full = try Peers.dataSet.openCopy("\(name)-full")
      let merged = try Peers.dataSet.openCopy("\(name)-merged")
      var random = SeededRandom(seed: TaskGenerator.seed)
      let ids = try full.read { try $0.page(of: .all, limit: 100_000).tasks.map(\.id) }.shuffled(using: &random)
      let project = try full.read { try $0.lists()[0].id }
      for store in [full, merged] {
        // Another list: the answers come from the same pages.
        for number in 0..<unmergedCommits { _ = try store.writeAndWait { try $0.add(title(number), to: .inbox) } }
      }
      // Closing merges, and so does suspending, which leaves the store open.
      try merged.suspend()
      try merged.resume()
      return Comparison(
        tallyRepetitionCount: repetitions, peerRepetitionCount: repetitions,
        tally: { try work(full, ids, project, $0) }, peer: { try work(merged, ids, project, $0) },
        close: {
          try full.close()
          try merged.close()
        })
    }
  }

  /// Each repetition is some creates by each of four processes, which write in turn as they come.
  ///
  /// Each process pauses after each create, and the pause is in the figures.
  private static func processes(isDurable: Bool) throws -> Comparison {
    let name = "create-processes"
    let peers = try Peers(name, isDurable: isDurable)
    let list = peers.project
    try peers.close()
    let file = scratch("peers-\(name)-sqlite").pushing("sqlite/tasks.sqlite")
    let tally = try Writers(
      .tally, count: processCount, at: scratch("peers-\(name)").appending("store"), isDurable: isDurable, list: list)
    let sqlite = try Writers(.sqlite, count: processCount, at: file, isDurable: isDurable, list: list)
    return Comparison(
      tally: { _ in try tally.create(createsPerProcess) }, peer: { _ in try sqlite.create(createsPerProcess) },
      close: {
        try tally.close()
        try sqlite.close()
      })
  }

  /// Opens a store with a full log, reads a view, and closes the store; the peer does so with its own log.
  ///
  /// Another process has the store open, or was killed.
  private static func openings(isKilled: Bool) throws -> Comparison {
    let name = isKilled ? "open-killed" : "open-beside-log"
    let peers = try Peers(name)
    let list = peers.project
    try peers.close()
    let folders = (tally: scratch("peers-\(name)").appending("store"), sqlite: scratch("peers-\(name)-sqlite"))
    let file = FilePath("sqlite/tasks.sqlite")
    let writers = [
      try Writers(.tally, count: 1, at: folders.tally, isDurable: true, list: list),
      try Writers(.sqlite, count: 1, at: folders.sqlite.pushing(file), isDurable: true, list: list),
    ]
    for writer in writers { try writer.create(unmergedCommits) }
    if isKilled { for writer in writers { writer.kill() } }
    let copies = try BenchmarkFolder.makeScratch("\(name)-copies")
    // What a killed process has left is brought in by the first opening, so each one has a copy.
    let place: @Sendable (FilePath, String, Int) -> FilePath = { original, kind, number in
      isKilled ? copies.appending("\(kind)-\(number)") : original
    }
    return Comparison(
      prepare: { number in
        guard isKilled else { return }
        try BenchmarkFolder.copy(folders.tally, to: place(folders.tally, "tally", number))
        try BenchmarkFolder.copy(folders.sqlite, to: place(folders.sqlite, "sqlite", number))
        // Otherwise the first flush would write the copy.
        sync()
      },
      tally: { number in
        let store = try TaskStore(at: place(folders.tally, "tally", number), configuration: DataSet.configuration())
        _ = try store.read { try $0.view(.list(list)).tasks }
        try store.close()
      },
      peer: { number in
        let path = place(folders.sqlite, "sqlite", number).pushing(file)
        let store = try SQLiteTaskStore(at: path, synchronous: .full)
        _ = try store.pool.read { try SQLiteTaskStore.tasks(ofList: list, in: $0) }
        try store.close()
      },
      close: { if !isKilled { for writer in writers { try writer.close() } } })
  }

  private static func scratch(_ name: String) -> FilePath {
    BenchmarkFolder.path.appending("scratch").appending(name)
  }

  /// The bytes that a durable create writes, merges and checkpoints included, and by which the files grow.
  private static func written() {
    let creates = BenchmarkFolder.isSmoke ? 16 : 4_096
    let metrics = [
      BenchmarkMetric.custom("tallyBytesPerCreate"), .custom("peerBytesPerCreate"),
      .custom("tallyGrowthPerCreate"), .custom("peerGrowthPerCreate"),
    ]
    Benchmark(
      "written",
      configuration: .init(metrics: metrics, units: .unscaled(metrics), warmupIterations: 0, maxIterations: 1),
      closure: { benchmark in
        let peers = try Peers("written")
        let works: [(create: (Int) throws -> Void, folder: FilePath)] = [
          (
            { number in _ = try peers.tally.writeAndWait { try $0.add(title(number), to: .list(peers.project)) } },
            scratch("peers-written").appending("store")
          ),
          (
            { number in
              try peers.sqlite.pool.write {
                try SQLiteTaskStore.add(title(number), toList: peers.project, at: TaskGenerator.now, in: $0)
              }
            }, scratch("peers-written-sqlite").appending("sqlite")
          ),
        ]
        for (index, work) in works.enumerated() {
          // Logs have their size afterwards.
          for number in 0..<creates / 4 { try work.create(number) }
          let (bytes, size) = (try bytesWritten(), try sizeInBytes(of: work.folder))
          for number in 0..<creates { try work.create(creates + number) }
          benchmark.measurement(metrics[index], (try bytesWritten() - bytes) / creates)
          benchmark.measurement(metrics[2 + index], max(0, try sizeInBytes(of: work.folder) - size) / creates)
        }
        try peers.close()
      })
  }

  /// What this process has given to the calls that write.
  private static func bytesWritten() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix("wchar: ") }), let count = Int(line.dropFirst(7)) else {
      throw WrongAnswer(description: "the system does not count bytes written")
    }
    return count
  }

  private static func sizeInBytes(of folder: FilePath) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder.string)
      .reduce(0) { try $0 + BenchmarkFolder.sizeInBytes(of: folder.appending($1)) }
  }
}
