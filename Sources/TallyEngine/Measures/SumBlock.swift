/// A row of a measure: the slots of sixteen UTC days that have an amount, and the running sums of the amounts.
///
/// ```
/// offset size
///      0    1  bytes of a sum: 1 to 8
///      1    2  the number of slots with an amount
///      3       if at most 96 have one: their numbers, two bytes each; otherwise a bit for each of the 1,536 slots,
///              192 bytes, the first slot in the lowest bit
///              then, for each slot with an amount, the sum up to and with it: signed, most significant byte first
/// ```
///
/// With running sums, the sum between two places is one subtraction, however many slots lie between them.
struct SumBlock: ~Escapable {
  private let bytes: RawSpan
  private let width: Int
  /// The number of slots with an amount.
  let count: Int
  private let hasBits: Bool
  private let sumsOffset: Int

  static let greatestNamedCount = 96
  private static let headByteCount = 3
  private static let bitByteCount = CounterBlock.slotCount / 8

  /// How far a row has been read: a word of its bits, and the number of slots with an amount before it.
  struct Progress {
    fileprivate var word = 0
    fileprivate var rank = 0
  }

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(TallyError) {
    self.bytes = bytes
    guard bytes.byteCount >= Self.headByteCount else { throw .damagedMeasure }
    width = Int(bytes.load(bigEndianAt: 0, as: UInt8.self))
    count = Int(bytes.load(bigEndianAt: 1, as: UInt16.self))
    hasBits = count > Self.greatestNamedCount
    sumsOffset = Self.headByteCount + (hasBits ? Self.bitByteCount : 2 * count)
    guard (1...8).contains(width), count > 0, count <= CounterBlock.slotCount,
      bytes.byteCount == sumsOffset + width * count
    else { throw .damagedMeasure }
  }

  /// The sum of the whole row.
  var total: Int64 { sum(count - 1) }

  /// The sum of the slots before one; each call continues where the one before has ended.
  func sum(before slot: Int, from progress: inout Progress) -> Int64 {
    let rank = rank(before: slot, from: &progress)
    return rank == 0 ? 0 : sum(rank - 1)
  }

  /// Calls a closure with each slot that has an amount, and the amount.
  func forEach(_ body: (Int, Int64) -> Void) {
    var (last, index) = (Int64(0), 0)
    func visit(_ slot: Int) {
      let sum = sum(index)
      body(slot, sum &- last)
      (last, index) = (sum, index + 1)
    }
    guard hasBits else {
      for index in 0..<count { visit(slot(index)) }
      return
    }
    for place in 0..<(CounterBlock.slotCount / 64) {
      var bits = word(place)
      while bits != 0 {
        visit(place * 64 + bits.trailingZeroBitCount)
        bits &= bits - 1
      }
    }
  }

  /// The number of slots with an amount before one.
  @inline(__always)
  private func rank(before slot: Int, from progress: inout Progress) -> Int {
    if hasBits {
      while progress.word < slot >> 6 {
        progress.rank += word(progress.word).nonzeroBitCount
        progress.word += 1
      }
      let rest = slot & 63
      guard rest > 0 else { return progress.rank }
      return progress.rank + (word(progress.word) & (1 << UInt64(rest) - 1)).nonzeroBitCount
    }
    var (low, high) = (progress.rank, min(count, progress.rank + slot))
    while low < high {
      let middle = (low + high) / 2
      if self.slot(middle) < slot { low = middle + 1 } else { high = middle }
    }
    progress.rank = low
    return low
  }

  @inline(__always)
  private func slot(_ index: Int) -> Int {
    Int(bytes.load(bigEndianAt: Self.headByteCount + 2 * index, as: UInt16.self))
  }

  /// Sixty-four bits of the slots.
  @inline(__always)
  private func word(_ index: Int) -> UInt64 {
    bytes.load(bigEndianAt: Self.headByteCount + 8 * index, as: UInt64.self).byteSwapped
  }

  /// The sum up to and with a slot, by its place among those with an amount.
  @inline(__always)
  private func sum(_ index: Int) -> Int64 {
    // A damaged row may have more bits than sums.
    let end = sumsOffset + (min(index, count - 1) + 1) * width
    // The eight bytes that end with the sum are in the row if its head and slots are as long as the rest.
    if end >= 8 {
      let bits = Int64(bitPattern: bytes.load(bigEndianAt: end - 8, as: UInt64.self))
      return (bits << Int64(64 - 8 * width)) >> Int64(64 - 8 * width)
    }
    var value = Int64(Int8(bitPattern: bytes.load(bigEndianAt: end - width, as: UInt8.self)))
    for offset in (end - width + 1)..<max(end, end - width + 1) {
      value = value << 8 | Int64(bytes.load(bigEndianAt: offset, as: UInt8.self))
    }
    return value
  }
}

extension SumBlock {
  /// An amount in a slot.
  struct Entry: Equatable {
    let slot: Int
    let amount: Int64
  }

  /// What is added to the amount of a slot.
  struct Change {
    let slot: Int
    /// The difference of two amounts may have one bit more than each.
    let amount: Int128

    /// The amount of the slot after the change.
    fileprivate func applied(to amount: Int64 = 0) throws(TallyError) -> Entry {
      guard let sum = Int64(exactly: Int128(amount) + self.amount) else { throw .overflowingMeasure }
      return Entry(slot: slot, amount: sum)
    }
  }

  /// The row of some changes alone.
  static func encode(changes: [Change]) throws(TallyError) -> [UInt8] {
    var entries: [Entry] = []
    entries.reserveCapacity(changes.count)
    for change in changes { entries.append(try change.applied()) }
    return try encode(entries)
  }

  /// The row of some amounts, in ascending order of their slots; empty if there are none.
  ///
  /// - Throws: `valueOutOfRange` if a sum leaves the range of 64 bits.
  static func encode(_ entries: some Sequence<Entry>) throws(TallyError) -> [UInt8] {
    var (slots, sums, sum, bits): ([Int], [Int64], Int64, Int64) = ([], [], 0, 0)
    for entry in entries where entry.amount != 0 {
      let (next, overflow) = sum.addingReportingOverflow(entry.amount)
      guard !overflow else { throw .overflowingMeasure }
      sum = next
      guard entry.slot < CounterBlock.slotCount, slots.last.map({ $0 < entry.slot }) ?? true else {
        throw .damagedMeasure
      }
      slots.append(entry.slot)
      sums.append(sum)
      bits |= sum ^ sum >> 63
    }
    guard !slots.isEmpty else { return [] }
    let width = width(of: bits)
    var bytes: [UInt8] = [UInt8(width), UInt8(slots.count >> 8), UInt8(slots.count & 255)]
    let hasBits = slots.count > greatestNamedCount
    bytes.reserveCapacity(headByteCount + (hasBits ? bitByteCount : 2 * slots.count) + width * slots.count)
    if hasBits {
      bytes += [UInt8](repeating: 0, count: bitByteCount)
      for slot in slots { bytes[headByteCount + slot >> 3] |= 1 << UInt8(slot & 7) }
    } else {
      for slot in slots { bytes += [UInt8(slot >> 8), UInt8(slot & 255)] }
    }
    for sum in sums {
      for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: sum >> Int64(8 * place))) }
    }
    return bytes
  }

  /// The row after some changes, in ascending order of their slots; empty if nothing is left.
  ///
  /// - Complexity: for one change, as many steps as there are slots from it on, and a copy of the row, if its form and
  ///   width stay; otherwise as many steps as there are slots.
  func adding(_ changes: [Change]) throws(TallyError) -> [UInt8] {
    if changes.count == 1, let row = try adding(changes[0]) { return row }
    var (merged, index, failure): ([Entry], Int, TallyError?) = ([], 0, nil)
    merged.reserveCapacity(count + changes.count)
    func apply(_ change: Change, to amount: Int64 = 0) {
      do throws(TallyError) { merged.append(try change.applied(to: amount)) } catch { failure = error }
    }
    forEach { slot, amount in
      while index < changes.count, changes[index].slot < slot {
        apply(changes[index])
        index += 1
      }
      guard index < changes.count, changes[index].slot == slot else {
        return merged.append(Entry(slot: slot, amount: amount))
      }
      apply(changes[index], to: amount)
      index += 1
    }
    for change in changes[index...] { apply(change) }
    if let failure { throw failure }
    return try Self.encode(merged)
  }

  /// The row after a change, mostly copied; `nil` if the change needs another form or width.
  private func adding(_ change: Change) throws(TallyError) -> [UInt8]? {
    var progress = Progress()
    let rank = rank(before: change.slot, from: &progress)
    let isThere =
      hasBits ? word(change.slot >> 6) >> UInt64(change.slot & 63) & 1 == 1 : rank < count && slot(rank) == change.slot
    guard isThere ? rank < count : rank <= count else { throw .damagedMeasure }
    let before = rank == 0 ? 0 : sum(rank - 1)
    let entry = try change.applied(to: isThere ? sum(rank) &- before : 0)
    guard entry.amount != 0, isThere || hasBits || count < Self.greatestNamedCount else { return nil }
    let newCount = isThere ? count : count + 1
    guard newCount <= CounterBlock.slotCount else { throw .damagedMeasure }
    var row: [UInt8] = []
    row.reserveCapacity(bytes.byteCount + 2 + width)
    row += [UInt8(width), UInt8(newCount >> 8), UInt8(newCount & 255)]
    if hasBits {
      row += copy(Self.headByteCount, sumsOffset)
      row[Self.headByteCount + change.slot >> 3] |= 1 << UInt8(change.slot & 7)
    } else {
      let place = Self.headByteCount + 2 * rank
      row += copy(Self.headByteCount, place)
      if !isThere { row += [UInt8(change.slot >> 8), UInt8(change.slot & 255)] }
      row += copy(place, sumsOffset)
    }
    row += copy(sumsOffset, sumsOffset + rank * width)
    // The sums before the slot fit the width; the others may need another one.
    var bits: Int64 = 0
    func append(_ sum: Int64, plus amount: Int128) throws(TallyError) {
      guard let next = Int64(exactly: Int128(sum) + amount) else { throw .overflowingMeasure }
      bits |= next ^ next >> 63
      for place in (0..<width).reversed() { row.append(UInt8(truncatingIfNeeded: next >> Int64(8 * place))) }
    }
    if !isThere { try append(before, plus: change.amount) }
    for index in rank..<count { try append(sum(index), plus: change.amount) }
    return Self.width(of: bits) == width ? row : nil
  }

  private func copy(_ start: Int, _ end: Int) -> [UInt8] { bytes.extracting(start..<end).bytes(from: 0) }

  /// How many bytes a sum takes if the sums have these bits: one bit more for the sign.
  private static func width(of bits: Int64) -> Int { (64 - bits.leadingZeroBitCount + 8) / 8 }
}

extension TallyError {
  static var damagedMeasure: TallyError {
    TallyError(
      .damagedStore, "A row of a measure cannot be read", remedy: "Run a repair, which computes the measure again")
  }

  static var overflowingMeasure: TallyError {
    TallyError(
      .valueOutOfRange, "The sum of a measure leaves the range of 64-bit numbers",
      remedy: "Store smaller amounts, or declare the measure in a larger unit; nothing was changed")
  }
}
