import Foundation
import Tally

/// Finds the values that lose a race when changes of another replica are joined.
struct ConflictDetector {
  let own: ReplicaID
  /// The replicas that this store was before: their writes are its own, too.
  var former: Set<ReplicaID> = []
  /// The time now, in microseconds since 1970.
  let time: Int64

  /// The values that one of two concurrent writes replaces, as far as this replica is the author of one of them.
  ///
  /// The author of the change names the write that it has replaced. If that is not the one that is here, the author had
  /// not seen this one, or had already lost it to a third write. The author of the third write may have seen this one:
  /// then the third write names it when it arrives, and the conflict is removed (`removeConflicts`). What arrives for
  /// the first time was not seen by a write of this replica.
  func conflicts(of change: ObjectChange, with known: ObjectState) -> [StoredConflict] {
    conflicts(of: change.state, to: change.object, with: known) { old, field in
      change.replaced[field] != Stamp(time: old.time, replica: old.replica)
    } isUnknown: { _ in
      true
    }
  }

  /// The same for the state of an object in a snapshot, which does not say what its writes have replaced.
  func conflicts(of state: ObjectState, to object: ObjectKey, in snapshot: SnapshotReading, with known: ObjectState)
    -> [StoredConflict]
  {
    guard !known.isEmpty else { return [] }
    return conflicts(of: state, to: object, with: known) { old, field in
      snapshot.uncovered[object]?.registers[field] == old
    } isUnknown: {
      // The values of a deleted object may be forgotten there.
      snapshot.isUnknown($0) && !state.isDeleted
    }
  }

  // isUnseen: whether the author of the change had not seen a write of this replica;
  // isUnknown: whether this replica had not seen a write when it made its own.
  private func conflicts(
    of state: ObjectState, to object: ObjectKey, with known: ObjectState,
    isUnseen: (Register, ObjectState.Field) -> Bool, isUnknown: (Register) -> Bool
  ) -> [StoredConflict] {
    guard object.isOfPeople else { return [] }
    return state.registers.compactMap { field, new in
      guard field.isJournaled, let old = known.registers[field], old != new,
        old.value != new.value,
        old.replica == own || former.contains(old.replica), new.replica != own, new.replica != old.replica,
        // Nobody misses a generated value.
        !GeneratedTime.contains(min(old.time, new.time))
      else { return nil }
      let isOlder = new.wins(over: old)
      guard isOlder ? isUnseen(old, field) : isUnknown(new) else { return nil }
      let (lost, winner) = isOlder ? (old, new) : (new, old)
      guard let twin = (isOlder ? known : state).twin(of: lost, in: field) else {
        return StoredConflict(of: object, field, lost: lost, to: winner, at: time)
      }
      // The twin has a conflict of its own if the winner has written to it, too.
      guard (isOlder ? state : known).registers[twin.field] == nil else { return nil }
      return StoredConflict(of: object, twin.field, lost: twin.register, to: winner, at: time)
    }
  }
}

extension ObjectState {
  /// The other register of the recurrence, if that one says what the same write meant by emptying this one.
  fileprivate func twin(of register: Register, in field: Field) -> (field: Field, register: Register)? {
    guard register.value.isEmpty, field == .recurrence || field == .rule else { return nil }
    let other = field == .recurrence ? Field.rule : .recurrence
    guard let twin = registers[other], !twin.value.isEmpty, twin.time == register.time,
      twin.replica == register.replica
    else { return nil }
    return (other, twin)
  }
}

extension ObjectState.Field {
  /// Whether a value that loses is kept: places, life and values that no person writes are not.
  fileprivate var isJournaled: Bool {
    switch self {
    case .life, .order, .created, .changed, .floating: false
    default: true
    }
  }
}

/// The knowledge with which merging a snapshot finds the values that lose.
struct SnapshotReading: Sendable {
  /// The last own segment that the snapshot covers.
  private let covered: UInt64
  /// When the last segment that was read of each replica was sealed: later writes of it are unknown here.
  private let lastRead: [ReplicaID: Int64]
  /// The writes of this replica that the snapshot does not cover: the authors of other writes in it had not seen them.
  private(set) var uncovered: [ObjectKey: ObjectState] = [:]

  /// Begins to read a snapshot.
  ///
  /// - Parameters:
  ///   - summary: The summary of the snapshot.
  ///   - sent: The segments of this replica that it does not cover, as far as the place has them.
  ///   - transaction: The transaction of the store that merges it.
  /// - Throws: What reading the settings and the segments throws.
  init<Base: ~Copyable>(
    _ summary: SnapshotSummary, _ sent: [[UInt8]] = [], in transaction: borrowing StoreTransaction<Base>
  ) throws {
    let settings = try transaction.requireSyncSettings()
    covered = summary.coverage[settings.replicaID]?.number ?? 0
    lastRead = try transaction.streamProgress().compactMapValues(\.lastSeen)
    try add(sent, by: settings)
  }

  /// Adds own segments.
  mutating func add(_ segments: [[UInt8]], by settings: SyncSettings) throws {
    for bytes in segments {
      let envelope = try Envelope(parsing: bytes)
      guard envelope.header.label.number > covered else { continue }
      let content = try envelope.content(in: settings.spaceKeys())
      for change in try SegmentBody(decoding: content, by: settings.replicaID).changes {
        uncovered[change.object, default: ObjectState()].join(change.state)
      }
    }
  }

  /// Whether a write came after all that this replica has read of its author.
  func isUnknown(_ write: Register) -> Bool { lastRead[write.replica].map { write.time > $0 } ?? true }
}
