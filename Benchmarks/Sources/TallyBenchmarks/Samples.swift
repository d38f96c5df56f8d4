/// The times of repeated runs of one piece of work.
struct Samples {
  private let sorted: [Duration]

  init(_ durations: [Duration]) {
    sorted = durations.sorted()
  }

  /// Runs work again and again, a few times unmeasured first.
  init(count: Int, of work: () throws -> Void) rethrows {
    for _ in 0..<max(1, count / 20) { try work() }
    let clock = ContinuousClock()
    var durations: [Duration] = []
    durations.reserveCapacity(count)
    for _ in 0..<count { durations.append(try clock.measure(work)) }
    self.init(durations)
  }

  var p50: Duration { percentile(50) }
  var p99: Duration { percentile(99) }

  private func percentile(_ percent: Int) -> Duration {
    sorted[min(sorted.count - 1, sorted.count * percent / 100)]
  }
}

extension Duration {
  var microseconds: Double { self / .microseconds(1) }
  var seconds: Double { self / .seconds(1) }
}
