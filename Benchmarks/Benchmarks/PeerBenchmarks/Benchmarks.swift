import Benchmark

/// Tally beside the alternatives: SQLite through GRDB, and liblmdb called from C.
let benchmarks: @Sendable () -> Void = {
  ReadingComparisons.register()
  SearchingComparisons.register()
  QueryComparisons.register()
  CountingComparisons.register()
  WritingComparisons.register()
  LogComparisons.register()
  DocumentComparisons.register()
}
