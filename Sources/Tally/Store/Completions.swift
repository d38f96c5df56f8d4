public import Foundation
public import LMDB
public import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Sets a task's state; any state may follow any other.
  ///
  /// Completing a task sets the completion time to `now` with the calendar's UTC offset; leaving `completed` clears it.
  /// `cancelled` sets and clears the time of cancellation in the same way.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func setState(_ state: TaskState, of id: UUID) throws -> TaskItem {
    try update(id) { $0.state = state }
  }

  /// Makes a task active.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func start(_ id: UUID) throws -> TaskItem {
    try setState(.active, of: id)
  }

  /// Completes a task, now or at a given time.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - completedAt: the completion time; `nil` means now, or no change of the time if the task is completed already.
  ///   - includingSubtasks: whether its open sub-tasks are completed at the same time.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func complete(
    _ id: UUID, at completedAt: OffsetTimestamp? = nil, includingSubtasks: Bool = true
  ) throws -> TaskItem {
    try update(id, closingSubtasks: includingSubtasks) { task in
      task.state = .completed
      if let completedAt { task.completedAt = completedAt }
    }
  }

  /// Cancels an open task with its open sub-tasks, now or at a given time.
  ///
  /// The task is closed without counting as completed. A cancelled occurrence of a repeating task is left out: the next
  /// one is created, as if it had been completed.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - cancelledAt: the time; `nil` means now, or no change of the time if the task is cancelled already.
  ///   - includingSubtasks: whether its open sub-tasks are cancelled at the same time.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`; `inconsistentTask` if the task is completed.
  @discardableResult
  public mutating func cancel(
    _ id: UUID, at cancelledAt: OffsetTimestamp? = nil, includingSubtasks: Bool = true
  ) throws -> TaskItem {
    try update(id, closingSubtasks: includingSubtasks) { task in
      guard !task.isCompleted else {
        throw TallyError(
          .inconsistentTask, "The task is completed, so there is nothing to cancel", remedy: "Reopen it first")
      }
      task.state = .cancelled
      if let cancelledAt { task.cancelledAt = cancelledAt }
    }
  }

  /// Sets a task back to not started.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func reopen(_ id: UUID) throws -> TaskItem {
    try setState(.notStarted, of: id)
  }

  /// Moves a task to the next state of the tap cycle: not started, active, completed, not started; a cancelled
  /// task becomes not started.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func advanceState(of id: UUID) throws -> TaskItem {
    try update(id) { $0.state = $0.state.next }
  }

  /// Schedules a task for a day, or removes its day.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func schedule(_ id: UUID, on day: CalendarDay?) throws -> TaskItem {
    try update(id) { $0.scheduledDate = day }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Calls a closure, in order of time, with each completion whose ledger entry says more than its task does.
  ///
  /// These are the completions of deleted tasks, and of tasks whose list, tags or priority have changed since.
  func forEachDetachedCompletion(_ body: (Completion) throws -> Void) throws {
    try tables.completions.forEach(in: base) { key, value in
      let completion = try Completion(CompletionKey(decoding: key), CompletionRecord(decoding: value))
      let isDetached =
        try completion.isTaskDeleted || classification(of: completion.taskID) != completion.classification
      if isDetached { try body(completion) }
      return true
    }
  }

  /// Whether the ledger has the same entry for a completion; `nil` if it has none.
  ///
  /// A live task already tells that it was completed; the ledger adds the classification.
  func isRecorded(_ completion: Completion) throws -> Bool? {
    let (completed, record) = (InstantKey(of: completion), CompletionRecord(of: completion))
    let liveKey = CompletionKey(isTaskDeleted: false, completed: completed)
    let live = try tables.completions.value(forKey: liveKey, in: base)
    guard completion.isTaskDeleted else { return live.map { $0.classification == record.classification } ?? false }
    // The task exists again, so its own completion overrides the entry.
    guard live == nil else { return true }
    let key = CompletionKey(isTaskDeleted: true, completed: completed)
    return try tables.completions.value(forKey: key, in: base).map { $0.isSame(as: record) }
  }

  /// The current classification of a task, read without decoding anything else.
  private func classification(of id: UUID) throws -> Classification? {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try TaskFields(bytes).classification
  }
}

extension Completion {
  /// The completion that an entry of the ledger describes.
  fileprivate init(_ key: CompletionKey, _ record: CompletionRecord) throws {
    let instant = try Timestamp(microsecondsSince1970: key.completed.microseconds)
    self.init(
      taskID: key.id,
      completedAt: try OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes)),
      createdAt: try Timestamp(microsecondsSince1970: record.createdAtMicroseconds),
      classification: record.classification, isTaskDeleted: key.isTaskDeleted)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Erases the completions of deleted tasks before an instant; completions are lost in no other way.
  ///
  /// Statistics no longer count them. Completions of existing tasks stay.
  ///
  /// - Parameter instant: completions before it are erased.
  /// - Returns: how many were erased.
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of completions erased.
  @discardableResult
  public mutating func purgeCompletions(before instant: Timestamp) throws -> Int {
    var keys: [CompletionKey] = []
    try forEachKey(
      of: tables.completions, from: CompletionKey(isTaskDeleted: true, completed: .start(at: .min)),
      to: CompletionKey(isTaskDeleted: true, completed: .start(at: instant.microsecondsSince1970))
    ) { keys.append($0) }
    guard !keys.isEmpty else { return 0 }
    try change { (writer, images, base) throws(LMDBError) in
      try writer.ledger.purge(keys, recording: &images, in: &base)
    }
    return keys.count
  }

  /// Adds a completion of a deleted task to the ledger, or sets the list, tags and priority with which a live task was
  /// completed.
  ///
  /// - Returns: whether the ledger changed.
  @discardableResult
  mutating func record(_ completion: Completion) throws -> Bool {
    var deltas = CounterDeltas()
    let isChanged = try record(completion, counting: &deltas)
    try apply(deltas)
    return isChanged
  }

  /// Does the same as `record(_:)` without the counters; `apply(_:)` must follow in the same transaction.
  @discardableResult
  mutating func record(_ completion: Completion, counting deltas: inout CounterDeltas) throws -> Bool {
    let ledger = recordWriter.ledger
    return try changeIfNeeded { (_, images, base) throws(LMDBError) in
      try ledger.record(
        InstantKey(of: completion), CompletionRecord(of: completion), isTaskDeleted: completion.isTaskDeleted,
        counting: &deltas, recording: &images, in: &base)
    }
  }
}

extension InstantKey {
  fileprivate init(of completion: Completion) {
    self.init(microseconds: completion.completedAt.instant.microsecondsSince1970, id: completion.taskID)
  }
}

extension CompletionRecord {
  fileprivate init(of completion: Completion) {
    self.init(
      utcOffsetInMinutes: Int16(completion.completedAt.utcOffsetInMinutes),
      createdAtMicroseconds: completion.createdAt.microsecondsSince1970,
      classification: completion.classification)
  }

  /// Whether two entries are equal, except for fields that a newer version of the format added.
  fileprivate func isSame(as other: CompletionRecord) -> Bool {
    var other = other
    other.unknown = unknown
    return self == other
  }
}
