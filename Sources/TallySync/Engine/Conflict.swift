public import Foundation
public import Tally

/// A value that lost a race: two replicas wrote the same field, neither knowing of the other.
public struct Conflict: Hashable, Sendable, Identifiable {
  /// The number by which it is named; it is never given again in this store.
  public let id: UInt64
  /// The task or list.
  public let objectID: UUID
  /// Whether the object is a list.
  public let isList: Bool
  /// The field, as the export calls it.
  public let field: String
  /// The value that lost, as the field's text.
  public let lost: String
  /// The replica that wrote it.
  public let lostReplica: ReplicaID
  /// When it was written.
  public let lostAt: Timestamp
  /// The replica that wrote the value that won.
  public let winningReplica: ReplicaID
  /// When that was written.
  public let wonAt: Timestamp
  /// When this replica noticed.
  public let noticedAt: Timestamp
}

/// A conflict as it is kept.
struct StoredConflict: Codable {
  var object: Data
  var field: UInt16
  var attribute: String
  var value: Data
  var lostReplica: UUID
  var lostTime: Int64
  var winningReplica: UUID
  var winningTime: Int64
  var noticedTime: Int64

  /// How many are kept, and for how long.
  static let maximumCount = 1_000
  static let maximumAge: Int64 = 90 * 86_400 * 1_000_000
}

extension StoredConflict {
  init(of object: ObjectKey, _ field: ObjectState.Field, lost: Register, to winner: Register, at time: Int64) {
    self.init(
      object: Data(object.bytes), field: field.number, attribute: field.name, value: Data(lost.value),
      lostReplica: lost.replica.uuid, lostTime: lost.time, winningReplica: winner.replica.uuid,
      winningTime: winner.time, noticedTime: time)
  }

  var key: ObjectKey {
    get throws { try ObjectKey(bytes: object) }
  }

  var stateField: ObjectState.Field { ObjectState.Field(field, name: attribute) }

  /// The write that lost.
  var lostStamp: Stamp { Stamp(time: lostTime, replica: ReplicaID(lostReplica)) }
}

/// Finds the values that lose a race when changes of another replica are joined.
struct ConflictDetector {
  let own: ReplicaID
  /// The last segment of this replica that the author of the changes had seen.
  let time: Int64

  /// The values that one of two concurrent writes replaces, as far as this replica is the author of one of them.
  ///
  /// The author of the change names the write that it has replaced. If that is not the one that is here, the author had not
  /// seen this one.
  func conflicts(of change: ObjectChange, with known: ObjectState) -> [StoredConflict] {
    change.state.registers.compactMap { field, new in
      guard field.isJournaled, let old = known.registers[field], old != new, old.value != new.value else { return nil }
      if new.wins(over: old) {
        guard old.replica == own, new.replica != own, isUnseen(old, replaced: change.replaced[field]) else {
          return nil
        }
        return StoredConflict(of: change.object, field, lost: old, to: new, at: time)
      }
      // What arrives for the first time was not seen by a write of this replica.
      guard old.replica == own, new.replica != own else { return nil }
      return StoredConflict(of: change.object, field, lost: new, to: old, at: time)
    }
  }

  /// Whether the author of a change had not seen a write that its change replaces here.
  private func isUnseen(_ old: Register, replaced: Stamp?) -> Bool {
    guard let replaced else { return true }
    // The write replaced there came after this one: this one was seen, or lost to that one.
    return (replaced.time, replaced.replica) < (old.time, old.replica)
  }
}

extension ObjectState.Field {
  /// Whether a value that loses is worth keeping: not places, the time of creation or life.
  fileprivate var isJournaled: Bool { self != .life && self != .order && self != .created && self != .changed }
}

extension StoreWriteTransaction {
  /// The conflicts that are kept, oldest first.
  func storedConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    try syncValues(under: SyncKey.conflicts).map { key, value in
      (SyncKey.number(of: key), try JSONDecoder().decode(StoredConflict.self, from: Data(value)))
    }
  }

  /// Keeps conflicts; one whose value was replaced by its own author's next one takes the place of the earlier.
  mutating func keep(_ new: [(conflict: StoredConflict, replaced: Stamp?)]) throws {
    guard !new.isEmpty else { return }
    var kept = try storedConflicts()
    var next = (try syncValue(forKey: SyncKey.settings + [1]).map { SyncKey.number(of: $0) } ?? 0) + 1
    for (conflict, replaced) in new {
      let earlier = kept.firstIndex {
        $0.conflict.object == conflict.object && $0.conflict.stateField == conflict.stateField
          && $0.conflict.lostStamp == replaced
      }
      if let earlier {
        kept[earlier].conflict = conflict
        try put(conflict, id: kept[earlier].id)
      } else {
        try put(conflict, id: next)
        kept.append((next, conflict))
        next += 1
      }
    }
    try setSyncValue(SyncKey.bytes(of: next - 1), forKey: SyncKey.settings + [1])
    let oldest = now.microsecondsSince1970 - StoredConflict.maximumAge
    for (index, entry) in kept.enumerated()
    where entry.conflict.noticedTime < oldest || index < kept.count - StoredConflict.maximumCount {
      try removeConflict(entry.id)
    }
  }

  mutating func removeConflict(_ id: UInt64) throws {
    try setSyncValue(nil, forKey: SyncKey.conflicts + SyncKey.bytes(of: id))
  }

  private mutating func put(_ conflict: StoredConflict, id: UInt64) throws {
    try setSyncValue([UInt8](try JSONEncoder().encode(conflict)), forKey: SyncKey.conflicts + SyncKey.bytes(of: id))
  }
}
