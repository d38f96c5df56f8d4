import Foundation
import Tally
import Testing

@testable import WebService

/// Forms that come again, and forms that are refused.
struct FormTests {
  private static let json = ["Accept: application/json"]

  /// Each form that adds or changes something relative to what there is.
  private static let forms: [(path: String, fields: [(String, String)])] = [
    ("/capture", [("text", "Milk"), ("place", "inbox")]),
    ("/capture", [("text", "Milk today #home"), ("place", "today")]),
    ("/lists", [("name", "Work"), ("color", "#007aff")]), ("/lists/LIST", [("action", "down")]),
    ("/tasks/TASK", [("after", "other")]), ("/tasks/TASK", [("subtask", "A part")]),
    ("/tasks/TASK", [("notes", "typed"), ("subtask", "A part")]),
    ("/undo", []), ("/import-text", [("text", "- [ ] imported"), ("format", "markdown")]),
    ("/change", [("action", "nest"), ("anchor", "TASK"), ("id", "OTHER")]),
  ]

  @Test(arguments: forms.indices, [false, true])
  func formIsTakenOnceHoweverOftenItComes(index: Int, isAtOnce: Bool) async throws {
    try await withWeb { web in
      let (list, task, other) = try await web.store.write { transaction in
        let list = try transaction.addList(name: "One").id
        for name in ["Two", "Three"] { _ = try transaction.addList(name: name) }
        return (list, try transaction.add("task").id, try transaction.add("other").id)
      }
      _ = try await web.store.write { try $0.add("last") }
      func filled(_ text: String) -> String {
        text.replacing("LIST", with: list.text).replacing("TASK", with: task.text).replacing("OTHER", with: other.text)
      }
      let form = Self.forms[index]
      let fields = form.fields.map { ($0.0, filled($0.1)) } + [("key", UUID().text)]
      let before = try web.store.read { try $0.history(limit: 50).count }
      var answers: [Exchange] = []
      if isAtOnce {
        try await withThrowingTaskGroup { group in
          for _ in 0..<4 { group.addTask { try await web.post(filled(form.path), fields) } }
          for try await answer in group { answers.append(answer) }
        }
      } else {
        for _ in 0..<4 { answers.append(try await web.post(filled(form.path), fields)) }
      }
      #expect(answers.allSatisfy { $0.status < 400 })
      #expect(Set(answers.map { $0.headers["location"] }).count == 1, "each gets the answer of the first")
      #expect(try web.store.read { try $0.history(limit: 50).count } == before + 1)
      let scripted = fields.dropLast() + [("key", UUID().text)]
      let first = try await web.post(filled(form.path), Array(scripted), Self.json)
      #expect(try await web.post(filled(form.path), Array(scripted), Self.json).body == first.body)
    }
  }

  @Test func formWithAnotherKeyOrOtherFieldsIsAnotherOne() async throws {
    try await withWeb { web in
      let keys = [UUID().text, UUID().text]
      for (key, text) in [(keys[0], "Milk"), (keys[1], "Milk"), (keys[0], "Bread"), (keys[0], "Milk")] {
        _ = try await web.post("/capture", [("text", text), ("place", "inbox"), ("key", key)])
      }
      _ = try await web.post("/capture", [("text", "Milk"), ("place", "inbox")])
      let titles = try web.store.read { try $0.view(.all).tasks.map(\.title) }
      #expect(titles == ["Milk", "Milk", "Bread", "Milk"])
    }
  }

  /// The program that knew the answer has ended: the id of what was added says it.
  @Test func formIsTakenOnceByTwoPrograms() async throws {
    let keys = (0..<3).map { _ in UUID().text }
    try await withWeb { web in
      let task = try await web.store.write { try $0.add("task").id }
      let forms: [(String, [(String, String)])] = [
        ("/capture", [("text", "Milk tomorrow"), ("place", "inbox"), ("key", keys[0])]),
        ("/lists", [("name", "Work"), ("key", keys[1])]),
        ("/tasks/\(task.text)", [("subtask", "A part"), ("key", keys[2])]),
      ]
      for (path, fields) in forms { #expect(try await web.post(path, fields).status == 303) }
      let counts = try web.store.read { (try $0.taskCount, try $0.listCount) }
      try await withWeb(store: web.store) { (second: RunningWeb) async throws -> Void in
        for (path, fields) in forms { #expect(try await second.post(path, fields).status == 303) }
        #expect(try second.store.read { (try $0.taskCount, try $0.listCount) } == counts)
      }
    }
  }

  @Test func refusedFormCanBeSentAgainWithItsKey() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("x").id }
      let key = ("key", UUID().text)
      #expect(try await web.post("/tasks/\(id.text)", [("due", "frday"), key]).status == 400)
      #expect(try await web.post("/tasks/\(id.text)", [("due", "2031-05-07"), key]).status == 303)
      #expect(try await web.post("/undo", [("change", "999.0"), key]).status == 409)
      #expect(try web.store.read { try $0.task(id)?.dueDay?.iso8601 } == "2031-05-07")
    }
  }

  /// Path, fields, and the field beside which the sentence stands.
  private static let refusals: [(path: String, fields: [(String, String)], field: String)] = [
    ("/capture", [("text", " "), ("place", "inbox"), ("back", "/today")], "text"),
    ("/capture", [("text", "Milk"), ("place", "nowhere"), ("back", "/upcoming")], ""),
    ("/lists", [("name", " "), ("color", "#ff9500")], "name"),
    ("/lists", [("name", "A name"), ("color", "red")], "color"),
    ("/lists/LIST", [("name", " "), ("color", "#ff9500"), ("back", "/lists/LIST")], "name"),
    ("/filters", [("name", "A name"), ("text", "due<frday")], "text"),
    ("/filters", [("name", " "), ("text", "#home")], "name"),
    ("/filters", [("name", "A name"), ("text", "list:Nowhere")], "text"),
    ("/settings", [("day-start", "13:00"), ("appearance", "dark")], "day-start"),
    ("/tag", [("name", "home"), ("new", "a,b"), ("back", "/tag?name=home")], "new"),
    ("/import-text", [("text", "{\"tasks\":["), ("format", "json")], "text"),
    ("/change", [("action", "plan"), ("day", "frday"), ("id", "TASK"), ("back", "/inbox")], "day"),
    ("/change", [("action", "list"), ("list", ""), ("id", "TASK"), ("back", "/inbox")], "list"),
    ("/change", [("action", "today"), ("back", "/inbox")], ""),
    ("/undo", [("change", "999.0"), ("back", "/inbox")], ""),
    ("/undo", [("change", "x"), ("back", "/history")], ""), ("/redo", [("back", "/history")], ""),
    ("/tasks/TASK", [("due", "frday"), ("notes", "some notes")], "due"),
    ("/tasks/TASK", [("reminder", "frday"), ("due", "2031-05-07")], "reminder"),
    ("/tasks/TASK", [("repeat", "sometimes"), ("subtask", "a part")], "repeat"),
    ("/tasks/TASK", [("day", "frday")], "day"),
    ("/tasks/TASK", [("after", "nothing of this name"), ("notes", "some notes")], "after"),
    ("/tasks/TASK", [("title", " "), ("notes", "some notes")], "title"),
    ("/tasks/TASK", [("tags", "\(String(repeating: "x", count: 65))"), ("notes", "some notes")], "tags"),
    ("/tasks/TASK", [("priority", "none at all"), ("notes", "some notes")], "priority"),
    ("/tasks/TASK", [("list", "00000000-0000-7000-8000-000000000000"), ("notes", "some notes")], "list"),
    ("/sync/conflicts", [("conflict", "x")], ""), ("/sync/trash", [("id", "x")], ""),
  ]

  @Test(arguments: refusals.indices) func refusedFormStaysWithTheSentence(index: Int) async throws {
    try await withWeb { web in
      let (list, task) = try await web.store.write { transaction in
        (try transaction.addList(name: "One").id, try transaction.add("task") { $0.tags.insert("home") }.id)
      }
      func filled(_ text: String) -> String {
        text.replacing("LIST", with: list.text).replacing("TASK", with: task.text)
      }
      let refusal = Self.refusals[index]
      let fields = refusal.fields.map { ($0.0, filled($0.1)) }
      let before = try web.store.read { try $0.history(limit: 10).count }
      let page = try await web.post(filled(refusal.path), fields)
      #expect((400..<500).contains(page.status), "\(page.status)")
      #expect(page.body.contains("<nav class=\"tabs\"") && page.body.contains("role=\"alert\""), "a screen with words")
      #expect(!page.body.contains("Bad Request") && !page.body.contains("Go back"))
      for (name, value) in fields where !["action", "back", "change", "conflict", "id", "place"].contains(name) {
        let shown = value.replacing("\"", with: "&quot;").replacing("<", with: "&lt;").lowercased()
        if name == "list" || name == "priority" || value.allSatisfy(\.isWhitespace) { continue }
        #expect(page.body.lowercased().contains(shown), "\(name)")
      }
      if !refusal.field.isEmpty {
        let spot = try #require(page.body.firstMatch(of: /id="(refused-[^"]*)" role="alert">([^<]*)/)).output
        #expect(spot.1.hasSuffix("-\(refusal.field)") && spot.2.count > 10)
        #expect(page.body.contains("aria-invalid=\"true\""))
        let words = try await web.post(filled(refusal.path), fields, Self.json)
        if !refusal.path.hasPrefix("/sync") { #expect(words.body.contains("\"field\":\"\(refusal.field)\"")) }
      }
      #expect(try web.store.read { try $0.history(limit: 10).count } == before, "nothing was written")
    }
  }

  @Test(arguments: [
    ("/find?q=due%3Cfrday", "q"), ("/find?q=list:Nowhere", "q"), ("/statistics?from=frday", "from"),
    ("/statistics?filter=due%3Cfrday", "filter"), ("/statistics?filter=list:Nowhere", "filter"),
    ("/statistics?goal=many", "goal"), ("/statistics?by=century", "by"), ("/statistics?list=x", "list"),
    ("/export?filter=due%3Cfrday", "filter"), ("/tag?name=", ""), ("/filter?name=x", ""), ("/done?hour=99", ""),
    ("/done?of=none", ""), ("/today?from=-1", ""), ("/lists/x", ""), ("/tasks/x", ""), ("/none", ""),
  ])
  func refusedAddressIsAScreenWithTheSentence(path: String, field: String) async throws {
    try await withWeb { web in
      let page = try await web.get(path)
      #expect((400..<500).contains(page.status) && page.body.contains("<nav class=\"tabs\""))
      #expect(page.body.contains("role=\"alert\"") && !page.body.contains("Bad Request"))
      guard !field.isEmpty else { return }
      let spot = try #require(page.body.firstMatch(of: /id="(refused-[^"]*)" role="alert">/)).output
      #expect(spot.1.hasSuffix("-\(field)"))
    }
  }

  /// Its screen is gone, too: what was typed is on the page.
  @Test func formOfAScreenThatIsGoneIsGivenBack() async throws {
    try await withWeb { web in
      let list = try await web.store.write { try $0.addList(name: "One").id }
      _ = try await web.store.write { try $0.deleteList(list) }
      let path = "/lists/\(list.text)"
      let page = try await web.post("/capture", [("text", "Milk <b>"), ("place", "list:\(list.text)"), ("back", path)])
      #expect(page.status == 404 && page.body.contains("Milk &lt;b&gt;") && page.body.contains("Send it again"))
      let sheet = try await web.post("/tasks/\(UUID().text)", [("notes", "long notes"), ("action", "delete")])
      #expect(sheet.status == 404 && sheet.body.contains("long notes"))
    }
  }

  /// Of a browser that no longer has access: the form is given back, and nothing of the store.
  @Test func formOfAnExpiredVisitIsGivenBack() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("Secret").id }
      let form = "notes=typed+%3Cb%3E&title=x"
      let page = try await Exchange(
        web.port, "POST /tasks/\(id.text)",
        [
          "Host: \(web.host)", "Cookie: tally-\(web.port)=old", "Origin: http://\(web.host)",
          "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)",
        ], body: form)
      #expect(page.status == 401 && page.body.contains("typed &lt;b&gt;") && page.body.contains("Send it again"))
      #expect(!page.body.contains("Secret"))
    }
  }

  @Test func questionBeforeAnUndoSaysWhatCannotBeRedone() async throws {
    try await withWeb { web in
      _ = try await web.store.write { try $0.add("small") }
      _ = try await web.store.write { try $0.add(String(repeating: "x", count: 9 << 20)) }
      let question = try await web.post("/undo", [("back", "/inbox")])
      #expect(question.status == 409 && question.body.contains("cannot be redone"))
      #expect(
        question.body.contains("Everything else can still be undone") && !question.body.contains("nor any earlier"))
      #expect(try await web.post("/undo", [("back", "/inbox")], Self.json).body.contains("cannot be redone"))
      #expect(try await web.post("/undo", [("back", "/inbox"), ("confirmed", "yes")]).status == 303)
      #expect(try await web.post("/undo", [("back", "/inbox")]).status == 303, "what came before")
      #expect(try web.store.read { try $0.taskCount } == 0)
    }
  }

  /// Whatever button is pressed, what was typed is saved.
  @Test func sheetWithoutScriptsLosesNothing() async throws {
    try await withWeb { web in
      let (id, part) = try await web.store.write { transaction in
        let id = try transaction.add("x").id
        return (id, try transaction.add("part") { $0.parentID = id }.id)
      }
      let path = "/tasks/\(id.text)"
      for (button, number) in [("action=subtask", 1), ("complete=\(part.text)", 2), ("none=", 3)] {
        let pressed = button.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        let fields = [("notes", "notes \(number)"), ("subtask", "new \(number)"), (pressed[0], pressed[1])]
        #expect(try await web.post(path, fields).status == 303)
        let (notes, titles) = try web.store.read { transaction in
          (try transaction.task(id)?.notes, try transaction.subtasks(of: id).map(\.title))
        }
        #expect(notes == "notes \(number)" && titles.contains("new \(number)") && titles.count == number + 1)
      }
      #expect(try web.store.read { try $0.task(part)?.state } == .completed)
      #expect(try await web.post(path, [("notes", "at last"), ("action", "delete")]).status == 303)
      #expect(try web.store.read { try $0.taskCount } == 0)
      _ = try await web.store.write { try $0.undo() }
      #expect(try web.store.read { try $0.task(id)?.notes } == "at last")
    }
  }
}
