import TestSupport
import Testing

/// Random histories of stores with random schemas, by several processes, against a plain Swift model.
struct RandomSchemaTests {
  private static let historyCount = TestSize.of("TALLY_HISTORIES", quick: 7, long: 2_000)

  @Test func everyAnswerIsThatOfThePlainModelWhateverTheSchema() throws {
    let seed = SeededGenerator.chooseSeed(for: "everyAnswerIsThatOfThePlainModelWhateverTheSchema")
    for number in 0..<UInt64(Self.historyCount) {
      // The first history of a seed is the one that a failure names.
      let history = try EngineHistory(seed: seed + number)
      do {
        try history.run()
      } catch {
        Issue.record(
          "TALLY_SEED=\(seed + number) TALLY_HISTORIES=1: \(error)\n\(history.steps.joined(separator: "\n"))")
        return
      }
    }
  }
}
