import Foundation
import TallyTestSupport
import TestSupport

@testable import Tally

/// Random tasks, few values of each kind, so that filters find some.
struct RandomTasks {
  var generator: SeededGenerator
  let now: Timestamp
  let calendar: Calendar
  let lists: [TaskList]
  static let tags = ["home", "Work", "Straße", "two words", "éclair"]
  static let words = ["tax", "form", "Café", "買い物", "ＷＩＤＥ", "report"]
  static let attributes = ["cost", "client", "seen", "Größe"]

  init(seed: UInt64, now: Timestamp, calendar: Calendar, lists: [TaskList]) {
    generator = SeededGenerator(seed: seed)
    (self.now, self.calendar, self.lists) = (now, calendar, lists)
  }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  mutating func tasks(count: Int) -> [TaskItem] {
    var tasks: [TaskItem] = []
    for _ in 0..<count { tasks.append(task(parents: tasks)) }
    return tasks
  }

  /// A task; sometimes a sub-task of one of the others.
  mutating func task(parents: [TaskItem]) -> TaskItem {
    var task = TaskItem(id: generator.uuid(), title: "\(pick(Self.words)) \(pick(Self.words))", createdAt: instant())
    task.updatedAt = max(task.createdAt, instant())
    task.sortOrder = Int64.random(in: 0..<20, using: &generator)
    if generator.oneIn(3) { task.notes = "\(pick(Self.words))\n\(pick(Self.words))" }
    if generator.oneIn(3) { complete(&task) } else if generator.oneIn(4) { task.state = .active }
    if generator.oneIn(2) { task.listID = pick(lists).id }
    if generator.oneIn(3) { task.scheduledDate = day() }
    if generator.oneIn(3) { task.dueDate = instant() } else if generator.oneIn(3) { task.dueDay = day() }
    if generator.oneIn(3) { task.reminderDate = instant() }
    if generator.oneIn(4) { task.otherReminders = reminders() }
    if generator.oneIn(2) { task.tags = TagSet((0..<2).map { _ in pick(Self.tags) }) }
    task.priority = pick(Priority.allCases)
    if generator.oneIn(3) { for _ in 0..<2 { task.attributes[pick(Self.attributes)] = value() } }
    if generator.oneIn(3) { task.start = generator.oneIn(4) ? .someday : .day(day()) }
    if generator.oneIn(5), !parents.isEmpty {
      let parent = pick(parents)
      if parent.parentID == nil { (task.parentID, task.listID) = (parent.id, parent.listID) }
    }
    if generator.oneIn(4), !parents.isEmpty {
      let others = (0..<2).map { _ in pick(parents).id }
      task.dependsOn = TaskIDSet(others.filter { $0 != task.parentID } + (generator.oneIn(8) ? [generator.uuid()] : []))
    }
    return task
  }

  private mutating func reminders() -> ReminderSet {
    let (days, minute) = (Int.random(in: 0...2, using: &generator), Int.random(in: 0..<1_440, using: &generator))
    let relative = try? RelativeReminder(
      daysBefore: days, generator.oneIn(2) ? .due : .scheduled, atMinute: generator.oneIn(2) ? minute : nil)
    return ReminderSet([.at(instant())] + (relative.map { [.before($0)] } ?? []))
  }

  private mutating func complete(_ task: inout TaskItem) {
    if generator.oneIn(3) { return (task.state, task.cancelledAt) = (.cancelled, OffsetTimestamp(instant(), in: .gmt)) }
    task.state = .completed
    task.completedAt = OffsetTimestamp(instant(), in: .gmt)
  }

  private mutating func value() -> AttributeValue {
    pick([.integer(5), .real(2.5), .text(pick(Self.words)), .flag(true), .instant(instant()), .day(day()), .bytes([1])])
  }

  mutating func day() -> CalendarDay {
    CalendarDay(
      clamping: Int64(CalendarDay(containing: now, in: calendar).dayNumber)
        + Int64.random(in: -9...9, using: &generator))
  }

  /// Some days around now; now and then exactly a day's end.
  mutating func instant() -> Timestamp {
    if generator.oneIn(6) { return day().start(in: calendar).adding(microseconds: pick([-1, 0, 1])) }
    return now.adding(seconds: Int64.random(in: -800_000...800_000, using: &generator))
  }
}

extension RandomFilter {
  /// A filter that asks for what random tasks have.
  mutating func filter(of tasks: inout RandomTasks, _ stored: [TaskItem], depth: Int) -> TaskFilter {
    if depth > 0, !generator.oneIn(4) {
      let left = filter(of: &tasks, stored, depth: depth - 1)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: return !left
      case 1: return left || filter(of: &tasks, stored, depth: depth - 1)
      default: return left && filter(of: &tasks, stored, depth: depth - 1)
      }
    }
    let comparison = tasks.pick(TaskFilter.Comparison.allCases)
    switch Int.random(in: 0..<14, using: &generator) {
    case 0: return tasks.pick([.list(tasks.pick(tasks.lists).name), .list(nil), .list("inbox"), .list("WORK")])
    case 1, 2: return .tag(tasks.pick(RandomTasks.tags + ["HOME", "STRASSE"]))
    case 3: return .state(tasks.pick(TaskState.allCases))
    case 4: return .parent(tasks.pick(stored).parentID ?? tasks.pick(stored).id)
    case 5: return .priority(comparison, tasks.pick(Priority.allCases))
    case 6, 7, 8: return .date(tasks.pick(TaskFilter.DateField.allCases), comparison, date(&tasks))
    case 9:
      return tasks.pick([
        .text(contains: tasks.pick(RandomTasks.words)), .title(contains: "cafe"), .notes(contains: "a"),
      ])
    case 10: return .has(tasks.pick(TaskFilter.Field.allCases))
    case 11, 12: return .is(tasks.pick(TaskFilter.Property.allCases))
    default:
      let values: [TaskFilter.Literal] = [5, 2.5, true, "tax", .init(date(&tasks))]
      return .attribute(tasks.pick(RandomTasks.attributes), comparison, tasks.pick(values))
    }
  }

  private mutating func date(_ tasks: inout RandomTasks) -> DateExpression {
    let relative = ["today", "tomorrow", "today-2d", "now", "now+3h", "friday", "eow", "today@17:00"]
    return tasks.pick(
      [.day(tasks.day()), .instant(tasks.instant())] + relative.compactMap { try? DateExpression($0) })
  }
}
