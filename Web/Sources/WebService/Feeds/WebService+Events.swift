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

  /// The events of views, each from a version on: a browser has one stream for all of its tabs.
  ///
  /// `?view=today&after=VERSION&view=inbox&after=VERSION`. A view that cannot be followed, as that of a deleted list, gets
  /// the event `gone`, and the others go on.
  @Sendable private func follow(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = try request.query()
    let (names, versions) = (query.all("view"), query.all("after"))
    guard names.count <= Self.largestViewCount, versions.count <= names.count else {
      throw HTTPError(.badRequest, message: "Each view has one version.")
    }
    let views = try names.map { try TaskView(text: $0) }
    guard streams.enter() else {
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "10"], message: "Too many screens are open.")
    }
    let body = ResponseBody { [self] writer in
      defer { streams.leave() }
      try await request.body.consumeWithCancellationOnInboundClose { [self] _ in
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var followed: [(feed: ViewFeed, version: String?)] = []
        for (index, view) in views.enumerated() {
          guard let feed = try? await feeds.feed(of: view) else {
            try await writer.write(try ViewFeed.goneEvent(of: names[index]))
            continue
          }
          await feed.listen(continuation)
          followed.append((feed, index < versions.count ? versions[index] : nil))
        }
        // Comments, so that a browser that has gone is noticed.
        let comments = AsyncTimerSequence(interval: .seconds(15), clock: .continuous).map { _ in false }
        for try await isNews in chain([true].async, merge(news.map { true }, comments)).cancelOnGracefulShutdown() {
          guard isNews else {
            try await writer.write(ByteBuffer(string: ":\n\n"))
            continue
          }
          for index in followed.indices {
            let events = try await followed[index].feed.events(after: followed[index].version)
            followed[index].version = events.version
            for event in events.events { try await writer.write(event) }
          }
        }
        try await writer.finish(nil)
      }
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  /// A browser with more tabs gets no stream.
  static let largestViewCount = 256

  /// The rows that come into view: `?view=today&from=200&count=100`.
  @Sendable private func rows(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = try request.query()
    let view = try TaskView(text: query["view"] ?? "")
    guard let first = Int(query["from"] ?? "0"), let count = Int(query["count"] ?? "100"), first >= 0, count > 0 else {
      throw HTTPError(.badRequest, message: "Rows have numbers.")
    }
    let window = try await feeds.feed(of: view).window(from: first, count: min(count, Self.longestWindowInRows))
    let rows = try window.tasks.map {
      try renderer.html("row", window.frame.rowOrPlace($0, in: view, nested: window.nested))
    }
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
