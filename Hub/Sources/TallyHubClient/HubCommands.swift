import HubClient
import TallyCommands
import TallySync

/// The requests of commands to a hub.
struct HubCommands: TallyCommands.HubClient {
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    try HubConnector().transport(to: place, space: space)
  }

  func setUp(
    _ sync: StoreSync, at address: String, as account: HubAccountChoice, deviceName: String, isEncrypted: Bool
  ) async throws -> SpaceSetup {
    try await reach {
      switch account {
      case .token(let token):
        try await sync.setUp(atHub: address, account: token, deviceName: deviceName, isEncrypted: isEncrypted)
      case .sameHub: throw HubFault.alreadySynchronises
      case .new(let secret):
        try await sync.setUp(atHub: address, secret: secret, deviceName: deviceName, isEncrypted: isEncrypted)
      }
    }
  }

  func invite(
    _ sync: StoreSync, as role: InvitedRole, validInSeconds: Int64
  ) async throws -> String {
    guard let role = HubMemberRole(rawValue: role.rawValue) else { throw HubFault.unexpected }
    return try await reach { try await sync.inviteToHub(as: role, for: .seconds(validInSeconds)) }
  }

  func join(_ sync: StoreSync, by invitation: String, deviceName: String) async throws {
    try await reach { _ = try await sync.join(hubInvitation: invitation, deviceName: deviceName) }
  }

  func move(_ sync: StoreSync, to place: String, as account: HubAccountChoice) async throws -> PlaceMove {
    try await reach {
      if HubInvitation(place) != nil { return try await sync.move(hubInvitation: place) }
      switch account {
      case .token(let token): return try await sync.move(toHub: place, account: token)
      case .sameHub: return try await sync.move(toNewAddress: place)
      case .new(let secret): return try await sync.move(toHub: place, secret: secret)
      }
    }
  }

  func restore(_ sync: StoreSync, at address: String, by code: String, deviceName: String) async throws {
    try await reach { _ = try await sync.restore(atHub: address, recoveryCode: code, deviceName: deviceName) }
  }

  func setRole(_ role: InvitedRole, of replica: ReplicaID, _ sync: StoreSync) async throws {
    guard let role = HubMemberRole(rawValue: role.rawValue) else { throw HubFault.unexpected }
    try await reach { try await sync.setRole(role, of: replica) }
  }

  func revoke(_ replica: ReplicaID, _ sync: StoreSync) async throws {
    try await reach { try await sync.revokeAtHub(replica) }
  }

  /// Runs a request, and turns its errors into those of the command line.
  private func reach<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch let fault as HubFault {
      let message = fault.description
      throw HubFailure(
        message.hasSuffix(".") ? String(message.dropLast()) : message, isRefusal: fault.isRefusal, remedy: fault.remedy)
    }
  }
}

extension HubFault {
  /// The remedy at the command line; `nil` if there is no particular one.
  fileprivate var remedy: String? {
    switch self {
    case .status(409, "A space with this id exists."):
      "On a device that already uses this hub, run 'tally sync invite'; here, 'tally sync move INVITATION'. If only the hub's address has "
        + "changed, use --same-hub"
    case .status(401, let reason) where reason.hasPrefix("This hub creates no account"):
      "Ask who runs the hub for its secret (--hub-secret-file) or for an account (--account-file)"
    case .revoked: "Leave the space with 'tally sync leave', then join with a new invitation; nothing was lost"
    case .alreadySynchronises: "Leave it first with 'tally sync leave', or use 'tally sync move'"
    case .otherSpace: "Ask for an invitation to this space, or leave this one and join"
    default: nil
    }
  }
}
