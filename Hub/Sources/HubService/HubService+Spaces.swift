import Foundation
import HubStorage
package import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addAccountRoutes(to router: RouterGroup<HubContext>) {
    router.post("accounts", use: createAccount)
  }

  func addSpaceRoutes(to router: RouterGroup<HubContext>) {
    router.post("spaces", use: createSpace)
    router.post("spaces/:space/members", use: join)
    router.post("spaces/:space/invitations", use: invite)
    router.get("spaces/:space/heads", use: heads)
    router.delete("spaces/:space/replicas/:replica", use: revoke)
    router.put("spaces/:space/replicas/:replica/role", use: setRole)
  }

  private static let longestInvitationInSeconds = 366 * 86_400

  @Sendable private func createAccount(_ request: Request, _ context: HubContext) async throws -> Response {
    try limitStrangers(context)
    let account = try await newAccount(for: request)
    // The account of an issuer's user may exist already.
    if try await store.account(account.id) == nil { try await store.put(account) }
    return try .json(try await newToken(of: account), status: .created)
  }

  /// Creates an account.
  ///
  /// - Parameter limit: How many bytes each of its spaces may have.
  /// - Returns: The account, with its token, of which the hub stores only the hash.
  /// - Throws: ``HubStoreError``.
  package func createAccount(limitInBytes limit: Int) async throws -> HubMessage.Account {
    let account = HubAccount(id: UUID(), limitInBytes: limit)
    try await store.put(account)
    return try await newToken(of: account)
  }

  private func newToken(of account: HubAccount) async throws -> HubMessage.Account {
    let token = HubToken()
    guard let hash = token.hash else { throw HTTPError(.internalServerError) }
    try await store.put(.account(account.id), for: hash, at: Self.now)
    return HubMessage.Account(account: account.id.uuidString.lowercased(), token: token.text)
  }

  @Sendable private func createSpace(_ request: Request, _ context: HubContext) async throws -> Response {
    let account = try await account(request, context)
    let message = try await message(HubMessage.NewSpace.self, request, context)
    let space = try SpaceID(message.space).orBadRequest("The id of the space is invalid.")
    let token = try MemberToken(message.tokenHash)
    let member = HubMember(id: UUID(), space: space, role: .owner)
    try await store.createSpace(
      of: account, with: member, token: token.hash, mostSpaces: configuration.mostSpaces)
    return try .json(HubMessage.Member(member, token: token.text), status: .created)
  }

  @Sendable private func invite(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context, isOwner: true)
    let message = try await message(HubMessage.NewInvitation.self, request, context)
    let role = try HubRole(rawValue: message.role ?? HubRole.writer.rawValue).orBadRequest("The role is unknown.")
    let seconds = message.validInSeconds ?? 7 * 86_400
    guard (1...Self.longestInvitationInSeconds).contains(seconds) else {
      throw HTTPError(.badRequest, message: "An invitation is valid for at least a second and at most a year.")
    }
    let token = HubToken()
    guard let hash = token.hash else { throw HTTPError(.internalServerError) }
    let expiry = Self.now + Int64(seconds) * 1_000_000
    try await store.put(.invitation(member.space, role, by: member.id, expiresAt: expiry), for: hash, at: Self.now)
    return try .json(HubMessage.Invitation(invitation: token.text), status: .created)
  }

  /// Makes a client with an invitation a member.
  ///
  /// Wrong invitations use up the attempts of an address, but correct ones are accepted even then.
  @Sendable private func join(_ request: Request, _ context: HubContext) async throws -> Response {
    let (space, message) = (try context.space(), try await message(HubMessage.Joining.self, request, context))
    let token = try MemberToken(message.tokenHash)
    guard let invitation = HubToken(message.invitation).hash else { throw HTTPError(.internalServerError) }
    try limitAttempts(with: invitation.bytes)
    guard case .invitation = try await store.grant(for: invitation, in: space),
      let member = try await store.join(space, as: UUID(), token: token.hash, by: invitation, at: Self.now)
    else {
      try limitStrangers(context)
      throw HTTPError(.unauthorized, message: "The invitation is unknown, was used or has expired.")
    }
    return try .json(HubMessage.Member(member, token: token.text), status: .created)
  }

  @Sendable private func heads(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    guard let space = try await store.space(member.space) else { throw HubStoreError.noSpace }
    // The change is read first: a segment stored in between ends the next wait.
    let heads = try await store.replicas(in: member.space).filter { $0.value.head.number > 0 }
    let recoveries = member.role == .owner ? try await store.recoveries(in: member.space) : nil
    return try await held(
      HubMessage.Heads(
        incarnation: Hexadecimal.text(of: try await store.incarnation(for: member.space)), position: space.position,
        change: space.changeCount,
        heads: heads.sorted { $0.key < $1.key }.map { HubMessage.Head($0.value.head, of: $0.key) },
        role: member.role.rawValue, recoveries: recoveries?.map { Hexadecimal.text(of: $0) }), context)
  }

  /// An answer as JSON that may be long; waits until there is room for it.
  func held(_ message: some Encodable, _ context: HubContext) async throws -> Response {
    let text = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
    try await flows.hold(text.utf8.count, for: context.channel)
    return .json(text)
  }

  @Sendable private func revoke(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context, isOwner: true)
    let number = try request.number("behind", as: UInt64.self) ?? 0
    guard let revoked = try await store.revoke(try context.replica(), behind: number, in: member.space) else {
      throw HTTPError(.notFound, message: "The space has no such replica.")
    }
    // The waiting requests of the member end with a refusal, and its answers in progress end at once.
    flows.end(revoked)
    noteChange(of: member.space)
    return Response(status: .noContent)
  }

  @Sendable private func setRole(_ request: Request, _ context: HubContext) async throws -> Response {
    let (member, replica) = (try await member(request, context, isOwner: true), try context.replica())
    let message = try await message(HubMessage.NewRole.self, request, context)
    let role = try HubRole(rawValue: message.role).orBadRequest("The role is unknown.")
    // Owners cannot change their own role, so that a space always has an owner.
    guard try await store.replicas(in: member.space)[replica]?.member != member.id else {
      throw HTTPError(.forbidden, message: "An owner cannot change its own role.")
    }
    guard try await store.setRole(role, ofMemberOf: replica, in: member.space) != nil else {
      throw HTTPError(.notFound, message: "The space has no such replica, or it was revoked.")
    }
    noteChange(of: member.space)
    return Response(status: .noContent)
  }

  /// The time now, in microseconds since 1970.
  static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1_000_000) }
}

extension HubMessage.Member {
  fileprivate init(_ member: HubMember, token: String?) {
    self.init(
      space: "\(member.space)", member: member.id.uuidString.lowercased(), role: member.role.rawValue, token: token)
  }
}

/// The token of a new member.
private struct MemberToken {
  let hash: TokenHash
  /// The token, if the hub made it; `nil` if the client did.
  let text: String?

  /// Uses the hash of the client's token, or makes a token for an older client.
  init(_ clientsHash: String?) throws {
    if let clientsHash {
      text = nil
      hash = try Hexadecimal.bytes(of: clientsHash).flatMap { TokenHash(bytes: $0) }
        .orBadRequest("The hash of the token is invalid.")
    } else {
      let token = HubToken()
      guard let made = token.hash else { throw HTTPError(.internalServerError) }
      (hash, text) = (made, token.text)
    }
  }
}
