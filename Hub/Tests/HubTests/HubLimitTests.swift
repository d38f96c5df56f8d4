import AsyncHTTPClient
import Foundation
import HubClient
import HubSamples
import HubService
import HubStorage
import HubWire
import NIOCore
import NIOHTTP1
import TallySync
import Testing

/// What a hub refuses, and that no body makes it fail.
struct HubLimitTests {
  @Test func aSpaceHasSoManyCards() async throws {
    var configuration = HubConfiguration()
    configuration.mostCards = 2
    try await withHub(configuration) { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      let cards = (0..<3).map { _ in SealedStream(in: space).card() }
      for card in cards.prefix(2) { try await transport.putCard(card.bytes, of: card.replica, number: 1) }
      let fault = await #expect(throws: HubFault.self) {
        try await transport.putCard(cards[2].bytes, of: cards[2].replica, number: 1)
      }
      #expect(fault == .status(507, "The space has as many devices as it may have."))
      // Those that are there may change.
      try await transport.putCard(cards[0].bytes, of: cards[0].replica, number: 2)
      let count = try await transport.cards().count
      #expect(count == 2)
    }
  }

  @Test func noBodyMakesTheHubFail() async throws {
    var generous = HubConfiguration()
    (generous.burst, generous.burstOfStrangers) = (1e9, 1e9)
    let seed = UInt64.random(in: .min ... .max)
    var generator = Seeded(state: seed)
    try await withHub(generous) { hub in
      let space = SpaceID()
      let account = try await HubAccess(at: hub.url).createAccount().token
      let member = try await HubAccess(at: hub.url).createSpace(space, account: account)
      let stream = SealedStream(in: space)
      for (method, path) in try Self.routes() {
        for round in 0..<40 {
          let token = round % 10 == 0 ? "" : path == "/v1/spaces" ? account : member
          let body = Self.body(stream, round, &generator)
          let status = try await Self.send(method, hub.url + filled(path, space, stream), token, body)
          #expect(status < 500 || status == 507, "\(method) \(path), round \(round), seed \(seed)")
        }
      }
      let isReady = try await Self.send("GET", "\(hub.url)/ready", "", [])
      #expect(isReady == 200)
    }
  }

  /// The routes of the description.
  private static func routes() throws -> [(method: String, path: String)] {
    let file = URL(filePath: #filePath).appending(path: "../../../openapi.json").standardizedFileURL
    struct Description: Decodable {
      struct Ignored: Decodable {}
      let paths: [String: [String: Ignored]]
    }
    let routes = try JSONDecoder().decode(Description.self, from: Data(contentsOf: file)).paths.flatMap {
      path, methods in
      methods.keys.map { (method: $0.uppercased(), path: path) }
    }
    try #require(routes.count > 15)
    // Revoking the only member would end all.
    return routes.filter { $0.method != "DELETE" && !$0.path.hasSuffix("wait") }.sorted { $0.path < $1.path }
  }

  private func filled(_ path: String, _ space: SpaceID, _ stream: SealedStream) -> String {
    var path = path
    for (name, value) in [
      ("space", "\(space)"), ("replica", "\(stream.replica)"), ("number", "1"), ("digest", "0102030405060708"),
      ("count", "2"), ("part", "0"),
    ] { path = path.replacing("{\(name)}", with: value) }
    return path
  }

  /// Random bytes, JSON with random values, or an envelope with some bytes changed.
  private static func body(_ stream: SealedStream, _ round: Int, _ generator: inout Seeded) -> [UInt8] {
    switch round % 4 {
    case 0:
      return (0..<Int.random(in: 0...3_000, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
    case 1:
      let values = ["null", "-1", "1e999", "\"\"", "[[]]", "99999999999999999999", "\"\\u0000\"", "{}", "true"]
      let keys = ["space", "role", "validInSeconds", "invitation", "upTo", "snapshots"]
      let fields = keys.map { "\"\($0)\": \(values.randomElement(using: &generator) ?? "")" }
      return Array("{\(fields.joined(separator: ","))}".utf8)
    default:
      var stream = stream
      var bytes = round % 4 == 2 ? stream.next(2).flatMap { $0 } : stream.card().bytes
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      return Array(bytes.prefix(Int.random(in: 0...bytes.count * 2, using: &generator)))
    }
  }

  private static func send(_ method: String, _ url: String, _ token: String, _ body: [UInt8]) async throws -> UInt {
    var request = HTTPClientRequest(url: url)
    request.method = HTTPMethod(rawValue: method)
    request.headers.add(name: "Authorization", value: "Bearer \(token)")
    if method != "GET" { request.body = .bytes(ByteBuffer(bytes: body)) }
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
    _ = try await response.body.collect(upTo: 1 << 26)
    return response.status.code
  }
}

/// The same numbers for the same seed (SplitMix64, by Sebastiano Vigna).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
