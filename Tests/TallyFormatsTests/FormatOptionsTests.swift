import Foundation
import SystemPackage
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// What a caller says about a document: its source, the order of dates, when undated tasks were done, how plain it is.
struct FormatOptionsTests {
  /// Imports a text from a file of a name.
  private static func importFile(
    _ text: String, named name: String, into store: TaskStore, _ options: FormatOptions = FormatOptions()
  ) throws -> ImportSummary {
    try withTemporaryDirectory { directory in
      let file = directory.appending(name)
      try Data(text.utf8).write(to: URL(filePath: file.string))
      return try store.importDocument(from: file, as: nil, formatOptions: options)
    }
  }

  /// One date that shows the order of a table gives it to the others, whatever the locale has; but the caller knows best.
  @Test(
    arguments: [("13/4/2026", "2026-04-03"), ("4/13/2026", "2026-03-04"), ("4/4/2026", nil)] as [(String, String?)])
  func aTableShowsTheOrderOfItsDates(evidence: String, day: String?) throws {
    for order in [nil, DateOrder.dayFirst, .monthFirst] where day != nil || order == nil {
      try withStore { (store: TaskStore) throws in
        let text = "title,due\na,3/4/2026\nb,\(evidence)\n"
        _ = try Self.importFile(text, named: "a.csv", into: store, FormatOptions(usualDateOrder: order))
        #expect(try store.tasks.first { $0.title == "a" }?.dueDay?.iso8601 == day)
      }
    }
    try withStore { (store: TaskStore) throws in
      let text = "title,due\na,3/4/2026\nb,\(evidence)\n"
      _ = try Self.importFile(text, named: "a.csv", into: store, FormatOptions(dateOrder: .dayFirst))
      #expect(try store.tasks.first { $0.title == "a" }?.dueDay?.iso8601 == "2026-04-03")
    }
  }

  @Test(arguments: [
    ("TYPE,CONTENT,PRIORITY\ntask,Review,4\n", "Work.csv", "Home.csv"), ("Review\n", "a.txt", "b.txt"),
    ("- [ ] Review\n", "a.md", "b.md"), ("title,due\nReview,2026-12-24\n", "a.csv", "b.csv"),
    ("* TODO Review\n", "a.org", "b.org"),
  ])
  func equalLinesOfTwoFilesAreTwoTasks(text: String, first: String, second: String) throws {
    try withStore { (store: TaskStore) throws in
      #expect(try Self.importFile(text, named: first, into: store).tasks.added == 1)
      let task = try #require(try store.tasks.first)
      try store.writeAndWait { _ = try $0.complete(task.id) }
      // What is done here does not swallow the line of another file, and stays done for its own.
      #expect(try Self.importFile(text, named: second, into: store).tasks.added == 1)
      #expect(try Self.importFile(text, named: first, into: store).tasks.added == 0)
      #expect(try store.tasks.map(\.isCompleted).sorted { !$0 && $1 } == [false, true])
      // Renamed, with the name that it had.
      let known = FormatOptions(source: first)
      #expect(try Self.importFile(text, named: "other." + first.suffix(3), into: store, known).tasks.added == 0)
    }
  }

  @Test func aProjectOfTodoistIsAList() throws {
    try withStore { (store: TaskStore) throws in
      let text = "TYPE,CONTENT,PRIORITY\nsection,Beds,\ntask,Water,4\n"
      _ = try Self.importFile(text, named: "Garden [2203].csv", into: store)
      #expect(try store.read { try $0.lists().map(\.name) } == ["Garden"])
      #expect(try store.tasks.first?.attributes["section"] == "Beds")
    }
  }

  @Test(
    arguments: [
      ("3/4/2026", DateOrder.dayFirst, "2026-04-03"), ("3/4/2026", .monthFirst, "2026-03-04"), ("3/4/2026", nil, nil),
      ("4/4/2026", nil, "2026-04-04"), ("24/12/2026", .monthFirst, "2026-12-24"),
      ("12/24/2026", .dayFirst, "2026-12-24"),
      ("3.4.2026", .monthFirst, "2026-04-03"), ("2026/3/4", .dayFirst, "2026-03-04"),
      ("3-4-26", .dayFirst, "2026-04-03"),
      ("Dec 24, 2026", nil, "2026-12-24"), ("24 December 2026", nil, "2026-12-24"), ("29.2.2026", nil, nil),
      ("2026-12-24T10:00:00+0200", nil, "2026-12-24"), ("tomorrow", .dayFirst, nil), ("12", .dayFirst, nil),
    ] as [(String, DateOrder?, String?)])
  func aWrittenDateIsReadByTheOrder(date: String, order: DateOrder?, day: String?) throws {
    try withStore { (store: TaskStore) throws in
      let text = "title;due;x\na;\"\(date)\";\n"
      let summary = try Self.importFile(text, named: "a.csv", into: store, FormatOptions(dateOrder: order))
      let task = try #require(try store.tasks.first)
      #expect(task.dueDay(in: store.configuration.calendar.timeZone)?.iso8601 == day)
      #expect(summary.account.filter { $0.kind == "date" }.count == (day == nil ? 1 : 0))
    }
  }

  @Test(arguments: [
    ("x Pay\n", "a.txt"), ("- [x] Pay\n", "a.md"), ("title,done\nPay,yes\n", "a.csv"), ("* DONE Pay\n", "a.org"),
  ])
  func aTaskThatIsDoneWithoutADateCountsOnNoRecentDay(text: String, name: String) throws {
    try withStore { (store: TaskStore) throws in
      _ = try Self.importFile(text, named: name, into: store)
      #expect(try store.tasks.map(\.isCompleted) == [true])
      let counts = try store.read { try $0.statistics().completed }
      #expect(counts.today == 0 && counts.thisYear == 0 && counts.allTime == 1)
    }
    try withStore { (store: TaskStore) throws in
      let today = try store.read { CalendarDay(containing: $0.now, in: $0.calendar) }
      _ = try Self.importFile(text, named: name, into: store, FormatOptions(completedOn: today))
      #expect(try store.read { try $0.statistics().completed.today } == 1)
    }
  }

  @Test(arguments: [
    (DocumentFormat.todotxt, "tally:"), (.markdown, "<!-- tally"), (.ical, "X-TALLY:"), (.taskwarrior, "\"tally\""),
  ])
  func aPlainExportHasNoExtension(format: DocumentFormat, mark: String) throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.add("a", to: .inbox) { $0.reminderDate = .latest } }
      #expect(try store.exportedText(as: format).contains(mark))
      try withTemporaryDirectory { directory in
        let file = directory.appending("plain")
        try store.export(to: file, as: format, formatOptions: FormatOptions(isPlain: true))
        #expect(try !String(contentsOfFile: file.string, encoding: .utf8).contains(mark))
      }
    }
  }

  /// A plain export has no notes of Tally's own either, as that of a snooze, and says the same when it is read.
  @Test(arguments: DocumentFormat.allCases.filter { $0.isExported && ![.json, .ndjson].contains($0) })
  func aPlainExportHasNoNoteOfTally(format: DocumentFormat) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let now = clock.now
      try store.writeAndWait { transaction in
        let task = try transaction.add("Water the plants", to: .inbox) { task in
          (task.dueDate, task.recurrence) = (now.adding(seconds: 7_200), try Recurrence(text: "FREQ=WEEKLY"))
          task.reminders = [.at(now.adding(seconds: 600)), .at(now.adding(seconds: 1_200))]
          (task.tags, task.attributes["colour"]) = (["home"], "blue")
        }
        try transaction.snooze(task.id, until: now.adding(seconds: 900))
      }
      let task = try #require(try store.tasks.first)
      #expect(task.attributes.keys.contains { $0.hasPrefix("tally.") })
      let whole = try store.exportedText(as: format)
      #expect(format == .ical || whole.contains("tally.snoozed"))
      try withTemporaryDirectory { directory in
        let file = directory.appending("plain")
        try store.export(to: file, as: format, formatOptions: FormatOptions(isPlain: true))
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        #expect(!text.replacing("//Tally//Tally", with: "").lowercased().contains(/tally[.:"\s{,]/), "\(text)")
        try withStore(.testing(clock: clock)) { copy in
          try copy.importText(text, as: format)
          let found = try #require(try copy.tasks.first)
          #expect(found.title == task.title && found.tags == task.tags)
          #expect(!found.attributes.keys.contains { $0.hasPrefix("tally") })
          #expect(
            found.dueDay(in: copy.configuration.calendar.timeZone)
              == task.dueDay(in: store.configuration.calendar.timeZone))
          if ![.ical, .markdown].contains(format) { #expect(found.attributes["colour"] == "blue") }
        }
      }
    }
  }

  /// A table without the places of tasks in their series has as many repetitions as are still to come.
  @Test(
    arguments: [
      ("FREQ=DAILY;COUNT=5", 2, "FREQ=DAILY;COUNT=3"), ("FREQ=WEEKLY;COUNT=2", 1, "FREQ=WEEKLY;COUNT=1"),
      ("FREQ=DAILY;UNTIL=20271231", 1, "FREQ=DAILY;UNTIL=20271231"), ("FREQ=DAILY;COUNT=4", 0, "FREQ=DAILY;COUNT=4"),
      ("FREQ=HOURLY;INTERVAL=8;COUNT=6", 2, "FREQ=HOURLY;INTERVAL=8;COUNT=4"),
      ("FREQ=DAILY;COUNT=6;EXDATE=20261123", 2, "FREQ=DAILY;COUNT=3;EXDATE=20261123"),
    ])
  func aPlainTableHasWhatIsLeftOfARule(rule: String, doneCount: Int, left: String) throws {
    try withStore(.testing(clock: .noon)) { store in
      let due = try store.read { $0.now.adding(seconds: 3_600) }
      var id = try store.writeAndWait { transaction in
        try transaction.add("Pills") { ($0.dueDate, $0.recurrence) = (due, try Recurrence(text: rule)) }.id
      }
      for _ in 0..<doneCount {
        id = try store.writeAndWait { transaction in
          try #require(try transaction.successor(of: try transaction.complete(id))).id
        }
      }
      try withTemporaryDirectory { directory in
        let file = directory.appending("plain.csv")
        try store.export(to: file, as: .csv, formatOptions: FormatOptions(isPlain: true))
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        try withStore(.testing(clock: .noon)) { copy in
          try copy.importText(text, as: .csv)
          let tasks = try copy.tasks
          #expect(tasks.filter(\.isOpen).map { $0.recurrence?.text } == [left], "\(text)")
          #expect(tasks.count { $0.isClosed && $0.recurrence == nil } == doneCount, "\(text)")
        }
      }
      #expect(try store.exportedText(as: .csv).contains(rule), "the whole table has the place, too")
    }
  }

  /// A completed task stays completed, and a cancelled one cancelled, whatever words a person has written beside.
  @Test func aPlainLineKeepsCompletedAndCancelledApart() throws {
    let words = ["cancelled", "Dropped", "completed", "wontdo", "late"]
    let titles = ["Fix the word status:cancelled here", "Say status:completed and status:cancelled twice", "Read"]
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        for (number, title) in titles.enumerated() {
          for word in words + [""] {
            for isDone in [true, false] {
              let task = try transaction.add(title) { task in
                task.tags = [isDone ? "done" : "given-up", "title\(number)"]
                if !word.isEmpty { task.attributes["status"] = .text(word) }
              }
              if isDone { try transaction.complete(task.id) } else { try transaction.cancel(task.id) }
            }
          }
        }
      }
      try withTemporaryDirectory { directory in
        let file = directory.appending("a.txt")
        try store.export(to: file, as: .todotxt, formatOptions: FormatOptions(isPlain: true))
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        // Each is done for other programs.
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("x 2026-11-21 ") })
        try withStore(.testing(clock: .noon)) { copy in
          try copy.importText(text, as: .todotxt)
          let tasks = try copy.tasks
          #expect(tasks.count == 2 * titles.count * (words.count + 1))
          for task in tasks {
            let isDone = task.tags.contains("done")
            #expect(task.isCompleted == isDone && task.isCancelled != isDone, "\(task.title) \(task.attributes)")
            #expect(titles.indices.contains { task.tags.contains("title\($0)") && task.title == titles[$0] })
          }
          let found = Set(tasks.compactMap { $0.attributes["status"]?.text })
          #expect(found == Set(words), "no word of a person is lost")
          #expect(try copy.importText(text, as: .todotxt).tasks.added == 0)
        }
      }
    }
  }

  /// What a plain export cannot express is counted by field, with the first task; nothing is named that it can.
  @Test func aPlainExportNamesWhatItLoses() throws {
    try withStore(.testing(clock: .noon)) { store in
      let due = try store.read { $0.now.adding(seconds: 90) }
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "House work")
        let parent = try transaction.add("Move") { ($0.notes, $0.listID) = ("to Bern", list.id) }
        _ = try transaction.add("Pack") { ($0.parentID, $0.listID, $0.notes) = (parent.id, list.id, "soon") }
        _ = try transaction.add("Pay") { ($0.dueDate, $0.reminderDate, $0.tags) = (due, due, ["home"]) }
        _ = try transaction.add("Buy milk") { $0.priority = .high }
      }
      func account(_ format: DocumentFormat, isPlain: Bool = true) throws -> [String] {
        try withTemporaryDirectory { directory in
          let summary = try store.export(
            to: directory.appending("a"), as: format, formatOptions: FormatOptions(isPlain: isPlain))
          return summary.account.map { "\($0.count) \($0.kind) \($0.example)" }.sorted()
        }
      }
      #expect(
        try account(.todotxt)
          == ["1 dueDate Pay", "1 parentID Pack", "1 reminderDate Pay", "2 list Move", "2 notes Move"])
      #expect(try account(.markdown) == ["1 dueDate Pay", "1 priority Buy milk", "1 reminderDate Pay"])
      #expect(try account(.ical) == [])
      #expect(try account(.csv) == [])
      #expect(try account(.taskwarrior) == ["1 parentID Pack", "1 reminderDate Pay"])
      #expect(try account(.todotxt, isPlain: false) == [] && account(.json) == [])
    }
  }

  /// A cancelled task is a done line of todo.txt, which says more with and without the extension.
  @Test(arguments: [false, true])
  func aCancelledLineIsClosedForOtherPrograms(isPlain: Bool) throws {
    try withStore(.testing(clock: .noon)) { store in
      let recurrence = try Recurrence(text: "FREQ=DAILY")
      try store.writeAndWait { transaction in
        let task = try transaction.add("Read") { ($0.priority, $0.attributes["status"]) = (.high, "late") }
        try transaction.cancel(task.id)
        try transaction.skip(try transaction.add("Water", to: .today) { $0.recurrence = recurrence }.id)
        let done = try transaction.add("Pay") { $0.attributes["status"] = "cancelled" }
        try transaction.complete(done.id)
      }
      try withTemporaryDirectory { directory in
        let file = directory.appending("a.txt")
        try store.export(to: file, as: .todotxt, formatOptions: FormatOptions(isPlain: isPlain))
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("x 2026-11-21 2026-11-21 ") } == 3 && lines.count == 4, "\(text)")
        #expect(lines.count { $0.contains(" status:cancelled") } == 3, "\(text)")
        try withStore(.testing(clock: .noon)) { copy in
          try copy.importText(text, as: .todotxt)
          let states = Dictionary(grouping: try copy.tasks, by: \.title).mapValues { Set($0.map(\.state)) }
          #expect(states["Read"] == [.cancelled] && states["Water"] == [.cancelled, .notStarted])
          #expect(try copy.read { try $0.statistics().completed.allTime } == 1)
          #expect(states["Pay"] == [.completed])
          // Another program opens the line again.
          guard !isPlain, let line = lines.first(where: { $0.contains("Read") }) else { return }
          let open = line.dropFirst("x 2026-11-21 ".count).replacing(" status:cancelled", with: "")
          try withStore(.testing(clock: .noon)) { other in
            try other.importText(open + "\n", as: .todotxt)
            #expect(try other.tasks.map(\.state) == [.notStarted])
          }
        }
      }
    }
  }

  @Test func linesKeepTheirOrder() throws {
    let lines = (0..<40).map { "line \(($0 * 17) % 40)" }
    try withStore { (store: TaskStore) throws in
      _ = try Self.importFile(lines.joined(separator: "\n"), named: "a.txt", into: store)
      #expect(try store.tasks.map(\.title) == lines)
      let written = try store.exportedText(as: .todotxt).split(separator: "\n")
      #expect(zip(written, lines).allSatisfy { $0.contains(" \($1) tally:") } && written.count == lines.count)
    }
  }
}
