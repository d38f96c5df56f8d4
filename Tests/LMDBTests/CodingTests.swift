import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct CodingTests {
  private func check<T: FixedWidthKey>(_ type: T.Type, with random: inout some RandomNumberGenerator) throws {
    var numbers: [T] = [.min, .min + 1, .max - 1, .max, 0, 1, T.max / 2]
    for _ in 0..<1000 {
      numbers.append(T.random(in: .min ... .max, using: &random) >> T.random(in: 0..<8, using: &random))
    }
    if T.isSigned { numbers.append(0 &- 1) }
    for number in numbers {
      let bytes = encoded(number)
      #expect(bytes.count == MemoryLayout<T>.size)
      #expect(try decoded(bytes) == number)
    }
    let sorted = numbers.sorted()
    for (left, right) in zip(sorted, sorted.dropFirst()) where left < right {
      #expect(encoded(left).lexicographicallyPrecedes(encoded(right)))
    }
  }

  @Test func orderOfIntegersIsTheOrderOfTheirBytes() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    try check(UInt8.self, with: &random)
    try check(UInt16.self, with: &random)
    try check(UInt32.self, with: &random)
    try check(UInt64.self, with: &random)
    try check(UInt128.self, with: &random)
    try check(UInt.self, with: &random)
    try check(Int8.self, with: &random)
    try check(Int16.self, with: &random)
    try check(Int32.self, with: &random)
    try check(Int64.self, with: &random)
    try check(Int128.self, with: &random)
    try check(Int.self, with: &random)
  }

  @Test func integersHaveTheMostSignificantByteFirst() {
    #expect(encoded(UInt32(0x0102_0304)) == [1, 2, 3, 4])
    #expect(encoded(Int16(-1)) == [0x7F, 0xFF])
    #expect(encoded(Int16(1)) == [0x80, 0x01])
  }

  @Test(arguments: ["", "a", "\u{0}b", "e\u{301}", "🧑‍🚀", "\u{202E}x"])
  func textKeepsItsScalars(text: String) throws {
    let read: String = try decoded(encoded(text))
    #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func orderOfTextsIsThatOfTheirScalars() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    let scalars: [Unicode.Scalar] = ["\u{0}", "a", "b", "\u{7F}", "\u{E9}", "\u{FFFD}", "\u{1F680}"]
    let texts = (0..<200).map { _ in
      String(
        String.UnicodeScalarView(
          (0..<Int.random(in: 0...4, using: &random)).map { _ in
            scalars[Int.random(in: scalars.indices, using: &random)]
          }))
    }
    for left in texts {
      for right in texts {
        #expect(encoded(left).lexicographicallyPrecedes(encoded(right)) == (left < right))
      }
    }
  }

  @Test func orderOfFloatingPointNumbersIsTheirTotalOrder() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    var numbers: [Double] = [0, 1, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, .nan]
    numbers += (0..<100).map { _ in Double(bitPattern: .random(in: .min ... .max, using: &random)) }
    numbers += numbers.map(-)
    for left in numbers {
      #expect(try decoded(encoded(left), as: Double.self).bitPattern == left.bitPattern)
      for right in numbers where left.bitPattern != right.bitPattern {
        let isBelow = left.isTotallyOrdered(belowOrEqualTo: right)
        #expect(encoded(left).lexicographicallyPrecedes(encoded(right)) == isBelow)
      }
    }
  }

  @Test func truthValueIsOneByte() throws {
    #expect(encoded(false) == [0] && encoded(true) == [1])
    #expect(try decoded([0]) == false)
    #expect(try decoded([1]) == true)
    for bytes in [[], [2], [0, 0]] as [[UInt8]] {
      #expect(try code { _ = try decoded(bytes, as: Bool.self) } == .undecodable)
    }
  }

  @Test func identifierIsItsSixteenBytes() throws {
    let id = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
    #expect(encoded(id) == Array(0..<16))
    #expect(try decoded(Array(0..<16)) == id)
    #expect(try code { _ = try decoded(Array(0..<15), as: UUID.self) } == .undecodable)
  }

  @Test func dataIsItsBytesEvenAsASlice() throws {
    let data = Data([9, 1, 0, 2]).dropFirst()
    #expect(encoded(data) == [1, 0, 2])
    #expect(try decoded([1, 0, 2]) == data)
    #expect(try decoded([]) == Data())
  }
}
