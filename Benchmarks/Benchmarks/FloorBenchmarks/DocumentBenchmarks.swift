import Benchmark
import BenchmarkData
import Foundation
import SystemPackage
import Tally

/// Documents in and out.
enum DocumentBenchmarks {
  static func register() {
    for taskCount in [10, 500, 1_000] { export(taskCount) }
    importDocument()
  }

  private static func export(_ taskCount: Int) {
    let name = "export-\(taskCount)"
    floorBenchmark(name, on: { try DataSet(taskCount: taskCount).open() }) { benchmark, store in
      let file = try BenchmarkFolder.makeScratch(name).appending("tasks.json")
      benchmark.startMeasurement()
      let summary = try store.export(to: file)
      benchmark.stopMeasurement()
      try expectEqual(summary.taskCount, taskCount, "tasks exported")
    }
  }

  private static func importDocument() {
    floorBenchmark("import-1000") { benchmark, store in
      let folder = try BenchmarkFolder.makeScratch("import-1000")
      try store.export(to: folder.appending("tasks.json"))
      let copy = try TaskStore(at: folder.appending("store"), configuration: DataSet.configuration())
      benchmark.startMeasurement()
      let summary = try copy.importDocument(from: folder.appending("tasks.json"))
      benchmark.stopMeasurement()
      try expectEqual(summary.tasks.added, 1_000, "tasks imported")
      try copy.close()
    }
  }
}
