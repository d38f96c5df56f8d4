public import Foundation
public import Tally

/// One change, to be applied to a store and to the model.
public enum ModelChange: Sendable {
  case add(TaskDraft)
  case edit(UUID, title: String, notes: String?)
  case setState(UUID, TaskState)
  case complete(UUID, at: OffsetTimestamp)
  case cancel(UUID, at: OffsetTimestamp?)
  case schedule(UUID, CalendarDay?)
  case setDates(UUID, due: Timestamp?, reminder: Timestamp?)
  case snooze(UUID, until: Timestamp?)
  case moveToList(UUID, UUID?)
  case setFields(UUID, TaskFieldsDraft)
  case setParent(UUID, UUID?)
  case setRecurrence(UUID, Recurrence?)
  case editSeries(UUID, title: String, due: Timestamp?, tag: String?)
  case skip(UUID)
  case deleteOccurrence(UUID)
  case setDependencies(UUID, TaskIDSet)
  case setReminders(UUID, [Reminder])
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
    case .cancel(let id, let instant): try transaction.cancel(id, at: instant)
    case .schedule(let id, let day): try transaction.schedule(id, on: day)
    case .setDates(let id, let due, let reminder):
      try transaction.update(id) {
        $0.dueDate = due
        $0.reminderDate = reminder
      }
    case .snooze(let id, let instant?): try transaction.snooze(id, until: instant)
    case .snooze(let id, nil): try transaction.dismissReminder(of: id)
    case .moveToList(let id, let listID): try transaction.move(id, toList: listID)
    case .setFields(let id, let fields): try transaction.update(id, fields.set)
    case .setParent(let id, let parentID): try transaction.update(id) { $0.parentID = parentID }
    case .setRecurrence(let id, let recurrence): try transaction.update(id) { $0.recurrence = recurrence }
    case .editSeries(let id, let title, let due, let tag):
      try transaction.updateSeries(of: id) {
        $0.title = title
        $0.dueDate = due
        if let tag { $0.tags.insert(tag) }
      }
    case .skip(let id): try transaction.skip(id)
    case .deleteOccurrence(let id): try transaction.deleteOccurrence(id)
    case .setDependencies(let id, let ids): try transaction.update(id) { $0.dependsOn = ids }
    case .setReminders(let id, let reminders): try transaction.update(id) { $0.reminders = reminders }
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
    case .cancel(let id, let instant):
      if tasks[id]?.state == .completed { return .inconsistentTask }
      return update(id, now: now, timeZone: timeZone) {
        $0.state = .cancelled
        if let instant { $0.cancelledAt = instant }
      }
    case .schedule(let id, let day): return update(id, now: now, timeZone: timeZone) { $0.scheduledDate = day }
    case .setDates(let id, let due, let reminder):
      return update(id, now: now, timeZone: timeZone) {
        $0.dueDate = due
        $0.reminderDate = reminder
      }
    case .snooze(let id, let instant): return snooze(id, until: instant, now: now, timeZone: timeZone)
    case .moveToList(let id, let listID): return update(id, now: now, timeZone: timeZone) { $0.listID = listID }
    case .setFields(let id, let fields): return update(id, now: now, timeZone: timeZone, fields.set)
    case .setParent(let id, let parentID): return update(id, now: now, timeZone: timeZone) { $0.parentID = parentID }
    case .setRecurrence(let id, let recurrence):
      return update(id, now: now, timeZone: timeZone) { $0.recurrence = recurrence }
    case .editSeries(let id, let title, let due, let tag):
      guard let task = tasks[id] else { return .taskNotFound }
      guard let open = openTask(ofSeriesWith: task) else { return .invalidRecurrence }
      return update(open.id, now: now, timeZone: timeZone, isForSeries: true) {
        $0.title = title
        $0.dueDate = due
        if let tag { $0.tags.insert(tag) }
      }
    case .skip(let id):
      guard let task = tasks[id] else { return .taskNotFound }
      if task.recurrence == nil { return .invalidRecurrence }
      if task.state == .completed { return .inconsistentTask }
      if let refusal = update(id, now: now, timeZone: timeZone, { $0.state = .cancelled }) { return refusal }
      if !task.state.isClosed { storeSeries(of: task, timeZone) }
      return nil
    case .deleteOccurrence(let id): return deleteOccurrence(id, now: now, timeZone)
    case .setDependencies(let id, let ids): return update(id, now: now, timeZone: timeZone) { $0.dependsOn = ids }
    case .setReminders(let id, let reminders):
      return update(id, now: now, timeZone: timeZone) { task in
        let instants = reminders.compactMap(\.instant).sorted()
        if task.reminderDate.map(instants.contains) != true { task.reminderDate = instants.first }
        task.otherReminders = ReminderSet(reminders.filter { $0.instant == nil || $0.instant != task.reminderDate })
      }
    case .delete(let id): return delete(id)
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
      touched.insert(id)
    case .renameList(let id, let name):
      guard let list = lists[id] else { return .listNotFound }
      if isBlank(name) { return .blankListName }
      if list.name == name { return nil }
      lists[id]?.name = name
      lists[id]?.updatedAt = now
      touched.insert(id)
    case .deleteList(let id):
      if lists.removeValue(forKey: id) == nil { return .listNotFound }
      touched.insert(id)
      for task in tasks.values where task.listID == id {
        if !task.state.isClosed, let place = task.series { setSeries(nil, place.id) }
        remove(task.id)
      }
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
    store(task)
    return nil
  }

  private mutating func deleteOccurrence(_ id: UUID, now: Timestamp, _ timeZone: TimeZone) -> TallyError.Code? {
    guard var task = tasks[id] else { return .taskNotFound }
    if task.recurrence == nil { return .invalidRecurrence }
    let old = task
    if old.state.isClosed { return delete(id) }
    (task.state, task.cancelledAt) = (.cancelled, OffsetTimestamp(now, in: timeZone))
    followSeries(of: task, replacing: old, now: now, timeZone: timeZone)
    // What belongs to the next occurrence has moved there; the rest is deleted with its series.
    for part in subtasks(of: id) { _ = delete(part.id) }
    remove(id)
    storeSeries(of: old, timeZone)
    return nil
  }

  private mutating func update(
    _ id: UUID, now: Timestamp, timeZone: TimeZone, isForSeries: Bool = false, _ change: (inout TaskItem) -> Void
  ) -> TallyError.Code? {
    guard let old = tasks[id] else { return .taskNotFound }
    var (task, refusal) = changed(old, now: now, timeZone: timeZone, change)
    if refusal != nil { return refusal }
    if old.state.isClosed, task.state.isClosed, let former = old.recurrence, let rule = task.recurrence, rule != former,
      openTask(ofSeriesWith: old) != nil
    {
      return .invalidRecurrence
    }
    // What a person changes of the series, they change of the task that it would make here.
    var own: (old: TaskItem, new: TaskItem)?
    if isForSeries, let former = seriesTask(at: old, timeZone) {
      var new: TaskItem
      (new, refusal) = changed(former, now: now, timeZone: timeZone, change)
      if refusal != nil { return refusal }
      Self.moveSeries(of: &new, from: former, timeZone)
      Self.countRest(of: &new, from: former)
      own = (former, new)
      if new.series != former.series || new.recurrence != former.recurrence {
        (task.series, task.recurrence) = (new.series, new.recurrence)
      }
    }
    let isMoved = task.listID != old.listID || (task.listID == nil && task.scheduledDate != old.scheduledDate)
    if isMoved { task.sortOrder = lastSortOrder(for: task) }
    if task == old {
      if let own { adopt(own.new, replacing: own.old, of: old, timeZone) }
      return nil
    }
    if isBlank(task.title) { return .blankTitle }
    if task.parentID == task.id { return .invalidParent }
    if task.tags.contains("a,b") { return .invalidTag }
    if task.dependsOn.contains(task.id) { return .invalidDependency }
    if let listID = task.listID, lists[listID] == nil { return .listNotFound }
    let isMovedBranch = task.parentID != old.parentID || task.listID != old.listID
    if task.parentID != nil, isMovedBranch, !isParentValid(of: task) { return .invalidParent }
    if hasRefusedDependency(task, replacing: old) { return .invalidDependency }
    task.updatedAt = now
    store(task)
    keepSeries(of: task, replacing: old, by: own, timeZone: timeZone)
    updateSubtasks(of: task, replacing: old, now: now, timeZone: timeZone)
    followSeries(of: task, replacing: old, now: now, timeZone: timeZone)
    return nil
  }

  /// A task as a change leaves it, with what follows from the change; or why it is refused.
  private func changed(
    _ old: TaskItem, now: Timestamp, timeZone: TimeZone, _ change: (inout TaskItem) -> Void
  ) -> (task: TaskItem, refusal: TallyError.Code?) {
    var task = old
    change(&task)
    ReminderModel.follow(&task, from: old, in: timeZone)
    if let parentID = task.parentID, parentID != old.parentID, let parent = tasks[parentID] {
      task.listID = parent.listID
    }
    if task.state != .completed { task.completedAt = nil }
    if task.state != .cancelled { task.cancelledAt = nil }
    if task.state == .cancelled, task.cancelledAt == nil { task.cancelledAt = OffsetTimestamp(now, in: timeZone) }
    if task.state == .completed, task.completedAt == nil {
      task.completedAt = OffsetTimestamp(now, in: timeZone)
    }
    let refusal = Self.beginSeries(of: &task, replacing: old, now: now, timeZone: timeZone)
    return (task, refusal)
  }

  private mutating func snooze(
    _ id: UUID, until instant: Timestamp?, now: Timestamp, timeZone: TimeZone
  ) -> TallyError.Code? {
    guard let task = tasks[id] else { return .taskNotFound }
    if task.state.isClosed, instant != nil { return .inconsistentTask }
    var (isRepeated, above) = (false, Optional(task))
    while let next = above {
      isRepeated = isRepeated || next.recurrence != nil
      above = next.parentID.flatMap { tasks[$0] }
    }
    return update(id, now: now, timeZone: timeZone) {
      let original = ReminderModel.reminderOfSeries($0)
      let others = ($0.otherReminders, ReminderModel.othersOfSeries($0))
      ReminderModel.replace(in: &$0, with: instant, now: now, timeZone)
      let left = $0.otherReminders
      let hasLost = others.0.contains { $0.relative != nil && !left.contains($0) }
      if isRepeated || hasLost { ReminderModel.note(original, in: &$0) }
      if isRepeated || hasLost, !others.0.isEmpty || !left.isEmpty {
        ReminderModel.noteOthers(others.1 ?? others.0, in: &$0)
      }
    }
  }

  func subtasks(of id: UUID) -> [TaskItem] {
    tasks.values.filter { $0.parentID == id }.sorted(by: Self.viewOrder)
  }

  private mutating func delete(_ id: UUID) -> TallyError.Code? {
    guard let task = tasks[id] else { return .taskNotFound }
    remove(id)
    if !task.state.isClosed, let place = task.series { setSeries(nil, place.id) }
    for task in subtasks(of: id) { _ = delete(task.id) }
    return nil
  }

  private mutating func updateSubtasks(of task: TaskItem, replacing old: TaskItem, now: Timestamp, timeZone: TimeZone) {
    let isClosed = task.state.isClosed && task.state != old.state
    guard isClosed || task.listID != old.listID else { return }
    let later = isClosed ? Set(partsOfNext(of: task, on: CalendarDay(containing: now, in: timeZone)).map(\.id)) : []
    for subtask in subtasks(of: task.id) {
      _ = update(subtask.id, now: now, timeZone: timeZone) {
        $0.listID = task.listID
        guard isClosed, !$0.state.isClosed, !later.contains(subtask.id) else { return }
        $0.state = task.state
        $0.completedAt = task.completedAt
        $0.cancelledAt = task.cancelledAt
      }
    }
  }

  /// Whether the parent exists in the same list, and no branch is more than eight levels deep or its own ancestor.
  private func isParentValid(of task: TaskItem) -> Bool {
    guard let parentID = task.parentID, tasks[parentID]?.listID == task.listID, tasks[parentID] != nil else {
      return false
    }
    var ancestors = [parentID]
    while let next = ancestors.last.flatMap({ tasks[$0]?.parentID }), ancestors.count < 20 { ancestors.append(next) }
    return !ancestors.contains(task.id) && ancestors.count + height(of: task.id) <= 8
  }

  /// Whether a task newly depends on one that waits for it, or on one above it.
  private func hasRefusedDependency(_ task: TaskItem, replacing old: TaskItem) -> Bool {
    guard task.dependsOn != old.dependsOn || task.parentID != old.parentID else { return false }
    var above = task.parentID
    while let ancestor = above {
      if task.dependsOn.contains(ancestor) { return true }
      above = tasks[ancestor]?.parentID
    }
    var reached = Set(task.dependsOn).subtracting(old.dependsOn)
    while true {
      let next = reached.union(reached.flatMap { $0 == task.id ? [] : Array(tasks[$0]?.dependsOn ?? []) })
      if next.contains(task.id) { return true }
      if next == reached { return false }
      reached = next
    }
  }

  private func height(of id: UUID) -> Int {
    subtasks(of: id).map { 1 + height(of: $0.id) }.max() ?? 0
  }

  /// Last among the tasks of its list or the inbox, and among those of its day.
  func lastSortOrder(for task: TaskItem) -> Int64 {
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
