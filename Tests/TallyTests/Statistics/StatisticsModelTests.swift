import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Random histories compared with brute force, around every change of the zone's offset.
///
/// `TALLY_SEED` repeats a run; `TALLY_QUERIES` sets the number of queries per history.
@Suite struct StatisticsModelTests {
  @Test(arguments: ZoneSample.all)
  func everyNumberEqualsBruteForce(sample: ZoneSample) throws {
    let seed = SeededGenerator.chooseSeed(for: "everyNumberEqualsBruteForce \(sample.identifier)")
    let timeZone = try #require(TimeZone(identifier: sample.identifier))
    let changes = sample.changesOfOffset(in: timeZone)
    if sample.identifier != "UTC", sample.identifier != "America/Phoenix" { #expect(!changes.isEmpty) }
    try withStore { store in
      var history = StatisticsHistory(store: store, generator: SeededGenerator(seed: seed)) { generator in
        sample.instant(near: changes, using: &generator)
      }
      for _ in 0..<60 { try history.step() }
      var queries = StatisticsQueries(sample: sample, timeZone: timeZone, changes: changes, history: history)
      // Some in a row, from anywhere among the filters.
      let first = Int.random(in: 0..<HistoryFilter.all.count, using: &queries.history.generator)
      for number in first..<first + queryCount { try queries.compare(number) }
      try queries.compareIntervals(200)
    }
  }

  private let queryCount = TestSize.of("TALLY_QUERIES", quick: 4, long: 21)
}

extension ZoneSample {
  /// An instant of the sample's years, mostly next to a change of the offset, sometimes exactly at it.
  func instant(near changes: [Int64], using generator: inout SeededGenerator) -> Timestamp {
    let day: Int64 = 86_400_000_000
    let anywhere = Int64.random(in: (dayNumbers.lowerBound * day)...(dayNumbers.upperBound * day), using: &generator)
    guard !generator.oneIn(3), let change = changes.randomElement(using: &generator) else {
      return Timestamp(clamping: anywhere)
    }
    let quarter: Int64 = 900_000_000
    let distance: Int64 =
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: [-1, 0, 1].randomElement(using: &generator) ?? 0
      case 1: Int64.random(in: -4_000_000_000...4_000_000_000, using: &generator)
      case 2: quarter * Int64.random(in: -100...100, using: &generator)
      case 3: quarter * Int64.random(in: -100...100, using: &generator) - 1
      default: Int64.random(in: (-2 * day)...(2 * day), using: &generator)
      }
    return Timestamp(clamping: change + distance)
  }
}
