import TallyTestSupport
import Testing

@testable import Tally

@Suite struct DayCountsTests {
  private func check(_ isPossible: Bool, _ counts: inout DayCounts, _ delta: Int64, _ quarter: Int) {
    let wasAdded = counts.add(delta, toQuarter: quarter)
    #expect(wasAdded == isPossible)
  }

  @Test(arguments: [1, 5, 32, 33, 96], [1, 255, 256, 70_000])
  func everyFormReadsBackAndSumsAnyRange(quarterCount: Int, greatest: Int64) throws {
    var generator = SeededGenerator(seed: UInt64(quarterCount) &* 31 &+ UInt64(greatest))
    var counts = DayCounts()
    var expected = Array(repeating: 0, count: 96)
    for (index, quarter) in Array(0..<96).shuffled(using: &generator).prefix(quarterCount).enumerated() {
      let count = index == 0 ? greatest : Int64.random(in: 1...greatest, using: &generator)
      check(true, &counts, count, quarter)
      expected[quarter] = Int(count)
    }
    let bytes = counts.encodedBytes
    // Bytes are bytes: the span is marked unsafe for types with padding.
    let fields = try unsafe DayCountsFields(bytes.span.bytes)
    #expect(try unsafe DayCounts(decoding: bytes.span.bytes) == counts)
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
    let taken = [sums.take(), sums.take()]
    #expect(taken == [expected.map { 3 * $0 }, Array(repeating: 0, count: 96)], "sums begin anew")
  }

  @Test func sparseAndDenseBytesFollowFromTheCountsAlone() throws {
    var grown = DayCounts()
    var direct = DayCounts()
    for quarter in 0..<96 { check(true, &grown, 300, quarter) }
    for quarter in 1..<96 { check(true, &grown, -300, quarter) }
    check(true, &grown, -299, 0)
    check(true, &direct, 1, 0)
    #expect(grown.encodedBytes == direct.encodedBytes)
  }

  @Test func aCountThatWouldBecomeNegativeIsRefusedAndNothingChanges() {
    var counts = DayCounts()
    check(false, &counts, -1, 7)
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
