import Foundation
import HTTPTypes
import HubClient
import Hummingbird
import SystemPackage
import Tally
import TallySync
import Testing

/// What a store makes of the statuses of a hub.
struct HubRefusalTests {
  /// Every status with which a hub refuses segments, as the answer to those alone.
  @Test(arguments: [401, 403, 409, 413, 429, 507])
  func refusedSegmentsWaitAndAreSentAgainUnchanged(_ status: Int) async throws {
    let refusing = RefusingHub(HTTPResponse.Status(code: status))
    try await withRouter(refusing.router()) { url in
      try await withStore { store in
        let sync = StoreSync(store)
        let transport = HubTransport(at: url, space: try await sync.status().space, token: "x")
        for _ in 0..<2 {
          let error = await #expect(throws: TallyError.self) { try await sync.synchronize(through: transport) }
          #expect(error?.code == .syncRefused)
          let known = try await sync.status()
          #expect(known.refused == "Not now." && known.pending == 1)
        }
        await refusing.accept()
        try await sync.synchronize(through: transport)
        let known = try await sync.status()
        #expect(known.refused == nil && known.pending == 0)
        let bodies = await refusing.bodies
        #expect(bodies.count == 3 && Set(bodies).count == 1 && bodies[0].count > 100)
      }
    }
  }

  @Test(arguments: [401, 403, 404, 413, 429, 507])
  func aRefusalIsSaidAndLosesNothing(_ status: Int) async throws {
    try await withStatus(status) { url in
      try await withStore { store in
        let transport = HubTransport(at: url, space: SpaceID(), token: "x")
        let error = await #expect(throws: TallyError.self) {
          try await StoreSync(store).synchronize(through: transport)
        }
        #expect(error?.code == .syncRefused)
        let known = try await StoreSync(store).status()
        #expect(known.refused == "Not now." && known.pending == 1)
        let fault = await #expect(throws: HubFault.self) { try await transport.heads() }
        #expect(
          fault?.refusal
            == SyncRefusal("Not now.", retryInSeconds: status == 429 ? 42 : nil, isDenial: status == 403))
      }
    }
  }

  @Test(arguments: [408, 500, 502, 503])
  func aFaultOfTheHubIsNoRefusal(_ status: Int) async throws {
    try await withStatus(status) { url in
      try await withStore { store in
        let transport = HubTransport(at: url, space: SpaceID(), token: "x")
        let error = await #expect(throws: TallyError.self) {
          try await StoreSync(store).synchronize(through: transport)
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
    try await withRouter(router, body)
  }
}

/// An empty hub that takes cards and snapshots, and refuses segments with a status until it accepts them.
private actor RefusingHub {
  private let status: HTTPResponse.Status
  private var isAccepting = false
  /// Of the requests to append.
  private(set) var bodies: [[UInt8]] = []

  init(_ status: HTTPResponse.Status) { self.status = status }

  func accept() { isAccepting = true }

  nonisolated func router() -> Router<BasicRequestContext> {
    let router = Router()
    let space = router.group("v1/spaces/:space")
    space.get("heads") { _, _ in
      #"{"incarnation": "00", "position": 0, "change": 0, "heads": []}"#
    }
    space.get("cards") { _, _ in "" }
    space.get("snapshots") { _, _ in #"{"snapshots": []}"# }
    space.put("**") { _, _ in HTTPResponse.Status.noContent }
    space.post("replicas/:replica/segments") { request, _ in
      try await self.append(Array((try await request.body.collect(upTo: 1 << 24)).readableBytesView))
    }
    return router
  }

  private func append(_ body: [UInt8]) throws -> String {
    bodies.append(body)
    guard isAccepting else {
      throw HTTPError(status, headers: status == .tooManyRequests ? [.retryAfter: "42"] : [:], message: "Not now.")
    }
    let answers = (SegmentFrame.split(body) ?? []).map { _ in #"{"answer": "stored", "position": 1}"# }
    return #"{"answers": [\#(answers.joined(separator: ","))]}"#
  }
}
