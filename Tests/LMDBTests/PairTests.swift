import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct PairTests {
  private typealias Triple = Pair<String, Pair<[UInt8], Int16>>

  /// Few different texts and bytes, among them those that escaping is about.
  private func randomText(_ random: inout SeededGenerator) -> String {
    let scalars: [Unicode.Scalar] = ["\u{0}", "\u{1}", "a", "\u{FF}"]
    let drawn = (0..<Int.random(in: 0...3, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "a" }
    return String(String.UnicodeScalarView(drawn))
  }

  private func randomBytes(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in [0, 1, 0xFE, 0xFF].randomElement(using: &random) ?? 0 }
  }

  private func check<Key: KeyCodable & Hashable>(_ keys: [Key], by precedes: (Key, Key) -> Bool) throws {
    for left in keys {
      let bytes = encoded(left)
      #expect(bytes.count == left.encodedByteCount)
      #expect(try decoded(bytes) == left)
      for right in keys {
        #expect(bytes.lexicographicallyPrecedes(encoded(right)) == precedes(left, right), "\(left) \(right)")
        #expect((bytes == encoded(right)) == (left == right))
      }
    }
  }

  @Test func orderOfPairsIsTheOrderOfTheirBytes() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    try check((0..<200).map { _ in Pair(randomText(&random), randomText(&random)) }, by: <)
    try check((0..<200).map { _ in Pair(Int16.random(in: -2...2, using: &random), randomText(&random)) }, by: <)
    try check((0..<200).map { _ in Pair(randomText(&random), Int64.random(in: -2...2, using: &random)) }, by: <)
    try check((0..<200).map { _ in Pair(randomBytes(&random), randomBytes(&random)) }) { left, right in
      left.first == right.first
        ? left.second.lexicographicallyPrecedes(right.second) : left.first.lexicographicallyPrecedes(right.first)
    }
  }

  @Test func pairsOfPairsKeepTheOrderOnEitherSide() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    let texts = (0..<450).map { _ in randomText(&random) }
    try check((0..<150).map { Pair(texts[3 * $0], Pair(texts[3 * $0 + 1], texts[3 * $0 + 2])) }, by: <)
    try check((0..<150).map { Pair(Pair(texts[3 * $0], texts[3 * $0 + 1]), texts[3 * $0 + 2]) }, by: <)
  }

  @Test func bytesOfPairsStayWhatTheyAre() throws {
    #expect(encoded(Pair(UInt16(0x0102), "a")) == [1, 2, 0x61])
    #expect(encoded(Pair("a\u{0}b", UInt8(7))) == [0x61, 0, 0xFF, 0x62, 0, 0, 7])
    #expect(encoded(Pair("", "")) == [0, 0])
    #expect(encoded(Pair(Pair(UInt8(1), UInt8(0)), UInt8(2))) == [1, 0, 2])
    #expect(encoded(Leading(Pair("a", UInt8(0)))) == [0x61, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0])
    #expect(Pair<UUID, Pair<Bool, Double>>.fixedByteCount == 25)
    #expect(Pair<UUID, String>.fixedByteCount == nil)
  }

  @Test(arguments: [
    [], [0], [0x61], [0x61, 0], [0x61, 0, 0xFF], [0x61, 0, 1, 0, 0], [0, 0, 7, 7], [0xC3, 0, 0, 7],
  ])
  func bytesOfNoPairAreUndecodable(bytes: [UInt8]) throws {
    #expect(try code { _ = try decoded(bytes, as: Pair<String, UInt8>.self) } == .undecodable)
    #expect(try code { _ = try decoded(bytes, as: Pair<UUID, UInt8>.self) } == .undecodable)
  }

  @Test func leadingIsThePrefixOfItsPairsAndOfNoOthers() throws {
    let sample = try Sample()
    let (names, parts) = (["", "a", "a\u{0}", "ab", "b"], [[], [0], [0xFF]] as [[UInt8]])
    let keys = names.flatMap { name in
      parts.flatMap { part in [Triple(name, Pair(part, -1)), Triple(name, Pair(part, 1))] }
    }
    try sample.environment.write { (transaction) throws in
      let triples = try Database<Triple, NoValue>(opening: "triples", creating: true, in: &transaction)
      for key in keys { try triples.put(NoValue(), forKey: key, in: &transaction) }
      for name in names {
        var found: [Triple] = []
        try triples.forEach(withPrefix: Leading(name), in: transaction) { key, _ in
          found.append(try Triple(decoding: key))
          return true
        }
        #expect(found == keys.filter { $0.first == name })
        found = []
        try triples.forEach(withPrefix: Pair(name, Leading([0])), in: transaction) { key, _ in
          found.append(try Triple(decoding: key))
          return true
        }
        #expect(found == keys.filter { $0.first == name && $0.second.first == [0] })
      }
    }
  }

  @Test func pairThatIsTooLongIsRefused() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      let pairs = try Database<Pair<String, UInt8>, NoValue>(opening: "pairs", creating: true, in: &transaction)
      try pairs.put(NoValue(), forKey: Pair(String(repeating: "a", count: 508), 1), in: &transaction)
      for text in [
        String(repeating: "a", count: 509), String(repeating: "\u{0}", count: 255),
        String(repeating: "a", count: 1 << 20),
      ] {
        #expect(try code { try pairs.put(NoValue(), forKey: Pair(text, 1), in: &transaction) } == .badKeySize)
      }
      #expect(try pairs.count(in: transaction) == 1)
    }
  }
}
