import Foundation
import Tally
import Testing

@testable import WebService

/// The tasks that a task waits for, as its sheet changes them.
struct DependencyTests {
  private static let json = ["Accept: application/json"]

  /// The titles of the tasks for which one waits.
  private func dependencies(of id: UUID, in web: RunningWeb) throws -> [String] {
    try web.store.read { transaction in
      try #require(try transaction.task(id)).dependsOn.compactMap { try transaction.task($0)?.title }.sorted()
    }
  }

  private func add(_ titles: String..., to web: RunningWeb) async throws -> [UUID] {
    try await web.store.write { transaction in try titles.map { try transaction.add($0).id } }
  }

  /// Refuses a text, and returns the sentence beside the field.
  private func refusal(of text: String, on id: UUID, in web: RunningWeb) async throws -> String {
    let before = try dependencies(of: id, in: web)
    let (path, fields) = ("/tasks/\(id.text)", [("after", text)])
    let page = try await web.post(path, fields)
    #expect((400..<500).contains(page.status), "\(page.status)")
    let spot = try #require(page.body.firstMatch(of: /id="refused-sheet-after" role="alert">([^<]*)/)).output.1
    let typed = text.replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    #expect(page.body.contains("name=\"after\" value=\"\(typed)\""), "what was typed stays")
    let script = try await web.post(path, fields, Self.json)
    #expect(script.status == page.status && script.body.contains("\"field\":\"after\""))
    #expect(try dependencies(of: id, in: web) == before)
    return String(spot)
  }

  @Test func titlesAndHandlesAreAddedOneByOneAndNamedByTheirChanges() async throws {
    try await withWeb { web in
      let ids = try await add("Sow the beans", "Dig the <b>bed</b>", "Buy seeds", "Straße", to: web)
      let path = "/tasks/\(ids[0].text)"
      let handle = try web.store.read { try $0.handle(of: ids[2]) }
      for text in ["dig THE <b>bed</b>", " Straße ", handle] {
        let old = try dependencies(of: ids[0], in: web)
        #expect(try await web.post(path, [("after", text)]).status == 303)
        #expect(try dependencies(of: ids[0], in: web).count == old.count + 1, "\(text)")
      }
      let again = try await web.post(path, [("after", "Straße"), ("was-after", "".digest)], Self.json)
      #expect(again.status == 200 && again.body.contains("Nothing has changed"))
      #expect(again.body.contains("\"name\":\"after\"") && again.body.contains("\"text\":\"\""), "the field is free")
      let page = try await web.get(path).body
      for id in ids.dropFirst() { #expect(page.contains("name=\"release\" value=\"\(id.text)\"")) }
      #expect(page.contains("Dig the &lt;b&gt;bed&lt;/b&gt;") && !page.contains("<b>"))
      #expect(page.contains("Changed “Sow the beans”; it waits for “Buy seeds”"))
      #expect(try await web.get("/inbox").body.contains("after 3 other tasks"))
      #expect(try await web.get("/next").body.contains("Sow the beans") == false, "it is blocked")
    }
  }

  @Test func taskIsRemovedAndUndoNamesBoth() async throws {
    try await withWeb { web in
      let ids = try await add("Sow", "Dig", "Buy seeds", to: web)
      try await web.store.write { transaction in
        _ = try transaction.update(ids[0]) { task in for id in ids.dropFirst() { task.dependsOn.insert(id) } }
      }
      let path = "/tasks/\(ids[0].text)"
      let removed = try await web.post(path, [("release", ids[1].text), ("notes", "typed, too")])
      let address = try #require(removed.headers["location"])
      #expect(try await web.get(address).body.contains("Changed “Sow”; it does not wait for “Dig” any more"))
      #expect(try dependencies(of: ids[0], in: web) == ["Buy seeds"])
      #expect(try web.store.read { try $0.task(ids[0])?.notes } == "typed, too", "every button saves what was typed")
      let undone = try await web.post("/undo", [], Self.json)
      #expect(undone.body.contains("Undone: Changed “Sow”; it does not wait for “Dig” any more"))
      #expect(try dependencies(of: ids[0], in: web) == ["Buy seeds", "Dig"])
      // A task that was deleted meanwhile.
      try await web.store.write { try $0.delete(ids[2]) }
      #expect(try await web.post(path, [("release", ids[2].text)]).status == 303)
      #expect(try dependencies(of: ids[0], in: web) == ["Dig"])
      #expect((400..<500).contains(try await web.post(path, [("release", "x")]).status))
    }
  }

  @Test func taskThatCannotBeWaitedForIsRefusedWithItsTitle() async throws {
    try await withWeb { web in
      let ids = try await add("Sow", "Dig <i>", "Buy seeds", to: web)
      #expect(try await refusal(of: "Sow", on: ids[0], in: web).contains("A task cannot depend on itself"))
      _ = try await web.post("/tasks/\(ids[1].text)", [("after", "Sow")])
      _ = try await web.post("/tasks/\(ids[2].text)", [("after", "Dig <i>")])
      let cycle = try await refusal(of: "Buy seeds", on: ids[0], in: web)
      let chain = "“Sow”, which depends on “Buy seeds”, which depends on “Dig &lt;i&gt;”"
      #expect(cycle.contains("The task would wait for itself: \(chain). Remove one of the dependencies"))
      let part = try await web.store.write { try $0.add("Part") { $0.parentID = ids[0] }.id }
      let above = try await refusal(of: "Sow", on: part, in: web)
      #expect(above.contains("A sub-task cannot depend on the task above it, “Sow”"))
      // The same rule where a task is put below one for which it waits.
      let nested = try await web.post(
        "/change", [("action", "nest"), ("anchor", ids[0].text), ("id", ids[1].text)], Self.json)
      #expect(nested.status == 400 && nested.body.contains("“Sow”") && !nested.body.contains(ids[0].text))
    }
  }

  @Test func textThatNamesNoTaskOrSeveralIsRefused() async throws {
    try await withWeb { web in
      let ids = try await add("Sow", "Call", "Call", "Buy oat milk", "Done before", to: web)
      let list = try await web.store.write { transaction in
        try transaction.complete(ids[4])
        let list = try transaction.addList(name: "Garden").id
        try transaction.move(ids[1], toList: list)
        return list
      }
      let handles = try web.store.read { transaction in try ids.map { try transaction.handle(of: $0) } }
      let several = try await refusal(of: "call", on: ids[0], in: web)
      #expect(several.contains("“call” matches 2 tasks. Use one of these handles"))
      #expect(several.contains("\(handles[1]) “Call” in Garden") && several.contains("\(handles[2]) “Call”"))
      #expect(try await web.post("/tasks/\(ids[0].text)", [("after", handles[2])]).status == 303)
      // On the sheet of one of the two, the other one is meant.
      #expect(try await web.post("/tasks/\(ids[1].text)", [("after", "Call")]).status == 303)
      #expect(try dependencies(of: ids[1], in: web) == ["Call"])
      // Many of one title, and one in another case, which is exactly what was typed.
      let many = try await web.store.write { transaction in
        for _ in 0..<9 { _ = try transaction.add("Weed") }
        return try transaction.add("weed").id
      }
      #expect(try await refusal(of: "WEED", on: ids[0], in: web).contains("matches more than 5 tasks"))
      #expect(try await refusal(of: "Weed", on: many, in: web).contains("matches more than 5 tasks"))
      #expect(try await web.post("/tasks/\(ids[3].text)", [("after", "weed")]).status == 303)
      #expect(try dependencies(of: ids[3], in: web) == ["weed"])
      let part = try await refusal(of: "milk", on: ids[0], in: web)
      let words = "No open task has the title or the handle “milk”. Write the whole title, such as “Buy oat milk”."
      #expect(part.contains(words))
      #expect(try await refusal(of: "Done before", on: ids[0], in: web).contains("Choose a task that is suggested"))
      #expect(try await refusal(of: "<script>x", on: ids[0], in: web).contains("“&lt;script&gt;x”"))
      #expect(try await refusal(of: String(repeating: "y", count: 20_000), on: ids[0], in: web).count < 300)
      // Deleted between the suggestion and the choice.
      try await web.store.write { try $0.delete(ids[3]) }
      #expect(try await refusal(of: "Buy oat milk", on: ids[0], in: web).contains("No open task has the title"))
      try await web.store.write { try $0.deleteList(list) }
      let gone = try await web.post("/tasks/\(UUID().text)", [("after", "Sow")])
      #expect(gone.status == 404 && gone.body.contains("Sow") && gone.body.contains("Send it again"))
    }
  }

  /// The value and the label of each option.
  private func options(in html: String) -> [String: String] {
    Dictionary(
      html.matches(of: /<option value="([^"]*)" label="([^"]*)"/).map { (String($0.output.1), String($0.output.2)) }
    ) { first, _ in first }
  }

  @Test func suggestionsNameOpenTasksThatMayBeWaitedFor() async throws {
    try await withWeb { web in
      let ids = try await add("Sow beans", "Dig \"deep\" beans", "beans", "beans", "two\nbeans", "Eat beans", to: web)
      let (waiting, done) = (try await add("Cook beans", to: web)[0], try await add("Old beans", to: web)[0])
      try await web.store.write { transaction in
        _ = try transaction.update(ids[0]) { $0.dependsOn.insert(ids[5]) }
        _ = try transaction.update(waiting) { $0.dependsOn.insert(ids[0]) }
        try transaction.complete(done)
      }
      let handles = try web.store.read { transaction in try ids.map { try transaction.handle(of: $0) } }
      let expected = [
        "Dig &quot;deep&quot; beans": handles[1], handles[2]: "beans", handles[3]: "beans", handles[4]: "two beans",
      ]
      #expect(options(in: try await web.get("/tasks/\(ids[0].text)").body) == expected, "those beside it")
      let address = "/tasks/\(ids[0].text)/suggestions?q="
      #expect(options(in: try await web.get(address + "bean").body) == expected)
      #expect(options(in: try await web.get(address + "dig").body) == ["Dig &quot;deep&quot; beans": handles[1]])
      #expect(options(in: try await web.get(address + "none").body).isEmpty)
      for text in ["-", String(repeating: "y%20", count: 300)] {
        let answer = try await web.get(address + text)
        #expect(answer.status == 200 && options(in: answer.body).isEmpty)
      }
      for value in expected.keys {
        let typed = value.replacing("&quot;", with: "\"")
        #expect(try await web.post("/tasks/\(ids[0].text)", [("after", typed)]).status == 303, "\(value)")
      }
      #expect(try await web.get("/tasks/\(UUID().text)/suggestions?q=x").status == 404)
    }
  }

  @Test func suggestionsAreFew() async throws {
    try await withWeb { web in
      let id = try await web.store.write { transaction in
        for number in 0..<200 { _ = try transaction.add("Task \(number)") }
        return try transaction.add("Last").id
      }
      #expect(options(in: try await web.get("/tasks/\(id.text)").body).count == 20)
      #expect(options(in: try await web.get("/tasks/\(id.text)/suggestions?q=task").body).count == 20)
    }
  }

  @Test(arguments: [false, true]) func repeatingTaskWaitsAlone(isForSeries: Bool) async throws {
    try await withWeb { web in
      let id = try await web.store.write { transaction in
        _ = try transaction.add("Dig")
        let today = transaction.today
        let rule = try WrittenRecurrence("every day", reference: transaction.dateReference)
        return try transaction.add("Sow") { task in
          task.scheduledDate = today
          task.recurrence = rule.recurrence
        }.id
      }
      let box = isForSeries ? [("series", "on")] : []
      #expect(try await web.post("/tasks/\(id.text)", [("after", "Dig")] + box).status == 303)
      #expect(try dependencies(of: id, in: web) == ["Dig"])
    }
  }
}
