import ArgumentParser
import Foundation
import Tally

/// A task, its handle and its list: enough to print it.
struct NamedTask {
  let task: TaskItem
  let handle: String
  let list: TaskList?
  /// How many parents are shown above it.
  var depth = 0
  /// The series of a repeating task; `nil` also where nothing is shown of it.
  var series: TaskSeries?
  /// What blocks it, in words, as `blocked by 7f3a`; `nil` for a task that is free or closed.
  var blockers: String?
  /// The reminder that is shown as its `reminderDate`: the next one, or the last if all have passed.
  var nextReminder: Timestamp?
}

/// The lists found so far: many tasks share few lists.
typealias KnownLists = [UUID: TaskList]

extension NamedTask {
  /// The task with a handle of at least `count` digits: any longer suffix of the id identifies the task, too.
  func withHandle(ofLength count: Int) -> NamedTask {
    guard handle.utf8.count < count else { return self }
    return NamedTask(
      task: task, handle: String(task.id.text.filter { $0 != "-" }.suffix(count)), list: list, depth: depth,
      series: series, blockers: blockers, nextReminder: nextReminder)
  }
}

extension [NamedTask] {
  /// The tasks with handles of one length, for a view.
  var withHandlesOfOneLength: [NamedTask] {
    let count = map(\.handle.utf8.count).max() ?? 0
    return map { $0.withHandle(ofLength: count) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Finds the handle and the list of a task.
  ///
  /// - Parameters:
  ///   - task: the task.
  ///   - lists: the lists found so far.
  ///   - hasSeries: whether to decode the series of a repeating task, which costs more than everything else.
  /// - Returns: the task, to be printed.
  /// - Throws: what the storage throws.
  func name(_ task: TaskItem, knowing lists: inout KnownLists, withSeries hasSeries: Bool = true) throws -> NamedTask {
    if let id = task.listID, lists[id] == nil { lists[id] = try list(id) }
    return NamedTask(
      task: task, handle: try handle(of: task.id), list: task.listID.flatMap { lists[$0] },
      series: hasSeries ? try series(of: task) : nil, blockers: try blockersInWords(of: task),
      nextReminder: task.nextReminder(from: now, in: calendar.timeZone))
  }

  /// What blocks a task: `blocked by 7f3a`, `blocked by 7f3a and 2 more`; `nil` if nothing does.
  private func blockersInWords(of task: TaskItem) throws -> String? {
    // Nearly all tasks depend on no other.
    guard !task.dependsOn.isEmpty, case let found = try blockers(of: task.id), let first = found.first else {
      return nil
    }
    let others = found.count > 1 ? " and \((found.count - 1).grouped) more" : ""
    return "blocked by \(try handle(of: first.id))\(others)"
  }

  /// The handles of some tasks, or the ends of the ids of those that do not exist; `nil` for none.
  func handles(of ids: TaskIDSet) throws -> String? {
    let names = try ids.prefix(5).map { try task($0) == nil ? "task \($0.shownEnd)" : try handle(of: $0) }
    let rest = ids.count > 5 ? " and \((ids.count - 5).grouped) more" : ""
    return ids.isEmpty ? nil : names.joined(separator: ", ") + rest
  }

  /// Finds the handle and the list of a task.
  func name(_ task: TaskItem) throws -> NamedTask {
    var lists: KnownLists = [:]
    return try name(task, knowing: &lists)
  }
}

extension NamedTask {
  /// The columns of a task's record in the order of the first version.
  static let firstColumns = ["handle", "state", "scheduledDate", "dueDate", "completedAt", "list", "title", "id"]
  /// The columns that later versions added, after all others, because scripts count columns from the left.
  static let laterColumns = ["dueDay", "priority", "tags"]
  /// The columns of a task's record.
  static let columns = firstColumns + laterColumns

  /// The columns that a record can have.
  static let allColumns: [String] = TaskField.shown.filter { $0 != .series }.flatMap { field -> [String] in
    switch field {
    case .id: ["id", "handle"]
    case .listID: ["listID", "list"]
    case .text: ["title"]
    case .completedAt: ["completedAt", "cancelledAt"]
    case .cancelledAt: []
    default: ["\(field.name)"]
    }
  }

  var facts: Facts {
    var members: [Facts.Member] = []
    for field in TaskField.shown where field != .cancelledAt {
      if field == .series {
        members.append((Facts.Name(field.name, onlyIn: .json), series?.facts ?? .text(nil)))
        continue
      }
      let value = field == .reminderDate ? nextReminder.map { .instant($0) } : task.shown(field)
      members.append((Facts.Name(field == .text ? "title" : field.name), .value(value)))
      if field == .id { members.append(("handle", .text(handle))) }
      if field == .listID { members.append(("list", .text(list?.name))) }
      if field == .completedAt {
        members.append((Facts.Name("completedOffset", onlyIn: .json), .text(task.completedAt?.offsetText)))
        members.append((Facts.Name(TaskField.cancelledAt.name), .value(task.shown(.cancelledAt))))
      }
    }
    return .object(members)
  }
}

extension TaskItem {
  /// The value of a field as it is shown: tags and attributes are there even if the task has none.
  fileprivate func shown(_ field: TaskField) -> FieldValue? {
    switch field {
    case .tags: .tags(tags)
    case .attributes: .attributes(attributes)
    case .dependsOn: .ids(dependsOn)
    case .reminders: .reminders(ReminderSet(reminders))
    case .someday: .flag(start == .someday)
    default: self[field]
    }
  }
}

extension TaskSeries {
  /// The series, without what its tasks have in common.
  var facts: Facts {
    [
      "id": .id(id), "rule": .text(recurrence.text), "start": .day(start), "time": .text(time),
      "zone": .text(timeZoneIdentifier), "skipped": .array(skippedDays.map { .day($0) }),
    ]
  }
}

extension TaskList {
  /// The columns of a list's record.
  static let columns = ["name", "colorHex", "id"]

  var facts: Facts {
    [
      "id": .id(id), "name": .text(name), "colorHex": .text(colorHex), "sortOrder": .integer(sortOrder),
      "createdAt": .instant(createdAt), "updatedAt": .instant(updatedAt),
    ]
  }
}

extension SavedFilter {
  static let columns = ["name", "filter", "updatedAt"]

  var facts: Facts {
    ["name": .text(name), "filter": .text(text), "updatedAt": .instant(updatedAt)]
  }
}

extension NamedTask {
  /// The handle and the title, in a message.
  var inWords: String { "\(handle) \(task.title.quotedForMessage)" }
}

extension StoreTransaction where Base: ~Copyable {
  /// The handle and the title of one task, the first handles of several.
  func words(for tasks: [TaskItem]) throws -> String {
    let shownCount = 5
    if tasks.count == 1 { return try name(tasks[0]).inWords }
    let handles = try tasks.prefix(shownCount).map { try handle(of: $0.id) }.joined(separator: ", ")
    return tasks.count > shownCount ? "\(handles) and \((tasks.count - shownCount).grouped) more" : handles
  }
}
