import Foundation
import Tally

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

  /// The object that says that somebody has restored or dismissed the value; all devices that keep the value derive the same one.
  var settlement: ObjectKey {
    let name = [UInt8](attribute.utf8)
    let bytes = [UInt8](object) + field.bigEndianBytes + UInt32(name.count).bigEndianBytes + name
    let hash = ContentHash(of: bytes + lostTime.bigEndianBytes + ReplicaID(lostReplica).bytes)
    return ObjectKey(kind: ObjectKey.settlementKind, id: UUID(bytes: Array(hash.bytes.prefix(16))) ?? UUID())
  }

  /// The write that lost.
  var lostStamp: Stamp { Stamp(time: lostTime, replica: ReplicaID(lostReplica)) }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a value is kept that somebody has restored or dismissed: a version that did not know settlements received one.
  func hasSettledConflicts() throws -> Bool {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0,
      try !syncValues(under: SyncKey.states + [ObjectKey.settlementKind], limit: 1).isEmpty
    else { return false }
    return try storedConflicts().contains { try isSettled($0.conflict) }
  }

  /// Whether somebody has restored or dismissed a value, here or elsewhere.
  fileprivate func isSettled(_ conflict: StoredConflict) throws -> Bool {
    try syncValue(forKey: SyncKey.states + conflict.settlement.bytes) != nil
  }

  /// The conflicts that are kept, oldest first.
  func storedConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    try syncValues(under: SyncKey.conflicts).map { key, value in
      (UInt64(bigEndianBytes: key), try JSONDecoder().decode(StoredConflict.self, from: Data(value)))
    }
  }

  /// The conflicts whose overwritten value is not in its field again, oldest first.
  ///
  /// A restored value settles its conflict on all devices when it is sent: until then an undo brings the conflict back.
  func openConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    try storedConflicts().filter { try !isRestored($0.conflict) }
  }

  /// The conflicts whose overwritten value is in its field again.
  func restoredConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0 else { return [] }
    return try storedConflicts().filter { try isRestored($0.conflict) }
  }

  private func isRestored(_ conflict: StoredConflict) throws -> Bool {
    let (object, field, value) = (try conflict.key, conflict.stateField, [UInt8](conflict.value))
    if object.isFilter {
      guard let key = try StateTable(in: self).state(of: object, in: self).registers[.filterKey]?.value else {
        return false
      }
      return try storedFilter(forKey: key) ?? [] == value
    }
    if object.isList { return try list(object.id)?.value(of: field) == value }
    guard let task = try task(object.id) else { return false }
    return !(field == .progress && task.isCompleted) && task.value(of: field) == value
  }
}

extension StoreWriteTransaction {
  /// Keeps conflicts that are not kept yet; one whose value was replaced by its own author's next one takes the place of the
  /// earlier.
  mutating func keep(_ found: [(conflict: StoredConflict, replaced: Stamp?)]) throws {
    let new = try found.filter { try !isSettled($0.conflict) }
    guard !new.isEmpty else { return }
    var kept = try storedConflicts()
    var next = (try syncValue(forKey: SyncKey.settings + [1]).map { UInt64(bigEndianBytes: $0) } ?? 0) + 1
    for (conflict, replaced) in new.suffix(StoredConflict.maximumCount) {
      func index(ofLost stamp: Stamp?) -> Int? {
        kept.firstIndex {
          $0.conflict.object == conflict.object && $0.conflict.stateField == conflict.stateField
            && $0.conflict.lostStamp == stamp
        }
      }
      if index(ofLost: conflict.lostStamp) != nil { continue }
      let earlier = index(ofLost: replaced)
      if let earlier {
        kept[earlier].conflict = conflict
        try put(conflict, id: kept[earlier].id)
      } else {
        try put(conflict, id: next)
        kept.append((next, conflict))
        next += 1
      }
    }
    try setSyncValue((next - 1).bigEndianBytes, forKey: SyncKey.settings + [1])
    let oldest = now.microsecondsSince1970 - StoredConflict.maximumAge
    for (index, entry) in kept.enumerated()
    where entry.conflict.noticedTime < oldest || index < kept.count - StoredConflict.maximumCount {
      try removeConflict(entry.id)
    }
  }

  /// Forgets the conflicts whose overwritten value the author of a change had seen and replaced.
  mutating func dropConflicts(seenBy changes: some Sequence<ObjectChange>) throws {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0 else { return }
    let changes = Dictionary(grouping: changes, by: \.object)
    for (id, conflict) in try storedConflicts() {
      let isSeen = try changes[conflict.key]?.contains { $0.replaced[conflict.stateField] == conflict.lostStamp }
      if isSeen == true { try removeConflict(id) }
    }
  }

  /// Forgets the values that somebody has restored or dismissed on another device.
  mutating func removeSettledConflicts() throws {
    for (id, conflict) in try storedConflicts() where try isSettled(conflict) { try removeConflict(id) }
  }

  /// Forgets values here and, when the change arrives, on all devices.
  mutating func settle(_ conflicts: [(id: UInt64, conflict: StoredConflict)]) throws {
    guard !conflicts.isEmpty else { return }
    var settings = try requireSyncSettings()
    try write(
      conflicts.map { DeviceWrite(object: $0.conflict.settlement, field: .settled, value: [1]) }, &settings)
    try setSyncSettings(settings)
    for (id, _) in conflicts { try removeConflict(id) }
  }

  private mutating func removeConflict(_ id: UInt64) throws {
    try setSyncValue(nil, forKey: SyncKey.conflicts + id.bigEndianBytes)
  }

  private mutating func put(_ conflict: StoredConflict, id: UInt64) throws {
    try setSyncValue([UInt8](try JSONEncoder().encode(conflict)), forKey: SyncKey.conflicts + id.bigEndianBytes)
  }
}
