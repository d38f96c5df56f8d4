/// Numbers the terms of a segment in the order in which they are met.
///
/// A hash table of its own: one of arrays would allocate memory for each word of each text.
struct TermTable {
  /// The terms, one after the other.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// The number of a term plus one, at its hash; zero is free.
  private var slots = [UInt32](repeating: 0, count: 1 << 10)

  var count: Int { ends.count }

  /// The bytes of a term.
  subscript(number: Int) -> ArraySlice<UInt8> {
    bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
  }

  /// The number of a term, which is added if it is new.
  mutating func number(of range: Range<Int>, in text: [UInt8]) -> Int {
    var slot = Self.hash(range, in: text) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if self[number].elementsEqual(text[range]) { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    bytes += text[range]
    ends.append(bytes.count)
    slots[slot] = UInt32(count)
    if count * 2 > slots.count { grow() }
    return count - 1
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 4)
    for number in 0..<count {
      let range = (number == 0 ? 0 : ends[number - 1])..<ends[number]
      var slot = Self.hash(range, in: bytes) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }

  /// FNV-1a, with its high bits mixed into the low ones that choose the slot.
  private static func hash(_ range: Range<Int>, in text: [UInt8]) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for offset in range { hash = (hash ^ UInt64(text[offset])) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: hash ^ hash >> 32)
  }
}
