import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// `tally stats`, its page, and the tasks behind its numbers.
@Suite struct StatisticsTests {
  /// The bug: a day ahead gave a series of one empty day.
  @Test func aPeriodThatLiesAheadHasNothingToShow() throws {
    try withProgram { program in
      _ = try program.run(["add", "x"])
      for arguments in [["--from", "2099-01-01"], ["--from", "2026-11-22"], ["--from", "2099-01-01", "--json"]] {
        let outcome = try program.run(["stats"] + arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(arguments)")
        #expect(outcome.errors.contains("comes after today"), "\(outcome.errors)")
      }
      // By the real clock, nothing can have been completed in that period.
      let ahead = try program.runBare(["stats", "--from", "9000-01-01", "--to", "9000-01-31"])
      #expect(ahead.status == 64 && ahead.errors.contains("comes after today"), "\(ahead.errors)")
      let reversed = try program.run(["stats", "--from", "2026-11-20", "--to", "2026-11-19"])
      #expect(reversed.status == 64 && reversed.errors.contains("comes after --to"))
      for arguments in [["--from", "today"], ["--from", "yesterday", "--to", "2026-11-22"], ["--to", "2026-12-31"]] {
        #expect(try program.run(["stats"] + arguments).status == 0, "\(arguments)")
      }
      // A fixed clock moves the present, not the data.
      #expect(try program.run(["stats", "--from", "2099-01-01", "--to", "2099-01-31"]).status == 0)
      #expect(try program.run(["completed", "--from", "2099-01-01"]).status == 0)
    }
  }

  @Test func readingLeavesTheStoreUnchanged() throws {
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

  @Test func pageReplacesTheFileAtomicallyForItsOwnerOnly() throws {
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
