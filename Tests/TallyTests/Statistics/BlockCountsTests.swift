import Foundation
import LMDB
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct BlockCountsTests {
  @Test(arguments: [1, 5, 96, 97, 700, 1_536], [1, 255, 256, 70_000])
  func everyFormReadsBackAndSumsAnyRange(slotCount: Int, greatest: Int64) throws {
    var generator = SeededGenerator(seed: UInt64(slotCount) &* 31 &+ UInt64(greatest))
    var expected = Array(repeating: 0, count: CounterBlock.slotCount)
    for (index, slot) in Array(0..<CounterBlock.slotCount).shuffled(using: &generator).prefix(slotCount).enumerated() {
      expected[slot] = Int(index == 0 ? greatest : Int64.random(in: 1...greatest, using: &generator))
    }
    let counts = try BlockCounts(adding: expected)
    let bytes = counts.encodedBytes
    // Unsafe by signature only: bytes have no padding.
    let fields = try unsafe BlockCountsFields(bytes.span.bytes)
    #expect(try decoded(bytes, as: BlockCounts.self).encodedBytes == bytes)
    #expect(fields.total == expected.reduce(0, +))
    for _ in 0..<300 {
      let ends = (0..<5).map { _ in Int.random(in: 0...CounterBlock.slotCount, using: &generator) }.sorted()
      var progress = BlockCountsFields.Progress()
      let sums = ends.map { fields.sum(upTo: $0, from: &progress) }
      let parts = zip([0] + ends, ends).map { expected[$0..<$1].reduce(0, +) }
      guard sums == parts else {
        Issue.record("up to \(ends)")
        return
      }
    }
  }

  @Test(arguments: [60, 1_536], [255, 256])
  func quartersOfManyDaysAddUp(slotCount: Int, greatest: Int) throws {
    var generator = SeededGenerator(seed: UInt64(slotCount + greatest))
    var expected = Array(repeating: 0, count: QuarterHour.countPerDay)
    var sums = QuarterSums()
    // More days than fit into the lanes at once, each as full as can be.
    for _ in 0..<40 {
      var slots = Array(repeating: 0, count: CounterBlock.slotCount)
      for slot in slots.indices.shuffled(using: &generator).prefix(slotCount) { slots[slot] = greatest }
      let range = Int.random(in: 0...200, using: &generator)..<Int.random(in: 1_300...1_536, using: &generator)
      for slot in range { expected[slot % QuarterHour.countPerDay] += slots[slot] }
      let bytes = try BlockCounts(adding: slots).encodedBytes
      // Unsafe by signature only: bytes have no padding.
      sums.add(try unsafe BlockCountsFields(bytes.span.bytes), range)
    }
    #expect(sums.take() == expected)
    #expect(sums.take() == Array(repeating: 0, count: QuarterHour.countPerDay), "sums are reset")
  }

  /// A task completed at the instant of its creation was not completed before it.
  @Test(arguments: [(-1, true), (0, false), (1, false)])
  func onlyACompletionBeforeTheCreationCountsAsSuch(microseconds: Int64, isBefore: Bool) throws {
    let created = Timestamp.earliest.adding(seconds: 1_000_000)
    let completed = created.adding(microseconds: microseconds)
    let task = TaskItem(
      title: "x", state: .completed, createdAt: created, completedAt: OffsetTimestamp(completed, in: .gmt))
    let key = try #require(CompletionKey(of: task))
    let record = try #require(CompletionRecord(of: task, keeping: nil))
    var deltas = CounterDeltas()
    deltas.count(CountedTask(key, record), sign: 1)
    let series = Set(try deltas.blockCounts().keys.map(\.seriesRawValue))
    #expect(series.contains(CounterSeries.completedBeforeCreation.rawValue) == isBefore)
    #expect(series.contains(CounterSeries.createdAfterCompletion.rawValue) == isBefore)
  }

  @Test func theFormFollowsFromTheCountsAlone() throws {
    var grown = try BlockCounts(adding: Array(repeating: 300, count: CounterBlock.slotCount))
    try grown.add(Array(repeating: -299, count: 1) + Array(repeating: -300, count: CounterBlock.slotCount - 1))
    #expect(grown.encodedBytes == (try BlockCounts(adding: [1])).encodedBytes)
  }

  /// Named slots, and a count for every slot.
  @Test(arguments: [1, 5, 97, 700], [(256, 255), (70_000, 65_535), (70_000, 3)])
  func whereTheGreatestCountShrinksSoDoesTheForm(slotCount: Int, greatest: (before: Int, after: Int)) throws {
    let rest = Array(repeating: 1, count: slotCount - 1)
    var counts = try BlockCounts(adding: [greatest.before] + rest)
    try counts.add(sparsely: [greatest.after - greatest.before])
    #expect(counts.encodedBytes == (try BlockCounts(adding: [greatest.after] + rest)).encodedBytes)
  }

  @Test func aCountThatWouldBecomeNegativeIsRefusedAndNothingChanges() throws {
    var counts = try BlockCounts(adding: [0, 2, 0, 1])
    let before = counts.encodedBytes
    #expect(throws: LMDBError.self) { try counts.add([1, -1, -1]) }
    #expect(counts.encodedBytes == before)
  }

  /// Decoded blocks are changed in place where that keeps their form: the bytes must be the same.
  @Test(arguments: [90, 97, 98, 700], [2, 254, 255, 300, 65_534, 65_535, 65_536])
  func aBlockThatWasReadChangesAsOneThatWasMade(slotCount: Int, greatest: Int64) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aBlockThatWasRead"))
    for _ in 0..<TestSize.pick(quick: 25, long: 100) {
      var counts = Array(repeating: 0, count: CounterBlock.slotCount)
      for slot in counts.indices.shuffled(using: &generator).prefix(slotCount) {
        counts[slot] = Int.random(in: 1...Int(greatest), using: &generator)
      }
      // The number that decides on the form, which would seldom be hit by chance.
      let greatestSlot = try #require(counts.indices.filter { counts[$0] > 0 }.randomElement(using: &generator))
      counts[greatestSlot] = Int(greatest)
      var read = try decoded(BlockCounts(adding: counts).encodedBytes, as: BlockCounts.self)
      for _ in 0..<5 {
        var deltas = Array(repeating: 0, count: CounterBlock.slotCount)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          // Additions and removals balance, so that the number of slots crosses the limit between the forms both ways.
          let isRemoved = Bool.random(using: &generator)
          let slots = counts.indices.filter { counts[$0] > 0 || !isRemoved }
          let isGreatest = counts[greatestSlot] > 0 && Bool.random(using: &generator)
          guard let slot = isGreatest ? greatestSlot : slots.randomElement(using: &generator) else { continue }
          let delta = isRemoved ? -1 : 1
          deltas[slot] += delta
          counts[slot] += delta
        }
        try read.add(sparsely: deltas)
        #expect(read.encodedBytes == (try BlockCounts(adding: counts)).encodedBytes)
      }
    }
  }

  @Test func damagedBytesAreRefused() throws {
    let sound = try BlockCounts(adding: [0, 2, 0, 1]).encodedBytes
    #expect(throws: Never.self) { try decoded(sound, as: BlockCounts.self) }
    let damages: [(name: String, bytes: [UInt8])] = [
      ("too short", Array(sound[..<7])), ("cut", Array(sound.dropLast())), ("a width of three", [3] + sound[1...]),
      ("dense, but short", [1, 1] + sound[2...]), ("no such slot", sound[..<10] + [0xFF, 0xFF] + sound[12...]),
      ("out of order", sound[..<8] + [0, 3, 0, 1] + sound[12...]),
    ]
    for damage in damages {
      #expect(throws: LMDBError.self, "\(damage.name)") { try decoded(damage.bytes, as: BlockCounts.self) }
    }
  }

  @Test func aTotalThatNoStoreCanHoldIsRefused() throws {
    #expect(try decoded([0, 0, 0, 0, 0, 0, 1, 2], as: Total.self).count == 258)
    #expect(throws: LMDBError.self) { try decoded([0x80, 0, 0, 0, 0, 0, 0, 0], as: Total.self) }
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

extension BlockCounts {
  /// Counts for the first slots, one after the other.
  fileprivate init(adding counts: [Int]) throws {
    self.init()
    try add(counts)
  }

  /// Adds to the slots that change, and to no other.
  fileprivate mutating func add(sparsely deltas: [Int]) throws {
    try add(
      deltas.enumerated().filter { $0.element != 0 }.map { (slot: UInt16($0.offset), delta: Int64($0.element)) })
  }

  fileprivate mutating func add(_ deltas: [Int]) throws {
    try add(deltas.enumerated().map { (slot: UInt16($0.offset), delta: Int64($0.element)) })
  }
}
