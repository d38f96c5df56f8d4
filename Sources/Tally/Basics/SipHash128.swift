import Foundation

/// SipHash-2-4 with 128 bits of result and the key zero.
///
/// J.-P. Aumasson, D. J. Bernstein, SipHash: a fast short-input PRF, 2012; the longer result is that of the authors'
/// reference implementation. The hash of the standard library differs from run to run.
struct SipHash128 {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64

  private init(key: (low: UInt64, high: UInt64)) {
    v0 = 0x736f_6d65_7073_6575 ^ key.low
    v1 = 0x646f_7261_6e64_6f6d ^ key.high ^ 0xEE
    v2 = 0x6c79_6765_6e65_7261 ^ key.low
    v3 = 0x7465_6462_7974_6573 ^ key.high
  }

  /// The hash of some bytes.
  static func hash(_ bytes: some Sequence<UInt8>, key: (low: UInt64, high: UInt64) = (0, 0)) -> Hash {
    var state = SipHash128(key: key)
    var (word, count): (UInt64, UInt64) = (0, 0)
    for byte in bytes {
      word |= UInt64(byte) << (8 * (count % 8))
      count += 1
      guard count.isMultiple(of: 8) else { continue }
      state.absorb(word)
      word = 0
    }
    state.absorb(word | count << 56)
    state.v2 ^= 0xEE
    state.round(times: 4)
    let low = state.folded
    state.v1 ^= 0xDD
    state.round(times: 4)
    return Hash(low: low, high: state.folded)
  }

  private var folded: UInt64 { v0 ^ v1 ^ v2 ^ v3 }

  private mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round(times: 2)
    v0 ^= word
  }

  private mutating func round(times count: Int) {
    for _ in 0..<count {
      v0 &+= v1
      v1 = v1.rotated(by: 13) ^ v0
      v0 = v0.rotated(by: 32)
      v2 &+= v3
      v3 = v3.rotated(by: 16) ^ v2
      v0 &+= v3
      v3 = v3.rotated(by: 21) ^ v0
      v2 &+= v1
      v1 = v1.rotated(by: 17) ^ v2
      v2 = v2.rotated(by: 32)
    }
  }

  /// A result of 128 bits.
  struct Hash: Hashable {
    let low: UInt64
    let high: UInt64

    /// The 16 bytes of the result, as those of a UUID.
    var uuid: UUID { UUID(high: low.byteSwapped, low: high.byteSwapped) }
  }
}

extension UInt64 {
  fileprivate func rotated(by count: UInt64) -> UInt64 {
    self << count | self >> (64 - count)
  }
}
