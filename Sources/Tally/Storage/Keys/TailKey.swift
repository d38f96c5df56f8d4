import Foundation
import LMDB
import TallyEngine

/// The key of `byTail`: the hexadecimal digits of an identifier, in reverse order; 16 bytes.
///
/// Neighbours in this index share the longest tails. Therefore the shortest unique handle of a task follows from the
/// entries before and after its own, and the tasks that match a handle are adjacent.
struct TailKey: IndexKey {
  static let width = 16
  /// The number of hexadecimal digits in an identifier.
  static let digitCount = 32
  /// The identifier with its digits in reverse order.
  let reversed: UUID

  var id: UUID { Self.reverse(reversed) }

  init(_ id: UUID) {
    reversed = Self.reverse(id)
  }

  init(fields bytes: RawSpan) {
    reversed = bytes.load(idAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(reversed)
  }

  /// The lowest possible key of a handle, given as at most 32 digits from 0 to 15 in written order.
  init(firstEndingIn digits: [UInt8]) {
    assert(digits.count <= Self.digitCount && digits.allSatisfy { $0 < 16 }, "not digits of an identifier")
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (place, digit) in digits.reversed().enumerated() {
      let shift = UInt64(60 - 4 * (place % 16))
      if place < 16 { words.high |= UInt64(digit) << shift } else { words.low |= UInt64(digit) << shift }
    }
    reversed = UUID(high: words.high, low: words.low)
  }

  /// How many digits two identifiers share at their end.
  func sharedDigitCount(with other: TailKey) -> Int {
    let (left, right) = (reversed.words, other.reversed.words)
    let high = (left.high ^ right.high).leadingZeroBitCount
    return (high < 64 ? high : 64 + (left.low ^ right.low).leadingZeroBitCount) / 4
  }

  private static func reverse(_ id: UUID) -> UUID {
    UUID(high: reverseDigits(id.words.low), low: reverseDigits(id.words.high))
  }

  /// Reverses the bytes, then the two digits in each.
  private static func reverseDigits(_ word: UInt64) -> UInt64 {
    let bytes = word.byteSwapped
    let lowDigits: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    return (bytes & lowDigits) << 4 | (bytes >> 4) & lowDigits
  }
}
