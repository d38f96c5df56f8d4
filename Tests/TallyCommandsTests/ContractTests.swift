import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// What programs rely on: names, places of options, exit codes, streams.
struct ContractTests {
  @Test func globalOptionsWorkBeforeAndAfterTheCommand() throws {
    try withProgram { program in
      let store = program.directory.appending("elsewhere").string
      _ = try program.runBare(["--store", store, "add", "one", "--today"])
      for arguments in [
        ["--store", store, "--plain", "today"], ["today", "--plain", "--store", store],
        ["--plain", "today", "--store=\(store)"], ["--store", store, "--plain"],
      ] {
        #expect(try program.runBare(arguments).output.contains("\tone\t"), "\(arguments)")
      }
      for arguments in [
        ["--store", store, "lists", "add", "A"], ["lists", "--store", store, "add", "B"],
        ["lists", "add", "C", "--store", store],
      ] {
        #expect(try program.runBare(arguments).status == 0, "\(arguments)")
      }
      #expect(try program.runBare(["lists", "--plain", "--store", store]).output.split(separator: "\n").count == 3)
    }
  }

  @Test(arguments: ["UTC", "Etc/UTC", "GMT", "GMT0", "Zulu", "Etc/GMT+3", "US/Eastern", "EST5EDT", "Asia/Katmandu"])
  func zoneIsPrintedAsGiven(name: String) throws {
    try withProgram { program in
      for command in ["today", "stats", "reminders", "completed"] {
        let outcome = try program.runBare(["--now", Program.now, "--time-zone", name, command, "--json"])
        #expect(outcome.output.contains("\"timeZone\":\"\(name)\","), "\(command): \(outcome.errors)")
      }
    }
  }

  @Test(arguments: ["GMT+3", "GMT+0300", "UTC+3", "BST", "IST", "PDT", "+03:00", "europe/istanbul", "posix/UTC", ""])
  func textThatIsNotAZoneNameIsRefused(name: String) throws {
    try withProgram { program in
      let outcome = try program.runBare(["--time-zone", name, "today", "--json"])
      #expect(outcome.status == ExitStatus.usage.rawValue)
      #expect(outcome.errors.contains("unknownTimeZone"))
    }
  }

  @Test(arguments: [("mon", "monday"), ("SUN", "sunday"), ("Wednesday", "wednesday")])
  func firstWeekdayIsAcceptedByItsFirstLetters(name: String, weekday: String) throws {
    try withProgram { program in
      let outcome = try program.runBare(["--now", Program.now, "--week-start", name, "stats", "--json"])
      #expect(outcome.output.contains("\"weekStart\":\"\(weekday)\""), "\(outcome.errors)")
    }
  }

  @Test func textAfterTheTerminatorIsNotAnOption() throws {
    try withProgram { program in
      let outcome = try program.run(["add", "--quiet", "--", "--json", "is", "a", "title"])
      #expect(outcome.errors.isEmpty)
      #expect(try program.run(["all", "--plain"]).output.contains("\t--json is a title\t"))
    }
  }

  @Test func taskDueOnADayIsOverdueOnlyAfterIt() throws {
    try withProgram { program in
      _ = try program.run(["add", "one", "--due", "today"])
      for (now, count) in [
        ("2026-11-21T20:59:59Z", 0), ("2026-11-21T20:59:59.999999Z", 0), ("2026-11-21T21:00:00Z", 1),
      ] {
        let clock = ["--now", now, "--time-zone", Program.timeZone]
        let overdue = try program.runBare(clock + ["overdue", "--plain"]).output
        #expect(overdue.split(separator: "\n").count == count, "\(now)")
        let statistics = try program.runBare(clock + ["stats", "--plain"]).output
        #expect(statistics.contains("open.overdue\t\(count)\n"), "\(now)")
        #expect(try program.runBare(clock + ["all"]).output.contains(count == 0 ? "due today" : "overdue since"))
      }
    }
  }

  @Test func storeIsFoundThroughOptionThenVariablesThenHome() throws {
    let environment = EnvironmentVariables(["TALLY_STORE": "/a", "XDG_DATA_HOME": "/b", "HOME": "/c"])
    #expect(try StorePath.resolve(option: "/o", environment: environment) == "/o")
    #expect(try StorePath.resolve(option: nil, environment: environment) == "/a")
    let absolute = EnvironmentVariables(["XDG_DATA_HOME": "/b", "HOME": "/c"])
    #expect(try StorePath.resolve(option: nil, environment: absolute) == "/b/tally")
    let relative = EnvironmentVariables(["XDG_DATA_HOME": "b", "HOME": "/c"])
    #expect(try StorePath.resolve(option: nil, environment: relative) == "/c/.local/share/tally")
    #expect {
      try StorePath.resolve(option: nil, environment: EnvironmentVariables([:]))
    } throws: {
      CommandFailure($0).status == .usage
    }
  }

  @Test(arguments: Commands.reads.sorted { $0[0] < $1[0] })
  func readOfAMissingStoreDoesNotCreateIt(arguments: [String]) throws {
    try withProgram { program in
      let outcome = try program.run(arguments)
      #expect(outcome.status == 0)
      #expect(!outcome.errors.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
    }
  }

  @Test func changeThatNamesATaskCreatesNoStore() throws {
    try withProgram { program in
      for arguments in [
        ["done", "7f3a"], ["lists", "delete", "Work"], ["add", "x", "--list", "Work"], ["add", " "],
      ] {
        let outcome = try program.run(arguments)
        #expect(outcome.status != 0)
        #expect(!FileManager.default.fileExists(atPath: program.store.string), "\(arguments)")
      }
    }
  }

  /// The bug: jq's `fromdate` refuses a fraction, and every time of the system's clock had one.
  @Test func instantsHaveNoFractionWhereTheirOrderNeedsNone() throws {
    try withProgram { program in
      for arguments in [
        ["add", "one", "--today", "--remind", "2h"], ["log", "two"], ["quick", "three"], ["lists", "add", "Work"],
        ["filters", "add", "all", "is:open"], ["today"], ["stats"], ["find", "is:done"], ["reminders"],
      ] {
        let output = try program.runBare(arguments + ["--json"]).output
        #expect(!output.matches(of: /T\d\d:\d\d:\d\d/).isEmpty, "\(arguments)")
        #expect(output.matches(of: /T\d\d:\d\d:\d\d\.\d+/).isEmpty, "\(arguments): \(output)")
      }
      for number in 1...9 { #expect(try program.runBare(["add", "\(number)"]).status == 0) }
      let titles = try program.runBare(["all", "--plain"]).output.split(separator: "\n")
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false)[6] }
      #expect(titles.suffix(9) == (1...9).map { "\($0)" }[...], "the order of creation within a second")
      let exact = try program.runBare(["--now", "2026-11-21T12:00:00.25Z", "add", "exact", "--json"]).output
      #expect(exact.contains(#""createdAt":"2026-11-21T12:00:00.25"#))
    }
  }

  @Test func quietSaysNothing() throws {
    try withProgram { program in
      let outcome = try program.run(["add", "one", "--quiet"])
      #expect(outcome.output + outcome.errors == "")
    }
  }

  @Test func linesOfStandardInputAreAddedInOneTransaction() throws {
    try withProgram { program in
      let outcome = try program.run(["add", "-", "--today"], input: "\u{FEFF}one\n\n  \ntwo\r\nthree")
      #expect(outcome.status == 0)
      let titles = try program.run(["today", "--plain"]).output.split(separator: "\n")
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false)[6] }
      #expect(titles == ["one", "two", "three"])
    }
  }

  @Test func jsonOfAChangeNamesWhatChanged() throws {
    try withProgram { program in
      let outcome = try program.run(["add", "-", "--json"], input: "one\ntwo\n")
      let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
      #expect(Set(object.keys) == ["changed", "deleted", "lists"])
      let changed = try #require(object["changed"] as? [[String: Any]])
      #expect(changed.map { $0["title"] as? String } == ["one", "two"])
      #expect(outcome.errors.isEmpty)
    }
  }

  @Test(arguments: [40, 41, 60, 80, 120, 200])
  func noLineIsWiderThanTheTerminal(columns: Int) throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      program.environment["COLUMNS"] = String(columns)
      for view in [["today"], ["all"], ["upcoming"], ["overdue"], ["completed"], ["lists"], ["show", "7f3a"]] {
        for line in try program.run(view).output.split(separator: "\n") {
          #expect(line.displayWidth <= columns, "\(view): \(line)")
        }
      }
    }
  }

  /// The bug: below 27 columns the parser printed no description at all.
  @Test(arguments: [10, 12, 16, 20, 25, 26, 27, 28, 30, 40, 51, 52, 80, 200])
  func helpHasAllItsWordsInATerminalOfAnyWidth(columns: Int) throws {
    try withProgram { program in
      func words(_ arguments: [String], _ columns: Int) throws -> [String] {
        var program = program
        program.environment["COLUMNS"] = String(columns)
        let outcome = try program.runBare(arguments)
        #expect(outcome.status == 0)
        if columns >= 20 {
          for line in outcome.output.split(separator: "\n") where line.displayWidth > columns {
            // The parser leaves command lines whole, so that they can be copied.
            if line.contains("tally ") { continue }
            // Only a word that has no room on any line.
            #expect(line.split(separator: " ").contains { $0.displayWidth > columns - 8 }, "\(line)")
          }
        }
        return outcome.output.split(whereSeparator: \.isWhitespace).map(String.init)
      }
      for arguments in [["--help"], ["add", "--help"], ["help", "stats"], ["sync", "--help"], ["help"]] {
        let wide = try words(arguments, 1_000)
        #expect(try words(arguments, columns) == wide, "\(arguments)")
      }
    }
  }

  /// The bug: messages went on beyond the last column, where a terminal breaks words.
  @Test(.enabled(if: PseudoTerminal.isSupported), arguments: [10, 24, 40, 80])
  func messagesWrapInATerminal(columns: Int) throws {
    try withProgram { program in
      var program = program
      program.environment["COLUMNS"] = nil
      program.environment["LC_ALL"] = "C.UTF-8"
      let commands = [
        ["nothing"], ["done", "7f3a"], ["search", "nothing"], ["today", "--limit", "x"], ["add", "Milk"],
      ]
      for arguments in commands {
        let wide = try program.run(arguments).errors.split(whereSeparator: \.isWhitespace)
        if arguments == ["add", "Milk"] { #expect(try program.run(["undo"]).status == 0) }
        let (_, output) = try PseudoTerminal(columns: UInt16(columns), rows: 24).run(
          Program.executable, ["--now", Program.now, "--time-zone", Program.timeZone] + arguments,
          in: program.directory, environment: program.environment)
        let lines = output.split(whereSeparator: \.isNewline)
        for line in lines where line.displayWidth > columns {
          #expect(line.split(separator: " ").count == 1, "\(line)")
        }
        if arguments != ["add", "Milk"] {
          #expect(output.split(whereSeparator: \.isWhitespace) == wide, "\(arguments): \(output)")
        }
      }
    }
  }

  /// The bug: what these print for people was as long as it was.
  @Test(.enabled(if: PseudoTerminal.isSupported), arguments: [24, 40, 80])
  func answersWrapInATerminal(columns: Int) throws {
    try withProgram { program in
      var program = program
      program.environment["COLUMNS"] = nil
      program.environment["LC_ALL"] = "C.UTF-8"
      try Fixture.fill(program)
      let file = program.directory.appending("todo.txt").string
      let lines = ["Buy a very long loaf of bread for the whole family and all of its guests", "Sweep due:nonsense"]
      try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
      let commands = [
        ["quick", "--dry-run", "Pay the rent of the house tomorrow 9am +home p:high every month for 2 hours"],
        ["find", "is:open", "--explain"], ["import", file, "--format", "todotxt", "--dry-run"],
      ]
      for arguments in commands {
        let wide = try program.run(arguments)
        let (_, output) = try PseudoTerminal(columns: UInt16(columns), rows: 24).run(
          Program.executable, ["--now", Program.now, "--time-zone", Program.timeZone] + arguments,
          in: program.directory, environment: program.environment)
        for line in output.split(whereSeparator: \.isNewline) where line.displayWidth > columns {
          #expect(line.split(separator: " ").count == 1, "\(line)")
        }
        #expect(!output.contains("(line\r") && !output.contains("(line\n"), "\(output)")
        let words = (wide.output + wide.errors).split(whereSeparator: \.isWhitespace)
        #expect(output.split(whereSeparator: \.isWhitespace) == words, "\(output)")
      }
    }
  }

  @Test func colourIsForTerminalsOrIfForced() throws {
    try withProgram { program in
      try Fixture.fill(program)
      func isColored(_ variables: [String: String], _ arguments: [String] = []) throws -> Bool {
        var program = program
        program.environment.merge(variables) { $1 }
        return try program.run(["today"] + arguments).output.contains("\u{1B}[")
      }
      #expect(try !isColored(["TERM": "xterm"]))
      #expect(try isColored(["FORCE_COLOR": "1"]))
      #expect(try isColored(["FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb"]))
      #expect(try !isColored(["FORCE_COLOR": "1"], ["--no-color"]))
      #expect(try !isColored(["FORCE_COLOR": "1"], ["--json"]))
      #expect(try !isColored(["FORCE_COLOR": "1"], ["--plain"]))
      #expect(try !isColored(["FORCE_COLOR": "0"]))
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionScriptAsksTheProgram(shell: String) throws {
    try withProgram { program in
      let option = ["--generate-completion-script", shell]
      let outcome = try program.runBare(option)
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("__complete"))
      // The bug: beside other words the parser printed its own script, which runs what a title says.
      for arguments in [["--quiet"] + option, ["add"] + option, ["add", "x"] + option + ["--json"]] {
        #expect(try program.runBare(arguments).output == outcome.output, "\(arguments)")
      }
    }
  }

  @Test func aShellWithoutACompletionScriptIsRefused() throws {
    try withProgram { program in
      for shell in ["nope", "BASH", ""] {
        let outcome = try program.runBare(["--generate-completion-script", shell])
        #expect(outcome.status == 64 && outcome.output.isEmpty && outcome.errors.contains("Name bash, zsh or fish"))
      }
    }
  }

  @Test func completionKnowsTheCommands() throws {
    try withProgram { program in
      for command in Commands.names {
        let offered = try program.runBare(["__complete"] + command.dropLast() + [""]).output.split(separator: "\n")
          .map { $0.prefix { $0 != "\t" } }
        #expect(offered.contains { $0 == command[command.count - 1] }, "\(command)")
      }
    }
  }
}
