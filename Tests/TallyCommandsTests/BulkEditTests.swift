import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// Commands that change several tasks: all or none, and one undo for all.
struct BulkEditTests {
  /// A command for the tasks that `is:open` finds, or for two that are named.
  private static let changes: [[String]] = [
    ["edit", "--where", "is:open", "--on", "friday", "--list", "Work", "--tag", "x", "--set", "a=1"],
    ["edit", "91bc", "be77", "--due", "friday", "--remind", "2h", "--notes", "n", "--priority", "low"],
    ["start", "--where", "is:open"], ["done", "--where", "is:open"], ["done", "91bc", "be77", "--only"],
    ["reopen", "--where", "is:done"], ["move", "--where", "is:open", "--to", "eom", "--list", "Home 家"],
    ["move", "0d4e", "91bc", "--before", "7f3a"], ["snooze", "--where", "has:day", "--until", "10m"],
    ["delete", "--where", "is:done or is:open"], ["log", "x", "--list", "Work", "--repeat", "every week", "--today"],
  ]

  @Test(arguments: changes)
  func oneUndoUndoesEverything(command: [String]) throws {
    try withProgram { program in
      try Fixture.fill(program)
      let before = try Self.content(program)
      let outcome = try program.run(command)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.errors.hasSuffix("To undo: tally undo\n"))
      #expect(try Self.content(program) != before)
      #expect(try program.run(["undo"]).status == 0)
      #expect(try Self.content(program) == before)
      #expect(try program.run(["undo"]).status == 0, "the fixture's own write comes next")
      let store = try TaskStore(at: program.store, configuration: .testing())
      try checkInvariants(of: store)
      try store.close()
    }
  }

  /// The reminder that a command names is the one that the task has, even if it is the old one.
  @Test func anExplicitReminderWinsOverTheMovedDay() throws {
    try withProgram { program in
      try Fixture.fill(program)
      func reminder() throws -> Bool {
        try program.run(["show", "91bc", "--json"]).output.contains("\"reminderDate\":\"2026-11-21T15:00:00Z\"")
      }
      #expect(try program.run(["edit", "91bc", "--remind", "today 18:00"]).status == 0)
      #expect(try program.run(["edit", "91bc", "--on", "friday", "--remind", "2026-11-21T15:00:00Z"]).status == 0)
      #expect(try reminder())
      #expect(try program.run(["edit", "91bc", "--on", "today"]).status == 0)
      #expect(try program.run(["edit", "91bc", "--on", "friday"]).status == 0)
      #expect(try !reminder(), "without a reminder of its own the command takes it along")
    }
  }

  @Test(arguments: [
    ["edit", "91bc", "7f3a", "--parent", "91bc"], ["edit", "91bc", "zzzz", "--today"],
    ["move", "91bc", "c0de", "--to", "friday", "--before", "7f3a"], ["snooze", "91bc", "0d4e", "--until", "10m"],
    ["edit", "--where", "is:open", "--title", "x"], ["done", "91bc", "--at", "tomorrow 9:00"],
  ])
  func failureChangesNothing(command: [String]) throws {
    try withProgram { program in
      try Fixture.fill(program)
      let before = try program.run(["export", "-o", "-"]).output
      #expect(try program.run(command).status != 0)
      #expect(try program.run(["export", "-o", "-"]).output == before)
    }
  }

  @Test func filterChangesExactlyWhatFindFinds() throws {
    try withProgram { program in
      try Fixture.fill(program)
      for filter in ["is:open", "list:Work or is:overdue", "-list:Work is:open", "text~the"] {
        let found = try Set(Self.ids(program.run(["find", "--json", "--"] + [filter])))
        #expect(!found.isEmpty)
        let changed = try Set(Self.ids(program.run(["edit", "--where", filter, "--set", "mark=\(filter)", "--json"])))
        #expect(changed == found, "\(filter)")
      }
    }
  }

  @Test(arguments: Commands.names.filter { $0 != ["remind"] })
  func unknownOptionIsNamedFirst(words: [String]) throws {
    try withProgram { program in
      // The parser takes long over a mistake in a debug build: a quick run tries one command in four.
      let isTried = TestSize.isLong || Commands.names.firstIndex(of: words).map { $0 % 4 == 0 } != false
      for arguments in [words + ["--frob"], words + ["7f3a", "--frob"]] where isTried {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("Error: Unknown option '--frob'"), "\(arguments): \(outcome.errors)")
      }
    }
  }

  @Test func editorGetsTheNotesAndGivesThemBack() throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      let directory = program.directory.string
      program.environment["TMPDIR"] = directory
      program.environment["EDITOR"] = "false"
      program.environment["VISUAL"] = "sh '\(directory)/my editor.sh' one"
      func edit(_ script: String, _ options: [String] = []) throws -> Outcome {
        try Data("test \"$1\" = one || exit 9\n\(script)\n".utf8).write(to: URL(filePath: directory + "/my editor.sh"))
        return try program.run(["edit", "7f3a", "--editor", "--json"] + options)
      }
      func notes() throws -> String? {
        let task = try JSONSerialization.jsonObject(with: Data(program.run(["show", "7f3a", "--json"]).output.utf8))
        return (task as? [String: Any])?["notes"] as? String
      }
      #expect(try edit("cp \"$2\" seen; echo ' more' >> \"$2\"; ls -l \"$2\" > mode").status == 0)
      let old = "Ask Ayşe for the figures.\nTwo pages.\n"
      #expect(try String(contentsOfFile: directory + "/seen", encoding: .utf8) == old)
      #expect(try notes() == old + " more")
      #expect(try edit("exit 3").errors.contains("editorFailed"))
      #expect(try edit(": > \"$2\"", ["--priority", "high"]).output.contains(#""priority":"high""#))
      #expect(try notes() == nil)
      let left = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("tally-edit") }
      #expect(left == [])
    }
  }

  /// What the editor does, how the command ends, and what the file holds then.
  @Test(
    arguments: [
      (#"printf 'mine\377' > "$1""#, [], 65, "malformedDocument"),
      (#"echo mine > "$1""#, ["--list", "Nope"], 1, "listNotFound"),
      (#"echo mine > "$1"; exit 3"#, [], 1, "editorFailed"),
      (#"echo mine > "$1"; "$TALLY" edit 7f3a --notes theirs"#, [], 1, "notesChanged"),
      (#"echo mine > "$1"; rm -r "$TALLY_STORE""#, [], 1, "taskNotFound"),
    ] as [(String, [String], Int32, String)])
  func textThatIsNotStoredIsKept(script: String, options: [String], status: Int32, code: String) throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      let directory = program.directory.string
      program.environment.merge(
        ["TMPDIR": directory, "TALLY": Program.executable.path, "EDITOR": "sh '\(directory)/editor'"]) { $1 }
      try Data(script.utf8).write(to: URL(filePath: directory + "/editor"))
      let outcome = try program.run(["edit", "7f3a", "--editor", "--json"] + options)
      #expect(outcome.status == status)
      #expect(outcome.errors.contains("\"code\":\"\(code)\""), "\(outcome.errors)")
      let file = try #require(outcome.errors.firstMatch(of: /Your text is in ([^"]*)"/)?.output.1)
      #expect(try Data(contentsOf: URL(filePath: String(file))).starts(with: Data("mine".utf8)))
    }
  }

  /// An editor was in the background once, where it is stopped as soon as it reads.
  @Test(.enabled(if: PseudoTerminal.isSupported)) func theEditorHasTheTerminal() throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      let directory = program.directory.string
      try Data("stty -echo </dev/tty; read line </dev/tty; echo \"$line\" > \"$1\"\n".utf8)
        .write(to: URL(filePath: directory + "/editor"))
      program.environment["EDITOR"] = "sh '\(directory)/editor'"
      let (status, output) = try PseudoTerminal(columns: 80, rows: 24).run(
        URL(filePath: "/usr/bin/setsid"),
        ["--ctty", "--wait", "timeout", "--foreground", "20", Program.executable.path, "edit", "7f3a", "--editor"],
        in: program.directory, environment: program.environment, typing: "typed\n")
      #expect(status == 0, "\(output)")
      #expect(try program.run(["show", "7f3a", "--json"]).output.contains(#""notes":"typed""#))
    }
  }

  @Test func titlesStayOutOfTheMessagesOfErrors() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try program.run(["lists", "add", "Work", "--force"]).status == 0)
      for (arguments, secret) in [
        (["show", "44f0"], "passport"), (["list", "Wor"], "Work"), (["list", "Work"], "11111111"),
      ] {
        let outcome = try program.run(arguments + ["--json"])
        #expect(outcome.status == 1)
        let error = try #require(Self.object(outcome.errors)["error"] as? [String: Any])
        for key in ["message", "remedy"] { #expect(try !#require(error[key] as? String).contains(secret)) }
        #expect(try #require(error["candidates"] as? [[String: Any]]).count > 0, "\(arguments)")
      }
    }
  }

  private static func object(_ json: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
  }

  /// The ids of the tasks in a view or a change.
  private static func ids(_ outcome: Outcome) throws -> [String] {
    let answer = try object(outcome.output)
    let sections = answer["sections"] as? [[String: Any]] ?? []
    let tasks = answer["changed"] as? [[String: Any]] ?? sections.flatMap { $0["tasks"] as? [[String: Any]] ?? [] }
    return tasks.compactMap { $0["id"] as? String }
  }

  /// The store's content without the times of change, which an undo sets.
  private static func content(_ program: Program) throws -> String {
    try program.run(["export", "-o", "-"]).output.replacing(/"(updatedAt|exportDate)": ?"[^"]*"/, with: "")
  }
}
