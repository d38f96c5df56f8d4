import Foundation
import TallyTestSupport
import Testing

@testable import Tally
@testable import TallyFormats

/// Calendars as other programs write them: zones, alarms, series with their occurrences, and lines that Tally has no use for.
struct CalendarClientTests {
  /// A zone that nobody knows by its name: Berlin's clock, two hours later.
  private static let describedZone = """
    BEGIN:VTIMEZONE
    TZID:Customized Time Zone
    BEGIN:STANDARD
    DTSTART:16010101T030000
    TZOFFSETFROM:+0400
    TZOFFSETTO:+0300
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
    END:STANDARD
    BEGIN:DAYLIGHT
    DTSTART:16010101T020000
    TZOFFSETFROM:+0300
    TZOFFSETTO:+0400
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
    END:DAYLIGHT
    END:VTIMEZONE

    """

  private static func calendar(_ toDos: String..., zone: String = "") -> String {
    let components = toDos.map { "BEGIN:VTODO\nDTSTAMP:20260101T000000Z\n\($0)\nEND:VTODO\n" }.joined()
    return "BEGIN:VCALENDAR\nVERSION:2.0\n\(zone)\(components)END:VCALENDAR\n"
  }

  @Test(arguments: [
    ("20260115T120000", "2026-01-15T09:00:00Z"), ("20260715T120000", "2026-07-15T08:00:00Z"),
    // Left out by the change in March: read with the offset before it; twice in October: the first one.
    ("20260329T023000", "2026-03-28T23:30:00Z"), ("20261025T023000", "2026-10-24T22:30:00Z"),
    ("20260329T030000", "2026-03-28T23:00:00Z"), ("20261025T030000", "2026-10-25T00:00:00Z"),
  ])
  func theDocumentSaysWhatItsZoneMeans(local: String, instant: String) throws {
    try withStore { (store: TaskStore) throws in
      // The name is of another zone elsewhere: the document decides all the same.
      for name in ["Customized Time Zone", "America/New_York"] {
        let zone = Self.describedZone.replacing("Customized Time Zone", with: name)
        let text = Self.calendar("UID:\(name)\nSUMMARY:a\nDUE;TZID=\(name):\(local)", zone: zone)
        #expect(try store.importText(text, as: .ical).account.isEmpty)
      }
      #expect(try store.tasks.map { $0.dueDate?.iso8601 } == [instant, instant])
    }
  }

  /// A written zone gives the instants of the tz database, hour by hour over two years with their changes.
  @Test(arguments: [
    "Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "America/St_Johns", "Pacific/Auckland",
    "Australia/Lord_Howe", "America/Santiago", "Etc/UTC",
  ])
  func aWrittenZoneGivesTheInstantsOfTheDatabase(name: String) throws {
    let zone = try #require(TimeZone(identifier: name))
    let written = try #require(WrittenZone.named(name))
    let start = try Timestamp(iso8601: "2026-01-01T00:30:00Z")
    for hour in 0..<2 * 8_766 {
      let local = String(BasicDate.text(start.adding(seconds: Int64(hour) * 3_600)).dropLast())
      #expect(written.instant(local) == BasicDate.instant(local, in: zone), "\(local)")
    }
  }

  @Test(
    arguments: [
      ("TRIGGER:-PT15M", "2026-12-01T07:45:00Z"), ("TRIGGER;RELATED=END:-PT15M", "2026-12-01T08:45:00Z"),
      ("TRIGGER;RELATED=START:PT1H", "2026-12-01T09:00:00Z"),
      ("TRIGGER;VALUE=DATE-TIME:20261130T200000Z", "2026-11-30T20:00:00Z"),
      ("TRIGGER;VALUE=DATE-TIME:19760401T005545Z\nX-APPLE-PROXIMITY:ARRIVE", nil),
    ] as [(String, String?)])
  func anAlarmIsAReminderAndGoesOutOnce(trigger: String, reminder: String?) throws {
    try withStore { (store: TaskStore) throws in
      let alarm = "BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:x\n\(trigger)\nEND:VALARM"
      let text = Self.calendar("UID:1\nSUMMARY:a\nDTSTART:20261201T080000Z\nDUE:20261201T090000Z\n\(alarm)")
      try store.importText(text, as: .ical)
      let task = try #require(try store.tasks.first)
      #expect(task.reminderDate?.iso8601 == reminder)
      let exported = try store.exportedText(as: .ical)
      #expect(exported.components(separatedBy: "\r\nBEGIN:VALARM\r\n").count == 2)
      #expect(exported.contains(trigger.components(separatedBy: "\n")[0] + "\r\n"))
      guard reminder != nil else { return }
      // A reminder that moves takes its alarm along; one that is removed takes it away.
      let moved = try Timestamp(iso8601: "2026-12-02T10:00:00Z")
      try store.writeAndWait { _ = try $0.update(task.id) { $0.reminderDate = moved } }
      let again = try store.exportedText(as: .ical)
      #expect(again.components(separatedBy: "\r\nBEGIN:VALARM\r\n").count == 2)
      #expect(again.contains("20261202T100000Z\r\n"))
      try store.writeAndWait { _ = try $0.update(task.id) { $0.reminderDate = nil } }
      #expect(try !store.exportedText(as: .ical).contains("\r\nBEGIN:VALARM\r\n"))
    }
  }

  /// With several alarms the reminder's own moves and goes, and the others stay.
  @Test(arguments: [false, true])
  func theOtherAlarmsStay(isPlainFirst: Bool) throws {
    let plain = "BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:a\nTRIGGER;VALUE=DATE-TIME:20261201T080000Z\nEND:VALARM"
    let other = "BEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT15M\nEND:VALARM"
    let second = plain.replacing("T080000Z", with: "T070000Z")
    let alarms = (isPlainFirst ? [plain, other, second] : [other, plain, second]).joined(separator: "\n")
    try withStore { (store: TaskStore) throws in
      try store.importText(Self.calendar("UID:1\nSUMMARY:a\nDUE:20261201T090000Z\n\(alarms)"), as: .ical)
      let task = try #require(try store.tasks.first)
      #expect(task.reminderDate?.iso8601 == "2026-12-01T08:00:00Z")
      let triggers = { (text: String) in
        text.components(separatedBy: "\r\n").filter { $0.hasPrefix("TRIGGER") }.sorted()
      }
      let rest = ["TRIGGER:-PT15M", "TRIGGER;VALUE=DATE-TIME:20261201T070000Z"]
      #expect(
        triggers(try store.exportedText(as: .ical)) == rest + ["TRIGGER;VALUE=DATE-TIME:20261201T080000Z"])
      let moved = try Timestamp(iso8601: "2026-12-02T10:00:00Z")
      try store.writeAndWait { _ = try $0.update(task.id) { $0.reminderDate = moved } }
      #expect(
        triggers(try store.exportedText(as: .ical)) == rest + ["TRIGGER;VALUE=DATE-TIME:20261202T100000Z"])
      try store.writeAndWait { _ = try $0.update(task.id) { $0.reminderDate = nil } }
      #expect(triggers(try store.exportedText(as: .ical)) == rest)
    }
  }

  /// An open occurrence that is described stands for its day, and a number of occurrences counts on.
  @Test func anOpenOccurrenceStandsForItsDay() throws {
    let series = "UID:s\nSUMMARY:a\nRRULE:FREQ=WEEKLY;COUNT=4\nDUE;VALUE=DATE:20270104\nEXDATE;VALUE=DATE:20270111"
    let open = "UID:s\nSUMMARY:b\nRECURRENCE-ID;VALUE=DATE:20270104\nDUE;VALUE=DATE:20270105"
    try withStore { (store: TaskStore) throws in
      try store.importText(Self.calendar(series, open), as: .ical)
      let tasks = Dictionary(uniqueKeysWithValues: try store.tasks.map { ($0.title, $0) })
      #expect(tasks["a"]?.dueDay?.iso8601 == "2027-01-18" && tasks["b"]?.dueDay?.iso8601 == "2027-01-05")
      #expect(tasks["a"]?.recurrence?.text == "FREQ=WEEKLY;COUNT=2")
    }
  }

  /// Days that are left out come in, and go out with the kind of time that the start has.
  @Test(
    arguments: [
      (
        "DTSTART;VALUE=DATE:20270104", "EXDATE;VALUE=DATE:20270105,20270107",
        "FREQ=DAILY;BYMONTH=1;EXDATE=20270105,20270107"
      ),
      (
        "DTSTART;TZID=Europe/Berlin:20270104T090000\nDUE;TZID=Europe/Berlin:20270104T090000",
        "EXDATE;TZID=Europe/Berlin:20270105T090000,20270107T090000", "FREQ=DAILY;BYMONTH=1;EXDATE=20270105,20270107"
      ),
    ])
  func daysThatAreLeftOutComeInAndGoOut(dates: String, line: String, text: String) throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
    try withStore(configuration) { (store: TaskStore) throws in
      let calendar = Self.calendar("UID:s\nSUMMARY:a\nRRULE:FREQ=DAILY;BYMONTH=1\n\(dates)\n\(line)")
      #expect(try store.importText(calendar, as: .ical).account.isEmpty)
      let task = try #require(try store.tasks.first)
      #expect(task.recurrence?.text == text)
      #expect(try store.exportedText(as: .ical).contains("\r\nRRULE:FREQ=DAILY;BYMONTH=1\r\n\(line)\r\n"))
      #expect(try store.importText(calendar, as: .ical).tasks == ImportSummary.Counts(unchanged: 1))
      // Without the imported line, or with other days, the rule says them.
      try store.writeAndWait { _ = try $0.update(task.id) { $0.attributes["EXDATE"] = nil } }
      let exported = try store.exportedText(as: .ical)
      #expect(exported.contains("\r\n\(line)\r\n"), "\(exported)")
      try store.writeAndWait { transaction in
        _ = try transaction.update(task.id) { $0.recurrence = try Recurrence(text: "FREQ=DAILY") }
      }
      #expect(try !store.exportedText(as: .ical).contains("\r\nEXDATE"))
    }
  }

  /// An occurrence that is done beside its series is a task of its own, and the series goes on behind it.
  @Test func aSeriesComesInWithItsOccurrences() throws {
    let series =
      "UID:s\nSUMMARY:a\nRRULE:FREQ=WEEKLY\nDTSTART;TZID=Europe/Berlin:20270104T090000\n"
      + "DUE;TZID=Europe/Berlin:20270104T100000"
    let done =
      "UID:s\nSUMMARY:a\nRECURRENCE-ID;TZID=Europe/Berlin:20270104T090000\nSTATUS:COMPLETED\n"
      + "COMPLETED:20270104T110000Z\nDTSTART;TZID=Europe/Berlin:20270104T090000"
    try withStore { (store: TaskStore) throws in
      let text = Self.calendar(series, done)
      #expect(try store.importText(text, as: .ical).account.isEmpty)
      let open = try #require(try store.tasks.first { !$0.isCompleted })
      #expect(open.scheduledDate?.iso8601 == "2027-01-11" && open.dueDate?.iso8601 == "2027-01-11T09:00:00Z")
      #expect(try store.tasks.count { $0.isCompleted } == 1)
      #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: 2))
      let exported = try store.exportedText(as: .ical)
      #expect(exported.components(separatedBy: "UID:s\r\n").count == 3)
      #expect(exported.contains("RECURRENCE-ID;TZID=Europe/Berlin:20270104T090000\r\n"))
      #expect(exported.contains("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n"))
      try checkInvariants(of: store)
    }
  }

  @Test func whatHasNoFieldGoesOutAsItCame() throws {
    let lines = [
      "SUMMARY;LANGUAGE=en;X-P=\"a;b:c\":Odd\\, with \\; and \\n a line", "DESCRIPTION;ALTREP=\"cid:p@h\":Notes",
      "RELATED-TO;RELTYPE=CHILD:c1", "RELATED-TO;RELTYPE=SIBLING:c2", "PERCENT-COMPLETE:40", "STATUS:IN-PROCESS",
      "ATTENDEE;CN=\"A. Person\":mailto:p@h", "LOCATION:Berlin", "BEGIN:X-PART", "FOO:bar", "END:X-PART",
    ]
    try withStore { (store: TaskStore) throws in
      try store.importText(Self.calendar("UID:not-a-uuid@host\n" + lines.joined(separator: "\n")), as: .ical)
      let exported = Set(try store.exportedText(as: .ical).components(separatedBy: "\r\n"))
      for line in lines + ["UID:not-a-uuid@host"] { #expect(exported.contains(line), "\(line)") }
    }
  }

  /// A timed series keeps its clock in other programs: zone, start, last day in UTC, and an alarm that moves along.
  @Test func aTimedSeriesGoesOutInItsZone() throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
    try withStore(configuration) { store in
      let due = try Timestamp(iso8601: "2027-01-04T08:00:00Z")
      let rule = try Recurrence(text: "FREQ=WEEKLY;UNTIL=20270401")
      try store.writeAndWait { transaction in
        _ = try transaction.add("a", to: .inbox) { task in
          (task.dueDate, task.recurrence, task.reminderDate) = (due, rule, due.adding(seconds: -900))
        }
        // One without a repetition is fixed to its instant.
        _ = try transaction.add("b", to: .inbox) { $0.dueDate = due }
      }
      let text = try store.exportedText(as: .ical)
      for line in [
        "DTSTART;TZID=Europe/Berlin:20270104T090000", "DUE;TZID=Europe/Berlin:20270104T090000",
        "RRULE:FREQ=WEEKLY;UNTIL=20270401T215959Z", "TRIGGER:-PT15M", "TZOFFSETTO:+0200", "DUE:20270104T080000Z",
      ] {
        #expect(text.contains(line + "\r\n"), "\(line)")
      }
      #expect(text.components(separatedBy: "BEGIN:VTIMEZONE").count == 2)
      #expect(try store.exportedText(as: .ical) == text)
      #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: 2))
      try withStore(configuration) { other in
        #expect(try other.importText(text, as: .ical).account.isEmpty)
        let (here, there) = (try store.tasks, try other.tasks)
        #expect(there.map(\.recurrence) == here.map(\.recurrence))
        #expect(there.map(\.scheduledDate) == here.map(\.scheduledDate))
      }
    }
  }
}
