import Tally

/// Durable creates by callers that do not wait for each other: how much joining their commits gains.
struct ConcurrencyBenchmark {
  let callerCount: Int
  let createsPerCaller: Int

  /// Each create's time as its caller sees it, and how many were done a second by all.
  func run(on store: TaskStore) async throws -> (samples: Samples, createsPerSecond: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let durations = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for caller in 0..<callerCount {
        group.addTask {
          var durations: [Duration] = []
          for number in 0..<createsPerCaller {
            let title = "Task \(number) of caller \(caller)"
            durations.append(
              try await clock.measure { _ = try await store.write { try $0.add(title, to: .inbox) } }
            )
          }
          return durations
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let elapsed = clock.now - start
    return (Samples(durations), Double(durations.count) / elapsed.seconds)
  }
}
