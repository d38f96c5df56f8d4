import Benchmark

/// Tally beside what others would use: SQLite by way of GRDB, and liblmdb called from C.
let benchmarks: @Sendable () -> Void = {
  ReadingComparisons.register()
  CountingComparisons.register()
  WritingComparisons.register()
  DocumentComparisons.register()
}
