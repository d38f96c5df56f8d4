import Benchmark
import BenchmarkData
import Tally

/// A timed call on an open store, which receives the number of calls before it.
struct Call: Sendable {
  let name: String
  /// The number of calls between two readings of the clock.
  var repetitionCount = 1
  let work: @Sendable (TaskStore, Int) throws -> Void

  private var metric: BenchmarkMetric { .custom(name) }

  /// Registers a benchmark that runs each call in turn, so that a busy moment affects all of them.
  static func benchmark(
    _ name: String, of calls: [Call], iterations: Int = 500, on openStore: @escaping @Sendable () throws -> TaskStore
  ) {
    let opened = OpenedStore()
    Benchmark(
      name,
      configuration: .init(
        metrics: calls.map(\.metric), units: .unscaled(calls.map(\.metric)),
        warmupIterations: BenchmarkFolder.isSmoke ? 1 : iterations / 20,
        maxDuration: .seconds(10), maxIterations: BenchmarkFolder.isSmoke ? 2 : iterations),
      closure: { benchmark in
        let number = opened.nextNumber()
        for call in calls {
          benchmark.measurement(call.metric, try call.nanoseconds(on: opened.get(), number))
        }
      },
      setup: { try opened.open(openStore) },
      teardown: { try opened.close() }
    )
  }

  private func nanoseconds(on store: TaskStore, _ number: Int) throws -> Int {
    let clock = ContinuousClock()
    let start = clock.now
    for repetition in 0..<repetitionCount { try work(store, number * repetitionCount + repetition) }
    return Int((clock.now - start) / .nanoseconds(1)) / repetitionCount
  }
}
