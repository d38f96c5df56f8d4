import Foundation
import HubStorage
package import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addAccountRoutes(to router: RouterGroup<BasicRequestContext>) {
    router.post("accounts", use: createAccount)
  }

  func addSpaceRoutes(to router: RouterGroup<BasicRequestContext>) {
    router.post("spaces", use: createSpace)
    router.post("spaces/:space/members", use: join)
    router.post("spaces/:space/invitations", use: invite)
    router.get("spaces/:space/heads", use: heads)
    router.delete("spaces/:space/replicas/:replica", use: revoke)
  }

  private static let longestInvitationInSeconds = 366 * 86_400

  @Sendable private func createAccount(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    try limitStrangers()
    let account = try await newAccount(for: request)
    // That of a user of an issuer may be there already.
    if try await store.account(account.id) == nil { try await store.put(account) }
    return try .json(try await newToken(of: account), status: .created)
  }

  /// Creates an account.
  ///
  /// - Parameter limit: How many bytes each of its spaces may have.
  /// - Returns: The account, with the token that is not kept.
  /// - Throws: ``HubStoreError``.
  package func createAccount(limitInBytes limit: Int) async throws -> HubMessage.Account {
    let account = HubAccount(id: UUID(), limitInBytes: limit)
    try await store.put(account)
    return try await newToken(of: account)
  }

  private func newToken(of account: HubAccount) async throws -> HubMessage.Account {
    let token = HubToken()
    guard let hash = token.hash else { throw HTTPError(.internalServerError) }
    try await store.put(.account(account.id), for: hash)
    return HubMessage.Account(account: account.id.uuidString.lowercased(), token: token.text)
  }

  @Sendable private func createSpace(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    guard case .account(let id) = try await grant(of: request, in: nil), let account = try await store.account(id)
    else {
      throw HTTPError(.forbidden, message: "The token is not that of an account.")
    }
    let message = try await request.message(HubMessage.NewSpace.self)
    let space = try SpaceID(message.space).orBadRequest("The id of the space is invalid.")
    let (member, token) = (HubMember(id: UUID(), space: space, role: .owner), HubToken())
    guard let hash = token.hash else { throw HTTPError(.internalServerError) }
    try await store.createSpace(
      of: account, with: member, token: hash, mostSpaces: configuration.mostSpaces)
    return try .json(HubMessage.Member(member, token: token), status: .created)
  }

  @Sendable private func invite(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context, isOwner: true)
    let message = try await request.message(HubMessage.NewInvitation.self)
    let role = try HubRole(rawValue: message.role ?? HubRole.writer.rawValue).orBadRequest("The role is unknown.")
    let seconds = message.validInSeconds ?? 7 * 86_400
    guard (1...Self.longestInvitationInSeconds).contains(seconds) else {
      throw HTTPError(.badRequest, message: "An invitation is valid for a second at least and a year at most.")
    }
    let token = HubToken()
    guard let hash = token.hash else { throw HTTPError(.internalServerError) }
    let expiry = Self.now + Int64(seconds) * 1_000_000
    try await store.put(.invitation(member.space, role, by: member.id, expiresAt: expiry), for: hash)
    return try .json(HubMessage.Invitation(invitation: token.text), status: .created)
  }

  @Sendable private func join(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    try limitStrangers()
    let (space, message) = (try context.space(), try await request.message(HubMessage.Invitation.self))
    let token = HubToken()
    guard let invitation = HubToken(message.invitation).hash, let hash = token.hash,
      let member = try await store.join(space, as: UUID(), token: hash, by: invitation, at: Self.now)
    else { throw HTTPError(.unauthorized, message: "The invitation is unknown, was used or has expired.") }
    return try .json(HubMessage.Member(member, token: token), status: .created)
  }

  @Sendable private func heads(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    guard let space = try await store.space(member.space) else { throw HubStoreError.noSpace }
    // The change is read first: a segment stored in between ends the next wait.
    let heads = try await store.replicas(in: member.space).filter { $0.value.head.number > 0 }
    return try .json(
      HubMessage.Heads(
        incarnation: Hexadecimal.text(of: try await store.incarnation(for: member.space)), position: space.position,
        change: space.changeCount,
        heads: heads.sorted { $0.key < $1.key }.map { HubMessage.Head($0.value.head, of: $0.key) }))
  }

  @Sendable private func revoke(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context, isOwner: true)
    let number = try request.number("behind", as: UInt64.self) ?? 0
    guard try await store.revoke(try context.replica(), behind: number, in: member.space) else {
      throw HTTPError(.notFound, message: "The space has no such replica.")
    }
    return Response(status: .noContent)
  }

  /// In microseconds since 1970.
  static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1_000_000) }
}

extension HubMessage.Member {
  fileprivate init(_ member: HubMember, token: HubToken) {
    self.init(
      space: "\(member.space)", member: member.id.uuidString.lowercased(), role: member.role.rawValue, token: token.text
    )
  }
}
