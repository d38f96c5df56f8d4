import Foundation
import HubStorage
import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addRecoveryRoutes(to router: RouterGroup<HubContext>) {
    router.put("spaces/:space/recovery", use: putRecovery)
    router.post("recoveries", use: restore)
  }

  /// Stores the verifier of an owner's recovery code.
  @Sendable private func putRecovery(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context, isOwner: true)
    let message = try await message(HubMessage.Recovery.self, request, context)
    let verifier = try Hexadecimal.bytes(of: message.verifier, count: 32).orBadRequest("The verifier is invalid.")
    try await store.putRecovery(verifier, isShared: message.isShared, by: member, at: Self.now)
    return Response(status: .noContent)
  }

  /// Makes a client that proves to have a recovery code an owner.
  ///
  /// The client makes the token and sends only its hash, so that repeating an observed request gains nobody anything.
  /// Wrong codes use up the attempts of an address, but correct ones are accepted even then.
  @Sendable private func restore(_ request: Request, _ context: HubContext) async throws -> Response {
    let message = try await message(HubMessage.Restoration.self, request, context)
    let known = try (
      verifier: Hexadecimal.bytes(of: message.verifier, count: 32).orBadRequest("The verifier is invalid."),
      token: Hexadecimal.bytes(of: message.tokenHash, count: 32).flatMap { TokenHash(bytes: $0) }
        .orBadRequest("The hash of the token is invalid."),
      signature: Hexadecimal.bytes(of: message.signature, count: 64).orBadRequest("The signature is invalid.")
    )
    try limitAttempts(with: known.verifier)
    guard let recovery = try await store.recovery(known.verifier),
      RecoveryVerifier(bytes: known.verifier, isShared: false)
        .verifies(known.signature, forTokenHash: known.token.bytes)
    else {
      try limitStrangers(context)
      throw HTTPError(
        .unauthorized,
        message:
          "No space at this hub has this recovery code, or its owner has not synchronised since the code was made.")
    }
    let member = try await store.addOwner(UUID(), token: known.token, by: known.verifier, in: recovery.space)
    guard let member else {
      throw HTTPError(.forbidden, message: HubStoreError.replacedCode.description)
    }
    noteChange(of: recovery.space)
    return try .json(
      HubMessage.KnownMember(
        space: "\(member.space)", member: member.id.uuidString.lowercased(), role: member.role.rawValue),
      status: .created)
  }
}

extension Hexadecimal {
  /// The bytes of a text; `nil` for another number of them.
  fileprivate static func bytes(of text: String, count: Int) -> [UInt8]? {
    text.utf8.count == 2 * count ? bytes(of: text) : nil
  }
}
