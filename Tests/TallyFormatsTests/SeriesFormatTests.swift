import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Stored series in other formats; each is given in Berlin on Monday, 2 March 2026, before the change of clocks on the 29th.
@Suite struct SeriesFormatTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  /// A series, and what becomes of it before it goes out.
  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var rule = "FREQ=DAILY"
    var planned: String?
    var due: String?
    var start: TaskStart?
    var reminders: [String] = []
    /// The zone to which the series is fixed.
    var zone: String?
    var change: @Sendable (UUID, inout StoreWriteTransaction) throws -> Void = { _, _ in }
    /// Lines of the calendar that other programs read.
    let lines: [String]
  }

  static let examples = [
    Example(
      testDescription: "a time every day", due: "2026-03-02T09:00:00+01:00",
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260302T090000", "DUE;TZID=Europe/Berlin:20260302T090000", "RRULE:FREQ=DAILY",
      ]),
    Example(
      testDescription: "a time that the clock skips on the day of the open task", due: "2026-03-28T02:30:00+01:00",
      change: { id, transaction in try transaction.complete(id) },
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260329T023000", "DUE;TZID=Europe/Berlin:20260329T023000", "RRULE:FREQ=DAILY",
      ]),
    Example(
      testDescription: "a series in a zone of its own, whose last day ends there", rule: "FREQ=DAILY;UNTIL=20260401",
      due: "2026-03-02T20:00:00+01:00", zone: "America/New_York",
      lines: [
        "DTSTART;TZID=America/New_York:20260302T200000", "DUE;TZID=America/New_York:20260302T200000",
        "RRULE:FREQ=DAILY;UNTIL=20260402T035959Z",
      ]),
    Example(
      testDescription: "what is left of a number, without the day that was skipped", rule: "FREQ=WEEKLY;COUNT=5",
      due: "2026-03-02T09:00:00+01:00",
      change: { id, transaction in
        let first = try #require(try transaction.task(id))
        try transaction.skip(id)
        let second = try #require(try transaction.successor(of: first))
        try transaction.complete(second.id)
      },
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260316T090000", "EXDATE;TZID=Europe/Berlin:20260302T090000",
        "RRULE:FREQ=WEEKLY;COUNT=3",
      ]),
    Example(
      testDescription: "a task that was moved keeps the rule's weekday", rule: "FREQ=WEEKLY",
      due: "2026-03-02T09:00:00+01:00",
      change: { id, transaction in
        let later = try Timestamp(iso8601: "2026-03-04T11:30:00+01:00")
        try transaction.update(id) { $0.dueDate = later }
      },
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260304T113000", "DUE;TZID=Europe/Berlin:20260304T113000",
        "RRULE:FREQ=WEEKLY;BYDAY=MO",
      ]),
    Example(
      testDescription: "a task that was moved keeps the rule's day of the month", rule: "FREQ=MONTHLY;UNTIL=20261001",
      due: "2026-03-02T09:00:00+01:00",
      change: { id, transaction in
        let later = try Timestamp(iso8601: "2026-03-05T11:30:00+01:00")
        try transaction.update(id) { $0.dueDate = later }
      },
      lines: ["DTSTART;TZID=Europe/Berlin:20260305T113000", "RRULE:FREQ=MONTHLY;BYMONTHDAY=2;UNTIL=20261001T215959Z"]),
    Example(
      testDescription: "a task that was moved keeps the rule's day of the year", rule: "FREQ=YEARLY;COUNT=3",
      due: "2026-03-02",
      change: { id, transaction in try transaction.update(id) { $0.dueDay = try Self.day("2026-02-27") } },
      lines: ["DTSTART;VALUE=DATE:20260227", "RRULE:FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=2;COUNT=3"]),
    Example(
      testDescription: "a due day", rule: "FREQ=MONTHLY;BYMONTHDAY=-1", due: "2026-03-31",
      lines: ["DTSTART;VALUE=DATE:20260331", "DUE;VALUE=DATE:20260331", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1"]),
    Example(
      testDescription: "due two days after the day of the rule", rule: "FREQ=WEEKLY;BYDAY=MO", planned: "2026-03-02",
      due: "2026-03-04T17:00:00+01:00",
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260302T000000", "DUE;TZID=Europe/Berlin:20260304T170000",
        "RRULE:FREQ=WEEKLY;BYDAY=MO",
      ]),
    Example(
      testDescription: "a start, which does not move the rule, with reminders",
      rule: "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
      due: "2026-03-29", start: .day((try? day("2026-03-20")) ?? .earliest),
      reminders: ["2026-03-27T10:00:00+01:00", "2026-03-28T10:00:00+01:00", "9:00 the day before"],
      lines: [
        "DTSTART;VALUE=DATE:20260329", "DUE;VALUE=DATE:20260329", "X-TALLY-START;VALUE=DATE:20260320",
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "TRIGGER;RELATED=END:-PT15H",
      ]),
    Example(
      testDescription: "a reminder alone", planned: "2026-03-02", reminders: ["2026-03-02T07:15:00+01:00"],
      lines: ["DTSTART;VALUE=DATE:20260302", "TRIGGER:PT7H15M", "RRULE:FREQ=DAILY"]),
    Example(
      testDescription: "every 8 hours, from the second time on", rule: "FREQ=HOURLY;INTERVAL=8;COUNT=5",
      due: "2026-03-02T09:00:00+01:00",
      change: { id, transaction in try transaction.complete(id) },
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260302T170000", "DUE;TZID=Europe/Berlin:20260302T170000",
        "RRULE:FREQ=HOURLY;INTERVAL=8;COUNT=4",
      ]),
    Example(
      testDescription: "every 6 hours with a reminder alone",
      rule: "FREQ=HOURLY;INTERVAL=6;BYDAY=MO,TU,WE,TH,FR,SA;UNTIL=20260310", planned: "2026-03-02",
      reminders: ["2026-03-02T07:15:00+01:00"],
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260302T071500",
        "RRULE:FREQ=HOURLY;INTERVAL=6;BYDAY=MO,TU,WE,TH,FR,SA;UNTIL=20260310T225959Z",
      ]),
    Example(
      testDescription: "every 12 hours except on one day", rule: "FREQ=HOURLY;INTERVAL=12;EXDATE=20260303",
      due: "2026-03-02T09:00:00+01:00",
      lines: [
        "DTSTART;TZID=Europe/Berlin:20260302T090000", "RRULE:FREQ=HOURLY;INTERVAL=12",
        "EXDATE;TZID=Europe/Berlin:"
          + (0..<24).map { "20260303T\($0 < 10 ? "0" : "")\($0)0000" }.joined(separator: ","),
      ]),
    Example(
      testDescription: "a series whose title differs from that of its open task", due: "2026-03-02T09:00:00+01:00",
      change: { id, transaction in
        try transaction.update(id) { ($0.title, $0.priority) = ("Pills, twice", .high) }
      },
      lines: ["SUMMARY:Pills\\, twice", "PRIORITY:1", "RRULE:FREQ=DAILY"]),
  ]

  private static func configuration(_ clock: TestClock, in zone: String = "Europe/Berlin") -> TaskStore.Configuration {
    .testing(clock: clock, timeZone: zone)
  }

  /// Adds the series of an example, and calls the body with a clock that has gone on.
  private func withSeries(_ example: Example, _ body: (TaskStore, UUID, TestClock) throws -> Void) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-03-02T06:00:00Z"))
    try withStore(Self.configuration(clock)) { store in
      let id = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Health")
        return try transaction.add("Pills") { task in
          task.recurrence = try Recurrence(text: example.rule)
          task.scheduledDate = try example.planned.map(Self.day)
          try task.setDue(example.due)
          task.start = example.start
          task.reminders = try example.reminders.map { try Reminder(text: $0) }
          (task.tags, task.listID) = (["a"], list.id)
        }.id
      }
      clock.now = clock.now.adding(seconds: 60)
      if let zone = example.zone {
        try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: zone), ofSeriesWith: id) }
      }
      try store.writeAndWait { try example.change(id, &$0) }
      clock.now = clock.now.adding(seconds: 60)
      try body(store, id, clock)
    }
  }

  /// The open task and the next two of its series, as they would be made after a completion on its day.
  private func nextDays(in store: TaskStore) throws -> [String] {
    try store.writeAndWait { transaction in
      let saved = try #require(try transaction.view(.all).tasks.first { $0.isOpen })
      var (task, words) = (saved, [String]())
      for _ in 0..<3 {
        words.append(task.facts)
        try transaction.complete(task.id)
        guard let next = try transaction.successor(of: try #require(try transaction.task(task.id))) else { break }
        task = next
      }
      return words
    }
  }

  @Test(arguments: examples)
  func aCalendarSaysItInTheWordsOfOtherPrograms(example: Example) throws {
    try withSeries(example) { store, _, _ in
      let text = try store.exportedText(as: .ical)
      let open = text.components(separatedBy: "BEGIN:VTODO").filter { !$0.contains("\r\nSTATUS:C") }.joined()
      let lines = Set(open.replacing("\r\n ", with: "").components(separatedBy: "\r\n"))
      for line in example.lines { #expect(lines.contains(line), "\(line) of \(open)") }
      #expect(try store.exportedText(as: .ical) == text)
      // What is closed does not repeat.
      let toDos = text.components(separatedBy: "BEGIN:VTODO").dropFirst().map {
        $0.components(separatedBy: "END:VTODO")[0]
      }
      #expect(toDos.count { $0.contains("\r\nRRULE:") } == 1, "\(text)")
      for line in lines {
        guard let zone = line.firstMatch(of: /;TZID=([^:]*):/)?.1 else { continue }
        #expect(text.contains("BEGIN:VTIMEZONE\r\nTZID:\(zone)\r\n"))
      }
    }
  }

  @Test(arguments: examples, [DocumentFormat.taskwarrior, .todotxt, .ical, .csv, .markdown])
  func everyFormatGivesTheSameSeriesBack(example: Example, format: DocumentFormat) throws {
    try withSeries(example) { store, id, clock in
      let text = try store.exportedText(as: format)
      let (tasks, series) = try store.read { transaction in
        (try transaction.tasks(TaskQuery(.all, by: .place)).tasks, try transaction.storedSeries(id))
      }
      clock.now = clock.now.adding(seconds: 60)
      let again = try store.importText(text, as: format)
      #expect(again.tasks == ImportSummary.Counts(unchanged: tasks.count) && again.account.isEmpty)
      #expect(try store.read { try $0.storedSeries() } == [series])
      // Where the person is does not matter: the open task has the same times on the clock.
      let zone = try #require(TimeZone(identifier: "America/New_York"))
      try withStore(Self.configuration(clock, in: zone.identifier)) { copy in
        try copy.importText(text, as: format)
        var found = try copy.tasks
        for task in found where task.isOpen {
          let floating = tasks.first { $0.id == task.id }?.floating
          #expect(task.floating?.due?.local == floating?.due?.local && (floating == nil) == (task.floating == nil))
        }
        if format == .taskwarrior { for index in found.indices { found[index].sortOrder = tasks[index].sortOrder } }
        let lists = try copy.read { try $0.lists() }
        for index in found.indices { found[index].listID = lists.isEmpty ? nil : tasks[index].listID }
        #expect(Set(found) == Set(tasks.map { $0.shown(in: zone) }), "\(text)")
        #expect(try copy.importText(text, as: format).tasks == ImportSummary.Counts(unchanged: tasks.count))
        var other = try copy.read { try $0.storedSeries() }
        for index in other.indices { other[index].move(toList: series?.template.listID) }
        #expect(other == [series], "\(text)")
      }
      try withStore(Self.configuration(clock)) { copy in
        try copy.importText(text, as: format)
        #expect(try copy.importText(text, as: format).tasks == ImportSummary.Counts(unchanged: tasks.count))
        #expect(try copy.exportedText(as: format) == text)
        #expect(try nextDays(in: copy) == (try nextDays(in: store)))
      }
    }
  }

  /// Other programs drop what they do not know; then the task describes its series, with the same days.
  @Test func withoutTheExtensionTheDaysAreTheSame() throws {
    for example in Self.examples where example.zone == nil && !example.testDescription.contains(/moved|skips/) {
      try withSeries(example) { store, _, clock in
        let text = try store.exportedText(as: .ical).replacing("\r\n ", with: "").components(separatedBy: "\r\n")
        let bare = text.filter { !$0.hasPrefix("X-TALLY:") }.joined(separator: "\r\n")
        try withStore(Self.configuration(clock)) { copy in
          try copy.importText(bare, as: .ical)
          let (expected, found) = (try nextDays(in: store), try nextDays(in: copy))
          let days = { (words: [String]) in words.map { $0.replacing(#/planned \S* /#, with: "") } }
          #expect(days(found).count == expected.count, "\(example)")
          if example.testDescription.contains("time") { #expect(days(found) == days(expected), "\(example)") }
        }
      }
    }
  }
}

extension TaskItem {
  /// What a person sees of a task's dates.
  fileprivate var facts: String {
    let day = dueDay?.iso8601 ?? dueDate?.iso8601 ?? "never"
    let reminders = reminderInstants(in: TimeZone(identifier: "Europe/Berlin") ?? .gmt).map(\.iso8601)
    return
      "\(title) planned \(scheduledDate?.iso8601 ?? "never") due \(day) \(reminders) \(start.map { "\($0)" } ?? "")"
  }
}
