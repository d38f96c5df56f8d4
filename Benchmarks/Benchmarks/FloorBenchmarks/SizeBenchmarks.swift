import Benchmark
import BenchmarkData
import Foundation
import SystemPackage
import Tally

/// Memory and disk.
enum SizeBenchmarks {
  private static let memory = BenchmarkMetric.custom("peakResidentKilobytes")
  private static let disk = BenchmarkMetric.custom("diskKilobytes")

  static func register() {
    var configuration = Floor.configuration
    configuration.metrics = [memory, disk]
    configuration.units = .unscaled(configuration.metrics)
    configuration.warmupIterations = 0
    configuration.maxIterations = 20
    floorBenchmark(
      "typical-use", on: { try Floor.dataSet.openCopy("floor-typical-use") }, configuration: configuration
    ) { benchmark, store in
      try useAsAnApplicationDoes(store)
      benchmark.measurement(memory, MemoryUse.peakResidentInKilobytes)
      let file = store.directory.appending("data.mdb")
      benchmark.measurement(disk, try BenchmarkFolder.sizeInBytes(of: file) / 1_024)
    }
  }

  /// Reads every view and the statistics, changes a task, exports.
  private static func useAsAnApplicationDoes(_ store: TaskStore) throws {
    let views: [TaskView] = [.inbox, .today, .upcoming, .past, .overdue, .active, .completed(nil), .all]
    for view in views { _ = try store.read { try $0.view(view) } }
    _ = try store.read { try $0.statistics() }
    let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
    _ = try store.writeAndWait { try $0.complete(task.id) }
    _ = try store.writeAndWait { try $0.delete(task.id) }
    try store.export(to: store.directory.removingLastComponent().appending("tasks.json"))
  }
}
