import ArgumentParser
import AsyncHTTPClient
import Foundation
import HubClient
import HubSamples
import HubWire
import NIOCore
import NIOHTTP1
import TallySync

/// Clients with a space each append to it, several segments with each request.
struct AppendLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "append")

  @OptionGroup var hub: HubOptions
  @Option var clients = 32
  @Option(help: "Segments in a request.") var batch = 16
  @Option(help: "Bytes of the body of a segment.") var body = 256
  @Option var seconds = 10.0

  func run() async throws {
    let access = HubAccess(at: hub.url)
    let start = ContinuousClock.now
    let deadline = start + .seconds(seconds)
    let durations = try await withThrowingTaskGroup(of: Durations.self) { group in
      for _ in 0..<clients {
        let space = SpaceID()
        let token = try await access.createSpace(space, account: hub.account).token
        group.addTask { [batch, body, url = hub.url] in
          let stream = SealedStream(in: space)
          let target = "\(url)/v1/spaces/\(space)/replicas/\(stream.replica)/segments"
          return try await Self.append(stream, batch, body, to: target, token, until: deadline)
        }
      }
      return try await group.reduce(into: Durations()) { $0.append(contentsOf: $1) }
    }
    try printFigures([
      "rate": Double(durations.count * batch) / seconds, "p50": durations.milliseconds(0.5),
      "p99": durations.milliseconds(0.99),
    ])
  }

  private static func append(
    _ stream: SealedStream, _ batch: Int, _ body: Int, to target: String, _ token: String,
    until deadline: ContinuousClock.Instant
  ) async throws -> Durations {
    var (stream, durations) = (stream, Durations())
    while ContinuousClock.now < deadline {
      var request = HTTPClientRequest(url: target)
      request.method = .POST
      request.headers.add(name: "Authorization", value: "Bearer \(token)")
      request.body = .bytes(ByteBuffer(bytes: stream.next(batch, bodyByteCount: body).joined()))
      let start = ContinuousClock.now
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
      guard response.status == .ok else { throw Refused(description: "the hub answers \(response.status)") }
      _ = try await response.body.collect(upTo: 1 << 20)
      durations.append(.now - start)
    }
    return durations
  }

  private struct Refused: Error, CustomStringConvertible {
    let description: String
  }
}
