import AsyncAlgorithms
import Foundation
import Hummingbird
import ServiceLifecycle
import Tally

/// What changes: the stream of changes, and undoing one of them.
struct ChangeRoutes {
  let store: TaskStore

  private struct Undone: Encodable {
    let tasks: [TaskItem]
    let deletedTasks: [TaskItem]
    let lists: [TaskList]
    let deletedLists: [TaskList]
  }

  func add(to router: Router<BasicRequestContext>) {
    router.get("changes", use: follow)
    router.post("undo/:change") { [store] _, context in
      let change = try ChangeID(text: try context.parameters.require("change"))
      let result = try await store.write { try $0.undo(change) }
      return Answer(
        value: Undone(
          tasks: result.tasks, deletedTasks: result.deletedTasks, lists: result.lists,
          deletedLists: result.deletedLists))
    }
  }

  /// Server-sent events, one for each set of changes, until the client or the service ends.
  ///
  /// The id of an event is a position in the store's history. A client that comes back with it misses nothing, also
  /// after a restart of the service: the store keeps what changed, the service nothing.
  @Sendable private func follow(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    let token = request.headers["Last-Event-ID"] ?? request.uri.queryParameters.get("since")
    let start = try token.map { try StorePosition(text: $0) } ?? store.read { try $0.position }
    let changes = try store.changes(since: start).map { changes in
      "id: \(changes.position.text)\ndata: \(String(decoding: try JSONEncoder().encode(changes), as: UTF8.self))\n\n"
    }
    // Comments, so that nobody in between takes the connection for dead.
    let comments = AsyncTimerSequence(interval: .seconds(15), clock: .continuous).map { _ in ":\n\n" }
    let events = merge(changes, comments).cancelOnGracefulShutdown()
    let body = ResponseBody { writer in
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        // An id without data is not an event; but from now on the client knows where it is.
        try await writer.write(ByteBuffer(string: "id: \(start.text)\n\n"))
        for try await event in events { try await writer.write(ByteBuffer(string: event)) }
        try await writer.finish(nil)
      }
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
  }
}
