import AsyncHTTPClient
import Foundation
import HubClient
import HubMetrics
import HubSamples
import HubService
import HubStorage
import HubWire
import NIOCore
import NIOHTTP1
import TallySync
import Testing

/// Long answers come in pages, clients that read nothing are bounded, and strangers may only send short bodies.
@Suite(.timeLimit(.minutes(10)))
struct HubFlowTests {
  @Test(arguments: HubKind.allCases)
  func longAnswersAreWhole(_ kind: HubKind) async throws {
    try await withHub(of: kind) { hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let token = try await access.newSpace(space)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      var cards: [ReplicaID: [UInt8]] = [:]
      for _ in 0..<20 {
        var card = SealedStream(in: space).card()
        card.bytes = SealedStream(in: space, of: card.replica).largeCard(60_000)
        try await transport.putCard(card.bytes, of: card.replica, number: 1)
        cards[card.replica] = card.bytes
      }
      #expect(try await transport.cards() == cards)
      var stream = SealedStream(in: space)
      let sizes = [100, 300_000, 50_000, 200_000, 3_000_000, 64, 900_000, 64]
      let segments = sizes.flatMap { stream.next(1, bodyByteCount: $0) }
      for segment in segments { _ = try await transport.append([segment], of: stream.replica) }
      for byteCount in [1, 100_000, 1 << 20, 8 << 20] {
        var read: [[UInt8]] = []
        while read.count < segments.count {
          let next = try await transport.segments(of: stream.replica, after: UInt64(read.count), byteCount: byteCount)
          try #require(!next.isEmpty)
          read += next
        }
        #expect(read == segments)
      }
      let all = try await allSegments(of: space, token, at: hub)
      #expect(all == segments)
      let name = stream.snapshot(1, 1)
      try await transport.putPart(segments[4], number: 0, of: name)
      #expect(try await transport.part(0, of: name) == segments[4])
      let empty = stream.snapshot(2, 1)
      try await transport.putPart([], number: 0, of: empty)
      #expect(try await transport.part(0, of: empty) == [])
      await #expect(throws: HubFault.self) { try await transport.part(0, of: stream.snapshot(3, 1)) }
    }
  }

  @Test func whoReadsNothingIsBoundedAndOthersAreAnswered() async throws {
    var small = HubConfiguration()
    (small.bytesInFlightOfMember, small.bytesInFlight) = (1 << 20, 8 << 20)
    let metrics = PrometheusMetrics(help: HubMeasures.help)
    try await withHub(small, metrics: metrics) { [small] hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let owner = try await access.newSpace(space)
      let invitation = try await access.invite(to: space, role: .writer, validInSeconds: 60, token: owner)
      let other = try await access.join(invitation, to: space)
      var stream = SealedStream(in: space)
      let segments = stream.next(1, bodyByteCount: 7_000_000)
      _ = try await HubTransport(at: hub.url, space: space, token: owner).append(segments, of: stream.replica)
      let path = "/v1/spaces/\(space)/replicas/\(stream.replica)/segments?bytes=8000000"
      try await withUnread(40, path, owner, at: hub) {
        // Each of them alone would hold two pages of 64 KiB at least.
        let most = Double(small.bytesInFlightOfMember)
        var bytes = 0.0
        try await metrics.wait {
          bytes = $0["tally_hub_bytes_in_flight"] ?? 0
          return bytes > most / 2
        }
        // A page that is handed to its connection counts twice for a moment.
        #expect(bytes <= most * 1.25)
        // Another member gets all of it meanwhile.
        let transport = HubTransport(at: hub.url, space: space, token: other)
        let read = try await transport.segments(of: stream.replica, after: 0, byteCount: 8_000_000)
        #expect(read == segments)
      }
    }
  }

  @Test(arguments: ["", "wrong"], [HubLimits.messageByteCount + 1, 1_000_000])
  func aStrangersWaitIsRefusedBeforeItsEnd(_ token: String, length: Int) async throws {
    try await withHub { hub in
      let answer = try await RawConnection.run(to: hub) { connection in
        let field = token.isEmpty ? "" : "Authorization: Bearer \(token)\r\n"
        try await connection.write(
          "POST /v1/wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(field)Content-Length: \(length)\r\n\r\n")
        return await connection.readToEnd()
      }
      #expect(answer.hasPrefix(token.isEmpty ? "HTTP/1.1 413" : "HTTP/1.1 401"))
    }
  }

  @Test func oneMemberHasSoManyWaits() async throws {
    var strict = HubConfiguration()
    strict.mostWaits = 2
    try await withHub(strict) { hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let token = try await access.newSpace(space)
      let transports = (0..<5).map { _ in HubTransport(at: hub.url, space: space, token: token) }
      for transport in transports { _ = try await transport.heads() }
      let faults = try await withThrowingTaskGroup(of: HubFault?.self) { group in
        for transport in transports {
          group.addTask {
            do {
              _ = try await transport.waitForChanges(seconds: 50)
              return nil
            } catch let fault as HubFault {
              return fault
            }
          }
        }
        var faults: [HubFault?] = []
        for try await fault in group {
          faults.append(fault)
          // The others wait until something changes.
          guard faults.count == 3 else { continue }
          let card = SealedStream(in: space).card()
          try await transports[0].putCard(card.bytes, of: card.replica, number: 1)
        }
        return faults
      }
      #expect(faults.prefix(3).allSatisfy { if case .tooMany = $0 { true } else { false } })
      #expect(faults.suffix(2) == [nil, nil])
    }
  }

  /// Runs a body beside connections that ask for something and read nothing.
  private func withUnread(
    _ count: Int, _ path: String, _ token: String, at hub: RunningHub, _ body: () async throws -> Void
  ) async throws {
    guard count > 0 else { return try await body() }
    try await RawConnection.run(to: hub) { connection in
      try await connection.write("GET \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n")
      try await withUnread(count - 1, path, token, at: hub, body)
    }
  }

  /// All segments of a space, read by the positions that the hub returns.
  private func allSegments(of space: SpaceID, _ token: String, at hub: RunningHub) async throws -> [[UInt8]] {
    var (segments, position): ([[UInt8]], String) = ([], "0")
    while true {
      var request = HTTPClientRequest(url: "\(hub.url)/v1/spaces/\(space)/segments?after=\(position)&bytes=4000000")
      request.headers.add(name: "Authorization", value: "Bearer \(token)")
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
      let bytes = Array(try await response.body.collect(upTo: 1 << 24).readableBytesView)
      guard !bytes.isEmpty else { return segments }
      segments += try #require(SegmentFrame.split(bytes)).map(\.bytes)
      position = try #require(response.headers.first(name: "Tally-Position"))
    }
  }
}
