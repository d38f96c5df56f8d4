import Crypto
import Foundation

/// The secret keys of one replica: one signs what it writes, the other receives keys that are meant for it alone.
struct ReplicaKeys: Sendable, CustomStringConvertible {
  static let byteCount = 64

  private let signing: Curve25519.Signing.PrivateKey
  private let agreement: Curve25519.KeyAgreement.PrivateKey

  /// Makes new ones.
  init() {
    (signing, agreement) = (Curve25519.Signing.PrivateKey(), Curve25519.KeyAgreement.PrivateKey())
  }

  /// Takes the bytes of keys; `nil` for another number of them.
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

  /// Verifies what the signing key has signed.
  var verifyingKey: VerifyingKey { VerifyingKey(signing.publicKey) }

  /// The public key with which others agree on a secret with this replica (X25519).
  var agreementKey: [UInt8] { Array(agreement.publicKey.rawRepresentation) }

  /// Signs bytes (Ed25519, RFC 8032).
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The signature, 64 bytes.
  /// - Throws: An error of the cryptographic library.
  func signature(of bytes: [UInt8]) throws -> [UInt8] {
    Array(try signing.signature(for: bytes))
  }
}

extension ReplicaKeys {
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

  /// Takes the bytes of a key; `nil` for another number of them.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  fileprivate init(_ key: Curve25519.Signing.PublicKey) {
    bytes = Array(key.rawRepresentation)
  }

  /// Whether the replica with this key has signed bytes.
  ///
  /// - Parameters:
  ///   - signature: The signature.
  ///   - content: The bytes.
  /// - Returns: False for bytes that are not a signature or a key, too.
  func verifies(_ signature: some Collection<UInt8>, of content: some Collection<UInt8>) -> Bool {
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
    return key.isValidSignature(Array(signature), for: Array(content))
  }
}
