import TestSupport
import Testing

@testable import TallySync

struct WrappedKeyTests {
  private let sample = WireSample()
  private let cheap = WrappedKey.Cost(rounds: 4, blockSize: 8, parallelism: 1)

  private func wrapped(_ passphrase: String = "correct horse") throws -> WrappedKey {
    try WrappedKey(wrapping: sample.space, passphrase: passphrase, cost: cheap)
  }

  /// The library bounds the memory that scrypt may take: the standard cost must be within it.
  @Test func standardCostWorks() throws {
    let wrapped = try WrappedKey(wrapping: sample.space, passphrase: "correct horse")
    #expect(wrapped.cost == WrappedKey.Cost(rounds: 17, blockSize: 8, parallelism: 1))
    #expect(wrapped.epoch == 2 && wrapped.space == sample.space.space)
    #expect(try WrappedKey(parsing: wrapped.bytes) == wrapped)
  }

  @Test(arguments: [
    WrappedKey.Cost(rounds: 1, blockSize: 1, parallelism: 1), WrappedKey.Cost(rounds: 15, blockSize: 1, parallelism: 4),
    WrappedKey.Cost(rounds: 10, blockSize: 16, parallelism: 1),
    WrappedKey.Cost(rounds: 3, blockSize: 16, parallelism: 4),
  ])
  func everyAllowedCostWorks(cost: WrappedKey.Cost) throws {
    let wrapped = try WrappedKey(wrapping: sample.space, passphrase: "p", cost: cost)
    #expect(try WrappedKey(parsing: wrapped.bytes).key(passphrase: "p") == sample.space.keys[2])
  }

  @Test func wrongPassphrasesAreNamed() throws {
    let wrapped = try wrapped()
    for passphrase in ["correct horsf", "correct hors", "correct horse ", " ", "Correct horse"] {
      #expect(throws: WrappedKeyFault.wrongPassphrase) { try wrapped.key(passphrase: passphrase) }
    }
    #expect(throws: WrappedKeyFault.emptyPassphrase) { try wrapped.key(passphrase: "") }
    #expect(throws: WrappedKeyFault.emptyPassphrase) { try self.wrapped("") }
  }

  @Test func accentsMayBeComposedInEitherWay() throws {
    #expect(try wrapped("caf\u{E9}").key(passphrase: "cafe\u{301}") == sample.space.keys[2])
  }

  @Test func everyFlippedBitIsRefused() throws {
    let bytes = try wrapped().bytes
    #expect(bytes.count == WrappedKey.byteCount)
    // A changed cost may only be a higher one, which takes long to be refused.
    for bit in 0..<(8 * bytes.count) where !(5..<8).contains(bit / 8) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: WrappedKeyFault.self, "bit \(bit)") {
        try WrappedKey(parsing: changed).key(passphrase: "correct horse")
      }
    }
    for count in bytes.indices {
      #expect(throws: WrappedKeyFault.damaged) { try WrappedKey(parsing: Array(bytes[..<count])) }
    }
    #expect(throws: WrappedKeyFault.damaged) { try WrappedKey(parsing: bytes + [0]) }
  }

  @Test func everyCostIsBoundedBeforeMemoryIsTaken() throws {
    var bytes = try wrapped().bytes
    for cost in [
      [0, 8, 1], [21, 8, 1], [17, 0, 1], [17, 17, 1], [17, 8, 0], [17, 8, 5], [20, 16, 1], [16, 1, 1], [255, 255, 255],
    ] as [[UInt8]] {
      bytes.replaceSubrange(5..<8, with: cost)
      #expect(throws: WrappedKeyFault.costTooHigh) { try WrappedKey(parsing: bytes) }
    }
    let cost = WrappedKey.Cost(rounds: 21, blockSize: 8, parallelism: 1)
    #expect(throws: WrappedKeyFault.costTooHigh) {
      try WrappedKey(wrapping: sample.space, passphrase: "p", cost: cost)
    }
  }

  @Test func newerFormAndMissingKeysAreNamed() throws {
    var bytes = try wrapped().bytes
    bytes[4] = 2
    #expect(throws: WrappedKeyFault.needsNewerVersion) { try WrappedKey(parsing: bytes) }
    #expect(throws: WrappedKeyFault.noKey) {
      try WrappedKey(wrapping: sample.unencrypted, passphrase: "p", cost: cheap)
    }
  }
}
