import Foundation
import HubStorage
import HubWire
import Hummingbird
import ServiceLifecycle
import TallySync

extension HubService {
  /// Answers with the spaces that have changed since the known change, or with none when the time is over.
  ///
  /// The tokens are in the body. A request whose header does not say who sends it may only have a short body.
  @Sendable func wait(_ request: Request, _ context: HubContext) async throws -> Response {
    var sender: HubMember?
    if !request.token.isEmpty, case .member(let member) = try await grant(of: request.token, in: nil, from: context) {
      try take(for: member)
      context.assign(to: member.id, in: flows)
      sender = member
    }
    let message = try await message(
      HubMessage.Wait.self, request, context, upTo: sender == nil ? HubLimits.messageByteCount : HubLimits.waitByteCount
    )
    guard message.seconds.isFinite else { throw HTTPError(.badRequest, message: "'seconds' is not a number.") }
    guard (1...HubLimits.mostSpacesOfAWait).contains(message.spaces.count) else {
      throw HTTPError(.badRequest, message: "Name from one to \(HubLimits.mostSpacesOfAWait) spaces.")
    }
    var (known, members): ([SpaceID: UInt64], Set<UUID>) = ([:], [])
    for (text, wait) in message.spaces {
      let space = try SpaceID(text).orBadRequest("The id of a space is invalid.")
      // The request has already been counted for its sender.
      let isSender = wait.token == request.token && sender?.space == space
      members.insert(try await isSender ? sender?.id ?? UUID() : member(of: space, token: wait.token, from: context).id)
      known[space] = wait.change
    }
    // The body is no longer needed.
    flows.endRequest(of: context.channel)
    let deadline = ContinuousClock.now + .seconds(min(max(message.seconds, 0), HubLimits.waitInSeconds))
    guard waits.begin(for: members, most: configuration.mostWaits) else {
      throw HTTPError(.tooManyRequests, headers: [.retryAfter: "60"], message: "Too many requests of this device wait.")
    }
    defer { waits.end(for: members) }
    let start = ContinuousClock.now
    let changes = try await changes(since: known, until: deadline)
    if ContinuousClock.now > start + Self.pause {
      // A member that was revoked while it waited gets an error that says so.
      for (text, wait) in message.spaces where changes[text] != nil {
        _ = try await grant(of: wait.token, in: SpaceID(text), from: context)
      }
    }
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
    guard counts.count == known.count else { throw HubStoreError.unavailable("The space is being moved.") }
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
      flows.endOverdue()
      measures.setWaiting(waits.count)
      pauses += 1
      if pauses % Self.pausesBeforeComparing == 1 {
        if store.isShared { await compare() }
        var gauges = (try? await store.gauges()) ?? [:]
        gauges["tally_hub_bytes_in_flight"] = Double(flows.count)
        measures.set(gauges)
      }
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
