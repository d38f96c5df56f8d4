/// Appends numbers and bytes in the form in which states are stored and sent.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: How many bytes are expected.
  init(reservingCapacity capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  /// Appends a number in groups of seven bits, the lowest first; all groups except the last have the eighth bit set.
  ///
  /// The same as LEB128 (DWARF 5, 7.6).
  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a number with its sign in the lowest bit, so that small ones take few bytes.
  mutating func append(signed number: Int64) {
    append(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  /// Appends bytes after their number.
  mutating func append(counted value: some Collection<UInt8>) {
    append(UInt64(value.count))
    bytes += value
  }

  /// Appends bytes whose number the reader knows.
  mutating func append(raw value: some Collection<UInt8>) {
    bytes += value
  }
}
