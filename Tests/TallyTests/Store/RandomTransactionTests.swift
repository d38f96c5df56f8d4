import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Random transactions over all fields compared with a plain Swift model, in every view after each commit.
///
/// `TALLY_SEED` repeats a run; `TALLY_TRANSACTIONS` sets the number of transactions per seed and `TALLY_SEEDS` that of
/// seeds. `make test-long` runs the long form.
@Suite struct RandomTransactionTests {
  @Test(arguments: ["Europe/Istanbul", "America/Sao_Paulo"])
  func everyViewEqualsTheModelAfterEachTransaction(timeZone: String) throws {
    let seed = SeededGenerator.chooseSeed(for: "everyViewEqualsTheModel \(timeZone)")
    for number in 0..<TestSize.of("TALLY_SEEDS", quick: 1, long: 1) {
      try compare(seed: seed &+ UInt64(number), timeZone: timeZone)
    }
  }

  private func compare(seed: UInt64, timeZone: String) throws {
    var generator = SeededGenerator(seed: seed)
    let clock = TestClock.noon
    try withStore(.testing(clock: clock, timeZone: timeZone)) { store in
      var history = RandomHistory(store: store, clock: clock)
      let stepCount = TestSize.of("TALLY_TRANSACTIONS", quick: 250, long: 500)
      for step in 1...stepCount {
        try history.step(using: &generator)
        try history.compareViews(at: step)
        if step.isMultiple(of: min(stepCount, 500)) { try history.compareQueries(using: &generator) }
        try checkInvariants(of: store)
      }
      #expect(history.refusalCount > 0, "refused changes are part of the test")
      #expect(history.rollbackCount > 0, "transactions rolled back are part of the test")
      #expect(history.undoCount > 0, "undone and redone transactions are part of the test")
      #expect(!history.successorIDs.isEmpty, "series are part of the test")
    }
  }
}
