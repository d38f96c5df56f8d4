import Foundation
import TallyTestSupport

@testable import Tally
@testable import TallyEngine

/// What filters mean, as plainly as possible: the evaluation with which all others are compared.
struct FilterModel {
  let now: Timestamp
  let calendar: Calendar
  var lists: [TaskList] = []
  /// The tasks that have sub-tasks.
  var parentIDs: Set<UUID> = []
  /// The tasks that wait for each other.
  var waiting = WaitingModel([])

  var today: CalendarDay { CalendarDay(containing: now, in: calendar) }

  func matches(_ filter: TaskFilter, _ task: TaskItem) -> Bool { matches(filter.root, task) }

  private func matches(_ node: FilterNode, _ task: TaskItem) -> Bool {
    switch node {
    case .constant(let value): value
    case .condition(let condition): matches(condition, task)
    case .not(let operand): !matches(operand, task)
    case .and(let operands): operands.allSatisfy { matches($0, task) }
    case .or(let operands): operands.contains { matches($0, task) }
    case .tooDeep: false
    }
  }

  private func matches(_ condition: FilterCondition, _ task: TaskItem) -> Bool {
    switch condition {
    case .list(let list): matches(list, task)
    case .tag(let name): task.tags.contains { Self.folded($0) == Self.folded(name) }
    case .state(let state): task.state == state
    case .parent(let id): task.parentID == id
    case .priority(let comparison, let priority): comparison.matches(task.priority, priority)
    case .date(let field, let comparison, let date): matches(field, comparison, date, task)
    case .text(let field, let text): contains(text, field, task)
    case .has(let field): has(field, task)
    case .hasAttribute(let name): task.attributes[name] != nil
    case .property(let property): isTrue(property, task)
    case .attribute(let name, let comparison, let text):
      task.attributes[name].map { matches($0, comparison, text) } ?? false
    }
  }

  private func matches(_ list: FilterList, _ task: TaskItem) -> Bool {
    switch list {
    case .inbox: task.listID == nil && task.scheduledDate == nil
    case .none: task.listID == nil
    case .id(let id): task.listID == id
    case .name(let name): matches(listNamed: name.text, task)
    }
  }

  private func matches(listNamed name: String, _ task: TaskItem) -> Bool {
    lists.contains { $0.id == task.listID && ($0.name == name || $0.name.lowercased() == name.lowercased()) }
      && (!lists.contains { $0.name == name } || lists.contains { $0.id == task.listID && $0.name == name })
  }

  private func contains(_ text: String, _ field: TaskFilter.TextField, _ task: TaskItem) -> Bool {
    var folder = TextFolder()
    let texts: [String?] =
      switch field {
      case .title: [task.title]
      case .notes: [task.notes]
      case .text: [task.title, task.notes]
      }
    return texts.compactMap { $0 }.contains { folder.fold($0).utf8.contains(folder.fold(text).utf8) }
  }

  private func has(_ field: TaskFilter.Field, _ task: TaskItem) -> Bool {
    switch field {
    case .notes: task.notes != nil
    case .day: task.scheduledDate != nil
    case .due: task.dueDate != nil || task.dueDay != nil
    case .reminder: !task.reminders.isEmpty
    case .list: task.listID != nil
    case .tags: !task.tags.isEmpty
    case .priority: task.priority != .none
    case .parent: task.parentID != nil
    case .recurrence: task.recurrence != nil
    case .attributes: !task.attributes.isEmpty
    case .dependencies: !task.dependsOn.isEmpty
    case .completed: task.completedAt != nil
    case .cancelled: task.cancelledAt != nil
    case .start: task.start != nil
    }
  }

  private func isTrue(_ property: TaskFilter.Property, _ task: TaskItem) -> Bool {
    switch property {
    case .open: task.state == .notStarted || task.state == .active
    case .cancelled: task.state == .cancelled
    case .done: task.state == .completed
    case .active: task.state == .active
    case .recurring: task.recurrence != nil
    case .subtask: task.parentID != nil
    case .parent: parentIDs.contains(task.id)
    case .blocked: waiting.rank(of: task.id) > 0
    case .blocking: waiting.blocks(task.id)
    case .waiting: TaskModel.isWaiting(task, on: today)
    case .someday: task.start == .someday
    case .overdue where task.state == .completed || task.state == .cancelled: false
    case .overdue:
      if let day = task.dueDay { day < today } else { (task.dueDate ?? task.reminderDate).map { $0 < now } ?? false }
    }
  }

  static func folded(_ tag: String) -> String {
    tag.precomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
  }
}

extension FilterModel {
  private func matches(
    _ field: TaskFilter.DateField, _ comparison: FilterOperator, _ date: DateExpression, _ task: TaskItem
  ) -> Bool {
    let isPast = field == .created || field == .updated || field == .completed || field == .cancelled
    let reference = DateReference(now: now, calendar: calendar, direction: isPast ? .backward : .forward)
    guard let resolved = try? date.resolved(against: reference) else { return false }
    switch field {
    case .day: return task.scheduledDate.map { comparison.matches($0, self.day(of: resolved)) } ?? false
    case .due:
      if let day = task.dueDay { return matches(day, comparison, resolved) }
      return task.dueDate.map { matches($0, comparison, resolved) } ?? false
    case .reminder:
      return ReminderModel.instants(of: task, in: calendar.timeZone).contains {
        matches($0.instant, comparison, resolved)
      }
    case .start: return task.start?.day.map { comparison.matches($0, self.day(of: resolved)) } ?? false
    case .created: return matches(task.createdAt, comparison, resolved)
    case .updated: return matches(task.updatedAt, comparison, resolved)
    case .completed: return task.completedAt.map { matches($0.instant, comparison, resolved) } ?? false
    case .cancelled: return task.cancelledAt.map { matches($0.instant, comparison, resolved) } ?? false
    }
  }

  private func day(of date: ResolvedDate) -> CalendarDay {
    switch date {
    case .day(let day): day
    case .instant(let instant): CalendarDay(containing: instant, in: calendar)
    }
  }

  private func matches(_ instant: Timestamp, _ comparison: FilterOperator, _ date: ResolvedDate) -> Bool {
    switch date {
    case .day(let day): comparison.matches(CalendarDay(containing: instant, in: calendar), day)
    case .instant(let other): comparison.matches(instant, other)
    }
  }

  private func matches(_ day: CalendarDay, _ comparison: FilterOperator, _ date: ResolvedDate) -> Bool {
    switch date {
    case .day(let other): return comparison.matches(day, other)
    case .instant(let other):
      let next = try? day.adding(days: 1).start(in: calendar)
      return comparison.matches(next.map { $0.adding(microseconds: -1) } ?? .latest, other)
    }
  }

  private func matches(_ value: AttributeValue, _ comparison: FilterOperator, _ text: String) -> Bool {
    let reference = DateReference(now: now, calendar: calendar)
    let date = (try? DateExpression(text)).flatMap { try? $0.resolved(against: reference) }
    switch value {
    case .text(let value) where comparison == .contains:
      var folder = TextFolder()
      return folder.fold(value).utf8.contains(folder.fold(text).utf8)
    case .text(let value): return comparison.matches(value, text)
    case .integer(let value):
      if let number = Int64(text) { return comparison.matches(value, number) }
      return Double(text).map { comparison.matches(Double(value), $0) } ?? false
    case .real(let value): return Double(text).map { comparison.matches(value, $0) } ?? false
    case .flag(let flag): return comparison == .equal && text.lowercased() == String(flag)
    case .instant(let instant): return date.map { matches(instant, comparison, $0) } ?? false
    case .day(let day): return date.map { matches(day, comparison, $0) } ?? false
    case .bytes: return false
    }
  }
}

/// Which open tasks wait for which, by looking at all pairs.
struct WaitingModel {
  private var blockers: [UUID: Set<UUID>] = [:]

  init(_ tasks: some Sequence<TaskItem>) {
    let open = Dictionary(tasks.filter(\.isOpen).map { ($0.id, $0) }) { first, _ in first }
    let direct = open.mapValues { task in Set(task.dependsOn.filter { open[$0] != nil && $0 != task.id }) }
    func reached(from id: UUID) -> Set<UUID> {
      var found = direct[id] ?? []
      while case let next = found.union(found.flatMap { direct[$0] ?? [] }), next != found { found = next }
      return found
    }
    for (id, ids) in direct where !ids.isEmpty { blockers[id] = ids.filter { !reached(from: $0).contains(id) } }
  }

  /// How many tasks must be done one after the other before a task.
  func rank(of id: UUID) -> Int { blockers[id]?.map { 1 + rank(of: $0) }.max() ?? 0 }

  /// Whether another task waits for a task.
  func blocks(_ id: UUID) -> Bool { blockers.values.contains { $0.contains(id) } }
}
