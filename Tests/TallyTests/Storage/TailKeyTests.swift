import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct TailKeyTests {
  @Test func theBytesAreTheDigitsInReverseOrder() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "tail digits"))
    for _ in 0..<500 {
      let id = generator.uuid()
      let written = encoded(TailKey(id)).map { String(format: "%02x", $0) }.joined()
      #expect(written == String(digits(of: id).reversed()))
      #expect(TailKey(id).id == id)
    }
  }

  @Test func theSharedDigitCountEqualsTheOneOfTheTexts() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "shared digits"))
    for sharedCount in 0...32 {
      for _ in 0..<20 {
        let left = generator.uuid()
        let right = uuid(endingLike: left, inDigits: sharedCount, using: &generator)
        let expected = zip(digits(of: left).reversed(), digits(of: right).reversed()).prefix { $0 == $1 }.count
        #expect(expected >= sharedCount)
        #expect(TailKey(left).sharedDigitCount(with: TailKey(right)) == expected, "\(left) \(right)")
      }
    }
  }

  @Test(arguments: [1, 4, 5, 15, 16, 17, 31, 32])
  func theFirstKeyOfAHandleIsNotBehindAnyIDThatEndsInIt(digitCount: Int) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "first of \(digitCount)"))
    for _ in 0..<100 {
      let id = generator.uuid()
      let tail = digits(of: id).suffix(digitCount).compactMap { $0.hexDigitValue.map(UInt8.init) }
      let first = TailKey(firstEndingIn: tail)
      #expect(!TailKey(id).precedes(first))
      #expect(first.sharedDigitCount(with: TailKey(id)) >= digitCount)
      #expect(String(digits(of: first.id).dropLast(digitCount)).allSatisfy { $0 == "0" })
    }
  }

  private func digits(of id: UUID) -> String {
    id.uuidString.lowercased().filter { $0 != "-" }
  }

  private func uuid(endingLike other: UUID, inDigits count: Int, using generator: inout SeededGenerator) -> UUID {
    let text = digits(of: generator.uuid()).dropLast(count) + digits(of: other).suffix(count)
    let words = [text.prefix(16), text.suffix(16)].map { UInt64($0, radix: 16) ?? 0 }
    return UUID(high: words[0], low: words[1])
  }
}
