import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Examples of each format, and the facts that they give.
struct ExampleTests {
  struct Example: CustomTestStringConvertible, Sendable {
    let format: DocumentFormat
    let text: String
    let facts: [String]

    init(_ format: DocumentFormat, _ text: String, _ facts: [String]) {
      (self.format, self.text, self.facts) = (format, text, facts)
    }

    var testDescription: String { "\(format.rawValue): \(text)" }
  }

  static func todo(_ properties: String) -> String {
    "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:1\r\nCREATED:20260101T000000Z\r\n\(properties)\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
  }

  static let uid = "@UID=text(\"1\")"
  static let other = "00000000-0000-4000-8000-000000000002"

  static func task(_ keys: String) -> String {
    "[{\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"entry\":\"20260101T000000Z\",\(keys)}]"
  }

  static let todotxt: [Example] = [
    Example(.todotxt, "Call Ann", ["Call Ann"]),
    Example(.todotxt, "(A) 2026-11-01 Call Ann +Home @phone", ["Call Ann", "priority high", "tags phone", "in Home"]),
    Example(.todotxt, "Ask @Ann about +Garage now", ["Ask @Ann about +Garage now", "tags Ann", "in Garage"]),
    Example(
      .todotxt, "x 2026-11-20 2026-11-18 Pay", ["Pay", "state completed", "completedAt 2026-11-20T12:00:00+03:00"]),
    Example(.todotxt, "xylophone", ["xylophone"]), Example(.todotxt, "X 2026-01-01 a", ["X 2026-01-01 a"]),
    Example(.todotxt, "(a) lower", ["(a) lower"]), Example(.todotxt, "(A)no blank", ["(A)no blank"]),
    Example(.todotxt, "(D) last", ["last", "priority low", "@priority=text(\"D\")"]),
    Example(
      .todotxt, "Pay due:2026-12-01 rent t:2026-11-30", ["Pay rent", "scheduledDate 2026-11-30", "dueDay 2026-12-01"]),
    Example(.todotxt, "a due:2026-02-30", ["a", "@due=text(\"2026-02-30\")"]),
    Example(.todotxt, "see http://x.y/z", ["see http://x.y/z"]),
    Example(.todotxt, "at 10:30 sharp", ["at 10:30 sharp"]),
    Example(.todotxt, "water rec:+1w due:2026-12-01", ["water", "dueDay 2026-12-01", "recurrence FREQ=WEEKLY"]),
    Example(.todotxt, "water rec:3d", ["water", "recurrence after 3 days"]),
    Example(.todotxt, "plain key:value h:1", ["plain", "@h=text(\"1\")", "@key=text(\"value\")"]),
    Example(
      .todotxt, "x 2026-11-20 2026-11-18 Read a book +Home status:cancelled",
      ["Read a book", "in Home", "state cancelled", "cancelledAt 2026-11-20T12:00:00+03:00"]),
    Example(
      .todotxt, "x Read status:Dropped due:2026-12-01",
      ["Read", "state cancelled", "dueDay 2026-12-01", "cancelledAt 1970-01-01T00:00:00Z"]),
    Example(
      .todotxt, "x 2026-11-20 Read status:late",
      ["Read", "state completed", "completedAt 2026-11-20T12:00:00+03:00", "@status=text(\"late\")"]),
    Example(.todotxt, "Read status:cancelled", ["Read", "@status=text(\"cancelled\")"]),
    Example(
      .todotxt, "x 2026-11-20 b pri:B",
      ["b", "state completed", "completedAt 2026-11-20T12:00:00+03:00", "priority medium"]),
    Example(.todotxt, "+Home", ["+Home", "in Home"]),
  ]

  static let calendars: [Example] = [
    Example(.ical, todo("SUMMARY:a\\, b\\; c\\n\\\\d"), ["a, b; c\n\\d", uid]),
    Example(.ical, todo("SUMMARY:fol\r\n ded\r\n\t!"), ["folded!", uid]),
    Example(.ical, todo("summary;LANGUAGE=en:a"), ["a", "@SUMMARY=text(\";LANGUAGE=en\")", uid]),
    Example(.ical, todo("SUMMARY:a\r\nDUE;VALUE=DATE:20261201"), ["a", "dueDay 2026-12-01", uid]),
    Example(.ical, todo("SUMMARY:a\r\nDUE:20261201T090000Z"), ["a", "dueDate 2026-12-01T09:00:00Z", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nDUE:20261201T090000"),
      ["a", "dueDate 2026-12-01T06:00:00Z", "@DUE=text(\"20261201T090000\")", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nDUE;TZID=Europe/Berlin:20260701T090000"),
      ["a", "dueDate 2026-07-01T07:00:00Z", "@DUE=text(\";TZID=Europe/Berlin:20260701T090000\")", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nDUE;TZID=\"/example.org/America/New_York\":20260701T090000"),
      [
        "a", "dueDate 2026-07-01T13:00:00Z", uid,
        #"@DUE=text(";TZID=\"/example.org/America/New_York\":20260701T090000")"#,
      ]),
    Example(.ical, todo("SUMMARY:a\r\nPRIORITY:3"), ["a", "priority high", "@PRIORITY=text(\"3\")", uid]),
    Example(.ical, todo("SUMMARY:a\r\nPRIORITY:0"), ["a", uid]),
    Example(.ical, todo("SUMMARY:a\r\nPRIORITY:6"), ["a", "priority low", "@PRIORITY=text(\"6\")", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nCATEGORIES:b,c\\,d\r\nCATEGORIES:#E"),
      ["a", "tags b,c,d,E", "@CATEGORIES=text(\"b,c\\\\,d\\n#E\")", uid]),
    Example(.ical, todo("SUMMARY:a\r\nCATEGORIES:b,c\r\nCATEGORIES:D"), ["a", "tags b,c,D", uid]),
    Example(.ical, todo("SUMMARY:a\r\nSTATUS:IN-PROCESS"), ["a", "state active", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nCOMPLETED:20261120T100000Z"),
      ["a", "state completed", "completedAt 2026-11-20T13:00:00+03:00", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nPERCENT-COMPLETE:50"), ["a", "state active", "@PERCENT-COMPLETE=text(\"50\")", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nSTATUS:CANCELLED\r\nLAST-MODIFIED:20261120T100000Z"),
      ["a", "state cancelled", "cancelledAt 2026-11-20T13:00:00+03:00", uid]),
    Example(.ical, todo("SUMMARY:a\r\nRRULE:FREQ=WEEKLY;BYDAY=MO"), ["a", "recurrence FREQ=WEEKLY;BYDAY=MO", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nATTENDEE;CN=\"D: x\":mailto:a@b\r\nATTENDEE:mailto:c@d"),
      ["a", "@ATTENDEE=text(\";CN=\\\"D: x\\\":mailto:a@b\\nmailto:c@d\")", uid]),
    Example(
      .ical, todo("SUMMARY:a\r\nDUE:20261201T090000Z\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nEND:VALARM"),
      [
        "a", "dueDate 2026-12-01T09:00:00Z", "reminderDate 2026-12-01T08:45:00Z", uid,
        "@VALARM=text(\"BEGIN:VALARM\\nTRIGGER:-PT15M\\nEND:VALARM\")",
      ]),
    Example(
      .ical, todo("SUMMARY:a\r\nRELATED-TO;RELTYPE=DEPENDS-ON:\(other)\r\nRELATED-TO;RELTYPE=SIBLING:3"),
      ["a", "dependsOn \(other)", "@RELATED-TO=text(\";RELTYPE=SIBLING:3\")", uid]),
    // A gap between the two has no field.
    Example(
      .ical, todo("SUMMARY:a\r\nRELATED-TO;RELTYPE=DEPENDS-ON;GAP=P1D:\(other)"),
      ["a", "@RELATED-TO=text(\";RELTYPE=DEPENDS-ON;GAP=P1D:\(other)\")", uid]),
    Example(.ical, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nEND:VEVENT\nEND:VCALENDAR\n", []),
  ]

  static let taskwarrior: [Example] = [
    Example(.taskwarrior, task(#""description":"a","status":"pending""#), ["a"]),
    Example(
      .taskwarrior, task("\"description\":\"a\",\"status\":\"pending\",\"depends\":[\"\(other)\"]"),
      ["a", "dependsOn \(other)"]),
    Example(
      .taskwarrior,
      task("\"description\":\"a\",\"status\":\"pending\",\"depends\":\"\(other),\(other.dropLast())3\""),
      ["a", "dependsOn \(other),\(other.dropLast())3"]),
    Example(
      .taskwarrior, task(#""description":"a","status":"pending","depends":"12""#), ["a", "@depends=text(\"12\")"]),
    Example(
      .taskwarrior,
      task(#""description":"a","status":"pending","start":"20260102T000000Z","modified":"20260102T000000Z""#),
      ["a", "state active"]),
    Example(
      .taskwarrior, task(#""description":"a","status":"completed","end":"20260102T100000Z""#),
      ["a", "state completed", "completedAt 2026-01-02T13:00:00+03:00"]),
    Example(.taskwarrior, task(#""description":"a","status":"deleted""#), []),
    Example(
      .taskwarrior, task(#""description":"a","status":"pending","due":"20261130T210000Z","priority":"H","tags":["b"]"#),
      ["a", "dueDay 2026-12-01", "priority high", "tags b"]),
    Example(
      .taskwarrior, task(#""description":"a","status":"pending","wait":"20300101T000000Z","project":"H.G""#),
      ["a", "in H.G", "startDay 2030-01-01", "@wait=text(\"20300101T000000Z\")"]),
    Example(
      .taskwarrior,
      task(#""description":"a","status":"pending","annotations":[{"entry":"20260102T000000Z","description":"n"}]"#),
      [
        "a", "notes n",
        "@annotations=text(\"[{\\\"entry\\\":\\\"20260102T000000Z\\\",\\\"description\\\":\\\"n\\\"}]\")",
      ]),
    Example(
      .taskwarrior, task(#""description":"a","status":"pending","size":2.5,"urgency":9"#), ["a", "@size=real(2.5)"]),
    Example(
      .taskwarrior,
      task(
        #""description":"a","status":"pending","due":"20261130T210000Z","recur":"weekly","parent":"00000000-0000-4000-8000-000000000002""#
      ),
      [
        "a", "dueDay 2026-12-01", "recurrence FREQ=WEEKLY",
        "@parent=text(\"00000000-0000-4000-8000-000000000002\")", "@recur=text(\"weekly\")",
      ]),
  ]

  static let others: [Example] = [
    Example(.csv, "Title,Cost,tags\r\n\"a, \"\"b\"\"\",5,\"x,y\"\r\n", ["a, \"b\"", "tags x,y", "@Cost=text(\"5\")"]),
    Example(.csv, "text;state\na;active\n", ["a", "state active"]),
    Example(
      .csv, "Title,Status,Completed\na,done,2026-01-02\n",
      ["a", "state completed", "completedAt 2026-01-02T12:00:00+03:00"]),
    Example(
      .csv, "Title,Due,Due Date,Description,Comment\na,2026-01-02,2026-01-03,n,c\n",
      ["a", "notes n", "dueDay 2026-01-02", "@Comment=text(\"c\")", "@Due Date=text(\"2026-01-03\")"]),
    Example(.csv, "text;state\ra;deferred\r", ["a", "@state as imported=text(\"deferred\")"]),
    Example(.csv, "text,status\na,Someday\n", ["a", "someday flag(true)"]),
    Example(.csv, "text,status,defer date\na,someday,2026-12-01\n", ["a", "startDay 2026-12-01"]),
    Example(.csv, "text,status\r\na,in progress\r\n", ["a", "state active"]),
    Example(
      .csv,
      "Subject,Due Date,Due Time,Reminder On/Off,Reminder Date,Reminder Time\n"
        + "a,12/24/2026,5:30:00 PM,True,12/24/2026,9:00:00 AM\n",
      ["a", "dueDate 2026-12-24T14:30:00Z", "reminderDate 2026-12-24T06:00:00Z"]),
    Example(
      .csv, "Subject,Reminder On/Off,Reminder Date,Reminder Time\na,False,12/24/2026,9:00:00 AM\n", ["a"]),
    Example(.csv, "text\n'=1+1\n", ["=1+1"]), Example(.csv, "text\n'quoted'\n", ["'quoted'"]),
    Example(.csv, "text,dueDay,priority\na,2026-12-01,High\n", ["a", "dueDay 2026-12-01", "priority high"]),
    Example(
      .todoist,
      "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,AUTHOR,RESPONSIBLE,DATE,DATE_LANG,TIMEZONE\n"
        + "section,Garden,,,,,,,,\ntask,Water @home,well,1,1,Ann (1),,2026-12-01,en,Europe/Istanbul\nnote,more,,,,,,,,\n",
      [
        "Water", "notes well\nmore", "dueDay 2026-12-01", "priority high", "tags home", "in Garden",
        "@AUTHOR=text(\"Ann (1)\")", "@DATE=text(\"2026-12-01\")", "@TIMEZONE=text(\"Europe/Istanbul\")",
      ]),
    Example(
      .todoist, "TYPE,CONTENT,DATE,DATE_LANG\ntask,Rent,every month,en\n",
      ["Rent", "recurrence FREQ=MONTHLY", "dueDay 2026-11-21", "@DATE=text(\"every month\")"]),
    Example(
      .markdown, "# Home\n\n- [ ] Water #garden due:2026-12-01\n  twice\n\ntext\n",
      ["Water", "notes twice", "dueDay 2026-12-01", "tags garden", "in Home"]),
    Example(
      .markdown, "- [ ] Water\n\n  two litres\n\n\n  at noon\n\ntext\n",
      ["Water", "notes two litres\n\n\nat noon"]),
    Example(
      .markdown, "- [ ] Clean 📅 2026-12-01 🔁 every week ⏫ ⏳ 2026-11-30 ➕ 2026-11-01 #home\n",
      [
        "Clean", "scheduledDate 2026-11-30", "dueDay 2026-12-01", "priority high", "tags home",
        "recurrence FREQ=WEEKLY",
      ]),
    Example(
      .markdown, "- [x] Clean [due:: 2026-12-01] (repeat:: every 3 days when done) ✅ 2026-11-20\n",
      [
        "Clean", "state completed", "dueDay 2026-12-01", "completedAt 2026-11-20T12:00:00+03:00",
        "recurrence after 3 days",
      ]),
    Example(.markdown, "1. [X] Done\n", ["Done", "state completed", "completedAt 1970-01-01T00:00:00Z"]),
    Example(.markdown, "* [ ] Issue #12\n- item\n- [y] no\n", ["Issue #12"]),
    Example(
      .ticktick,
      "\"Date: 2026-11-01\"\nList Name,Title,Tags,Content,Start Date,Due Date,Repeat,Priority,Status,Timezone,Is All Day\n"
        + "Home,Pay,\"a, b\",now,2026-11-29T23:00:00+0000,2026-11-30T23:00:00+0000,RRULE:FREQ=WEEKLY,5,0,Europe/Berlin,true\n",
      [
        "Pay", "notes now", "in Home", "tags a,b", "scheduledDate 2026-11-30", "dueDay 2026-12-01", "priority high",
        "recurrence FREQ=WEEKLY",
      ]),
    Example(
      .ticktick,
      "List Name,Title,Due Date,Status,Completed Time,Timezone\nHome,Pay,2026-12-01T09:00:00+0000,-1,"
        + "2026-11-20T10:00:00+0000,Europe/Istanbul\n",
      [
        "Pay", "in Home", "state cancelled", "dueDate 2026-12-01T09:00:00Z", "cancelledAt 2026-11-20T13:00:00+03:00",
      ]),
    Example(
      .org,
      "#+TODO: WAIT | GONE\n* Home\n** GONE [#A] Pay :a:\n   CLOSED: [2026-11-20 Fri 13:00] DEADLINE: <2026-12-01 Tue>\n"
        + "   :PROPERTIES:\n   :EFFORT: 1h\n   :END:\n   now\n",
      [
        "Pay", "notes now", "in Home", "tags a", "dueDay 2026-12-01", "priority high", "state completed",
        "completedAt 2026-11-20T13:00:00+03:00", "@EFFORT=text(\"1h\")", "@org state=text(\"GONE\")",
      ]),
    Example(
      .ticktick,
      "List Name,Title,Due Date,Reminder,Timezone\nHome,Pay,2026-12-01T09:00:00+0000,-PT15M,Europe/Istanbul\n",
      [
        "Pay", "in Home", "dueDate 2026-12-01T09:00:00Z", "reminderDate 2026-12-01T08:45:00Z",
        "@Reminder=text(\"-PT15M\")",
      ]),
    Example(
      .ticktick,
      "List Name,Title,Due Date,Reminder,Timezone\nHome,Pay,2026-12-01T09:00:00+0000,-PT15M -P1D,Europe/Istanbul\n",
      [
        "Pay", "in Home", "dueDate 2026-12-01T09:00:00Z", "reminderDate 2026-12-01T08:45:00Z",
        "reminders 2026-11-30T09:00:00Z", "@Reminder=text(\"-PT15M -P1D\")",
      ]),
    Example(
      .todoist, "TYPE,CONTENT,DATE,DATE_LANG,TIMEZONE\ntask,a,2026-12-01 9am,en,Asia/Tokyo\n",
      ["a", "dueDate 2026-12-01T00:00:00Z", "@DATE=text(\"2026-12-01 9am\")", "@TIMEZONE=text(\"Asia/Tokyo\")"]),
    Example(
      .org, "* KILL Read\n  CLOSED: [2026-11-20 Fri 13:00]\n",
      ["Read", "state cancelled", "cancelledAt 2026-11-20T13:00:00+03:00"]),
    Example(
      .markdown, "- [-] Read ❌ 2026-11-20\n", ["Read", "state cancelled", "cancelledAt 2026-11-20T12:00:00+03:00"]),
    Example(
      .csv, "title,state,cancelledAt\nRead,Cancelled,2026-11-20T10:00:00Z\n",
      ["Read", "state cancelled", "cancelledAt 2026-11-20T10:00:00Z"]),
    Example(
      .csv, "title,state,completed\nRead,won't do,2026-11-20T10:00:00Z\n",
      ["Read", "state cancelled", "cancelledAt 2026-11-20T13:00:00+03:00"]),
    Example(
      .org, "* Read <2026-11-30>\n  SCHEDULED: <2026-12-01 Tue 09:00 .+3d>\n",
      [
        "Read <2026-11-30>", "scheduledDate 2026-12-01", "reminderDate 2026-12-01T06:00:00Z", "recurrence after 3 days",
      ]),
  ]

  @Test(arguments: todotxt + calendars + taskwarrior + others)
  func anExampleGivesItsFacts(example: Example) throws {
    try withStore { (store: TaskStore) throws in
      let added = try store.importText(example.text, as: example.format).tasks.added
      #expect(added == (example.facts.isEmpty ? 0 : 1))
      let lists = try store.read { try $0.lists() }
      let found = try store.tasks.first.map { facts($0, lists) } ?? []
      #expect(Set(found) == Set(example.facts), "\(found)")
      #expect(try store.importText(example.text, as: example.format).tasks == ImportSummary.Counts(unchanged: added))
    }
  }
}
