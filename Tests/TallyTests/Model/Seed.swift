/// Random numbers that can be had again: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014).
///
/// A test makes one with a fresh seed and puts `seed` into the comment of each expectation, so that a failure prints it.
struct Seed: RandomNumberGenerator, CustomStringConvertible {
  let value: UInt64
  private var state: UInt64

  init(_ value: UInt64 = .random(in: 0...UInt64.max)) {
    self.value = value
    state = value
  }

  var description: String { "seed \(value)" }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
