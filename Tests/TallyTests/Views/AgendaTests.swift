import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// What asks for attention today.
@Suite struct AgendaTests {
  @Test func eachTaskIsShownOnceInTheFirstPlaceThatFits() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        let (now, today) = (transaction.now, transaction.today)
        let yesterday = try today.adding(days: -1)
        for draft in [
          TaskDraft(title: "late and planned", scheduledDate: today, dueDate: now.adding(seconds: -60)),
          TaskDraft(title: "due and planned", scheduledDate: today, dueDate: now.adding(seconds: 60)),
          TaskDraft(title: "planned", scheduledDate: today),
          TaskDraft(title: "late and left", scheduledDate: yesterday, dueDate: now.adding(seconds: -90)),
          TaskDraft(title: "left", scheduledDate: yesterday),
          TaskDraft(title: "left for long", scheduledDate: try today.adding(days: -2)),
          TaskDraft(title: "somewhere"),
          TaskDraft(title: "missed", dueDate: now.adding(seconds: 900_000), reminderDate: now.adding(seconds: -5)),
        ] { _ = try transaction.add(draft) }
        try transaction.complete(transaction.add(TaskDraft(title: "done", scheduledDate: today)).id)
      }
      let agenda = try store.read { try $0.agenda() }
      #expect(agenda.overdue.map(\.title) == ["late and left", "late and planned"])
      #expect(agenda.dueToday.map(\.title) == ["due and planned"])
      #expect(agenda.planned.map(\.title) == ["planned"])
      #expect(agenda.yesterday.map(\.title) == ["left"])
      #expect(agenda.completedCount == 1)
      #expect(agenda.pastCount == 1)
      #expect(agenda.inboxCount == 2)
      #expect(agenda.missedReminders.map(\.title) == ["missed"])
    }
  }

  @Test func theAgendaOfRandomStoresEqualsBruteForce() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "AgendaTests"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      var model = TaskModel()
      for number in 0..<400 {
        clock.now = clock.now.adding(seconds: 601)
        let calendar = store.configuration.calendar
        let change = RandomChange.next(in: model, now: clock.now, calendar: calendar, using: &generator)
        _ = model.apply(change, now: clock.now, timeZone: calendar.timeZone)
        try? store.writeAndWait { try change.apply(to: &$0) }
        if number % 10 == 9 { try expectEqual(try store.read { try $0.agenda() }, store, clock.now) }
      }
    }
  }

  private func expectEqual(_ agenda: Agenda, _ store: TaskStore, _ now: Timestamp) throws {
    let calendar = store.configuration.calendar
    let today = CalendarDay(containing: now, in: calendar)
    let all = try store.read { try $0.view(.all).tasks }.filter(\.isOpen)
    let waiting = all.filter { TaskModel.isWaiting($0, on: today) }
    let open = all.filter { !waiting.contains($0) }
    let overdue = open.filter { $0.isOverdue(at: now, in: calendar.timeZone) }
    let others = open.filter { !overdue.contains($0) }
    let dueToday = others.filter { $0.dueDay(in: calendar.timeZone) == today }
    let rest = others.filter { !dueToday.contains($0) }
    let planned = rest.filter { $0.scheduledDate == today }
    let yesterday = rest.filter { $0.scheduledDate?.dayNumber == today.dayNumber - 1 }
    let hidden = rest.filter { !planned.contains($0) && !yesterday.contains($0) }
    let ids = { (tasks: [TaskItem]) in Set(tasks.map(\.id)) }
    #expect(ids(agenda.overdue) == ids(overdue))
    #expect(ids(agenda.dueToday) == ids(dueToday))
    #expect(ids(agenda.planned) == ids(planned))
    #expect(agenda.yesterday == yesterday.sorted(by: TaskModel.viewOrder))
    #expect(agenda.tasks.count == overdue.count + dueToday.count + planned.count + yesterday.count)
    #expect(agenda.pastCount == hidden.count { ($0.scheduledDate ?? today) < today })
    #expect(agenda.inboxCount == hidden.count { $0.listID == nil && $0.scheduledDate == nil })
    // A task that waits reminds all the same.
    let missed = (hidden + waiting).filter { task in
      ReminderModel.instants(of: task, in: calendar.timeZone).contains { $0.instant < now }
    }
    #expect(ids(agenda.missedReminders) == ids(missed))
  }
}
