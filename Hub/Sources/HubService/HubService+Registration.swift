import Crypto
import Foundation
import HubStorage
import Hummingbird

extension HubService {
  /// The account that a request may have: a new one, or that of the user for whom an issuer has signed a token.
  func newAccount(for request: Request) async throws -> HubAccount {
    HubAccount(id: try await accountID(for: request), limitInBytes: configuration.spaceLimitInBytes)
  }

  private func accountID(for request: Request) async throws -> UUID {
    let given = request.headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    switch configuration.registration {
    case .open where configuration.issuers == nil: return UUID()
    case .secret(let secret) where given.map { Self.isSame($0, secret) } == true: return UUID()
    case .open, .secret: break
    }
    if let issuers = configuration.issuers, let given, let id = try? await issuers.account(of: given) { return id }
    throw HTTPError(.unauthorized, message: "This hub creates accounts only with its secret or a valid token.")
  }

  /// Compares two texts in a time that does not depend on how much of them is equal.
  private static func isSame(_ given: String, _ secret: String) -> Bool {
    SHA256.hash(data: Array(given.utf8)) == SHA256.hash(data: Array(secret.utf8))
  }
}
