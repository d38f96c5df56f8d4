import LMDB

// The indexes of lists, completions and tombstones.

/// The lists, in the user's order.
enum ListsByOrder: RecordIndex {
  static func keys(of record: ListRecord) -> IndexKeys<OrderKey> { .one(OrderKey(of: record.list)) }
}

/// Lists by their last change.
enum ListsByChange: RecordIndex {
  static func keys(of record: ListRecord) -> IndexKeys<ChangeKey> {
    .one(ChangeKey(sequence: record.stamp.changed, .list, record.list.id))
  }

  static func owns(_ key: ChangeKey) -> Bool { key.kind == .list }
}

/// Completions of deleted tasks, by the creation of the task.
enum DeletedByCreated: RecordIndex {
  static func keys(of entry: LedgerEntry) -> IndexKeys<DeletedCreationKey> {
    entry.key.isTaskDeleted ? .one(DeletedCreationKey(entry.key.completed, entry.record)) : .none
  }

  static func record<T: Transaction & ~Copyable>(
    of key: DeletedCreationKey, in tables: Tables, _ transaction: borrowing T
  ) throws -> Readable<LedgerEntry> {
    let key = CompletionKey(isTaskDeleted: true, completed: key.completed)
    guard let bytes = try tables.completions.bytes(forKey: key, in: transaction) else { return .missing }
    guard let record = try? CompletionRecord(decoding: bytes) else { return .unreadable }
    return .readable(LedgerEntry(key: key, record: record))
  }
}

/// Deleted tasks and lists, by their deletion.
enum TombstonesByChange: RecordIndex {
  static func keys(of tombstone: Tombstone) -> IndexKeys<ChangeKey> {
    guard let kind = ObjectKind(rawValue: tombstone.key.kindRawValue) else { return .none }
    return .one(ChangeKey(sequence: tombstone.record.stamp.changed, .init(deleted: kind), tombstone.key.id))
  }

  static func record<T: Transaction & ~Copyable>(
    of key: ChangeKey, in tables: Tables, _ transaction: borrowing T
  ) throws -> Readable<Tombstone> {
    let key = TombstoneKey(key.kind == .deletedList ? .list : .task, key.id)
    guard let bytes = try tables.tombstones.bytes(forKey: key, in: transaction) else { return .missing }
    guard let record = try? TombstoneRecord(decoding: bytes) else { return .unreadable }
    return .readable(Tombstone(key: key, record: record))
  }

  static func owns(_ key: ChangeKey) -> Bool { key.kind == .deletedTask || key.kind == .deletedList }
}

extension ChangeKey.Kind {
  /// The kind of the row that a deletion leaves.
  init(deleted kind: ObjectKind) {
    self = kind == .task ? .deletedTask : .deletedList
  }
}
