package import Foundation

/// SipHash-2-4 with a 128-bit result; the key is zero by default.
///
/// J.-P. Aumasson, D. J. Bernstein, SipHash: a fast short-input PRF, 2012; the 128-bit result follows the
/// authors' reference implementation. The standard library's hash is not used because it differs between runs.
@usableFromInline
package struct SipHash128 {
  @usableFromInline var v0: UInt64
  @usableFromInline var v1: UInt64
  @usableFromInline var v2: UInt64
  @usableFromInline var v3: UInt64

  @inlinable
  init(key: (low: UInt64, high: UInt64)) {
    v0 = 0x736f_6d65_7073_6575 ^ key.low
    v1 = 0x646f_7261_6e64_6f6d ^ key.high ^ 0xEE
    v2 = 0x6c79_6765_6e65_7261 ^ key.low
    v3 = 0x7465_6462_7974_6573 ^ key.high
  }

  /// The hash of some bytes.
  @inlinable
  package static func hash(_ bytes: some Sequence<UInt8>, key: (low: UInt64, high: UInt64) = (0, 0)) -> Hash {
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

  @inlinable var folded: UInt64 { v0 ^ v1 ^ v2 ^ v3 }

  @inlinable
  mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round(times: 2)
    v0 ^= word
  }

  @inlinable
  mutating func round(times count: Int) {
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

  /// A 128-bit hash.
  @usableFromInline
  package struct Hash: Hashable {
    @usableFromInline package let low: UInt64
    @usableFromInline package let high: UInt64

    @inlinable
    init(low: UInt64, high: UInt64) {
      (self.low, self.high) = (low, high)
    }

    /// The 16 bytes of the hash, as a UUID.
    package var uuid: UUID { UUID(high: low.byteSwapped, low: high.byteSwapped) }
  }
}

extension UInt64 {
  @inlinable
  func rotated(by count: UInt64) -> UInt64 {
    self << count | self >> (64 - count)
  }
}

extension UUID {
  /// Whether the id is a UUID of version 8, as for tasks that the program creates and for imported ones
  /// identified by a text.
  package var isDerived: Bool { uuid.6 >> 4 == 8 }

  /// The id derived from another id and a number; the same on every device.
  ///
  /// A UUID of version 8 (RFC 9562, section 5.8): the first 48 bits are those of the origin, so that the two are stored
  /// close together, and 74 bits are mixed. Two ids with the same first 48 bits and the same number never collide if
  /// they differ in those 74 bits: the mixing is a Feistel network of four rounds, which is a permutation whatever its
  /// round function is (Luby and Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom Functions",
  /// 1988). Ids with different numbers collide with a probability of 2⁻⁷⁴. Version 5 would need SHA-1, which neither
  /// the standard library nor Foundation has on every platform, and could collide.
  package init(derivedFrom origin: UUID, index: UInt64) {
    let (high, low) = origin.words
    let key = mix(((high >> 12) << 2 | low >> 62) &+ goldenGamma &* index)
    var (left, right) = ((high & 0xFFF) << 25 | low >> 37 & 0x1FF_FFFF, low & halfMask)
    for round in 1...4 as ClosedRange<UInt64> {
      (left, right) = (right, left ^ mix(right &+ key &+ goldenGamma &* round) & halfMask)
    }
    self.init(high: high & ~0xFFFF | 8 << 12 | left >> 25, low: 0b10 << 62 | (left & 0x1FF_FFFF) << 37 | right)
  }
}

extension UUID {
  /// The id derived from texts alone, for records of documents that have no ids.
  ///
  /// A UUID of version 8 (RFC 9562, section 5.8) with 122 bits of SipHash-2-4, enough that different texts do
  /// not collide in practice.
  package init(namedBy texts: String...) {
    var bytes: [UInt8] = []
    // This byte ends each text; it never occurs in UTF-8.
    for text in texts { bytes += Array(text.utf8) + [0xFF] }
    let (high, low) = SipHash128.hash(bytes).uuid.words
    self.init(high: high & ~0xF000 | 8 << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
  }
}

/// A mask of 37 bits: one half of the network's 74.
private let halfMask: UInt64 = 1 << 37 - 1

/// The odd number nearest to 2⁶⁴ divided by the golden ratio, which is the increment of SplitMix64.
package let goldenGamma: UInt64 = 0x9E37_79B9_7F4A_7C15

/// The mixing function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
@inlinable
package func mix(_ value: UInt64) -> UInt64 {
  var mixed = value
  mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
  mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
  return mixed ^ (mixed >> 31)
}
