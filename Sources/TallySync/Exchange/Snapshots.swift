import Foundation
import Tally

extension SyncEngine {
  /// Merges snapshots that cover segments which cannot be fetched.
  ///
  /// A replica that joins, was away for long, or follows one whose segments were lost has no other way. Merging a snapshot is
  /// safe at any time.
  ///
  /// - Returns: The merged changes.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func receiveSnapshots() async throws -> Received {
    let (own, revoked) = try store.readSynchronization { try ($0.requireSyncSettings().replicaID, $0.revocations()) }
    let names = try await reach { try await transport.snapshots() }
    var received = Received()
    for name in names where name.replica != own && revoked[name.replica] == nil {
      let isKnown = try store.readSynchronization { try $0.syncValue(forKey: SyncKey.snapshots + name.key) != nil }
      guard !isKnown else { continue }
      guard let first = try await openPart(0, of: name) else {
        received.hasSkipped = true
        if try await isOfNewerVersion(name) {
          try await stop(name.replica, because: EnvelopeFault.needsNewerVersion.blockReason, &received)
        }
        continue
      }
      switch try await need(of: first.summary) {
      case .later: continue
      case .never: break
      case .now:
        guard let merged = try await merge(name, first: first, &received) else {
          received.hasSkipped = true
          continue
        }
        received += merged
      }
      try await store.write { try $0.setSyncValue([], forKey: SyncKey.snapshots + name.key) }
    }
    return received
  }

  private enum Need {
    case now, later, never
  }

  /// Whether a snapshot covers something that this replica lacks and cannot fetch segment by segment.
  private func need(of summary: SnapshotSummary) async throws -> Need {
    let (own, positions, revoked) = try store.readSynchronization {
      try ($0.requireSyncSettings().replicaID, $0.streamProgress(), $0.revocations())
    }
    var need = Need.never
    for (replica, covered) in summary.coverage where replica != own {
      let position = positions[replica] ?? StreamProgress()
      guard covered.number > position.head.number else { continue }
      // A device that joins need not read the whole history.
      if position.block != nil || position.head.number == 0 { return .now }
      // Segments after the cut-off may be at the place, but are not merged.
      if let cutOff = revoked[replica]?.cutOff.number, position.head.number >= cutOff { return .now }
      let next = try await reach {
        try await transport.segments(of: replica, after: position.head.number, byteCount: 1)
      }
      if next.isEmpty { return .now }
      need = .later
    }
    return need
  }

  /// A part of a snapshot; `nil` if it is not there or cannot be verified.
  func openPart(_ number: Int, of name: SnapshotName) async throws -> SnapshotPart? {
    try await store.readSynchronization { try $0.opener(of: name) }?.part(number, through: transport)
  }

  /// Whether only a newer version can read the first part of a snapshot.
  private func isOfNewerVersion(_ name: SnapshotName) async throws -> Bool {
    guard let opener = try store.readSynchronization({ try $0.opener(of: name) }),
      let bytes = try? await transport.part(0, of: name)
    else { return false }
    do throws(EnvelopeFault) {
      _ = try opener.part(0, in: bytes)
      return false
    } catch {
      return error == .needsNewerVersion
    }
  }

  /// Merges the parts of a snapshot; when all are merged, its streams continue after it.
  ///
  /// Each part is fetched, verified and decoded while the one before it is merged.
  ///
  /// - Returns: The merged changes; `nil` if a part is missing, or has a value that no object can have.
  private func merge(_ name: SnapshotName, first: SnapshotPart, _ stopped: inout Received) async throws -> Received? {
    let sent = try await sentSegments(besides: first.summary)
    guard let opener = try store.readSynchronization({ try $0.opener(of: name) }) else { return nil }
    let (reading, numbers) = try await store.write { transaction in
      (try SnapshotReading(first.summary, sent, in: transaction), try transaction.number(replicasOf: first))
    }
    // The last part has the lists: where tasks arrive before their list, each of them is shown elsewhere and then moved.
    let last = name.partCount - 1
    var received = Received()
    var part =
      last == 0 ? OpenedPart(first, numbers) : await opener.prepared(last, through: transport, with: numbers)
    for number in 0..<name.partCount {
      // A part of another attempt to publish it has another summary.
      guard let current = part, current.part.summary == first.summary else { return nil }
      async let next =
        number == last
        ? nil : number == 0 ? OpenedPart(first, numbers) : opener.prepared(number, through: transport, with: numbers)
      do {
        received += try await store.write { try $0.merge(current, reading) }
      } catch is CodingFault {
        try await stop(name.replica, because: current.part.blockReason, &stopped)
        return nil
      }
      part = await next
    }
    try await store.write { try $0.cover(first.summary, by: name.replica) }
    return received
  }

  /// The segments of this replica that a snapshot does not cover, as far as the place has them.
  private func sentSegments(besides summary: SnapshotSummary) async throws -> [[UInt8]] {
    let settings = try store.requireSyncSettings()
    var sent: [[UInt8]] = []
    _ = try await readOwnSegments(after: summary.coverage[settings.replicaID]?.number ?? 0, settings) { sent += $0 }
    return sent
  }

  /// Reads the acknowledged segments of this replica behind a number from the place, and passes them to a closure.
  ///
  /// - Returns: Whether the place has returned all of them.
  func readOwnSegments(
    after number: UInt64, _ settings: SyncSettings, _ body: ([[UInt8]]) -> Void = { _ in }
  ) async throws -> Bool {
    var number = number
    while number < settings.acknowledged.number {
      let segments = try await reach {
        try await transport.segments(of: settings.replicaID, after: number, byteCount: Self.batchByteCount)
      }
      guard !segments.isEmpty else { return false }
      body(segments)
      number += UInt64(segments.count)
    }
    return true
  }

  /// Publishes a snapshot if the segments since the last one are as large as it would be, or the place has lost some.
  ///
  /// - Returns: Whether it was published.
  func publishSnapshotIfDue() async throws -> Bool {
    let settings = try store.requireSyncSettings()
    let least = max(Self.leastByteCount, settings.snapshot?.byteCount ?? 0)
    guard settings.needsSnapshot || settings.byteCountSinceSnapshot >= least else { return false }
    let draft = try await store.write { try $0.draftSnapshot() }
    var byteCount = 0
    try await draft.forEachPart { number, part in
      byteCount += part.count
      try await reach { try await transport.putPart(part, number: number, of: draft.name) }
    }
    try await store.write { [byteCount] in try $0.recordPublished(draft.name, byteCount: byteCount) }
    return true
  }

  /// With fewer bytes of segments since the last one, a snapshot is not worth its files.
  private static let leastByteCount = 1 << 20
}

extension SnapshotName {
  /// The key that identifies it among the merged snapshots.
  fileprivate var key: [UInt8] { replica.bytes + number.bigEndianBytes + digest }
}

/// Verifies and opens the parts of a snapshot, without the store.
struct SnapshotOpener: Sendable {
  let name: SnapshotName
  let verifyingKey: VerifyingKey
  let keys: SpaceKeys

  /// Verifies and opens a part.
  ///
  /// - Throws: ``EnvelopeFault`` if the bytes are not that part.
  func content(of bytes: [UInt8], _ number: Int) throws(EnvelopeFault) -> [UInt8] {
    let envelope = try Envelope(parsing: bytes)
    guard envelope.header.label.number == UInt64(number), envelope.header.label.link.bytes.starts(with: name.digest)
    else { throw .wrongKind }
    return try envelope.open(as: .snapshotPart, of: name.replica, verifying: verifyingKey, in: keys)
  }

  /// Verifies, opens and decodes a part.
  func part(_ number: Int, in bytes: [UInt8]) throws(EnvelopeFault) -> SnapshotPart {
    let part = try SnapshotPart(decoding: content(of: bytes, number), by: name.replica)
    guard part.summary.partCount == name.partCount, part.summary.coverageHash.bytes.starts(with: name.digest)
    else { throw .wrongKind }
    return part
  }

  /// Fetches a part; `nil` if it is not there or cannot be verified.
  func part(_ number: Int, through transport: some SyncTransport) async -> SnapshotPart? {
    // Its author may have deleted it since it was listed.
    (try? await transport.part(number, of: name)).flatMap { try? part(number, in: $0) }
  }

  /// Fetches a part to be merged.
  fileprivate func prepared(
    _ number: Int, through transport: some SyncTransport, with numbers: StateTable.Numbers
  ) async -> OpenedPart? {
    await part(number, through: transport).map { OpenedPart($0, numbers) }
  }
}

extension SnapshotPart {
  /// The reason why the part cannot be merged.
  fileprivate var blockReason: BlockReason {
    for (object, state) in states {
      do {
        try state.requireReadable(as: object)
      } catch {
        return (error as? StreamFault)?.blockReason ?? EnvelopeFault.malformed(.impossibleValue).blockReason
      }
    }
    return StreamFault.unreadableValue(of: "task").blockReason
  }
}

/// A part that was verified, with the stored forms of its states.
struct OpenedPart: Sendable {
  let part: SnapshotPart
  /// The prepared states, in the order of the states.
  let prepared: [PreparedState]
  /// The numbers with which they are prepared.
  let numbers: StateTable.Numbers

  init(_ part: SnapshotPart, _ numbers: StateTable.Numbers) {
    (self.part, self.numbers) = (part, numbers)
    prepared = part.states.map { PreparedState($1, of: $0, with: numbers) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The opener of a snapshot; `nil` if its author is revoked or unknown.
  func opener(of name: SnapshotName) throws -> SnapshotOpener? {
    guard try revocations()[name.replica] == nil, let card = try card(of: name.replica) else { return nil }
    return SnapshotOpener(name: name, verifyingKey: card.verifyingKey, keys: try requireSyncSettings().spaceKeys())
  }
}

extension StoreWriteTransaction {
  /// Merges one part of a snapshot.
  mutating func merge(_ opened: OpenedPart, _ reading: SnapshotReading) throws -> Received {
    let states = opened.part.states
    // A repair between two parts may number the replicas in another way.
    let numbers = try StateTable(in: self).numbers
    let prepared = opened.numbers.allSatisfy { numbers[$0.key] == $0.value } ? opened.prepared : []
    return Received(
      changeCount: states.count, deletedTaskIDs: try merge(states, prepared: prepared, reading: reading).deletedTaskIDs)
  }

  /// Numbers the replicas that a part of a snapshot names, so that its states can be encoded on another thread.
  ///
  /// - Returns: The numbers of all replicas.
  mutating func number(replicasOf part: SnapshotPart) throws -> StateTable.Numbers {
    var table = try StateTable(in: self)
    for state in part.states.values { try table.number(state, in: &self) }
    return table.numbers
  }

  /// Merges states of a snapshot, and stores the values that lose as conflicts.
  ///
  /// - Returns: How many objects have changed, and the tasks that are not there any more.
  mutating func merge(
    _ states: SnapshotPart.States, prepared: [PreparedState] = [], reading: SnapshotReading
  ) throws -> (result: Int, deletedTaskIDs: [UUID]) {
    var (reading, conflicts) = (reading, [StoredConflict]())
    let merged = try merging(of: soleAuthor(of: states)) { merge, settings, transaction in
      // Local changes are sealed now, and wait.
      try reading.add(Outbox.segments(in: transaction), by: settings)
      let now = transaction.now.microsecondsSince1970
      let detector = ConflictDetector(own: settings.replicaID, former: settings.formerIDs, time: now)
      merge.reserveCapacity(states.count)
      for (index, (object, state)) in states.enumerated() {
        let ready = index < prepared.count ? prepared[index] : nil
        let known = try merge.join(state, to: object, prepared: ready, in: transaction)
        conflicts += detector.conflicts(of: state, to: object, in: reading, with: known)
      }
      settings.lastReceived = now
      return merge.touched.values.count { $0.recorded != nil }
    }
    try insertConflicts(conflicts.map { ($0, nil) })
    if states.keys.contains(where: { $0.kind == ObjectKey.settlementKind }) { try removeSettledConflicts() }
    return merged
  }

  /// The replica, other than this one, that wrote all registers that are new here; `nil` if several did, or none.
  private func soleAuthor(of states: SnapshotPart.States) throws -> ReplicaID? {
    let (own, table) = (try requireSyncSettings().replicaID, try StateTable(in: self))
    var author: ReplicaID?
    for (object, state) in states where object.isOfPeople {
      let known = try table.state(of: object, in: self)
      for (field, register) in state.registers where register.replica != own && known.registers[field] != register {
        guard author == nil || author == register.replica else { return nil }
        author = register.replica
      }
    }
    return author
  }

  /// Continues the streams after the segments that a snapshot covers.
  fileprivate mutating func cover(_ summary: SnapshotSummary, by author: ReplicaID) throws {
    let (own, positions) = (try requireSyncSettings().replicaID, try streamProgress())
    let now = now.microsecondsSince1970
    for (replica, covered) in summary.coverage where replica != own {
      guard covered.number > positions[replica]?.head.number ?? 0 else { continue }
      try changeProgress(of: replica) { position in
        position.head = covered
        position.set(nil, at: now)
        if replica == author { position.compareClocks(sealedAt: summary.madeAt, seenAt: nil, now: now) }
      }
    }
  }

  /// Prepares a snapshot of all states, or of those that differ from known ones.
  ///
  /// Local changes are sealed first: a record's text would not be that of its state otherwise.
  mutating func draftSnapshot(without known: SnapshotPart.States = [:]) throws -> SnapshotDraft {
    _ = try merging { _, _, _ in }
    let (settings, table) = (try requireSyncSettings(), try StateTable(in: self))
    var rows = try table.rows(in: self)
    if !known.isEmpty {
      rows = try rows.filter { row in
        guard let known = known[row.object] else { return true }
        return try known.joined(with: table.state(of: row)) != known
      }
    }
    var coverage = try streamProgress().filter { $0.value.head.number > 0 }.mapValues(\.head)
    if settings.acknowledged.number > 0 { coverage[settings.replicaID] = settings.acknowledged }
    return try SnapshotDraft(rows, in: table, coverage: coverage, madeAt: now.microsecondsSince1970, of: settings)
  }

  fileprivate mutating func recordPublished(_ name: SnapshotName, byteCount: Int) throws {
    try changeSyncSettings { settings in
      settings.snapshot = OwnSnapshot(
        number: name.number, digest: Data(name.digest), partCount: name.partCount,
        coveredNumber: settings.acknowledged.number, byteCount: byteCount)
      (settings.byteCountSinceSnapshot, settings.needsSnapshot) = (0, false)
    }
    for (replica, progress) in try streamProgress() where progress.covered != progress.head.number {
      try changeProgress(of: replica) { $0.covered = $0.head.number }
    }
  }
}
