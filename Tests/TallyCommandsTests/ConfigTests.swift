import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// Settings: what they change, what wins over them, and how their file is kept.
struct ConfigTests {
  @Test func aSettingIsKeptAndShown() throws {
    try withProgram { program in
      let outcome = try program.run(["config", "week-start", "sunday"])
      #expect(outcome.errors == "Set week-start to “sunday”.\n")
      #expect(try program.run(["config", "week-start"]).output == "sunday\n")
      #expect(try program.run(["stats", "--json"]).output.contains("\"weekStart\":\"sunday\""))
      let other = try program.run(["stats", "--json", "--week-start", "monday"])
      #expect(other.output.contains("\"weekStart\":\"monday\""))
      let json = try program.run(["config", "--json"]).output
      for key in Settings.Key.allCases { #expect(json.contains("\"key\":\"\(key.rawValue)\"")) }
      _ = try program.run(["config", "week-start", "none"])
      #expect(try program.run(["config", "week-start"]).output == "")
      #expect(try program.run(["config", "--plain"]).output.contains("week-start\t\n"))
    }
  }

  @Test func commentsAndOrderOfTheFileStay() throws {
    try withProgram { program in
      try write("# mine\nweek-start: monday  # or not\n\n# the zone\ntime-zone: Asia/Tokyo\n", program)
      _ = try program.run(["config", "week-start", "sunday"])
      _ = try program.run(["config", "alias.rent", "quick 'Pay rent: 5' #home"])
      let rent = "alias.rent: 'quick ''Pay rent: 5'' #home'"
      #expect(try read(program) == "# mine\nweek-start: sunday\n\n# the zone\ntime-zone: Asia/Tokyo\n\(rent)\n")
      _ = try program.run(["config", "week-start", "none"])
      #expect(try read(program) == "# mine\n\n# the zone\ntime-zone: Asia/Tokyo\n\(rent)\n")
    }
  }

  @Test func aLinkToTheFileStaysALink() throws {
    try withProgram { program in
      try write("color: never\n", program)
      let (file, elsewhere) = (path(program), program.directory.appending("dotfile").string)
      try FileManager.default.moveItem(atPath: file, toPath: elsewhere)
      try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: elsewhere)
      #expect(try program.run(["config", "color", "always"]).status == 0)
      #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "color: always\n")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == elsewhere)
    }
  }

  /// The bug: the link was replaced where its file was not there yet, as one that is under version control elsewhere.
  @Test func aLinkToAFileThatIsMissingIsWrittenThrough() throws {
    try withProgram { program in
      let (file, elsewhere) = (FilePath(path(program)), program.directory.appending("dotfiles"))
      for directory in [file.removingLastComponent(), elsewhere] {
        try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
      }
      // Over a second link, and by a relative path.
      let second = elsewhere.appending("second")
      try FileManager.default.createSymbolicLink(atPath: second.string, withDestinationPath: "config.yaml")
      try FileManager.default.createSymbolicLink(atPath: file.string, withDestinationPath: second.string)
      for color in ["always", "never"] {
        let outcome = try program.run(["config", "color", color])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let text = try String(contentsOfFile: elsewhere.appending("config.yaml").string, encoding: .utf8)
        #expect(text == "color: \(color)\n")
        for link in [file, second] { #expect(try link.stat(followTargetSymlink: false).type == .symbolicLink) }
      }
      for name in ["round", "about"] {
        let path = elsewhere.appending(name).string
        try FileManager.default.createSymbolicLink(
          atPath: path, withDestinationPath: name == "round" ? "about" : "round")
      }
      try FileManager.default.removeItem(atPath: file.string)
      try FileManager.default.createSymbolicLink(
        atPath: file.string, withDestinationPath: elsewhere.appending("round").string)
      #expect(try program.run(["config", "color", "always"]).status == 66)
    }
  }

  /// The bug: a pipe made every command wait, and a device without an end was read until the memory was full.
  @Test(arguments: ["pipe", "/dev/zero", "large", "/dev/tty", "directory"])
  func settingsThatAreNoSmallFileAreRefusedAtOnce(kind: String) throws {
    try withProgram { program in
      let file = FilePath(path(program))
      try FileManager.default.createDirectory(
        atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
      switch kind {
      case "pipe": #expect(try FailureTests.shell(program, "mkfifo '\(file.string)'").status == 0)
      case "large": try Data(repeating: UInt8(ascii: "#"), count: 2 << 20).write(to: URL(filePath: file.string))
      case "directory":
        try FileManager.default.createDirectory(atPath: file.string, withIntermediateDirectories: false)
      default: try FileManager.default.createSymbolicLink(atPath: file.string, withDestinationPath: kind)
      }
      for arguments in [["today"], ["config"], ["config", "color", "never"], ["add", "x"]] {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 66, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("config.yaml' cannot be read"), "\(outcome.errors)")
      }
      #expect(try program.runBare(["--help"]).status == 0)
    }
  }

  @Test(arguments: ["pipe", "zero"])
  func aFileWithASecretIsReadToABound(kind: String) throws {
    try withProgram { program in
      let outcome = try FailureTests.shell(
        program,
        kind == "pipe"
          ? "mkdir shared; tally sync setup shared --passphrase-file <(echo 'correct horse battery staple')"
          : "mkdir shared; tally sync setup shared --passphrase-file /dev/zero")
      #expect(outcome.status == (kind == "pipe" ? 0 : 66), "\(outcome.errors)")
    }
  }

  @Test(
    arguments: [
      ("week-start: noday", 1), ("# x\nwekstart: monday", 2), ("color: [", 2), ("color: pink", 1), ("a: b: c", 1),
      ("- list", 1), ("color:\n  nested: 1", 1), ("alias.done: add x", 1), ("alias.a: nothing", 1),
      ("alias.a: add x\nalias.b: a", 2), ("alias.a: 'add \"x'", 1), ("day-start: 25:00", 1), ("time-zone: Mars", 1),
      ("color: auto\ncolor: never", 1), ("\u{1}", 1),
    ] as [(String, Int)])
  func aBrokenFileIsNamedWithItsLine(text: String, line: Int) throws {
    try withProgram { program in
      try write(text, program)
      for arguments in [["today"], ["config"], ["--json", "add", "x"]] {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 65, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("config.yaml'"))
        #expect(text == "\u{1}" || outcome.errors.contains("line \(line)"), "\(outcome.errors)")
      }
      for arguments in [["--help"], ["--version"], ["add", "--help"], ["__complete", "do"]] {
        #expect(try program.runBare(arguments).status == 0)
      }
      #expect(try read(program) == text)
    }
  }

  @Test func aFileThatCannotBeReadIsAnError() throws {
    try withProgram { program in
      try FileManager.default.createDirectory(atPath: path(program), withIntermediateDirectories: true)
      #expect(try program.run(["today"]).status == 66)
    }
  }

  @Test(arguments: [
    ["config", "next.left", "101"], ["config", "next.due", "-1"], ["config", "next.free", "3.5"],
    ["config", "next.soon", "3"],
    ["config", "wek-start"], ["config", "wek-start", "monday"], ["config", "week-start", "noday"],
    ["config", "alias.list", "add x"], ["config", "alias.x", "y"], ["config", "day-start", "noon"],
  ])
  func aRefusedValueChangesNothing(arguments: [String]) throws {
    try withProgram { program in
      let outcome = try program.run(arguments)
      #expect(outcome.status == 64, "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: path(program)))
    }
  }

  @Test func variablesAndOptionsWinOverSettings() throws {
    try withProgram { program in
      try write("time-zone: Asia/Tokyo\ncolor: always\n", program)
      var program = program
      func zone(_ arguments: [String] = []) throws -> Bool {
        try program.runBare(arguments + ["today", "--json"]).output.contains("\"timeZone\":\"Asia/Tokyo\"")
      }
      #expect(try !zone())
      program.environment["TZ"] = nil
      #expect(try zone())
      #expect(try !zone(["--time-zone", "UTC"]))
      _ = try program.run(["add", "x", "--today"])
      #expect(try program.run(["today"]).output.contains("\u{1B}["))
      #expect(try !program.run(["today", "--no-color"]).output.contains("\u{1B}["))
      program.environment["NO_COLOR"] = "1"
      #expect(try !program.run(["today"]).output.contains("\u{1B}["))
    }
  }

  @Test func anAliasStandsForACommandAndIsNotRunByAShell() throws {
    try withProgram { program in
      _ = try program.run(["config", "alias.home", "add 'Call $(touch evil) `id`' --tag home"])
      #expect(try program.run(["home", "again", "--quiet"]).status == 0)
      #expect(try program.run(["find", "#home", "--plain"]).output.contains("\tCall $(touch evil) `id` again\t"))
      #expect(try program.runBare(["__complete", "ho"]).output.contains("home\tadd "))
      #expect(try program.runBare(["__complete", "home", "x", "--ta"]).output.contains("--tag"))
    }
  }

  @Test func theDefaultCommandIsRunWhereNoneIsNamed() throws {
    try withProgram { program in
      try Fixture.fill(program)
      _ = try program.run(["config", "default-command", "find is:done --plain"])
      #expect(try program.run([]).output.contains("\tCall the bank\t"))
      #expect(try program.run(["today", "--plain"]).output.contains("\tBuy milk\t"))
      #expect(try program.runBare(["--version"]).output == TallyCommandLine.version + "\n")
    }
  }

  @Test func theDefaultListTakesWhatIsCaptured() throws {
    try withProgram { program in
      try Fixture.fill(program)
      _ = try program.run(["config", "default-list", "Work"])
      for arguments in [
        ["add", "one"], ["quick", "two tomorrow"], ["add", "--", "three"], ["add", "four", "--list", "none"],
        ["add", "five", "--parent", "91bc"],
      ] {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
      }
      let titles = try program.run(["list", "Work", "--plain"]).output.split(separator: "\n")
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false)[6] }
      #expect(Set(titles).isSuperset(of: ["one", "two", "three"]))
      #expect(Set(titles).isDisjoint(with: ["four", "five"]))
    }
  }

  /// The word was taken for a question once, which settings do not change.
  @Test func helpInATitleIsAWord() throws {
    try withProgram { program in
      try Fixture.fill(program)
      _ = try program.run(["config", "default-list", "Work"])
      _ = try program.run(["config", "alias.ask", "add --tag ask"])
      for arguments in [["add", "Get", "help"], ["add", "--", "--help"], ["ask", "for", "help"]] {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
      }
      #expect(try program.run(["count", "list:Work", "text~help", "is:open"]).output == "3\n")
      #expect(try program.run(["ask", "--help"]).output.contains("USAGE: tally add "))
    }
  }

  @Test func theDefaultListIsNamedBeforeAnAliassDashes() throws {
    try withProgram { program in
      try Fixture.fill(program)
      _ = try program.run(["config", "default-list", "Work"])
      _ = try program.run(["config", "alias.neg", "add --"])
      #expect(try program.run(["neg", "-5", "degrees"]).status == 0)
      #expect(try program.run(["list", "Work", "--plain"]).output.contains("\t-5 degrees\t"))
    }
  }

  @Test func oneSettingIsShownToProgramsAlone() throws {
    try withProgram { program in
      #expect(try program.run(["config", "week-start", "--plain"]).output == "week-start\t\n")
      _ = try program.run(["config", "color", "never"])
      let json = try program.run(["config", "color", "--json"]).output
      #expect(json.contains(#""settings":[{"key":"color","value":"never"}]"#))
    }
  }

  @Test func removingWhatIsNotSetWritesNothing() throws {
    try withProgram { program in
      let outcome = try program.run(["config", "week-start", "none"])
      #expect(outcome.errors == "week-start is not set.\n" && outcome.status == 0)
      #expect(!FileManager.default.fileExists(atPath: path(program)))
    }
  }

  @Test(
    arguments: [
      (["FORCE_COLOR": "0"], "never", true, false), (["FORCE_COLOR": "0"], nil, true, false),
      (["FORCE_COLOR": "0"], "always", false, false), (["FORCE_COLOR": "1", "NO_COLOR": "1"], "never", false, true),
      (["NO_COLOR": "0"], nil, true, false), (["NO_COLOR": "0"], "always", true, false),
      (["NO_COLOR": ""], nil, true, true),
      (["TERM": "dumb"], "always", true, false), ([:], "never", true, false), ([:], "auto", false, false),
      ([:], nil, true, true), ([:], "always", false, true),
    ] as [([String: String], String?, Bool, Bool)])
  func colourIsDecidedInOnePlace(variables: [String: String], setting: String?, isTerminal: Bool, isWanted: Bool) {
    #expect(Painter.isWanted(setting: setting, isTerminal: isTerminal, EnvironmentVariables(variables)) == isWanted)
  }

  @Test func aDryRunOfQuickKnowsTheDefaultList() throws {
    try withProgram { program in
      try Fixture.fill(program)
      _ = try program.run(["config", "default-list", "Work"])
      #expect(try program.run(["quick", "x", "--dry-run", "--json"]).output.contains(#""list":"Work""#))
      #expect(try program.run(["quick", "x", "--dry-run"]).output.contains("list “Work” by default"))
      #expect(try program.run(["quick", "x list:Work", "--dry-run", "--json"]).output.contains(#""list":"Work""#))
      _ = try program.run(["config", "default-list", "Nope"])
      #expect(try program.run(["quick", "x", "--dry-run"]).status == 1)
    }
  }

  /// Until 04:00 it is still yesterday, in views as in words and statistics.
  @Test func theDayBeginsWhenTheSettingsSay() throws {
    try withProgram { program in
      func run(_ now: String, _ arguments: [String]) throws -> String {
        let outcome = try program.runBare(["--now", now, "--time-zone", "UTC"] + arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.output
      }
      let (late, early) = ("2026-11-22T03:59:59Z", "2026-11-22T04:00:00Z")
      _ = try run(late, ["config", "day-start", "4:00"])
      _ = try run(late, ["add", "one", "--today", "--due", "today"])
      _ = try run(late, ["add", "two", "--tomorrow"])
      _ = try run(late, ["add", "done", "--quiet"])
      _ = try run(late, ["done", String(try run(late, ["find", "text~done", "--plain"]).prefix(4))])
      #expect(try run(late, ["today", "--plain"]).contains("\tone\t"))
      #expect(try run(late, ["overdue", "--plain"]) == "")
      #expect(try run(late, ["count", "day=today"]) == "1\n")
      #expect(try run(late, ["find", "day=2026-11-21", "--plain"]).contains("\tone\t"))
      #expect(try run(late, ["stats", "--plain"]).contains("completed.today\t1\n"))
      #expect(try run(early, ["today", "--plain"]).contains("\ttwo\t"))
      #expect(try run(early, ["overdue", "--plain"]).contains("\tone\t"))
      #expect(try run(early, ["past", "--plain"]).contains("\tone\t"))
      #expect(try run(early, ["stats", "--plain"]).contains("completed.today\t0\n"))
    }
  }

  /// At 02:00 it is still the evening before, in words and in the choice of overdue tasks.
  @Test func theNightBelongsToTheDayBefore() throws {
    try withProgram { program in
      func run(_ arguments: [String]) throws -> Outcome {
        try program.runBare(["--now", "2026-11-22T02:00:00Z", "--time-zone", "UTC"] + arguments)
      }
      _ = try run(["config", "day-start", "4:00"])
      #expect(try run(["log", "one"]).errors.contains("done today 02:00"))
      #expect(try run(["log", "two", "--at", "2026-11-21T03:00:00Z"]).errors.contains("done yesterday 03:00"))
      _ = try run(["add", "three", "--due", "2026-11-21"])
      let all = try run(["all"]).output
      #expect(all.contains("done today 02:00"))
      #expect(all.contains("due today") && !all.contains("overdue"))
      let handle = String(try run(["find", "is:open", "--plain"]).output.prefix(4))
      #expect(try !run(["show", handle]).output.contains("overdue"))
    }
  }

  private func path(_ program: Program) -> String {
    program.directory.appending(".config").appending("tally").appending("config.yaml").string
  }

  private func read(_ program: Program) throws -> String {
    try String(contentsOfFile: path(program), encoding: .utf8)
  }

  private func write(_ text: String, _ program: Program) throws {
    let file = FilePath(path(program))
    try FileManager.default.createDirectory(
      atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: file.string))
  }
}
