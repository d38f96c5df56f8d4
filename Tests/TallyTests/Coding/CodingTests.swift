import Foundation
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Values as JSON, and the texts that stand for positions, writes and states of a store.
@Suite struct CodingTests {
  private static let views =
    TaskModel.views(
      dueOn: CalendarDay(containing: TestClock.noon.now, in: TimeZone.gmt),
      completedIn: Timestamp(clamping: 0)..<TestClock.noon.now.adding(seconds: 1)) + [.list(.lowest)]

  @Test func aTaskIsCodedAsAnExportWritesIt() throws {
    let json = """
      {"attributes":{"n":1,"on":{"day":"2026-11-21"}},\
      "completedAt":"2026-11-21T15:00:00+03:00","createdAt":"2026-11-20T08:00:00Z",\
      "dependsOn":["0192f0c1-2345-7abc-8def-0123456789ae"],\
      "dueDate":"2026-11-21T09:30:00.000001Z","id":"0192f0c1-2345-7abc-8def-0123456789ab",\
      "listID":"0192f0c1-2345-7abc-8def-0123456789ac","notes":"by hand",\
      "parentID":"0192f0c1-2345-7abc-8def-0123456789ad","priority":"high","recurrence":"FREQ=WEEKLY",\
      "reminderDate":"2026-11-21T09:00:00Z",\
      "reminders":[{"at":"2026-11-20T09:00:00Z"},{"at":"2026-11-21T09:00:00Z"},{"before":"P1DT1H30M","of":"due"},\
      {"at":"09:00","before":"P0D","of":"scheduled"}],\
      "scheduledDate":"2026-11-21",\
      "series":{"id":"0192f0c1-2345-7abc-8def-0123456789ab","index":2,"occurrence":"2026-11-21","start":"2026-11-07"},\
      "sortOrder":-5,"state":"completed","tags":["home"],"text":"Water the plants","updatedAt":"2026-11-21T12:00:00Z"}
      """
    let task = try JSONDecoder().decode(TaskItem.self, from: Data(json.utf8))
    #expect(try Self.json(task) == json)
    // A task has one kind of due date, and is closed in one way.
    let missing = TaskField.all.filter { task[$0] == nil }
    let absent: [TaskField] = [
      .dueDay, .cancelledAt, .startDay, .someday, .floatingDue, .floatingReminder, .floatingReminders,
    ]
    #expect(missing == absent, "a field that the text does not have is not tested")
    let other = TaskItem(
      id: .lowest, title: "x", state: .cancelled, createdAt: .earliest, dueDay: .earliest,
      cancelledAt: try OffsetTimestamp(TestClock.noon.now, utcOffsetInMinutes: 345))
    #expect(try JSONDecoder().decode(TaskItem.self, from: Data(Self.json(other).utf8)) == other)
  }

  @Test func aTaskWithoutAnOptionalFieldComesBackAndOneWithoutAnIDDoesNot() throws {
    let task = TaskItem(title: "x", createdAt: Timestamp(clamping: 0))
    #expect(try Self.roundTrip(task) == task)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(TaskItem.self, from: Data(#"{"text":"x"}"#.utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Timestamp.self, from: Data(#""yesterday""#.utf8))
    }
  }

  @Test func anExportedTaskIsReadAsJSON() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
      try withTemporaryDirectory { (directory) throws in
        let file = directory.appending("export.ndjson")
        try store.export(to: file, format: .ndjson)
        let lines = try String(contentsOfFile: file.string, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("Water the plants") })
        #expect(try JSONDecoder().decode(TaskItem.self, from: Data(line.utf8)) == task)
      }
    }
  }

  @Test func otherValuesComeBack() throws {
    try withStore { store in
      let start = try store.read { try $0.position }
      let (list, change) = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        for number in 0..<3 { try transaction.add("\(number)") { $0.listID = list.id } }
        return (list, try #require(try transaction.changeID))
      }
      let (changes, page) = try store.read { snapshot in
        (try snapshot.changes(since: start), try snapshot.page(of: .list(list.id), limit: 2))
      }
      #expect(try Self.roundTrip(list) == list)
      #expect(try Self.roundTrip(change) == change)
      #expect(try Self.roundTrip(changes) == changes)
      #expect(try Self.roundTrip(page) == page && page.next != nil)
      #expect(try Self.json(TaskState.active) == #""active""#)
      #expect(try Self.json(list).contains(list.id.uuidString.lowercased()))
    }
  }

  @Test func statisticsComeBackUnderTheNamesOfTheirProperties() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        for number in 0..<6 {
          try transaction.add("\(number)") { task in
            if number < 4 { task.listID = list.id }
            task.tags = ["home"]
            task.priority = .high
            task.state = number.isMultiple(of: 2) ? .completed : .notStarted
          }
        }
      }
      var options = StatisticsOptions()
      options.goal = .perDay(2)
      let statistics = try store.read { try $0.statistics(options) }
      #expect(statistics.completed.today == 3 && statistics.byList.count == 2 && statistics.goal != nil)
      #expect(try Self.roundTrip(statistics) == statistics)
      let json = try Self.json(statistics)
      let listID = try #require(statistics.byList.last?.listID).uuidString.lowercased()
      for part in [
        #""path":"counters""#, #""goal":{"completed":3,"goal":"2/day""#,
        #""byPriority":[{"completed":3,"priority":"high"}]"#,
        #""byTag":[{"completed":3,"tag":"home"}]"#,
        #"{"completed":2,"isDeleted":false,"listID":"\#(listID)","name":"Home"}"#,
        #""timeZone":{"identifier":"Europe\/Istanbul"}"#, #""cycleTime":{"count":3,"#,
      ] {
        #expect(json.contains(part.replacing("\\/", with: "/")), "\(part) in \(json)")
      }
    }
  }

  @Test func theResultOfAnUndoComesBack() throws {
    try withStore { store in
      let task = try store.writeAndWait { transaction in
        let task = try transaction.add("Water the plants")
        try transaction.saveFilter(.is(.open), as: "Open")
        try transaction.setValue("dark", forKey: 7, in: "app.settings")
        return task
      }
      try store.writeAndWait { transaction in
        try transaction.delete(task.id)
        try transaction.addList(name: "Home")
        try transaction.deleteFilter(named: "Open")
        try transaction.removeValue(forKey: 7, in: "app.settings")
      }
      let results = try store.writeAndWait { [try $0.undo(), try $0.redo(), try $0.undo()] }
      for result in results { #expect(try Self.roundTrip(result) == result) }
      #expect(results[0].returnedTaskIDs == [task.id] && results[0].values.count == 1)
      let json = try Self.json(results[0])
      #expect(json.contains(#""returnedTaskIDs":["\#(task.id.uuidString.lowercased())"]"#), "\(json)")
      #expect(json.contains(#""values":[{"bytes":""#), "\(json)")
      let bad = json.replacing("app.settings", with: "")
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(UndoResult.self, from: Data(bad.utf8)) }
    }
  }

  @Test(arguments: views) func aViewIsNamedByItsText(view: TaskView) throws {
    #expect(try TaskView(text: view.text) == view)
    #expect(try Self.roundTrip(view) == view)
    if view.text == view.name { #expect(TaskView(name: view.name) == view) }
  }

  @Test(arguments: [
    "", "todays", "list", "list/", "list/x", "due", "due/2026-02-30", "completed/2026-11-21T00:00:00Z", "today/1",
    "completed/2026-11-22T00:00:00Z/2026-11-21T00:00:00Z", "list/0192f0c1-2345-7abc-8def-0123456789ab/",
  ])
  func aTextThatNamesNoViewIsRefused(text: String) throws {
    #expect(throws: TallyError.self) { try TaskView(text: text) }
    #expect(TaskView(name: text) == nil)
  }

  @Test func everyViewCanBePagedByTokens() throws {
    try withStore { store in
      let seed = SeededGenerator.chooseSeed(for: "pages by tokens")
      var random = SeededGenerator(seed: seed)
      try Self.fill(store, &random)
      for view in Self.views {
        guard let whole = try? store.read({ try $0.view(view).tasks.map(\.id) }) else { continue }
        var (found, token): ([UUID], String?) = ([], nil)
        repeat {
          let position = try token.map { try ViewPosition(text: $0) }
          let page = try store.read { try $0.page(of: view, after: position, limit: 3) }
          found += page.tasks.map(\.id)
          token = page.next?.text
        } while token != nil
        #expect(found == whole, "\(view.text)")
      }
    }
  }

  /// Tokens come from outside: whatever they say, the store answers or refuses, and the view stays the view.
  @Test func aTokenThatSomebodyHasChangedDoesNoHarm() throws {
    try withStore { store in
      let seed = SeededGenerator.chooseSeed(for: "changed tokens")
      var random = SeededGenerator(seed: seed)
      try Self.fill(store, &random)
      for view in Self.views {
        guard let whole = try? store.read({ try $0.view(view).tasks.map(\.id) }) else { continue }
        for _ in 0..<200 {
          let count = Int.random(in: 0...70, using: &random)
          let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
          let prefix = UInt8.random(in: 0...6, using: &random)
          let text = Data(Array(view.text.utf8) + [0, prefix] + bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_")
          do {
            let position = try ViewPosition(text: text)
            let tasks = try store.read { try $0.page(of: view, after: position, limit: 100).tasks.map(\.id) }
            #expect(Set(tasks).isSubset(of: whole), "\(view.text) \(text), seed \(seed)")
          } catch let error as TallyError {
            #expect([.invalidToken, .valueOutOfRange, .storageFailed].contains(error.code), "\(error), seed \(seed)")
          }
        }
      }
    }
  }

  @Test(arguments: ["", "1", "1.", ".1", "1.2.3", "-1.0", "1.-1", "1.65536", "x.0", " 1.0", "99999999999999999999.0"])
  func aTextThatIsNoWriteIsRefused(text: String) {
    #expect(code { _ = try ChangeID(text: text) } == .invalidToken)
    #expect(code { _ = try StorePosition(text: text) } == .invalidToken)
  }

  @Test func anUndoWorksAfterItsTokenHasBeenKept() throws {
    try withStore { store in
      let token = try store.writeAndWait { transaction in
        try transaction.add("x", to: .inbox)
        return try #require(try transaction.changeID).text
      }
      try store.writeAndWait { try $0.undo(ChangeID(text: token)) }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  private static func fill(_ store: TaskStore, _ random: inout SeededGenerator) throws {
    try store.writeAndWait { transaction in
      for number in 0..<40 {
        let day = try transaction.today.adding(days: Int.random(in: -3...3, using: &random))
        let due = transaction.now.adding(seconds: Int64.random(in: -90_000...90_000, using: &random))
        let task = try transaction.add("\(number)") { task in
          task.scheduledDate = number % 3 == 0 ? nil : day
          task.dueDate = due
        }
        if number % 4 == 0 { try transaction.complete(task.id) }
        if number % 5 == 0 { try transaction.start(task.id) }
      }
    }
  }

  private static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(try json(value).utf8))
  }
}
