import Foundation
import Tally
import TallyFormats
import TallyTestSupport
import TestSupport
import Testing

/// Several reminders in other formats.
@Suite struct ReminderFormatTests {
  private static func task(_ reminders: [String], due: String, planned: String? = nil) throws -> TaskItem {
    var task = TaskItem(title: "Send the form", createdAt: Timestamp(clamping: 0))
    try task.setDue(due)
    task.scheduledDate = try planned.map { try CalendarDay(iso8601: $0) }
    task.reminders = try reminders.map { try Reminder(text: $0) }
    return task
  }

  private func exported(_ task: TaskItem, as format: DocumentFormat) throws -> String {
    try withStore(.testing(clock: .noon, timeZone: "Europe/Berlin")) { store in
      try store.writeAndWait { _ = try $0.put(task) }
      return try store.exportedText(as: format)
    }
  }

  @Test(arguments: [DocumentFormat.json, .ndjson, .taskwarrior, .todotxt, .ical, .csv, .markdown])
  func everyFormatKeepsThem(format: DocumentFormat) throws {
    let task = try Self.task(
      [
        "2026-11-20T09:00:00Z", "2026-11-21T09:00:00Z", "2 hours before it is due", "09:00 the day before it is due",
        "07:30 on its day",
      ], due: "2026-11-25T16:00:00Z", planned: "2026-11-23")
    let text = try exported(task, as: format)
    try withStore(.testing(clock: .noon, timeZone: "Europe/Berlin")) { store in
      try store.importText(text, as: format)
      let found = try #require(try store.tasks.first)
      #expect(Set(found.reminders) == Set(task.reminders), "\(format)")
    }
  }

  /// A reminder, the due date, the planned day, and the trigger that a calendar has.
  @Test(arguments: [
    ("1 day before it is due", "2026-11-25T16:00:00Z", "TRIGGER;RELATED=END:-P1D"),
    ("2 hours before it is due", "2026-11-25T16:00:00Z", "TRIGGER;RELATED=END:-PT2H"),
    ("when it is due", "2026-11-25T16:00:00Z", "TRIGGER;RELATED=END:PT0S"),
    ("1d2h before it is due", "2026-11-25T16:00:00Z", "TRIGGER;RELATED=END:-P1DT2H"),
    ("09:00 the day before it is due", "2026-11-25", "TRIGGER;RELATED=END:-PT15H"),
    ("09:00 on the day it is due", "2026-11-25", "TRIGGER;RELATED=END:PT9H"),
    ("09:00 on its day", "2026-11-25", "TRIGGER;RELATED=START:PT9H"),
    ("2026-11-22T10:00:00Z", "2026-11-25", "TRIGGER;VALUE=DATE-TIME:20261122T100000Z"),
  ])
  func aCalendarHasAnAlarmForEach(reminder: String, due: String, trigger: String) throws {
    let first = "2026-11-20T09:00:00Z"
    let planned = due.contains("T") ? nil : "2026-11-24"
    let task = try Self.task([first, reminder], due: due, planned: planned)
    let text = try exported(task, as: .ical)
    let lines = text.split { $0.isNewline }.map(String.init)
    #expect(lines.filter { $0 == "BEGIN:VALARM" }.count == 2)
    #expect(lines.contains(trigger), "\(lines)")
    // Other programs drop the extension.
    let bare = lines.filter { !$0.hasPrefix("X-TALLY") && !$0.hasPrefix(" ") }.joined(separator: "\r\n") + "\r\n"
    try withStore(.testing(clock: .noon, timeZone: "Europe/Berlin")) { store in
      try store.importText(bare, as: .ical)
      let found = try #require(try store.tasks.first)
      #expect(Set(found.reminders) == Set(task.reminders), "\(bare)")
    }
  }
}
