import Crypto
import Foundation
public import Tally

/// The data that a new replica needs to read a space in a folder, except for the place of that folder.
///
/// Anyone who reads it can read the space.
struct Invitation: Equatable, Sendable {
  let space: SpaceID
  /// The newest key and its epoch; `nil` for a space without encryption.
  let key: EpochKey?
  /// When the invitation expires, in seconds since 1970.
  ///
  /// This is only a courtesy: the key in the invitation does not expire.
  let expiry: Int64

  /// Invites to a space.
  ///
  /// - Parameters:
  ///   - space: The space and its keys, of which the newest is handed over.
  ///   - expiry: When the invitation expires, in seconds since 1970.
  /// - Throws: ``EnvelopeFault/unknownEpoch(_:)`` if the newest key is missing.
  init(to space: SpaceKeys, expiry: Int64) throws(EnvelopeFault) {
    key = space.keys[space.epoch].map { EpochKey(epoch: space.epoch, key: $0) }
    guard key != nil || !space.isEncrypted else { throw .unknownEpoch(space.epoch) }
    (self.space, self.expiry) = (space.space, expiry)
  }

  /// The space as the invited replica knows it.
  var spaceKeys: SpaceKeys {
    guard let key else { return SpaceKeys(unencrypted: space) }
    return SpaceKeys(space: space, epoch: key.epoch, keys: [key.epoch: key.key])
  }
}

// The form of an invitation: flags, 1 byte, bit 0 for an encrypted space; space, 16 bytes; expiry, 8 bytes; if the space
// is encrypted, epoch, 4 bytes, and key, 32 bytes. Numbers are big endian.

extension Invitation {
  private static let encryptedFlag: UInt8 = 1

  /// The line of text that the other device reads.
  var text: String {
    let head = [key == nil ? 0 : Self.encryptedFlag] + space.bytes + expiry.bigEndianBytes
    return KeyText.invitation.text(of: head + (key?.bytes ?? []))
  }

  /// Reads an invitation.
  ///
  /// - Parameters:
  ///   - text: The text, as copied or typed.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: ``KeyTextFault``.
  init(_ text: String, now: Int64) throws(KeyTextFault) {
    let bytes = try KeyText.invitation.payload(of: text)
    guard let flags = bytes.first, flags <= Self.encryptedFlag, bytes.count == (flags == 0 ? 25 : 61),
      let space = SpaceID(bytes: bytes[1..<17])
    else { throw .needsNewerVersion }
    (self.space, expiry) = (space, Int64(bigEndianBytes: bytes[17..<25]))
    key = SpaceKey(bytes: bytes[25...].dropFirst(4)).map {
      EpochKey(epoch: UInt32(bigEndianBytes: bytes[25...].prefix(4)), key: $0)
    }
    guard now < expiry else { throw .expired }
  }
}

extension SpaceID {
  /// The space that an invitation opens; `nil` if the text is not an invitation.
  ///
  /// - Parameter text: What `StoreSync.invite(for:)` returned; it may have expired.
  public init?(invitation text: String) {
    guard let invitation = try? Invitation(text, now: .min) else { return nil }
    self = invitation.space
  }
}

extension TallyError.Code {
  /// A text is not an invitation or recovery code, or not one that is valid now.
  public static let invalidInvitation = TallyError.Code(named: "invalidInvitation")
}

extension TallyError {
  /// The error of a text that does not open the space; `reason` is a sentence.
  static func invalidInvitation(_ reason: String) -> TallyError {
    TallyError(
      .invalidInvitation, reason.withoutFullStop, remedy: "Copy the whole text again, or ask for a new invitation")
  }

  /// Runs a body that reads a text to open a space: a fault of the text is `invalidInvitation`.
  static func readingInvitation<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let fault as KeyTextFault {
      throw invalidInvitation(fault.description)
    }
  }
}

extension String {
  var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

/// A secret on paper for a user who has lost all devices: the key of the space and, at a hub, a secret of the owner.
struct RecoveryCode: Equatable, Sendable {
  let key: SpaceKey
  /// The secret that only an owner at a hub has; `nil` for a folder, and in codes from before hubs restored owners.
  let ownerSecret: [UInt8]?

  static let ownerSecretByteCount = 16

  init(_ key: SpaceKey, ownerSecret: [UInt8]? = nil) { (self.key, self.ownerSecret) = (key, ownerSecret) }

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
  static func newOwnerSecret() -> [UInt8] { .random(count: ownerSecretByteCount) }

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
  /// The verifier that the hub stores to recognize the code.
  public let verifier: RecoveryVerifier

  /// Derives the keys of a code.
  ///
  /// - Parameter text: What somebody has copied or typed.
  /// - Throws: `TallyError` with `invalidInvitation`.
  public init(code text: String) throws { try self.init(TallyError.readingInvitation { try RecoveryCode(text) }) }

  init(_ code: RecoveryCode) throws {
    key = try code.signingKey()
    verifier = RecoveryVerifier(bytes: Array(key.publicKey.rawRepresentation), isShared: code.ownerSecret == nil)
  }

  /// Signs the request to become an owner with a token.
  ///
  /// Only this device has the token, so nobody gains anything by repeating the request.
  ///
  /// - Parameter tokenHash: The SHA-256 of the token.
  /// - Returns: The signature, 64 bytes.
  /// - Throws: An error of the cryptographic library.
  public func signature(forTokenHash tokenHash: [UInt8]) throws -> [UInt8] {
    Array(try key.signature(for: verifier.message(for: tokenHash)))
  }
}

/// The public key (Ed25519) of a recovery code, which a hub stores; it reveals neither the code nor the key of the space.
public struct RecoveryVerifier: Hashable, Sendable {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// Whether the code is the key of the space alone, which every member has.
  public let isShared: Bool

  /// Creates a value from its fields.
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

  fileprivate func message(for tokenHash: [UInt8]) -> [UInt8] { Array("tally recovery 1".utf8) + bytes + tokenHash }
}

/// A secret as a line of text that people copy: a prefix that names its kind, then bytes and their checksum in base 32.
enum KeyText: String, CaseIterable {
  case invitation = "tally-invite"
  case recoveryCode = "tally-recovery"

  fileprivate var name: String { self == .invitation ? "an invitation" : "a recovery code" }

  private static let checksumByteCount = 4
  private static let format: UInt8 = 1
  /// A limit that no secret comes near.
  private static let maximumCharacterCount = 1_000

  /// Writes a secret.
  ///
  /// - Parameters:
  ///   - payload: The bytes.
  ///   - groupSize: The number of digits after which a hyphen is put.
  /// - Returns: One line.
  func text(of payload: [UInt8], groupSize: Int = .max) -> String {
    let bytes = [Self.format] + payload
    let digits = Array(Base32.text(of: bytes + checksum(of: bytes)))
    let groups = stride(from: 0, to: digits.count, by: groupSize).map { String(digits[$0...].prefix(groupSize)) }
    return "\(rawValue)-\(groups.joined(separator: "-"))"
  }

  /// Reads a secret; case, hyphens and white space do not count.
  ///
  /// - Parameter text: Anything that somebody has typed or copied.
  /// - Returns: The bytes.
  /// - Throws: ``KeyTextFault``.
  func payload(of text: String) throws(KeyTextFault) -> [UInt8] {
    guard text.utf8.count <= Self.maximumCharacterCount else { throw .notOfThisKind(self, found: nil) }
    let plain = Self.plain(text)
    guard plain.hasPrefix(Self.plain(rawValue)) else {
      throw .notOfThisKind(self, found: Self.allCases.first { plain.hasPrefix(Self.plain($0.rawValue)) })
    }
    guard let bytes = Base32.bytes(of: plain.dropFirst(Self.plain(rawValue).count)),
      bytes.count > Self.checksumByteCount,
      Array(bytes.suffix(Self.checksumByteCount)) == checksum(of: bytes.dropLast(Self.checksumByteCount))
    else { throw .mistyped }
    // After the checksum: a typing error is not a newer version.
    guard bytes[0] == Self.format else { throw .needsNewerVersion }
    return Array(bytes[1...].dropLast(Self.checksumByteCount))
  }

  private static func plain(_ text: String) -> String {
    text.lowercased().filter { !$0.isWhitespace && !"-\u{2010}\u{2011}".contains($0) }
  }

  /// The checksum of bytes and of the prefix, so that the digits of one kind do not pass for another.
  private func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
    Array(ContentHash(of: Array(rawValue.utf8) + bytes).bytes.prefix(Self.checksumByteCount))
  }
}

/// The reason why a text is not an invitation or a recovery code.
enum KeyTextFault: Error, Hashable, CustomStringConvertible {
  /// The text begins differently: as another kind does, if one was found.
  case notOfThisKind(KeyText, found: KeyText?)
  /// The checksum does not match.
  case mistyped
  case expired
  /// The text has the form of a newer version.
  case needsNewerVersion

  /// A sentence for people.
  var description: String {
    switch self {
    case .notOfThisKind(let kind, let found?): "This is \(found.name), not \(kind.name)."
    case .notOfThisKind(let kind, nil): "This is not \(kind.name): \(kind.name) begins with “\(kind.rawValue)-”."
    case .mistyped: "The text has a typing error, or a part of it is missing: copy all of it again."
    case .expired: "The invitation has expired: ask for a new one."
    case .needsNewerVersion: "The text was made by a newer version of Tally: update this one."
    }
  }
}

/// Bytes as digits and letters that people do not confuse (Crockford's Base 32, without its check digit).
///
/// The letters i, l, o and u are not used; on reading, i and l are ones and o is a zero.
enum Base32 {
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  /// Writes bytes; zero bits fill the last digit.
  static func text(of bytes: [UInt8]) -> String {
    var (text, buffer, bitCount): ([UInt8], UInt16, Int) = ([], 0, 0)
    for byte in bytes {
      buffer = buffer << 8 | UInt16(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        text.append(digits[Int(buffer >> UInt16(bitCount)) & 31])
      }
      buffer &= (1 << UInt16(bitCount)) - 1
    }
    if bitCount > 0 { text.append(digits[Int(buffer << UInt16(5 - bitCount)) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads digits.
  ///
  /// - Parameter text: Digits, in either case.
  /// - Returns: The bytes, or `nil` if a character is not a digit or the text does not end as ``text(of:)`` ends it.
  static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var (bytes, buffer, bitCount): ([UInt8], UInt16, Int) = ([], 0, 0)
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      buffer = buffer << 5 | value
      bitCount += 5
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt16(bitCount)))
      buffer &= (1 << UInt16(bitCount)) - 1
    }
    return bitCount < 5 && buffer == 0 ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt16? {
    let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
    let lower = isCapital ? character + 32 : character
    switch lower {
    case UInt8(ascii: "i"), UInt8(ascii: "l"): return 1
    case UInt8(ascii: "o"): return 0
    default: return digits.firstIndex(of: lower).map { UInt16($0) }
    }
  }
}
