import Foundation
import Tally

/// Seals local changes into segments, which wait in the store until the place has acknowledged them.
struct Outbox {
  /// How many objects one write seals at most, so that others do not wait for long.
  static let mostSealedAtOnce = 2_000
  /// How many segments are sent together at most.
  static let mostSentAtOnce = 256
  /// How many bytes are sent together at most, unless one segment alone has more: a slow line must take them in the time of one
  /// request.
  static let mostBytesAtOnce = 512 << 10

  /// Takes local changes into segments.
  ///
  /// - Parameters:
  ///   - limit: Of how many objects at most.
  ///   - merge: The states of the store in this write.
  ///   - settings: Counts the segments.
  ///   - transaction: The write.
  /// - Returns: Whether there may be more.
  /// - Throws: What the store throws; a fault of the settings.
  static func seal(
    limit: Int, with merge: inout StateMerge, _ settings: inout SyncSettings,
    in transaction: inout StoreWriteTransaction
  ) throws -> Bool {
    let (changes, isEmpty) = try merge.take(limit: limit, as: settings.replicaID, in: &transaction)
    try put(changes, &settings, in: &transaction)
    return !isEmpty
  }

  /// Seals changes.
  static func put(
    _ changes: [ObjectChange], _ settings: inout SyncSettings, in transaction: inout StoreWriteTransaction
  ) throws {
    guard !changes.isEmpty else { return }
    for change in changes {
      try transaction.note(change.object, isTooLarge: change.state.hasValue(largerThan: ObjectChange.maximumByteCount))
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
      let body = SegmentBody(
        sealedAt: transaction.now.microsecondsSince1970, seen: seen, changes: part)
      let envelope = try Envelope(
        sealing: body.encoded(by: settings.replicaID), as: label, with: keys, in: space)
      try transaction.setSyncValue(envelope.bytes, forKey: SyncKey.outbox + label.number.bigEndianBytes)
      settings.sealed = StreamPosition(envelope)
      settings.noteSeal(of: label.number, at: body.sealedAt)
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
  /// How many bytes of values a segment takes; the rest of an envelope is much less.
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
  /// Remembers whether an object has a value that was not sent.
  fileprivate mutating func note(_ object: ObjectKey, isTooLarge: Bool) throws {
    let key = SyncKey.tooLarge + object.bytes
    if try isTooLarge || syncValue(forKey: key) != nil { try setSyncValue(isTooLarge ? [] : nil, forKey: key) }
  }

  /// The streams that were read on since the last segment of this replica, which name them.
  fileprivate mutating func announceStreams() throws -> [ReplicaID: SegmentHead] {
    var seen: [ReplicaID: SegmentHead] = [:]
    for (replica, progress) in try streamProgress() where progress.head.number > progress.announced ?? 0 {
      var progress = progress
      progress.announced = progress.head.number
      try setProgress(progress, of: replica)
      seen[replica] = progress.head.head
    }
    return seen
  }
}
