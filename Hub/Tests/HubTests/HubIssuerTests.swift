import Crypto
import Foundation
import HubClient
import HubService
import HubWire
import SystemPackage
import TallySync
import Testing

/// Accounts for users of a developer's own service, which signs tokens for them.
struct HubIssuerTests {
  private static let secret = SymmetricKey(data: Array("a secret of thirty-two bytes ...".utf8))
  private static let pair = P256.Signing.PrivateKey()

  @Test(arguments: ["HS256", "ES256"])
  func aSignedTokenOpensTheSameAccountEachTime(_ algorithm: String) async throws {
    try await withIssuers { hub in
      let access = HubAccess(at: hub.url)
      let first = try await access.createAccount(secret: token(alg: algorithm, kid: algorithm))
      let second = try await access.createAccount(secret: token(alg: algorithm, kid: algorithm))
      let other = try await access.createAccount(secret: token(alg: algorithm, kid: algorithm, ["sub": "grace"]))
      let elsewhere = try await access.createAccount(
        secret: token(alg: algorithm, kid: algorithm, ["iss": "https://login.exampl", "sub": "eada"]))
      #expect(first.account == second.account)
      #expect(first.token != second.token)
      #expect(Set([first.account, other.account, elsewhere.account]).count == 3)
      // Both tokens work: a person has several devices.
      _ = try await access.createSpace(SpaceID(), account: first.token)
      _ = try await access.createSpace(SpaceID(), account: second.token)
    }
  }

  @Test func theIdOfAnAccountStays() async throws {
    try await withIssuers { hub in
      let account = try await HubAccess(at: hub.url).createAccount(secret: token())
      // Of `printf 'tally-account 21 https://login.exampleada' | sha256sum`, as a UUID of version 8.
      #expect(account.account == "1bf50e00-b32b-8482-88be-aff5f51e924a")
    }
  }

  @Test func tokensThatDoNotCountAreRefused() async throws {
    let now = Date.now.timeIntervalSince1970
    let refused: [(String, String)] = [
      ("expired", token(["exp": now - 60])), ("not yet valid", token(["nbf": now + 600])),
      ("another audience", token(["aud": "other"])), ("no audience", token(["aud": nil])),
      ("audiences, but none", token(["aud": [String]()])), ("no expiry", token(["exp": nil])),
      ("no subject", token(["sub": nil])), ("an empty subject", token(["sub": ""])),
      ("no issuer", token(["iss": nil])), ("an unknown key", token(kid: "other")), ("no key", token(kid: nil)),
      ("the algorithm none", token(alg: "none")), ("none, and no signature", unsigned()),
      ("another algorithm than the key's", token(alg: "HS256", kid: "ES256")),
      ("an extension that must be understood", token(header: ["crit": ["exp"], "exp": now + 600])),
      ("an empty list of such extensions", token(header: ["crit": [String]()])),
      ("such a list that is none", token(header: ["crit": "b64"])), ("another payload", tampered()),
      ("no token at all", "a.b.c"), ("an empty one", ""),
    ]
    try await withIssuers { hub in
      for (reason, token) in refused {
        let fault = await #expect(throws: HubFault.self, "\(reason)") {
          try await HubAccess(at: hub.url).createAccount(secret: token)
        }
        guard case .status(401, _) = fault else {
          Issue.record("\(reason): \(String(describing: fault))")
          continue
        }
      }
      // One of several audiences is enough.
      _ = try await HubAccess(at: hub.url).createAccount(secret: token(["aud": ["other", "tally"]]))
    }
  }

  @Test func theSecretOfTheOperatorWorksBesideTokens() async throws {
    var configuration = HubConfiguration()
    configuration.registration = .secret("operator.with.dots")
    try await withIssuers(configuration) { hub in
      _ = try await HubAccess(at: hub.url).createAccount(secret: "operator.with.dots")
      _ = try await HubAccess(at: hub.url).createAccount(secret: token())
      await #expect(throws: HubFault.self) { try await HubAccess(at: hub.url).createAccount() }
      await #expect(throws: HubFault.self) { try await HubAccess(at: hub.url).createAccount(secret: "operator") }
    }
  }

  @Test func newKeysCountAfterReloading() async throws {
    try await withDirectory { directory in
      let file = directory.appending("keys.json").string
      try write(["keys": [symmetric]], to: file)
      var configuration = HubConfiguration()
      let issuers = try await HubIssuers(file: file, audience: "tally")
      configuration.issuers = issuers
      try await withHub(configuration) { hub in
        let access = HubAccess(at: hub.url)
        let elliptic = token(alg: "ES256", kid: "ES256")
        await #expect(throws: HubFault.self) { try await access.createAccount(secret: elliptic) }
        try write(["keys": [self.elliptic]], to: file)
        try await issuers.reload()
        _ = try await access.createAccount(secret: elliptic)
        await #expect(throws: HubFault.self) { try await access.createAccount(secret: token()) }
        try Data("nothing".utf8).write(to: URL(filePath: file))
        await #expect(throws: HubIssuers.InvalidKeys.self) { try await issuers.reload() }
        _ = try await access.createAccount(secret: elliptic)
      }
    }
  }

  @Test(arguments: ["alg", "kid", "k"])
  func aKeyWithoutAFieldIsRefused(_ field: String) async throws {
    try await withDirectory { directory in
      let file = directory.appending("keys.json").string
      try write(["keys": [symmetric.filter { $0.key != field }]], to: file)
      await #expect(throws: HubIssuers.InvalidKeys.self) { try await HubIssuers(file: file, audience: "tally") }
    }
  }

  // MARK: - Keys

  private var symmetric: [String: String] {
    ["kty": "oct", "kid": "HS256", "alg": "HS256", "k": base64(Self.secret.withUnsafeBytes { Data($0) })]
  }

  private var elliptic: [String: String] {
    let point = Self.pair.publicKey.rawRepresentation
    return [
      "kty": "EC", "crv": "P-256", "kid": "ES256", "alg": "ES256", "use": "sig", "x": base64(point.prefix(32)),
      "y": base64(point.suffix(32)),
    ]
  }

  private func write(_ keys: [String: [[String: String]]], to file: String) throws {
    try JSONEncoder().encode(keys).write(to: URL(filePath: file))
  }

  private func withIssuers(
    _ configuration: HubConfiguration = HubConfiguration(), _ body: (RunningHub) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      let file = directory.appending("keys.json").string
      try write(["keys": [symmetric, elliptic]], to: file)
      var configuration = configuration
      configuration.issuers = try await HubIssuers(file: file, audience: "tally")
      try await withHub(configuration, body)
    }
  }

  // MARK: - Tokens, made without the library that checks them

  private func token(
    alg: String = "HS256", kid: String? = "HS256", header fields: [String: Any] = [:], _ changes: [String: Any?] = [:]
  ) -> String {
    let signed = "\(header(alg, kid, fields)).\(payload(changes))"
    let bytes = Data(signed.utf8)
    guard alg == "ES256" else {
      return "\(signed).\(base64(Data(HMAC<SHA256>.authenticationCode(for: bytes, using: Self.secret))))"
    }
    return "\(signed).\(base64((try? Self.pair.signature(for: bytes))?.rawRepresentation ?? Data()))"
  }

  private func unsigned() -> String { "\(header("none", "HS256")).\(payload([:]))." }

  private func tampered() -> String {
    let parts = token().split(separator: ".")
    return "\(parts[0]).\(payload(["sub": "grace"])).\(parts[2])"
  }

  private func header(_ alg: String, _ kid: String?, _ fields: [String: Any] = [:]) -> String {
    let known: [String: Any?] = ["alg": alg, "typ": "JWT", "kid": kid]
    return base64(json(known.compactMapValues { $0 }.merging(fields) { $1 }))
  }

  private func payload(_ changes: [String: Any?]) -> String {
    let claims: [String: Any?] = [
      "iss": "https://login.example", "sub": "ada", "aud": "tally", "exp": Date.now.timeIntervalSince1970 + 600,
    ]
    return base64(json(claims.merging(changes) { $1 }.compactMapValues { $0 }))
  }

  private func json(_ fields: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: fields)) ?? Data()
  }

  private func base64(_ bytes: Data) -> String {
    bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
