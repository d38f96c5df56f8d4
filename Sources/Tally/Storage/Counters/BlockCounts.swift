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
