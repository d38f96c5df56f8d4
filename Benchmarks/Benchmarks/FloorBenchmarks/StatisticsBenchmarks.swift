import BenchmarkData
import Foundation
import Tally

/// Counts of completions, and statistics.
enum StatisticsBenchmarks {
  static func register() {
    floorBenchmark("count-today") { _, store in
      _ = try store.read { try $0.completionCount(on: TaskGenerator.today) }
    }
    for (name, component) in [("week", Calendar.Component.weekOfYear), ("month", .month), ("year", .year)] {
      floorBenchmark("count-\(name)") { _, store in
        _ = try store.read { try $0.completionCount(in: StatisticsPeriods.interval(of: component)) }
      }
    }
    floorBenchmark("count-all") { _, store in
      let count = try store.read { try $0.completionCount() }
      guard count > 0 else { throw WrongAnswer(description: "nothing was completed") }
    }
    floorBenchmark("trend-and-all-statistics") { _, store in
      let statistics = try store.read { try $0.statistics() }
      guard statistics.completed.allTime > 0 else { throw WrongAnswer(description: "nothing was completed") }
    }
  }
}
