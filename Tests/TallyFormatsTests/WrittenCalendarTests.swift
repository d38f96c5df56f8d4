import Foundation
import TallyTestSupport
import Testing

@testable import Tally
@testable import TallyFormats

/// Calendars made by hand after what the makers of three programs describe: what comes in, what is named, what goes out.
struct WrittenCalendarTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let head: String
    let toDos: String
    /// What the account names, as the names of properties and components.
    let named: Set<String>
    /// For each task its title, start day, due instant or day, and reminder.
    let tasks: [[String?]]
  }

  private static let berlin = """
    BEGIN:VTIMEZONE
    TZID:%
    BEGIN:STANDARD
    DTSTART:16011028T030000
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
    TZOFFSETFROM:+0200
    TZOFFSETTO:+0100
    END:STANDARD
    BEGIN:DAYLIGHT
    DTSTART:16010325T020000
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
    TZOFFSETFROM:+0100
    TZOFFSETTO:+0200
    END:DAYLIGHT
    END:VTIMEZONE
    """

  private static func zone(_ name: String) -> String { berlin.replacing("%", with: name) }

  static let programs = [
    Program(
      testDescription: "Outlook",
      head: "PRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN\nMETHOD:PUBLISH\n"
        + "X-MS-OLK-FORCEINSPECTOROPEN:TRUE\n" + zone("W. Europe Standard Time"),
      toDos: """
        BEGIN:VTODO
        CATEGORIES:Red Category,#work
        CLASS:PUBLIC
        CREATED:20261120T101500Z
        DESCRIPTION:First line\\nsecond\\, with a comma\\n
        DTSTAMP:20261120T101500Z
        DTSTART;TZID="W. Europe Standard Time":20261201T080000
        DUE;TZID="W. Europe Standard Time":20261203T170000
        LAST-MODIFIED:20261120T101500Z
        PERCENT-COMPLETE:25
        PRIORITY:1
        SEQUENCE:0
        STATUS:IN-PROCESS
        SUMMARY;LANGUAGE=de:Angebot prüfen
        UID:040000008200E00074C5B7101A82E00800000000B0A2
        X-ALT-DESC;FMTTYPE=text/html:<p>First line</p>
        X-MICROSOFT-CDO-IMPORTANCE:2
        X-MS-OLK-CONFTYPE:0
        BEGIN:VALARM
        TRIGGER;RELATED=END:-PT30M
        ACTION:DISPLAY
        DESCRIPTION:Reminder
        END:VALARM
        END:VTODO
        """,
      named: ["CLASS", "X-ALT-DESC", "X-MICROSOFT-CDO-IMPORTANCE", "X-MS-OLK-CONFTYPE"],
      tasks: [["Angebot prüfen", "2026-12-01", "2026-12-03T16:00:00Z", "2026-12-03T15:30:00Z"]]),
    Program(
      testDescription: "Thunderbird",
      head: "PRODID:-//Mozilla.org/NONSGML Mozilla Calendar V1.1//EN\n"
        + zone("Europe/Berlin").replacing("TZOFFSETTO:+0200", with: "TZOFFSETTO:+020000"),
      toDos: """
        BEGIN:VTODO
        CREATED:20261120T101500Z
        LAST-MODIFIED:20261121T101500Z
        DTSTAMP:20261121T101500Z
        UID:3c7e3d4c-12f5-4d0f-9d43-2f6a3bd5b1aa
        SUMMARY:Water the plants
        CATEGORIES:Home\\, garden
        RRULE:FREQ=WEEKLY;COUNT=5
        DTSTART;TZID=Europe/Berlin:20261202T073000
        DUE;TZID=Europe/Berlin:20261202T080000
        DESCRIPTION;ALTREP="data:text/html,%3Cb%3Ewell%3C%2Fb%3E":well
        X-MOZ-LASTACK:20261121T101500Z
        X-MOZ-GENERATION:3
        BEGIN:VALARM
        ACTION:DISPLAY
        TRIGGER;VALUE=DURATION:-PT15M
        DESCRIPTION:Default Mozilla Description
        X-LIC-ERROR;X-LIC-ERRORTYPE=VALUE-PARSE-ERROR:odd
        END:VALARM
        END:VTODO
        BEGIN:VTODO
        CREATED:20261120T101500Z
        LAST-MODIFIED:20261121T101500Z
        DTSTAMP:20261121T101500Z
        UID:0b0a6c5e-47c4-4f0c-8d7b-0a5a4d6b9a11
        SUMMARY:Book a room
        STATUS:COMPLETED
        COMPLETED:20261121T101500Z
        PERCENT-COMPLETE:100
        RELATED-TO:3c7e3d4c-12f5-4d0f-9d43-2f6a3bd5b1aa
        END:VTODO
        """,
      named: ["X-MOZ-LASTACK", "X-MOZ-GENERATION"],
      tasks: [
        ["Water the plants", "2026-12-02", "2026-12-02T07:00:00Z", "2026-12-02T06:15:00Z"],
        ["Book a room", nil, nil, nil],
      ]),
    Program(
      testDescription: "Apple",
      head: "PRODID:-//Apple Inc.//iOS 18.1//EN\nCALSCALE:GREGORIAN\nX-WR-CALNAME:Reminders\n" + zone("Europe/Berlin"),
      toDos: """
        BEGIN:VTODO
        CREATED:20261120T101500Z
        DTSTAMP:20261120T101500Z
        DTSTART;TZID=Europe/Berlin:20261202T090000
        DUE;TZID=Europe/Berlin:20261202T090000
        LAST-MODIFIED:20261120T101500Z
        PRIORITY:9
        SEQUENCE:0
        STATUS:NEEDS-ACTION
        SUMMARY:Call the dentist
        UID:7A8C0F67-3E4B-4E2C-9C2A-5F0E1C2D3B4A
        URL;VALUE=URI:https://example.org/?a=1
        X-APPLE-SORT-ORDER:684327600
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:Reminder
        TRIGGER;VALUE=DATE-TIME:20261202T080000Z
        UID:1F6A2C1B-0D6B-4A53-9E57-0C1D2E3F4A5B
        X-WR-ALARMUID:1F6A2C1B-0D6B-4A53-9E57-0C1D2E3F4A5B
        END:VALARM
        END:VTODO
        BEGIN:VTODO
        CREATED:20261120T101500Z
        DTSTAMP:20261120T101500Z
        LAST-MODIFIED:20261120T101500Z
        STATUS:NEEDS-ACTION
        SUMMARY:Buy bread
        UID:8B8C0F67-3E4B-4E2C-9C2A-5F0E1C2D3B4B
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:Reminder
        TRIGGER;VALUE=DATE-TIME:19760401T005545Z
        X-APPLE-PROXIMITY:ARRIVE
        X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE="Bakery":geo:52.5,13.4
        END:VALARM
        END:VTODO
        """,
      named: ["URL", "X-APPLE-SORT-ORDER", "BEGIN"],
      tasks: [
        ["Call the dentist", "2026-12-02", "2026-12-02T08:00:00Z", "2026-12-02T08:00:00Z"],
        ["Buy bread", nil, nil, nil],
      ]),
  ]

  @Test(arguments: programs)
  func aCalendarComesInWithItsAccountAndGoesOutWhole(program: Program) throws {
    let text = "BEGIN:VCALENDAR\nVERSION:2.0\n\(program.head)\n\(program.toDos)\nEND:VCALENDAR\n".replacing(
      "\n", with: "\r\n")
    try withStore { (store: TaskStore) throws in
      let summary = try store.importText(text, as: .ical)
      #expect(summary.tasks == ImportSummary.Counts(added: program.tasks.count))
      var named: Set<String> = []
      for remark in summary.account {
        named.insert(String(remark.example.prefix { !":; ".contains($0) }))
      }
      #expect(summary.account.map(\.count).reduce(0, +) == program.named.count, "\(summary.account)")
      #expect(named.isSubset(of: program.named), "\(named)")
      let tasks = try store.tasks.sorted { $0.sortOrder < $1.sortOrder }
      let found = tasks.map {
        [$0.title, $0.scheduledDate?.iso8601, $0.dueDate?.iso8601 ?? $0.dueDay?.iso8601, $0.reminderDate?.iso8601]
      }
      #expect(found == program.tasks)
      #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: program.tasks.count))
      let exported = Self.unfolded(try store.exportedText(as: .ical))
      for line in program.toDos.split(separator: "\n") where !line.hasPrefix("DTSTAMP") {
        #expect(exported.contains(String(line)), "\(line)")
      }
      try checkInvariants(of: store)
    }
  }

  private static func unfolded(_ text: String) -> Set<String> {
    Set(text.replacing("\r\n ", with: "").components(separatedBy: "\r\n"))
  }

  /// One value in a thousand to-dos costs that value and nothing else.
  @Test func oneBadValueInAThousandCostsOneValue() throws {
    let toDos = (0..<1_000).map { number in
      let due = number == 617 ? "DUE:2026-13-45" : "DUE:20261203T170000Z"
      return "BEGIN:VTODO\r\nUID:item-\(number)\r\nSUMMARY:item \(number)\r\nCATEGORIES:a\r\n\(due)\r\nEND:VTODO\r\n"
    }
    try withStore { (store: TaskStore) throws in
      let summary = try store.importText(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(toDos.joined())END:VCALENDAR\r\n", as: .ical)
      #expect(summary.tasks == ImportSummary.Counts(added: 1_000))
      #expect(summary.account.map(\.count) == [1])
      let without = try store.tasks.filter { $0.dueDate == nil }
      #expect(without.map(\.title) == ["item 617"] && without[0].attributes["DUE"] == "2026-13-45")
      #expect(try store.tasks.allSatisfy { $0.tags == ["a"] })
    }
  }
}
