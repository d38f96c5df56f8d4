package import Benchmark

extension [BenchmarkMetric: BenchmarkUnits] {
  /// Keeps custom metrics unscaled: by default they are rounded to thousands or millions.
  package static func unscaled(_ metrics: [BenchmarkMetric]) -> Self {
    Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) })
  }
}
