import Crypto
import CryptoExtras
import Foundation

/// The secret that the replicas of a space share during an epoch.
///
/// Its bytes appear in no description and no error.
struct SpaceKey: Equatable, Sendable, CustomStringConvertible {
  static let byteCount = 32

  private let key: SymmetricKey

  /// Makes a new key from random bytes.
  init() { key = SymmetricKey(size: .bits256) }

  /// The key with the given bytes; `nil` if their number is wrong.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: Array(bytes))
  }

  /// The secret itself, to be stored or wrapped.
  var bytes: [UInt8] {
    // Copied at once.
    unsafe key.withUnsafeBytes { unsafe Array($0) }
  }

  var description: String { "a space key" }

  /// The key of one envelope.
  ///
  /// - Parameter salt: Random bytes of the envelope, so that no two envelopes have the same key.
  /// - Returns: The key, derived as in RFC 5869.
  func key(forSalt salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, salt: salt, info: Array("tally segment 1".utf8), outputByteCount: Self.byteCount)
  }

  /// The key with which a member proves that it has this one.
  var keyForProofs: SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array("tally member 1".utf8), outputByteCount: Self.byteCount)
  }
}

/// A key and the number of its epoch.
struct EpochKey: Equatable, Sendable {
  let epoch: UInt32
  let key: SpaceKey

  /// The epoch, 4 bytes, and the key.
  var bytes: [UInt8] { epoch.bigEndianBytes + key.bytes }
}

/// A space and its keys, as one of its replicas knows them.
struct SpaceKeys: Equatable, Sendable {
  let space: SpaceID
  /// The newest epoch, whose key seals; 0 in a space without encryption.
  let epoch: UInt32
  /// The keys that open, by epoch.
  let keys: [UInt32: SpaceKey]
  /// Further keys, made by replicas that revoked at the same time.
  var others: [EpochKey] = []
  /// Whether the space is encrypted.
  ///
  /// This is stored and not derived from the keys: a replica that has lost its keys must not accept unsealed bytes.
  var isEncrypted = true
}

extension SpaceKeys {
  /// Makes the first key of a new space, or none.
  init(new space: SpaceID, isEncrypted: Bool) {
    self = isEncrypted ? Self(space: space, epoch: 1, keys: [1: SpaceKey()]) : Self(unencrypted: space)
  }

  /// Creates a space whose users have chosen to do without encryption.
  init(unencrypted space: SpaceID) { self.init(space: space, epoch: 0, keys: [:], isEncrypted: false) }

  /// All keys of an epoch, the one that seals first.
  func keys(ofEpoch epoch: UInt32) -> [SpaceKey] {
    (keys[epoch].map { [$0] } ?? []) + others.filter { $0.epoch == epoch }.map(\.key)
  }

  /// The space with a further key; of several keys of one epoch, the one with the smallest hash seals.
  func adding(_ new: EpochKey) -> SpaceKeys {
    guard !keys(ofEpoch: new.epoch).contains(new.key) else { return self }
    var (keys, others) = (keys, others)
    if let known = keys[new.epoch] {
      let isFirst = new.key.hash(in: space) < known.hash(in: space)
      keys[new.epoch] = isFirst ? new.key : known
      others.append(isFirst ? EpochKey(epoch: new.epoch, key: known) : new)
    } else {
      keys[new.epoch] = new.key
    }
    return SpaceKeys(space: space, epoch: max(epoch, new.epoch), keys: keys, others: others)
  }

  /// The key of an epoch that has a hash; `nil` if it is not here.
  func key(ofEpoch epoch: UInt32, hash: ContentHash) -> SpaceKey? {
    keys(ofEpoch: epoch).first { $0.hash(in: space) == hash }
  }

  /// All keys except the one that seals, in the order in which a card has them.
  var olderKeys: [EpochKey] {
    let older = keys.filter { $0.key != epoch }.map { EpochKey(epoch: $0.key, key: $0.value) }
    return (older + others).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }
}

// A key of an epoch, sealed for one replica: HPKE (RFC 9180), 32 bytes of encapsulated key, then the key with its tag.

extension SpaceKey {
  static let sealedByteCount = 80
  fileprivate static let encapsulatedByteCount = 32
  fileprivate static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly

  /// A hash that identifies the key without revealing it.
  ///
  /// - Parameter space: The space of which it is a key.
  /// - Returns: A hash of both.
  func hash(in space: SpaceID) -> ContentHash { ContentHash(of: Array("tally key 1".utf8) + space.bytes + bytes) }

  /// The context of a sealed key, which ties it to one epoch of one space.
  fileprivate static func context(of epoch: UInt32, in space: SpaceID) -> Data {
    Data(Array("tally epoch 1".utf8) + space.bytes + epoch.bigEndianBytes)
  }

  /// Seals the key for a replica.
  ///
  /// - Parameters:
  ///   - agreementKey: The key for key agreement in the replica's card.
  ///   - replica: The replica.
  ///   - epoch: The epoch of the key.
  ///   - space: The space.
  /// - Returns: The sealed key.
  /// - Throws: An error of the cryptographic library, also for bytes that are not a key.
  func sealed(for agreementKey: [UInt8], of replica: ReplicaID, epoch: UInt32, in space: SpaceID) throws -> [UInt8] {
    let receiver = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: agreementKey)
    var sender = try HPKE.Sender(
      recipientKey: receiver, ciphersuite: Self.suite, info: Self.context(of: epoch, in: space))
    let box = try sender.seal(bytes, authenticating: replica.bytes)
    return Array(sender.encapsulatedKey) + Array(box)
  }
}

extension EpochRecord {
  /// Opens the key as one of its members.
  ///
  /// - Parameters:
  ///   - replica: The member.
  ///   - keys: Its keys.
  ///   - space: The space.
  /// - Returns: The key; `nil` if the record has none for the replica, or one that is not the key of the record.
  func key(for replica: ReplicaID, _ keys: ReplicaKeys, in space: SpaceID) -> SpaceKey? {
    guard let box = members[replica]?.sealedKey,
      let bytes = keys.open(
        box.prefix(SpaceKey.encapsulatedByteCount), box.dropFirst(SpaceKey.encapsulatedByteCount),
        suite: SpaceKey.suite, context: SpaceKey.context(of: number, in: space), authenticating: replica.bytes),
      let key = SpaceKey(bytes: bytes), key.hash(in: space) == keyHash
    else { return nil }
    return key
  }
}

extension SpaceKeys {
  /// Six digits for a replica's key, which people compare on two devices.
  ///
  /// The digits come from the SHA-256 of the space, its first key, the replica's id and its key. They show a mistake,
  /// such as two devices that were taken for one; somebody who has the key of the space can make a card with the same
  /// digits.
  func code(of replica: ReplicaID, _ key: VerifyingKey) -> String {
    let secret = keys.min { $0.key < $1.key }?.value.bytes ?? []
    let hash = SHA256.hash(data: Array("tally code 1".utf8) + space.bytes + secret + replica.bytes + key.bytes)
    let digits = "\(UInt64(bigEndianBytes: hash.prefix(7)) % 1_000_000)"
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}

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

    /// 128 MiB, and about half a second in an optimised build.
    static let standard = Cost(rounds: 17, blockSize: 8, parallelism: 1)

    /// Whether it is within the limits of any version of Tally: anyone can write a file that asks for more.
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
  ///   - cost: The cost of a guess.
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
  /// - Parameter bytes: The value of ``bytes``, or any other bytes.
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

/// The reason why a key cannot be wrapped or unwrapped.
enum WrappedKeyFault: Error, Hashable, CustomStringConvertible {
  case wrongPassphrase, emptyPassphrase
  case damaged, needsNewerVersion
  /// More memory or time than any version of Tally asks for.
  case costTooHigh
  /// The space is not encrypted, or this replica lacks its newest key.
  case noKey

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

/// The secret keys of one replica: one signs what it writes, the other receives keys that are meant for it alone.
struct ReplicaKeys: Sendable, CustomStringConvertible {
  static let byteCount = 64

  private let signing: Curve25519.Signing.PrivateKey
  private let agreement: Curve25519.KeyAgreement.PrivateKey

  /// Makes new keys.
  init() { (signing, agreement) = (Curve25519.Signing.PrivateKey(), Curve25519.KeyAgreement.PrivateKey()) }

  /// The keys with the given bytes; `nil` if their number is wrong.
  init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount,
      let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes[..<32]),
      let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes[32...])
    else { return nil }
    (self.signing, self.agreement) = (signing, agreement)
  }

  /// The secrets themselves, to be stored: the signing key, then the key for key agreement.
  var bytes: [UInt8] { Array(signing.rawRepresentation + agreement.rawRepresentation) }

  var description: String { "the keys of a replica" }

  /// The key that verifies the signatures of the signing key.
  var verifyingKey: VerifyingKey { VerifyingKey(signing.publicKey) }

  /// The public key with which others agree on a secret with this replica (X25519).
  var agreementKey: [UInt8] { Array(agreement.publicKey.rawRepresentation) }

  /// Signs bytes (Ed25519, RFC 8032).
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The signature, 64 bytes.
  /// - Throws: An error of the cryptographic library.
  func signature(of bytes: [UInt8]) throws -> [UInt8] { Array(try signing.signature(for: bytes)) }

  /// Opens bytes that were sealed for this replica (HPKE, RFC 9180); `nil` if they were not.
  func open(
    _ encapsulatedKey: some Collection<UInt8>, _ box: some Collection<UInt8>, suite: HPKE.Ciphersuite, context: Data,
    authenticating clear: [UInt8]
  ) -> [UInt8]? {
    guard
      var receiver = try? HPKE.Recipient(
        privateKey: agreement, ciphersuite: suite, info: context, encapsulatedKey: Data(encapsulatedKey)),
      let bytes = try? receiver.open(Data(box), authenticating: clear)
    else { return nil }
    return Array(bytes)
  }
}

/// The public key that verifies what a replica has signed.
struct VerifyingKey: Hashable, Sendable {
  static let byteCount = 32
  static let signatureByteCount = 64

  let bytes: [UInt8]

  /// The key with the given bytes; `nil` if their number is wrong.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  fileprivate init(_ key: Curve25519.Signing.PublicKey) { bytes = Array(key.rawRepresentation) }

  /// Whether the replica with this key has signed bytes.
  ///
  /// - Parameters:
  ///   - signature: The signature.
  ///   - content: The bytes.
  /// - Returns: Whether the signature is valid; false also for bytes that are not a signature or a key.
  func verifies(_ signature: some Collection<UInt8>, of content: some Collection<UInt8>) -> Bool {
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
    return key.isValidSignature(Array(signature), for: Array(content))
  }
}
