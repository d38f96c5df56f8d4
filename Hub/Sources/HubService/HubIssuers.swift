import Crypto
import Foundation
import JWTKit
import Synchronization

/// The keys with which a developer's own service signs tokens for its users (JWT, RFC 7519): each user has an account at the hub.
///
/// One application trusts all of the keys: each can name any issuer.
package final class HubIssuers: Sendable {
  /// Why a file of keys cannot be used.
  package struct InvalidKeys: Error, CustomStringConvertible {
    /// A sentence for people.
    package let description: String
  }

  private struct Claims: JWTPayload {
    let iss: IssuerClaim
    let sub: SubjectClaim
    let exp: ExpirationClaim
    let nbf: NotBeforeClaim?
    let aud: Audience

    func verify(using _: some JWTAlgorithm) throws {
      try exp.verifyNotExpired()
      try nbf?.verifyNotBefore()
    }
  }

  /// One text or several; the library's own type ends the process if there is none.
  private struct Audience: Codable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      names = try (try? [container.decode(String.self)]) ?? container.decode([String].self)
    }

    func encode(to encoder: any Encoder) throws { try names.encode(to: encoder) }
  }

  private struct Header: Decodable {
    let alg: String
    let kid: String
    /// Whether there are extensions that must be understood (RFC 7515, 4.1.11); this hub understands none.
    let hasCritical: Bool

    private enum CodingKeys: CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      (alg, kid) = (try container.decode(String.self, forKey: .alg), try container.decode(String.self, forKey: .kid))
      hasCritical = container.contains(.crit)
    }
  }

  /// The keys with their algorithms, by their ids.
  private struct Keys {
    let collection: JWTKeyCollection
    let algorithms: [String: String]
  }

  private let file: String
  private let audience: String
  private let keys: Mutex<Keys>

  /// Reads keys.
  ///
  /// - Parameters:
  ///   - file: A set of keys (JWKS, RFC 7517); each has a `kid` and an `alg`.
  ///   - audience: The name that `aud` of a token must have.
  /// - Throws: ``InvalidKeys``; ``OperatorFile/Unusable``.
  package init(file: String, audience: String) async throws {
    (self.file, self.audience) = (file, audience)
    keys = Mutex(try await Self.load(file))
  }

  /// Reads the file again.
  ///
  /// - Throws: As ``init(file:audience:)``; the known keys stay.
  package func reload() async throws {
    let new = try await Self.load(file)
    keys.withLock { $0 = new }
  }

  /// The account of the user for whom a token was issued.
  ///
  /// - Parameter token: The token.
  /// - Returns: The id; the same one for the same issuer and subject.
  /// - Throws: An error if the token was not signed with one of the keys, has expired, or is for another audience.
  func account(of token: String) async throws -> UUID {
    let keys = keys.withLock { $0 }
    let bytes = Self.bytes(ofBase64: token.prefix { $0 != "." })
    let header = try JSONDecoder().decode(Header.self, from: bytes ?? Data())
    guard keys.algorithms[header.kid] == header.alg, !header.hasCritical else { throw JWTError.noKeyProvided }
    let claims = try await keys.collection.verify(token, as: Claims.self)
    guard claims.aud.names.contains(audience), !claims.iss.value.isEmpty, !claims.sub.value.isEmpty else {
      throw JWTError.claimVerificationFailure(failedClaim: claims.sub, reason: "is empty or for another audience")
    }
    return Self.account(issuer: claims.iss.value, subject: claims.sub.value)
  }

  /// A UUID of version 8 (RFC 9562) from the SHA-256 of both; the length keeps other pairs apart.
  static func account(issuer: String, subject: String) -> UUID {
    let text = "tally-account \(issuer.utf8.count) \(issuer)\(subject)"
    var bytes = Array(SHA256.hash(data: Array(text.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

// MARK: - Keys

extension HubIssuers {
  private struct Key: Decodable {
    private enum CodingKeys: CodingKey { case kty, kid, alg, k }

    let kid: String?
    let alg: String?
    /// The bytes of a symmetric key, in base64url.
    let secret: String?
    /// A key of another kind.
    let jwk: JWK?

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      kid = try container.decodeIfPresent(String.self, forKey: .kid)
      alg = try container.decodeIfPresent(String.self, forKey: .alg)
      let isSymmetric = try container.decode(String.self, forKey: .kty) == "oct"
      secret = isSymmetric ? try container.decode(String.self, forKey: .k) : nil
      jwk = isSymmetric ? nil : try JWK(from: decoder)
    }
  }

  private struct KeySet: Decodable { let keys: [Key] }

  private static func load(_ file: String) async throws -> Keys {
    let data = Data(try OperatorFile.bytes(of: file))
    guard let set = try? JSONDecoder().decode(KeySet.self, from: data), !set.keys.isEmpty else {
      throw InvalidKeys(description: "The file holds no set of keys.")
    }
    let collection = JWTKeyCollection()
    var algorithms: [String: String] = [:]
    for key in set.keys {
      // If the key named no algorithm, the token would choose one.
      guard let kid = key.kid, !kid.isEmpty, let algorithm = key.alg else {
        throw InvalidKeys(description: "Each key needs a 'kid' and an 'alg'.")
      }
      algorithms[kid] = algorithm
      if let secret = key.secret {
        await collection.add(
          hmac: HMACKey(from: try bytes(of: secret)), digestAlgorithm: try digest(algorithm), kid: .init(string: kid))
      } else if let jwk = key.jwk {
        try await collection.add(jwk: jwk)
      }
    }
    // A token with an unknown key must be refused instead of tried with the first key.
    await collection.clearDefault()
    return Keys(collection: collection, algorithms: algorithms)
  }

  private static func digest(_ algorithm: String) throws -> DigestAlgorithm {
    switch algorithm {
    case "HS256": .sha256
    case "HS384": .sha384
    case "HS512": .sha512
    default: throw InvalidKeys(description: "A symmetric key needs the 'alg' HS256, HS384 or HS512.")
    }
  }

  /// At least as long as the shortest digest, as RFC 7518 demands.
  private static func bytes(of secret: String) throws -> Data {
    guard let bytes = bytes(ofBase64: secret), bytes.count >= 32 else {
      throw InvalidKeys(description: "A symmetric key needs 'k' with at least 32 bytes in base64url.")
    }
    return bytes
  }

  /// Reads the alphabet for URLs, without padding.
  private static func bytes(ofBase64 text: some StringProtocol) -> Data? {
    let text = String(text).replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}
