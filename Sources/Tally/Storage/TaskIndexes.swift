import Foundation
import TallyEngine

// The indexes of tasks. The file of each key type describes the order.

/// Tasks in a list and tasks in the inbox; a task with a day and no list is in `byDay` only.
enum ByPlace: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<PlaceKey> { IndexKeys(PlaceKey(of: record.item)) }
}

/// Tasks with a scheduled day.
enum ByDay: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<DayKey> { IndexKeys(DayKey(of: record.item)) }
}

/// Tasks with a due date or a due day, and open tasks that have only a reminder; cancellations and the starts of open
/// tasks once more.
enum ByDue: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<DueKey> {
    let due = DueKey(of: record.item)
    guard let other = DueKey(cancellationOf: record.item) ?? DueKey(startOf: record.item) else { return IndexKeys(due) }
    // The keys ascend: a wall-clock time comes after a start.
    return .several([due, other].compactMap(\.self).sorted { $0.kindRawValue < $1.kindRawValue })
  }
}

/// Open tasks with reminders, an entry for each reminder.
///
/// That of a wall-clock time, or of a time before the task is due or planned, is where it would be in UTC, at most
/// ``mostShift`` from where it is in any zone.
enum ByReminder: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<InstantKey> {
    let task = record.item.shown(in: .gmt)
    guard task.extrasBox != nil, !task.otherReminders.isEmpty else { return IndexKeys(InstantKey(reminderOf: task)) }
    guard task.isOpen else { return .none }
    return .several(
      task.reminderInstants(in: .gmt).map { InstantKey(microseconds: $0.microsecondsSince1970, id: task.id) })
  }

  /// The local day may be the one before or after that in UTC, and its time is up to 16 hours from UTC.
  static let mostShift = 2 * QuarterHour.microsecondsPerDay
}

/// All tasks, by their creation.
enum ByCreated: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<InstantKey> { .one(InstantKey(creationOf: record.item)) }
}

/// The active tasks of all places.
enum ByActive: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<OrderKey> {
    record.item.state == .active ? .one(OrderKey(of: record.item)) : .none
  }
}

/// Tasks with tags: one entry for each tag.
enum ByTag: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<GroupKey> {
    let tags = record.item.tags
    if tags.isEmpty { return .none }
    return .several(tags.ids.map { GroupKey(of: record.item, in: $0) })
  }
}

/// Sub-tasks, by their parents, and tasks that depend on others, by each of these.
enum ByParent: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<GroupKey> {
    let (task, dependencies) = (record.item, record.item.dependsOn)
    let parent = task.parentID.map { GroupKey(of: task, in: $0) }
    if dependencies.isEmpty { return IndexKeys(parent) }
    let dependent = dependencies.map {
      GroupKey(groupID: $0, rankRawValue: GroupKey.dependentRank, order: OrderKey(of: task))
    }
    // A task above may be among them, as two devices can bring that about.
    let keys = dependent + [parent].compactMap(\.self)
    return .several(
      keys.sorted {
        $0.groupID.words == $1.groupID.words ? $0.rankRawValue < $1.rankRawValue : $0.groupID.words < $1.groupID.words
      })
  }
}

/// All tasks, by the end of their ids.
enum ByTail: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<TailKey> { .one(TailKey(record.item.id)) }
}

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
