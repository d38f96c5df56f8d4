import CoreMetrics
import Foundation
import HubClient
import HubMetrics
import HubSamples
import HubService
import HubWire
import Hummingbird
import TallySync
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a hub measures, as Prometheus reads it.
struct HubMetricsTests {
  @Test func theTextIsWhatPrometheusReads() throws {
    let metrics = PrometheusMetrics(help: ["a_b": "One\nline with \\."])
    let nasty = "quote \" slash \\ line \n brace } comma ,"
    Counter(label: "a.b", dimensions: [("9 x", nasty), ("a", "")], factory: metrics).increment(by: 3)
    Counter(label: "a.b", dimensions: [("a", ""), ("9 x", nasty)], factory: metrics).increment(by: 2)
    Gauge(label: "gauge", factory: metrics).record(-1.5)
    let text = try MetricsText(metrics.text())
    #expect(text["a_b", ["_9_x": nasty, "a": ""]] == 5)
    #expect(text["gauge"] == -1.5)
    #expect(text.kinds == ["a_b": "counter", "gauge": "gauge"])
    #expect(text.help == ["a_b": "One\\nline with \\\\."])
  }

  @Test func aHistogramCountsUpToEachBound() throws {
    let metrics = PrometheusMetrics()
    let timer = Timer(label: "t", dimensions: [("route", "/")], factory: metrics)
    for milliseconds in [1, 3, 700, 90_000] { timer.recordMilliseconds(milliseconds) }
    let text = try MetricsText(metrics.text())
    func count(upTo bound: String) -> Double? { text["t_bucket", ["route": "/", "le": bound]] }
    #expect([count(upTo: "0.001"), count(upTo: "0.005"), count(upTo: "1"), count(upTo: "60")] == [1, 2, 3, 3])
    #expect(count(upTo: "+Inf") == 4)
    #expect(text["t_count", ["route": "/"]] == 4)
    #expect(abs((text["t_sum", ["route": "/"]] ?? 0) - 90.704) < 1e-9)
    #expect(text.kinds == ["t": "histogram"])
  }

  @Test func aCounterOnlyRises() throws {
    let metrics = PrometheusMetrics()
    let counter = Counter(label: "c", factory: metrics)
    counter.increment(by: 2)
    counter.increment(by: -1)
    counter.reset()
    counter.destroy()
    #expect(try MetricsText(metrics.text())["c"] == 2)
  }

  @Test func aNameHasOneKind() throws {
    let metrics = PrometheusMetrics()
    Counter(label: "c", factory: metrics).increment()
    Gauge(label: "c", factory: metrics).record(7)
    #expect(try MetricsText(metrics.text())["c"] == 1)
  }

  @Test func requestsAppendsAndRefusalsAreCounted() async throws {
    let metrics = PrometheusMetrics(help: HubMeasures.help)
    try await withHub(metrics: metrics) { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      var stream = SealedStream(in: space)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      for segment in stream.next(2) {
        #expect(try await transport.append([segment], of: stream.replica) == [.stored])
      }
      _ = stream.next(1)
      let late = try #require(stream.next(1).first)
      _ = try await transport.append([late], of: stream.replica)
      await #expect(throws: HubFault.self) {
        _ = try await HubTransport(at: hub.url, space: space, token: "wrong").heads()
      }
    }
    let text = try MetricsText(metrics.text())
    let route = ["route": "/v1/spaces/{space}/replicas/{replica}/segments", "method": "POST"]
    #expect(text["tally_hub_requests_total", route.merging(["status": "200"]) { $1 }] == 2)
    #expect(text["tally_hub_requests_total", route.merging(["status": "409"]) { $1 }] == 1)
    #expect(text["tally_hub_request_seconds_count", ["route": route["route"] ?? ""]] == 3)
    #expect(text["tally_hub_appended_segments_total"] == 2)
    #expect((text["tally_hub_appended_bytes_total"] ?? 0) > 2 * 64)
    #expect(text["tally_hub_refusals_total", ["reason": "gap"]] == 1)
    #expect(text["tally_hub_refusals_total", ["reason": "token"]] == 1)
    #expect(Set(text.kinds.keys) == Set(text.help.keys))
  }

  @Test func pathsAndMethodsOfClientsMakeNoSeries() async throws {
    let metrics = PrometheusMetrics()
    try await withHub(metrics: metrics) { hub in
      for number in 0..<20 {
        var request = URLRequest(url: try #require(URL(string: "\(hub.url)/none/\(number)")))
        request.httpMethod = ["PURGE", "LOCK", "REPORT", "MKCOL"][number % 4]
        _ = try await URLSession.shared.data(for: request)
        _ = try? await HubTransport(at: hub.url, space: SpaceID(), token: "x").heads()
      }
    }
    let requests = try MetricsText(metrics.text()).samples.filter { $0.key.name == "tally_hub_requests_total" }
    #expect(requests.count == 2)
    #expect(requests.values.allSatisfy { $0 == 20 })
  }

  @Test func waitingRequestsAreShown() async throws {
    let metrics = PrometheusMetrics()
    try await withHub(metrics: metrics) { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      _ = try await transport.heads()
      let wait = Task { try await transport.waitForChanges(seconds: 120) }
      try await metrics.wait { $0["tally_hub_waiting_requests"] == 1 }
      let card = SealedStream(in: space).card()
      try await transport.putCard(card.bytes, of: card.replica, number: 1)
      #expect(try await wait.value)
      try await metrics.wait { $0["tally_hub_waiting_requests"] == 0 }
    }
  }

  @Test(arguments: HubKind.allCases)
  func theStoreItsDiskAndItsConnectionsAreMeasured(_ kind: HubKind) async throws {
    let metrics = PrometheusMetrics(help: HubMeasures.help)
    let expected =
      kind == .directory
      ? ["tally_hub_store_bytes", "tally_hub_disk_free_bytes"]
      : [
        "tally_hub_store_bytes", "tally_hub_database_answers", "tally_hub_database_connections",
        "tally_hub_database_connections_wanted",
      ]
    if kind == .directory {
      try await withHub(metrics: metrics) { _ in
        try await metrics.wait { text in expected.allSatisfy { (text[$0] ?? 0) > 0 } }
      }
    } else if PostgreSQLServer.address != nil {
      try await PostgreSQLServer.withStore { store in
        try await withHub(HubOptions(metrics: metrics), over: store) { _ in
          try await metrics.wait { text in expected.allSatisfy { (text[$0] ?? 0) > 0 } }
          let text = try MetricsText(metrics.text())
          for idle in ["connections_busy", "waiting", "waiting_bytes"] {
            #expect(text["tally_hub_database_\(idle)"] != nil, "\(idle)")
          }
        }
      }
    }
  }

  @Test func metricsAreNotOnThePublicAddress() async throws {
    try await withHub(metrics: PrometheusMetrics()) { hub in
      let url = try #require(URL(string: "\(hub.url)/metrics"))
      let (_, response) = try await URLSession.shared.data(from: url)
      #expect((response as? HTTPURLResponse)?.statusCode == 404)
    }
  }
}

extension PrometheusMetrics {
  /// Waits until the text is as expected, for a time that is generous on a busy machine.
  func wait(until isSo: (MetricsText) -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !isSo(MetricsText(text())) {
      try #require(ContinuousClock.now < deadline)
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension HubAccess {
  /// Creates a space with an account of its own.
  ///
  /// - Returns: The token of its owner.
  func newSpace(_ space: SpaceID) async throws -> String {
    try await createSpace(space, account: try await createAccount().token)
  }
}
