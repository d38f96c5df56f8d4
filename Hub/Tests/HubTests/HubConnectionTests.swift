import Foundation
import HubClient
import HubSamples
import HubService
import HubStorage
import HubWire
import TallySync
import Testing

/// Connections that are slow, half open or send too much, and a hub that stops.
@Suite(.timeLimit(.minutes(2)))
struct HubConnectionTests {
  @Test(arguments: [
    ("http://127.0.0.1:1", "Connection refused"),
    ("https://name.invalid", "no address is known for the name name.invalid"),
  ])
  func aHubThatIsNotThereIsSaidPlainly(_ address: String, _ reason: String) async throws {
    await #expect(throws: HubFault.unreachable(reason)) { try await HubAccess(at: address).newSpace(SpaceID()) }
  }

  @Test func aSilentConnectionIsClosed() async throws {
    try await withHub(quick(idle: 100)) { hub in
      let answer = try await RawConnection.run(to: hub) { await $0.readToEnd() }
      #expect(answer == "")
    }
  }

  @Test func aHeaderThatDripsEndsTheConnection() async throws {
    try await withHub(quick(idle: 300)) { hub in
      let answer = try await RawConnection.run(to: hub) { connection in
        try await connection.write("GET /health HTTP/1.1\r\nHost: x\r\nX: ")
        return await connection.drip("a")
      }
      #expect(answer == "")
    }
  }

  @Test func aBodyThatDripsEndsTheConnection() async throws {
    try await withHub(quick(body: 300)) { hub in
      let answer = try await RawConnection.run(to: hub) { connection in
        try await connection.write(
          "POST /v1/spaces/00000000000000000000000000000000/members HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        )
        return await connection.drip(" ")
      }
      #expect(!answer.contains("HTTP/1.1 2"))
    }
  }

  @Test func aWaitMayTakeLongerThanAConnectionMayBeIdle() async throws {
    // Long enough that no connection is closed between two requests of the client.
    try await withHub(quick(idle: 5_000, body: 5_000)) { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      _ = try await transport.heads()
      let isChanged = try await transport.waitForChanges(seconds: 8)
      #expect(!isChanged)
    }
  }

  @Test(arguments: ["X: \(String(repeating: "a", count: 20_000))", String(repeating: "X: a\r\n", count: 200)])
  func aHeaderThatIsTooLongIsRefused(_ header: String) async throws {
    try await withHub { hub in
      let answer = try await RawConnection.run(to: hub) { connection in
        try await connection.write("GET /health HTTP/1.1\r\nHost: x\r\n\(header)\r\n\r\n")
        return await connection.readToEnd()
      }
      #expect(answer.hasPrefix("HTTP/1.1 400"))
    }
  }

  @Test(arguments: [true, false])
  func aBodyThatIsTooLongIsRefused(_ saysLength: Bool) async throws {
    try await withHub { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      let (answer, length) = (Bytes(), HubLimits.bodyByteCount + 1)
      try await RawConnection.run(to: hub) { connection in
        let kind = saysLength ? "Content-Length: \(length)" : "Transfer-Encoding: chunked"
        try await connection.write(
          "POST /v1/spaces/\(space)/replicas/\(ReplicaID(UUID()))/segments HTTP/1.1\r\nHost: x\r\n\(kind)\r\n"
            + "Connection: close\r\nAuthorization: Bearer \(token)\r\n\r\n")
        if !saysLength { try await connection.write("\(String(length, radix: 16))\r\n") }
        // The hub answers before the end, and may close the connection.
        try? await connection.write([UInt8](repeating: 0, count: length))
        if !saysLength { try? await connection.write("\r\n0\r\n\r\n") }
        await answer.set(connection.readToEnd())
      }
      let text = await answer.text
      #expect(text.hasPrefix("HTTP/1.1 413"), "\(text.prefix(100))")
    }
  }

  @Test func aBodyThatEndsEarlyStoresNothing() async throws {
    try await withHub { hub in
      let space = SpaceID()
      let token = try await HubAccess(at: hub.url).newSpace(space)
      let name = SealedStream(in: space).snapshot(1, 1)
      let path = "/v1/spaces/\(space)/replicas/\(name.replica)/snapshots/1/0102030405060708/1/0"
      let answer = try await RawConnection.run(to: hub) { connection in
        try await connection.write(
          "PUT \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Length: 100\r\n\r\nhalf")
        connection.finish()
        return await connection.readToEnd()
      }
      #expect(!answer.hasPrefix("HTTP/1.1 2"))
      #expect(try await hub.store.wholePart(0, of: name, in: space) == nil)
    }
  }

  @Test func aHubThatStopsAnswersWhatItHasBegunAndEndsWaits() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    var options = HubOptions()
    options.pause = { for await _ in gate { return } }
    try await withDirectory { directory in
      try await withHub(options, in: directory) { hub in
        let space = SpaceID()
        let token = try await HubAccess(at: hub.url).newSpace(space)
        let transport = HubTransport(at: hub.url, space: space, token: token)
        _ = try await transport.heads()
        let before = try await status(hub, "ready")
        #expect(before == 200)
        async let waiting = try? transport.waitForChanges(seconds: 50)
        await hub.stop()
        while try await status(hub, "ready") == 200 {}
        let (after, health) = (try await status(hub, "ready"), try await status(hub, "health"))
        #expect(after == 503 && health == 200)
        let card = SealedStream(in: space).card()
        try await transport.putCard(card.bytes, of: card.replica, number: 1)
        let answer = try await RawConnection.run(to: hub) { connection in
          // When the first request is answered, the hub has read the start of the second one.
          try await connection.write(
            "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
              + "POST /v1/spaces/00000000000000000000000000000000/members HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"
          )
          return await connection.readToEnd {
            open.yield()
            // From now on the hub takes no connections.
            while (try? await status(hub, "health")) == 200 {}
            try await connection.write("}")
          }
        }
        #expect(answer.contains("HTTP/1.1 400"), "\(answer)")
        _ = await waiting
      }
    }
  }

  private func status(_ hub: RunningHub, _ path: String) async throws -> Int {
    let answer = try await RawConnection.run(to: hub) { connection in
      try await connection.write("GET /\(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      return await connection.readToEnd()
    }
    return Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
  }

  private func quick(idle: Int = 60_000, body: Int = 60_000) -> HubConfiguration {
    var configuration = HubConfiguration()
    (configuration.idleTimeout, configuration.bodyTimeout) = (.milliseconds(idle), .milliseconds(body))
    return configuration
  }

  private actor Bytes {
    var text = ""
    func set(_ text: String) { self.text = text }
  }
}
