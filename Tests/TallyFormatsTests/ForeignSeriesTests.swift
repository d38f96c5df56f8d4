import Foundation
import TallyTestSupport
import Testing

@testable import Tally
@testable import TallyFormats

/// Series in calendars of other programs: the zones of their times, and occurrences that are described beside them.
@Suite struct ForeignSeriesTests {
  private static func calendar(_ toDos: [String], zones: String = "") -> String {
    let components = toDos.map { "BEGIN:VTODO\nDTSTAMP:20260101T000000Z\n\($0)\nEND:VTODO\n" }.joined()
    return "BEGIN:VCALENDAR\nVERSION:2.0\n\(zones)\(components)END:VCALENDAR\n"
  }

  /// A zone with the clock of New York, and a name of one's own.
  private static func described(_ name: String, more: String = "", from: String = "-0500", to: String = "-0400")
    -> String
  {
    """
    BEGIN:VTIMEZONE
    TZID:\(name)
    \(more)BEGIN:STANDARD
    DTSTART:20071104T020000
    TZOFFSETFROM:\(to)
    TZOFFSETTO:\(from)
    RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
    END:STANDARD
    BEGIN:DAYLIGHT
    DTSTART:20070311T020000
    TZOFFSETFROM:\(from)
    TZOFFSETTO:\(to)
    RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
    END:DAYLIGHT
    END:VTIMEZONE

    """
  }

  private static func configuration(in zone: String) throws -> TaskStore.Configuration {
    .testing(clock: TestClock(try Timestamp(iso8601: "2026-01-02T12:00:00Z")), timeZone: zone)
  }

  /// The open task and those that follow it, as they are made when each is done early.
  private func openTasks(in store: TaskStore, _ count: Int) throws -> [TaskItem] {
    try store.writeAndWait { transaction in
      var found: [TaskItem] = []
      var next = try transaction.view(.all).tasks.first { $0.isOpen && $0.recurrence != nil }
      while let task = next, found.count < count {
        found.append(task)
        try transaction.complete(task.id)
        next = try transaction.successor(of: try #require(try transaction.task(task.id)))
      }
      return found
    }
  }

  struct Name: Sendable, CustomTestStringConvertible {
    let name: String
    var zones = ""
    /// The zone to which the series is fixed; `nil` for that of the person.
    let zone: String?
    var account: [String] = []
    var testDescription: String { "\(name) \(zone ?? "-")" }
  }

  static let names = [
    Name(name: "America/New_York", zone: "America/New_York"),
    Name(name: "\"/example.org/1/America/New_York\"", zone: "America/New_York"),
    Name(name: "Eastern Standard Time", zone: "America/New_York"),
    Name(name: "Eastern Standard Time", zones: described("Eastern Standard Time"), zone: "America/New_York"),
    Name(
      name: "My office", zones: described("My office", more: "X-LIC-LOCATION:America/New_York\n"),
      zone: "America/New_York"),
    // A clock that nobody knows by a name, or by another one.
    Name(name: "My office", zones: described("My office"), zone: nil, account: ["zone"]),
    Name(
      name: "America/New_York", zones: described("America/New_York", from: "-0300", to: "-0200"), zone: nil,
      account: ["zone"]),
    Name(name: "Nowhere", zone: nil, account: ["zone"]),
    Name(name: "Europe/Berlin", zone: nil),
  ]

  /// The series is fixed to the zone that a name means, and says so where no zone is known for it.
  @Test(arguments: names)
  func aSeriesIsFixedToTheZoneOfItsTimes(name: Name) throws {
    let lines = "UID:s\nSUMMARY:a\nRRULE:FREQ=DAILY\nDTSTART;TZID=\(name.name):20260301T213000"
    let text = Self.calendar([lines + "\nDUE;TZID=\(name.name):20260301T220000"], zones: name.zones)
    try withStore(try Self.configuration(in: "Europe/Berlin")) { (store: TaskStore) throws in
      #expect(try store.importText(text, as: .ical).account.map(\.kind) == name.account)
      #expect(
        try store.read { try $0.storedSeries() }.map(\.timeZoneIdentifier) == (name.zone == nil ? [] : [name.zone]))
      #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: 1))
      guard name.zone != nil else { return }
      let tasks = try openTasks(in: store, 30)
      #expect(tasks.map(\.scheduledDate?.iso8601).prefix(2) == ["2026-03-01", "2026-03-02"])
      // New York's clock changes on the 8th, that of Berlin on the 29th.
      #expect(
        tasks[6].dueDate?.iso8601 == "2026-03-08T03:00:00Z" && tasks[7].dueDate?.iso8601 == "2026-03-09T02:00:00Z")
      #expect(tasks[28].dueDate?.iso8601 == "2026-03-30T02:00:00Z")
    }
  }

  /// A closed series, one without times and a task that does not repeat are not fixed, and a completion has the person's clock.
  @Test(arguments: [
    "RRULE:FREQ=DAILY\nSTATUS:COMPLETED\nCOMPLETED:20260302T020000Z\nDUE;TZID=America/New_York:20260301T090000",
    "RRULE:FREQ=DAILY\nDTSTART;VALUE=DATE:20260301", "DUE;TZID=America/New_York:20260301T090000",
    "RRULE:FREQ=DAILY\nDTSTART:20260301T090000\nDUE:20260301T090000",
  ])
  func otherTasksAreNotFixed(lines: String) throws {
    try withStore(try Self.configuration(in: "Europe/Berlin")) { (store: TaskStore) throws in
      #expect(try store.importText(Self.calendar(["UID:s\nSUMMARY:a\n" + lines]), as: .ical).account.isEmpty)
      #expect(try store.read { try $0.storedSeries() } == [])
      let completion = try #require(try store.tasks.first).completedAt
      #expect(completion == nil || completion?.iso8601 == "2026-03-02T03:00:00+01:00")
    }
  }

  /// Other programs name the zone in a column.
  @Test(arguments: [
    (
      DocumentFormat.ticktick,
      "List Name,Title,Due Date,Repeat,Timezone,Is Floating\n"
        + "Home,a,2026-01-02T14:00:00+0000,RRULE:FREQ=DAILY,America/New_York,%\n", true
    ),
    (
      .todoist,
      "TYPE,CONTENT,DATE,DATE_LANG,TIMEZONE,IS_COLLAPSED\n"
        + "task,a,every day at 9:00,en,America/New_York,%\n", false
    ),
  ])
  func theZoneOfARowFixesItsSeries(format: DocumentFormat, text: String, canFloat: Bool) throws {
    for isFloating in canFloat ? [false, true] : [false] {
      try withStore(try Self.configuration(in: "Europe/Berlin")) { (store: TaskStore) throws in
        let text = text.replacing("%", with: "\(isFloating)")
        #expect(try store.importText(text, as: format).account.isEmpty)
        let zones = try store.read { try $0.storedSeries() }.map(\.timeZoneIdentifier)
        #expect(zones == (isFloating ? [] : ["America/New_York"]))
        let dues = try openTasks(in: store, 80).compactMap(\.dueDate?.iso8601)
        // Two weeks after New York's change, and before that of Berlin.
        #expect(dues.first?.hasSuffix("T14:00:00Z") == true, "\(dues)")
        #expect(dues.last?.hasSuffix(isFloating ? "T14:00:00Z" : "T13:00:00Z") == true, "\(dues)")
      }
    }
  }

  /// A first day and a time belong together: the first task is on a day of the rule, at its time.
  @Test(arguments: [
    ("every monday at 9am starting 1 dec 2026", "2026-12-07T08:00:00Z", "FREQ=WEEKLY;BYDAY=MO"),
    ("every day at 9am starting 1 dec 2026", "2026-12-01T08:00:00Z", "FREQ=DAILY"),
    ("every monday starting 1 dec 2026", "2026-12-07", "FREQ=WEEKLY;BYDAY=MO"),
    ("every month on the 15th at 8pm from 1 jan 2027", "2027-01-15T19:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=15"),
    ("every day from 1 april 2027 to 10 april 2027", "2027-04-01", "FREQ=DAILY;UNTIL=20270410"),
  ])
  func aRowHasItsFirstDayAndItsTime(date: String, due: String, rule: String) throws {
    let text = "TYPE,CONTENT,DATE,DATE_LANG,TIMEZONE\ntask,a,\(date),en,Europe/Berlin\n"
    try withStore(try Self.configuration(in: "Europe/Berlin")) { (store: TaskStore) throws in
      #expect(try store.importText(text, as: .todoist).account.isEmpty)
      let task = try #require(try store.tasks.first)
      #expect(task.dueDate?.iso8601 ?? task.dueDay?.iso8601 == due)
      #expect(task.recurrence?.text == rule)
    }
  }

  /// Random series of any zone, read in any other: every task is at the series' time by the clock of its zone, on the days
  /// of its rule there, and an export gives the same.
  @Test func randomSeriesKeepTheClockOfTheirZone() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "foreign series"))
    let zones = [
      "America/Los_Angeles", "Pacific/Auckland", "Europe/London", "Asia/Tokyo", "America/St_Johns", "Europe/Berlin",
      "Australia/Sydney", "Africa/Cairo",
    ]
    let rules = [
      "FREQ=DAILY;INTERVAL=9", "FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=%,SU", "FREQ=MONTHLY",
      "FREQ=WEEKLY;COUNT=30", "FREQ=WEEKLY;UNTIL=20270131T235959Z",
    ]
    for _ in 0..<40 {
      let zone = zones.randomElement(using: &generator) ?? ""
      let home = zones.filter { $0 != zone }.randomElement(using: &generator) ?? ""
      let day = try CalendarDay(iso8601: "2026-01-05").adding(days: .random(in: 0...25, using: &generator))
      let clock = "T" + ["0030", "0915", "1200", "1845", "2350"][Int.random(in: 0...4, using: &generator)] + "00"
      let weekday = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][day.weekday - 1]
      let text = (rules.randomElement(using: &generator) ?? "").replacing(
        "%,SU", with: weekday == "SU" ? "SU" : "\(weekday),SU")
      let hasStart = generator.oneIn(2)
      let dates = (hasStart ? ["DTSTART", "DUE"] : ["DUE"]).map { "\($0);TZID=\(zone):\(BasicDate.text(day))\(clock)" }
      let document = Self.calendar(["UID:s\nSUMMARY:a\nRRULE:\(text)\n" + dates.joined(separator: "\n")])
      let timeZone = try #require(TimeZone(identifier: zone))
      guard case .rule(let rule) = try Recurrence(text: text, timeZone: timeZone) else { continue }
      var (expected, next) = ([Timestamp](), Optional(day))
      while let place = next, expected.count < 25 {
        expected.append(try #require(BasicDate.instant(BasicDate.text(place) + clock, in: timeZone)))
        next = rule.next(after: place, from: day)
      }
      try withStore(try Self.configuration(in: home)) { (store: TaskStore) throws in
        #expect(try store.importText(document, as: .ical).account.isEmpty)
        let exported = try store.exportedText(as: .ical)
        #expect(try store.importText(exported, as: .ical).tasks == ImportSummary.Counts(unchanged: 1))
        let (task, series) = (try store.tasks, try store.read { try $0.storedSeries() })
        #expect(try openTasks(in: store, 25).map(\.dueDate) == expected, "\(home) \(document)")
        // A zone whose changes follow no rule goes out in UTC, which only Tally reads as a series of the zone.
        let isDescribed = exported.contains("BEGIN:VTIMEZONE\r\nTZID:\(zone)\r\n")
        let bare = exported.replacing("\r\n ", with: "").replacing(/X-TALLY:[^\r]*\r\n/, with: "")
        for text in isDescribed ? [exported, bare] : [exported] {
          try withStore(try Self.configuration(in: home)) { (copy: TaskStore) throws in
            try copy.importText(text, as: .ical)
            if text == exported {
              #expect(try copy.tasks == task)
              #expect(try copy.read { try $0.storedSeries() } == series)
            }
            #expect(try openTasks(in: copy, 25).map(\.dueDate) == expected, "\(home) \(text)")
          }
        }
      }
    }
  }
}

/// Occurrences that a calendar describes beside their series.
@Suite struct DescribedOccurrenceTests {
  private static let master =
    "UID:s\nSUMMARY:series\nRRULE:FREQ=DAILY;COUNT=8\nDTSTART;TZID=America/New_York:20260105T213000\n"
    + "DUE;TZID=America/New_York:20260105T220000\nEXDATE;TZID=America/New_York:20260108T213000"
  /// The days by New York's clock, in each form that a calendar may have.
  private static let occurrences = [
    "UID:s\nSUMMARY:first\nRECURRENCE-ID;TZID=America/New_York:20260105T213000\nDUE:20260107T030000Z",
    "UID:s\nSUMMARY:third\nRECURRENCE-ID:20260108T023000Z\nSTATUS:COMPLETED\nCOMPLETED:20260107T100000Z",
    "UID:s\nSUMMARY:sixth\nRECURRENCE-ID;VALUE=DATE:20260110\nDUE;VALUE=DATE:20260115",
  ]
  private static let others = [
    "UID:other\nSUMMARY:orphan\nRECURRENCE-ID:20260106T090000Z\nDUE:20260106T090000Z",
    "UID:00000000-0000-4000-8000-000000000001\nSUMMARY:single",
  ]

  private static func document(_ toDos: [String]) -> String {
    let components = toDos.map { "BEGIN:VTODO\nDTSTAMP:20260101T000000Z\n\($0)\nEND:VTODO\n" }.joined()
    return "BEGIN:VCALENDAR\nVERSION:2.0\n\(components)END:VCALENDAR\n"
  }

  private static func withBerlin(_ body: (TaskStore) throws -> Void) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-01-02T12:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Berlin"), body)
  }

  /// The days of the tasks that the series still makes, by New York's clock.
  private func days(in store: TaskStore) throws -> [String] {
    try store.writeAndWait { transaction in
      var days: [String] = []
      var next = try transaction.view(.all).tasks.first { $0.isOpen && $0.recurrence != nil }
      while let task = next {
        let due = try #require(task.dueDate)
        days.append(due.wallClock(in: try #require(TimeZone(identifier: "America/New_York"))).iso8601)
        try transaction.complete(task.id)
        next = try transaction.successor(of: try #require(try transaction.task(task.id)))
      }
      return days
    }
  }

  private static let left = ["2026-01-06", "2026-01-09", "2026-01-11", "2026-01-12"].map { $0 + "T22:00:00Z" }

  /// Whatever the order of the document, each described day has its own task, and the series has the others.
  @Test func theOrderOfADocumentDoesNotMatter() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "described occurrences"))
    let parts = [Self.master] + Self.occurrences + Self.others
    var orders = (0..<12).map { _ in parts.shuffled(using: &generator) }
    orders += [parts, parts.reversed()]
    for order in orders {
      try Self.withBerlin { (store: TaskStore) throws in
        let text = Self.document(order)
        #expect(try store.importText(text, as: .ical).account.isEmpty)
        #expect(
          try Set(store.tasks.map(\.title)) == ["series", "first", "third", "sixth", "orphan", "single"], "\(text)")
        let series = try #require(try store.read { try $0.storedSeries() }.first)
        #expect(series.skippedDays.map(\.iso8601) == ["2026-01-07", "2026-01-10"], "\(text)")
        #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: 6))
        #expect(try days(in: store) == Self.left, "\(text)")
        try checkInvariants(of: store)
      }
    }
  }

  /// A day that is described later, beside the series as it was, is left out as well, however the days arrive.
  @Test(arguments: [[[0, 1, 2]], [[0], [1], [2]], [[2], [1], [0]], [[1], [], [2, 0]]])
  func aDayThatIsDescribedLaterIsLeftOut(arrivals: [[Int]]) throws {
    let ended = Self.master.replacing("COUNT=8", with: "UNTIL=20260113T040000Z")
    let allDay = Self.master.replacing(/;TZID=America\/New_York:([0-9]+)T[0-9]+/) { ";VALUE=DATE:\($0.1)" }
    let allDayEnded = allDay.replacing("COUNT=8", with: "UNTIL=20260112")
    let whole = ["20260105", "20260107", "20260110"].map { day in
      "UID:s\nSUMMARY:own \(day)\nRECURRENCE-ID;VALUE=DATE:\(day)\nDUE;VALUE=DATE:20260115"
    }
    let timed = [Self.master, ended].map { ($0, Self.occurrences) }
    for (master, own) in timed + [allDay, allDayEnded].map({ ($0, whole) }) {
      try Self.withBerlin { (store: TaskStore) throws in
        try store.importText(Self.document([master]), as: .ical)
        var here: [Int] = []
        for arrival in arrivals {
          here += arrival
          let text = Self.document([master] + here.map { own[$0] })
          #expect(try store.importText(text, as: .ical).tasks.added == arrival.count)
          #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: here.count + 1))
        }
        #expect(try leftDays(in: store) == Self.left.map { String($0.prefix(10)) }, "\(master)")
        try checkInvariants(of: store)
      }
    }
  }

  /// So it is beside a series that Tally has written, and after its first tasks are done.
  @Test func aDayIsLeftOutOfASeriesThatHasGoneOn() throws {
    try Self.withBerlin { (store: TaskStore) throws in
      try store.importText(Self.document([Self.master]), as: .ical)
      let written = try store.exportedText(as: .ical)
      try store.writeAndWait { transaction in
        let first = try #require(try transaction.view(.all).tasks.first)
        try transaction.complete(first.id)
      }
      for own in [Self.occurrences[2], Self.occurrences[1]] {
        let toDo = "BEGIN:VTODO\nDTSTAMP:20260101T000000Z\n\(own)\nEND:VTODO\n"
        let text = written.replacing("END:VCALENDAR", with: toDo + "END:VCALENDAR")
        #expect(try store.importText(text, as: .ical).tasks.added == 1)
      }
      let skipped = try store.read { try $0.storedSeries() }.map { $0.skippedDays.map(\.iso8601) }
      #expect(skipped == [["2026-01-07", "2026-01-10"]])
      #expect(try days(in: store) == Self.left)
    }
  }

  /// The days of the tasks that the series still makes.
  private func leftDays(in store: TaskStore) throws -> [String] {
    try store.writeAndWait { transaction in
      var days: [String] = []
      var next = try transaction.view(.all).tasks.first { $0.isOpen && $0.recurrence != nil }
      while let task = next {
        days.append(try #require(task.series).occurrence.iso8601)
        try transaction.complete(task.id)
        next = try transaction.successor(of: try #require(try transaction.task(task.id)))
      }
      return days
    }
  }

  /// A described day goes out as its own to-do, and is not left out as well; it is left out when that to-do is missing.
  @Test func aDescribedDayGoesOutOnce() throws {
    try Self.withBerlin { (store: TaskStore) throws in
      try store.importText(
        Self.document([Self.occurrences[1], Self.master, Self.occurrences[0], Self.occurrences[2]]), as: .ical)
      let unfolded = { (text: String) in text.replacing("\r\n ", with: "") }
      let text = try store.exportedText(as: .ical)
      #expect(unfolded(text).contains("\r\nEXDATE;TZID=America/New_York:20260108T213000\r\n"), "\(text)")
      #expect(unfolded(text).components(separatedBy: "\r\nRECURRENCE-ID").count == 4)
      #expect(try store.importText(text, as: .ical).tasks == ImportSummary.Counts(unchanged: 4))
      let (tasks, series) = (try store.tasks, try store.read { try $0.storedSeries() })
      // As it is, and as a program leaves it that drops what it does not know, in any order.
      let bare = unfolded(text).replacing(/X-TALLY:[^\r]*\r\n/, with: "")
      for text in [text, bare] {
        try Self.withBerlin { (copy: TaskStore) throws in
          #expect(try copy.importText(text, as: .ical).account.isEmpty)
          if text != bare { #expect(try Set(copy.tasks) == Set(tasks)) }
          #expect(try copy.read { try $0.storedSeries() }.map(\.skippedDays) == series.map(\.skippedDays))
          #expect(try days(in: copy) == Self.left)
        }
      }
      let sixth = try #require(tasks.first { $0.title == "sixth" })
      try store.writeAndWait { _ = try $0.delete(sixth.id) }
      let without = unfolded(try store.exportedText(as: .ical))
      #expect(without.contains("\r\nEXDATE;TZID=America/New_York:20260108T213000,20260110T213000\r\n"), "\(without)")
      // A task after the first has a UID of its own, of which no day is described.
      try store.writeAndWait { transaction in
        let open = try #require(try transaction.view(.all).tasks.first { $0.title == "series" && $0.isOpen })
        try transaction.complete(open.id)
      }
      let later = unfolded(try store.exportedText(as: .ical))
      #expect(later.contains(";TZID=America/New_York:20260107T213000,20260108T213000,20260110T213000\r\n"), "\(later)")
      #expect(try store.importText(later, as: .ical).tasks.changed == 0)
    }
  }

  /// Another program completes an occurrence of a series of Tally's, and describes it beside the series.
  @Test func anOccurrenceThatAnotherProgramCompletesIsNotOpenAgain() throws {
    try Self.withBerlin { (store: TaskStore) throws in
      let due = try Timestamp(iso8601: "2026-01-05T09:00:00+01:00")
      let id = try store.writeAndWait { transaction in
        try transaction.add("Pills") { task in
          (task.dueDate, task.recurrence) = (due, try Recurrence(text: "FREQ=DAILY;COUNT=5"))
        }.id
      }
      let done = { (day: String) in
        "BEGIN:VTODO\r\nUID:\(id.uuidString.lowercased())\r\nDTSTAMP:20260102T120000Z\r\nSUMMARY:Pills\r\n"
          + "RECURRENCE-ID;TZID=Europe/Berlin:\(day)T090000\r\nSTATUS:COMPLETED\r\nCOMPLETED:20260102T120000Z\r\nEND:VTODO\r\n"
      }
      let text = try store.exportedText(as: .ical).replacing(
        "BEGIN:VTODO", with: done("20260105") + done("20260107") + "BEGIN:VTODO")
      try Self.withBerlin { (copy: TaskStore) throws in
        #expect(try copy.importText(text, as: .ical).account.isEmpty)
        let tasks = try copy.tasks
        #expect(tasks.count { $0.isCompleted } == 2)
        let series = try #require(try copy.read { try $0.storedSeries() }.first)
        #expect(series.skippedDays.map(\.iso8601) == ["2026-01-07"] && series.recurrence.text == "FREQ=DAILY;COUNT=5")
        let open = try #require(tasks.first { $0.isOpen })
        #expect(open.dueDate?.iso8601 == "2026-01-06T08:00:00Z" && open.series?.occurrence.iso8601 == "2026-01-06")
        let next = try copy.writeAndWait { transaction in
          try transaction.complete(open.id)
          return try transaction.successor(of: try #require(try transaction.task(open.id)))
        }
        #expect(next?.dueDate?.iso8601 == "2026-01-08T08:00:00Z")
      }
    }
  }

  /// The reminders of a series that moves on past a described day move on by its clock, over a change of the clock, too.
  @Test func remindersMoveOnWithTheSeries() throws {
    try Self.withBerlin { (store: TaskStore) throws in
      let alarm = { (time: String) in
        "BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:a\nTRIGGER;VALUE=DATE-TIME:\(time)\nEND:VALARM\n"
      }
      let series =
        "UID:s\nSUMMARY:a\nRRULE:FREQ=WEEKLY\nDTSTART;TZID=Europe/Berlin:20260323T090000\n"
        + "DUE;TZID=Europe/Berlin:20260323T090000\n" + alarm("20260323T070000Z") + alarm("20260322T160000Z")
      let moved = "UID:s\nSUMMARY:b\nRECURRENCE-ID;TZID=Europe/Berlin:20260323T090000\nDUE:20260324T080000Z"
      try store.importText(Self.document([moved, String(series.dropLast())]), as: .ical)
      let task = try #require(try store.tasks.first { $0.title == "a" })
      #expect(task.dueDate?.iso8601 == "2026-03-30T07:00:00Z" && task.scheduledDate?.iso8601 == "2026-03-30")
      let reminders = task.reminderInstants(in: try #require(TimeZone(identifier: "Europe/Berlin"))).map(\.iso8601)
      #expect(reminders == ["2026-03-29T15:00:00Z", "2026-03-30T06:00:00Z"])
    }
  }

  /// Of a rule for hours single hours cannot be left out: the rule is named, and goes out again.
  @Test func anHourThatIsDescribedIsNamed() throws {
    try Self.withBerlin { (store: TaskStore) throws in
      let hourly = "UID:s\nSUMMARY:a\nRRULE:FREQ=HOURLY;INTERVAL=6\nDTSTART:20260105T060000Z"
      let hour = "UID:s\nSUMMARY:b\nRECURRENCE-ID:20260105T120000Z\nDUE:20260105T130000Z"
      for text in [Self.document([hour, hourly]), Self.document([hourly, hour])] {
        #expect(try store.importText(text, as: .ical).account.map(\.kind) == ["recurrence"])
      }
      let written = try store.exportedText(as: .ical)
      #expect(try store.tasks.count == 2 && written.contains("RRULE:FREQ=HOURLY;INTERVAL=6\r\n"))
    }
  }
}
