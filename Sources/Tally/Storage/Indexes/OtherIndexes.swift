// The indexes of lists, completions and tombstones, and the indexes by last change.

/// The lists, in the user's order.
enum ListsByOrder: RecordIndex {
  static func keys(of record: ListRecord) -> IndexKeys<OrderKey> { .one(OrderKey(of: record.item)) }
}

/// Tasks or lists by their last change.
enum ObjectsByChange<Source: ObjectRecord>: RecordIndex {
  static func keys(of record: Source) -> IndexKeys<ChangeKey> {
    .one(ChangeKey(sequence: record.stamp.changed, .init(Source.kind), record.item.id))
  }

  // Rows of an unknown kind belong to no index, and checks must find them.
  static func owns(_ key: ChangeKey) -> Bool { (key.kind ?? .task) == .init(Source.kind) }
}

/// Deleted tasks and lists, by the commit that deleted them.
enum TombstonesByChange: RecordIndex {
  static func keys(of tombstone: Tombstone) -> IndexKeys<ChangeKey> {
    guard let kind = ObjectKind(rawValue: tombstone.key.kindRawValue) else { return .none }
    return .one(ChangeKey(sequence: tombstone.record.stamp.changed, .init(deleted: kind), tombstone.key.id))
  }

  static func primaryKey(of key: ChangeKey) -> TombstoneKey {
    TombstoneKey(key.kind == .deletedList ? .list : .task, key.id)
  }

  static func owns(_ key: ChangeKey) -> Bool { key.kind == .deletedTask || key.kind == .deletedList }
}

/// Completions of deleted tasks, by the creation time of the task.
enum DeletedByCreated: RecordIndex {
  static func keys(of entry: LedgerEntry) -> IndexKeys<DeletedCreationKey> {
    entry.key.isTaskDeleted ? .one(DeletedCreationKey(entry.key.completed, entry.record)) : .none
  }

  static func primaryKey(of key: DeletedCreationKey) -> CompletionKey {
    CompletionKey(isTaskDeleted: true, completed: key.completed)
  }
}
