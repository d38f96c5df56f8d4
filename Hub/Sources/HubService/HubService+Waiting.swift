import HubStorage
import HubWire
import Hummingbird
import ServiceLifecycle
import TallySync

extension HubService {
  /// `GET /v1/wait?SPACE=CHANGE&SPACE=CHANGE&seconds=50` answers with the spaces that have another change, or without any when the
  /// time is over.
  @Sendable func wait(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(of: request)
    let given = try request.number("seconds", as: Double.self) ?? 50
    guard given.isFinite else { throw HTTPError(.badRequest, message: "'seconds' is not a number.") }
    let seconds = min(max(given, 0), HubLimits.waitInSeconds)
    var known: [SpaceID: UInt64] = [:]
    for (key, value) in request.uri.queryParameters where key != "seconds" {
      let space = try SpaceID(String(key)).orBadRequest("The id of a space is invalid.")
      known[space] = try UInt64(String(value)).orBadRequest("The change of a space is not a number.")
    }
    guard !known.isEmpty else { throw HTTPError(.badRequest, message: "Name a space, with the change that is known.") }
    guard known.keys.allSatisfy({ $0 == member.space }) else {
      throw HTTPError(.forbidden, message: "The token is that of a member of another space.")
    }
    let changes = try await changes(since: known, until: .now + .seconds(seconds))
    return try .json(HubMessage.Changes(changes: changes))
  }

  /// Waits for a change.
  ///
  /// A service that stops waits for its requests first, so these must end by themselves.
  private func changes(
    since known: [SpaceID: UInt64], until deadline: ContinuousClock.Instant
  ) async throws -> [String: UInt64] {
    try await withGracefulShutdownHandler {
      var changes: [String: UInt64] = [:]
      repeat {
        try await waits.wait(for: Array(known.keys), until: deadline) {
          changes = try await self.changes(since: known)
          return !changes.isEmpty
        }
        if changes.isEmpty { changes = try await self.changes(since: known) }
      } while changes.isEmpty && ContinuousClock.now < deadline && !waits.isDraining && !Task.isCancelled
      return changes
    } onGracefulShutdown: {
      self.waits.drain()
    }
  }

  private func changes(since known: [SpaceID: UInt64]) async throws -> [String: UInt64] {
    var changes: [String: UInt64] = [:]
    for (id, change) in known {
      guard let space = try await store.space(id) else { throw HubStoreError.noSpace }
      if space.changeCount != change { changes["\(id)"] = space.changeCount }
    }
    return changes
  }
}
