import Benchmark
import BenchmarkData

/// The cost of synchronisation: its share of a write, snapshots, joining, the delivery of a change to another device.
let benchmarks: @Sendable () -> Void = {
  WritingBenchmarks.register()
  SnapshotBenchmarks.register()
  DeliveryBenchmarks.register()
  WireBenchmarks.register()
}

/// The tasks of each store.
let dataSet = DataSet(taskCount: BenchmarkFolder.isSmoke ? 1_000 : 100_000)

/// Registers a benchmark that takes its own figures, in whole nanoseconds or bytes.
func figures(
  _ name: String, _ metrics: [BenchmarkMetric], iterations: Int, smokeIterations: Int = 1,
  _ measure: @escaping @Sendable (Benchmark) async throws -> Void,
  setup: (@Sendable () async throws -> Void)? = nil, teardown: (@Sendable () async throws -> Void)? = nil
) {
  Benchmark(
    name,
    configuration: .init(
      metrics: metrics, units: .unscaled(metrics), warmupIterations: 0, maxDuration: .seconds(300),
      maxIterations: BenchmarkFolder.isSmoke ? smokeIterations : iterations),
    closure: { benchmark in try await measure(benchmark) },
    setup: setup,
    teardown: teardown)
}
