import Foundation
import Tally
import Testing

@testable import WebService

/// A task's sheet that was open while others changed the task.
struct SheetTests {
  private static let edits: [(field: SheetField, text: String)] = [
    (.title, "elsewhere"), (.state, "active"), (.day, "2031-05-06"), (.start, "2031-05-05"), (.priority, "high"),
    (.due, "2031-05-07 12:00"),
    (.reminder, "2031-05-08 09:00; 1 day before it is due"), (.repeat, "every 2 weeks"), (.tags, "garden, wood"),
    (.notes, "two\nlines"),
  ]

  /// The fields of the form in a page, as a browser sends them.
  private static func fields(of page: String) throws -> [(String, String)] {
    let form = try #require(page.firstMatch(of: /<form class="sheet(.|\n)*?<\/form>/)).output.0
    var fields: [(String, String)] = form.matches(of: /<input[^>]* name="([^"]*)"[^>]* value="([^"]*)"/).map {
      (String($0.output.1), String($0.output.2))
    }
    fields += form.matches(of: /<textarea[^>]* name="([^"]*)"[^>]*>\n([^<]*)<\/textarea>/).map {
      (String($0.output.1), String($0.output.2).replacing("\n", with: "\r\n"))
    }
    fields += form.matches(of: /<select[^>]* name="([^"]*)">((.|\n)*?)<\/select>/).map { select in
      let chosen = select.output.2.firstMatch(of: /<option value="([^"]*)" selected>/)
      return (String(select.output.1), chosen.map { String($0.output.1) } ?? "")
    }
    return fields
  }

  private static func replacing(_ field: SheetField, by text: String, in fields: [(String, String)]) -> [(
    String, String
  )] {
    fields.map { $0.0 == field.rawValue ? ($0.0, text) : $0 }
  }

  private func texts(of id: UUID, in store: TaskStore) throws -> [SheetField: String] {
    try store.read { transaction in
      let task = try #require(try transaction.task(id))
      return Dictionary(
        uniqueKeysWithValues: SheetField.allCases.map { ($0, $0.text(of: task, transaction.dateReference)) })
    }
  }

  @Test func formHasAStampOfEveryFieldThatItShows() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("x", to: .today).id }
      let names = Set(try Self.fields(of: try await web.get("/tasks/\(id.text)").body).map(\.0))
      for field in SheetField.allCases {
        #expect(names.isSuperset(of: [field.rawValue, field.stampName]), "\(field)")
      }
    }
  }

  /// Each field is changed elsewhere while a sheet is open on which another one is changed.
  @Test func oldSheetPutsNothingBackThatItDidNotChange() async throws {
    try await withWeb { web in
      let list = try await web.store.write { try $0.addList(name: "Work").id }
      for (field, text) in Self.edits + [(.list, list.text)] {
        let id = try await web.store.write { try $0.add("x", to: .inbox).id }
        let old = try Self.fields(of: try await web.get("/tasks/\(id.text)").body)
        let elsewhere = try await web.post("/tasks/\(id.text)", [(field.rawValue, text)])
        #expect(elsewhere.status == 303, "\(field)")
        let other: SheetField = field == .notes ? .priority : .notes
        let own = other == .notes ? "mine" : "low"
        let saved = try await web.post("/tasks/\(id.text)", Self.replacing(other, by: own, in: old))
        #expect(saved.status == 303, "\(field)")
        let now = try texts(of: id, in: web.store)
        #expect(now[field] == text && now[other] == own, "\(field)")
      }
    }
  }

  @Test func fieldThatBothChangedIsAskedAboutAndNothingIsWrittenMeanwhile() async throws {
    try await withWeb { web in
      for (field, text) in Self.edits {
        let id = try await web.store.write { try $0.add("x", to: .inbox).id }
        let path = "/tasks/\(id.text)"
        let old = try Self.fields(of: try await web.get(path).body)
        let mine = field == .state ? "completed" : field == .priority ? "low" : field == .tags ? "mine" : "mine 2"
        let own =
          [.day, .start, .due, .reminder].contains(field) ? "2032-01-02" : field == .repeat ? "every day" : mine
        _ = try await web.post(path, [(field.rawValue, text)])
        let before = try texts(of: id, in: web.store)
        let answer = try await web.post(path, Self.replacing(field, by: own, in: old))
        #expect(answer.status == 409 && answer.body.contains("name=\"\(field.rawValue)\" value=\"\(own)\""), "\(field)")
        #expect(try texts(of: id, in: web.store) == before)
        #expect(
          try await web.post(path, Self.replacing(field, by: own, in: old), ["Accept: application/json"]).status == 409)
        // The page's form, with the person's own value.
        let stamps = answer.body.matches(of: /name="(was-[a-z]*)" value="([^"]*)"/).map {
          (String($0.output.1), String($0.output.2))
        }
        #expect(stamps.count == SheetField.allCases.count)
        #expect(try await web.post(path, stamps + [(field.rawValue, text)]).status == 303)
        #expect(try texts(of: id, in: web.store) == before)
        #expect(try await web.post(path, stamps + [(field.rawValue, own)]).status == 303)
        #expect(try texts(of: id, in: web.store)[field] != before[field], "\(field)")
      }
    }
  }

  @Test func sameChangeOnBothSidesIsNoConflict() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("x", to: .inbox).id }
      let old = try Self.fields(of: try await web.get("/tasks/\(id.text)").body)
      _ = try await web.post("/tasks/\(id.text)", [("title", "same")])
      #expect(try await web.post("/tasks/\(id.text)", Self.replacing(.title, by: "same", in: old)).status == 303)
    }
  }
}
