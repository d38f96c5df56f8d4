import Foundation
import Tally

/// Seals local changes into segments, which wait in the store until the place has acknowledged them.
struct Outbox {
  /// How many objects one write seals at most, so that others do not wait for long.
  static let mostSealedAtOnce = 2_000
  /// How many segments are sent together at most.
  static let mostSentAtOnce = 256
  /// How many bytes are sent together at most, unless one segment alone has more: a slow line must carry them within the
  /// time of one request.
  static let mostBytesAtOnce = 512 << 10

  /// Seals local changes into segments.
  ///
  /// - Parameters:
  ///   - limit: The most objects.
  ///   - merge: The states of the store in this write.
  ///   - settings: The settings, which count the segments.
  ///   - transaction: The write.
  /// - Returns: Whether there may be more.
  /// - Throws: What the store throws; a fault of the settings.
  static func seal(
    limit: Int, with merge: inout StateMerge, _ settings: inout SyncSettings,
    in transaction: inout StoreWriteTransaction
  ) throws -> Bool {
    let (changes, isEmpty) = try merge.applyPending(limit: limit, as: settings.replicaID, in: &transaction)
    try seal(changes, &settings, in: &transaction)
    return !isEmpty
  }

  /// Seals changes.
  static func seal(
    _ changes: [ObjectChange], _ settings: inout SyncSettings, in transaction: inout StoreWriteTransaction
  ) throws {
    guard !changes.isEmpty else { return }
    for change in changes {
      let isTooLarge = change.state.hasValue(largerThan: ObjectChange.maximumByteCount)
      try transaction.recordSize(of: change.object, isTooLarge: isTooLarge)
    }
    let changes = changes.flatMap(\.sendableParts)
    let (keys, space) = (try settings.secretKeys(), try settings.spaceKeys())
    if settings.sealedChangeCount == nil, try !transaction.hasSyncValues(withPrefix: SyncKey.outbox) {
      settings.sealedChangeCount = 0
    }
    var seen = try transaction.announceStreams()
    for part in SegmentBody.divide(changes) {
      let label = EnvelopeHeader.Label(
        kind: .segment, replica: settings.replicaID, number: settings.sealed.number + 1,
        link: settings.sealed.hash)
      let body = SegmentBody(sealedAt: transaction.now.microsecondsSince1970, seen: seen, changes: part)
      let envelope = try Envelope(sealing: body.encoded(by: settings.replicaID), as: label, with: keys, in: space)
      try transaction.setSyncValue(envelope.bytes, forKey: SyncKey.outbox + label.number.bigEndianBytes)
      settings.sealed = StreamPosition(envelope)
      settings.recordSeal(of: label.number, at: body.sealedAt)
      settings.sealedChangeCount? += body.changes.count
      seen = [:]
    }
  }

  /// All segments that wait, in order.
  static func segments<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws -> [[UInt8]] {
    try transaction.syncValues(under: SyncKey.outbox, limit: .max).map(\.value)
  }

  /// The first segments that wait, in order: those that are sent together.
  static func nextBatch<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws -> [Envelope] {
    var (envelopes, byteCount) = ([Envelope](), 0)
    try transaction.forEachSyncValue(withPrefix: SyncKey.outbox) { _, bytes in
      byteCount += bytes.count
      guard envelopes.isEmpty || byteCount <= mostBytesAtOnce else { return false }
      envelopes.append(try Envelope(parsing: bytes))
      return envelopes.count < mostSentAtOnce
    }
    return envelopes
  }

  static func remove(_ number: UInt64, in transaction: inout StoreWriteTransaction) throws {
    try transaction.setSyncValue(nil, forKey: SyncKey.outbox + number.bigEndianBytes)
  }
}

extension ObjectChange {
  /// The most bytes of values in a segment; the rest of an envelope is much smaller.
  static let maximumByteCount = SyncLimit.maximumTextByteCount

  /// The change in parts that each fit into a segment, without values that are too large to be sent.
  ///
  /// Writes refuse such values now; one that an earlier version accepted stays in this store until somebody shortens it.
  fileprivate var sendableParts: [ObjectChange] {
    state.divided(limitInBytes: Self.maximumByteCount).map {
      ObjectChange(object: object, state: $0, replaced: replaced)
    }
  }
}

extension StoreWriteTransaction {
  /// Records whether an object has a value that is too large to be sent.
  fileprivate mutating func recordSize(of object: ObjectKey, isTooLarge: Bool) throws {
    let key = SyncKey.tooLarge + object.bytes
    if try isTooLarge || syncValue(forKey: key) != nil { try setSyncValue(isTooLarge ? [] : nil, forKey: key) }
  }

  /// The streams that were read on since the last segment of this replica, which name them.
  fileprivate mutating func announceStreams() throws -> [ReplicaID: SegmentHead] {
    var seen: [ReplicaID: SegmentHead] = [:]
    for (replica, progress) in try streamProgress() where progress.head.number > progress.announced ?? 0 {
      try changeProgress(of: replica) { $0.announced = $0.head.number }
      seen[replica] = progress.head.head
    }
    return seen
  }
}

/// A snapshot whose parts are not sealed yet: the rows of the store, divided.
///
/// Other writes wait only while the rows are copied. Decoding, encoding and sealing take most of the time, and need
/// neither the store nor one another.
struct SnapshotDraft: Sendable {
  let name: SnapshotName
  private let summary: SnapshotSummary
  private let table: StateTable
  private let parts: [Part]
  private let (keys, space): (ReplicaKeys, SpaceKeys)

  /// The content of one part.
  private enum Part {
    case rows([StateTable.Row])
    /// A piece of a state that is too large for one part.
    case piece(ObjectKey, ObjectState)
  }

  /// How many parts are sealed ahead of the one that is written.
  private static let aheadCount = 2

  /// Divides rows.
  ///
  /// - Parameters:
  ///   - rows: The states.
  ///   - table: The table of which they are.
  ///   - coverage: The last segment of each replica whose changes are in them.
  ///   - madeAt: The time now, in microseconds since 1970.
  ///   - settings: The settings of the replica that makes the snapshot.
  /// - Throws: A fault of the settings.
  init(
    _ rows: [StateTable.Row], in table: StateTable, coverage: [ReplicaID: StreamPosition], madeAt: Int64,
    of settings: SyncSettings
  ) throws {
    let divided = try rows.divided(limitInBytes: SnapshotPart.softLimitInBytes, byteCount: \.byteCount).flatMap {
      try Self.parts(of: $0, in: table)
    }
    // A snapshot of nothing has a part, too.
    parts = divided.isEmpty ? [.rows([])] : divided
    objectCount = rows.count
    summary = SnapshotSummary(
      coverage: coverage, madeAt: madeAt, stateHash: ContentHash(bytes: table.hash.bytes) ?? .none,
      partCount: parts.count)
    name = SnapshotName(
      replica: settings.replicaID, number: (settings.snapshot?.number ?? 0) + 1,
      digest: Array(summary.coverageHash.bytes.prefix(SegmentHead.digestByteCount)), partCount: parts.count)
    (keys, space, self.table) = (try settings.secretKeys(), try settings.spaceKeys(), table)
  }

  /// How many objects it has.
  let objectCount: Int

  /// The rows as one part; a single large state as several parts.
  private static func parts(of rows: [StateTable.Row], in table: StateTable) throws -> [Part] {
    // A row that is larger than a part is always the only one.
    guard let row = rows.first, row.byteCount > ObjectChange.maximumByteCount else { return [.rows(rows)] }
    return try table.state(of: row).divided(limitInBytes: ObjectChange.maximumByteCount).map { .piece(row.object, $0) }
  }

  /// Seals all parts and passes them to a closure, in order; the next ones are sealed meanwhile.
  ///
  /// - Parameter body: Receives the number of a part and its sealed bytes.
  /// - Throws: What sealing and the closure throw.
  func forEachPart(_ body: (_ number: Int, _ part: [UInt8]) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      var (begun, sealed): (Int, [Int: [UInt8]]) = (0, [:])
      for number in parts.indices {
        while begun < min(parts.count, number + 1 + Self.aheadCount) {
          group.addTask { [begun] in (begun, try sealedPart(begun)) }
          begun += 1
        }
        while sealed[number] == nil, let (number, part) = try await group.next() { sealed[number] = part }
        if let part = sealed.removeValue(forKey: number) { try await body(number, part) }
      }
    }
  }

  private func sealedPart(_ number: Int) throws -> [UInt8] {
    var states: SnapshotPart.States = [:]
    switch parts[number] {
    case .rows(let rows):
      states.reserveCapacity(rows.count)
      for row in rows { states.append(try table.state(of: row), forKey: row.object) }
    case .piece(let object, let state): states.append(state, forKey: object)
    }
    let label = EnvelopeHeader.Label(
      kind: .snapshotPart, replica: name.replica, number: UInt64(number), link: summary.coverageHash)
    let body = SnapshotPart(summary: summary, states: states).encoded(by: name.replica)
    return try Envelope(sealing: body, as: label, with: keys, in: space).bytes
  }
}
