import TestSupport
import Testing

@testable import TallyEngine

/// Compares changed rows of a measure with rows encoded from the amounts.
@Suite struct SumBlockTests {
  /// The largest amount of a history decides how wide its sums are.
  @Test(arguments: [1, 300, 1 << 20, 1 << 40, Int64.max / 4_000])
  func aChangedRowIsThatOfItsAmounts(largest: Int64) throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "SumBlockTests"))
    for _ in 0..<TestSize.pick(quick: 6, long: 200) {
      var amounts: [Int: Int64] = [:]
      var row: [UInt8] = []
      // Few slots are named, many have bits.
      let slots = 0..<[8, 100, 110, 1_536][.random(in: 0..<4, using: &random)]
      for _ in 0..<250 {
        var changed: [Int: Int64] = [:]
        for _ in 0..<[1, 1, 1, 5][.random(in: 0..<4, using: &random)] {
          changed[.random(in: slots, using: &random)] =
            random.oneIn(3) ? 0 : .random(in: -largest...largest, using: &random)
        }
        let changes = changed.sorted { $0.key < $1.key }.map { slot, amount in
          SumBlock.Change(slot: slot, amount: Int128(amount) - Int128(amounts[slot] ?? 0))
        }.filter { $0.amount != 0 }
        guard !changes.isEmpty else { continue }
        for (slot, amount) in changed { amounts[slot] = amount == 0 ? nil : amount }
        row = try row.isEmpty ? SumBlock.encode(changes: changes) : adding(changes, to: row)
        let entries = amounts.sorted { $0.key < $1.key }.map { SumBlock.Entry(slot: $0.key, amount: $0.value) }
        #expect(try row == SumBlock.encode(entries))
      }
    }
  }

  @Test(arguments: [[(5, .max), (9, -1)], [(9, .max)], [(5, .max - 1), (9, 1)]] as [[(Int, Int64)]])
  func aSumOfMoreThan64BitsIsRefused(amounts: [(Int, Int64)]) throws {
    let row = try SumBlock.encode(amounts.map { SumBlock.Entry(slot: $0.0, amount: $0.1) })
    let code = #expect(throws: TallyError.self) {
      _ = try adding([SumBlock.Change(slot: 5, amount: 2)], to: row)
    }?.code
    #expect(code == .valueOutOfRange)
  }

  /// A row with any bytes but its head: a change gives a row or an error, and reading a number.
  @Test func aDamagedRowEndsNoProcess() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "SumBlockTests"))
    for _ in 0..<TestSize.pick(quick: 400, long: 20_000) {
      let count = [1, 20, 96, 97, 700, 1_536][.random(in: 0..<6, using: &random)]
      let slots = (0..<1_536).shuffled(using: &random).prefix(count).sorted()
      var row = try SumBlock.encode(slots.map { SumBlock.Entry(slot: $0, amount: 7) })
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        row[.random(in: 3..<row.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      var changes = [SumBlock.Change(slot: .random(in: 0..<1_536, using: &random), amount: 1)]
      if random.oneIn(2), changes[0].slot < 1_535 { changes.append(SumBlock.Change(slot: 1_535, amount: 1)) }
      let changed = try? adding(changes, to: row)
      #expect(changed?.isEmpty != true)
      // Unsafe by signature only: bytes have no padding.
      let block = try unsafe SumBlock(row.span.bytes)
      var progress = SumBlock.Progress()
      for slot in stride(from: 0, through: 1_536, by: 64) { _ = block.sum(before: slot, from: &progress) }
      block.forEach { _, _ in }
    }
  }

  private func adding(_ changes: [SumBlock.Change], to row: [UInt8]) throws -> [UInt8] {
    // Unsafe by signature only: bytes have no padding.
    try unsafe SumBlock(row.span.bytes).adding(changes)
  }
}
