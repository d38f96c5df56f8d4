import Foundation
import TallyTestSupport
import Testing

/// Inputs kept from fuzzing, each of which once reached a line that no other did.
///
/// `Scripts/fuzz.sh` looks for more.
@Suite(.serialized) struct CorpusTests {
  /// The inputs of a target, by name.
  private func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Corpora/\(target.rawValue).json")
    let inputs = try JSONDecoder().decode([String: Data].self, from: Data(contentsOf: file))
    return inputs.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value)) }
  }

  @Test(arguments: FuzzTarget.allCases)
  func everyInputOfACorpusEndsInAValueOrATypedError(target: FuzzTarget) throws {
    let inputs = try inputs(of: target)
    #expect(!inputs.isEmpty)
    for (name, bytes) in inputs {
      #expect(throws: Never.self, "\(target) \(name)") { try target.run(bytes) }
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func inputsChangedAtRandomEndInAValueOrATypedError(target: FuzzTarget) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "changed inputs \(target)"))
    for (_, input) in try inputs(of: target).shuffled(using: &generator).prefix(TestSize.pick(quick: 10, long: 50)) {
      var bytes = input
      for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      #expect(throws: Never.self, "\(target) \(bytes)") { try target.run(bytes) }
    }
  }
}
