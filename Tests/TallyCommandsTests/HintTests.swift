import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// What the program says to people who guess: near misses, unknown options, waiting.
struct HintTests {
  @Test(
    arguments: [
      ("complete", ["done"]), ("finish", ["done"]), ("rm", ["delete"]), ("ls", ["list", "lists"]), ("dnoe", ["done"]),
      ("remove", ["delete"]), ("LS", ["list", "lists"]), ("xyzzy", []),
      ("cal", ["upcoming", "due DAY"]), ("stop", ["reopen"]), ("note", ["edit HANDLE --notes TEXT"]),
      ("annotate", ["edit HANDLE --notes TEXT"]), ("append", ["edit HANDLE --notes TEXT"]),
      ("wait", ["edit HANDLE --wait DAY", "snooze"]), ("defer", ["edit HANDLE --wait DAY", "snooze"]),
      ("drop", ["cancel"]), ("wontdo", ["cancel"]), ("someday", ["edit HANDLE --wait someday"]), ("duplicate", ["add"]),
      ("context", ["filter NAME", "config default-list"]), ("version", ["--version"]),
    ] as [(String, [String])])
  func aNearMissIsSuggestedByMeaningAndSpelling(word: String, wanted: [String]) throws {
    try withProgram { (program: Program) throws in
      let outcome = try program.run([word])
      #expect(outcome.status == 64)
      let guess = wanted.map { "'\($0)'" }.joined(separator: " or ")
      #expect(outcome.errors.contains("Did you mean \(guess)?") == !wanted.isEmpty, "\(outcome.errors)")
    }
  }

  @Test(arguments: [
    ["add", "--urgent"], ["add", "x", "--urgent"], ["edit", "--urgent"], ["move", "--urgent", "--to"],
    ["done", "--urgent", "7f3a", "--at"], ["today", "x", "--urgent"], ["stats", "--urgent=5", "--by", "eon"],
    ["list", "--urgent"], ["--urgent"], ["add", "--today", "--tomorrow", "x", "--urgent"],
  ])
  func anUnknownOptionIsNamedFirst(arguments: [String]) throws {
    try withProgram { (program: Program) throws in
      let outcome = try program.run(arguments)
      #expect(outcome.status == 64)
      #expect(outcome.errors.contains("Unknown option '--urgent'"), "\(outcome.errors)")
    }
  }

  @Test(arguments: [
    ["add", "--", "--urgent"], ["add", "x", "--notes", "--urgent"], ["find", "-list:Work"], ["done", "--help"],
  ])
  func whatIsTextIsNotAnOption(arguments: [String]) throws {
    try withProgram { (program: Program) throws in
      #expect(try !program.run(arguments).errors.contains("Unknown option"))
    }
  }

  @Test func theHelpOfACommandHasItsOwnOptions() throws {
    try withProgram { (program: Program) throws in
      let help = try program.runBare(["done", "--help"]).output
      #expect(help.contains("  --at <when>") && !help.contains("  --store <dir>"))
      #expect(help.contains("Every command also takes --store, --json"))
      #expect(try program.runBare(["--help", "--all"]).output.contains("  --store <dir>"))
      for option in GlobalOptions.helpLine.split(separator: " ").filter({ $0.hasPrefix("--") && !$0.contains("all") }) {
        let name = option.trimmingCharacters(in: .punctuationCharacters)
        #expect(try #require(CommandDescription(of: [])).arguments.contains { $0.spellings.contains("--\(name)") })
      }
    }
  }

  @Test func theHelpOfTheProgramHasTwelveCommandsForAStart() throws {
    try withProgram { (program: Program) throws in
      for question in [["--help"], ["-h"], ["help"], ["--json", "--help"]] {
        let help = try program.runBare(question).output
        for name in StartHelp.commandNames { #expect(help.contains("\n  \(name) "), "\(question): \(name)") }
        #expect(!help.contains("  compact") && help.contains("tally --help --all"), "\(question)")
      }
      for question in [["--help", "--all"], ["help", "--all"]] {
        let help = try program.runBare(question).output
        for name in CommandDescription.commandNames where name != "help" {
          #expect(help.contains("\n  \(name)"), "\(question): \(name)")
        }
      }
      #expect(StartHelp.commandNames.count == 12)
      #expect(StartHelp.commandNames.allSatisfy(CommandDescription.commandNames.contains))
    }
  }

  @Test(arguments: [20, 26, 39, 40, 80, 200])
  func theHelpOfTheProgramFitsAnyWidth(width: Int) throws {
    try withProgram { (program: Program) throws in
      var program = program
      program.environment["COLUMNS"] = "\(width)"
      let help = try program.runBare(["--help"]).output
      let longest = help.split(separator: "\n").filter { $0.contains(" ") }.map(\.count).max() ?? 0
      #expect(longest <= max(width, 24), "\(help)")
      #expect(help.replacing(/\s+/, with: " ").contains("Show the tasks that a filter finds."))
    }
  }

  @Test func aTitleThatIsNoHandleIsOfferedWithItsCommand() throws {
    try withProgram { (program: Program) throws in
      _ = try program.run(["add", "Buy milk"])
      _ = try program.run(["add", "Water plants"])
      _ = try program.run(["add", "Water the cat"])
      let handle = try #require(
        program.run(["find", "milk", "--plain"]).output.split(separator: "\t").first.map(String.init))
      for name in ["milk", "MILK", "Buy milk"] {
        let outcome = try program.runBare(["done", name, "--at", "2026-11-20T10:00:00Z", "--only"])
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("“Buy milk”"), "\(outcome.errors)")
        #expect(
          outcome.errors.contains("Run: tally done \(handle) --at 2026-11-20T10:00:00Z --only\n"), "\(outcome.errors)")
      }
      let several = try program.runBare(["show", "water"]).errors
      #expect(several.contains("Water plants") && several.contains("Water the cat") && !several.contains("Run:"))
      #expect(several.contains("Give the handle of one, as in: tally show "), "\(several)")
      #expect(try !program.run(["done", "cheese"]).errors.contains("Did you mean"))
      // What is done already is not offered.
      _ = try program.run(["done", handle])
      #expect(try !program.run(["done", "milk"]).errors.contains("Run:"))
    }
  }

  /// Each command that an error offers can be run as it is printed.
  @Test(
    arguments: [
      (["done", "Buy", "milk"], "done MILK"), (["done", "buy", "MILK", "--only"], "done MILK --only"),
      (["done", "Buy", "--only", "milk"], "done MILK --only"), (["done", "FEED", "milk"], "done FEED MILK"),
      (["edit", "milk", "--title", "milk"], "edit MILK --title milk"),
      (["edit", "--notes=milk", "milk"], "edit '--notes=milk' MILK"),
      (["add", "milk", "--parent", "milk"], "add milk --parent MILK"),
      (["add", "milk", "--after=bread"], "add milk '--after=BREAD'"),
      (["edit", "FEED", "--after", "milk", "--not-after", "FEED"], "edit FEED --after MILK --not-after FEED"),
      (["delete", "--", "milk"], "delete -- MILK"), (["snooze", "milk", "1h"], "snooze MILK 1h"),
      (["snooze", "milk"], "snooze MILK"),
      // Another name is none, too.
      (["done", "milk", "bread"], nil), (["done", "Buy", "cheese"], nil), (["edit", "milk", "--after", "bread"], nil),
    ] as [([String], String?)])
  func anOfferedCommandIsValid(arguments: [String], command: String?) throws {
    try withProgram { program in
      var handles: [String: String] = [:]
      for title in ["Buy milk", "Buy bread", "Feed the cat"] {
        let output = try program.run(["add", title, "--json", "--remind", "2026-12-01 9:00"]).output
        let name = title == "Feed the cat" ? "FEED" : String(title.split(separator: " ")[1]).uppercased()
        handles[name] = String(try #require(output.firstMatch(of: /"handle":"([^"]*)"/)).1)
      }
      func filled(_ text: String) -> String { handles.reduce(text) { $0.replacing($1.key, with: $1.value) } }
      let store = ["--store", program.store.string]
      let given = arguments.map { $0 == "MILK" ? $0 : filled($0) }
      for place in [[], store] {
        let errors = try program.runBare(place + given).errors
        let start = (["tally"] + place).joined(separator: " ")
        #expect(errors.contains("Error: No task has the handle '"), "\(errors)")
        if let command {
          #expect(errors.contains("Run: \(start) \(filled(command))\n"), "\(errors)")
        } else {
          #expect(!errors.contains("Run: ") && !errors.contains("as in: "), "\(errors)")
        }
      }
    }
  }

  /// A command in an error or in a view is for the store that the person has named, and ends without a full stop.
  @Test func anOfferedCommandIsForTheSameStore() throws {
    try withProgram { program in
      let store = ["--store", program.store.string]
      for arguments in [["add", "Water"], ["lists", "add", "Home"], ["lists", "add", "Home", "--force"]] {
        #expect(try program.runBare(arguments + store).status == 0)
      }
      let line = "tally \(store.joined(separator: " "))"
      #expect(try program.runBare(["list", "Home"] + store).errors.contains(": \(line) lists merge Home Home\n"))
      #expect(try program.runBare(store).output.contains("1 in the inbox: \(line) inbox --open\n"))
      let handle = try program.runBare(["all", "--plain"] + store).output.prefix { $0 != "\t" }
      #expect(
        try program.runBare(["snooze", String(handle)] + store).errors.contains(
          ": \(line) snooze \(handle) --until 1h\n"))
    }
  }

  @Test func aWholeTitleIsMeantBeforeALongerOne() throws {
    try withProgram { (program: Program) throws in
      for title in ["Milk chocolate", "Milk", "Buy milk", "milk shake", "TEA", "tea", "Tea time"] {
        _ = try program.run(["add", title])
      }
      func handle(_ title: String) throws -> String {
        let lines = try program.run(["all", "--plain"]).output.split(separator: "\n")
        let line = try #require(lines.first { $0.split(separator: "\t").contains(title[...]) })
        return String(line.prefix { $0 != "\t" })
      }
      for (name, title) in [("Milk", "Milk"), ("milk", "Milk"), ("tea", "tea"), ("TEA", "TEA")] {
        let wanted = try handle(title)
        for command in ["done", "show", "start", "delete"] {
          let errors = try program.runBare([command, name]).errors
          #expect(errors.contains("Run: tally \(command) \(wanted)"), "\(errors)")
        }
      }
      let several = try program.runBare(["show", "Tea"]).errors
      #expect(several.contains("“TEA”") && several.contains("“tea”") && !several.contains("Tea time"), "\(several)")
    }
  }

  @Test func aFieldOfAnotherProgramIsTranslated() throws {
    try withProgram { (program: Program) throws in
      for (filter, words) in [
        ("project:Home", "Write list:Home."), ("folder:Work", "Write list:Work."), ("label:garden", "Write +garden."),
      ] {
        let outcome = try program.run(["find", filter])
        #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome.errors)")
      }
      let dates = try program.run(["find", "due:frday"]).errors
      #expect(dates.contains("“frday” is not a time (column 5)."), "\(dates)")
      let rule = try program.run(["add", "x", "--repeat", "every blue moon"]).errors
      #expect(rule.contains("--repeat: “every blue moon” is not a way to repeat."), "\(rule)")
    }
  }

  @Test func theTimeOfASnoozeMayComeLastAndMustBeToCome() throws {
    try withProgram { (program: Program) throws in
      _ = try program.run(["quick", "Pills every day 9:00"])
      let handle = try #require(
        program.run(["find", "Pills", "--plain"]).output.split(separator: "\t").first.map(String.init))
      for words in [["1h"], ["tomorrow"], ["tomorrow", "9:00"], ["2026-11-30"], ["next", "monday", "17:00"]] {
        _ = try program.run(["snooze", handle, "5h"])
        let last = try program.run(["snooze", handle] + words + ["--json"])
        #expect(last.status == 0)
        _ = try program.run(["snooze", handle, "5h"])
        let option = try program.run(["snooze", handle, "--until", words.joined(separator: " "), "--json"])
        #expect(last.output == option.output, "\(words): \(last.output)\(last.errors)")
      }
      for words in [[handle], [handle, "sometime"]] {
        let missing = try program.run(["snooze"] + words)
        #expect(missing.status == 64)
        let command = "Say until when: tally snooze \(words.joined(separator: " ")) --until 1h"
        #expect(missing.errors.contains(command), "\(missing.errors)")
      }
      for past in ["yesterday", "2026-11-20", "2020-01-01T00:00:00Z"] {
        let outcome = try program.run(["snooze", handle, "--until", past])
        #expect(outcome.status == 0 && outcome.errors.contains("has passed"), "\(outcome.errors)")
      }
    }
  }

  @Test func addSaysWhichWordsQuickWouldHaveRead() throws {
    try withProgram { (program: Program) throws in
      let outcome = try program.run(["add", "Buy", "milk", "tomorrow"])
      #expect(
        outcome.errors.contains(
          """
          'tally quick' reads tomorrow; here it is part of the title.
          To have it read: tally undo && tally quick 'Buy milk tomorrow'

          """), "\(outcome.errors)")
      let tag = try program.run(["add", "Buy milk +home p1"]).errors
      #expect(tag.contains("'tally quick' reads +home and p1; here they are part of the title."), "\(tag)")
      let all = try program.run(["add", "it's late at 9 every week p1 #home project:Home"]).errors
      #expect(all.contains("reads at 9, every week, p1, #home and project:Home; here"), "\(all)")
      let command = "tally undo && tally quick 'it'\\''s late at 9 every week p1 #home project:Home'\n"
      #expect(all.contains(command), "\(all)")
      // What else was given would be lost.
      #expect(try !program.run(["add", "x tomorrow", "--tag", "a"]).errors.contains("tally undo &&"))
      for arguments in [["add", "Read 1984"], ["add", "x", "tomorrow", "--quiet"], ["log", "Ran tomorrow"]] {
        #expect(try !program.run(arguments).errors.contains("of the title"), "\(arguments)")
      }
      #expect(try !program.run(["add", "x tomorrow", "--json"]).errors.contains("of the title"))
      #expect(try !program.run(["add", "-"], input: "x tomorrow\n").errors.contains("of the title"))
      _ = try program.run(["config", "hints", "off"])
      let silent = try program.run(["add", "x tomorrow"]).errors
      #expect(!silent.contains("of the title") && !silent.contains("To undo") && silent.contains("Added"), "\(silent)")
    }
  }

  @Test func findWithoutAFilterListsNothingAndSaysWhy() throws {
    try withProgram { (program: Program) throws in
      _ = try program.run(["add", "Buy milk"])
      let outcome = try program.run(["find"])
      #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.contains("drops what follows #"))
      #expect(try program.run(["find", "--plain"]).output.contains("Buy milk"))
      #expect(try program.run(["find", ""]).output.contains("Buy milk"))
    }
  }

  @Test func listAloneShowsTheLists() throws {
    try withProgram { (program: Program) throws in
      _ = try program.run(["lists", "add", "Work"])
      for format in [[], ["--json"], ["--plain"]] {
        #expect(try program.run(["list"] + format).output == program.run(["lists"] + format).output)
      }
      let json = try program.run(["list", "work", "--json"]).output
      #expect(json.contains("\"list\":\"Work\""), "\(json)")
    }
  }

  @Test(.enabled(if: PseudoTerminal.isSupported))
  func undoIsOfferedOncePerSessionOfATerminal() throws {
    try withProgram { (program: Program) throws in
      let terminal = PseudoTerminal(columns: 80, rows: 24)
      // One shell is one session; each run of it is another one.
      let script = "setsid -w sh -c '\(Program.executable.path) add a; \(Program.executable.path) add b'"
      func offers() throws -> Int {
        let (_, text) = try terminal.run(
          URL(filePath: "/bin/sh"), ["-c", script], in: program.directory, environment: program.environment)
        #expect(text.contains("Added") && text.components(separatedBy: "Added").count == 3, "\(text)")
        return text.components(separatedBy: "To undo").count - 1
      }
      #expect(try offers() == 1)
      #expect(try offers() == 1)
      // Into a file it is said each time.
      #expect(try program.run(["add", "c"]).errors.contains("To undo"))
      #expect(try program.run(["add", "d"]).errors.contains("To undo"))
    }
  }

  @Test func theProcessThatKeepsACompactionWaitingIsNamed() throws {
    try withProgram { (program: Program) throws in
      let store = try TaskStore(at: program.store)
      let errors = program.directory.appending("errors").string
      try Data().write(to: URL(filePath: errors))
      let process = Process()
      process.executableURL = Program.executable
      process.arguments = ["compact"]
      process.environment = program.environment
      process.standardError = FileHandle(forWritingAtPath: errors)
      try process.run()
      let name = "Waiting for process \(ProcessInfo.processInfo.processIdentifier) "
      while process.isRunning, try !String(contentsOfFile: errors, encoding: .utf8).contains(name) {
        Thread.sleep(forTimeInterval: 0.05)
      }
      try store.close()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      let text = try String(contentsOfFile: errors, encoding: .utf8)
      #expect(text.hasPrefix(name) && text.split(separator: "\n").count == 2, "\(text)")
    }
  }
}
