import Foundation
import HubClient
import HubService
import HubWire
import TallySync
import TallySyncConformance
import Testing

/// A hub as a place of spaces, over HTTP on loopback.
struct HubTransportTests {
  @Test func theHubKeepsThePromisesOfAPlace() async throws {
    try await withHub { hub in
      let members = Members(of: hub)
      let conformance = TransportConformance { space, replica in
        let space = try #require(SpaceID(bytes: space))
        return HubTransport(at: hub.url, space: space, token: try await members.token(of: replica, in: space))
      }
      let unmet = await conformance.run()
      #expect(unmet == [])
    }
  }
}

/// The members of spaces at a hub, one for each replica.
actor Members {
  private let access: HubAccess
  private var owners: [SpaceID: String] = [:]
  private var tokens: [ReplicaID: String] = [:]

  init(of hub: RunningHub) { access = HubAccess(at: hub.url) }

  /// The token of the member that writes as a replica; the first one of a space creates it.
  func token(of replica: ReplicaID, in space: SpaceID) async throws -> String {
    if let token = tokens[replica] { return token }
    if owners[space] == nil {
      let account = try await access.createAccount()
      owners[space] = try await access.createSpace(space, account: account.token)
      tokens[replica] = owners[space]
    } else {
      let invitation = try await access.invite(
        to: space, role: .writer, validInSeconds: 60, token: owners[space] ?? "")
      tokens[replica] = try await access.join(invitation, to: space)
    }
    return tokens[replica] ?? ""
  }
}
