import HubStorage
import HubWire
import Hummingbird
import ServiceLifecycle
import TallySync

extension HubService {
  /// Answers with the spaces that have another change than the known one, or without any when the time is over.
  @Sendable func wait(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let message = try await request.message(HubMessage.Wait.self)
    guard message.seconds.isFinite else { throw HTTPError(.badRequest, message: "'seconds' is not a number.") }
    guard (1...HubLimits.mostSpacesOfAWait).contains(message.spaces.count) else {
      throw HTTPError(.badRequest, message: "Name one space at least and \(HubLimits.mostSpacesOfAWait) at most.")
    }
    var known: [SpaceID: UInt64] = [:]
    for (text, wait) in message.spaces {
      let space = try SpaceID(text).orBadRequest("The id of a space is invalid.")
      known[try await member(of: space, token: wait.token).space] = wait.change
    }
    let deadline = ContinuousClock.now + .seconds(min(max(message.seconds, 0), HubLimits.waitInSeconds))
    return try .json(HubMessage.Changes(changes: try await changes(since: known, until: deadline)))
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
        try await waits.wait(for: known, until: deadline) {
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
    let counts = try await store.changeCounts(of: Array(known.keys))
    guard counts.count == known.count else { throw HubStoreError.unavailable("The space is not here now.") }
    return Dictionary(uniqueKeysWithValues: counts.filter { known[$0.key] != $0.value }.map { ("\($0.key)", $0.value) })
  }
}

// MARK: - What ends waits

extension HubService {
  private static let pause = Duration.milliseconds(200)
  /// Every five seconds.
  private static let pausesBeforeComparing = 25

  /// Ends the waits whose time is over, and those for spaces that other hubs have changed, until the hub stops.
  func runWaits() async {
    let following = Task { [store, waits] in
      await store.followOthers { for space in $0 { waits.noteChange(of: space) } }
    }
    var pauses = 0
    while !Task.isCancelled, !waits.isDraining {
      waits.endOverdue()
      measures.setWaiting(waits.count)
      pauses += 1
      if store.isShared, pauses.isMultiple(of: Self.pausesBeforeComparing) { await compare() }
      try? await Task.sleep(for: Self.pause)
    }
    waits.drain()
    following.cancel()
    await following.value
  }

  /// Ends the waits for spaces that others have changed although no announcement has come.
  private func compare() async {
    guard let counts = try? await store.changeCounts(of: waits.spaces) else { return }
    waits.end(whereOtherThan: counts)
  }
}
