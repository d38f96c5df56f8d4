package import Foundation
package import Tally

/// SplitMix64: small, fast, and the same numbers everywhere.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  package mutating func isOne(in count: Int) -> Bool { below(count) == 0 }

  package mutating func element<T>(of elements: [T]) -> T { elements[below(elements.count)] }

  /// A UUID of version 7, as of an application that creates the task.
  package mutating func uuid(at instant: Timestamp) -> UUID {
    let milliseconds = UInt64(bitPattern: instant.microsecondsSince1970 / 1_000)
    let time = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * $0)) }
    let (high, low) = (next(), next())
    let rest = (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(8 * $0)) }
    return UUID(
      uuid: (
        time[0], time[1], time[2], time[3], time[4], time[5], rest[0] & 0x0F | 0x70, rest[1], rest[2] & 0x3F | 0x80,
        rest[3], rest[4], rest[5], rest[6], rest[7], UInt8(truncatingIfNeeded: low), UInt8(truncatingIfNeeded: low >> 8)
      )
    )
  }
}
