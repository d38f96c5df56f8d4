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
    let (own, revoked) = try await store.write { transaction in
      (try transaction.requireSyncSettings().replicaID, try transaction.revocations())
    }
    let names = try await reach { try await transport.snapshots() }
    var received = Received()
    for name in names where name.replica != own && revoked[name.replica] == nil {
      let isKnown = try await store.write { try $0.syncValue(forKey: SyncKey.snapshots + name.key) != nil }
      guard !isKnown else { continue }
      guard let first = try await openPart(0, of: name) else {
        received.hasSkipped = true
        continue
      }
      switch try await need(of: first.summary) {
      case .later: continue
      case .never: break
      case .now:
        guard let merged = try await merge(name, first: first) else {
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
    let (own, positions, revoked) = try await store.write { transaction in
      let own = try transaction.requireSyncSettings().replicaID
      return (own, try transaction.streamProgress(), try transaction.revocations())
    }
    var need = Need.never
    for (replica, covered) in summary.coverage where replica != own {
      let position = positions[replica] ?? StreamProgress()
      guard covered.number > position.head.number else { continue }
      if position.block != nil { return .now }
      // Segments behind the cut-off may be at the place, and are not taken.
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
    // Its author may have deleted it since it was listed.
    guard let bytes = try? await transport.part(number, of: name) else { return nil }
    guard let content = try await store.write({ try $0.content(of: bytes, number, of: name) }),
      let part = try? SnapshotPart(decoding: content, by: name.replica), part.summary.partCount == name.partCount,
      part.summary.coverageHash.bytes.starts(with: name.digest)
    else { return nil }
    return part
  }

  /// Merges the parts of a snapshot; streams go on behind it when all are merged.
  ///
  /// - Returns: The merged changes; `nil` if a part is missing, or has a value that no object can have.
  private func merge(_ name: SnapshotName, first: SnapshotPart) async throws -> Received? {
    var received = Received()
    // The last part has the lists: where tasks arrive before their list, each of them is shown elsewhere and then moved.
    for number in [name.partCount - 1] + Array(0..<name.partCount - 1) {
      // A part of another attempt to publish it has another summary.
      guard let part = number == 0 ? first : try await openPart(number, of: name), part.summary == first.summary else {
        return nil
      }
      do {
        received += try await store.write { try $0.merge(part) }
      } catch is CodingFault {
        return nil
      }
    }
    try await store.write { try $0.cover(first.summary) }
    return received
  }

  /// Publishes a snapshot if the segments since the last one are as large as it would be, or the place has lost some.
  func publishSnapshotIfDue() async throws {
    let due = try await store.write { transaction -> Bool in
      let settings = try transaction.requireSyncSettings()
      guard !settings.needsSnapshot else { return true }
      let least = max(Self.leastByteCount, settings.snapshot?.byteCount ?? 0)
      return settings.byteCountSinceSnapshot >= least
    }
    guard due else { return }
    let (name, parts, _) = try await store.write { try $0.makeSnapshot() }
    for (number, part) in parts.enumerated() {
      try await reach { try await transport.putPart(part, number: number, of: name) }
    }
    try await store.write { try $0.notePublished(name, byteCount: parts.reduce(0) { $0 + $1.count }) }
  }

  /// With fewer bytes of segments since the last one, a snapshot is not worth its files.
  private static let leastByteCount = 1 << 20
}

extension SnapshotName {
  /// What identifies it among those that were merged.
  fileprivate var key: [UInt8] { replica.bytes + number.bigEndianBytes + digest }
}

extension StoreWriteTransaction {
  /// The content of a part of a snapshot; `nil` if it is not that part, or cannot be verified.
  func content(of bytes: [UInt8], _ number: Int, of name: SnapshotName) throws -> [UInt8]? {
    guard try revocations()[name.replica] == nil, let card = try card(of: name.replica),
      let envelope = try? Envelope(parsing: bytes),
      envelope.header.label.number == UInt64(number), envelope.header.label.link.bytes.starts(with: name.digest)
    else { return nil }
    let keys = try requireSyncSettings().spaceKeys()
    return try? envelope.open(as: .snapshotPart, of: name.replica, verifying: card.verifyingKey, in: keys)
  }

  /// Merges one part of a snapshot.
  fileprivate mutating func merge(_ part: SnapshotPart) throws -> Received {
    let (_, deleted) = try merging { merge, settings, transaction in
      for (object, state) in part.states { try merge.join(state, to: object, in: transaction) }
      settings.lastReceived = transaction.now.microsecondsSince1970
    }
    return Received(changeCount: part.states.count, deletedTaskIDs: deleted)
  }

  /// Continues the streams behind what a snapshot covers.
  fileprivate mutating func cover(_ summary: SnapshotSummary) throws {
    let (own, positions) = (try requireSyncSettings().replicaID, try streamProgress())
    for (replica, covered) in summary.coverage where replica != own {
      var position = positions[replica] ?? StreamProgress()
      guard covered.number > position.head.number else { continue }
      position.head = covered
      position.block = nil
      try setProgress(position, of: replica)
    }
  }

  /// Makes a snapshot of all states, or of those that differ from known ones.
  func makeSnapshot(
    without known: SnapshotPart.States = [:]
  ) throws -> (name: SnapshotName, parts: [[UInt8]], objectCount: Int) {
    let (settings, table) = (try requireSyncSettings(), try StateTable(in: self))
    var states: SnapshotPart.States = [:]
    try table.forEach(in: self) { object, state in
      let state = state.fitting(ObjectChange.maximumByteCount)
      if let known = known[object], known.joined(with: state) == known { return }
      states.append(state, forKey: object)
    }
    let divided = SnapshotPart.divide(states)
    var coverage = try streamProgress().filter { $0.value.head.number > 0 }.mapValues(\.head)
    if settings.acknowledged.number > 0 { coverage[settings.replicaID] = settings.acknowledged }
    let summary = SnapshotSummary(
      coverage: coverage, madeAt: now.microsecondsSince1970,
      stateHash: ContentHash(bytes: table.hash.bytes) ?? .none, partCount: divided.count)
    let (keys, space) = (try settings.secretKeys(), try settings.spaceKeys())
    let parts = try divided.enumerated().map { number, states in
      let label = EnvelopeHeader.Label(
        kind: .snapshotPart, replica: settings.replicaID, number: UInt64(number), link: summary.coverageHash)
      let part = SnapshotPart(summary: summary, states: states)
      return try Envelope(sealing: part.encoded(by: settings.replicaID), as: label, with: keys, in: space).bytes
    }
    let name = SnapshotName(
      replica: settings.replicaID, number: (settings.snapshot?.number ?? 0) + 1,
      digest: Array(summary.coverageHash.bytes.prefix(SegmentHead.digestByteCount)), partCount: divided.count)
    return (name, parts, states.count)
  }

  fileprivate mutating func notePublished(_ name: SnapshotName, byteCount: Int) throws {
    try changeSyncSettings { settings in
      settings.snapshot = OwnSnapshot(
        number: name.number, digest: Data(name.digest), partCount: name.partCount,
        coveredNumber: settings.acknowledged.number, byteCount: byteCount)
      (settings.byteCountSinceSnapshot, settings.needsSnapshot) = (0, false)
    }
    for (replica, progress) in try streamProgress() where progress.covered != progress.head.number {
      var progress = progress
      progress.covered = progress.head.number
      try setProgress(progress, of: replica)
    }
  }
}
