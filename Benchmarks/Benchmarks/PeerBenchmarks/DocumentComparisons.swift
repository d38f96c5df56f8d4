import Benchmark
import BenchmarkData
import Foundation
import SQLitePeer
import SystemPackage
import Tally

/// Documents in and out: times side by side, memory each in a process of its own, and size on disk.
enum DocumentComparisons {
  static func register() {
    comparison("export", iterations: 9, seconds: 30, exports)
    comparison("import", iterations: 9, seconds: 60, imports)
    memory("export-memory-tally") { folder in
      let store = try Peers.dataSet.open()
      return { try store.export(to: folder.appending("tasks.json")) }
    }
    memory("export-memory-peer") { folder in
      let store = try openPeer("export-memory-peer")
      return { try store.export(to: folder.appending("tasks.json")) }
    }
    memory("import-memory-tally") { folder in
      let file = try document(in: folder)
      let store = try TaskStore(at: folder.appending("store"), configuration: DataSet.configuration())
      return { try store.importDocument(from: file) }
    }
    memory("import-memory-peer") { folder in
      let file = try document(in: folder)
      let store = try SQLiteTaskStore(at: folder.appending("tasks.sqlite"), synchronous: .full)
      return { try store.importDocument(from: file) }
    }
    room()
  }

  private static func openPeer(_ name: String) throws -> SQLiteTaskStore {
    try SQLiteDataSet(of: Peers.dataSet).openCopy("\(name)-sqlite", synchronous: .full)
  }

  /// Tally's export, for both to import.
  private static func document(in folder: FilePath) throws -> FilePath {
    let file = folder.appending("document.json")
    let store = try Peers.dataSet.open()
    try store.export(to: file)
    try store.close()
    return file
  }

  /// The tasks of a document, found by importing it: both exports must have the same.
  private static func answer(_ file: FilePath, in folder: FilePath) throws -> AnswerHash {
    let store = try TaskStore(at: folder.appending("answer"), configuration: DataSet.configuration())
    try DocumentOfLists(lists: TaskGenerator().lists).importInto(store)
    try store.importDocument(from: file, options: ImportOptions(isLenient: true))
    let hash = AnswerHash(try store.read { try $0.view(.all).tasks })
    try store.close()
    try FileManager.default.removeItem(atPath: folder.appending("answer").string)
    return hash
  }

  @Sendable private static func exports() throws -> Comparison {
    let peers = try Peers("export")
    let folder = try BenchmarkFolder.makeScratch("export")
    let files = (tally: folder.appending("tally.json"), sqlite: folder.appending("sqlite.json"))
    try peers.tally.export(to: files.tally)
    try peers.sqlite.export(to: files.sqlite)
    try expectSameAnswer(answer(files.tally, in: folder), answer(files.sqlite, in: folder), "the exports")
    return Comparison(
      tally: { _ in try peers.tally.export(to: files.tally) }, peer: { _ in try peers.sqlite.export(to: files.sqlite) },
      close: peers.close)
  }

  @Sendable private static func imports() throws -> Comparison {
    let folder = try BenchmarkFolder.makeScratch("import")
    let file = try document(in: folder)
    return Comparison(
      tally: { number in
        let store = try TaskStore(at: folder.appending("tally-\(number)"), configuration: DataSet.configuration())
        let summary = try store.importDocument(from: file)
        try expectEqual(summary.tasks.added, Peers.dataSet.taskCount, "tasks imported")
        try store.close()
      },
      peer: { number in
        let store = try SQLiteTaskStore(at: folder.appending("sqlite-\(number)"), synchronous: .full)
        try store.importDocument(from: file)
        try store.close()
      })
  }

  /// The greatest private memory that a piece of work adds, in a process that does nothing else.
  private static func memory(
    _ name: String, _ makeReady: @escaping @Sendable (FilePath) throws -> () throws -> Void
  ) {
    let kilobytes = BenchmarkMetric.custom("privateKilobytes")
    Benchmark(
      name,
      configuration: .init(metrics: [kilobytes], units: .unscaled([kilobytes]), warmupIterations: 0, maxIterations: 1),
      closure: { benchmark in
        let work = try makeReady(try BenchmarkFolder.makeScratch(name))
        let before = MemoryUse.privateInKilobytes
        let peak = try MemoryUse.peakPrivateInKilobytes(of: work)
        benchmark.measurement(kilobytes, max(0, peak - before))
      })
  }

  private static func room() {
    let metrics = [
      BenchmarkMetric.custom("tallyBytesPerTask"), .custom("peerBytesPerTask"), .custom("documentBytesPerTask"),
    ]
    Benchmark(
      "room", configuration: .init(metrics: metrics, units: .unscaled(metrics), warmupIterations: 0, maxIterations: 1),
      closure: { benchmark in
        let files = [
          Peers.dataSet.directory.appending("data.mdb"), SQLiteDataSet(of: Peers.dataSet).file,
          try document(in: try BenchmarkFolder.makeScratch("room")),
        ]
        for (metric, file) in zip(metrics, files) {
          benchmark.measurement(metric, try BenchmarkFolder.sizeInBytes(of: file) / Peers.dataSet.taskCount)
        }
      })
  }
}
