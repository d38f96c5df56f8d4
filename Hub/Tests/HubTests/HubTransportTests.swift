import CoreMetrics
import Foundation
import HubClient
import HubService
import HubStorage
import HubWire
import Hummingbird
import Logging
import ServiceLifecycle
import SystemPackage
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
      #expect(await conformance.run() == [])
    }
  }
}

/// A hub that runs.
struct RunningHub: Sendable {
  let url: String
  let store: any HubStore
}

/// Runs a body with a hub on a free port of loopback.
func withHub(
  _ configuration: HubConfiguration = HubConfiguration(),
  metrics: any MetricsFactory = NOOPMetricsHandler.instance, certificate: HubCertificate? = nil,
  _ body: (RunningHub) async throws -> Void
) async throws {
  try await withDirectory {
    try await withHub(configuration, in: $0, metrics: metrics, certificate: certificate, body)
  }
}

/// Runs a body with a hub whose store is in a directory.
func withHub(
  _ configuration: HubConfiguration = HubConfiguration(), in directory: FilePath,
  metrics: any MetricsFactory = NOOPMetricsHandler.instance, certificate: HubCertificate? = nil,
  _ body: (RunningHub) async throws -> Void
) async throws {
  do {
    let store = try LMDBHubStore(at: directory)
    let hub = HubService(store: store, configuration: configuration, metrics: metrics)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "hub")
    logger.logLevel = .critical
    let application = try hub.application(at: .hostname("127.0.0.1", port: 0), certificate: certificate, logger: logger)
    {
      continuation.yield($0.localAddress?.port ?? 0)
    }
    let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
    try await withThrowingTaskGroup { tasks in
      tasks.addTask { try await group.run() }
      for await port in ports {
        let scheme = certificate == nil ? "http" : "https"
        try await body(RunningHub(url: "\(scheme)://127.0.0.1:\(port)", store: store))
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
    try store.close()
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
      owners[space] = try await access.createSpace(space, account: account.token).token
      tokens[replica] = owners[space]
    } else {
      let invitation = try await access.invite(
        to: space, role: "writer", validInSeconds: 60, token: owners[space] ?? "")
      tokens[replica] = try await access.join(invitation).token
    }
    return tokens[replica] ?? ""
  }
}
