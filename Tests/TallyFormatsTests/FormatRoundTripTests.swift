import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// What goes out comes back, whatever it is.
struct FormatRoundTripTests {
  static let formats = DocumentFormat.allCases.filter(\.isExported)

  /// Titles that formats take for something else than words.
  private static let titles =
    NastyTexts.all + [
      "@ann +garage", "x 2026-01-01 done", "(A) first", "2026-01-01 day", "due:2026-01-01", "a:b", "- [ ] item",
      "# head", "(B)", "x", "2026-01-01",
      "end #tag", "http://x.y/z", "tally:{}", "=1+1", "'=quoted", "a;b,c\\n", "<!-- tally {-->", "BEGIN:VTODO", "a  b",
    ]

  static func task(_ number: Int, in lists: [TaskList], using generator: inout SeededGenerator) throws -> TaskItem {
    let created = Timestamp(
      clamping: Int64.random(in: 1_000_000_000_000_000...1_790_000_000_000_000, using: &generator))
    let state = TaskState.allCases.randomElement(using: &generator) ?? .active
    let day = CalendarDay(clamping: .random(in: 15_000...22_000, using: &generator))
    let id = generator.uuid()
    let recurrences = ["FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TH", "after 3 days", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=5"]
    let recurrence = generator.oneIn(4) ? try Recurrence(text: recurrences.randomElement(using: &generator) ?? "") : nil
    let due = Int.random(in: 0...3, using: &generator)
    let tags = ["home", "a b", "é", "x:y", "@at", "+p", "1", "\"q\"", "a-->b"].filter { _ in generator.oneIn(5) }
    var task = TaskItem(
      id: id, title: titles.randomElement(using: &generator) ?? "x",
      notes: generator.oneIn(2) ? nil : titles.randomElement(using: &generator), state: state,
      scheduledDate: generator.oneIn(2) ? nil : day, dueDate: due == 0 ? created.adding(seconds: 5) : nil,
      reminderDate: generator.oneIn(3) ? created.adding(microseconds: 7) : nil,
      listID: generator.oneIn(3) ? nil : lists.randomElement(using: &generator)?.id, sortOrder: Int64(number) * 1_000,
      createdAt: created, updatedAt: created.adding(microseconds: 3),
      completedAt: state == .completed ? try OffsetTimestamp(created.adding(seconds: 9), utcOffsetInMinutes: 345) : nil,
      dueDay: due == 1 ? day : nil, priority: Priority.allCases.randomElement(using: &generator) ?? .none,
      tags: TagSet(tags), recurrence: recurrence,
      series: recurrence == nil ? nil : RecurrenceSeries(startingWith: id, on: day),
      cancelledAt: state == .cancelled ? try OffsetTimestamp(created.adding(seconds: 7), utcOffsetInMinutes: -90) : nil,
      start: generator.oneIn(3) ? generator.oneIn(3) ? .someday : .day(day) : nil)
    if generator.oneIn(3) { task.dependsOn = [generator.uuid(), generator.uuid()] }
    if generator.oneIn(3) {
      task.reminders += RandomChange.reminders(around: task.createdAt, using: &generator)
    }
    for name in [
      "estimate", "LOCATION", "wait", "id", "due", "depends", "VALARM", "UID", "annotations", "PRIORITY", "a:b",
    ]
    where generator.oneIn(6) {
      let values: [AttributeValue] = [
        "v", "two words", 5, 2.5, true, "", "l1\nl2", .day(day), .bytes([0, 1]), ";P=1:x", "[1]",
      ]
      task.attributes[name] = values.randomElement(using: &generator)
    }
    return task
  }

  private func differences(_ old: TaskItem, _ new: TaskItem) -> [String] {
    TaskField.all.filter { old[$0] != new[$0] }.map { "\($0.name): \(old[$0] as Any), \(new[$0] as Any)" }
  }

  private func fill(_ store: TaskStore, using generator: inout SeededGenerator) throws {
    try store.writeAndWait { transaction in
      let lists = try ["Home", "Work \"x\" two", "+庭", "Home", "line\nfeed"].map { try transaction.addList(name: $0) }
      var tasks: [TaskItem] = []
      for number in 0..<60 {
        var task = try Self.task(number, in: lists, using: &generator)
        if let parent = tasks.last, parent.parentID == nil, generator.oneIn(4) {
          (task.parentID, task.listID) = (parent.id, parent.listID)
        }
        tasks.append(task)
      }
      try transaction.insert(contentsOf: tasks)
    }
  }

  @Test(arguments: formats)
  func anExportIntoAnEmptyStoreGivesTheSameTasks(format: DocumentFormat) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "formats \(format)"))
    try withStore { source in
      try fill(source, using: &generator)
      let text = try source.exportedText(as: format)
      let before = try source.tasks
      let again = try source.importText(text, as: format)
      for (old, new) in zip(
        before.sorted { $0.id.uuidString < $1.id.uuidString },
        try source.tasks.sorted { $0.id.uuidString < $1.id.uuidString }) where old != new
      {
        Issue.record("\(differences(old, new))")
      }
      #expect(again.tasks == ImportSummary.Counts(unchanged: 60), "importing an export changes nothing")
      try withStore { copy in
        #expect(try copy.importText(text, as: format).tasks.added == 60)
        #expect(try copy.importText(text, as: format).tasks.unchanged == 60)
        let names = { (store: TaskStore) in
          try store.read { Dictionary(uniqueKeysWithValues: try $0.lists().map { ($0.id, $0.name) }) }
        }
        let (old, new) = (try names(source), try names(copy))
        for task in before {
          var found = try #require(try copy.read { try $0.task(task.id) })
          #expect(task.listID.flatMap { old[$0] } == found.listID.flatMap { new[$0] }, "\(task)")
          found.listID = task.listID
          // Taskwarrior orders by urgency.
          if format == .taskwarrior { found.sortOrder = task.sortOrder }
          #expect(found.isIdentical(to: task), "\(differences(task, found))")
        }
      }
    }
  }

  @Test(arguments: formats)
  func aZoneThatChangesMeanwhileChangesNoDay(format: DocumentFormat) throws {
    try withStore { source in
      let task = try source.writeAndWait { transaction in
        try transaction.update(try transaction.add("a", to: .inbox).id) {
          $0.dueDate = $0.createdAt.adding(seconds: 43_000)
          $0.scheduledDate = try CalendarDay(iso8601: "2026-12-01")
        }
      }
      let text = try source.exportedText(as: format)
      try withStore(.testing(timeZone: "Pacific/Apia")) { copy in
        try copy.importText(text, as: format)
        #expect(try copy.read { try $0.task(task.id)?.dueDate } == task.dueDate)
      }
    }
  }

  /// Random days of tasks are the same days wherever a document is read; days of a foreign document are those of the reader.
  @Test(arguments: formats)
  func aDayIsTheSameDayElsewhere(format: DocumentFormat) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "days \(format)"))
    let zones = ["Pacific/Apia", "Pacific/Pago_Pago", "Europe/Berlin", "Asia/Kathmandu", "America/Havana", "Etc/UTC"]
    for _ in 0..<4 {
      let (here, there) = (zones.randomElement(using: &generator) ?? "", zones.randomElement(using: &generator) ?? "")
      try withStore(.testing(timeZone: here)) { store in
        try store.writeAndWait { transaction in
          for number in 0..<30 {
            let day = CalendarDay(clamping: .random(in: 15_000...22_000, using: &generator))
            try transaction.add("task \(number)") { task in
              if generator.oneIn(2) { task.scheduledDate = day }
              if generator.oneIn(2) { task.dueDay = try day.adding(days: .random(in: 0...3, using: &generator)) }
              if task.dueDay == nil, generator.oneIn(2) {
                task.dueDate = Timestamp(clamping: Int64(day.dayNumber) * 86_400_000_000).adding(seconds: 100_000)
              }
              if generator.oneIn(3) { task.start = .day(try day.adding(days: -1)) }
            }
          }
        }
        let (tasks, text) = (try store.tasks, try store.exportedText(as: format))
        try withStore(.testing(timeZone: there)) { copy in
          try copy.importText(text, as: format)
          for task in tasks {
            let found = try #require(try copy.read { try $0.task(task.id) })
            let fields = [TaskField.scheduledDate, .dueDay, .dueDate, .startDay]
            let differences = fields.filter { found[$0] != task[$0] }.map {
              "\($0.name) \(found[$0] as Any) \(task[$0] as Any)"
            }
            #expect(differences == [], "\(here) \(there)")
          }
        }
      }
    }
  }

  /// What another program changes wins over what Tally has written beside it.
  @Test(arguments: [
    (DocumentFormat.todotxt, "due:2026-12-01", "due:2026-12-05"), (.ical, ":20261201", ":20261205"),
    (.markdown, "due:2026-12-01", "due:2026-12-05"), (.csv, "2026-12-01", "2026-12-05"),
    (.taskwarrior, "20261130T210000Z", "20261204T210000Z"),
  ])
  func aChangeByAnotherProgramIsTaken(format: DocumentFormat, old: String, new: String) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { transaction in
        try transaction.update(try transaction.add("a", to: .inbox).id) {
          $0.dueDay = try CalendarDay(iso8601: "2026-12-01")
        }
      }
      clock.now = clock.now.adding(seconds: 60)
      let edited = try store.exportedText(as: format).replacing(old, with: new)
      #expect(try store.importText(edited, as: format).tasks == ImportSummary.Counts(changed: 1))
      #expect(try store.read { try $0.task(task.id)?.dueDay?.iso8601 } == "2026-12-05")
      try store.writeAndWait { _ = try $0.update(task.id) { $0.title = "b" } }
      #expect(try store.importText(edited, as: format).tasks == ImportSummary.Counts(keptNewer: 1))
    }
  }

  @Test func tickingABoxCompletesTheTask() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      clock.now = clock.now.adding(seconds: 60)
      let ticked = try store.exportedText(as: .markdown).replacing("- [ ]", with: "- [x]")
      #expect(try store.importText(ticked, as: .markdown).tasks.changed == 1)
      #expect(try store.read { try $0.task(task.id)?.completedAt?.instant } == clock.now)
      #expect(try store.importText(ticked, as: .markdown).tasks.changed == 0)
    }
  }

  @Test func aListOfForeignLinesStaysWhatItBecameHere() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let text = "Call Ann\nCall Ann\nBuy milk\n"
      #expect(try store.importText(text, as: .todotxt).tasks.added == 3, "equal lines are different tasks")
      clock.now = clock.now.adding(seconds: 60)
      let milk = try #require(try store.tasks.last)
      try store.writeAndWait { transaction in
        _ = try transaction.update(milk.id) { $0.title = "Buy oat milk" }
        try transaction.delete(try #require(try transaction.tasks(TaskQuery(.all, by: .place)).tasks.first).id)
      }
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.importText(text, as: .todotxt).tasks == ImportSummary.Counts(unchanged: 1, keptNewer: 2))
      #expect(try store.importText("x 2026-11-21 Buy milk\n", as: .todotxt).tasks.changed == 1)
      #expect(try store.read { try $0.task(milk.id) }.map { $0.title == "Buy oat milk" && $0.isCompleted } == true)
    }
  }
}
