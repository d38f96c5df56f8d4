import LMDB

/// The counts of one block: how often something happened in each of its slots, see `CounterBlock`.
///
/// ```
/// offset size
///      0    1  bytes a count: 1, 2 or 4, the least that holds the greatest count
///      1    1  1 if every slot has its count, 0 if only those that are named do
///      2    2  reserved, zero
///      4    4  the total
///      8       where only some have: the numbers of those slots, two bytes each, ascending
///              then the counts, in the order of the slots
/// ```
///
/// Every slot has its count where more than 96 of them are not zero: bytes in a row are added up sixteen at a time,
/// named slots one by one. The form follows from the counts alone, so that counters rebuilt from the records have the
/// same bytes.
struct BlockCounts: BinaryCodable, Equatable {
  static let headByteCount = 8
  static let slotByteCount = 2
  static let greatestNamedCount = 96

  /// A slot in which something happened.
  struct Entry: Equatable {
    let slot: UInt16
    let count: UInt32
  }

  /// The slots in which something happened, in order.
  private(set) var entries: [Entry] = []

  /// A block in which nothing happened.
  init() {}

  var total: UInt32 { entries.reduce(0) { $0 &+ $1.count } }

  /// How the counts are stored.
  private var form: (width: Int, hasEverySlot: Bool, byteCount: Int) {
    // All bits of all counts: as wide as the greatest.
    let bits = entries.reduce(0) { $0 | $1.count }
    let width = bits < 1 << 8 ? 1 : bits < 1 << 16 ? 2 : 4
    let hasEverySlot = entries.count > Self.greatestNamedCount
    let size = hasEverySlot ? CounterBlock.slotCount * width : entries.count * (Self.slotByteCount + width)
    return (width, hasEverySlot, Self.headByteCount + size)
  }

  var encodedByteCount: Int { form.byteCount }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    let (width, hasEverySlot, _) = form
    output.append(UInt8(width))
    output.append(hasEverySlot ? 1 : 0)
    output.append(bigEndian: UInt16(0))
    output.append(bigEndian: total)
    if !hasEverySlot {
      for entry in entries { output.append(bigEndian: entry.slot) }
    }
    var next = 0
    for entry in entries {
      if hasEverySlot { output.append(zeros: (Int(entry.slot) - next) * width) }
      next = Int(entry.slot) + 1
      switch width {
      case 1: output.append(UInt8(truncatingIfNeeded: entry.count))
      case 2: output.append(bigEndian: UInt16(truncatingIfNeeded: entry.count))
      default: output.append(bigEndian: entry.count)
      }
    }
    if hasEverySlot { output.append(zeros: (CounterBlock.slotCount - next) * width) }
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    let fields = try BlockCountsFields(bytes)
    entries.reserveCapacity(fields.storedCount + 1)
    fields.forEachBusySlot(in: 0..<CounterBlock.slotCount) { slot, count in
      entries.append(Entry(slot: UInt16(slot), count: UInt32(count)))
    }
    guard zip(entries, entries.dropFirst()).allSatisfy({ $0.slot < $1.slot }) else {
      throw .undecodable("a block's slots are out of order")
    }
  }

  /// Adds to the counts of some slots, in order: of the next one as long as there is one.
  ///
  /// Throws, and changes nothing, if a count would leave its range: the counters disagree with the records.
  mutating func add(_ next: () -> (slot: UInt16, delta: Int64)?) throws(LMDBError) {
    var merged: [Entry] = []
    merged.reserveCapacity(entries.count + 1)
    var index = 0
    while let (slot, delta) = next() {
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
    entries = merged
  }
}
