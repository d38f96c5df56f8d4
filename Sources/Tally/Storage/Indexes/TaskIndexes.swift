// The indexes of tasks. The file of each key type describes the order.

/// Tasks in a list and tasks in the inbox; a task with a day and no list is in `byDay` only.
enum ByPlace: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<PlaceKey> { IndexKeys(PlaceKey(of: record.item)) }
}

/// Tasks with a scheduled day.
enum ByDay: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<DayKey> { IndexKeys(DayKey(of: record.item)) }
}

/// Tasks with a due date or a due day, and open tasks that have only a reminder.
enum ByDue: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<DueKey> { IndexKeys(DueKey(of: record.item)) }
}

/// Open tasks with a reminder.
enum ByReminder: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<InstantKey> { IndexKeys(InstantKey(reminderOf: record.item)) }
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

/// Sub-tasks, by their parents.
enum ByParent: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<GroupKey> {
    IndexKeys(record.item.parentID.map { GroupKey(of: record.item, in: $0) })
  }
}

/// All tasks, by the end of their ids.
enum ByTail: RecordIndex {
  static func keys(of record: TaskRecord) -> IndexKeys<TailKey> { .one(TailKey(record.item.id)) }
}
