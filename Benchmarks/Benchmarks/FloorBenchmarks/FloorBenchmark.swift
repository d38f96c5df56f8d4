import Benchmark
import BenchmarkData
import Synchronization
import Tally

/// What all benchmarks of the floor share.
enum Floor {
  /// A store of the size that the floor speaks of, or twice it.
  static let dataSet = DataSet(taskCount: 1_000)

  static var configuration: Benchmark.Configuration {
    .init(
      metrics: [.wallClock, .throughput], warmupIterations: BenchmarkFolder.isSmoke ? 0 : 10,
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
    closure: { benchmark in
      guard let store = opened.store.withLock({ $0 }) else { throw WrongAnswer(description: "no store is open") }
      try work(benchmark, store)
    },
    setup: { try opened.store.withLock { $0 = try openStore() } },
    teardown: { try opened.store.withLock { try $0?.close() } }
  )
}

/// As `floorBenchmark`, on a copy that may be changed.
func changeBenchmark(_ name: String, _ work: @escaping @Sendable (Benchmark, TaskStore) throws -> Void) {
  floorBenchmark(name, on: { try Floor.dataSet.openCopy("floor-\(name)") }, work)
}

/// A benchmark's store, between its set-up and its end.
private final class OpenedStore: Sendable {
  let store = Mutex<TaskStore?>(nil)
}
