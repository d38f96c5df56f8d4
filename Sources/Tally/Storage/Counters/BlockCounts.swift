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
struct BlockCounts: BinaryCodable {
  static let headByteCount = 8
  static let slotByteCount = 2
  static let greatestNamedCount = 96

  /// A slot in which something happened.
  private struct Entry {
    let slot: UInt16
    let count: UInt32
  }

  /// The slots in which something happened, in order, unless `everySlot` has them.
  private var named: [Entry] = []
  /// The record of a block with a byte for each slot, as it was read: one event more changes two of its numbers, and
  /// taking all of it apart for that took a third of a create.
  private var everySlot: [UInt8]?

  /// A block in which nothing happened.
  init() {}

  /// Whether nothing happened.
  var isEmpty: Bool { everySlot == nil && named.isEmpty }

  /// How the counts are stored.
  private var form: (width: Int, hasEverySlot: Bool, byteCount: Int) {
    // All bits of all counts: as wide as the greatest.
    let bits = named.reduce(0) { $0 | $1.count }
    let width = bits < 1 << 8 ? 1 : bits < 1 << 16 ? 2 : 4
    let hasEverySlot = named.count > Self.greatestNamedCount
    let size = hasEverySlot ? CounterBlock.slotCount * width : named.count * (Self.slotByteCount + width)
    return (width, hasEverySlot, Self.headByteCount + size)
  }

  var encodedByteCount: Int { everySlot?.count ?? form.byteCount }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    if let everySlot { return everySlot.encode(into: &output) }
    let (width, hasEverySlot, _) = form
    let total = named.reduce(0) { $0 &+ $1.count }
    output.append(UInt8(width))
    output.append(hasEverySlot ? 1 : 0)
    output.append(bigEndian: UInt16(0))
    output.append(bigEndian: total)
    if !hasEverySlot {
      for entry in named { output.append(bigEndian: entry.slot) }
    }
    var next = 0
    for entry in named {
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
    guard !fields.hasByteForEachSlot else {
      everySlot = bytes.bytes(from: 0)
      return
    }
    named = Self.entries(of: fields)
    guard zip(named, named.dropFirst()).allSatisfy({ $0.slot < $1.slot }) else {
      throw .undecodable("a block's slots are out of order")
    }
  }

  private static func entries(of fields: borrowing BlockCountsFields) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(fields.storedCount + 1)
    fields.forEachBusySlot(in: 0..<CounterBlock.slotCount) { slot, count in
      entries.append(Entry(slot: UInt16(slot), count: UInt32(count)))
    }
    return entries
  }

  /// Adds to the counts of some slots, in order.
  ///
  /// Throws, and changes nothing, if a count would leave its range: the counters disagree with the records.
  mutating func add(_ changes: some Sequence<(slot: UInt16, delta: Int64)>) throws(LMDBError) {
    guard !addInPlace(changes) else { return }
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
    (named, everySlot) = (merged, nil)
  }

  /// Adds where every slot has a byte and goes on having one; says whether it has.
  private mutating func addInPlace(_ changes: some Sequence<(slot: UInt16, delta: Int64)>) -> Bool {
    guard var bytes = everySlot else { return false }
    var totalChange: Int64 = 0
    for (slot, delta) in changes {
      let index = Self.headByteCount + Int(slot)
      let sum = Int64(bytes[index]) + delta
      // One slot less with a count may make naming them the shorter form; more than a byte holds needs two.
      guard let count = UInt8(exactly: sum), count > 0 || delta >= 0 else { return false }
      bytes[index] = count
      totalChange += delta
    }
    let totalOffset = 4
    var total = UInt32(0)
    for index in totalOffset..<Self.headByteCount { total = total << 8 | UInt32(bytes[index]) }
    total &+= UInt32(truncatingIfNeeded: totalChange)
    for index in (totalOffset..<Self.headByteCount).reversed() {
      bytes[index] = UInt8(truncatingIfNeeded: total)
      total >>= 8
    }
    everySlot = bytes
    return true
  }

  /// The slots in which something happened, in order.
  private var entries: [Entry] {
    get throws(LMDBError) {
      guard let everySlot else { return named }
      // Unsafe by signature only: bytes have no padding.
      return Self.entries(of: try unsafe BlockCountsFields(everySlot.span.bytes))
    }
  }
}
