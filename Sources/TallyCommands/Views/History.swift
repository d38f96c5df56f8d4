import ArgumentParser
import Foundation
import Tally
import TallySync

/// `tally history [TASK]`.
struct HistoryCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "history", "Show what changed, when, by which command and on which device.", usage: "[<task>] [--limit <n>]",
    discussion: """
      Shows the last changes to the store, newest first, or those to one task, which may be deleted. About a thousand \
      are kept. 'tally undo CHANGE' undoes one of them by its number.

      With --plain, a line has these columns: \(NamedChange.columns.joined(separator: ", ")).
      """)

  private static let shownCount = 20
  private static let shownSentenceCount = 5

  @Argument(help: ArgumentHelp("The task, if not all.", valueName: "task"))
  var task: String?

  @OptionGroup var limited: LimitOption

  func run(in session: Session) throws {
    let isHuman = session.options.format == .human
    let limit = limited.limit ?? (isHuman ? Self.shownCount : .max - 1)
    var hasMore = false
    let changes = try session.readChanges { transaction, devices in
      let id = try task.map { try transaction.taskID(inHistoryNamed: $0) }
      let changes = try transaction.history(of: id, limit: limit + 1)
      hasMore = changes.count > limit
      let words = ChangeWords(clock: session.clock)
      return try changes.prefix(limit).map {
        try transaction.name($0, with: words, limit: isHuman ? Self.shownSentenceCount : 0, by: devices)
      }
    }
    let facts: Facts = ["asOf": .instant(session.clock.now), "changes": .array(changes.map(\.facts))]
    try session.answer(
      facts, plain: .records([("changes", NamedChange.columns)]), text: changes.map { $0.text(in: session) }.joined())
    if changes.isEmpty {
      session.hint(
        task == nil
          ? "There are no changes yet. Add a task: tally add Buy milk"
          : "The history has no change to this task any more; see the others: tally history")
    }
    if hasMore, isHuman { session.report("There are older ones; --limit shows them.") }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The id of a task that exists or whose deletion is in the history.
  fileprivate func taskID(inHistoryNamed name: String) throws -> UUID {
    do {
      return try task(named: name).id
    } catch let failure as CommandFailure where failure.code == "taskNotFound" {
      guard let tail = HandleTail(name) else { throw failure }
      var found: [UUID: TaskItem] = [:]
      for task in try history().flatMap({ $0.tasks.compactMap(\.task) }) where tail.fits(task.id) {
        found[task.id] = found[task.id] ?? task
      }
      guard found.count < 2 else {
        // Their handles could be the same: those differ only from tasks that exist.
        let tasks = found.values.sorted { $0.id.text < $1.id.text }
          .map { NamedTask(task: $0, handle: $0.id.text, list: nil, nextReminder: $0.reminderDate) }
        throw CommandFailure(ambiguousHandle: name, among: tasks)
      }
      guard let id = found.keys.first else { throw failure }
      return id
    }
  }
}

/// A change with its description in sentences and the handles of its tasks.
struct NamedChange {
  static let columns = ["id", "date", "kind", "action", "isUndone", "taskCount", "target", "device"]

  let change: HistoryChange
  let sentences: [String]
  let handles: [String]
  let devices: ChangeDevices
}

extension StoreTransaction where Base: ~Copyable {
  /// Finds the words and the handles of a write.
  func name(
    _ change: HistoryChange, with words: ChangeWords, limit: Int, by devices: ChangeDevices
  ) throws -> NamedChange {
    NamedChange(
      change: change, sentences: try words.sentences(of: change, limit: limit, in: self),
      handles: try change.tasks.map { try $0.task.map { try handle(of: $0.id) } ?? "" }, devices: devices)
  }
}

extension NamedChange {
  var facts: Facts {
    let device = devices.member(for: change)
    // Few changes concern a series.
    let series: Facts =
      change.series.isEmpty
      ? [:] : [.init("series", onlyIn: .json): .array(change.series.compactMap(Self.facts))]
    let facts: Facts = [
      "id": .text(change.id.text), "date": .instant(change.date), "kind": .text(change.kind.rawValue),
      "action": .text(change.actionName), "target": .text(change.target?.text), "isUndone": .flag(change.isUndone),
      .init("tasks", onlyIn: .json): .array(zip(change.tasks, handles).compactMap(Self.facts)),
      .init("taskCount", onlyIn: .plain): .count(change.tasks.count),
      .init("lists", onlyIn: .json): .array(change.lists.compactMap(Self.facts)),
      .init("filters", onlyIn: .json): .array(change.savedFilters.compactMap(Self.facts)),
      .init("values", onlyIn: .json): .array(
        change.values.map { "\($0.namespace)/\($0.shownText)" }.sorted().map { .text($0) }),
      "device": .text(device?.name), "replica": .text(device?.replica.description),
    ]
    return facts.adding(series)
  }

  private static func facts(_ difference: HistoryChange.Difference<TaskSeries>) -> Facts? {
    guard let series = difference.after ?? difference.before else { return nil }
    let zone: Facts = [
      "name": .text("zone"), "before": .text(difference.before?.timeZoneIdentifier),
      "after": .text(difference.after?.timeZoneIdentifier),
    ]
    return [
      "id": .id(series.id), "title": .text(series.template.title), "change": .text(difference.kind),
      "fields": .array([zone]),
    ]
  }

  private static func facts(_ difference: HistoryChange.Difference<TaskItem>, _ handle: String) -> Facts? {
    guard let task = difference.task else { return nil }
    let fields: [Facts] = difference.changedFields.filter { $0 != .series }.map { field in
      let facts: Facts = [
        "name": .text(field == .text ? "title" : "\(field.name)"),
        "before": .value(difference.before?.documentValue(of: field)),
        "after": .value(difference.after?.documentValue(of: field)),
      ]
      guard field == .completedAt else { return facts }
      return facts.adding([
        "beforeOffset": .text(difference.before?.completedAt?.offsetText),
        "afterOffset": .text(difference.after?.completedAt?.offsetText),
      ])
    }
    return [
      "id": .id(task.id), "handle": .text(handle), "title": .text(task.title), "change": .text(difference.kind),
      "fields": .array(fields),
    ]
  }

  private static func facts(_ difference: HistoryChange.Difference<TaskList>) -> Facts? {
    guard let list = difference.after ?? difference.before else { return nil }
    let values: [(String, (TaskList) -> FieldValue)] = [
      ("name", { .text($0.name) }), ("colorHex", { .text($0.colorHex) }), ("sortOrder", { .integer($0.sortOrder) }),
    ]
    let fields: [Facts] = values.compactMap { name, value in
      guard let before = difference.before.map(value), let after = difference.after.map(value), before != after else {
        return nil
      }
      return ["name": .text(name), "before": .value(before), "after": .value(after)]
    }
    return [
      "id": .id(list.id), "name": .text(list.name), "change": .text(difference.kind), "fields": .array(fields),
    ]
  }

  private static func facts(_ difference: HistoryChange.Difference<SavedFilter>) -> Facts? {
    guard let filter = difference.after ?? difference.before else { return nil }
    return ["name": .text(filter.name), "change": .text(difference.kind), "filter": .text(filter.text)]
  }
}

extension HistoryChange.Difference {
  fileprivate var kind: String { before == nil ? "added" : after == nil ? "deleted" : "changed" }
}

extension NamedChange {
  private static let indentation = "    "

  /// Lines for people: when and by which command, and below it what changed.
  func text(in session: Session) -> String {
    let width = session.width.map { max(16, $0 - Self.indentation.count) } ?? .max
    let lines = sentences.flatMap { $0.wrapped(toWidth: width) }
    return session.painter.paint(headline(session.clock), .detail) + "\n"
      + lines.map { Self.indentation + $0 + "\n" }.joined()
  }

  /// When, by which command and, if not here, on which device: `42.0  today 14:00  edit  (undone)`.
  func headline(_ clock: LocalClock) -> String {
    var parts = [change.id.text, clock.relativeName(of: change.date), action]
    if let words = devices.words(for: change) { parts.append(words) }
    if change.isUndone { parts.append("(undone)") }
    return "  " + parts.joined(separator: "  ")
  }

  /// The command; for a program that gave no name, the kind of the write.
  private var action: String {
    (change.actionName ?? change.kind.rawValue).escapedForDisplay() + (change.target.map { " of \($0.text)" } ?? "")
  }
}

/// Describes the changes of a write in sentences: the words of `history`, of `undo` and of a task's sheet.
struct ChangeWords {
  let clock: LocalClock

  /// A sentence for each record that changed.
  ///
  /// - Parameters:
  ///   - change: the write.
  ///   - limit: the greatest number of sentences; one more then says how many records are left.
  ///   - transaction: where handles and the names of lists are looked up.
  /// - Returns: the sentences.
  /// - Throws: errors of the storage.
  func sentences<Base: ~Copyable>(
    of change: HistoryChange, limit: Int = .max, in transaction: borrowing StoreTransaction<Base>
  ) throws -> [String] {
    var sentences: [String] = []
    for difference in change.tasks.prefix(limit) { sentences.append(try sentence(of: difference, in: transaction)) }
    sentences += change.series.map(sentence) + change.lists.map(sentence) + change.savedFilters.map(sentence)
    if !change.values.isEmpty { sentences.append("Changed \(change.values.count.counted("value")).") }
    for (name, count) in change.records.sorted(by: { $0.key < $1.key }) {
      let owner = name.isEmpty ? "an application" : name.quotedForMessage
      sentences.append("Wrote \(count.counted("record")) of \(owner).")
    }
    // Any other undo that changed nothing is left out of the history.
    if change.kind == .undo, sentences.isEmpty { sentences.append("Too large to record: it cannot be redone.") }
    if change.kind == .cut { sentences.append("Too large to record: it and what came before cannot be undone.") }
    let count = sentences.count + max(0, change.tasks.count - limit)
    guard count > limit else { return sentences }
    return sentences.prefix(limit) + ["And \((count - limit).grouped) more."]
  }

  private func sentence(of difference: HistoryChange.Difference<TaskSeries>) -> String {
    let title = (difference.after ?? difference.before)?.template.title.quotedForMessage ?? ""
    let zones = [difference.before, difference.after].map { $0?.timeZoneIdentifier ?? "none" }
    guard zones[0] != zones[1] else { return "Changed the series of \(title), for the tasks to come." }
    return "Changed the series of \(title): zone \(zones[0]) → \(zones[1])."
  }

  private func sentence(of difference: HistoryChange.Difference<TaskList>) -> String {
    let name = (difference.after ?? difference.before)?.name.quotedForMessage ?? ""
    guard let before = difference.before, let after = difference.after else {
      return "\(difference.after == nil ? "Deleted" : "Added") list \(name)."
    }
    let changes = [
      before.name == after.name ? nil : "name \(before.name.quotedForMessage) → \(after.name.quotedForMessage)",
      before.colorHex == after.colorHex ? nil : "colour \(before.colorHex) → \(after.colorHex)",
      before.sortOrder == after.sortOrder ? nil : "order",
    ].compactMap(\.self)
    return "Changed list \(name)\(Self.suffix(changes))."
  }

  private func sentence(of difference: HistoryChange.Difference<SavedFilter>) -> String {
    let name = (difference.after ?? difference.before)?.name.quotedForMessage ?? ""
    return "\(difference.after == nil ? "Deleted" : "Saved") filter \(name)."
  }

  private static func suffix(_ changes: [String]) -> String {
    changes.isEmpty ? "" : ": " + changes.joined(separator: "; ")
  }
}

extension ChangeWords {
  private func sentence<Base: ~Copyable>(
    of difference: HistoryChange.Difference<TaskItem>, in transaction: borrowing StoreTransaction<Base>
  ) throws -> String {
    guard let task = difference.task else { return "" }
    let subject = "\(Self.verb(of: difference)) \(try transaction.handle(of: task.id)) \(task.title.quotedForMessage)"
    guard let before = difference.before, let after = difference.after else { return subject + "." }
    return "\(subject)\(try suffix(from: before, to: after, in: transaction))."
  }

  /// The changed fields of a task, in words after its title: `: day none → Sat 28 Nov; notes`.
  func suffix<Base: ~Copyable>(
    from before: TaskItem, to after: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> String {
    var changes: [String] = []
    var fields = TaskField.shown.filter { before[$0] != after[$0] }
    // A snooze is reported with the reminder.
    if before.ownAttributes == after.ownAttributes { fields.removeAll { $0 == .attributes } }
    // Both fields are the due time.
    if fields.contains(.dueDate) { fields.removeAll { $0 == .dueDay } }
    if fields.contains(.startDay) { fields.removeAll { $0 == .someday } }
    // The verb says that it was completed, cancelled or reopened.
    if before.state != after.state { fields.removeAll { $0 == .completedAt || $0 == .cancelledAt } }
    for field in fields {
      guard let (label, old) = try words(for: field, of: before, in: transaction),
        let (_, new) = try words(for: field, of: after, in: transaction)
      else { continue }
      changes.append(old == nil && new == nil ? label : "\(label) \(old ?? "none") → \(new ?? "none")")
    }
    // A place change sets the order, too.
    if changes.count > 1 { changes.removeAll { $0 == Self.orderLabel } }
    return Self.suffix(changes)
  }

  private static func verb(of difference: HistoryChange.Difference<TaskItem>) -> String {
    guard let after = difference.after else { return "Deleted" }
    guard let before = difference.before else { return "Added" }
    switch (before.state, after.state) {
    case let (old, new) where old == new: return "Changed"
    case (_, .completed): return "Completed"
    case (_, .cancelled): return "Cancelled"
    case (.completed, _), (.cancelled, _): return "Reopened"
    case (_, .active): return "Started"
    case (_, .notStarted): return "Stopped"
    }
  }

  private static let orderLabel = "order"

  /// The name of a field in sentences, and its value, which is `nil` for none and where the name is enough.
  ///
  /// - Returns: `nil` for a field that follows from another.
  private func words<Base: ~Copyable>(
    for field: TaskField, of task: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> (label: String, value: String?)? {
    switch field {
    case .text: ("title", task.title.quotedForMessage)
    case .notes: ("notes", nil)
    case .scheduledDate: ("day", task.scheduledDate.map(clock.name))
    case .dueDate, .dueDay: ("due", task.dueDay.map(clock.name) ?? task.dueDate.map(clock.name))
    case .reminderDate: ("reminder", task.reminderDate.map(clock.name))
    case .listID:
      ("list", try task.listID.map { try transaction.list($0)?.name.quotedForMessage ?? "list \($0.shownEnd)" })
    case .sortOrder: (Self.orderLabel, nil)
    case .priority: ("priority", task.priority == .none ? nil : task.priority.name)
    case .tags: ("tags", task.tags.inWords)
    case .parentID:
      ("part of", try task.parentID.map { try transaction.task($0)?.title.quotedForMessage ?? "task \($0.shownEnd)" })
    case .recurrence: ("repeats", task.recurrence?.words)
    case .reminders:
      ("other reminders", task.otherReminders.isEmpty ? nil : clock.words(for: Array(task.otherReminders), of: task))
    case .dependsOn: ("after", try transaction.handles(of: task.dependsOn))
    case .attributes: ("attributes", nil)
    case .startDay, .someday: ("start", task.start.map { $0.day.map(clock.name) ?? "someday" })
    case .completedAt: ("completed", (task.completedAt?.instant).map(clock.knownName))
    case .cancelledAt: ("cancelled", (task.cancelledAt?.instant).map(clock.knownName))
    case .id, .state, .createdAt, .updatedAt, .series, .floatingDue, .floatingReminder, .floatingReminders: nil
    }
  }
}
