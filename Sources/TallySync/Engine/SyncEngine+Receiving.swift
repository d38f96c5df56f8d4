import Foundation
import Tally

extension SyncEngine {
  /// Fetches and merges what others have written since the last time.
  ///
  /// - Parameters:
  ///   - look: What the place has.
  ///   - takingSnapshots: Whether to look for snapshots of what cannot be fetched.
  /// - Returns: The merged changes.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func receive(after look: Look, takingSnapshots: Bool) async throws -> Received {
    let (own, revocations) = try await store.write { transaction in
      let own = try transaction.requireSyncSettings().replicaID
      try transaction.note(look.heads, besides: own)
      return (own, try transaction.revocations())
    }
    var received = takingSnapshots ? try await receiveSnapshots() : Received()
    for (replica, head) in look.heads.sorted(by: { $0.key < $1.key }) where replica != own {
      received += try await receive(from: replica, upTo: head.number, cutOff: revocations[replica]?.cutOff.number)
    }
    return received
  }

  /// Reads the stream of one replica until its end, or to the first segment that cannot be taken.
  private func receive(
    from replica: ReplicaID, upTo last: UInt64, cutOff: UInt64?
  ) async throws -> Received {
    var received = Received()
    while true {
      let number = try await store.write { try $0.streamProgress()[replica]?.head.number ?? 0 }
      // After a file was lost the head is behind the merged segments, and more may follow behind the gap.
      guard number != last else { return received }
      if let cutOff, number >= cutOff {
        if number < last { try await block(replica, because: StreamFault.revoked.description) }
        return received
      }
      let segments = try await reach {
        try await transport.segments(of: replica, after: number, byteCount: Self.batchByteCount)
      }
      guard !segments.isEmpty else {
        if number < last { try await block(replica, because: StreamFault.notWhole.description) }
        return received
      }
      let merged = try await merge(segments, of: replica)
      received += merged
      if merged.isBlocked { return received }
    }
  }

  /// Merges segments; one whose values no task can have stops the stream before it, like one that cannot be verified.
  private func merge(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> Received {
    do {
      return try await store.write { try $0.merge(segments, of: replica) }
    } catch is CodingFault {
      guard segments.count == 1 else { return try await merge(Array(segments.prefix(segments.count / 2)), of: replica) }
      try await block(replica, because: EnvelopeFault.malformed(.impossibleValue).description)
      return Received(isBlocked: true)
    }
  }

  /// Remembers why the next segment of a replica is not taken.
  private func block(_ replica: ReplicaID, because reason: String) async throws {
    try await store.write { transaction in
      var progress = try transaction.streamProgress()[replica] ?? StreamProgress()
      guard progress.block != reason else { return }
      progress.block = reason
      try transaction.setProgress(progress, of: replica)
    }
  }

  /// How much of a stream is fetched and merged at once.
  static let batchByteCount = 1 << 20
}

extension StoreWriteTransaction {
  /// Remembers what the place has, for the status; a place that has lost segments that were merged here needs a snapshot.
  fileprivate mutating func note(_ heads: [ReplicaID: SegmentHead], besides own: ReplicaID) throws {
    let known = try streamProgress()
    for (replica, head) in heads where replica != own {
      var progress = known[replica] ?? StreamProgress()
      guard progress.atPlace != head.number else { continue }
      progress.atPlace = head.number
      try setProgress(progress, of: replica)
    }
    let hasLost = known.contains { replica, progress in
      replica != own && max(heads[replica]?.number ?? 0, progress.covered ?? 0) < progress.head.number
    }
    if hasLost { try changeSyncSettings { $0.needsSnapshot = true } }
  }

  /// Merges segments that continue the stream of a replica, up to the first one that cannot be verified.
  fileprivate mutating func merge(_ segments: [[UInt8]], of replica: ReplicaID) throws -> Received {
    var position = StreamProgress()
    var (count, conflicts): (Int, [(StoredConflict, Stamp?)]) = (0, [])
    var hasSettlements = false
    let (_, deleted) = try merging(of: replica) { merge, settings, transaction in
      // After the local changes are sealed, which notes that they name the stream.
      position = try transaction.streamProgress()[replica] ?? StreamProgress()
      position.block = nil
      let now = transaction.now.microsecondsSince1970
      let detector = ConflictDetector(own: settings.replicaID, former: settings.formerIDs, time: now)
      do {
        for bytes in segments {
          let (envelope, body) = try transaction.open(bytes, of: replica, after: position, in: settings)
          for change in body.changes {
            let known = try merge.join(change.state, to: change.object, in: transaction)
            conflicts += detector.conflicts(of: change, with: known).map { ($0, change.replaced[$0.stateField]) }
            hasSettlements = hasSettlements || change.object.kind == ObjectKey.settlementKind
          }
          position.advance(to: envelope, body, in: settings, at: now)
          settings.byteCountSinceSnapshot += bytes.count
          count += body.changes.count
        }
      } catch let fault as EnvelopeFault {
        position.block = fault.description
      } catch let fault as StreamFault {
        position.block = fault.description
      }
      if count > 0 { settings.lastReceived = now }
    }
    try keep(conflicts)
    if hasSettlements { try removeSettledConflicts() }
    try setProgress(position, of: replica)
    return Received(changeCount: count, deletedTaskIDs: deleted, isBlocked: position.block != nil)
  }

  /// Verifies that a segment continues a stream, and opens it.
  fileprivate func open(
    _ bytes: [UInt8], of replica: ReplicaID, after position: StreamProgress, in settings: SyncSettings
  ) throws -> (Envelope, SegmentBody) {
    let envelope = try Envelope(parsing: bytes)
    guard envelope.header.label.number == position.head.number + 1 else { throw StreamFault.otherNumber }
    let cutOff = try revocations()[replica]?.cutOff
    if let cutOff, envelope.header.label.number > cutOff.number { throw StreamFault.revoked }
    guard let card = try card(of: replica) else {
      throw try membership().records.isEmpty ? StreamFault.unknownReplica : .lacksNewKey
    }
    let content = try envelope.open(
      as: .segment, of: replica, verifying: card.verifyingKey, in: settings.spaceKeys())
    guard envelope.header.label.link == position.head.hash else { throw StreamFault.brokenChain }
    let position = StreamPosition(envelope)
    if let cutOff, cutOff.number == position.number, cutOff != position { throw StreamFault.brokenChain }
    return (envelope, try SegmentBody(decoding: content, by: replica))
  }
}

extension StreamProgress {
  fileprivate mutating func advance(
    to envelope: Envelope, _ body: SegmentBody, in settings: SyncSettings, at now: Int64
  ) {
    head = StreamPosition(envelope)
    lastSeen = body.sealedAt
    hasSeen = max(hasSeen, body.seen[settings.replicaID]?.number ?? 0)
    compareClocks(sealedAt: body.sealedAt, seenAt: settings.sealTimes?[hasSeen], now: now)
  }
}

/// The merged changes of one step.
struct Received {
  /// Objects, one for each segment in which they are.
  var changeCount = 0
  /// The tasks that are not there any more.
  var deletedTaskIDs: [UUID] = []
  /// Whether the next segment cannot be taken.
  var isBlocked = false
  /// Whether a snapshot could not be read, which the next exchange tries again.
  var hasSkipped = false

  static func += (left: inout Received, right: Received) {
    left.changeCount += right.changeCount
    left.deletedTaskIDs += right.deletedTaskIDs
    left.hasSkipped = left.hasSkipped || right.hasSkipped
  }
}
