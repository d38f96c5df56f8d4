import Foundation

extension UUID {
  /// Whether it is of version 8, as those of tasks that the program makes, and of imported ones that a text identifies.
  package var isDerived: Bool { uuid.6 >> 4 == 8 }

  /// The id that follows from another one and a number; always the same, on every device.
  ///
  /// A UUID of version 8 (RFC 9562, section 5.8) with the first 48 bits of the origin, so that it is stored near it, and
  /// 74 mixed bits. Ids with the same first bits and the same number never meet if they differ in those 74 bits: the
  /// mixing is a Feistel network of four rounds, which is a permutation whatever its rounds do (Luby and Rackoff, "How to
  /// Construct Pseudorandom Permutations from Pseudorandom Functions", 1988). Different numbers meet with a probability of
  /// 2⁻⁷⁴. A version 5 would need SHA-1, which neither the standard library nor Foundation has everywhere, and could
  /// meet.
  init(derivedFrom origin: UUID, index: UInt64) {
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
  /// The id that follows from texts alone: for records of documents that have no ids.
  ///
  /// A UUID of version 8 (RFC 9562, section 5.8) with 122 bits of SipHash-2-4; different texts cannot be expected to meet.
  package init(namedBy texts: String...) {
    var bytes: [UInt8] = []
    // No text has this byte.
    for text in texts { bytes += Array(text.utf8) + [0xFF] }
    let (high, low) = SipHash128.hash(bytes).uuid.words
    self.init(high: high & ~0xF000 | 8 << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
  }
}

/// The 37 bits of each half of the network.
private let halfMask: UInt64 = 1 << 37 - 1

/// The odd number nearest to 2⁶⁴ divided by the golden ratio, by which SplitMix64 steps.
private let goldenGamma: UInt64 = 0x9E37_79B9_7F4A_7C15

/// The mixing function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
private func mix(_ value: UInt64) -> UInt64 {
  var mixed = value
  mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
  mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
  return mixed ^ (mixed >> 31)
}
