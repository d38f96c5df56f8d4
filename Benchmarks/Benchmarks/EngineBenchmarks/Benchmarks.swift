import Benchmark
import BenchmarkData

/// Collections of any records beside SQLite through GRDB: the same records, indexes and sums.
let benchmarks: @Sendable () -> Void = {
  ReadingComparisons.register()
  SummingComparisons.register()
  WritingComparisons.register()
}

/// Two ways of doing the same work; the engine, too, has a type of this name.
typealias Comparison = BenchmarkData.Comparison
