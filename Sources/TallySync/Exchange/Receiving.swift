import Foundation
import Tally

extension SyncEngine {
  /// Fetches and merges the changes that others have written since the last time.
  ///
  /// - Parameters:
  ///   - content: What the place has.
  ///   - includingSnapshots: Whether to merge snapshots that cover segments which cannot be fetched.
  /// - Returns: The merged changes.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func receive(after content: PlaceContent, includingSnapshots: Bool) async throws -> Received {
    let (own, revocations, hasLost) = try store.readSynchronization { transaction in
      let own = try transaction.requireSyncSettings().replicaID
      return (own, try transaction.revocations(), try transaction.hasLostSegments(content.heads, besides: own))
    }
    if hasLost { try await store.changeSyncSettings { $0.needsSnapshot = true } }
    var received = includingSnapshots ? try await receiveSnapshots() : Received()
    for (replica, head) in content.heads.sorted(by: { $0.key < $1.key }) where replica != own {
      received += try await receive(from: replica, upTo: head.number, cutOff: revocations[replica]?.cutOff.number)
    }
    try await recordHeads(content.heads, besides: own)
    return received
  }

  /// Reads the stream of one replica to its end, or to the first segment that cannot be merged.
  private func receive(from replica: ReplicaID, upTo last: UInt64, cutOff: UInt64?) async throws -> Received {
    var received = Received()
    while true {
      let position = try position(of: replica)
      let number = position.head.number
      // After a file was lost the head is before the merged segments, and more may follow after the gap.
      guard number != last else { return received }
      if let cutOff, number >= cutOff {
        if number < last { try await stop(replica, because: StreamFault.revoked.blockReason, &received) }
        return received
      }
      let segments = try await reach {
        try await transport.segments(of: replica, after: number, byteCount: Self.batchByteCount)
      }
      guard !segments.isEmpty else { return received }
      // Verified before the write begins, so that other writers wait only for the merge.
      let verified = try store.readSynchronization { try $0.open(segments, of: replica, after: position) }
      if !verified.segments.isEmpty { received += try await merge(verified, of: replica, atPlace: last) }
      if let fault = verified.fault { try await stop(replica, because: fault, &received) }
      if received.stopped.contains(replica) { return received }
    }
  }

  private func position(of replica: ReplicaID) throws -> StreamProgress {
    try store.readSynchronization { try $0.streamProgress(of: replica) }
  }

  /// Records how far the streams at the place reach, for the status.
  private func recordHeads(_ heads: [ReplicaID: SegmentHead], besides own: ReplicaID) async throws {
    let known = try store.readSynchronization { try $0.streamProgress() }
    let new = heads.filter { $0.key != own && known[$0.key]?.atPlace != $0.value.number }
    guard !new.isEmpty else { return }
    try await store.write { transaction in
      for (replica, head) in new { try transaction.changeProgress(of: replica) { $0.atPlace = head.number } }
    }
  }

  /// Merges segments; one whose values no task can have stops the stream before it, like one that cannot be verified.
  private func merge(
    _ verified: VerifiedSegments, of replica: ReplicaID, atPlace last: UInt64
  ) async throws -> Received {
    do {
      return try await store.write { try $0.merge(verified, of: replica, atPlace: last) }
    } catch is CodingFault {
      guard verified.segments.count == 1 else { return try await merge(verified.firstHalf, of: replica, atPlace: last) }
      // Each value can be read, but not all of them together: a newer version may have wider limits.
      var received = Received()
      try await stop(replica, because: StreamFault.unreadableValue(of: "task").blockReason, &received)
      return received
    }
  }

  /// Records why the next segment of a replica, or its snapshot, cannot be merged.
  func stop(_ replica: ReplicaID, because blockReason: BlockReason, _ received: inout Received) async throws {
    received.stopped.insert(replica)
    guard try position(of: replica).blockReason != blockReason else { return }
    try await store.write { transaction in
      let now = transaction.now.microsecondsSince1970
      try transaction.changeProgress(of: replica) { $0.set(blockReason, at: now) }
    }
  }

  /// How much of a stream is fetched and merged at once.
  static let batchByteCount = 1 << 20
}

/// Segments of one stream that follow each other, verified and opened.
struct VerifiedSegments: Sendable {
  /// The segments, with their bodies.
  fileprivate(set) var segments: [(envelope: Envelope, body: SegmentBody)] = []
  /// The reason why the segment after them cannot be merged; `nil` if there is none or nothing is wrong.
  fileprivate(set) var fault: BlockReason?

  /// The first half of the segments, without the fault after them.
  fileprivate var firstHalf: VerifiedSegments { VerifiedSegments(segments: Array(segments.prefix(segments.count / 2))) }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether the place has lost segments that were merged here and that no snapshot of this store covers yet.
  fileprivate func hasLostSegments(_ heads: [ReplicaID: SegmentHead], besides own: ReplicaID) throws -> Bool {
    guard try !requireSyncSettings().needsSnapshot else { return false }
    return try streamProgress().contains { replica, progress in
      replica != own && max(heads[replica]?.number ?? 0, progress.covered ?? 0) < progress.head.number
    }
  }

  /// Verifies and opens segments that continue a stream, up to the first one that cannot be verified.
  fileprivate func open(
    _ segments: [[UInt8]], of replica: ReplicaID, after position: StreamProgress
  ) throws -> VerifiedSegments {
    let settings = try requireSyncSettings()
    var (verified, position) = (VerifiedSegments(), position)
    let space = try settings.spaceKeys()
    do {
      for bytes in segments {
        let segment = try open(bytes, of: replica, after: position, in: space)
        position.advance(to: segment.envelope, segment.body, in: settings, at: now.microsecondsSince1970)
        verified.segments.append(segment)
      }
    } catch let fault as EnvelopeFault {
      verified.fault = fault.blockReason
    } catch let fault as StreamFault {
      verified.fault = fault.blockReason
    }
    return verified
  }

  /// Verifies that a segment continues a stream, and opens it.
  private func open(
    _ bytes: [UInt8], of replica: ReplicaID, after position: StreamProgress, in space: SpaceKeys
  ) throws -> (envelope: Envelope, body: SegmentBody) {
    let envelope = try Envelope(parsing: bytes)
    guard envelope.header.label.number == position.head.number + 1 else { throw StreamFault.otherNumber }
    let cutOff = try revocations()[replica]?.cutOff
    if let cutOff, envelope.header.label.number > cutOff.number { throw StreamFault.revoked }
    guard let card = try card(of: replica, in: space) else {
      throw try membership().records.isEmpty ? StreamFault.unknownReplica : .lacksNewKey
    }
    let content = try envelope.open(as: .segment, of: replica, verifying: card.verifyingKey, in: space)
    guard envelope.header.label.link == position.head.hash else { throw StreamFault.brokenChain }
    let position = StreamPosition(envelope)
    if let cutOff, cutOff.number == position.number, cutOff != position { throw StreamFault.brokenChain }
    let body = try SegmentBody(decoding: content, by: replica)
    for change in body.changes { try change.state.requireReadable(as: change.object) }
    return (envelope, body)
  }
}

extension StoreWriteTransaction {
  /// Merges verified segments that continue the stream of a replica; `last` is its last segment at the place.
  fileprivate mutating func merge(
    _ verified: VerifiedSegments, of replica: ReplicaID, atPlace last: UInt64
  ) throws -> Received {
    var position = StreamProgress()
    var (count, conflicts): (Int, [(StoredConflict, Stamp?)]) = (0, [])
    var hasSettlements = false
    let (_, deleted) = try merging(of: replica) { merge, settings, transaction in
      // After the local changes are sealed, which records that they name the stream.
      position = try transaction.streamProgress(of: replica)
      let now = transaction.now.microsecondsSince1970
      position.set(nil, at: now)
      position.atPlace = last
      let detector = ConflictDetector(own: settings.replicaID, former: settings.formerIDs, time: now)
      // No other process advances the stream during the exchange, which has the lock. Should one do so, the condition still
      // prevents that a segment is merged twice.
      for (envelope, body) in verified.segments where envelope.header.label.number == position.head.number + 1 {
        for change in body.changes {
          let known = try merge.join(change.state, to: change.object, in: transaction)
          conflicts += detector.conflicts(of: change, with: known).map { ($0, change.replaced[$0.stateField]) }
          hasSettlements = hasSettlements || change.object.kind == ObjectKey.settlementKind
        }
        position.advance(to: envelope, body, in: settings, at: now)
        settings.byteCountSinceSnapshot += envelope.bytes.count
        count += body.changes.count
      }
      if count > 0 { settings.lastReceived = now }
    }
    try insertConflicts(conflicts)
    try removeConflicts(seenBy: verified.segments.lazy.flatMap(\.body.changes))
    if hasSettlements { try removeSettledConflicts() }
    try setProgress(position, of: replica)
    try recordNamed(in: verified.segments.map(\.body.seen), besides: replica)
    return Received(changeCount: count, deletedTaskIDs: deleted)
  }

  /// Records segments that others have read and this replica has not, so that their absence is noticed.
  private mutating func recordNamed(in seen: [[ReplicaID: SegmentHead]], besides author: ReplicaID) throws {
    let (own, known) = (try requireSyncSettings().replicaID, try streamProgress())
    var named: [ReplicaID: UInt64] = [:]
    for seen in seen { named.merge(seen.mapValues(\.number)) { max($0, $1) } }
    for (replica, number) in named where replica != own && replica != author {
      let progress = known[replica] ?? StreamProgress()
      guard number > max(progress.head.number, progress.named ?? 0) else { continue }
      try changeProgress(of: replica) { $0.named = number }
    }
  }

  /// Joins changes of others with the states, and writes the result.
  ///
  /// Local changes are sealed first, so that their segments name exactly the changes that this replica had seen when it
  /// made them.
  ///
  /// - Parameters:
  ///   - author: The replica that made the changes; `nil` if several did.
  ///   - join: Joins the changes.
  /// - Returns: What the closure returned, and the tasks that the merge has deleted.
  /// - Throws: ``CodingFault`` for values that no object can have; what the store throws.
  mutating func merging<R>(
    of author: ReplicaID? = nil,
    _ join: (inout StateMerge, inout SyncSettings, borrowing StoreWriteTransaction) throws -> R
  ) throws -> (result: R, deletedTaskIDs: [UUID]) {
    var (settings, merge) = (try requireSyncSettings(), try StateMerge(in: self))
    while try Outbox.seal(limit: Outbox.mostSealedAtOnce, with: &merge, &settings, in: &self) {}
    let result = try join(&merge, &settings, self)
    try Outbox.seal(merge.revived, &settings, in: &self)
    let deleted = try merge.finish(in: &self, of: author)
    try setSyncSettings(settings)
    return (result, deleted)
  }

  /// Completes merges that several devices have made: moves tasks that wait for a merged list, and brings back one of
  /// the lists that were merged into each other.
  ///
  /// These writes are sent like local changes, but undo skips them. Replicas that make them at the same time write
  /// the same values.
  mutating func completeListMerges() throws {
    guard try !ListMerges(in: self).isEmpty else { return }
    // Merges the local changes first: a task that somebody has moved on this device no longer waits.
    _ = try merging { _, _, _ in }
    let merges = try ListMerges(in: self)
    guard !merges.isEmpty else { return }
    let time = now.microsecondsSince1970
    var changes: [ObjectChange] = []
    _ = try merging { merge, settings, transaction in
      for object in merges.objects {
        let known = try merge.state(of: object, in: transaction)
        let change = merges.change(of: object, known, at: time, by: settings.replicaID)
        try merge.join(change, to: object, in: transaction)
        changes.append(ObjectChange(of: object, to: change, replacing: known))
      }
    }
    var settings = try requireSyncSettings()
    try Outbox.seal(changes, &settings, in: &self)
    try setSyncSettings(settings)
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

  /// Why the next segment cannot be merged; `nil` if nothing is in its way, or there is none.
  var blockReason: BlockReason? {
    block.map { reason in
      let runs = stride(from: 0, to: (missing?.count ?? 0) - 1, by: 2).compactMap { index in
        missing.flatMap { $0[index] <= $0[index + 1] ? $0[index]...$0[index + 1] : nil }
      }
      // Versions before the kinds stored a sentence only, and a later version may have stored a kind that is unknown here.
      return BlockReason(blockKind.flatMap(BlockReason.Kind.init) ?? .refused, reason, missing: runs)
    }
  }

  /// Records why the next segment cannot be merged.
  ///
  /// - Parameters:
  ///   - blockReason: The reason; `nil` for none.
  ///   - now: The time now, in microseconds since 1970; it counts as the time of the stop, unless the stream had stopped before.
  mutating func set(_ blockReason: BlockReason?, at now: Int64) {
    blockedSince = blockReason == nil ? nil : blockedSince ?? now
    (block, blockKind) = (blockReason?.reason, blockReason?.kind.rawValue)
    missing = blockReason.flatMap { $0.missing.isEmpty ? nil : $0.missing.flatMap { [$0.lowerBound, $0.upperBound] } }
  }
}

/// The merged changes of one step.
struct Received {
  /// Objects, one for each segment in which they are.
  var changeCount = 0
  /// The tasks that are not there any more.
  var deletedTaskIDs: [UUID] = []
  /// The replicas whose next segment, or whose snapshot, is there but cannot be merged.
  var stopped: Set<ReplicaID> = []
  /// Whether a snapshot could not be read, which the next exchange tries again.
  var hasSkipped = false

  static func += (left: inout Received, right: Received) {
    left.changeCount += right.changeCount
    left.deletedTaskIDs += right.deletedTaskIDs
    left.stopped.formUnion(right.stopped)
    left.hasSkipped = left.hasSkipped || right.hasSkipped
  }
}

// Two devices may merge lists without knowing of each other, or one may add a task to a list that another has merged.
// Merging deletes the list, so such a task would land in the inbox. Each merged list therefore has an object that names
// the list which took its tasks, and a replica that sees a task wait for a merged list moves the task there. If lists
// were merged into each other, all of them are deleted; then every replica brings back the same one: the list with the
// smallest id, the oldest.

/// The lists whose tasks must move after lists were merged on several devices.
struct ListMerges {
  /// The lists that must come back.
  private(set) var revived: Set<UUID> = []
  /// The tasks that wait for a merged list, and the list into which each goes.
  private(set) var moves: [UUID: UUID] = [:]

  var isEmpty: Bool { revived.isEmpty && moves.isEmpty }

  init<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    let rows = try transaction.syncValues(under: SyncKey.states + [ObjectKey.listMergeKind])
    guard !rows.isEmpty else { return }
    let table = try StateTable(in: transaction)
    var targets: [UUID: UUID] = [:]
    for id in rows.compactMap({ UUID(bytes: $0.key) }) {
      let state = try table.state(of: ObjectKey(ofMergedList: id), in: transaction)
      targets[id] = state.registers[.mergeTarget].flatMap { UUID(bytes: $0.value) }
    }
    for id in targets.keys where try transaction.list(id) == nil {
      guard let target = try target(of: id, by: targets, in: transaction) else { continue }
      // The tasks of a list that comes back return to it by themselves.
      guard target != id else { continue }
      for (key, _) in try transaction.syncValues(under: SyncKey.displaced + ReplicaID(id).bytes) {
        guard let task = try UUID(bytes: key).flatMap({ try transaction.task($0) }), task.listID == nil else {
          continue
        }
        moves[task.id] = target
      }
    }
  }

  /// The objects that must be written.
  var objects: [ObjectKey] {
    (revived.flatMap { [ObjectKey(isList: true, id: $0), ObjectKey(ofMergedList: $0)] }
      + moves.keys.map { ObjectKey(isList: false, id: $0) }).sorted()
  }

  /// The change to write to one of these objects.
  func change(of object: ObjectKey, _ known: ObjectState, at time: Int64, by replica: ReplicaID) -> ObjectState {
    if object.isList { return known.settingLife(toDeleted: false, at: time, by: replica) }
    let list = object.isTask ? moves[object.id].map { ReplicaID($0).bytes } : nil
    return known.setting(object.isTask ? .list : .mergeTarget, to: list ?? [], at: time, by: replica)
  }

  /// The list that has the tasks of a merged list now; `nil` if that list was deleted, too.
  private mutating func target<Base: ~Copyable>(
    of id: UUID, by targets: [UUID: UUID], in transaction: borrowing StoreTransaction<Base>
  ) throws -> UUID? {
    var (path, next) = ([id], targets[id])
    while let list = next {
      if try transaction.list(list) != nil { return list }
      if let start = path.firstIndex(of: list) {
        let ring = try path[start...].filter { try transaction.deletedList($0) != nil }
        guard let first = ring.min(by: { ReplicaID($0) < ReplicaID($1) }) else { return nil }
        revived.insert(first)
        return first
      }
      path.append(list)
      next = targets[list]
    }
    return nil
  }
}

// MARK: - Finding what is missing

extension SyncEngine {
  /// Records which changes of others are known to exist but cannot be read, for the report and the status.
  ///
  /// Their existence is known from files behind a gap, from segments of third replicas, and from snapshots. Anybody can
  /// write a file name, so a segment that only file names mention counts as long as they are there; one that a replica
  /// has signed is stored. Segments that a complete snapshot covers are not missing, because the stream continues after
  /// it.
  ///
  /// - Parameters:
  ///   - content: What the place has.
  ///   - stopped: The replicas whose next segment is there but cannot be merged; their reasons are already recorded.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func recordBlockReasons(after content: PlaceContent, besides stopped: Set<ReplicaID>) async throws {
    let (settings, known, revoked) = try store.readSynchronization {
      try ($0.requireSyncSettings(), $0.streamProgress(), $0.revocations())
    }
    let incomplete = try await incompleteSnapshots(besides: settings.replicaID, revoked)
    var changed: [ReplicaID: (blockReason: BlockReason?, named: UInt64?)] = [:]
    let replicas = Set(content.heads.keys).union(known.keys).union(incomplete.covered.keys).union(incomplete.unopened)
    for replica in replicas.sorted() where replica != settings.replicaID && !stopped.contains(replica) {
      let progress = known[replica] ?? StreamProgress()
      let (position, end) = (progress.head.number, revoked[replica]?.cutOff.number ?? .max)
      // Segments that a revoked replica wrote after the cut-off are not missing.
      guard position < end else {
        if progress.blockReason != nil { changed[replica] = (nil, progress.named) }
        continue
      }
      let covered = incomplete.covered[replica] ?? 0
      let last = min(max(content.heads[replica]?.number ?? 0, progress.named ?? 0, covered), end)
      let gaps = try await reach { try await transport.gaps(of: replica, after: position, upTo: last) }
        .filter { ($0.numbers?.lowerBound ?? 0) <= end }
      // A device that has read nothing yet cannot know the contents of a snapshot if it can open no part of it.
      let isUnopened = settings.lastReceived == nil && position == 0 && incomplete.unopened.contains(replica)
      let blockReason = BlockReason(gaps, lacksSnapshot: covered > position || isUnopened)
      let named = max(progress.named ?? 0, covered > position ? covered : 0)
      guard blockReason != progress.blockReason || named > progress.named ?? 0 else { continue }
      changed[replica] = (blockReason, named > 0 ? named : nil)
    }
    guard !changed.isEmpty else { return }
    try await store.write { [changed] transaction in
      let now = transaction.now.microsecondsSince1970
      for (replica, (blockReason, named)) in changed {
        try transaction.changeProgress(of: replica) {
          $0.set(blockReason, at: now)
          $0.named = named
        }
      }
    }
  }

  /// The last segments that incomplete snapshots cover, and the authors of snapshots of which no part can be opened.
  private func incompleteSnapshots(
    besides own: ReplicaID, _ revoked: [ReplicaID: EpochRecord.Revocation]
  ) async throws -> (covered: [ReplicaID: UInt64], unopened: Set<ReplicaID>) {
    var (covered, unopened): ([ReplicaID: UInt64], Set<ReplicaID>) = ([:], [])
    for (name, parts) in try await reach({ try await transport.incompleteSnapshots() })
    where name.replica != own && revoked[name.replica] == nil {
      let opener = try store.readSynchronization { try $0.opener(of: name) }
      var summary: SnapshotSummary?
      for number in parts where summary == nil { summary = await opener?.part(number, through: transport)?.summary }
      guard let summary else {
        unopened.insert(name.replica)
        continue
      }
      covered.merge(summary.coverage.mapValues(\.number).filter { $0.key != own }) { max($0, $1) }
    }
    return (covered, unopened)
  }
}
