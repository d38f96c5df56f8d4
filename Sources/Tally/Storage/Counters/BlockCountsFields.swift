import LMDB
import TallyEngine

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
