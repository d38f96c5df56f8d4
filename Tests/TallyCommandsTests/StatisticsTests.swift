import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// `tally stats`, its page, and the tasks behind its numbers.
@Suite struct StatisticsTests {
  @Test(arguments: [40, 80, 120])
  func reportFitsTheTerminal(columns: Int) throws {
    try withHistory { program in
      var transcript = Transcript(program)
      try transcript.run("stats", columns: columns)
      try transcript.run("stats", "--by", "week", "--list", "work", "--week-start", "sunday", columns: columns)
      try transcript.run(
        "stats", "--by", "month", "--from", "2026-01-01", "--to", "today", "--day-start", "04:00", "--as-recorded",
        columns: columns)
      try transcript.check("statistics-\(columns)")
      for line in transcript.text.split(separator: "\n") where line.hasPrefix("| ") {
        #expect(line.dropFirst(2).reduce(0) { $0 + ($1 == "家" ? 2 : 1) } <= columns, "\(line)")
      }
    }
  }

  @Test func programsGetJSONAndRecords() throws {
    try withHistory { program in
      var transcript = Transcript(program)
      try transcript.run("stats", "--json", "--from", "friday", "--to", "today")
      try transcript.run("stats", "--plain", "--by", "month")
      try transcript.run(
        "stats", "--json", "--quiet", "--list", "Work", "--by", "week", "--now", "2025-01-01T00:00:00Z")
      try transcript.check("statistics-formats")
    }
  }

  @Test func errorsSayWhatIsWrongAndWhatToDo() throws {
    try withProgram { program in
      try Fixture.fill(program)
      var transcript = Transcript(program)
      try transcript.run("stats", "--list", "Wrok")
      try transcript.run("stats", "--list", "0b9a8f30-0000-4000-8000-000000000000")
      try transcript.run("stats", "--from", "2026-11-21", "--to", "2026-11-01")
      try transcript.run("stats", "--from", "2026-02-30")
      try transcript.run("stats", "--from", "0001-01-01")
      try transcript.run("stats", "--day-start", "24:00")
      try transcript.run("stats", "--by", "year")
      try transcript.run("stats", "--html", "nowhere/page.html")
      try transcript.run("stats", "--html", "-", "--json")
      try transcript.run("stats", "--list", "Nowhere", "--json")
      try transcript.check("statistics-errors")
    }
  }

  @Test func storeWithoutCompletionsHasNoDataYet() throws {
    try withProgram { program in
      var transcript = Transcript(program)
      try transcript.run("stats")
      try transcript.run("stats", "--quiet")
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
      try transcript.run("add", "Buy", "milk", "--quiet")
      try transcript.run("stats", "--html", "page.html")
      try transcript.run("stats")
      try transcript.check("statistics-empty")
    }
  }

  @Test func readingLeavesTheStoreAsItIs() throws {
    try withHistory { program in
      let file = URL(filePath: program.store.appending("data.mdb").string)
      let before = try Data(contentsOf: file)
      for arguments in [["stats"], ["stats", "--json"], ["stats", "--html", "page.html"], ["completed"]] {
        #expect(try program.run(arguments).status == 0)
      }
      #expect(try Data(contentsOf: file) == before)
    }
  }
}

extension StatisticsTests {
  @Test func namesOfListsCannotBreakOutOfThePage() throws {
    try withHistory { program in
      let outcome = try program.run(["stats", "--html", "page.html", "--json"])
      let page = try String(contentsOfFile: program.directory.appending("page.html").string, encoding: .utf8)
      #expect(page.components(separatedBy: "<script").count == 2)
      #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;"))
      #expect(!page.contains("\u{1B}"))
      #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("@import"))
      let start = try #require(page.range(of: "id=\"tally-statistics\">"))
      let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
      let embedded = page[start.upperBound..<end.lowerBound].replacing("\\u003c", with: "<")
      #expect(embedded + "\n" == outcome.output)
    }
  }

  @Test func pageReplacesTheFileAsAWholeForItsOwnerOnly() throws {
    try withHistory { program in
      let file = program.directory.appending("page.html").string
      try Data("old".utf8).write(to: URL(filePath: file))
      let outcome = try program.run(["stats", "--html", "page.html"])
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors == "Wrote page.html\n")
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      let written = try String(contentsOfFile: file, encoding: .utf8)
      #expect(try program.run(["stats", "--html", "-"]).output == written)
    }
  }

  private func withHistory(_ body: (Program) throws -> Void) throws {
    try withProgram { program in
      try HistoryFixture.fill(program, seed: 20_261_121)
      try body(program)
    }
  }
}
