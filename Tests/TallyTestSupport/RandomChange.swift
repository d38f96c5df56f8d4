public import Foundation
public import Tally

/// Chooses changes that a person, or a careless program, might make.
public enum RandomChange {
  /// The maximum number of tasks in a model: enough for every view to have some, few enough to compare all of them.
  private static let wantedTaskCount = 50
  /// The same for lists, so that the cost of each change stays the same in a long run.
  private static let wantedListCount = 30

  /// The next change; some of them must be refused.
  public static func next(
    in model: TaskModel, now: Timestamp, calendar: Calendar, using generator: inout SeededGenerator
  ) -> ModelChange {
    let today = CalendarDay(containing: now, in: calendar)
    let id = taskID(in: model, using: &generator)
    switch Int.random(in: 0..<44, using: &generator) {
    case 0..<5 where model.tasks.count < wantedTaskCount:
      return .add(draft(in: model, now: now, today: today, using: &generator))
    case 0..<7:
      return .setState(id, TaskState.allCases.randomElement(using: &generator) ?? .active)
    case 7..<9: return .schedule(id, day(around: today, using: &generator))
    case 9..<11:
      let due = instant(around: now, using: &generator)
      return .setDates(id, due: due, reminder: instant(around: now, using: &generator))
    case 11..<13: return .moveToList(id, listID(in: model, using: &generator))
    case 13..<15: return .edit(id, title: title(using: &generator), notes: generator.oneIn(2) ? nil : "notes")
    case 15..<17: return .complete(id, at: completion(before: now, using: &generator))
    case 17 where model.lists.count < wantedListCount:
      return .addList(generator.uuid(), name: generator.oneIn(8) ? " \t" : "list")
    case 18:
      let listID = listID(in: model, using: &generator) ?? generator.uuid()
      return .renameList(listID, name: title(using: &generator))
    case 19 where !generator.oneIn(3): return .delete(id)
    case 17, 19:
      return .deleteList(listID(in: model, using: &generator) ?? generator.uuid())
    case 20, 21: return .setParent(id, generator.oneIn(4) ? nil : taskID(in: model, using: &generator))
    case 22, 23: return .setFields(id, fields(today: today, using: &generator))
    case 24...28: return .setRecurrence(id, recurrence(today: today, using: &generator))
    case 37: return .skip(id)
    case 38: return .deleteOccurrence(id)
    case 39, 40:
      // Often what the task has already, so that only its series changes.
      let task = model.tasks[id]
      return .editSeries(
        id, title: generator.oneIn(2) ? task?.title ?? "again" : title(using: &generator),
        due: generator.oneIn(2) ? task?.dueDate : instant(around: now, using: &generator),
        tag: generator.oneIn(2) ? ["home", "series"].randomElement(using: &generator) : nil)
    case 32...34: return .setDependencies(id, dependencies(in: model, using: &generator))
    case 35, 36: return .cancel(id, at: generator.oneIn(2) ? nil : completion(before: now, using: &generator))
    case 41...43: return .setReminders(id, reminders(around: now, using: &generator))
    case 29, 30: return .snooze(id, until: instant(around: now, using: &generator))
    default: return .delete(id)
    }
  }

  /// None, one or several reminders, at instants and before the days of the task.
  public static func reminders(around now: Timestamp, using generator: inout SeededGenerator) -> [Reminder] {
    (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in
      guard generator.oneIn(2) else { return instant(around: now, using: &generator).map { .at($0) } }
      let (isTimed, days) = (generator.oneIn(2), Int.random(in: 0...2, using: &generator))
      let minute = Int.random(in: 0..<1_440, using: &generator)
      let relative = try? RelativeReminder(
        daysBefore: days, minutesBefore: isTimed ? 0 : minute, generator.oneIn(2) ? .due : .scheduled,
        atMinute: isTimed ? minute : nil)
      return relative.map { .before($0) }
    }
  }

  /// Few tasks: sometimes one that does not exist, sometimes one that waits for the task, which must be refused.
  private static func dependencies(in model: TaskModel, using generator: inout SeededGenerator) -> TaskIDSet {
    TaskIDSet((0..<Int.random(in: 0...2, using: &generator)).map { _ in taskID(in: model, using: &generator) })
  }

  private static func taskID(in model: TaskModel, using generator: inout SeededGenerator) -> UUID {
    let ids = model.tasks.keys.sorted { $0.uuidString < $1.uuidString }
    return generator.oneIn(20) ? generator.uuid() : ids.randomElement(using: &generator) ?? generator.uuid()
  }

  private static func listID(in model: TaskModel, using generator: inout SeededGenerator) -> UUID? {
    if generator.oneIn(4) { return nil }
    return generator.oneIn(20) ? generator.uuid() : model.orderedLists.randomElement(using: &generator)?.id
  }

  private static func draft(
    in model: TaskModel, now: Timestamp, today: CalendarDay, using generator: inout SeededGenerator
  ) -> TaskDraft {
    TaskDraft(
      id: generator.oneIn(20) ? taskID(in: model, using: &generator) : generator.uuid(),
      title: title(using: &generator), scheduledDate: day(around: today, using: &generator),
      dueDate: instant(around: now, using: &generator), reminderDate: instant(around: now, using: &generator),
      listID: listID(in: model, using: &generator))
  }

  private static func fields(today: CalendarDay, using generator: inout SeededGenerator) -> TaskFieldsDraft {
    let tags = ["home", "HOME", "Straße", "STRASSE", "水", "a,b"].filter { _ in generator.oneIn(4) }
    return TaskFieldsDraft(
      dueDay: day(around: today, using: &generator),
      priority: Priority.allCases.randomElement(using: &generator) ?? .low,
      tags: TagSet(tags),
      attributes: generator.oneIn(2) ? [:] : ["n": .integer(Int64.random(in: -3...3, using: &generator)), "x": "ü"],
      start: generator.oneIn(4) ? .someday : day(around: today, using: &generator).map { .day($0) })
  }

  /// The titles that tasks and lists get; the last one must be refused.
  public static let titles = [
    "water the plants", "çiçekleri sula", "水をやる", "a\0b", "👩‍👩‍👧 zoo", "\u{301}x", "  \n",
  ]

  private static func title(using generator: inout SeededGenerator) -> String {
    titles.randomElement(using: &generator) ?? "x"
  }

  /// None, or one of every kind: without end, with few occurrences, that ends soon or, to be refused, has ended or never
  /// gives a day.
  private static func recurrence(today: CalendarDay, using generator: inout SeededGenerator) -> Recurrence? {
    let end = CalendarDay(clamping: Int64(today.dayNumber) + .random(in: -1...5, using: &generator))
    let texts = [
      "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;COUNT=3", "FREQ=WEEKLY;BYDAY=MO,FR", "FREQ=MONTHLY;BYMONTHDAY=-1",
      "FREQ=MONTHLY;BYDAY=2TU", "FREQ=YEARLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;EXDATE=20261124,20261208",
      "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "FREQ=YEARLY;BYMONTH=11,12;BYDAY=MO,TU,WE",
      "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
      "FREQ=DAILY;UNTIL=\(end.iso8601.replacing("-", with: ""))",
    ]
    if generator.oneIn(4) { return nil }
    let interval = try? RecurrenceInterval(.random(in: 1...9, using: &generator), generator.oneIn(2) ? .day : .week)
    if generator.oneIn(4), let interval { return .afterCompletion(interval) }
    return texts.randomElement(using: &generator).flatMap { try? Recurrence(text: $0) }
  }

  private static func day(around today: CalendarDay, using generator: inout SeededGenerator) -> CalendarDay? {
    generator.oneIn(3) ? nil : try? today.adding(days: Int.random(in: -3...3, using: &generator))
  }

  private static func instant(around now: Timestamp, using generator: inout SeededGenerator) -> Timestamp? {
    generator.oneIn(3) ? nil : now.adding(seconds: Int64.random(in: -200_000...200_000, using: &generator))
  }

  private static func completion(before now: Timestamp, using generator: inout SeededGenerator) -> OffsetTimestamp {
    let instant = now.adding(seconds: -Int64.random(in: 0...500_000, using: &generator))
    let minutes = 15 * Int.random(in: -48...56, using: &generator)
    return (try? OffsetTimestamp(instant, utcOffsetInMinutes: minutes)) ?? OffsetTimestamp(instant, in: .gmt)
  }
}
