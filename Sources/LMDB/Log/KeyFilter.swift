import Synchronization

/// A key that is looked up in several tables, with its hash.
@safe
struct KeyWithHash {
  // Whoever makes it keeps them as long as it is used.
  let bytes: UnsafeRawBufferPointer
  fileprivate let hash: UInt64

  init(_ key: UnsafeRawBufferPointer) {
    unsafe bytes = key
    var (hash, offset) = (UInt64(key.count), 0)
    while offset + 8 <= key.count {
      // In bounds, by the line above.
      let word = unsafe key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      hash = (hash ^ word).mixed
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < key.count {
      rest = unsafe rest << 8 | UInt64(key[offset])
      offset += 1
    }
    self.hash = (hash ^ rest).mixed
  }
}

extension UInt64 {
  /// The number after the finalizer of SplitMix64, in which each of its bits changes half of all bits.
  ///
  /// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
  var mixed: UInt64 {
    var mixed = (self ^ (self >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Which keys a table does not have, without a search: a Bloom filter with two bits for each key.
///
/// One thread adds, while any number ask. Of the questions for keys that are missing, one in 300 gets "maybe" beside 256
/// keys, one in seven beside 2,000. B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970.
@safe
struct KeyFilter: @unchecked Sendable {
  private static let wordCount = 128

  // Freed by `deallocate`.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init() {
    unsafe words = .allocate(capacity: Self.wordCount)
    for index in 0..<Self.wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  func deallocate() { unsafe words.deallocate() }

  /// The places of a key's two bits: 13 bits of its hash each.
  private static func places(of key: KeyWithHash) -> (first: Int, second: Int) {
    (Int(key.hash & 0x1FFF), Int(key.hash >> 32 & 0x1FFF))
  }

  func add(_ key: KeyWithHash) {
    let (first, second) = Self.places(of: key)
    for place in [first, second] {
      // In bounds: there are 8,192 bits.
      _ = unsafe words[place >> 6].bitwiseOr(1 << UInt64(place & 63), ordering: .relaxed)
    }
  }

  /// Whether the key may have been added; what others add meanwhile may be missing.
  func mayHave(_ key: KeyWithHash) -> Bool {
    let (first, second) = Self.places(of: key)
    // As above. What a snapshot sees was added before its commit was published, which was read in order.
    return unsafe words[first >> 6].load(ordering: .relaxed) >> UInt64(first & 63) & 1 == 1
      && words[second >> 6].load(ordering: .relaxed) >> UInt64(second & 63) & 1 == 1
  }
}
