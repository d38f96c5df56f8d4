import Foundation
import TallyTestSupport
import Testing

/// Inputs kept from fuzzing, each of which once reached a line that no other did.
///
/// `Scripts/fuzz.sh` looks for more.
@Suite(.serialized) struct CorpusTests {
  private static let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Corpora")

  @Test(arguments: FuzzTarget.allCases)
  func everyInputOfACorpusEndsInAValueOrATypedError(target: FuzzTarget) throws {
    let corpus = Self.corpora.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
    #expect(!names.isEmpty)
    for name in names {
      let bytes = Array(try Data(contentsOf: corpus.appendingPathComponent(name)))
      #expect(throws: Never.self, "\(target) \(name)") { try target.run(bytes) }
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func inputsChangedAtRandomEndInAValueOrATypedError(target: FuzzTarget) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "changed inputs \(target)"))
    let corpus = Self.corpora.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
    for name in names.shuffled(using: &generator).prefix(TestSize.pick(quick: 10, long: 50)) {
      var bytes = Array(try Data(contentsOf: corpus.appendingPathComponent(name)))
      for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      #expect(throws: Never.self, "\(target) \(bytes)") { try target.run(bytes) }
    }
  }
}
