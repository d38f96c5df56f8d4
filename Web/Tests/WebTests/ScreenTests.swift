import Foundation
import SystemPackage
import Tally
import TallySync
import Testing

@testable import WebService

/// The screens as a browser without scripts uses them.
struct ScreenTests {
  /// Captures a sentence, and follows the way back.
  private func capture(_ text: String, at place: String, in web: RunningWeb) async throws -> Exchange {
    let answer = try await web.post("/capture", [("text", text), ("place", place), ("back", "/inbox")])
    #expect(answer.status == 303, "\(answer)")
    return try await web.get(answer.headers["location"] ?? "")
  }

  private func task(_ title: String, in web: RunningWeb) throws -> TaskItem {
    try #require(try web.store.read { try $0.view(.all) }.tasks.first { $0.title == title })
  }

  @Test func sentenceGoesWhereItWasCapturedUnlessItSaysElse() async throws {
    try await withWeb { web in
      let (work, today) = (try await web.store.write { try $0.addList(name: "Work") }, try web.store.read { $0.today })
      _ = try await capture("Plain", at: "today", in: web)
      #expect(try task("Plain", in: web).scheduledDate == today)
      _ = try await capture("Later tomorrow #home !high", at: "today", in: web)
      let later = try task("Later", in: web)
      #expect(try later.scheduledDate == today.adding(days: 1) && later.priority == .high && later.tags == ["home"])
      _ = try await capture("Listed", at: "list:\(work.id.text)", in: web)
      #expect(try task("Listed", in: web).listID == work.id)
      _ = try await capture("Elsewhere list:Work", at: "inbox", in: web)
      #expect(try task("Elsewhere", in: web).listID == work.id)
      _ = try await capture("Tagged", at: "tag:garden", in: web)
      #expect(try task("Tagged", in: web).tags == ["garden"])
      _ = try await web.post("/capture", [("text", "Call tomorrow"), ("place", "inbox"), ("literal", "yes")])
      #expect(try task("Call tomorrow", in: web).scheduledDate == nil)
      #expect(try await web.post("/capture", [("text", " "), ("place", "inbox")]).status == 400)
      #expect(try await web.post("/capture", [("text", "x"), ("place", "nowhere")]).status == 400)
    }
  }

  @Test func noticeSaysWhatChangedAndUndoesIt() async throws {
    try await withWeb { web in
      let page = try await capture("Pay rent", at: "inbox", in: web)
      #expect(page.body.contains("Added “Pay rent”") && page.body.contains("action=\"/undo\""))
      let change = String(page.body.firstMatch(of: /name="change" value="([^"]*)"/)?.output.1 ?? "")
      let undone = try await web.post("/undo", [("change", change), ("back", "/inbox")])
      #expect(undone.status == 303)
      #expect(try web.store.read { try $0.taskCount } == 0)
      #expect(try await web.post("/redo", [("back", "/inbox")]).status == 303)
      #expect(try web.store.read { try $0.taskCount } == 1)
      #expect(try await web.post("/undo", [("change", "999.0")]).status == 409)
    }
  }

  /// The button of an old page does what it said, and not the opposite, when it is pressed again.
  @Test func circleCompletesAndReopens() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("x", to: .today).id }
      for state in [TaskState.completed, .notStarted] {
        let page = try await web.get("/today").body
        let button = try #require(page.firstMatch(of: /<button class="state" name="(\w+)" value="([^"]*)"/)).output
        for _ in 0..<2 {
          let pressed = try await web.post("/change", [(String(button.1), String(button.2)), ("back", "/today")])
          #expect(pressed.status == 303)
          #expect(try web.store.read { try $0.task(id)?.state } == state)
        }
      }
      // A cancelled task is among the closed ones, and its circle reopens it.
      try await web.store.write { _ = try $0.cancel(id) }
      #expect(try await web.get("/today").body.contains("name=\"reopen\" value=\"\(id.text)\" aria-label=\"Cancelled"))
      for (action, state) in [
        ("start", TaskState.active), ("complete", .completed), ("reopen", .notStarted), ("cancel", .cancelled),
        ("complete", .completed), ("cancel", .completed),
      ] {
        #expect(try await web.post("/change", [("action", action), ("id", id.text)]).status == 303)
        #expect(try web.store.read { try $0.task(id)?.state } == state)
      }
    }
  }

  /// A row is dropped between those of a day: it is planned for that day, and stands there.
  @Test func droppedTaskTakesTheDayOfItsPlace() async throws {
    try await withWeb { web in
      let ids = try await web.store.write { transaction in
        let list = try transaction.addList(name: "Work").id
        let first = try transaction.add("one", to: .today) { $0.listID = list }.id
        let second = try transaction.add("two", to: .today).id
        return [first, second, try transaction.add("late") { $0.listID = list }.id]
      }
      let today = try web.store.read { $0.today }
      let fields = [("action", "before"), ("anchor", ids[1].text), ("day", today.iso8601), ("id", ids[2].text)]
      #expect(try await web.post("/change", fields).status == 303)
      #expect(try web.store.read { try $0.view(.today).tasks.map(\.title) } == ["one", "late", "two"])
      #expect(try web.store.read { try $0.history(limit: 1).count } == 1)
      _ = try await web.store.write { try $0.undo() }
      #expect(try web.store.read { try $0.task(ids[2])?.scheduledDate } == nil, "one step")
    }
  }

  @Test func selectedTasksChangeAsOneStep() async throws {
    try await withWeb { web in
      let ids = try await web.store.write { transaction in
        try ["one", "two", "three"].map { try transaction.add($0, to: .today).id }
      }
      func change(_ fields: [(String, String)]) async throws -> Int {
        try await web.post("/change", fields + ids.prefix(2).map { ("id", $0.text) }).status
      }
      func titles(_ view: TaskView) throws -> [String] { try web.store.read { try $0.view(view).tasks.map(\.title) } }
      #expect(try await change([("action", "after"), ("anchor", ids[2].text)]) == 303)
      #expect(try titles(.today) == ["three", "one", "two"])
      #expect(try await change([("action", "before"), ("anchor", ids[2].text)]) == 303)
      #expect(try titles(.today) == ["one", "two", "three"])
      #expect(try await change([("action", "plan"), ("day", "2031-05-06")]) == 303)
      #expect(try titles(.today) == ["three"] && titles(.upcoming) == ["one", "two"])
      #expect(try await change([("action", "unplan")]) == 303)
      #expect(try titles(.inbox) == ["one", "two"])
      let list = try await web.store.write { try $0.addList(name: "Work").id }
      #expect(try await change([("action", "list"), ("list", list.text)]) == 303)
      #expect(try titles(.list(list)) == ["one", "two"])
      #expect(try await change([("action", "plan"), ("day", "2031-05-06")]) == 303)
      #expect(try await change([("action", "inbox")]) == 303)
      #expect(try titles(.inbox) == ["one", "two"] && titles(.list(list)).isEmpty)
      #expect(try await change([("action", "list"), ("list", list.text)]) == 303)
      #expect(try await change([("action", "delete")]) == 303)
      #expect(try titles(.all) == ["three"])
      try await web.store.write { try $0.undo() }
      #expect(try titles(.list(list)) == ["one", "two"])
      #expect(try await change([("action", "explode")]) == 400)
      #expect(try await web.post("/change", [("action", "today")]).status == 400)
      #expect(try await web.post("/change", [("action", "today"), ("id", "x")]).status == 400)
    }
  }

  @Test func taskBecomesAPartOfAnotherAndComesOutAgain() async throws {
    try await withWeb { web in
      let ids = try await web.store.write { transaction in
        try ["house", "books", "box"].map { try transaction.add($0, to: .today).id }
      }
      func change(_ id: UUID, _ fields: [(String, String)]) async throws -> Int {
        try await web.post("/change", fields + [("id", id.text)]).status
      }
      func parent(of id: UUID) throws -> UUID? { try web.store.read { try $0.task(id)?.parentID } }
      #expect(try await change(ids[1], [("action", "nest"), ("anchor", ids[0].text)]) == 303)
      #expect(try await change(ids[2], [("action", "nest"), ("anchor", ids[1].text)]) == 303)
      #expect(try parent(of: ids[1]) == ids[0] && parent(of: ids[2]) == ids[1])
      // A task cannot be a part of its own part.
      #expect(try await change(ids[0], [("action", "nest"), ("anchor", ids[2].text)]) == 400)
      #expect(try await change(ids[1], [("action", "nest")]) == 400)
      for expected in [ids[0], nil, nil] {
        #expect(try await change(ids[2], [("action", "unnest")]) == 303)
        #expect(try parent(of: ids[2]) == expected)
      }
    }
  }

  @Test func sheetKeepsWhatItIsNotAskedToChange() async throws {
    try await withWeb { web in
      let due = try Timestamp(iso8601: "2031-05-07T08:09:10.123456Z")
      let task = try await web.store.write { transaction in
        try transaction.add("one\r\ntwo", to: .today) {
          $0.notes = "a\nb"
          $0.dueDate = due
          $0.reminderDate = due
          $0.recurrence = try Recurrence(phrase: "every month")
          $0.tags = ["home"]
          $0.attributes = ["effort": 3]
        }
      }
      let page = try await web.get("/tasks/\(task.id.text)")
      let inputs = page.body.matches(of: /name="(due|reminder|repeat|tags|day)" value="([^"]*)"/)
      let fields = inputs.map { (String($0.output.1), String($0.output.2)) }
      #expect(fields.count == 5)
      let texts = [
        ("title", "one\r\ntwo"), ("notes", "a\r\nb"), ("state", "notStarted"), ("list", ""), ("priority", "none"),
      ]
      let saved = try await web.post("/tasks/\(task.id.text)", fields + texts)
      #expect(saved.status == 303 && saved.headers["location"] == "/tasks/\(task.id.text)", "nothing has changed")
      #expect(try web.store.read { try $0.task(task.id) } == task)
      let cleared = try await web.post(
        "/tasks/\(task.id.text)",
        [("due", ""), ("reminder", ""), ("repeat", ""), ("tags", ""), ("day", ""), ("notes", " ")])
      #expect(cleared.status == 303)
      let bare = try #require(try web.store.read { try $0.task(task.id) })
      #expect(bare.title == task.title && bare.attributes == task.attributes)
      #expect(bare.dueDate == nil && bare.reminderDate == nil && bare.recurrence == nil && bare.tags.isEmpty)
      #expect(bare.scheduledDate == nil && bare.notes == nil)
      for wrong in [("due", "frday"), ("repeat", "sometimes"), ("day", "x"), ("priority", "x"), ("state", "x")] {
        #expect(try await web.post("/tasks/\(task.id.text)", [wrong]).status == 400, "\(wrong)")
      }
      #expect(try web.store.read { try $0.task(task.id) } == bare)
    }
  }

  @Test func listsAreCreatedOrderedChangedAndDeletedWithTheirTasks() async throws {
    try await withWeb { web in
      for name in ["One", "Two"] { _ = try await web.post("/lists", [("name", name), ("color", "#ff9500")]) }
      var lists = try web.store.read { try $0.lists() }
      #expect(lists.map(\.name) == ["One", "Two"] && lists.map(\.colorHex) == ["FF9500", "FF9500"])
      let path = "/lists/\(lists[1].id.text)"
      _ = try await web.post(path, [("action", "up")])
      _ = try await web.post(path, [("action", "up")])
      _ = try await web.post(path, [("action", "edit"), ("name", "Second"), ("color", "#34c759")])
      lists = try web.store.read { try $0.lists() }
      #expect(lists.map(\.name) == ["Second", "One"] && lists[0].colorHex == "34C759")
      try await web.store.write { [id = lists[0].id] in _ = try $0.add("x") { $0.listID = id } }
      #expect(try await web.post(path, [("action", "delete")]).status == 303)
      #expect(try web.store.read { (try $0.listCount, try $0.taskCount) } == (1, 0))
      #expect(try await web.get(path).status == 404)
    }
  }

  @Test func rowsComeInWindowsOfOneVersion() async throws {
    try await withWeb { web in
      try await web.store.write { transaction in
        for number in 0..<250 { try transaction.add("task \(number)", to: .today) }
      }
      let page = try await web.get("/today")
      #expect(page.body.matches(of: /<li class="row/).count == 100 && page.body.contains("150 more"))
      let rest = try await web.get("/today?from=200")
      #expect(rest.body.matches(of: /<li class="row/).count == 50 && rest.body.contains("task 249"))
      let rows = try await web.get("/rows?view=today&from=100&count=500")
      #expect(rows.status == 200 && rows.body.contains("task 100") && !rows.body.contains("task 99<"))
      for wrong in ["view=today&from=-1", "view=today&count=0", "view=nothing", "", "view=today&from=x"] {
        #expect(try await web.get("/rows?\(wrong)").status == 400, "\(wrong)")
      }
      #expect(try await web.get("/rows?view=today&from=9999999").status == 200)
    }
  }

  @Test func documentIsExportedAndImportedWhole() async throws {
    try await withWeb { web in
      try await web.store.write { _ = try $0.add("Exported", to: .today) }
      let document = try await web.get("/export?format=ndjson")
      #expect(document.headers["content-disposition"]?.contains("attachment; filename=\"Tally-Tasks") == true)
      #expect(document.body.contains("Exported"))
      _ = try await web.store.write { try $0.undo() }
      let imported = try await web.post("/import-text", [("text", "- [ ] From a text\n"), ("format", "markdown")])
      #expect(imported.status == 200 && imported.body.contains("1 task added"))
      #expect(imported.body.contains("action=\"/undo\""), "the notice undoes it")
      let streamed = try await web.postDocument("- [ ] From a file\n", "/import?format=markdown")
      let change = String(streamed.body.firstMatch(of: /"change":"([^"]*)"/)?.output.1 ?? "")
      #expect(try await web.post("/undo", [("change", change), ("back", "/transfer")]).status == 303)
      #expect(try web.store.read { try $0.view(.all).tasks.map(\.title) } == ["From a text"])
      let dry = try await web.post("/import-text", [("text", "- [ ] x\n"), ("format", "markdown"), ("dry", "yes")])
      #expect(dry.body.contains("Nothing is changed yet") && !dry.body.contains("action=\"/undo\""))
      let broken = try await web.post("/import-text", [("text", "{\"tasks\":["), ("format", "json")])
      #expect(broken.status == 400)
      #expect(try web.store.read { try $0.taskCount } == 1)
      #expect(try await web.get("/export?format=none").status == 400)
    }
  }

  @Test(arguments: [
    "/none", "/tasks/00000000-0000-7000-8000-000000000000", "/lists/00000000-0000-7000-8000-000000000000",
    "/filter?name=x",
  ])
  func addressOfNothingIsAScreenThatSaysSo(path: String) async throws {
    try await withWeb { web in
      let answer = try await web.get(path)
      #expect(answer.status == 404 && answer.headers["content-type"]?.hasPrefix("text/html") == true)
      let failure = try await web.get(path, ["Accept: application/json"])
      #expect(failure.status == 404 && failure.body.contains("\"remedy\""))
    }
  }

  @Test func historyNamesTheDeviceOfEachChangeFromElsewhere() async throws {
    try await withTemporaryDirectory { directory in
      let shared = directory.appending("shared")
      try FileManager.default.createDirectory(atPath: shared.string, withIntermediateDirectories: false)
      let stores = try ["first", "second", "third"].map { try TaskStore(at: directory.appending($0)) }
      let setup = try await StoreSync(stores[0]).setUp(in: shared, deviceName: "laptop")
      // Two of one name are told apart.
      for store in stores[1...] {
        try await StoreSync(store).join(setup.invitation, in: shared, deviceName: "<b>phone")
      }
      for (store, title) in zip(stores, ["own", "one", "two"]) { try await store.write { try $0.add(title) } }
      for _ in 0..<2 {
        for store in stores { _ = try await StoreSync(store).synchronize() }
      }
      let handles = try await StoreSync(stores[0]).members().filter { $0.name == "<b>phone" }.map(\.handle)
      try await withWeb(store: stores[0]) { web in
        let body = try await web.get("/history").body
        let items = body.matches(of: /<li class="card[^"]*"[^>]*>(.*?)<\/li>\n/.dotMatchesNewlines()).map {
          String($0.1)
        }
        let authors = items.flatMap { $0.matches(of: #/ · by <bdi>([^<]*)</bdi>/#).map { String($0.1) } }
        #expect(Set(authors) == Set(handles.map { "&lt;b&gt;phone (\($0))" }) && handles.count == 2, "\(items)")
        for item in items where item.contains("“own”") { #expect(!item.contains(" · ")) }
        // So does the sheet of each task.
        for (title, isOwn) in [("own", true), ("one", false)] {
          let sheet = try await web.get("/tasks/\(try task(title, in: web).id.text)").body
          #expect(sheet.contains("“\(title)”") && sheet.contains("by <bdi>&lt;b&gt;phone (") == !isOwn, "\(title)")
        }
        // The devices of the space have the same names on their screen.
        let devices = try await web.get("/sync").body
        for handle in handles { #expect(devices.contains("<bdi>&lt;b&gt;phone (\(handle))</bdi>")) }
      }
      for store in stores {
        #expect(try store.verify().isSound)
        try store.close()
      }
    }
  }
}
