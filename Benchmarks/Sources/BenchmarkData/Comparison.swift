import Benchmark
import Synchronization

/// Two ways of doing the same work, timed in turn in one process, so that a busy moment affects both.
package struct Comparison: Sendable {
  /// The number of repetitions of each between two readings of the clock.
  let tallyRepetitionCount: Int
  let peerRepetitionCount: Int
  /// What both need before each run, which is not timed; it receives the number of the run.
  let prepare: @Sendable (Int) throws -> Void
  /// The work; it receives the number of repetitions before it.
  let tally: @Sendable (Int) throws -> Void
  let peer: @Sendable (Int) throws -> Void
  /// Ends both, and removes files that would hinder the next run.
  let close: @Sendable () throws -> Void

  package init(
    tallyRepetitionCount: Int = 1, peerRepetitionCount: Int = 1,
    prepare: @escaping @Sendable (Int) throws -> Void = { _ in }, tally: @escaping @Sendable (Int) throws -> Void,
    peer: @escaping @Sendable (Int) throws -> Void, close: @escaping @Sendable () throws -> Void = {}
  ) {
    (self.tallyRepetitionCount, self.peerRepetitionCount) = (tallyRepetitionCount, peerRepetitionCount)
    (self.prepare, self.tally, self.peer, self.close) = (prepare, tally, peer, close)
  }
}

/// The times of one piece of work, in nanoseconds; histograms hold integers.
let tallyNanoseconds = BenchmarkMetric.custom("tallyNanoseconds")
let peerNanoseconds = BenchmarkMetric.custom("peerNanoseconds")
/// The peer's time divided by Tally's, from one pair of neighbours, in thousandths.
let peerByTallyThousandths = BenchmarkMetric.custom("peerByTallyThousandths")
private let comparisonMetrics = [tallyNanoseconds, peerNanoseconds, peerByTallyThousandths]

/// Registers a comparison, which is set up, with its answers compared, before it is timed.
package func comparison(
  _ name: String, iterations: Int = 200, seconds: Int = 6, _ makeReady: @escaping @Sendable () throws -> Comparison
) {
  let ready = Ready()
  let configuration = Benchmark.Configuration(
    metrics: comparisonMetrics, units: .unscaled(comparisonMetrics),
    warmupIterations: BenchmarkFolder.isSmoke || iterations < 10 ? 0 : 2, maxDuration: .seconds(seconds),
    maxIterations: BenchmarkFolder.isSmoke ? 2 : iterations)
  Benchmark(
    name,
    configuration: configuration,
    closure: { benchmark in try ready.runOnce(benchmark, name) },
    setup: { try ready.comparison.withLock { $0 = try makeReady() } },
    teardown: { try ready.comparison.withLock { try $0?.close() } }
  )
}

/// A comparison between its set-up and its end, and the number of its runs.
private final class Ready: Sendable {
  let comparison = Mutex<Comparison?>(nil)
  private let runCount = Mutex(0)

  func runOnce(_ benchmark: Benchmark, _ name: String) throws {
    guard let comparison = comparison.withLock({ $0 }) else { throw WrongAnswer(description: "nothing to compare") }
    let run = runCount.withLock { count in
      defer { count += 1 }
      return count
    }
    try comparison.prepare(run)
    let tally = { try time(comparison.tallyRepetitionCount, run, comparison.tally) }
    let peer = { try time(comparison.peerRepetitionCount, run, comparison.peer) }
    // They take turns at being first, since the first one finds the caches as the other left them.
    let isTallyFirst = run.isMultiple(of: 2)
    let first = try isTallyFirst ? tally() : peer()
    let second = try isTallyFirst ? peer() : tally()
    let (tallyTime, peerTime) = isTallyFirst ? (first, second) : (second, first)
    benchmark.measurement(tallyNanoseconds, tallyTime)
    benchmark.measurement(peerNanoseconds, peerTime)
    benchmark.measurement(peerByTallyThousandths, peerTime * 1_000 / max(1, tallyTime))
  }
}

/// The nanoseconds of one repetition.
private func time(_ repetitionCount: Int, _ run: Int, _ work: (Int) throws -> Void) throws -> Int {
  let clock = ContinuousClock()
  let start = clock.now
  for repetition in 0..<repetitionCount { try work(run * repetitionCount + repetition) }
  return Int((clock.now - start) / .nanoseconds(1)) / repetitionCount
}
