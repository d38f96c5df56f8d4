import Crypto
import Foundation
import Tally

/// A secret on paper for a user who has lost all devices: the key of the space and, at a hub, a secret of the owner.
struct RecoveryCode: Equatable, Sendable {
  let key: SpaceKey
  /// The secret that only an owner at a hub has; `nil` for a folder, and in codes from before hubs restored owners.
  let ownerSecret: [UInt8]?

  static let ownerSecretByteCount = 16

  init(_ key: SpaceKey, ownerSecret: [UInt8]? = nil) {
    (self.key, self.ownerSecret) = (key, ownerSecret)
  }

  /// The code in groups of five digits.
  var text: String { KeyText.recoveryCode.text(of: key.bytes + (ownerSecret ?? []), groupSize: 5) }

  /// Reads a code.
  ///
  /// - Parameter text: What somebody has copied or typed.
  /// - Throws: ``KeyTextFault``.
  init(_ text: String) throws(KeyTextFault) {
    let bytes = try KeyText.recoveryCode.payload(of: text)
    let secret = Array(bytes.dropFirst(SpaceKey.byteCount))
    guard let key = SpaceKey(bytes: bytes.prefix(SpaceKey.byteCount)),
      secret.isEmpty || secret.count == Self.ownerSecretByteCount
    else { throw .needsNewerVersion }
    self.init(key, ownerSecret: secret.isEmpty ? nil : secret)
  }

  /// Makes a new secret of an owner.
  static func newOwnerSecret() -> [UInt8] {
    // Copied at once.
    unsafe SymmetricKey(size: .init(bitCount: 8 * ownerSecretByteCount)).withUnsafeBytes { unsafe Array($0) }
  }

  /// The key that proves possession of the code; its signatures reveal neither the key of the space nor the secret.
  fileprivate func signingKey() throws -> Curve25519.Signing.PrivateKey {
    let seed = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key.bytes + (ownerSecret ?? [])), info: Array("tally recovery 1".utf8),
      outputByteCount: 32)
    // Copied at once.
    return try Curve25519.Signing.PrivateKey(rawRepresentation: unsafe seed.withUnsafeBytes { unsafe Array($0) })
  }
}

/// Proves to a hub that somebody has the recovery code of a space.
public struct RecoveryProof: Sendable {
  private let key: Curve25519.Signing.PrivateKey
  /// What the hub keeps to recognize the code.
  public let verifier: RecoveryVerifier

  /// Takes a code.
  ///
  /// - Parameter text: What somebody has copied or typed.
  /// - Throws: `TallyError` with `invalidInvitation`.
  public init(code text: String) throws {
    do {
      try self.init(RecoveryCode(text))
    } catch let fault as KeyTextFault {
      throw TallyError.invalidInvitation(fault.description)
    }
  }

  init(_ code: RecoveryCode) throws {
    key = try code.signingKey()
    verifier = RecoveryVerifier(bytes: Array(key.publicKey.rawRepresentation), isShared: code.ownerSecret == nil)
  }

  /// Signs the request to become an owner with a token.
  ///
  /// Only this device has the token, so that repeating the request gains nobody anything.
  ///
  /// - Parameter tokenHash: The SHA-256 of the token.
  /// - Returns: The signature, 64 bytes.
  /// - Throws: An error of the cryptographic library.
  public func signature(forTokenHash tokenHash: [UInt8]) throws -> [UInt8] {
    Array(try key.signature(for: verifier.message(for: tokenHash)))
  }
}

/// What a hub keeps of a recovery code: a public key (Ed25519), which reveals neither the code nor the key of the space.
public struct RecoveryVerifier: Hashable, Sendable {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// Whether the code is the key of the space alone, which every member has.
  public let isShared: Bool

  /// Takes the fields.
  ///
  /// - Parameters:
  ///   - bytes: The key, 32 bytes.
  ///   - isShared: Whether the code is the key of the space alone.
  public init(bytes: [UInt8], isShared: Bool) { (self.bytes, self.isShared) = (bytes, isShared) }

  /// Whether somebody with the code has signed the request to become an owner with a token.
  ///
  /// - Parameters:
  ///   - signature: The signature.
  ///   - tokenHash: The SHA-256 of the token.
  /// - Returns: Whether the signature is valid; false also for bytes that are not a signature or a key.
  public func verifies(_ signature: [UInt8], forTokenHash tokenHash: [UInt8]) -> Bool {
    VerifyingKey(bytes: bytes)?.verifies(signature, of: message(for: tokenHash)) ?? false
  }

  fileprivate func message(for tokenHash: [UInt8]) -> [UInt8] {
    Array("tally recovery 1".utf8) + bytes + tokenHash
  }
}
