import Crypto
import Foundation
package import HubWire
import NIOHTTP1
package import TallySync

/// Accounts, spaces and members at a hub.
package struct HubAccess: Sendable {
  private let url: String

  /// Creates access to a hub at an address such as `https://hub.example`.
  package init(at url: String) { self.url = url }

  /// Creates an account.
  ///
  /// - Parameter secret: The secret of the hub; not needed if the hub is open to everybody.
  /// - Returns: The account with its token, which the hub shows once.
  /// - Throws: ``HubFault``.
  package func createAccount(secret: String? = nil) async throws -> HubMessage.Account {
    try await HubConnection(at: url, token: secret).send(.POST, "v1/accounts", []).message(HubMessage.Account.self)
  }

  /// Creates a space, and becomes its first member.
  ///
  /// - Parameters:
  ///   - space: Its id.
  ///   - account: The token of the account that is responsible for it.
  ///   - token: A new token; the hub gets only its hash.
  /// - Returns: The member's token: the given one, or the one that an older hub made.
  /// - Throws: ``HubFault``.
  package func createSpace(
    _ space: SpaceID, account: String, as token: String = SyncPlace.newToken()
  ) async throws -> String {
    let message = HubMessage.NewSpace(space: "\(space)", tokenHash: Self.hash(of: token))
    let member: HubMessage.Member = try await send("v1/spaces", message, token: account)
    return member.token ?? token
  }

  /// Makes an invitation.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - role: The role of the new member.
  ///   - seconds: How long it is valid.
  ///   - token: The token of an owner.
  /// - Returns: The invitation, for one member.
  /// - Throws: ``HubFault``.
  package func invite(to space: SpaceID, role: HubMemberRole, validInSeconds seconds: Int, token: String) async throws
    -> String
  {
    let message = HubMessage.NewInvitation(role: role.rawValue, validInSeconds: seconds)
    let invitation: HubMessage.Invitation = try await send("v1/spaces/\(space)/invitations", message, token: token)
    return invitation.invitation
  }

  /// Becomes a member by an invitation.
  ///
  /// - Parameters:
  ///   - invitation: The result of ``invite(to:role:validInSeconds:token:)``.
  ///   - space: To which space.
  ///   - token: A new token; the hub gets only its hash.
  /// - Returns: The member's token: the given one, or the one that an older hub made.
  /// - Throws: ``HubFault``.
  package func join(
    _ invitation: String, to space: SpaceID, as token: String = SyncPlace.newToken()
  ) async throws -> String {
    let message = HubMessage.Joining(invitation: invitation, tokenHash: Self.hash(of: token))
    let member: HubMessage.Member = try await send("v1/spaces/\(space)/members", message, token: nil)
    return member.token ?? token
  }

  /// Whether the hub knows a member of a space by a token.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - space: The space.
  /// - Returns: Whether it does.
  /// - Throws: ``HubFault``; `revoked` for a member that was revoked.
  package func knows(_ token: String, in space: SpaceID) async throws -> Bool {
    do {
      _ = try await HubTransport(at: url, space: space, token: token).heads()
      return true
    } catch HubFault.status(401, _) {
      return false
    }
  }

  private static func hash(of token: String) -> String {
    Hexadecimal.text(of: SHA256.hash(data: Array(token.utf8)))
  }

  /// Revokes a replica and the token of its member.
  ///
  /// - Parameters:
  ///   - replica: Which.
  ///   - number: The last of its segments that counts.
  ///   - space: The space.
  ///   - token: The token of an owner.
  /// - Throws: ``HubFault``.
  package func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID, token: String) async throws {
    let path = "v1/spaces/\(space)/replicas/\(replica)?behind=\(number)"
    try await HubConnection(at: url, token: token).send(.DELETE, path, []).requireDone()
  }

  /// Becomes an owner by a recovery code.
  ///
  /// - Parameters:
  ///   - code: The recovery code.
  ///   - token: A new token; the hub gets only its hash.
  /// - Returns: The member.
  /// - Throws: ``HubFault``; `TallyError` with `invalidInvitation`.
  package func restore(by code: String, as token: String) async throws -> HubMessage.KnownMember {
    let (proof, hash) = (try RecoveryProof(code: code), Array(SHA256.hash(data: Array(token.utf8))))
    let message = HubMessage.Restoration(
      verifier: Hexadecimal.text(of: proof.verifier.bytes), tokenHash: Hexadecimal.text(of: hash),
      signature: Hexadecimal.text(of: try proof.signature(forTokenHash: hash)))
    return try await requiringNewerHub("It restores no owner.") {
      try await send("v1/recoveries", message, token: nil)
    }
  }

  /// Changes what the member of a replica may do.
  ///
  /// - Parameters:
  ///   - role: The new role.
  ///   - replica: Which.
  ///   - space: In which space.
  ///   - token: The token of an owner that is another member.
  /// - Throws: ``HubFault``.
  package func setRole(
    _ role: HubMemberRole, of replica: ReplicaID, in space: SpaceID, token: String
  ) async throws {
    let body = Array(try JSONEncoder().encode(HubMessage.NewRole(role: role.rawValue)))
    try await requiringNewerHub("It changes no roles.") {
      try await HubConnection(at: url, token: token).send(.PUT, "v1/spaces/\(space)/replicas/\(replica)/role", body)
        .requireDone()
    }
  }

  /// Runs a body; if the hub does not know its path, the error says that the hub is older.
  private func requiringNewerHub<R>(_ what: String, _ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch HubFault.status(404, "") {
      throw HubFault.status(404, "The hub is of an older version. \(what)")
    }
  }

  private func send<M: Decodable>(_ path: String, _ message: some Encodable, token: String?) async throws -> M {
    let body = Array(try JSONEncoder().encode(message))
    return try await HubConnection(at: url, token: token).send(.POST, path, body).message(M.self)
  }
}
