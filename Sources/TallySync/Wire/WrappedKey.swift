import Crypto
import CryptoExtras
import Foundation

/// The key of an epoch, sealed with a passphrase.
struct WrappedKey: Hashable, Sendable {
  /// How much work and memory a guess at the passphrase costs (scrypt, RFC 7914).
  struct Cost: Hashable, Sendable {
    /// The binary logarithm of N.
    var rounds: UInt8
    /// r.
    var blockSize: UInt8
    /// p.
    var parallelism: UInt8

    /// 128 MiB, and about half a second of an optimised build.
    static let standard = Cost(rounds: 17, blockSize: 8, parallelism: 1)

    /// Whether it is what a version of Tally may choose: anyone can write a file that asks for more.
    var isAllowed: Bool {
      (1...20).contains(rounds) && (1...16).contains(blockSize) && (1...4).contains(parallelism)
        && memoryInBytes <= 1 << 30 && Int(rounds) < 16 * Int(blockSize)
    }

    private var memoryInBytes: Int { 128 * Int(blockSize) << Int(rounds) }
  }

  static let byteCount = 92

  let space: SpaceID
  let epoch: UInt32
  let cost: Cost
  private let salt: [UInt8]
  /// The sealed key with its tag.
  private let box: [UInt8]
}

// The form of a wrapped key:
//
//   offset size
//        0    4  "TLYK"
//        4    1  format, 1
//        5    3  cost: the binary logarithm of N, r, p
//        8   16  space
//       24    4  epoch, big endian
//       28   16  salt, random
//       44   48  the key and its tag of 16 bytes; the bytes before are its additional authenticated data

extension WrappedKey {
  private static let magic = Array("TLYK".utf8)
  private static let format: UInt8 = 1
  private static let saltByteCount = 16

  /// Seals the newest key of a space.
  ///
  /// - Parameters:
  ///   - keys: The space and its keys.
  ///   - passphrase: The passphrase, not empty.
  ///   - cost: What a guess costs.
  /// - Throws: ``WrappedKeyFault``; an error of the cryptographic library.
  init(wrapping keys: SpaceKeys, passphrase: String, cost: Cost = .standard) throws {
    guard let key = keys.keys[keys.epoch] else { throw WrappedKeyFault.noKey }
    guard cost.isAllowed else { throw WrappedKeyFault.costTooHigh }
    (space, epoch, self.cost, salt) = (keys.space, keys.epoch, cost, .random(count: Self.saltByteCount))
    let head = Self.head(space, epoch, cost, salt)
    let secret = try Self.key(from: passphrase, salt: salt, cost: cost)
    let sealed = try ChaChaPoly.seal(key.bytes, using: secret, nonce: .once, authenticating: head)
    box = Array(sealed.ciphertext + sealed.tag)
  }

  /// Opens the key.
  ///
  /// - Parameter passphrase: The passphrase.
  /// - Returns: The key of the epoch.
  /// - Throws: ``WrappedKeyFault/wrongPassphrase``, also for damaged bytes, which look the same.
  func key(passphrase: String) throws -> SpaceKey {
    let secret = try Self.key(from: passphrase, salt: salt, cost: cost)
    let head = Self.head(space, epoch, cost, salt)
    let sealed = try ChaChaPoly.SealedBox(nonce: .once, ciphertext: box.dropLast(16), tag: box.suffix(16))
    guard let bytes = try? ChaChaPoly.open(sealed, using: secret, authenticating: head),
      let key = SpaceKey(bytes: bytes)
    else { throw WrappedKeyFault.wrongPassphrase }
    return key
  }

  /// The stored form.
  var bytes: [UInt8] { Self.head(space, epoch, cost, salt) + box }

  /// Reads the stored form.
  ///
  /// - Parameter bytes: What ``bytes`` was, or anything else.
  /// - Throws: ``WrappedKeyFault``.
  init(parsing bytes: [UInt8]) throws(WrappedKeyFault) {
    guard bytes.prefix(4) == Self.magic[...], bytes.count > 4 else { throw .damaged }
    guard bytes[4] == Self.format else { throw .needsNewerVersion }
    guard bytes.count == Self.byteCount, let space = SpaceID(bytes: bytes[8..<24]) else { throw .damaged }
    cost = Cost(rounds: bytes[5], blockSize: bytes[6], parallelism: bytes[7])
    guard cost.isAllowed else { throw .costTooHigh }
    (self.space, epoch) = (space, UInt32(bigEndianBytes: bytes[24..<28]))
    (salt, box) = (Array(bytes[28..<44]), Array(bytes[44...]))
  }

  private static func head(_ space: SpaceID, _ epoch: UInt32, _ cost: Cost, _ salt: [UInt8]) -> [UInt8] {
    magic + [format, cost.rounds, cost.blockSize, cost.parallelism] + space.bytes + epoch.bigEndianBytes + salt
  }

  private static func key(from passphrase: String, salt: [UInt8], cost: Cost) throws -> SymmetricKey {
    // Keyboards compose letters with accents in different ways.
    let bytes = Array(passphrase.precomposedStringWithCanonicalMapping.utf8)
    // The library needs at least one byte.
    guard !bytes.isEmpty else { throw WrappedKeyFault.emptyPassphrase }
    return try KDF.Scrypt.deriveKey(
      from: bytes, salt: salt, outputByteCount: SpaceKey.byteCount, rounds: 1 << Int(cost.rounds),
      blockSize: Int(cost.blockSize), parallelism: Int(cost.parallelism))
  }
}

/// Why a key cannot be wrapped or unwrapped.
enum WrappedKeyFault: Error, Hashable {
  case wrongPassphrase, emptyPassphrase
  case damaged, needsNewerVersion
  /// More memory or time than any version of Tally asks for.
  case costTooHigh
  /// The space is not encrypted, or this replica lacks its newest key.
  case noKey
}

extension WrappedKeyFault: CustomStringConvertible {
  /// A sentence for people.
  var description: String {
    switch self {
    case .wrongPassphrase: "The passphrase is wrong."
    case .emptyPassphrase: "The passphrase is empty."
    case .damaged: "The file with the encrypted key is damaged."
    case .needsNewerVersion: "The file with the encrypted key was written by a newer version of Tally: update this one."
    case .costTooHigh: "The file with the encrypted key asks for more memory than Tally ever needs: it may be forged."
    case .noKey: "This device does not have the newest key of the space."
    }
  }
}
