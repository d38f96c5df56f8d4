import Foundation
import SystemPackage
import Tally

/// Measures Tally on generated stores and prints tables; `--smoke` does the same work on small ones, to show that it
/// runs.
///
/// Stores are made under `.build/benchmark-stores` of the current directory, so that durable writes meet a real disk, and
/// removed at the end.
@main
struct TallyBenchmarks {
  let isSmoke: Bool
  let folder: FilePath

  static func main() async throws {
    let folder = FileManager.default.currentDirectoryPath + "/.build/benchmark-stores"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let benchmarks = Self(isSmoke: CommandLine.arguments.contains("--smoke"), folder: FilePath(folder))
    try benchmarks.printGrowth()
    try benchmarks.printBulk()
    try await benchmarks.printConcurrency()
  }

  private func printGrowth() throws {
    let sizes = isSmoke ? [1_000, 2_000] : [1_000, 1_000_000]
    let benchmark = GrowthBenchmark(repetitionCount: isSmoke ? 20 : 500)
    let results = try sizes.map { size in
      try benchmark.run(on: BenchmarkStore(at: folder.appending("growth-\(size)"), taskCount: size))
    }
    var table = Table(
      columns: ["µs, in process"] + sizes.flatMap { ["p50 at \($0.groupedText)", "p99 at \($0.groupedText)"] } + [
        "growth of p50"
      ]
    )
    for (small, large) in zip(results[0], results[1]) {
      let times = [small.samples, large.samples].flatMap { [$0.p50.microseconds, $0.p99.microseconds] }
      let growth = large.samples.p50 / small.samples.p50
      table.add([small.name] + times.map(\.shortText) + ["\(growth.shortText)×"])
    }
    print("\nCalls on small and large stores, \(benchmark.repetitionCount) times each\n\n\(table.text)")
  }

  private func printBulk() throws {
    let taskCount = isSmoke ? 1_000 : 100_000
    let rows = try BulkBenchmark(taskCount: taskCount, folder: folder).run()
    var table = Table(columns: ["\(taskCount.groupedText) tasks with all indexes", "seconds", "bytes", "bytes a task"])
    for row in rows {
      let bytesPerTask = Double(row.sizeInBytes) / Double(taskCount)
      table.add([row.name, row.duration.seconds.shortText, Int(row.sizeInBytes).groupedText, bytesPerTask.shortText])
    }
    print("\nWhole stores, once\n\n\(table.text)")
  }

  private func printConcurrency() async throws {
    var table = Table(columns: ["durable creates", "p50 µs", "p99 µs", "creates a second"])
    for callerCount in [1, 16] {
      let store = try TaskStore(
        at: folder.appending("concurrency-\(callerCount)"),
        configuration: BenchmarkStore.configuration()
      )
      let benchmark = ConcurrencyBenchmark(callerCount: callerCount, createsPerCaller: isSmoke ? 5 : 500)
      let (samples, createsPerSecond) = try await benchmark.run(on: store)
      try store.close()
      table.add([
        callerCount == 1 ? "1 caller" : "\(callerCount) concurrent callers", samples.p50.microseconds.shortText,
        samples.p99.microseconds.shortText, createsPerSecond.shortText,
      ])
    }
    print("\nConcurrent callers\n\n\(table.text)")
  }
}
