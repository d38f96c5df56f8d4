public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a new task at the end of its place.
  ///
  /// ```swift
  /// let task = try store.writeAndWait { transaction in
  ///   try transaction.add("Renew the passport") { $0.dueDate = deadline }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - title: not blank.
  ///   - place: where the task is captured: the inbox, today, upcoming (tomorrow) or a list.
  ///   - id: of any UUID version; `nil` generates a UUIDv7.
  ///   - edit: sets further fields. If it completes the task without a completion time, the task gets one.
  /// - Returns: the task as stored.
  /// - Throws: `blankTitle`, `listNotFound`, `duplicateID` or `valueOutOfRange`, `invalidRecurrence` if a rule has
  ///   already ended or never gives a day, `inconsistentTask` if the closure replaces the task with another one, or what
  ///   the closure throws. On an error nothing is stored.
  @discardableResult
  public mutating func add(
    _ title: String, to place: CapturePlace = .inbox, id: UUID? = nil,
    _ edit: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    let id = id ?? ids.next(at: now)
    if try tables.tasks.contains(IDKey(id), in: base) { throw TallyError.duplicateID(id) }
    var task = TaskItem(id: id, title: title, createdAt: stamp)
    switch place {
    case .inbox: break
    case .today: task.scheduledDate = today
    case .upcoming: task.scheduledDate = try today.adding(days: 1)
    case .list(let id): task.listID = id
    }
    try edit(&task)
    guard task.id == id else { throw TallyError.foreignTask }
    normalizeCompletion(of: &task)
    try task.checkRecurrence(replacing: nil, today: today, in: calendar.timeZone)
    task.planFirstOccurrence(replacing: nil, today: today)
    task.updateSeries(replacing: nil, in: calendar)
    try adoptList(of: &task, replacing: nil)
    try check(task, replacing: nil)
    if task.sortOrder == 0 { task.sortOrder = try lastSortOrder(ofPlacesOf: task) }
    try keepSeries(of: task, replacing: nil)
    try letFloat(&task, replacing: nil)
    try write(RecordChange<TaskRecord>(from: nil, to: task, at: commitSequence))
    try followSeries(of: task, replacing: nil)
    return task
  }

  /// Changes a task.
  ///
  /// ```swift
  /// try store.writeAndWait { try $0.update(id) { $0.title = "Renew both passports" } }
  /// ```
  ///
  /// The time of change is set. A task that becomes completed without a completion time gets one, and a reopened one
  /// loses it; the same holds for a cancelled task. A task that moves to another list, or to another day while in no
  /// list, goes to the end of its new place. Sub-tasks follow a parent to another list, and the open ones are completed
  /// or cancelled with it. If the task gets another day, due day or due time, its reminder moves along, see
  /// ``ReminderMove``, unless the closure sets another reminder. A change that changes nothing writes nothing.
  ///
  /// If the task belongs to a series, only this task changes; ``updateSeries(of:keepingReminder:_:)`` changes the
  /// series. A new recurrence, or its end, also concerns the tasks that follow.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - keepsReminder: whether to keep the reminder that the closure leaves, even if it is the old one on the old day.
  ///   - change: changes the task.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`, `blankTitle`, `listNotFound`, `invalidParent`, `invalidDependency`, another error of
  ///   ``TaskItem/validate()``,
  ///   `invalidRecurrence` if a new rule has already ended, never gives a day, or is for a closed task whose series has an
  ///   open one, `inconsistentTask` if the closure replaces the task with another one, or what the closure throws. On an
  ///   error nothing is changed.
  @discardableResult
  public mutating func update(
    _ id: UUID, keepingReminder keepsReminder: Bool = false, _ change: (inout TaskItem) throws -> Void
  ) throws -> TaskItem {
    try update(id, closingSubtasks: true, keepingReminder: keepsReminder, change)
  }

  @discardableResult
  mutating func update(
    _ id: UUID, closingSubtasks: Bool, keepingReminder: Bool = false, inSeries isForSeries: Bool = false,
    _ change: (inout TaskItem) throws -> Void
  ) throws -> TaskItem {
    let record = try require(TaskRecord.self, id)
    let old = record.item.shown(in: calendar.timeZone)
    var (task, generatedFields) = try changed(old, keepingReminder: keepingReminder, change)
    let occurrence =
      isForSeries ? try occurrence(ofSeriesWith: old, as: task, keepingReminder: keepingReminder, change) : nil
    if let occurrence, occurrence.isMoved {
      (task.recurrence, task.series) = (occurrence.new.recurrence, occurrence.new.series)
    }
    try checkRuleOfClosed(task, replacing: old)
    if Place(of: task) != Place(of: old), task.sortOrder == old.sortOrder {
      task.sortOrder = try lastSortOrder(ofPlacesOf: task)
    }
    let isUnchanged = task.isIdentical(to: old)
    guard !isUnchanged || occurrence?.isChanged ?? false else { return task }
    if !isUnchanged { task.updatedAt = timeOfChange(after: old.updatedAt) }
    try check(task, replacing: old)
    try keepSeries(of: task, replacing: old, by: occurrence)
    try letFloat(&task, replacing: old)
    // The times of a task that a person has not changed may float again.
    if isUnchanged, task.isIdentical(to: old) { return task }
    var taskChange = RecordChange<TaskRecord>(from: record, to: task, at: commitSequence)
    taskChange.generatedFields = generatedFields
    try write(taskChange)
    try updateSubtasks(of: task, replacing: old, closing: closingSubtasks)
    try followSeries(of: task, replacing: old)
    return task
  }

  /// A task as a change leaves it, with what follows from the change, and the fields that the person has not written.
  func changed(
    _ old: TaskItem, keepingReminder: Bool, _ change: (inout TaskItem) throws -> Void
  ) throws -> (task: TaskItem, generatedFields: SyncFields) {
    var task = old
    try change(&task)
    guard task.id == old.id else { throw TallyError.foreignTask }
    if !keepingReminder, task.reminderDate == old.reminderDate, task.otherReminders == old.otherReminders {
      task.moveReminder(from: old, in: calendar.timeZone)
    }
    task.dropOverwrittenSnooze(replacing: old)
    normalizeCompletion(of: &task)
    try task.checkRecurrence(replacing: old, today: today, in: calendar.timeZone)
    let isPlanned = task.scheduledDate != nil
    task.planFirstOccurrence(replacing: old, today: today)
    task.updateSeries(replacing: old, in: calendar)
    try adoptList(of: &task, replacing: old)
    return (task, isPlanned || task.scheduledDate == nil ? [] : .scheduledDate)
  }

  /// Deletes a task with its sub-tasks; its list stays, and so do its completions in the statistics.
  ///
  /// The series of an open task ends; ``deleteOccurrence(_:)`` leaves out one task of it.
  ///
  /// - Returns: the deleted task.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func delete(_ id: UUID) throws -> TaskItem {
    try delete(id, endingSeries: true)
  }

  @discardableResult
  mutating func delete(_ id: UUID, endingSeries endsSeries: Bool) throws -> TaskItem {
    let old = try require(TaskRecord.self, id)
    for subtaskID in try tables.subtaskIDs(of: id, in: base) { try delete(subtaskID, endingSeries: true) }
    if endsSeries, old.item.isOpen, let place = old.item.series { try endSeries(place.id) }
    try write(RecordChange<TaskRecord>(from: old, to: nil, at: commitSequence))
    return old.item.shown(in: calendar.timeZone)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// The time of a change to something that has been changed before.
  ///
  /// It is never earlier than the last change, whatever the clock says, so that "changed since T" always finds it. It
  /// is later if the clock allows that, even if this needs a fraction of a second.
  func timeOfChange(after last: Timestamp) -> Timestamp {
    stamp > last ? stamp : max(now, last)
  }

  /// Writes one change of a task.
  mutating func write(_ taskChange: RecordChange<TaskRecord>) throws {
    try change { (writer, images, base) throws(LMDBError) in
      try writer.apply(taskChange, recording: &images, in: &base)
    }
  }

  /// Checks that a task to be stored obeys the model's rules, that its list and parent exist, and that it can be sent.
  func check(_ task: TaskItem, replacing old: TaskItem?) throws {
    try task.validate()
    try checkSendable(task, replacing: old)
    if let listID = task.listID { try checkList(listID) }
    try checkParent(of: task, replacing: old)
    try checkDependencies(of: task, replacing: old)
  }

  /// Checks that a list exists.
  func checkList(_ id: UUID) throws {
    guard try tables.lists.contains(IDKey(id), in: base) else { throw TallyError.listNotFound(id) }
  }

  /// Sets the time of completion or cancellation of a closed task if it is missing, and clears those of other states.
  private func normalizeCompletion(of task: inout TaskItem) {
    if !task.isCompleted { task.completedAt = nil }
    if !task.isCancelled { task.cancelledAt = nil }
    guard task.isClosed, task.closedAt == nil else { return }
    // A program that stores fractions may have created the task within this second; the time must not be earlier.
    let time = OffsetTimestamp(stamp >= task.createdAt ? stamp : now, in: calendar.timeZone)
    if task.isCompleted { task.completedAt = time } else { task.cancelledAt = time }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The sort order of a task that goes to the end of its places: its list or the inbox, and its day.
  func lastSortOrder(ofPlacesOf task: TaskItem) throws -> Int64 {
    var last: Int64?
    if task.listID != nil || task.scheduledDate == nil {
      last = try lastSortOrder(in: tables.byPlace, excluding: task.id) { _, bound in
        PlaceKey(listID: task.listID, rankRawValue: bound, order: .lowest)
      }
    }
    if let day = task.scheduledDate?.dayNumber {
      let inDay = try lastSortOrder(in: tables.byDay, excluding: task.id) { rank, bound in
        let isCompleted = rank == StateRank.completed.rawValue
        return DayKey(isCompleted: isCompleted, dayNumber: day, rankRawValue: bound, order: .lowest)
      }
      last = max(last, inDay)
    }
    // In the rare case that the last task is at the limit, both share it, and the time of creation orders them.
    return SortOrder.between(last, nil) ?? SortOrder.limit
  }

  /// The last sort order of all ranks, whose first and last possible keys a closure makes.
  private func lastSortOrder<Key: PlacedKey>(
    in index: Index<Key>, excluding id: UUID, _ key: (_ rank: UInt8, _ bound: UInt8) -> Key
  ) throws -> Int64? {
    var cursor = try index.cursor(in: base)
    var last: Int64?
    for rank in 0..<StateRank.endRawValue {
      guard try cursor.move(toLastBefore: key(rank, rank + 1)) else { continue }
      if try cursor.key().id == id {
        guard try cursor.previous() else { continue }
      }
      guard !cursor.keyBytes.precedes(KeyBytes(key(rank, rank)).bytes) else { continue }
      last = max(last, try cursor.key().order.sortOrder)
    }
    return last
  }
}

/// A place where a task is captured, which decides its list and day.
public enum CapturePlace: Hashable, Sendable {
  /// No list and no day.
  case inbox
  /// Scheduled for the current day.
  case today
  /// Scheduled for the day after the current one.
  case upcoming
  /// In a list, without a day.
  case list(UUID)
}

/// The greater of two optional numbers.
private func max(_ left: Int64?, _ right: Int64?) -> Int64? {
  guard let left, let right else { return left ?? right }
  return Swift.max(left, right)
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a task with every field as given, replacing the one with its id; for migrating from another store.
  ///
  /// ```swift
  /// try store.writeAndWait { transaction in
  ///   try transaction.put(list)
  ///   for task in tasks { try transaction.put(task) }
  /// }
  /// ```
  ///
  /// Unlike ``add(_:to:id:_:)`` and ``update(_:keepingReminder:_:)`` it derives nothing: the times of creation and
  /// change, the sort order and the completion are those of the task, and no next task of a series is created. The
  /// model's rules apply, the statistics are updated, sub-tasks follow their parent to another list, and the change can
  /// be undone. For many new tasks `insert(contentsOf:)` is faster.
  ///
  /// - Parameter task: the task; its list and its parent must exist.
  /// - Returns: whether anything changed; if the task is already stored, byte for byte, nothing is written.
  /// - Throws: `listNotFound`, `invalidParent`, `invalidDependency`, what ``TaskItem/validate()`` throws, or what the
  ///   storage throws. On an error nothing is stored.
  @discardableResult
  public mutating func put(_ task: TaskItem) throws -> Bool {
    let old = try record(TaskRecord.self, task.id)
    var task = task
    if let old { task.float(as: old.item.shown(in: calendar.timeZone)) }
    try check(task, replacing: old?.item)
    guard old?.item.isIdentical(to: task) != true else { return false }
    try write(RecordChange<TaskRecord>(from: old, to: task, at: commitSequence))
    if let old { try updateSubtasks(of: task, replacing: old.item, closing: false) }
    return true
  }

  /// Stores a list with every field as given, replacing the one with its id; for migrating from another store.
  ///
  /// Its colour is stored in upper case.
  ///
  /// - Returns: whether anything changed.
  /// - Throws: what ``TaskList/validate()`` throws, or what the storage throws. On an error nothing is stored.
  @discardableResult
  public mutating func put(_ list: TaskList) throws -> Bool {
    try list.validate()
    let old = try record(ListRecord.self, list.id)
    guard old?.item.isIdentical(to: list.normalized) != true else { return false }
    try write(RecordChange<ListRecord>(from: old, to: list.normalized, at: commitSequence))
    return true
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores many tasks with every field as given, for migrating from another store.
  ///
  /// It is faster than `add`, because each table is written once, in key order.
  ///
  /// - Throws: `duplicateID` if an id is in use or appears twice; otherwise as `add`. On an error nothing is stored.
  /// - Complexity: a few microseconds for each task with all its index entries.
  public mutating func insert(contentsOf tasks: some Sequence<TaskItem>) throws {
    var (changes, deltas) = (try TaskBatch(with: recordWriter, in: base), CounterDeltas())
    var knownLists: Set<UUID> = []
    let stamp = ChangeStamp(replacing: nil, at: commitSequence)
    // Iterates over an array whatever the caller's type; a caller's array is not copied.
    let tasks = Array(tasks)
    try checkParents(of: tasks)
    try checkDependencies(of: tasks)
    var rest = tasks[...]
    while !rest.isEmpty {
      let records = try rest.prefix(TaskRecordBatch.bulkCount).map { task in
        try task.validate()
        try checkSendable(task, replacing: nil)
        if let listID = task.listID, knownLists.insert(listID).inserted { try checkList(listID) }
        return TaskRecord(item: task, stamp: stamp)
      }
      try changes.insert(records, counting: &deltas)
      // Reserves memory by the size of the first tasks, and a sixteenth more because tasks differ in size.
      if rest.count == tasks.count { changes.reserve(times: Double(tasks.count) / Double(records.count) * 17 / 16) }
      rest = rest.dropFirst(TaskRecordBatch.bulkCount)
    }
    if let taken = try changes.firstTakenID(base) { throw TallyError.duplicateID(taken.id) }
    try write(&changes, counting: &deltas)
    try apply(deltas)
  }

  /// Checks that new tasks obey the rules of sub-tasks; their parents may be among them.
  private func checkParents(of tasks: [TaskItem]) throws {
    guard tasks.contains(where: { $0.parentID != nil }) else { return }
    let new = Dictionary(tasks.map { ($0.id, Parentage(of: $0)) }) { first, _ in first }
    for task in tasks where task.parentID != nil {
      try SubtaskRules.check(task.id, Parentage(of: task)) { try new[$0] ?? tables.parentage(of: $0, in: base) }
    }
  }

  /// Checks that new tasks obey the rules of dependencies; the others may be among them.
  private func checkDependencies(of tasks: [TaskItem]) throws {
    guard tasks.contains(where: { !$0.dependsOn.isEmpty }) else { return }
    let new = Dictionary(tasks.map { ($0.id, $0) }) { first, _ in first }
    // One search for all, in which completed tasks count: they may be reopened.
    let graph = BlockingGraph()
    func look(_ id: UUID) throws -> Dependencies? {
      guard let ids = try new[id]?.dependsOn ?? dependencies(of: id)?.ids else { return nil }
      return Dependencies(isOpen: true, ids: ids)
    }
    for task in tasks where !task.dependsOn.isEmpty {
      try DependencyRules.checkAncestors(in: task.dependsOn, above: task.parentID) {
        try new[$0].map(Parentage.init(of:)) ?? tables.parentage(of: $0, in: base)
      }
      let cycle = try graph.cycle(of: task.id, look)
      guard !cycle.isEmpty else { continue }
      // It names the tasks in their order, unless they are too many.
      try DependencyRules.checkCycle(through: task.id, to: task.dependsOn, look)
      throw TallyError.dependencyCycle(cycle.sorted { $0.words < $1.words })
    }
  }

  /// Writes many changes of different tasks without the counters; `apply(_:)` must follow in the same transaction.
  ///
  /// A long import is split into batches that may all affect the same days, so the counters are written once at the
  /// end.
  mutating func write(_ changes: inout TaskBatch, counting deltas: inout CounterDeltas) throws {
    guard !changes.isEmpty else { return }
    try change { (_, images, base) throws(LMDBError) in
      try changes.apply(counting: &deltas, recording: &images, in: &base)
    }
  }

  /// Writes the gathered counters.
  mutating func apply(_ deltas: CounterDeltas) throws {
    guard !deltas.isEmpty else { return }
    try change { (writer, _, base) throws(LMDBError) in try deltas.apply(to: writer.tables, in: &base) }
  }
}

extension TaskList {
  /// Whether two lists are equal byte for byte.
  func isIdentical(to other: TaskList) -> Bool {
    self == other && name.utf8.elementsEqual(other.name.utf8)
  }

  /// The list as it is stored: with its colour in upper case.
  var normalized: TaskList {
    var list = self
    list.colorHex = colorHex.uppercased()
    return list
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The open tasks that block a task: those on which it depends, except the ones that wait for the task itself.
  ///
  /// ```swift
  /// let isBlocked = try store.read { try !$0.blockers(of: id).isEmpty }
  /// ```
  ///
  /// - Parameter id: The task.
  /// - Returns: The tasks, in the order of their ids; none for a closed task.
  /// - Throws: `taskNotFound`.
  /// - Complexity: One lookup for each task on which it depends, and for each on which those depend.
  public func blockers(of id: UUID) throws -> [TaskItem] {
    guard try !require(TaskRecord.self, id).item.dependsOn.isEmpty else { return [] }
    return try BlockingGraph().blockers(of: id) { try dependencies(of: $0) }.map { try indexedTask($0) }
  }

  /// The tasks that depend on a task, in any state, in the user's order; the task itself need not exist.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: Linear in their number.
  public func dependents(of id: UUID) throws -> [TaskItem] {
    try tables.dependentIDs(of: id, in: base).map { try indexedTask($0) }
  }

  /// The open tasks that would be free, or are free now, if a task were closed: it is the only one that blocks them.
  ///
  /// - Parameter id: The task, open or closed.
  /// - Returns: The tasks, in the user's order.
  /// - Throws: What the storage throws.
  /// - Complexity: One lookup for each dependency of the tasks that depend on it.
  package func tasksWaitingOnly(for id: UUID) throws -> [TaskItem] {
    let graph = BlockingGraph()
    return try dependents(of: id).filter { task in
      try task.isOpen && graph.blockers(of: task.id) { try dependencies(of: $0) }.allSatisfy { $0 == id }
    }
  }

  /// The open tasks that depend on each other in a cycle with a task, itself included; empty if it is in none.
  ///
  /// A cycle is refused where it is written, but the changes of two devices may make one. Its tasks do not block each
  /// other.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: As ``blockers(of:)``.
  public func dependencyCycle(of id: UUID) throws -> [TaskItem] {
    let cycle = try BlockingGraph().cycle(of: id) { try dependencies(of: $0) }
    return try cycle.sorted { $0.words < $1.words }.map { try indexedTask($0) }
  }

  /// The tasks of some that are blocked.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: As ``blockers(of:)``, for those that depend on others; the rest cost nothing.
  package func blockedIDs(among tasks: some Sequence<TaskItem>) throws -> Set<UUID> {
    let graph = BlockingGraph()
    let blocked = try tasks.filter { task in
      try !task.dependsOn.isEmpty && task.isOpen && graph.rank(of: task.id) { try dependencies(of: $0) } > 0
    }
    return Set(blocked.map(\.id))
  }

  /// The dependencies of a task; `nil` if the task does not exist.
  func dependencies(of id: UUID) throws -> Dependencies? { try tables.dependencies(of: id, in: base) }

  /// Whether the store may have tasks that depend on others.
  var mayHaveDependencies: Bool {
    get throws { try header().requiredFeatures.contains(.taskLife) }
  }

  /// Adds the tasks that depend on some tasks, and those that depend on these in turn.
  func addDependents(of ids: inout Set<UUID>) throws {
    guard try mayHaveDependencies else { return }
    var open = Array(ids)
    while let id = open.popLast() {
      for dependent in try tables.dependentIDs(of: id, in: base) where ids.insert(dependent).inserted {
        open.append(dependent)
      }
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Checks that a task neither waits for itself nor for a task above it.
  func checkDependencies(of task: TaskItem, replacing old: TaskItem?) throws {
    guard !task.dependsOn.isEmpty else { return }
    let known = old?.dependsOn ?? []
    if task.dependsOn != known || task.parentID != old?.parentID {
      try DependencyRules.checkAncestors(in: task.dependsOn, above: task.parentID) {
        try tables.parentage(of: $0, in: base)
      }
    }
    let added = task.dependsOn.filter { !known.contains($0) }
    if !added.isEmpty { try DependencyRules.checkCycle(through: task.id, to: added) { try dependencies(of: $0) } }
  }
}
