import Foundation
import Synchronization
import Tally
import TestSupport

extension HelperAct {
  /// Lives with repeating tasks: reads what a person does, one act a line, and answers what the open task is then.
  ///
  /// - `now INSTANT ZONE`: the time, and where the person is.
  /// - `add RULE DAY DUE REMINDER`: begins a series, `-` for none; the others name it by its number.
  /// - `done N`, `skip N`, `drop N`: completes, leaves out or deletes the open task.
  /// - `plan N DAY`, `due N WHEN`, `snooze N INSTANT`: change the open task.
  /// - `part N INSTANT`: gives the open task a sub-task that is due then.
  /// - `series-due N WHEN`, `zone N ZONE`: change the series.
  func liveWithSeries() throws {
    let clock = Mutex(Timestamp(clamping: 0))
    var (configuration, zone) = (TaskStore.Configuration(), TimeZone.gmt)
    configuration.now = { clock.withLock { $0 } }
    configuration.durability = .relaxed
    let store = try TaskStore(at: directory, configuration: configuration)
    var open: [UUID?] = []
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      if words[0] == "now" {
        clock.withLock { $0 = (try? Timestamp(iso8601: words[1])) ?? $0 }
        zone = TimeZone(identifier: words[2]) ?? zone
        continue
      }
      let number = words[0] == "add" ? open.count : Int(words[1]) ?? 0
      let task = try store.writeAndWait { [zone] transaction in
        var calendar = transaction.calendar
        calendar.timeZone = zone
        transaction.countDays(in: calendar, startingAtMinute: 0)
        let id = try Self.act(words, on: number < open.count ? open[number] : nil, in: &transaction)
        return try Self.openTask(after: id, in: transaction)
      }
      if number == open.count { open.append(task?.id) } else { open[number] = task?.id }
      say(try task.map { task in try Self.words(of: task, in: store, zone) } ?? "ended")
    }
    try store.close()
  }

  private static func act(
    _ words: [String], on id: UUID?, in transaction: inout StoreWriteTransaction
  ) throws -> UUID {
    guard let id else {
      return try transaction.add("habit") { task in
        task.recurrence = try Recurrence(text: words[1].replacing("_", with: " "))
        task.scheduledDate = try? CalendarDay(iso8601: words[2])
        set(&task, due: words[3])
        task.reminderDate = try? Timestamp(iso8601: words[4])
      }.id
    }
    switch words[0] {
    case "done": try transaction.complete(id)
    case "skip": try transaction.skip(id)
    case "drop":
      // The task is gone: the next one is found before.
      let place = try transaction.task(id)?.series
      try transaction.deleteOccurrence(id)
      guard let place else { return id }
      return RecurrenceSeries(id: place.id, start: place.start, occurrence: place.start, index: place.index + 1).taskID
    case "plan": try transaction.schedule(id, on: CalendarDay(iso8601: words[2]))
    case "due": try transaction.update(id, keepingReminder: true) { set(&$0, due: words[2]) }
    case "snooze": try transaction.snooze(id, until: Timestamp(iso8601: words[2]))
    case "series-due": try transaction.updateSeries(of: id, keepingReminder: true) { set(&$0, due: words[2]) }
    case "part":
      try transaction.add("part") { part in
        (part.parentID, part.dueDate) = (id, try Timestamp(iso8601: words[2]))
      }
    case "zone": try transaction.setTimeZone(TimeZone(identifier: words[2]), ofSeriesWith: id)
    default: throw Misuse()
    }
    return id
  }

  private static func set(_ task: inout TaskItem, due text: String) {
    task.dueDate = try? Timestamp(iso8601: text)
    if let day = try? CalendarDay(iso8601: text) { task.dueDay = day }
  }

  /// The task itself if it is open, or else the one that follows it.
  private static func openTask(after id: UUID, in transaction: borrowing StoreWriteTransaction) throws -> TaskItem? {
    guard let task = try transaction.task(id) else { return nil }
    return task.isOpen ? task : try transaction.successor(of: task)
  }

  private static func words(of task: TaskItem, in store: TaskStore, _ zone: TimeZone) throws -> String {
    let due = task.dueDay?.iso8601 ?? task.dueDate?.iso8601
    let parts = try store.read { transaction in
      var calendar = transaction.calendar
      calendar.timeZone = zone
      transaction.countDays(in: calendar, startingAtMinute: 0)
      return try transaction.subtasks(of: task.id).filter(\.isOpen).compactMap(\.dueDate).sorted()
    }
    let dates = [task.scheduledDate?.iso8601, due, task.reminderDate?.iso8601].map { $0 ?? "-" }
    return (dates + parts.map(\.iso8601)).joined(separator: " ")
  }
}
