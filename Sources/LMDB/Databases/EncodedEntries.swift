/// Encoded entries, one after the other in memory.
@safe
@usableFromInline
struct EncodedEntries: Sendable {
  /// Where one entry lies: its key, then its value.
  struct Entry {
    let offset: Int
    let valueByteCount: UInt32
    let keyByteCount: UInt16
    /// The eight bytes of the key by which it is being sorted.
    var word: UInt64 = 0

    var key: Range<Int> { offset..<offset + Int(keyByteCount) }
    var value: Range<Int> { key.upperBound..<key.upperBound + Int(valueByteCount) }
  }

  @usableFromInline var bytes: [UInt8] = []
  var entries: [Entry] = []
  private(set) var longestKeyByteCount = 0
  var isSorted = true

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { entries.count }

  mutating func reserve(times factor: Double) {
    reserve(Int(Double(entries.count) * factor), byteCount: Int(Double(bytes.count) * factor))
  }

  mutating func reserve(_ entryCount: Int, byteCount: Int) {
    bytes.reserveCapacity(byteCount)
    entries.reserveCapacity(entryCount)
  }

  /// Records the entry whose bytes have been appended.
  @usableFromInline
  mutating func addEntry(at offset: Int, keyEnd: Int, announced: (key: Int, value: Int)) throws(LMDBError) {
    assert(offset >= entries.last?.value.upperBound ?? 0, "an entry inside another")
    assert(offset <= keyEnd && keyEnd <= bytes.count, "an entry outside the bytes")
    let (keyByteCount, valueByteCount) = (keyEnd - offset, bytes.count - keyEnd)
    guard keyByteCount >= 1, keyByteCount <= LMDBLimits.keySizeInBytes, keyByteCount == announced.key else {
      throw LMDBLimits.badKeySize(keyByteCount)
    }
    guard valueByteCount <= LMDBLimits.valueSizeInBytes, valueByteCount == announced.value else {
      throw LMDBError(.badValueSize, operation: "put")
    }
    entries.append(
      Entry(offset: offset, valueByteCount: UInt32(valueByteCount), keyByteCount: UInt16(keyByteCount)))
    longestKeyByteCount = max(longestKeyByteCount, keyByteCount)
    isSorted = false
  }

  /// The eight bytes of a key from an offset on, as a number; what the key lacks counts as zeros.
  func word(of entry: Entry, at offset: Int) -> UInt64 {
    let start = entry.offset + offset
    let byteCount = Int(entry.keyByteCount) - offset
    if byteCount >= 8 {
      // Unsafe by signature only: bytes have no padding, every bit pattern is a number, and the load checks its bounds.
      return UInt64(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 0..<8 { word = word << 8 | (index < byteCount ? UInt64(bytes[start + index]) : 0) }
    return word
  }

  /// Whether no key is less than the one before; for assertions.
  var areKeysAscending: Bool {
    zip(entries, entries.dropFirst()).allSatisfy { !bytes[$1.key].lexicographicallyPrecedes(bytes[$0.key]) }
  }
}
