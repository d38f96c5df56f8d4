import Tally

/// What `history` prints: writes, newest first.
struct HistoryReport {
  static let columns = ["id", "date", "kind", "action", "isUndone", "taskCount", "target", "device"]

  let changes: [NamedChange]

  /// A write with the sentences that say what it changed and the handles of its tasks.
  struct NamedChange {
    let change: HistoryChange
    let sentences: [String]
    let handles: [String]
    let devices: ChangeDevices
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Finds the words and the handles of a write.
  func name(
    _ change: HistoryChange, with words: ChangeWords, limit: Int, by devices: ChangeDevices
  ) throws -> HistoryReport.NamedChange {
    HistoryReport.NamedChange(
      change: change, sentences: try words.sentences(of: change, limit: limit, in: self),
      handles: try change.tasks.map { try $0.task.map { try handle(of: $0.id) } ?? "" }, devices: devices)
  }
}

extension HistoryReport.NamedChange {
  var facts: Facts {
    let facts: Facts = [
      "id": .text(change.id.text), "date": .instant(change.date), "kind": .text(change.kind.rawValue),
      "action": .text(change.actionName), "target": .text(change.target?.text), "isUndone": .flag(change.isUndone),
      .init("tasks", onlyIn: .json): .array(zip(change.tasks, handles).compactMap(Self.facts)),
      .init("taskCount", onlyIn: .plain): .count(change.tasks.count),
      .init("lists", onlyIn: .json): .array(change.lists.compactMap(Self.facts)),
      .init("filters", onlyIn: .json): .array(change.savedFilters.compactMap(Self.facts)),
      .init("values", onlyIn: .json): .array(
        change.values.map { "\($0.namespace)/\($0.shownText)" }.sorted().map { .text($0) }),
    ]
    return facts.adding(devices.facts(of: change))
  }

  private static func facts(_ difference: HistoryChange.Difference<TaskItem>, _ handle: String) -> Facts? {
    guard let task = difference.task else { return nil }
    let fields: [Facts] = difference.changedFields.filter { $0 != .series }.map { field in
      let facts: Facts = [
        "name": .text(field == .text ? "title" : "\(field.name)"), "before": .value(difference.before?[field]),
        "after": .value(difference.after?[field]),
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

extension HistoryReport {
  /// Lines for people: when and by which command, and below it what changed.
  func text(in session: Session) -> String {
    let width = session.width.map { max(16, $0 - Self.indentation.count) } ?? .max
    return changes.map { named in
      let head = named.headline(session.clock)
      let lines = named.sentences.flatMap { $0.wrapped(toWidth: width) }
      return session.painter.paint(head, .detail) + "\n" + lines.map { Self.indentation + $0 + "\n" }.joined()
    }.joined()
  }

  private static let indentation = "    "
}

extension HistoryReport.NamedChange {
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
