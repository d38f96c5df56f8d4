import Foundation
import Testing

/// What people see, kept as text in `Snapshots/`; see ``Transcript``.
struct TranscriptTests {
  @Test func viewsShowTheirTasksBySection() throws {
    try withFixture("views") { transcript in
      try transcript.run()
      try transcript.run("inbox")
      try transcript.run("upcoming")
      try transcript.run("past")
      try transcript.run("overdue")
      try transcript.run("active")
      try transcript.run("completed")
      try transcript.run("list", "work")
      try transcript.run("all")
      try transcript.run("lists")
      try transcript.run("show", "7f3a")
      try transcript.run("show", "2e11")
    }
  }

  @Test(arguments: [40, 120])
  func viewsFitTheTerminal(columns: Int) throws {
    try withFixture("views-\(columns)") { transcript in
      try transcript.run("today", columns: columns)
      try transcript.run("all", columns: columns)
      try transcript.run("completed", "--list", "Work", columns: columns)
      try transcript.run("show", "7f3a", columns: columns)
    }
  }

  @Test func emptyViewsSayWhatTheyAreForAndHowToFillThem() throws {
    try withProgram { program in
      var transcript = Transcript(program)
      try transcript.run("lists", "add", "Work", "--quiet")
      for view in ["today", "inbox", "upcoming", "past", "overdue", "active", "completed", "all"] {
        try transcript.run(view)
      }
      try transcript.run("list", "Work")
      try transcript.check("empty")
    }
  }

  @Test func changesSayWhatTheyDidAndHowToTakeItBack() throws {
    try withFixture("changes") { transcript in
      try transcript.run("add", "Water", "the", "plants", "--tomorrow", "--list", "Home 家", "--due", "tomorrow 18:00")
      try transcript.run("start", "91bc")
      try transcript.run("done", "91bc", "c0de")
      try transcript.run("done", "91bc")
      try transcript.run("done", "91bc", "--at", "yesterday 18:30")
      try transcript.run("reopen", "91bc")
      try transcript.run("edit", "7f3a", "--title", "Draft the report", "--notes", "", "--due", "none")
      try transcript.run("move", "91bc", "be77", "--to", "monday")
      try transcript.run("move", "7f3a", "--to", "none")
      try transcript.run("move", "7f3a", "--to", "inbox")
      try transcript.run("move", "7f3a", "--after", "c0de")
      try transcript.run("move", "c0de", "--list", "Work")
      try transcript.run("delete", "5c21")
      try transcript.run("all")
    }
  }

  @Test func remindersAreShownAndSnoozedAndLinksFollowed() throws {
    try withFixture("reminders") { transcript in
      try transcript.run("reminders")
      try transcript.run("edit", "91bc", "--remind", "2026-11-21T11:00:00Z", "--quiet")
      try transcript.run("reminders", "--from", "today", "--plain")
      try transcript.run("snooze", "91bc", "--until", "tomorrow 08:30")
      try transcript.run("reminders")
      try transcript.run("reminders", "--limit", "1", "--json")
      try transcript.run("reminders", "--limit", "0")
      try transcript.run("snooze", "2e11", "--until", "tomorrow")
      try transcript.run("snooze", "91bc", "--until", "sometime")
      try transcript.run("open", "tally://create-task?title=From%20a%20link&list=Work")
      try transcript.run("open", "tally://create-task?title=x&list=Nowhere")
      try transcript.run("open", "todo://open-task?id=\(Fixture.idPrefix)00007f3a", "--scheme", "todo")
      try transcript.run("open", "tally://open-task?id=\(Fixture.idPrefix)0000ffff")
      try transcript.run("open", "https://example.com/?title=x")
    }
  }

  @Test func undoSaysWhatItTookBackAndRedoBringsItAgain() throws {
    try withFixture("undo") { transcript in
      try transcript.run("redo")
      try transcript.run("done", "91bc", "c0de")
      try transcript.run("undo")
      try transcript.run("show", "91bc", "--plain")
      try transcript.run("redo")
      try transcript.run("redo")
      try transcript.run("undo", "--quiet")
      try transcript.run("lists", "delete", "Work", "--force")
      try transcript.run("undo")
      try transcript.run("lists", "add", "none")
      try transcript.run("undo", "--store", "store")
      try transcript.run("redo", "--json")
      try transcript.run("delete", "5c21", "7f3a")
      try transcript.run("undo", "--json")
      try transcript.run("redo", "--plain")
      try transcript.run("import", "-", "--format", "ndjson", input: "{\"text\": \"imported\"}\n")
      try transcript.run("undo")
      for _ in 0..<3 { try transcript.run("undo", "--quiet") }
      try transcript.run("undo")
      try transcript.run("undo", "--json")
    }
  }

  @Test func listsAreKept() throws {
    try withFixture("lists") { transcript in
      try transcript.run("lists", "add", "Side projects", "--color", "#34c759")
      try transcript.run("lists", "add", "side projects")
      try transcript.run("lists", "add", "side projects")
      try transcript.run("undo", "--quiet")
      try transcript.run("undo", "--quiet")
      try transcript.run("lists", "rename", "side projects", "Projects")
      try transcript.run("lists", "color", "Projects", "AF52DE")
      try transcript.run("lists", "move", "Projects", "--before", "Work")
      try transcript.run("lists")
      try transcript.run("lists", "delete", "Projects")
      try transcript.run("lists", "delete", "Work")
      try transcript.run("lists", "delete", "Work", "--force")
      try transcript.run("lists")
    }
  }

  @Test func errorsSayWhatIsWrongAndWhatToDo() throws {
    try withFixture("errors") { transcript in
      try transcript.run("todya")
      try transcript.run("help", "todya")
      try transcript.run("add")
      try transcript.run("add", "   ")
      try transcript.run("add", "x", "--today", "--on", "friday")
      try transcript.run("add", "x", "--on", "frday")
      try transcript.run("add", "x", "--due", "2026-02-30")
      try transcript.run("add", "x", "--list", "Wrok")
      try transcript.run("list", "Nowhere")
      try transcript.run("show", "zzzz")
      try transcript.run("show", "44f0")
      try transcript.run("edit", "7f3a")
      try transcript.run("edit", "7f3a", "--title", "\n")
      try transcript.run("move", "7f3a")
      try transcript.run("move", "7f3a", "--before", "c0de")
      try transcript.run("move", "7f3a", "--before", "7f3a")
      try transcript.run("move", "7f3a", "--to", "inbox", "--list", "Work")
      try transcript.run("done", "7f3a", "--at", "yesterday")
      try transcript.run("completed", "--from", "2026-02-01", "--to", "2026-01-01")
      try transcript.run("lists", "add", "x", "--color", "orange")
      try transcript.run("today", "--json", "--plain")
      try transcript.run("today", "--time-zone", "Europe/Istambul")
      try transcript.run("show", "zzzz", "--json")
      try transcript.run("frobnicate", "--json")
      try transcript.run("today", "--frob", "--json")
      try transcript.run("add", "--urgent")
      try transcript.run("add", "--urgent", "call", "--today")
      try transcript.run("lists", "add", "-1")
      try transcript.run("list", "-1")
      try transcript.run("remind", "--exec", "notify-send", "--urgent")
      try transcript.run("done", "--urgent")
      try transcript.run("delete", "-x")
      try transcript.run("open", "--urgent")
      try transcript.run("backup", "--urgent")
    }
  }

  @Test func programsGetJSONAndRecords() throws {
    try withFixture("formats") { transcript in
      try transcript.run("today", "--json")
      try transcript.run("upcoming", "--json")
      try transcript.run("past", "--json")
      try transcript.run("lists", "--json")
      try transcript.run("show", "be77", "--json")
      try transcript.run("done", "91bc", "--json")
      try transcript.run("lists", "delete", "Work", "--force", "--json")
      try transcript.run("all", "--plain")
      try transcript.run("lists", "--plain")
      try transcript.run("show", "be77", "--plain")
      try transcript.run("delete", "be77", "--plain")
    }
  }

  @Test func helpTellsEveryCommand() throws {
    try withProgram { program in
      var transcript = Transcript(program)
      try transcript.run("--version")
      try transcript.run("--help")
      for command in RequiredCommands.names { try transcript.run(["help"] + command) }
      try transcript.check("help")
    }
  }

  private func withFixture(_ name: String, _ body: (inout Transcript) throws -> Void) throws {
    try withProgram { program in
      try Fixture.fill(program)
      var transcript = Transcript(program)
      try body(&transcript)
      try transcript.check(name)
    }
  }
}

/// The commands of the contract that exist by now.
enum RequiredCommands {
  static let names: [[String]] =
    [
      "add", "inbox", "today", "upcoming", "past", "overdue", "active", "all", "completed", "list", "lists", "show",
      "edit", "start", "done", "reopen", "move", "delete", "undo", "redo", "reminders", "snooze", "open", "remind",
      "export", "import", "backup", "restore", "verify", "compact", "info", "stats",
    ].map { [$0] } + ["add", "rename", "color", "move", "delete"].map { ["lists", $0] }

  /// Commands that only read and need no name.
  static let reads = [
    ["today"], ["inbox"], ["upcoming"], ["past"], ["overdue"], ["active"], ["all"], ["completed"], ["lists"], ["info"],
    ["reminders"], ["stats"],
  ]
}
