import LMDB

/// The index entries that one task has: what is absent here must be absent in the index.
///
/// The only place that says which task stands in which index. `RecordWriter` keeps the tables equal to it, the
/// integrity check compares them with it.
struct IndexEntries: Equatable {
  let place: PlaceKey?
  let day: DayKey?
  let due: DueKey?
  let reminder: InstantKey?
  let created: InstantKey
  let active: OrderKey?
  let tail: TailKey
  let completion: CompletionKey?

  init(of task: TaskItem) {
    place = PlaceKey(of: task)
    day = DayKey(of: task)
    due = DueKey(of: task)
    reminder = InstantKey(reminderOf: task)
    created = InstantKey(creationOf: task)
    active = task.state == .active ? OrderKey(of: task) : nil
    tail = TailKey(task.id)
    completion = CompletionKey(of: task)
  }
}
