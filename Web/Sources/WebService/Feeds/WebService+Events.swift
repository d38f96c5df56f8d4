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

  /// The stream of events for a browser's pages: the views that they show, each from a version on, and their
  /// surroundings.
  ///
  /// `?view=today&after=VERSION&view=inbox&after=VERSION&places=VERSION&agenda=VERSION&store=VERSION`, with the parts
  /// that the page shows. A browser that connects again with the same address sends the last version of its view, or of
  /// the store, in `Last-Event-ID`.
  @Sendable func follow(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let (query, rules) = (try request.query(), DayRules(request))
    let seen = try SeenVersions(query, lastEventID: request.headers["Last-Event-ID"])
    guard let place = streams.enter() else {
      throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "10"], message: "Too many screens are open.")
    }
    let body = ResponseBody { [self] writer in
      try await request.body.consumeWithCancellationOnInboundClose { [self] _ in
        var seen = seen
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var followed: [Followed] = []
        for view in seen.views {
          guard let feed = try? await feeds.feed(of: view.view, by: rules) else {
            try await writer.write(try ViewFeed.goneEvent(of: view.view))
            continue
          }
          await feed.listen(continuation)
          followed.append(Followed(feed: feed, version: view.version))
        }
        let around = await feeds.surroundings(by: rules)
        await around.listen(continuation, forAgenda: seen.agenda != nil)
        // A comment that cannot be sent shows that the browser has gone.
        let comments = AsyncTimerSequence(interval: .seconds(15), clock: .continuous).map { _ in Wake.comment }
        let wakes = chain([Wake.start].async, merge(chain(news.map { _ in Wake.news }, [.end].async), comments))
        for try await wake in wakes.cancelOnGracefulShutdown() {
          if wake == .end { break }
          guard wake != .comment else {
            try await writer.write(ByteBuffer(string: ":\n\n"))
            continue
          }
          for index in followed.indices {
            let answer = try await followed[index].feed.events(after: followed[index].version)
            followed[index].version = answer.version
            for event in answer.events { try await writer.write(event) }
          }
          let state = try await around.state(withAgenda: seen.agenda != nil, isFresh: wake == .start)
          for event in seen.advance(to: state) { try await writer.write(ByteBuffer(string: event)) }
        }
        try await writer.finish(nil)
      }
      withExtendedLifetime(place) {}
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  private struct Followed {
    let feed: ViewFeed
    var version: String?
  }

  private enum Wake {
    case start
    case news
    case comment
    /// A followed view has failed: the stream ends, and the browser connects again.
    case end
  }

  /// The rows that come into view: `?view=today&from=200&count=100`.
  @Sendable private func rows(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = try request.query()
    let view = try TaskView(text: query["view"] ?? "")
    guard let first = Int(query["from"] ?? "0"), let count = Int(query["count"] ?? "100"), first >= 0, count > 0 else {
      throw HTTPError(.badRequest, message: "The numbers of the rows are missing or invalid.")
    }
    let window = try await feeds.feed(of: view, by: DayRules(request)).window(
      from: first, count: min(count, Self.longestWindowInRows))
    let rows = try window.tasks.map {
      try renderer.html("row", window.frame.rowOrPlace($0, in: view, nested: window.nested))
    }
    return try .json(
      RowsAnswer(version: window.version, count: window.count, completed: window.completedCount, rows: rows))
  }

  /// The most rows of one answer.
  static let longestWindowInRows = 200

  private struct RowsAnswer: Encodable {
    let version: String
    let count: Int
    let completed: Int
    let rows: [String]
  }
}
