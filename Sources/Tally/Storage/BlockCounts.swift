import LMDB
import TallyEngine

/// The counts of one block: the number of events in each of its slots, see `CounterBlock`.
///
/// ```
/// offset size
///      0    1  bytes per count: 1, 2 or 4, the fewest that hold the greatest count
///      1    1  1 if every slot has a count, 0 if only the listed slots do
///      2    2  reserved, zero
///      4    4  the total
///      8       if only some slots have a count: the numbers of those slots, two bytes each, ascending
///              then the counts, in the order of the slots
/// ```
///
/// Every slot has a count if more than 96 of them are not zero: consecutive bytes are added up sixteen at a time,
/// listed slots one by one. The form follows from the counts alone, so counters that are rebuilt from the records have
/// the same bytes.
struct BlockCounts: BinaryCodable {
  static let headByteCount = 8
  static let slotByteCount = 2
  static let greatestNamedCount = 96

  /// The offset of the total.
  private static let totalOffset = 4
  /// The record of a block without events.
  private static let nothing: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]

  /// A slot with events.
  private struct Entry {
    let slot: UInt16
    let count: UInt32
  }

  /// The record, encoded: one event changes only two of its numbers, and decoding all took half the time of a create.
  private var bytes = nothing

  /// A block without events.
  init() {}

  /// Whether there are no events.
  var isEmpty: Bool { bytes.count == Self.headByteCount }

  var encodedByteCount: Int { bytes.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    bytes.encode(into: &output)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard try BlockCountsFields(bytes).areSlotsInOrder else { throw .undecodable("a block's slots are out of order") }
    self.bytes = bytes.bytes(from: 0)
  }

  /// Adds deltas to the counts of some slots, in ascending order.
  ///
  /// - Throws: `undecodable`, without changing anything, if a count would leave its range: then the counters do not
  ///   match the records.
  mutating func add(_ changes: some Sequence<(slot: UInt16, delta: Int64)>) throws(LMDBError) {
    if let changed = try bytes(adding: changes) {
      bytes = changed
      return
    }
    let entries = try entries
    var merged: [Entry] = []
    merged.reserveCapacity(entries.count + 1)
    var index = 0
    for (slot, delta) in changes {
      while index < entries.count, entries[index].slot < slot {
        merged.append(entries[index])
        index += 1
      }
      var sum = delta
      if index < entries.count, entries[index].slot == slot {
        sum += Int64(entries[index].count)
        index += 1
      }
      guard let count = UInt32(exactly: sum) else { throw .undecodable("a counter disagrees with the records") }
      if count > 0 { merged.append(Entry(slot: slot, count: count)) }
    }
    merged.append(contentsOf: entries[index...])
    bytes = Self.bytes(of: merged)
  }

  /// The record after some changes; `nil` if they may change its form.
  private func bytes(adding changes: some Sequence<(slot: UInt16, delta: Int64)>) throws(LMDBError) -> [UInt8]? {
    // Unsafe by signature only, as below: bytes have no padding.
    let fields = try unsafe BlockCountsFields(bytes.span.bytes)
    var changed = bytes
    var total = Int64(fields.total)
    for (slot, delta) in changes where delta != 0 {
      guard let stored = fields.storedCount(ofSlot: Int(slot)) else { return nil }
      let count = Int64(stored.count) + delta
      // A count that becomes zero, or fits into a byte again, may be the last that prevented a shorter form.
      let keepsForm = count > 0 && count <= fields.greatestCount && (delta > 0 || fields.width == 1)
      guard keepsForm else { return nil }
      Self.store(count, at: stored.offset, byteCount: fields.width, in: &changed)
      total += delta
    }
    Self.store(total, at: Self.totalOffset, byteCount: Self.headByteCount - Self.totalOffset, in: &changed)
    return changed
  }

  /// The slots with events, in ascending order.
  private var entries: [Entry] {
    get throws(LMDBError) {
      let fields = try unsafe BlockCountsFields(bytes.span.bytes)
      var entries: [Entry] = []
      entries.reserveCapacity(fields.storedCount)
      fields.forEachBusySlot(in: 0..<CounterBlock.slotCount) { slot, count in
        entries.append(Entry(slot: UInt16(slot), count: UInt32(count)))
      }
      return entries
    }
  }

  /// The record of some slots, in ascending order, in the form that follows from their counts.
  private static func bytes(of entries: [Entry]) -> [UInt8] {
    assert(zip(entries, entries.dropFirst()).allSatisfy { $0.slot < $1.slot }, "slots must ascend")
    // The bitwise OR of all counts has the width of the greatest.
    let bits = entries.reduce(0) { $0 | $1.count }
    let width = bits < 1 << 8 ? 1 : bits < 1 << 16 ? 2 : 4
    let hasEverySlot = entries.count > greatestNamedCount
    let countsOffset = headByteCount + (hasEverySlot ? 0 : entries.count * slotByteCount)
    let countCount = hasEverySlot ? CounterBlock.slotCount : entries.count
    var bytes = Array(repeating: UInt8(0), count: countsOffset + countCount * width)
    bytes[0] = UInt8(width)
    bytes[1] = hasEverySlot ? 1 : 0
    let total = entries.reduce(0) { $0 &+ $1.count }
    store(Int64(total), at: totalOffset, byteCount: headByteCount - totalOffset, in: &bytes)
    for (index, entry) in entries.enumerated() {
      let position = hasEverySlot ? Int(entry.slot) : index
      store(Int64(entry.count), at: countsOffset + position * width, byteCount: width, in: &bytes)
      if hasEverySlot { continue }
      store(Int64(entry.slot), at: headByteCount + index * slotByteCount, byteCount: slotByteCount, in: &bytes)
    }
    return bytes
  }

  /// Stores the lower bytes of a number, the most significant one first.
  private static func store(_ number: Int64, at offset: Int, byteCount: Int, in bytes: inout [UInt8]) {
    for index in 0..<byteCount {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> Int64(8 * (byteCount - 1 - index)))
    }
  }
}

/// The counts of a block, read in place; it lives no longer than the span it reads.
struct BlockCountsFields: ~Escapable {
  private let bytes: RawSpan
  /// The number of bytes of each count.
  let width: Int
  private let hasEverySlot: Bool
  /// The number of slots with a stored count.
  let storedCount: Int
  private let countsOffset: Int

  /// How far a block has been read: the next slot, and the number of stored counts before it.
  struct Progress {
    fileprivate var slot = 0
    fileprivate var storedCount = 0
  }

  /// Checks the record's size once, so that sums need no checks.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= BlockCounts.headByteCount else { throw .undecodable("a block's counts are too short") }
    self.bytes = bytes
    width = Int(bytes.load(bigEndianAt: 0, as: UInt8.self))
    hasEverySlot = bytes.load(bigEndianAt: 1, as: UInt8.self) != 0
    guard width == 1 || width == 2 || width == 4 else { throw .undecodable("a block's counts have the wrong width") }
    let size = bytes.byteCount - BlockCounts.headByteCount
    let entrySize = width + (hasEverySlot ? 0 : BlockCounts.slotByteCount)
    storedCount = size / entrySize
    countsOffset = bytes.byteCount - storedCount * width
    let isSound = hasEverySlot ? storedCount == CounterBlock.slotCount : storedCount < CounterBlock.slotCount
    guard isSound, size == storedCount * entrySize else { throw .undecodable("a block's counts have the wrong size") }
    if !hasEverySlot, storedCount > 0, slot(storedCount - 1) >= CounterBlock.slotCount {
      throw .undecodable("a block has no such slot")
    }
  }

  /// The block's total.
  var total: Int { Int(bytes.load(bigEndianAt: 4, as: UInt32.self)) }

  /// The sum of the slots between the progress so far and `end`; advances the progress to `end`.
  func sum(upTo end: Int, from progress: inout Progress) -> Int {
    guard end > progress.slot else { return 0 }
    let start = progress.slot
    progress.slot = end
    if hasEverySlot { return sumOfStored(start..<end) }
    let first = progress.storedCount
    while progress.storedCount < storedCount, slot(progress.storedCount) < end { progress.storedCount += 1 }
    return sumOfStored(first..<progress.storedCount)
  }

  /// Calls a closure with the number and count of each slot in a range that has events, in ascending order.
  func forEachBusySlot(in slots: Range<Int>, _ body: (Int, Int) -> Void) {
    guard hasEverySlot else {
      for index in 0..<storedCount where slots.contains(slot(index)) { body(slot(index), stored(index)) }
      return
    }
    for slot in slots {
      let count = stored(slot)
      if count > 0 { body(slot, count) }
    }
  }

  /// The greatest count that fits into `width` bytes.
  var greatestCount: Int { 1 << (8 * width) - 1 }

  /// Whether the listed slots ascend, as sums and searches require.
  var areSlotsInOrder: Bool {
    hasEverySlot || storedCount < 2 || (1..<storedCount).allSatisfy { slot($0 - 1) < slot($0) }
  }

  /// The stored count of a slot and the offset of its bytes; `nil` if it has none.
  func storedCount(ofSlot wanted: Int) -> (count: Int, offset: Int)? {
    var index = wanted
    if !hasEverySlot {
      index = 0
      var end = storedCount
      while index < end {
        let middle = (index + end) / 2
        if slot(middle) < wanted { index = middle + 1 } else { end = middle }
      }
      guard index < storedCount, slot(index) == wanted else { return nil }
    }
    return (stored(index), countsOffset + index * width)
  }

  /// Whether every slot has a count of one byte.
  var hasByteForEachSlot: Bool { hasEverySlot && width == 1 }

  /// Thirty-two counts, two per lane; valid only if every slot has a count of one byte.
  func lanes(at slot: Int) -> SIMD16<UInt16> {
    load(at: slot, as: SIMD16<UInt16>.self)
  }

  /// The slot number of a stored count; valid only if not every slot has a count.
  private func slot(_ index: Int) -> Int {
    Int(bytes.load(bigEndianAt: BlockCounts.headByteCount + BlockCounts.slotByteCount * index, as: UInt16.self))
  }

  private func sumOfStored(_ range: Range<Int>) -> Int {
    guard width == 1 else { return range.reduce(0) { $0 &+ stored($1) } }
    // Thirty-two bytes at a time, in lanes of 16 bits: a step adds at most 510 to a lane, and a block has 48 steps.
    let mask: UInt64 = 0x00FF_00FF_00FF_00FF
    var lanes = SIMD4<UInt64>()
    var index = range.lowerBound
    while index + 32 <= range.upperBound {
      let words = load(at: index, as: SIMD4<UInt64>.self)
      lanes &+= (words & mask) &+ (words &>> 8 & mask)
      index += 32
    }
    let pairs = (lanes & 0x0000_FFFF_0000_FFFF) &+ (lanes &>> 16 & 0x0000_FFFF_0000_FFFF)
    let halves = pairs.lowHalf &+ pairs.highHalf
    var sum = Int((halves.x &+ halves.y) >> 32) + Int((halves.x &+ halves.y) & UInt64(UInt32.max))
    while index + 8 <= range.upperBound {
      let word = load(at: index, as: UInt64.self)
      // The highest 16 bits of the product are the sum of the four lanes.
      sum += Int((((word & mask) &+ (word >> 8 & mask)) &* 0x0001_0001_0001_0001) >> 48)
      index += 8
    }
    while index < range.upperBound {
      sum += stored(index)
      index += 1
    }
    return sum
  }

  /// Loads stored counts of one byte each.
  private func load<Bytes: BitwiseCopyable>(at index: Int, as type: Bytes.Type) -> Bytes {
    // Unsafe by signature only: every bit pattern is a number, and the load checks its bounds.
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: countsOffset + index, as: type)
  }

  private func stored(_ index: Int) -> Int {
    switch width {
    case 1: Int(bytes.load(bigEndianAt: countsOffset + index, as: UInt8.self))
    case 2: Int(bytes.load(bigEndianAt: countsOffset + 2 * index, as: UInt16.self))
    default: Int(bytes.load(bigEndianAt: countsOffset + 4 * index, as: UInt32.self))
    }
  }
}

/// The counts of many days, added up by quarter hour of the day.
///
/// If each quarter has a byte, thirty-two of them are added in four steps, in lanes of 16 bits. Adding them one by one
/// took a third of the time of a whole answer.
struct QuarterSums {
  private static let quartersPerVector = 32
  /// The most days that the lanes can add up: 257 times 255 still fits into 16 bits.
  private static let greatestDayCount = 257
  private static let noLanes = [SIMD16<UInt16>](repeating: .zero, count: QuarterHour.countPerDay / quartersPerVector)

  private var counts = Array(repeating: 0, count: QuarterHour.countPerDay)
  /// The sums of the lower byte and of the higher byte of each lane, not yet added to the counts.
  private var low = noLanes
  private var high = noLanes
  /// The number of days in the lanes.
  private var dayCount = 0

  /// Adds some quarters of a block.
  mutating func add(_ fields: borrowing BlockCountsFields, _ quarters: Range<Int>) {
    let day = QuarterHour.countPerDay
    let (firstDay, endDay) = ((quarters.lowerBound + day - 1) / day, quarters.upperBound / day)
    guard fields.hasByteForEachSlot, firstDay < endDay else { return addEach(fields, quarters) }
    addEach(fields, quarters.lowerBound..<(firstDay * day))
    addDays(fields, firstDay..<endDay)
    addEach(fields, (endDay * day)..<quarters.upperBound)
  }

  /// Returns the sums and resets them.
  mutating func take() -> [Int] {
    addLanes()
    let sums = counts
    self = QuarterSums()
    return sums
  }

  private mutating func addDays(_ fields: borrowing BlockCountsFields, _ days: Range<Int>) {
    if dayCount + days.count > Self.greatestDayCount { addLanes() }
    dayCount += days.count
    for vector in low.indices {
      var (lowSum, highSum) = (low[vector], high[vector])
      for day in days {
        let lanes = fields.lanes(at: day * QuarterHour.countPerDay + vector * Self.quartersPerVector)
        lowSum &+= lanes & 0xFF
        highSum &+= lanes &>> 8
      }
      (low[vector], high[vector]) = (lowSum, highSum)
    }
  }

  /// Adds the lanes to the counts and clears them.
  private mutating func addLanes() {
    // Which byte of a lane comes first depends on the machine's byte order.
    let (even, odd) = UInt16(littleEndian: 1) == 1 ? (low, high) : (high, low)
    for vector in low.indices {
      for lane in 0..<(Self.quartersPerVector / 2) {
        counts[vector * Self.quartersPerVector + 2 * lane] += Int(even[vector][lane])
        counts[vector * Self.quartersPerVector + 2 * lane + 1] += Int(odd[vector][lane])
      }
    }
    (low, high, dayCount) = (Self.noLanes, Self.noLanes, 0)
  }

  private mutating func addEach(_ fields: borrowing BlockCountsFields, _ quarters: Range<Int>) {
    fields.forEachBusySlot(in: quarters) { counts[$0 % QuarterHour.countPerDay] += $1 }
  }
}
