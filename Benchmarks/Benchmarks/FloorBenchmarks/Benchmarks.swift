import Benchmark
import BenchmarkData

/// The operations that have a limit, each at the size of its limit or a larger one.
///
/// The limits are in `Benchmarks/Suites/floor.json`.
let benchmarks: @Sendable () -> Void = {
  ChangeBenchmarks.register()
  ViewBenchmarks.register()
  StatisticsBenchmarks.register()
  DocumentBenchmarks.register()
  SizeBenchmarks.register()
}
