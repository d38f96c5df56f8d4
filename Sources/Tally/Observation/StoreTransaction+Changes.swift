import Foundation
import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The changes by any process since a commit.
  ///
  /// - Parameter sequence: the commit, as the ``sequence`` of an earlier snapshot.
  /// - Returns: the changes up to this snapshot.
  /// - Throws: what the storage throws.
  /// - Complexity: one lookup for each object that has changed since.
  public func changes(since sequence: UInt64) throws -> ChangeSet {
    try changes(since: StorePosition(storeID: position.storeID, sequence: sequence))
  }

  /// The changes since a position; if it belongs to another store at the same path, they are not complete.
  ///
  /// Otherwise it works as ``changes(since:)-(UInt64)``.
  public func changes(since last: StorePosition) throws -> ChangeSet {
    let position = try position
    var changes = ChangeSet(previousSequence: last.sequence, position: position)
    guard position != last else { return changes }
    let logStart = try header().logStart
    guard position.storeID == last.storeID, (logStart..<position.sequence).contains(last.sequence) else {
      changes.isComplete = false
      return changes
    }
    try forEachKey(of: tables.byChange, from: .start(after: last.sequence)) { key in
      try add(key, since: last.sequence, to: &changes)
    }
    return changes
  }

  /// The position of this snapshot, for ``TaskStore/changes(since:)``.
  public var position: StorePosition {
    get throws {
      let header = try header()
      return StorePosition(storeID: header.storeID, sequence: header.sequence)
    }
  }

  /// Adds one row of the log of changes.
  private func add(_ key: ChangeKey, since sequence: UInt64, to changes: inout ChangeSet) throws {
    let id = key.id
    switch key.kind {
    case .task:
      guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { throw Self.danglingRow }
      changes.tasks.add(id, try TaskFields(bytes).stamp.created > sequence)
    case .list:
      guard let record = try record(ListRecord.self, id) else { throw Self.danglingRow }
      changes.lists.add(id, record.stamp.created > sequence)
    case .deletedTask: changes.tasks.addDeleted(id, try tombstone(.task, id), since: sequence)
    case .deletedList: changes.lists.addDeleted(id, try tombstone(.list, id), since: sequence)
    // The kind belongs to a newer version and is not visible in this one.
    case nil: break
    }
  }

  private func tombstone(_ kind: ObjectKind, _ id: UUID) throws -> TombstoneRecord {
    guard let record = try tables.tombstones.value(forKey: TombstoneKey(kind, id), in: base) else {
      throw Self.danglingRow
    }
    return record
  }

  private static var danglingRow: TallyError { TallyError.missingRecord(of: "byChange") }
}

extension ChangeSet.Identifiers {
  fileprivate mutating func add(_ id: UUID, _ isNew: Bool) {
    if isNew { inserted.insert(id) } else { updated.insert(id) }
  }

  /// Adds a deletion, unless the object was also created after the sequence.
  fileprivate mutating func addDeleted(_ id: UUID, _ tombstone: TombstoneRecord, since sequence: UInt64) {
    if tombstone.stamp.created <= sequence { deleted.insert(id) }
  }
}
