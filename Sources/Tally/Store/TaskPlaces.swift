public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Moves a task to the end of a list, or out of its list.
  ///
  /// - Throws: `taskNotFound` or `listNotFound`.
  @discardableResult
  public mutating func move(_ id: UUID, toList listID: UUID?) throws -> TaskItem {
    try update(id) { $0.listID = listID }
  }

  /// Moves a task directly before another one in the same place.
  ///
  /// The place is the list both belong to, else the inbox, else the day both are scheduled for. A view groups tasks by
  /// state: a task in another state than the anchor gets the position that it would have among the tasks in the
  /// anchor's state.
  ///
  /// - Throws: `taskNotFound`, or `differentPlaces` if the two share no place.
  /// - Complexity: rewrites one task, and some around it if no number is left between the two neighbours.
  @discardableResult
  public mutating func move(_ id: UUID, before anchorID: UUID) throws -> TaskItem {
    try move(id, to: .before, of: anchorID)
  }

  /// Moves a task directly after another one in the same place.
  ///
  /// - Throws: `taskNotFound`, or `differentPlaces` if the two share no place.
  /// - Complexity: as `move(_:before:)`.
  @discardableResult
  public mutating func move(_ id: UUID, after anchorID: UUID) throws -> TaskItem {
    try move(id, to: .after, of: anchorID)
  }

  private mutating func move(_ id: UUID, to side: Side, of anchorID: UUID) throws -> TaskItem {
    let task = try require(TaskRecord.self, id).item
    let anchor = try require(TaskRecord.self, anchorID).item
    guard id != anchorID else { return task.shown(in: calendar.timeZone) }
    let place = task.listID == anchor.listID && PlaceKey(of: task) != nil ? PlaceKey(of: anchor) : nil
    let day = task.scheduledDate == anchor.scheduledDate ? DayKey(of: anchor) : nil
    let byPlace = place.map { Neighborhood(index: tables.byPlace, anchor: $0) }
    let byDay = day.map { Neighborhood(index: tables.byDay, anchor: $0) }
    guard byPlace != nil || byDay != nil else { throw TallyError.differentPlaces }

    let placeGap = try byPlace?.gap(on: side, excluding: id, in: base)
    let dayGap = try byDay?.gap(on: side, excluding: id, in: base)
    // Next to the anchor in both its list and its day, if one number allows that; else only in its list.
    let both = placeGap.flatMap { place in dayGap.map { place.intersection(with: $0) } }
    if let sortOrder = both?.middle ?? (placeGap ?? dayGap)?.middle {
      return try update(id) { $0.sortOrder = sortOrder }
    }
    let spread = try byPlace?.spread(in: base) ?? byDay?.spread(in: base) ?? []
    for (neighborID, sortOrder) in spread { try renumber(neighborID, to: sortOrder) }
    return try move(id, to: side, of: anchorID)
  }

  /// Changes only a sort order: for the user the task has not changed, so its time of change stays.
  private mutating func renumber(_ id: UUID, to sortOrder: Int64) throws {
    let old = try require(TaskRecord.self, id)
    var task = old.item
    task.sortOrder = sortOrder
    var change = RecordChange<TaskRecord>(from: old, to: task, at: commitSequence)
    change.isRenumbering = true
    try write(change)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Moves a task to one of the places in which tasks are captured.
  ///
  /// Moving to the inbox removes list and day, because ``TaskView/inbox`` shows the tasks with neither. Any other place
  /// sets the list or the day that it names, and leaves the other unchanged.
  ///
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound` or `listNotFound`; `invalidParent` if a sub-task would leave its parent's list.
  @discardableResult
  public mutating func move(_ id: UUID, to place: CapturePlace) throws -> TaskItem {
    let today = today
    return try update(id) { task in
      switch place {
      case .inbox: (task.listID, task.scheduledDate) = (nil, nil)
      case .today: task.scheduledDate = today
      case .upcoming: task.scheduledDate = try today.adding(days: 1)
      case .list(let list): task.listID = list
      }
    }
  }

  /// Moves several tasks directly before another one in the same place, in the order of the ids.
  ///
  /// - Throws: what ``move(_:before:)-(UUID,_)`` throws; some tasks may have been moved by then.
  public mutating func move(_ ids: [UUID], before anchorID: UUID) throws {
    guard let first = ids.first else { return }
    try move(first, before: anchorID)
    try move(Array(ids.dropFirst()), after: first)
  }

  /// Moves several tasks directly after another one in the same place, in the order of the ids.
  ///
  /// - Throws: what ``move(_:after:)-(UUID,_)`` throws; some tasks may have been moved by then.
  public mutating func move(_ ids: [UUID], after anchorID: UUID) throws {
    var anchor = anchorID
    for id in ids {
      try move(id, after: anchor)
      anchor = id
    }
  }

  /// Stores the task that a sentence describes, in the list that it names or else in the place where it was typed.
  ///
  /// ```swift
  /// try await store.write { transaction in
  ///   let lists = try transaction.lists().map(\.name)
  ///   let entry = QuickEntry.parse("Pay rent friday", reference: transaction.dateReference, lists: lists)
  ///   try transaction.add(entry, to: .today)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - entry: the sentence, parsed with the names of the lists.
  ///   - place: where it was typed; a day in the sentence replaces that of the place.
  ///   - edit: sets further fields, after those of the sentence.
  /// - Returns: the task as stored.
  /// - Throws: `listNotFound` if no list has that name any more; otherwise as ``add(_:to:id:_:)``.
  @discardableResult
  public mutating func add(
    _ entry: QuickEntry, to place: CapturePlace = .inbox, _ edit: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    let list = try entry.listName.map { name in
      guard let list = try lists().first(where: { $0.name == name }) else { throw TallyError.noListOfName }
      return list
    }
    return try add(entry.title, to: place) { task in
      entry.fill(&task)
      if let list { task.listID = list.id }
      try edit(&task)
    }
  }
}

extension TaskFilter {
  /// The tasks that the inbox shows: those with neither a list nor a day.
  public static var inInbox: TaskFilter { .list(nil as UUID?) && !.has(.day) }
}

extension TallyError {
  fileprivate static let noListOfName = TallyError(
    .listNotFound, "No list has the name in the sentence", remedy: "Read the sentence with the names of the lists")
}

extension StoreTransaction where Base: ~Copyable {
  /// The direct sub-tasks of a task, in the user's order.
  ///
  /// - Throws: `taskNotFound`.
  /// - Complexity: linear in the number of sub-tasks.
  public func subtasks(of id: UUID) throws -> [TaskItem] {
    _ = try require(TaskRecord.self, id)
    return try tables.subtaskIDs(of: id, in: base).map { try indexedTask($0) }
  }

  /// Whether a task has sub-tasks.
  func hasSubtasks(_ id: UUID) throws -> Bool {
    let range = KeyRange.group(id)
    var cursor = try tables.byParent.rawIndex.cursor(in: base)
    return try cursor.move(toFirstAtOrAfter: range.lower) && cursor.keyBytes.precedes(range.upper.bytes)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Sets the list of a sub-task that gets another parent to the parent's list.
  func adoptList(of task: inout TaskItem, replacing old: TaskItem?) throws {
    guard let parentID = task.parentID, parentID != old?.parentID else { return }
    // A missing parent is refused later, together with the other rules.
    if let parent = try tables.parentage(of: parentID, in: base) { task.listID = parent.listID }
  }

  /// Checks that a task obeys the rules of sub-tasks.
  func checkParent(of task: TaskItem, replacing old: TaskItem?) throws {
    guard task.parentID != nil, old.map(Parentage.init(of:)) != Parentage(of: task) else { return }
    let height =
      try old == nil || old?.parentID == task.parentID ? 0 : height(of: task.id, limit: SubtaskRules.maximumDepth)
    try SubtaskRules.check(task.id, Parentage(of: task), height: height) { try tables.parentage(of: $0, in: base) }
  }

  /// How many levels of sub-tasks are below a task.
  private func height(of id: UUID, limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    return try tables.subtaskIDs(of: id, in: base).map { try 1 + height(of: $0, limit: limit - 1) }.max() ?? 0
  }

  /// Moves the sub-tasks with a parent that moved to another list, and closes the open ones with a parent that was
  /// completed or cancelled.
  mutating func updateSubtasks(of task: TaskItem, replacing old: TaskItem, closing: Bool) throws {
    let isClosed = closing && task.isClosed && task.state != old.state
    guard task.listID != old.listID || isClosed else { return }
    let later = isClosed && task.extrasBox != nil ? Set(try partsOfNext(of: task).map(\.id)) : []
    for id in try tables.subtaskIDs(of: task.id, in: base) {
      try update(id, closingSubtasks: closing) { subtask in
        subtask.listID = task.listID
        guard isClosed, subtask.isOpen, !later.contains(id) else { return }
        (subtask.state, subtask.completedAt, subtask.cancelledAt) = (task.state, task.completedAt, task.cancelledAt)
      }
    }
  }
}
