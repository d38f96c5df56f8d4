import CoreMetrics
import Foundation
import HubService
import HubStorage
import Hummingbird
import Logging
import ServiceLifecycle
import SystemPackage

/// A hub that runs.
struct RunningHub: Sendable {
  let url: String
  let port: Int
  let store: any HubStore
  /// Lets it stop as SIGTERM does.
  let stop: @Sendable () async -> Void
}

/// What a hub runs with.
struct HubOptions: Sendable {
  var configuration = HubConfiguration()
  var metrics: any MetricsFactory = NOOPMetricsHandler.instance
  var certificate: HubCertificate?
  /// Waits until it may stop.
  var pause: @Sendable () async throws -> Void = {}
}

/// Runs a body with a hub on a free port of loopback.
func withHub(
  _ configuration: HubConfiguration = HubConfiguration(),
  metrics: any MetricsFactory = NOOPMetricsHandler.instance, certificate: HubCertificate? = nil,
  _ body: (RunningHub) async throws -> Void
) async throws {
  let options = HubOptions(configuration: configuration, metrics: metrics, certificate: certificate)
  try await withDirectory { try await withHub(options, in: $0, body) }
}

/// Runs a body with a hub whose store is in a directory.
func withHub(_ options: HubOptions, in directory: FilePath, _ body: (RunningHub) async throws -> Void) async throws {
  let store = try LMDBHubStore(at: directory)
  try await withHub(options, over: store, body)
  try store.close()
}

/// Runs a body with a hub over a store.
func withHub(
  _ options: HubOptions = HubOptions(), over store: any HubStore, _ body: (RunningHub) async throws -> Void
) async throws {
  let hub = HubService(store: store, configuration: options.configuration, metrics: options.metrics)
  let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
  var logger = Logger(label: "hub")
  logger.logLevel = .critical
  let application = try hub.application(
    at: .hostname("127.0.0.1", port: 0), certificate: options.certificate, logger: logger
  ) { continuation.yield($0.localAddress?.port ?? 0) }
  let services: [any Service] = [application, HubDrainService(hub, pause: options.pause)]
  let group = ServiceGroup(configuration: .init(services: services, logger: logger))
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    for await port in ports {
      let scheme = options.certificate == nil ? "http" : "https"
      try await body(
        RunningHub(
          url: "\(scheme)://127.0.0.1:\(port)", port: port, store: store,
          stop: { await group.triggerGracefulShutdown() }))
      break
    }
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
}

/// Runs a body with the address of a server that answers as a router says.
func withRouter(_ router: Router<BasicRequestContext>, _ body: (String) async throws -> Void) async throws {
  var logger = Logger(label: "test")
  logger.logLevel = .critical
  let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
  let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: logger)
  let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    for await port in ports {
      try await body("http://127.0.0.1:\(port)")
      break
    }
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
}
