import LMDB
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct DayCountsTests {
  @Test(arguments: [1, 5, 32, 33, 96], [1, 255, 256, 70_000])
  func everyFormReadsBackAndSumsAnyRange(quarterCount: Int, greatest: Int64) throws {
    var generator = SeededGenerator(seed: UInt64(quarterCount) &* 31 &+ UInt64(greatest))
    var counts = DayCounts()
    var expected = Array(repeating: 0, count: 96)
    for (index, quarter) in Array(0..<96).shuffled(using: &generator).prefix(quarterCount).enumerated() {
      let count = index == 0 ? greatest : Int64.random(in: 1...greatest, using: &generator)
      let isAdded = counts.add(count, toQuarter: quarter)
      #expect(isAdded)
      expected[quarter] = Int(count)
    }
    let bytes = counts.encodedBytes
    // Unsafe by signature only: bytes have no padding.
    let fields = try unsafe DayCountsFields(bytes.span.bytes)
    #expect(try decoded(bytes, as: DayCounts.self) == counts)
    #expect(fields.total == expected.reduce(0, +))
    for lower in 0...96 {
      for upper in lower...96 {
        guard fields.sum(of: lower..<upper) == expected[lower..<upper].reduce(0, +) else {
          Issue.record("\(lower)..<\(upper)")
          return
        }
      }
    }
    var sums = QuarterSums()
    for _ in 0..<3 { sums.add(fields) }
    #expect(sums.take() == expected.map { 3 * $0 })
    #expect(sums.take() == Array(repeating: 0, count: 96), "sums begin anew")
  }

  @Test func sparseAndDenseBytesFollowFromTheCountsAlone() throws {
    var grown = DayCounts()
    var direct = DayCounts()
    let changes: [(Int64, Int)] = (0..<96).map { (300, $0) } + (1..<96).map { (-300, $0) } + [(-299, 0)]
    let areAdded = changes.map { grown.add($0.0, toQuarter: $0.1) } + [direct.add(1, toQuarter: 0)]
    #expect(!areAdded.contains(false))
    #expect(grown.encodedBytes == direct.encodedBytes)
  }

  @Test func aCountThatWouldBecomeNegativeIsRefusedAndNothingChanges() {
    var counts = DayCounts()
    let isAdded = counts.add(-1, toQuarter: 7)
    #expect(!isAdded)
    #expect(counts == DayCounts())
  }

  @Test func theMiddleOfABucketIsWithinOnePercent() {
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<20_000 {
      let seconds = Int64.random(in: 0...(1 << Int64.random(in: 1...38, using: &generator)), using: &generator)
      let middle = CycleTimeBucket.middleInSeconds(of: CycleTimeBucket.number(ofSeconds: seconds))
      #expect(seconds < 128 ? middle == seconds : abs(middle - seconds) * 100 <= seconds)
    }
    #expect(CycleTimeBucket.number(ofSeconds: -5) == 0)
  }

  @Test func bucketsAreInTheOrderOfTheirDurations() {
    var last: UInt16 = 0
    for seconds in stride(from: Int64(0), through: 400_000, by: 7) {
      let bucket = CycleTimeBucket.number(ofSeconds: seconds)
      #expect(bucket >= last)
      last = bucket
    }
  }
}
