/// The checksum of headers and records: 64 bits, eight bytes at a time by folded multiplication.
///
/// It recognises torn and stale blocks; somebody who writes a file on purpose can forge it. CRC-32 misses one
/// torn record in 2³², and needs tables or instructions that differ between machines.
enum JournalChecksum {
  private static let multiplier: UInt64 = 0xD6E8_FEB8_6659_FD93
  private static let increment: UInt64 = 0xA076_1D64_78BD_642F

  /// Adds bytes to a checksum.
  static func of(_ bytes: UnsafeRawBufferPointer, after seed: UInt64) -> UInt64 {
    var sum = fold(seed ^ UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      // In bounds by the condition.
      sum = unsafe fold(sum ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = unsafe rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return fold(sum ^ rest)
  }

  /// Adds numbers to a checksum.
  static func of(_ words: [UInt64], after seed: UInt64) -> UInt64 {
    words.reduce(fold(seed ^ UInt64(words.count))) { fold($0 ^ $1) }
  }

  private static func fold(_ word: UInt64) -> UInt64 {
    let product = (word ^ increment).multipliedFullWidth(by: multiplier)
    return product.high ^ product.low ^ increment
  }
}
