import Benchmark
import BenchmarkData
import Tally

/// The part that all benchmarks of the floor share.
enum Floor {
  /// A store of the size that the floor is about, or twice it.
  static let dataSet = DataSet(taskCount: 1_000)

  static var configuration: Benchmark.Configuration {
    .init(
      metrics: [.wallClock], timeUnits: .nanoseconds, warmupIterations: BenchmarkFolder.isSmoke ? 0 : 10,
      maxDuration: .seconds(2), maxIterations: BenchmarkFolder.isSmoke ? 2 : 500)
  }
}

/// Registers a benchmark that works on one store, opened before it and closed after it.
func floorBenchmark(
  _ name: String,
  on openStore: @escaping @Sendable () throws -> TaskStore = { try Floor.dataSet.open() },
  configuration: Benchmark.Configuration = Floor.configuration,
  _ work: @escaping @Sendable (Benchmark, TaskStore) throws -> Void
) {
  let opened = OpenedStore()
  Benchmark(
    name,
    configuration: configuration,
    closure: { benchmark in try work(benchmark, opened.get()) },
    setup: { try opened.open(openStore) },
    teardown: { try opened.close() }
  )
}

/// As `floorBenchmark`, on a copy that may be changed.
func changeBenchmark(_ name: String, _ work: @escaping @Sendable (Benchmark, TaskStore) throws -> Void) {
  floorBenchmark(name, on: { try Floor.dataSet.openCopy("floor-\(name)") }, work)
}
