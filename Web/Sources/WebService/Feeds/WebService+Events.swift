import AsyncAlgorithms
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Tally

extension WebService {
  func addEventRoutes(to router: Router<BasicRequestContext>) {
    router.get("events", use: follow)
    router.get("rows", use: rows)
  }

  /// The events of a view, from a version on.
  ///
  /// `?view=today&after=VERSION`; a browser that reconnects sends the last version that it has seen in `Last-Event-ID`.
  @Sendable private func follow(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = try request.query()
    let feed = try await feeds.feed(of: try TaskView(text: query["view"] ?? ""))
    let start = request.headers["Last-Event-ID"] ?? query["after"]
    guard streams.enter() else {
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "10"], message: "Too many screens are open.")
    }
    let body = ResponseBody { [streams] writer in
      defer { streams.leave() }
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        var version = start
        // Comments, so that a browser that has gone is noticed.
        let comments = AsyncTimerSequence(interval: .seconds(15), clock: .continuous).map { _ in false }
        let news = await feed.listen().map { true }
        for try await isNews in chain([true].async, merge(news, comments)).cancelOnGracefulShutdown() {
          guard isNews else {
            try await writer.write(ByteBuffer(string: ":\n\n"))
            continue
          }
          let events = await feed.events(after: version)
          version = events.version
          for event in events.events { try await writer.write(event) }
        }
        try await writer.finish(nil)
      }
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  /// The rows that come into view: `?view=today&from=200&count=100`.
  @Sendable private func rows(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = try request.query()
    let view = try TaskView(text: query["view"] ?? "")
    guard let first = Int(query["from"] ?? "0"), let count = Int(query["count"] ?? "100"), first >= 0, count > 0 else {
      throw HTTPError(.badRequest, message: "Rows have numbers.")
    }
    let window = try await feeds.feed(of: view).window(from: first, count: min(count, Self.longestWindowInRows))
    let rows = try window.tasks.map { try renderer.html("row", window.frame.row($0, in: view)) }
    return try .json(
      RowsAnswer(version: window.version, count: window.count, completed: window.completedCount, rows: rows))
  }

  /// How many rows are rendered at once.
  static let longestWindowInRows = 200

  private struct RowsAnswer: Encodable {
    let version: String
    let count: Int
    let completed: Int
    let rows: [String]
  }
}
