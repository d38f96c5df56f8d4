import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// What an import says about the parts of a document that it did not understand.
struct ImportAccountTests {
  /// A document with one fault of its kind: the tasks come in, and the account names the fault.
  struct Case: CustomTestStringConvertible, Sendable {
    var format: DocumentFormat
    var text: String
    var kinds: [String]
    var tasks: [String]

    var testDescription: String { "\(format) \(kinds)" }

    init(_ format: DocumentFormat, _ text: String, _ kinds: [String], _ tasks: [String]) {
      (self.format, self.text, self.kinds, self.tasks) = (format, text, kinds, tasks)
    }
  }

  static let id = "00000000-0000-4000-8000-000000000001"
  static let cases: [Case] = [
    Case(.taskwarrior, "[{\"description\":\"a\"}]", [], ["a"]),
    Case(.taskwarrior, "[{\"uuid\":\"\(id)\"}]", ["title"], ["Untitled"]),
    Case(.taskwarrior, "[{\"uuid\":\"x\",\"description\":\"a\"}]", ["uuid"], ["a"]),
    Case(.taskwarrior, "[{\"uuid\":\"\(id)\",\"description\":\"a\",\"due\":\"soon\"}]", ["date"], ["a"]),
    Case(.taskwarrior, "[{\"uuid\":\"\(id)\",\"description\":\"a\",\"priority\":\"X\"}]", ["priority"], ["a"]),
    Case(.taskwarrior, "[{\"uuid\":\"\(id)\",\"description\":\"a\",\"status\":\"odd\"}]", ["state"], ["a"]),
    Case(
      .taskwarrior, "[{\"uuid\":\"\(id)\",\"description\":\"a\",\"wait\":\"20270101T000000Z\"}]", [], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nDUE;TZID=Nowhere:20260101T000000"), ["zone"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nDUE:soon"), ["date"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nno colon"), ["line"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nRRULE:FREQ=HOURLY"), ["recurrence"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), ["recurrence"], ["a"]),
    Case(.csv, "text,repeat,due\na,FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31,2027-01-01\nb,,\n", ["recurrence"], ["a", "b"]),
    Case(.csv, "text,repeat\na,until 2027-12-31 every day\n", [], ["a"]),
    Case(.todoist, todoist("task,a,,4,1,every day until easter,en"), ["recurrence"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nCATEGORIES:#work,a\\,b"), [], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nRELATED-TO:elsewhere"), ["parent"], ["a"]),
    Case(.ical, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:fair\nEND:VEVENT\nEND:VCALENDAR\n", ["component"], []),
    Case(.csv, "text,text\na,b\n", ["column"], ["a"]),
    Case(.csv, "task,Deadline,Estimate\na,soon,3\n", ["column", "date"], ["a"]),
    Case(.csv, "text,id\n\"a\"b,\n", ["quote"], ["ab"]),
    Case(.csv, "text\na,b\n", ["cell"], ["a"]),
    Case(.csv, "text,id\na,7\n", ["id"], ["a"]),
    Case(.csv, "text,notes\n,b\n", ["title"], ["Untitled"]),
    Case(.csv, "text,notes\n,\nb,c\n", [], ["b"]),
    Case(.csv, "text,id\na,\(id)\nb,\(id)\n", ["duplicate"], ["a", "b"]),
    Case(
      .ticktick, "\"List Name\",\"Title\",\"parentId\"\nHome,\" \",\nHome,b,7\n", ["title", "parent"],
      ["Untitled", "b"]),
    Case(.todoist, todoist("task, ,,4,1,,en"), ["title"], ["Untitled"]),
    Case(.ical, twice("SUMMARY:a"), ["duplicate"], ["a", "a"]),
    Case(
      .ical, calendar("SUMMARY:a\nDTSTART;TZID=Nowhere:20260101T000000\nBEGIN:VALARM\nTRIGGER:-PT5M\nEND:VALARM"),
      ["zone"],
      ["a"]),
    Case(.csv, "text,due\na,3/4/2026\n", ["date"], ["a"]),
    Case(.csv, "text,due,due time\na,3/4/2026,noonish\nb,3/14/2026,8:30\n", ["date"], ["a", "b"]),
    Case(.csv, "text,Reminder On/Off\na,perhaps\n", ["value"], ["a"]),
    Case(.taskwarrior, "[{\"description\":\"a\"},[1,{\"b\":2}]]", ["text"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nSTATUS:NEEDS-HUG\nPRIORITY:12"), ["state", "priority"], ["a"]),
    Case(.ical, calendar("SUMMARY:a\nSTATUS:COMPLETED\nCOMPLETED:yesterday"), ["date"], ["a"]),
    Case(.ticktick, "List Name,Title,Priority\nHome,a,7\n", ["priority"], ["a"]),
    Case(.ticktick, "List Name,Title,Timezone\nHome,a,Nowhere/City\n", ["zone"], ["a"]),
    Case(.ticktick, "List Name,Title,Due Date,Reminder\nHome,a,2026-12-01,PT0S soon\n", ["reminder"], ["a"]),
    Case(.todoist, todoist("task,a,,urgent,one,,en"), ["priority", "value"], ["a"]),
    Case(.todoist, "TYPE,CONTENT,DATE,TIMEZONE,DEADLINE\ntask,a,,Mars/Olympus,friday\n", ["zone", "date"], ["a"]),
    Case(.markdown, "---\ntags: x\n---\n- [ ] a\n```\n- [ ] code\n```\n", ["front matter", "code"], ["a"]),
    Case(.markdown, "- [ ] a\n```\n- [ ] code\n````\n- [ ] b\n", ["code"], ["a", "b"]),
    Case(.markdown, "- [ ] a 📅 2026-13-01\n", ["date"], ["a 📅 2026-13-01"]),
    Case(.markdown, "- [ ] a 🔁 every blue moon ⛔ x1\n", ["recurrence", "attribute"], ["a 🔁 every blue moon"]),
    Case(.org, "* Shopping\n* TODO a\n", ["heading"], ["a"]),
    Case(.org, "* DONE a\n  CLOSED: [once]\n", ["date"], ["a"]),
    Case(.org, "* TODO\n", ["title"], ["Untitled"]),
    Case(.org, "* TODO a\n  SCHEDULED: <2026-04-15 ++1w> DEADLINE: <2026-04-20 ++1m>\n", ["recurrence"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1, from ,en"), ["date"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1,every day starting nonsense,en"), ["date"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1, starting monday,en"), ["date"], ["a"]),
    Case(.csv, "text,due,dueDay\na,2026-01-02,2026-01-01\n", ["date"], ["a"]),
    Case(.ticktick, "List Name,Title,Kind\nHome,a,NOTE\n", ["note"], ["a"]),
    Case(.ticktick, "List Name,Title,Status,Completed Time\nHome,a,2,lately\n", ["date"], ["a"]),
    Case(.todotxt, "c t:shirt x\n", [], ["c t:shirt x"]),
    Case(.todotxt, "a due:whenever due:later\n", ["date"], ["a due:whenever"]),
    Case(
      .ical,
      calendar(
        "SUMMARY:a\nDUE:20260101T090000Z\nBEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT15M\nEND:VALARM\nBEGIN:VALARM\n"
          + "ACTION:DISPLAY\nDESCRIPTION:a\nTRIGGER;VALUE=DATE-TIME:20260101T080000Z\nEND:VALARM"), ["alarm"], ["a"]),
    Case(.todotxt, "a rec:3b\n", ["recurrence"], ["a"]),
    Case(.todotxt, "a due:soon\n", ["date"], ["a"]),
    Case(.todotxt, "b tally:{\"text\":5}\n", ["extension"], ["b"]),
    Case(.markdown, "- [?] a\n", ["state"], ["a"]),
    Case(.markdown, "Some words\n\n- [ ] a\n", ["text"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1,every 5 hours,en"), ["recurrence"], ["a"]),
    Case(.todoist, "TYPE,CONTENT,RESPONSIBLE\ntask,a,Ann (1)\n", ["column"], ["a"]),
    Case(.todoist, "TYPE,CONTENT,DURATION,DURATION_UNIT\ntask,a,,None\n", [], ["a"]),
    Case(.todoist, "TYPE,CONTENT,SOMETHING\ntask,a,\ntask,b,1\ntask,c,2\n", ["column"], ["a", "b", "c"]),
    Case(.ical, calendar("SUMMARY:a\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260105T090000Z"), ["property"], ["a"]),
    Case(.org, "* TODO a\n  SCHEDULED: <2026-04-15 Wed .+1w/2w>\n", ["recurrence"], ["a"]),
    Case(.org, "* TODO a\n  DEADLINE: <2026-04-15 Wed +1m>\n", ["recurrence"], ["a"]),
    Case(.org, "* TODO a\n  DEADLINE: <2026-04-15 Wed ++1m>\n", [], ["a"]),
    Case(.org, "* TODO a\n  SCHEDULED: <2026-04-15 Wed>--<2026-04-17 Fri>\n", ["date"], ["a"]),
    Case(.org, "* TODO a\n  SCHEDULED: <2026-04-15 Wed 09:00-10:30>\n", ["date"], ["a"]),
    Case(.org, "* TODO a\n  words\n  <2026-04-15 Wed>--<2026-04-17 Fri>\n", ["date"], ["a"]),
    Case(.org, "* TODO a\n  CLOCK: [2026-04-15 Wed 09:00]--[2026-04-15 Wed 10:00] =>  1:00\n", ["clock"], ["a"]),
    Case(
      .org, "* TODO a\n  :LOGBOOK:\n  CLOCK: [2026-04-15 Wed 09:00]\n  - Note\n  :END:\n", ["clock"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1,whenever,en"), ["date"], ["a"]),
    Case(.todoist, todoist("task,a,,4,1,mañana,es"), ["date"], ["a"]),
    Case(.org, "* WAITING a\n", ["state"], ["a"]),
    Case(.org, "* TODO a\n  SCHEDULED: <2026-04-15 Wed +4h>\n", ["recurrence"], ["a"]),
    Case(.org, "* TODO [#D] a\n", ["priority"], ["a"]),
  ]

  private static func calendar(_ lines: String) -> String {
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VTODO\nUID:\(id)\n\(lines)\nEND:VTODO\nEND:VCALENDAR\n"
  }

  private static func twice(_ lines: String) -> String {
    let task = "BEGIN:VTODO\nUID:\(id)\n\(lines)\nEND:VTODO\n"
    return "BEGIN:VCALENDAR\nVERSION:2.0\n\(task)\(task)END:VCALENDAR\n"
  }

  private static func todoist(_ row: String) -> String {
    "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE,DATE_LANG\n\(row)\n"
  }

  @Test(arguments: cases)
  func aFaultCostsItsValueAndIsNamed(example: Case) throws {
    try withStore { (store: TaskStore) throws in
      let rehearsal = try store.importText(example.text, as: example.format, ImportOptions(isDryRun: true))
      let summary = try store.importText(example.text, as: example.format)
      #expect(summary.account.map(\.kind).sorted() == example.kinds.sorted(), "\(summary.account)")
      #expect(rehearsal.account == summary.account)
      #expect(summary.account.allSatisfy { $0.count == 1 })
      #expect(try store.tasks.map(\.title) == example.tasks)
      try checkInvariants(of: store)
    }
  }

  @Test(arguments: cases)
  func aStrictImportRefusesIt(example: Case) throws {
    try withStore { (store: TaskStore) throws in
      guard !example.kinds.isEmpty else { return }
      let error = #expect(throws: TallyError.self) {
        try store.importText(example.text, as: example.format, ImportOptions(isStrict: true))
      }
      #expect(error?.position != nil, "\(error as Any)")
      #expect(try store.tasks.isEmpty)
    }
  }

  /// A rule that never gives a day costs a task its rule in Tally's own documents, too; its text stays.
  @Test func aRuleWithoutDaysStaysAsText() throws {
    try withStore { (store: TaskStore) throws in
      let rule = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"
      let document = #"{"schemaVersion":2,"tasks":[{"text":"a","recurrence":"\#(rule)"},{"text":"b"}]}"#
      let summary = try store.importText(document, as: .json)
      #expect(summary.account.map(\.kind) == ["recurrence"] && summary.account.map(\.example) == [rule])
      let tasks = try store.tasks
      #expect(tasks.map(\.recurrence) == [nil, nil] && tasks.map(\.title) == ["a", "b"])
      #expect(tasks.first?.attributes == ["recurrence as imported": .text(rule)])
    }
  }

  /// What has no field stays with the task: a column that comes twice, one without a name, a cell too much, a parent.
  @Test func nothingOfARowIsLost() throws {
    try withStore { (store: TaskStore) throws in
      let row = "text,text,,parentID\na,b,c,00000000-0000-4000-8000-000000000009,e\n"
      try store.importText(row, as: .csv)
      let attributes = try #require(try store.tasks.first).attributes
      let parent: AttributeValue = "00000000-0000-4000-8000-000000000009"
      #expect(
        attributes == ["column 2": "b", "column 3": "c", "column 5": "e", "parent as imported": parent])
    }
  }

  /// Ids that come again cost the same each time.
  @Test func manyTasksOfOneIDComeIn() throws {
    try withStore { (store: TaskStore) throws in
      let text = "title,id\n" + (0..<3_000).map { "t\($0),\(Self.id)\n" }.joined()
      #expect(try store.importText(text, as: .csv).tasks == ImportSummary.Counts(added: 3_000))
      #expect(try store.importText(text, as: .csv).tasks == ImportSummary.Counts(unchanged: 3_000))
    }
  }

  @Test(arguments: [("apple\nbanana\n", true), ("a@b.c\nd@e.f\ng@h.i\n", true), ("%PDF-1.4\n1 0 obj\n", false)])
  func aListOfWordsIsCalledThat(text: String, isOfWords: Bool) throws {
    try withStore { (store: TaskStore) throws in
      let error = #expect(throws: TallyError.self) { try store.importText(text, as: nil) }
      #expect(error?.message.contains("Each line is a single word") == isOfWords, "\(error?.message ?? "")")
      #expect(error?.remedy.hasSuffix(": --format todotxt") == true, "\(error?.remedy ?? "")")
    }
  }

  /// Lists of tasks that look a little like something else are lists of tasks; what is something else is refused.
  @Test(
    arguments: [
      ("buy milk\nreturn books (library)\ncall mom\n", 3), ("Milk\nEggs\nBread and butter\n", 3), ("Milk\n", 1),
      ("@ann\n+Garden\n", 2), ("apple\nbanana's\n\ncherry\n", nil), ("a@b.c\r\nd@e.f\r\n", nil),
      ((0..<60).map { $0 % 30 == 0 ? "ice cream\n" : "word\($0)\n" }.joined(), nil),
      ("if it rains: umbrella\nbuy milk, eggs, and a lot of other things\n", 2),
      ("Dear Ann,\n\nthank you for the flowers, which are so very beautiful. We like them. See you soon.\n", nil),
      ("From: a@b.c\nTo: d@e.f\nSubject: hello\n\nwords\n", nil), ("BEGIN:VCARD\nFN:Ann\nEND:VCARD\n", nil),
      ("%PDF-1.4\n1 0 obj\n", nil), ("{\\rtf1 hello}\n", nil),
    ] as [(String, Int?)])
  func onlyListsOfTasksAreTaken(text: String, count: Int?) throws {
    // With its format named, as the error says, any of them is taken.
    try withStore { (store: TaskStore) throws in
      #expect(try store.importText(text, as: .todotxt).tasks.added > 0)
    }
    try withStore { (store: TaskStore) throws in
      if let count {
        #expect(try store.importText(text, as: nil).tasks.added == count)
      } else {
        #expect(throws: TallyError.self) { try store.importText(text, as: nil) }
      }
    }
  }

  /// What is not understood of an entry is named with its own line, and stays with its task.
  @Test func aRemarkOfAnEntryHasItsLine() throws {
    let text =
      "* Home\n** TODO a\n   words\n** TODO b\n   SCHEDULED: <2026-04-15 Wed 09:15-10:30>\n   :LOGBOOK:\n"
      + "   CLOCK: [2026-04-14 Tue 09:00]\n   :END:\n** TODO c\n\n   DEADLINE: <2026-04-15 Wed .+2d/4d>\n"
    try withStore { (store: TaskStore) throws in
      let account = try store.importText(text, as: .org).account
      let found = Set(account.map { "\($0.line ?? 0) \($0.kind) \($0.example)" })
      #expect(
        found == [
          "5 date SCHEDULED: <2026-04-15 Wed 09:15-10:30>", "7 clock CLOCK: [2026-04-14 Tue 09:00]",
          "11 recurrence DEADLINE: <2026-04-15 Wed .+2d/4d>",
        ])
      let tasks = Dictionary(uniqueKeysWithValues: try store.tasks.map { ($0.title, $0) })
      #expect(tasks["b"]?.attributes["SCHEDULED"] == "<2026-04-15 Wed 09:15-10:30>")
      #expect(tasks["b"]?.attributes["LOGBOOK"] == "CLOCK: [2026-04-14 Tue 09:00]")
      #expect(tasks["b"]?.reminderDate?.iso8601 == "2026-04-15T06:15:00Z")
      #expect(tasks["c"]?.recurrence?.text == "after 2 days")
      #expect(tasks["c"]?.attributes["DEADLINE"] == "<2026-04-15 Wed .+2d/4d>")
    }
  }

  /// All columns of Todoist's template: what has no field stays with the task, and each such column is named once.
  @Test func aColumnOfTodoistWithoutAFieldIsKeptAndNamed() throws {
    let head =
      "TYPE,CONTENT,DESCRIPTION,IS_COLLAPSED,PRIORITY,INDENT,AUTHOR,RESPONSIBLE,DATE,DATE_LANG,TIMEZONE,DURATION,"
      + "DURATION_UNIT,DEADLINE,DEADLINE_LANG\n"
    let rows =
      "meta,view_style=list,,,,,,,,,,,,,\n,,,,,,,,,,,,,,\ntask,Plan,,,4,1,Ann (1),,2026-12-01,en,,45,minute,,\n"
      + "task,Pack,,,4,1,Ann (1),Bob (2),,en,,2,day,,\ntask,Rest,,,4,1,Ann (1),,,en,,,None,,\n"
    try withStore { (store: TaskStore) throws in
      let account = try store.importText(head + rows, as: .todoist).account
      #expect(
        account == [ImportRemark(kind: "column", count: 3, example: "DURATION, DURATION_UNIT, RESPONSIBLE", line: 4)])
      let tasks = Dictionary(uniqueKeysWithValues: try store.tasks.map { ($0.title, $0) })
      #expect(tasks["Plan"]?.attributes["DURATION"] == "45" && tasks["Plan"]?.attributes["DURATION_UNIT"] == "minute")
      #expect(
        tasks["Pack"]?.attributes["RESPONSIBLE"] == "Bob (2)" && tasks["Pack"]?.attributes["DURATION_UNIT"] == "day")
      #expect(tasks["Rest"]?.attributes == ["AUTHOR": "Ann (1)"])
    }
  }

  @Test func theRestOfAnEntryIsKept() throws {
    try withStore { (store: TaskStore) throws in
      let text =
        "* TODO a\n  DEADLINE: <2026-01-02> or so\n  :PROPERTIES:\n  no property\n  :END:\n  :LOG:\n  one\n  :END:\n"
        + "  :LOG:\n  two\n  :END:\n  :note:\n  words\n* TODO b\n  DEADLINE: soon please\n"
      try store.importText(text, as: .org)
      let tasks = Dictionary(uniqueKeysWithValues: try store.tasks.map { ($0.title, $0) })
      #expect(tasks["a"]?.notes == "or so\nno property\n:note:\nwords" && tasks["a"]?.attributes["LOG"] == "one\ntwo")
      #expect(tasks["b"]?.notes == "DEADLINE: soon please" && tasks["a"]?.dueDay?.iso8601 == "2026-01-02")
    }
  }

  /// Half of a surrogate pair becomes a replacement character, in the middle and at the end.
  @Test func brokenTextInUTF16ComesIn() throws {
    let units: [UInt16] = [0xFEFF] + Array("a ".utf16) + [0xD83D, 0x62] + Array("\nc ".utf16) + [0xD83D, 0xD83D]
    try withStore { (store: TaskStore) throws in
      try store.importBytes(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, as: .todotxt)
      #expect(try store.tasks.map(\.title).sorted() == ["a \u{FFFD}b", "c \u{FFFD}\u{FFFD}"])
    }
  }

  /// Each column that is no field is named.
  @Test func everyOtherColumnIsNamed() throws {
    try withStore { (store: TaskStore) throws in
      let names = (1...40).map { "Column number \($0)" }
      let account = try store.importText("title,\(names.joined(separator: ","))\na\n", as: .csv).account
      #expect(account.map(\.count) == [40] && account.first?.example == names.joined(separator: ", "))
    }
  }

  /// A task whose parent is elsewhere does not change when its document comes again, and gets the parent when that comes.
  @Test(arguments: [
    (
      DocumentFormat.ical, twice("SUMMARY:a").replacing("UID:\(id)", with: "UID:k\nRELATED-TO:\(id)"),
      calendar("SUMMARY:p")
    ),
    (.ticktick, "List Name,Title,taskId,parentId\nHome,a,1,2\n", "List Name,Title,taskId,parentId\nHome,p,2,\n"),
  ])
  func aMissingParentIsFoundWhenItComes(format: DocumentFormat, child: String, parent: String) throws {
    try withStore { (store: TaskStore) throws in
      let added = try store.importText(child, as: format).tasks.added
      let before = try store.exportedText(as: .ndjson)
      let again = try store.importText(child, as: format)
      #expect(again.tasks == ImportSummary.Counts(unchanged: added) && again.account.contains { $0.kind == "parent" })
      #expect(try store.exportedText(as: .ndjson) == before)
      try store.importText(parent, as: format)
      #expect(try !store.importText(child, as: format).account.contains { $0.kind == "parent" })
      let tasks = try store.tasks
      let found = try #require(tasks.first { $0.title == "p" })
      #expect(tasks.allSatisfy { $0.title == "p" || $0.parentID == found.id })
      #expect(tasks.allSatisfy { $0.attributes["RELATED-TO"] == nil && $0.attributes["parentId"] == nil })
      try checkInvariants(of: store)
    }
  }

  @Test func tagsThatAreTooManyAreKept() throws {
    try withStore { (store: TaskStore) throws in
      let tags = (100..<170).map { "t\($0)" }
      let account = try store.importText("title,tags\na,\"\(tags.joined(separator: ","))\"\n", as: .csv).account
      #expect(account == [ImportRemark(kind: "tag", count: 6, example: "t164", line: 2)])
      let task = try #require(try store.tasks.first)
      #expect(task.tags.count == 64 && task.attributes["tags as imported"] == "t164,t165,t166,t167,t168,t169")
    }
  }

  private static let hourly: [(format: DocumentFormat, text: String, hours: Int?)] = [
    (.ical, calendar("SUMMARY:a\nDTSTART:20260105T090000Z\nRRULE:FREQ=HOURLY;INTERVAL=8"), 8),
    (.ical, calendar("SUMMARY:a\nDTSTART;VALUE=DATE:20260105\nRRULE:FREQ=HOURLY;INTERVAL=8"), nil),
    (
      .ical, calendar("SUMMARY:a\nDTSTART:20260105T090000Z\nRRULE:FREQ=HOURLY\nEXDATE:20260106T090000Z"), nil
    ),
    (.ical, calendar("SUMMARY:a\nDUE:20260105T090000Z\nRRULE:FREQ=HOURLY;UNTIL=20260109T120000Z"), nil),
    (.org, "* TODO a\nSCHEDULED: <2026-01-05 Mon 09:00 ++6h>\n", 6),
    (.org, "* TODO a\nSCHEDULED: <2026-01-05 Mon +6h>\n", nil),
    (.org, "* TODO a\nSCHEDULED: <2026-01-05 Mon 09:00 .+6h>\n", nil),
    (.todoist, todoist("task,a,,4,1,every 5 hours at 9:00,en"), 5),
    (
      .taskwarrior,
      #"[{"description":"a","status":"pending","entry":"20260101T000000Z","due":"20260105T090000Z","recur":"PT8H"}]"#,
      8
    ),
    (
      .taskwarrior,
      #"[{"description":"a","status":"pending","entry":"20260101T000000Z","due":"20260105T090000Z","recur":"PT8M"}]"#,
      nil
    ),
  ]

  /// Hours need a time to begin with, and a calendar may leave out whole days of them alone.
  @Test func hoursAreReadWithATime() throws {
    for (format, text, hours) in Self.hourly {
      try withStore { (store: TaskStore) throws in
        let account = try store.importText(text, as: format).account
        let task = try #require(try store.tasks.first)
        #expect(task.recurrence?.hours == hours, "\(text)")
        #expect(account.map(\.kind) == (hours == nil ? ["recurrence"] : []), "\(text)")
      }
    }
  }

  /// A duration gives the due date, and does not go out beside it.
  @Test func aDurationGivesTheDueDate() throws {
    try withStore { (store: TaskStore) throws in
      let text = Self.calendar("SUMMARY:a\nDTSTART:20260105T090000Z\nDURATION:P1DT30M")
      #expect(try store.importText(text, as: .ical).account.isEmpty)
      #expect(try store.tasks.first?.dueDate?.iso8601 == "2026-01-06T09:30:00Z")
      let written = try store.exportedText(as: .ical)
      #expect(written.contains("\r\nDUE:20260106T093000Z\r\n") && !written.contains("\r\nDURATION"))
    }
  }

  /// A long text without tasks takes no more memory than its kinds.
  @Test func manyRemarksAreCounted() throws {
    try withStore { (store: TaskStore) throws in
      let text = String(repeating: "words\n\n", count: 20_000) + "- [ ] a\n"
      let account = try store.importText(text, as: .markdown).account
      #expect(account == [ImportRemark(kind: "text", count: 20_000, example: "words", line: 1)])
    }
  }

  @Test func oneBadValueOfAThousandTasksCostsOneValue() throws {
    let start = try CalendarDay(iso8601: "2026-01-01")
    let rows = try (0..<1_000).map { "task \($0),\($0 == 700 ? "neverday" : try start.adding(days: $0 % 300).iso8601)" }
    try withStore { (store: TaskStore) throws in
      let summary = try store.importText("title,due\n" + rows.joined(separator: "\n") + "\n", as: .csv)
      #expect(summary.tasks.added == 1_000)
      #expect(summary.account == [ImportRemark(kind: "date", count: 1, example: "due: neverday", line: 702)])
      let tasks = try store.tasks
      #expect(tasks.count { $0.dueDay != nil } == 999)
      #expect(tasks.first { $0.dueDay == nil }?.attributes["due as imported"] == "neverday")
    }
  }

  @Test func aParentThatIsElsewhereGoesOutAgain() throws {
    try withStore { (store: TaskStore) throws in
      try store.importText(
        Self.calendar("SUMMARY:a\nRELATED-TO;RELTYPE=SIBLING:c2\nRELATED-TO;RELTYPE=PARENT:elsewhere"), as: .ical)
      let text = try store.exportedText(as: .ical)
      #expect(text.contains("RELATED-TO;RELTYPE=SIBLING:c2\r\n"))
      #expect(text.contains("RELATED-TO;RELTYPE=PARENT:elsewhere\r\n"))
    }
  }

  @Test func aValueThatIsNotUnderstoodGoesOutAgain() throws {
    try withStore { (store: TaskStore) throws in
      try store.importText("a rec:3b due:soon\n", as: .todotxt)
      #expect(try store.exportedText(as: .todotxt).contains("rec:3b"))
      #expect(try store.exportedText(as: .todotxt).contains("due:soon"))
    }
    try withStore { (store: TaskStore) throws in
      try store.importText(Self.calendar("SUMMARY:a\nRRULE:FREQ=MINUTELY;INTERVAL=5\nPERCENT-COMPLETE:40"), as: .ical)
      let text = try store.exportedText(as: .ical)
      #expect(text.contains("RRULE:FREQ=MINUTELY;INTERVAL=5\r\n") && text.contains("PERCENT-COMPLETE:40\r\n"))
    }
  }

  /// What a document says is closed without being done is closed here, not completed, and goes out as it came.
  @Test(arguments: [
    (DocumentFormat.ical, calendar("SUMMARY:a\nSTATUS:CANCELLED\nLAST-MODIFIED:20200101T000000Z"), "STATUS:CANCELLED"),
    (.markdown, "- [-] a\n", "- [-] a"), (.todotxt, "x 2026-11-20 a status:cancelled\n", "x 2026-11-20 2026-11-21 a"),
  ])
  func aCancelledTaskIsClosedAndNotCompleted(format: DocumentFormat, text: String, written: String) throws {
    try withStore { (store: TaskStore) throws in
      try store.importText(text, as: format)
      #expect(try store.tasks.map(\.isCancelled) == [true])
      let statistics = try store.read { try $0.statistics() }
      #expect(statistics.completed.allTime == 0 && statistics.open.total == 0)
      #expect(try store.exportedText(as: format).contains(written))
    }
  }
}
