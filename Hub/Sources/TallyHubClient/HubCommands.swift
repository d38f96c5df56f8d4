import HubClient
import TallyCommands
import TallySync

/// What commands do at a hub.
struct HubCommands: TallyCommands.HubClient {
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    try HubConnector().transport(to: place, space: space)
  }

  func setUp(
    _ sync: StoreSync, at address: String, account: String?, deviceName: String, isEncrypted: Bool
  ) async throws -> SpaceSetup {
    try await reach {
      try await sync.setUp(atHub: address, account: account, deviceName: deviceName, isEncrypted: isEncrypted)
    }
  }

  func invite(_ sync: StoreSync, validInSeconds: Int64) async throws -> String {
    try await reach { try await sync.inviteToHub(for: .seconds(validInSeconds)) }
  }

  func join(_ sync: StoreSync, by invitation: String, deviceName: String) async throws {
    try await reach { _ = try await sync.join(hubInvitation: invitation, deviceName: deviceName) }
  }

  func revoke(_ replica: ReplicaID, _ sync: StoreSync) async throws {
    try await reach { try await sync.revokeAtHub(replica) }
  }

  /// Runs a request, and says what went wrong in the words of the command line.
  private func reach<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch let fault as HubFault {
      let message = fault.description
      throw HubFailure(message.hasSuffix(".") ? String(message.dropLast()) : message, isRefusal: fault.isRefusal)
    }
  }
}
