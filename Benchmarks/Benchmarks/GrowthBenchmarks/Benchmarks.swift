import Benchmark
import BenchmarkData

/// Everyday calls on stores of different sizes: their cost must not follow the size.
let benchmarks: @Sendable () -> Void = {
  let sizes = BenchmarkFolder.isSmoke ? [1_000, 2_000] : [1_000, 10_000, 100_000, 1_000_000]
  for taskCount in sizes { GrowthBenchmarks(dataSet: DataSet(taskCount: taskCount)).register() }
}
