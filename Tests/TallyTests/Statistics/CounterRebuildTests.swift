import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Counters compared with recomputed counters, byte for byte, after every single transaction.
///
/// `TALLY_SEED` repeats a run; `TALLY_COUNTED_TRANSACTIONS` sets the number of transactions.
@Suite struct CounterRebuildTests {
  @Test func countersEqualARebuildAfterEachTransaction() throws {
    let seed = SeededGenerator.chooseSeed(for: "countersEqualARebuildAfterEachTransaction")
    let days: Int64 = 40
    var configuration = TaskStore.Configuration.testing()
    configuration.durability = .relaxed
    try withStore(configuration) { store in
      var history = StatisticsHistory(store: store, generator: SeededGenerator(seed: seed)) { generator in
        // Few enough days that quarters are shared and days become dense, around 1970, where numbers change their sign.
        let range = (-days * BruteForceDays.day)...(days * BruteForceDays.day)
        return Timestamp(clamping: Int64.random(in: range, using: &generator) / (generator.oneIn(2) ? 400 : 1))
      }
      history.taskLimit = 8
      for step in 1...transactionCount {
        try history.step()
        let isEqual = try store.read { try Self.countersEqualARebuild(in: $0) }
        try #require(isEqual, "after \(step) transactions")
        if step.isMultiple(of: 250) { try checkInvariants(of: store) }
      }
    }
  }

  private let transactionCount = TestSize.of("TALLY_COUNTED_TRANSACTIONS", quick: 1_000, long: 10_000)

  private static func countersEqualARebuild(in transaction: borrowing StoreReadTransaction) throws -> Bool {
    let tables = transaction.tables
    let rebuilt = try CounterRebuild(tables: tables).deltas(in: transaction.base)
    var blocks = try rebuilt.blockCounts()
    var totals = rebuilt.totalCounts()
    var isEqual = true
    try tables.counts.forEach(in: transaction.base) { key, value in
      isEqual = try blocks.removeValue(forKey: BlockCountsKey(decoding: key))?.encodedBytes == value.bytes(from: 0)
      return isEqual
    }
    guard isEqual else { return false }
    try tables.totals.forEach(in: transaction.base) { key, value in
      isEqual = try totals.removeValue(forKey: TotalKey(decoding: key)) == Total(decoding: value).count
      return isEqual
    }
    return isEqual && blocks.isEmpty && totals.isEmpty
  }
}
