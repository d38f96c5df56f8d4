import Foundation
import Tally

/// The changes of several tasks in one transaction; each task is reported once, as it is in the end.
struct TaskChanges {
  /// The words around a changed task's handle and title in its report, such as `Moved` and ` to today`.
  typealias Words = (verb: String, suffix: String)
  /// Finds the words for a task before and after its change.
  typealias Wording = (TaskItem, NamedTask, borrowing StoreWriteTransaction) throws -> Words

  private let clock: LocalClock
  /// Whether tasks that a filter found and that are like that already are only counted.
  private let countsUnchanged: Bool
  private var unchangedCount = 0
  /// The sentence about tasks that were left out because they wait; `nil` for none.
  private let waitingWords: String?
  private var report = ChangeReport()
  /// The changed tasks, in the order of their first change.
  private var ids: [UUID] = []
  /// The tasks whose reminder has moved, with its new time.
  private var movedReminders: [UUID: Timestamp] = [:]
  private var seen: Set<UUID> = []
  /// The tasks that waited for completed ones.
  private var freedIDs: [UUID] = []

  /// Begins the changes of the tasks of a selection; says which ones its filter leaves out.
  init<Base: ~Copyable>(
    _ clock: LocalClock, of selection: TaskSelection, in transaction: borrowing StoreTransaction<Base>
  ) throws {
    self.clock = clock
    countsUnchanged = selection.filter != nil
    waitingWords = try selection.waitingWords(in: transaction)
  }

  /// Changes one task, and records what changed with it: its sub-tasks and the next one of its series.
  ///
  /// - Parameters:
  ///   - task: the task; skipped if an earlier change deleted it.
  ///   - transaction: where to change it.
  ///   - words: how to report the task, before and after the change.
  ///   - change: changes it.
  /// - Throws: what the closures and the storage throw.
  mutating func change(
    _ task: TaskItem, in transaction: inout StoreWriteTransaction,
    reporting words: Wording,
    _ change: (TaskItem, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    guard let before = try transaction.task(task.id) else { return }
    let oldNext = try before.series.flatMap { try transaction.task(after: $0) }
    let oldNextIDs = try oldNext.map { try [$0.id] + transaction.descendants(of: $0.id).map(\.id) } ?? []
    let oldParts = try transaction.descendants(of: before.id)
    let series = try transaction.series(of: before)
    let after = try change(before, &transaction)
    let (named, newSeries) = (try transaction.name(after), try transaction.series(of: after))
    if before != after || series != newSeries {
      let (verb, suffix) = try words(before, named, transaction)
      report.messages.append("\(verb) \(named.inWords)\(suffix).")
      record(after.id)
      let moves = after.reminderMoves(from: before, in: clock.timeZone)
      let moved = moves.compactMap { if case .moved(let instant) = $0 { instant } else { nil } }
      // One of several that has passed is no mistake while another one is to come.
      if let last = moved.max() { movedReminders[after.id] = last }
      // Views of open tasks show an open task below a closed one without its parent.
      let wasAccepted = before.isOpen && before.parentID == after.parentID
      if !wasAccepted, let warning = try transaction.warningOfParent(of: named) { report.warnings.append(warning) }
    } else if !seen.contains(after.id) {
      if countsUnchanged {
        unchangedCount += 1
      } else {
        report.messages.append("No change: \(named.inWords) is already like that.")
        if after.isClosed, let open = try transaction.openTask(ofSeriesWith: after), open.id != after.id {
          report.messages.append("The open one of this series: \(try transaction.handle(of: open.id)).")
        }
      }
    }
    if after.isClosed, before.isOpen { try recordFreed(by: after, oldParts, in: transaction) }
    try recordSubtasks(oldParts, ofClosedTask: after.isClosed && before.isOpen, in: transaction)
    if after.isClosed, after.recurrence == nil { try recordEndedSeries(oldParts, in: transaction) }
    try recordSuccessor(oldNextIDs, from: before, to: after, in: transaction)
  }

  /// Fixes the times of a series to a time zone, and records what that changes of its open task.
  ///
  /// - Parameters:
  ///   - zone: the zone; `nil` for that of the person.
  ///   - id: a task of the series, open or closed.
  ///   - words: the words for the fields of a task.
  ///   - transaction: where to change it.
  /// - Throws: `invalidRecurrence` if the task does not repeat; what the storage throws.
  mutating func setTimeZone(
    _ zone: TimeZone?, ofSeriesWith id: UUID, _ words: ChangeWords, in transaction: inout StoreWriteTransaction
  ) throws {
    guard let task = try transaction.task(id) else { return }
    guard let before = try transaction.openTask(ofSeriesWith: task) else {
      let name = try transaction.name(task).inWords
      return say("The zone stays: \(name) is \(task.state.name), and no other task of its series is open.")
    }
    let series = try transaction.series(of: before)
    if let series, series.timeZoneIdentifier == zone?.identifier {
      if countsUnchanged { return unchangedCount += 1 }
      return say("No change: the series of \(try transaction.name(before).inWords) is already in this zone.")
    }
    try transaction.setTimeZone(zone, ofSeriesWith: before.id)
    guard let after = try transaction.task(before.id) else { return }
    let zones = "zone \(series?.timeZoneIdentifier ?? "none") → \(zone?.identifier ?? "none")"
    let fields = try words.suffix(from: before, to: after, in: transaction).dropFirst(2)
    let name = try transaction.name(after).inWords
    say("Changed \(name): \(zones)\(fields.isEmpty ? "" : "; ")\(fields), from now on.")
    record(after.id)
  }

  /// Adds a sentence.
  mutating func say(_ message: String) { report.messages.append(message) }

  /// The report of the changes.
  func report(in transaction: borrowing StoreWriteTransaction) throws -> ChangeReport {
    var report = report
    if unchangedCount > 0 {
      let (noun, verb) = (unchangedCount.counted("task"), unchangedCount == 1 ? "is" : "are")
      report.messages.append("No change: \(noun) \(verb) already like that.")
    }
    if let waitingWords { report.messages.append(waitingWords) }
    // A later change may have completed them, too.
    let freed = try freedIDs.compactMap { try transaction.task($0) }.filter { !$0.isCompleted }
    if !freed.isEmpty {
      report.messages.append("Nothing blocks \(try transaction.words(for: freed)) any more.")
    }
    let passed = movedReminders.values.filter { $0 < clock.now }
    if let first = passed.min() {
      report.warnings.append(
        passed.count == 1
          ? "Warning: the reminder moved to \(clock.relativeName(of: first)), which has passed."
          : "Warning: \(passed.count.grouped) reminders moved to times that have passed.")
    }
    var lists: KnownLists = [:]
    report.changed = try ids.compactMap { id in try transaction.task(id) }
      .map { try transaction.name($0, knowing: &lists) }
    return report
  }
}

extension TaskChanges {
  private mutating func record(_ id: UUID) {
    if seen.insert(id).inserted { ids.append(id) }
  }

  /// The tasks that waited for a closed task or its sub-tasks, and for nothing else.
  private mutating func recordFreed(
    by task: TaskItem, _ parts: [TaskItem], in transaction: borrowing StoreWriteTransaction
  ) throws {
    for id in [task.id] + parts.map(\.id) where try transaction.task(id)?.isClosed == true {
      for freed in try transaction.tasksWaitingOnly(for: id) where !freedIDs.contains(freed.id) {
        freedIDs.append(freed.id)
      }
    }
  }

  /// The sub-tasks that have changed with their parent, or stay open below it.
  private mutating func recordSubtasks(
    _ old: [TaskItem], ofClosedTask isClosing: Bool, in transaction: borrowing StoreWriteTransaction
  ) throws {
    let all = try old.compactMap { part in try transaction.task(part.id).map { (old: part, new: $0) } }
    // A sub-task that repeats may belong to the next occurrence, and takes its own sub-tasks along.
    let moved = all.filter { isClosing && $0.old.parentID != $0.new.parentID }
    let later = try Set(moved.flatMap { try [$0.new.id] + transaction.descendants(of: $0.new.id).map(\.id) })
    for id in later { record(id) }
    if !moved.isEmpty {
      let verb = moved.count == 1 ? "goes" : "go"
      let names = try transaction.words(for: moved.map(\.new))
      report.messages.append("\(moved.count.counted("sub-task")) \(verb) on below the next one: \(names).")
    }
    let parts = all.filter { !later.contains($0.new.id) }
    let changed = parts.filter { $0.old != $0.new }
    for part in changed { record(part.new.id) }
    if let first = changed.first {
      let noun = changed.count == 1 ? "sub-task" : "\(changed.count.grouped) sub-tasks"
      let names = try transaction.words(for: changed.map(\.new))
      report.messages.append("Also \(Self.participle(from: first.old, to: first.new)) its \(noun) \(names).")
    }
    let open = parts.map(\.new).filter(\.isOpen)
    if isClosing, !open.isEmpty {
      let verb = open.count == 1 ? "stays" : "stay"
      let names = try transaction.words(for: open)
      report.messages.append("\(open.count.counted("sub-task")) \(verb) open: \(names).")
    }
  }

  /// Says which series end with the parent of their task, because nothing is made below a closed one.
  private mutating func recordEndedSeries(
    _ old: [TaskItem], in transaction: borrowing StoreWriteTransaction
  ) throws {
    let ended = try old.filter { $0.isOpen && $0.recurrence != nil }.compactMap { try transaction.task($0.id) }
      .filter { try $0.isClosed && transaction.openTask(ofSeriesWith: $0) == nil }
    guard !ended.isEmpty else { return }
    let verb = ended.count == 1 ? "has" : "have"
    report.messages.append("The series of \(try transaction.words(for: ended)) \(verb) ended.")
  }

  private static func participle(from old: TaskItem, to new: TaskItem) -> String {
    switch (old.isClosed, new.isClosed) {
    case (false, true): new.isCompleted ? "completed" : "cancelled"
    case (true, false): "reopened"
    default: old.listID == new.listID && old.scheduledDate == new.scheduledDate ? "changed" : "moved"
    }
  }

  /// The next task of a series that a change has made or deleted, or that the series has ended.
  ///
  /// - Parameters:
  ///   - old: the ids of the next task before the change and of its sub-tasks; none without one.
  ///   - before: the task before the change.
  ///   - task: the task after it.
  ///   - transaction: where it was changed.
  /// - Throws: what the storage throws.
  private mutating func recordSuccessor(
    _ old: [UUID], from before: TaskItem, to task: TaskItem, in transaction: borrowing StoreWriteTransaction
  ) throws {
    if task.isClosed, before.isOpen, task.recurrence != nil, try transaction.placeOfSuccessor(of: task) == nil {
      report.messages.append("The series has ended.")
    }
    let new = try task.series.flatMap { try transaction.task(after: $0) }
    if !old.isEmpty, new == nil {
      report.deleted += try old.filter { try transaction.task($0) == nil }
      report.messages.append("Deleted the next task in the series.")
    } else if old.isEmpty, let new {
      let named = try transaction.name(new)
      if let series = try transaction.series(of: new) {
        let skipped = try transaction.skippedPlaces(between: task, and: new).map { clock.name(of: $0, in: series) }
        if !skipped.isEmpty { report.messages.append(clock.sentence(aboutSkipped: skipped)) }
      }
      report.messages.append(clock.sentence(aboutNext: named))
      for id in try [new.id] + transaction.descendants(of: new.id).map(\.id) { record(id) }
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The warning for an open task whose parent is closed.
  func warningOfParent(of named: NamedTask) throws -> String? {
    guard named.task.isOpen, let parent = try named.task.parentID.flatMap({ try task($0) }), parent.isClosed
    else { return nil }
    return "Warning: \(named.handle) is open, but its parent \(try handle(of: parent.id)) is \(parent.state.name)."
  }

  /// The sub-tasks of a task and theirs, parents first.
  func descendants(of id: UUID) throws -> [TaskItem] {
    try subtasks(of: id).flatMap { [$0] + (try descendants(of: $0.id)) }
  }
}

extension LocalClock {
  /// Says which days or times of a series have no task, because they had passed.
  func sentence(aboutSkipped names: [String]) -> String {
    let more = names.count > 3 ? " and \((names.count - 3).grouped) more" : ""
    return "Skipped, as its time has passed: \(names.prefix(3).joined(separator: ", "))\(more)."
  }

  /// Says which is the next task of a series.
  func sentence(aboutNext named: NamedTask) -> String {
    if named.task.recurrence?.hours != nil, let time = named.task.timeOfStep {
      return "The next one is \(named.handle), \(relativeName(of: time))."
    }
    let day = named.task.scheduledDate ?? named.task.dueDay(in: timeZone)
    return "The next one is \(named.handle)\(day.map { ", \(relativeName(of: $0))" } ?? "")."
  }
}

extension Session {
  /// Changes the selected tasks in one transaction and reports the changes.
  ///
  /// - Parameters:
  ///   - selection: the tasks.
  ///   - openOnly: whether a filter finds only open tasks.
  ///   - verb: the words before the handle of a changed task.
  ///   - suffix: returns the words after its title, from the task after the change.
  ///   - change: changes one task.
  /// - Throws: ``CommandFailure``, or what the change throws; nothing is changed then.
  func changeTasks(
    _ selection: TaskSelection, openOnly: Bool = false, _ verb: String,
    _ suffix: (TaskItem) -> String = { _ in "" },
    _ change: (TaskItem, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    try write { transaction in
      var changes = try TaskChanges(clock, of: selection, in: transaction)
      for task in try selection.tasks(in: transaction, openOnly: openOnly) {
        try changes.change(task, in: &transaction, reporting: { _, new, _ in (verb, suffix(new.task)) }, change)
      }
      return try changes.report(in: transaction)
    }
  }

  /// Changes a list in one transaction and reports it with a message; if nothing changed, says so.
  func changeList(
    _ name: String, _ change: (TaskList, inout StoreWriteTransaction) throws -> (TaskList, message: String)
  ) throws {
    try write { transaction in
      let before = try transaction.list(named: name)
      let (after, message) = try change(before, &transaction)
      if before != after { return ChangeReport(lists: [after], messages: [message]) }
      return ChangeReport(messages: ["No change: list \(after.name.quotedForMessage) is already like that."])
    }
  }
}
