public import Foundation
public import Tally

/// One change, to be applied to a store and to the model.
public enum ModelChange: Sendable {
  case add(TaskDraft)
  case edit(UUID, title: String, notes: String?)
  case setState(UUID, TaskState)
  case complete(UUID, at: OffsetTimestamp)
  case schedule(UUID, CalendarDay?)
  case setDates(UUID, due: Timestamp?, reminder: Timestamp?)
  case moveToList(UUID, UUID?)
  case delete(UUID)
  case addList(UUID, name: String)
  case renameList(UUID, name: String)
  case deleteList(UUID)
}

extension ModelChange {
  /// Applies the change to a store.
  public func apply(to transaction: inout StoreWriteTransaction) throws {
    switch self {
    case .add(let draft): _ = try transaction.add(draft)
    case .edit(let id, let title, let notes):
      try transaction.update(id) {
        $0.title = title
        $0.notes = notes
      }
    case .setState(let id, let state): try transaction.setState(state, of: id)
    case .complete(let id, let instant): try transaction.complete(id, at: instant)
    case .schedule(let id, let day): try transaction.schedule(id, on: day)
    case .setDates(let id, let due, let reminder):
      try transaction.update(id) {
        $0.dueDate = due
        $0.reminderDate = reminder
      }
    case .moveToList(let id, let listID): try transaction.move(id, toList: listID)
    case .delete(let id): try transaction.delete(id)
    case .addList(let id, let name): _ = try transaction.addList(name: name, id: id)
    case .renameList(let id, let name): try transaction.renameList(id, to: name)
    case .deleteList(let id): try transaction.deleteList(id)
    }
  }
}

extension TaskModel {
  /// Applies the change to the model; refuses it where a store must, with the same code.
  public mutating func apply(
    _ change: ModelChange, now: Timestamp, timeZone: TimeZone
  ) -> TallyError.Code? {
    switch change {
    case .add(let draft): return add(draft, now: now)
    case .edit(let id, let title, let notes):
      return update(id, now: now, timeZone: timeZone) {
        $0.title = title
        $0.notes = notes
      }
    case .setState(let id, let state): return update(id, now: now, timeZone: timeZone) { $0.state = state }
    case .complete(let id, let instant):
      return update(id, now: now, timeZone: timeZone) {
        $0.state = .completed
        $0.completedAt = instant
      }
    case .schedule(let id, let day): return update(id, now: now, timeZone: timeZone) { $0.scheduledDate = day }
    case .setDates(let id, let due, let reminder):
      return update(id, now: now, timeZone: timeZone) {
        $0.dueDate = due
        $0.reminderDate = reminder
      }
    case .moveToList(let id, let listID): return update(id, now: now, timeZone: timeZone) { $0.listID = listID }
    case .delete(let id): return tasks.removeValue(forKey: id) == nil ? .taskNotFound : nil
    case .addList, .renameList, .deleteList: return applyToLists(change, now: now)
    }
  }

  private mutating func applyToLists(_ change: ModelChange, now: Timestamp) -> TallyError.Code? {
    switch change {
    case .addList(let id, let name):
      if lists[id] != nil { return .duplicateID }
      if isBlank(name) { return .blankListName }
      let last = lists.values.map(\.sortOrder).max()
      lists[id] = TaskList(
        id: id, name: name, sortOrder: last.map { $0 + (1 << 20) } ?? 0, createdAt: now, updatedAt: now)
    case .renameList(let id, let name):
      guard let list = lists[id] else { return .listNotFound }
      if isBlank(name) { return .blankListName }
      if list.name == name { return nil }
      lists[id]?.name = name
      lists[id]?.updatedAt = now
    case .deleteList(let id):
      if lists.removeValue(forKey: id) == nil { return .listNotFound }
      tasks = tasks.filter { $0.value.listID != id }
    default: break
    }
    return nil
  }

  private mutating func add(_ draft: TaskDraft, now: Timestamp) -> TallyError.Code? {
    let id = draft.id ?? UUID()
    if tasks[id] != nil { return .duplicateID }
    if isBlank(draft.title) { return .blankTitle }
    if let listID = draft.listID, lists[listID] == nil { return .listNotFound }
    var task = TaskItem(
      id: id, title: draft.title, notes: draft.notes, scheduledDate: draft.scheduledDate, dueDate: draft.dueDate,
      reminderDate: draft.reminderDate, listID: draft.listID, createdAt: now, updatedAt: now)
    task.sortOrder = lastSortOrder(for: task)
    tasks[id] = task
    return nil
  }

  private mutating func update(
    _ id: UUID, now: Timestamp, timeZone: TimeZone, _ change: (inout TaskItem) -> Void
  ) -> TallyError.Code? {
    guard let old = tasks[id] else { return .taskNotFound }
    var task = old
    change(&task)
    if task.state != .completed { task.completedAt = nil }
    if task.state == .completed, task.completedAt == nil {
      task.completedAt = OffsetTimestamp(now, in: timeZone)
    }
    let isMoved = task.listID != old.listID || (task.listID == nil && task.scheduledDate != old.scheduledDate)
    if isMoved { task.sortOrder = lastSortOrder(for: task) }
    if task == old { return nil }
    if isBlank(task.title) { return .blankTitle }
    if let listID = task.listID, lists[listID] == nil { return .listNotFound }
    task.updatedAt = now
    tasks[id] = task
    return nil
  }

  /// Last among the tasks of its list or the inbox, and among those of its day.
  private func lastSortOrder(for task: TaskItem) -> Int64 {
    let neighbors = tasks.values.filter { other in
      guard other.id != task.id else { return false }
      let isSameDay = task.scheduledDate != nil && other.scheduledDate == task.scheduledDate
      let isSameList = task.listID != nil && other.listID == task.listID
      let isInbox = [task, other].allSatisfy { $0.listID == nil && $0.scheduledDate == nil }
      return isSameDay || isSameList || isInbox
    }
    return neighbors.map(\.sortOrder).max().map { $0 + (1 << 20) } ?? 0
  }

  private func isBlank(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0.properties.isWhitespace }
  }
}
