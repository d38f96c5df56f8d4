import Foundation
import Testing

@testable import Tally

/// Where the dates of a task go with its occurrence: from Monday, 2026-03-23, by the week, in Amsterdam.
struct OccurrenceMoveTests {
  /// A task's dates: days, or an instant for the due date.
  struct Dates: Equatable, Sendable {
    var day: String?
    var due: String?
    var reminder: String?
  }

  private func moved(_ dates: Dates, by rule: String = "FREQ=WEEKLY", from: String = "2026-03-23", to: String) throws
    -> Dates
  {
    let zone = try #require(TimeZone(identifier: "Europe/Amsterdam"))
    let series = RecurrenceSeries(startingWith: UUID(), on: try CalendarDay(iso8601: from))
    let next = RecurrenceSeries(id: series.id, start: series.start, occurrence: try CalendarDay(iso8601: to), index: 1)
    let move = OccurrenceMove(from: series, to: next, by: try Recurrence(text: rule), in: zone)
    var task = TaskItem(title: "x", createdAt: .earliest)
    task.scheduledDate = try dates.day.map(CalendarDay.init(iso8601:))
    if let due = dates.due, due.utf8.count > 10 { task.dueDate = try Timestamp(iso8601: due) }
    if let due = dates.due, due.utf8.count == 10 { task.dueDay = try CalendarDay(iso8601: due) }
    task.reminderDate = try dates.reminder.map(Timestamp.init(iso8601:))
    move.apply(to: &task)
    return Dates(
      day: task.scheduledDate?.iso8601, due: task.dueDate?.iso8601 ?? task.dueDay?.iso8601,
      reminder: task.reminderDate?.iso8601)
  }

  @Test(
    arguments: [
      // Local times stay when summer time begins on 29 March.
      (
        Dates(day: "2026-03-23", due: "2026-03-27T16:00:00Z", reminder: "2026-03-22T08:00:00Z"),
        Dates(day: "2026-03-30", due: "2026-04-03T15:00:00Z", reminder: "2026-03-29T07:00:00Z")
      ),
      (Dates(day: "2026-03-23", due: "2026-03-27"), Dates(day: "2026-03-30", due: "2026-04-03")),
      (Dates(due: "2026-03-23"), Dates(due: "2026-03-30")),
      (Dates(reminder: "2026-03-23T08:00:00Z"), Dates(reminder: "2026-03-30T07:00:00Z")),
      // Without a date the next one is planned.
      (Dates(), Dates(day: "2026-03-30")),
      // Put off by two days: the next one is on Monday again, and the others keep their distance to it.
      (
        Dates(day: "2026-03-25", due: "2026-03-27", reminder: "2026-03-23T08:00:00Z"),
        Dates(day: "2026-03-30", due: "2026-04-03", reminder: "2026-03-30T07:00:00Z")
      ),
      (Dates(due: "2026-03-26"), Dates(due: "2026-03-30")),
      // Planned for two days before it is due: still so.
      (Dates(day: "2026-03-21", due: "2026-03-23"), Dates(day: "2026-03-28", due: "2026-03-30")),
      // Put off beyond the next occurrence, with all dates.
      (Dates(day: "2026-04-01", due: "2026-04-02"), Dates(day: "2026-03-30", due: "2026-03-31")),
      // A reminder put off beyond the day comes on the day.
      (
        Dates(day: "2026-03-23", reminder: "2026-03-25T08:00:00Z"),
        Dates(day: "2026-03-30", reminder: "2026-03-30T07:00:00Z")
      ),
    ] as [(Dates, Dates)])
  func datesMoveWithTheOccurrence(dates: Dates, expected: Dates) throws {
    #expect(try moved(dates, to: "2026-03-30") == expected)
  }

  @Test func aTimeThatTheClockSkipsMovesForward() throws {
    let dates = Dates(due: "2026-03-28T01:30:00Z")
    let next = try moved(dates, by: "FREQ=DAILY", from: "2026-03-28", to: "2026-03-29")
    #expect(next == Dates(due: "2026-03-29T01:30:00Z"))
    #expect(
      try moved(dates, by: "FREQ=DAILY", from: "2026-03-28", to: "2026-03-30") == Dates(due: "2026-03-30T00:30:00Z"))
  }

  @Test func theLastDayOfTheMonthAndTheLeapDayKeepTheirDistances() throws {
    let rent = Dates(day: "2026-01-28", due: "2026-01-31")
    let next = try moved(rent, by: "FREQ=MONTHLY;BYMONTHDAY=-1", from: "2026-01-31", to: "2026-02-28")
    #expect(next == Dates(day: "2026-02-25", due: "2026-02-28"))
    let leapDay = try moved(Dates(day: "2024-02-29"), by: "FREQ=YEARLY", from: "2024-02-29", to: "2028-02-29")
    #expect(leapDay == Dates(day: "2028-02-29"))
  }
}
