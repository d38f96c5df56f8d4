import Foundation
import Tally

extension StoreSync {
  /// The conflicts, the newest first; at most 1,000, and none for more than 90 days.
  ///
  /// - Returns: The conflicts.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func conflicts() async throws -> [Conflict] {
    try store.readSynchronization { transaction in
      _ = try transaction.requireSyncSettings()
      return try transaction.openConflicts().reversed().map { try Conflict($0.id, $0.conflict) }
    }
  }

  /// Restores an overwritten value, as a new change.
  ///
  /// The next exchange settles the conflict on all devices. Until then an undo brings it back.
  ///
  /// - Parameter id: The number of the conflict.
  /// - Returns: The conflict.
  /// - Throws: `TallyError` with `conflictNotFound`; `taskNotFound` or `listNotFound` if the object is deleted; another code if
  ///   the store refuses the value, such as `valueOutOfRange` or `invalidParent`. The conflict stays then.
  @discardableResult
  public func restoreConflict(_ id: UInt64) async throws -> Conflict {
    try await store.write { transaction in
      let stored = try transaction.conflicts(numbered: [id])[0]
      do {
        try transaction.restore(stored.conflict)
      } catch let error as TallyError where error.refusesValue {
        throw TallyError.refusedConflict(id, because: error)
      }
      return try Conflict(id, stored.conflict)
    }
  }

  /// Restores all overwritten values, as one change made now.
  ///
  /// If several values of one field were overwritten, the one that was written last is restored and the others are kept. Values of deleted
  /// objects are kept, too, and values that the store refuses: a text that is too large to be sent, or a parent that is a
  /// sub-task of the task itself.
  ///
  /// - Returns: The restored ones, which all devices forget after the next exchange.
  /// - Throws: `TallyError` with `notSynchronising`; what the store throws.
  public func restoreAllConflicts() async throws -> [Conflict] {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      var latest: [RestoredField: (id: UInt64, conflict: StoredConflict)] = [:]
      for stored in try transaction.openConflicts() {
        let field = RestoredField(object: try stored.conflict.key, field: stored.conflict.stateField)
        if let other = latest[field]?.conflict, other.isLater(than: stored.conflict) { continue }
        latest[field] = stored
      }
      var restored: [(id: UInt64, conflict: StoredConflict)] = []
      for stored in latest.values.sorted(by: { $0.id < $1.id }) {
        do {
          try transaction.restore(stored.conflict)
          restored.append(stored)
        } catch let error as TallyError where error.refusesValue {
          // The value stays.
        }
      }
      return try restored.map { try Conflict($0.id, $0.conflict) }
    }
  }

  /// Dismisses conflicts on all devices: the overwritten values are forgotten, and the present ones stay.
  ///
  /// - Parameter ids: The numbers of the conflicts; `nil` for all.
  /// - Returns: The dismissed ones.
  /// - Throws: `TallyError` with `notSynchronising` or `conflictNotFound`; nothing is dismissed then.
  @discardableResult
  public func dismissConflicts(_ ids: [UInt64]? = nil) async throws -> [Conflict] {
    try await store.write { transaction in
      let stored = try transaction.conflicts(numbered: ids)
      try transaction.settle(stored)
      return try stored.map { try Conflict($0.id, $0.conflict) }
    }
  }
}

/// A field of an object, of which several values may have lost.
private struct RestoredField: Hashable {
  let object: ObjectKey
  let field: ObjectState.Field
}

extension StoredConflict {
  /// Whether its value was written later than the value of another conflict.
  fileprivate func isLater(than other: StoredConflict) -> Bool {
    (lostTime, ReplicaID(lostReplica)) > (other.lostTime, ReplicaID(other.lostReplica))
  }
}

extension StoreWriteTransaction {
  /// The conflicts with some numbers, each once; all conflicts for `nil`.
  fileprivate func conflicts(numbered ids: [UInt64]?) throws -> [(id: UInt64, conflict: StoredConflict)] {
    _ = try requireSyncSettings()
    let kept = try openConflicts()
    guard let ids else { return kept }
    for id in ids where !kept.contains(where: { $0.id == id }) { throw TallyError.conflictNotFound(id) }
    return kept.filter { ids.contains($0.id) }
  }
}

extension TallyError {
  /// Whether the store refuses a value, or has no object for it; otherwise it fails for another reason.
  fileprivate var refusesValue: Bool {
    [
      .taskNotFound, .listNotFound, .blankTitle, .blankListName, .invalidColor, .invalidDay, .invalidInstant,
      .invalidState, .invalidRecurrence, .valueOutOfRange, .inconsistentTask, .invalidTag, .invalidPriority,
      .invalidAttribute, .invalidParent, .invalidFilter, .invalidKey, .invalidValue, .differentPlaces,
    ].contains(code)
  }

  /// The error for a conflict whose value the store refuses.
  fileprivate static func refusedConflict(_ id: UInt64, because error: TallyError) -> TallyError {
    let isMissing = [.taskNotFound, .listNotFound].contains(error.code)
    return TallyError(
      error.code, "The value of conflict \(id) cannot be restored: \(error.message)",
      remedy: isMissing
        ? "Restore it from the trash first; the value stays among the conflicts"
        : "The value stays among the conflicts: copy what you need from it, or dismiss it", cause: error)
  }
}

extension StoreWriteTransaction {
  /// Writes the value of a conflict as a local change.
  fileprivate mutating func restore(_ conflict: StoredConflict) throws {
    try write(conflict.value, to: conflict.stateField, of: conflict.key)
  }

  /// Writes one field of an object as a local change.
  private mutating func write(_ value: Data, to field: ObjectState.Field, of object: ObjectKey) throws {
    let bytes = [UInt8](value)
    if object.isFilter {
      guard let key = try StateTable(in: self).state(of: object, in: self).registers[.filterKey]?.value else { return }
      return try setFilter(bytes.isEmpty ? nil : bytes, forKey: key)
    }
    if object.isList { return try write(bytes, to: field, ofList: object.id) }
    guard var task = try task(object.id) else { throw TallyError.taskNotFound(object.id) }
    if field == .progress, !task.isCompleted { task.state = bytes == [1] ? .active : .notStarted }
    try task.set(field, to: bytes)
    if field == .list, let list = task.listID, try self.list(list) == nil { throw TallyError.listNotFound(list) }
    if field == .parent, let parent = task.parentID, try self.task(parent) == nil {
      throw TallyError.taskNotFound(parent)
    }
    try update(object.id) { [task] stored in stored = task }
  }

  private mutating func write(_ value: [UInt8], to field: ObjectState.Field, ofList id: UUID) throws {
    let text = String(decoding: value, as: UTF8.self)
    if field == .title { try renameList(id, to: text) } else { try recolorList(id, to: text) }
  }
}

extension Conflict {
  init(_ id: UInt64, _ stored: StoredConflict) throws {
    let object = try stored.key
    self.init(
      id: id, objectID: object.id, isList: object.isList, field: stored.stateField.exportName(isList: object.isList),
      lost: try stored.stateField.text(of: [UInt8](stored.value), isList: object.isList),
      lostReplica: ReplicaID(stored.lostReplica), lostAt: Timestamp(clamping: stored.lostTime),
      winningReplica: ReplicaID(stored.winningReplica), wonAt: Timestamp(clamping: stored.winningTime),
      noticedAt: Timestamp(clamping: stored.noticedTime))
  }
}

extension ObjectState.Field {

  /// The value as people write it; empty for none.
  fileprivate func text(of bytes: [UInt8], isList: Bool) throws -> String {
    guard !bytes.isEmpty || self == .progress else { return "" }
    switch self {
    case .title, .notes, .color: return String(decoding: bytes, as: UTF8.self)
    case .filter: return SavedFilter(storedBytes: bytes).map { "\($0.name): \($0.text)" } ?? ""
    case .list, .parent: return UUID(bytes: bytes)?.uuidString.lowercased() ?? ""
    case .progress: return (bytes == [1] ? TaskState.active : .notStarted).name
    default: break
    }
    var task = TaskItem(id: UUID(), title: "", createdAt: .earliest)
    try task.set(self, to: bytes)
    switch self {
    case .scheduledDate: return task.scheduledDate.map(\.description) ?? ""
    case .due: return task.dueDay.map(\.description) ?? task.dueDate.map(\.description) ?? ""
    case .reminder: return task.reminderDate.map(\.description) ?? ""
    case .priority: return task.priority.name
    case .recurrence: return task.recurrence?.text ?? ""
    default: return task.attributes[name]?.text ?? ""
    }
  }
}
