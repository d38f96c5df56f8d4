import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// What the scripts of shells are given; Scripts/check-completions.py presses Tab in the shells themselves.
struct CompletionTests {
  /// The words before the cursor, the start of the word at it, and what must be among the candidates.
  @Test(
    arguments: [
      ("", "do", ["done"]), ("", "", ["add", "today"]), ("lists", "", ["add", "move"]),
      ("help", "sta", ["start", "stats"]), ("done", "", ["7f3a", "91bc"]), ("done", "7f", ["7f3a"]),
      ("show 7f3a", "", []), ("reopen", "", ["0d4e", "2e11"]), ("list", "w", ["Work"]),
      ("add x --list", "", ["Work", "Home 家"]), ("add x", "--list=H", ["--list=Home 家"]),
      ("--now", "", []), ("--time-zone", "Europe/Ist", ["Europe/Istanbul"]),
      ("stats --by", "", ["day", "week", "month", "year"]), ("move 7f3a --to", "to", ["today", "tomorrow"]),
      ("find", "is:o", ["is:open", "is:overdue"]), ("done 7f3a", "", ["91bc"]), ("--json done", "7", ["7f3a"]),
      ("done -- 91bc", "7", ["7f3a"]), ("nonsense", "", []),
    ] as [(String, String, [String])])
  func candidatesFollowTheWordsBeforeTheCursor(words: String, start: String, wanted: [String]) throws {
    try withProgram { program in
      try Fixture.fill(program)
      let found = try candidates(program, words.split(separator: " ").map(String.init), start)
      #expect(Set(wanted).isSubset(of: found), "\(words) \(start): \(found)")
      #expect(found.allSatisfy { $0.lowercased().hasPrefix(start.lowercased()) }, "\(found)")
      if wanted.isEmpty { #expect(found.isEmpty) }
    }
  }

  @Test func handlesAreTheOnesThatViewsShow() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let shown = try program.run(["all", "--plain"]).output.split(separator: "\n")
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        .filter { $0[1] != "completed" }.map { String($0[0]) }
      // A view gives all its handles the length of the longest one, at the front; the shorter ones are typed, too.
      let offered = try candidates(program, ["edit"], "")
      #expect(offered.count == shown.count)
      #expect(shown.allSatisfy { handle in offered.contains { handle.hasSuffix($0) } })
    }
  }

  @Test func filesAreLeftToTheShell() throws {
    try withProgram { (program: Program) throws in
      #expect(try program.runBare(["__complete", "import", ""]).output == "files\n")
      #expect(try program.runBare(["__complete", "--store", ""]).output == "directories\n")
    }
  }

  @Test func theStoreIsTheOneThatTheWordsName() throws {
    try withProgram { program in
      try Fixture.fill(program)
      var elsewhere = program
      elsewhere.environment["TALLY_STORE"] = program.directory.appending("none").string
      let home = program.store.string.replacing(program.directory.string, with: "~")
      for store in [program.store.string, home] {
        #expect(try candidates(elsewhere, ["--store", store, "list"], "") == ["Work", "Home 家"])
      }
      #expect(try candidates(elsewhere, ["list"], "").isEmpty)
      #expect(!FileManager.default.fileExists(atPath: elsewhere.directory.appending("none").string))
    }
  }

  @Test func aTitleStaysOnItsLine() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let lines = try program.runBare(["__complete", "done", "be77"]).output.split(separator: "\n")
      #expect(lines == ["candidates", "be77\tÉvier: \\u{1B}[31mred\\nsecond line"])
    }
  }

  @Test func tagsAndFiltersAreOffered() throws {
    try withProgram { program in
      _ = try program.run(["add", "one", "--tag", "home", "--tag", "garden"])
      _ = try program.run(["add", "two", "--tag", "home"])
      _ = try program.run(["filters", "add", "Late", "is:overdue"])
      #expect(try candidates(program, ["add", "x", "--tag"], "") == ["garden", "home"])
      #expect(try candidates(program, ["count"], "#h") == ["#home"])
      #expect(try program.runBare(["__complete", "filter", ""]).output == "candidates\nLate\tis:overdue\n")
    }
  }

  @Test func labelsOfDaysLookWhereTheCommandLooks() throws {
    try withProgram { program in
      func label(_ words: [String]) throws -> Substring? {
        let lines = try program.runBare(["__complete"] + words + ["monday"]).output
        return lines.split(separator: "\n").dropFirst().first?.split(separator: "\t").last
      }
      let (next, last) = try (label(["add", "x", "--on"]), label(["completed", "--from"]))
      #expect(next != nil && last != nil && next != last)
      #expect(try label(["log", "x", "--at"]) == last)
    }
  }

  /// Once it was completed inside the default command.
  @Test func theDefaultCommandDoesNotHideTheCommands() throws {
    try withProgram { program in
      _ = try program.run(["config", "default-command", "find is:open"])
      _ = try program.run(["config", "alias.rent", "add Rent"])
      #expect(Set(["add", "rent"]).isSubset(of: try candidates(program, ["--json"], "")))
    }
  }

  @Test func tagNamesAreThoseOfTheTagsInUse() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<30 {
          _ = try transaction.add("task \(number)") { $0.tags = ["tag \(number % 7)", "all"] }
        }
        let other = try transaction.add("other") { $0.tags = ["gone"] }
        _ = try transaction.delete(other.id)
      }
      try store.read { transaction in
        let tags = try transaction.tags().map(\.tag)
        #expect(try transaction.tagNames().sorted() == tags.sorted())
        #expect(try transaction.tagNames(limit: 3).count == 3)
        #expect(try transaction.tagNames(limit: 0).isEmpty)
      }
    }
  }

  private func candidates(_ program: Program, _ words: [String], _ start: String) throws -> [String] {
    let outcome = try program.runBare(["__complete"] + words + [start])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "candidates")
    return lines.dropFirst().map { String($0.prefix { $0 != "\t" }) }
  }
}
