import Foundation
import HTTPTypes
import HubClient
import Hummingbird
import Logging
import ServiceLifecycle
import SystemPackage
import Tally
import TallySync
import Testing

/// What a store makes of the statuses of a hub.
struct HubRefusalTests {
  @Test(arguments: [401, 403, 404, 413, 429, 507])
  func aRefusalIsSaidAndLosesNothing(_ status: Int) async throws {
    try await withStatus(status) { url in
      try await withStore { store in
        let transport = HubTransport(at: url, space: SpaceID(), token: "x")
        let error = await #expect(throws: TallyError.self) {
          try await StoreSync(store).synchronise(through: transport)
        }
        #expect(error?.code == .syncRefused)
        let known = try await StoreSync(store).status()
        #expect(known.refused == "Not now." && known.pending == 1)
        let fault = await #expect(throws: HubFault.self) { try await transport.heads() }
        #expect(fault?.refusal == SyncRefusal("Not now.", retryInSeconds: status == 429 ? 42 : nil))
      }
    }
  }

  @Test(arguments: [408, 500, 502, 503])
  func aFaultOfTheHubIsNoRefusal(_ status: Int) async throws {
    try await withStatus(status) { url in
      try await withStore { store in
        let transport = HubTransport(at: url, space: SpaceID(), token: "x")
        let error = await #expect(throws: TallyError.self) {
          try await StoreSync(store).synchronise(through: transport)
        }
        #expect(error?.code == .syncUnreachable)
        let known = try await StoreSync(store).status()
        #expect(known.refused == nil && known.pending == 1)
      }
    }
  }

  /// Runs a body with a store that has one change, in a space.
  private func withStore(_ body: (TaskStore) async throws -> Void) async throws {
    try await withDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"))
      _ = try await StoreSync(store).setUp(
        SpaceID(), at: SyncPlace("http://127.0.0.1:9", token: "x"), deviceName: "one")
      try await store.write { _ = try $0.add("waits", to: .inbox) }
      try await body(store)
      try store.close()
    }
  }

  /// Runs a body with the address of a hub that always answers with a status.
  private func withStatus(_ status: Int, _ body: (String) async throws -> Void) async throws {
    let router = Router()
    router.get("**") { _, _ -> Response in
      throw HTTPError(
        HTTPResponse.Status(code: status), headers: status == 429 ? [.retryAfter: "42"] : [:], message: "Not now.")
    }
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
}
