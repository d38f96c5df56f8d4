import Testing

/// What the program says of series, and of filters and orders that cannot be.
struct SeriesTests {
  @Test func theLastTaskOfASeriesSaysSo() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let words = "The series has ended."
      for (recurrence, isLast) in [("FREQ=DAILY;COUNT=1", true), ("FREQ=DAILY;COUNT=2", false)] {
        #expect(try program.run(["edit", "91bc", "--repeat", recurrence]).status == 0)
        let outcome = try program.run(["done", "91bc"])
        #expect(outcome.errors.contains(words) == isLast, "\(outcome.errors)")
        #expect(try !program.run(["done", "91bc"]).errors.contains(words), "it was done already")
        #expect(try program.run(["reopen", "91bc"]).status == 0)
      }
    }
  }

  // MARK: What an edit says it has changed. Now is Saturday, 2026-11-21, 13:00.

  /// The handle of a new task.
  private func add(_ arguments: [String], to program: Program) throws -> String {
    #expect(try program.run(["add"] + arguments).status == 0)
    let found = try program.run(["find", arguments[0], "--json"]).output
    let id = try #require(found.matches(of: /"id":"([^"]*)"/).last).1
    return String(id)
  }

  /// A time alone is one of the task's own day, on whatever day that is.
  @Test(
    arguments: [
      (
        ["--on", "2026-12-01", "--due", "2026-12-03 9:00", "--repeat", "every week"], ["--due", "10:00"], "3 Dec 10:00"
      ),
      (["--due", "2026-12-03", "--repeat", "every week"], ["--due", "23:30"], "3 Dec 23:30"),
      (["--on", "2026-12-01", "--repeat", "every week"], ["--due", "8:15"], "1 Dec 08:15"),
      (["--on", "2026-12-01", "--due", "2026-12-01", "--repeat", "every week"], ["--remind", "7:00"], "1 Dec 07:00"),
      (["--on", "2026-12-01", "--repeat", "every week"], ["--on", "2026-12-04", "--due", "7:00"], "4 Dec 07:00"),
      (
        ["--on", "2026-12-01", "--due", "2026-12-03", "--repeat", "every week"], ["--on", "none", "--due", "7:00"],
        "3 Dec 07:00"
      ),
      (["--due", "2026-12-03", "--repeat", "every week"], ["--due", "tomorrow 9:00"], "22 Nov 09:00"),
    ] as [([String], [String], String)])
  func aTimeAloneIsOnTheDayOfTheTaskOfASeries(new: [String], edit: [String], time: String) throws {
    try withProgram { program in
      let id = try add(["Report"] + new, to: program)
      let outcome = try program.run(["edit", id, "--series"] + edit)
      #expect(outcome.status == 0 && outcome.errors.contains(time), "\(outcome.errors)")
      #expect(outcome.errors.contains(", from now on"), "\(outcome.errors)")
    }
  }

  @Test func anEditSaysWhatHoldsFromNowOn() throws {
    try withProgram { program in
      let parent = try add(["Parent"], to: program)
      let id = try add(["Water", "--on", "2026-11-23", "--repeat", "every monday"], to: program)
      let rows: [([String], String)] = [
        (["--title", "Water all"], ", this time only."), (["--title", "Water it", "--series"], ", from now on."),
        (["--after", parent], ", this time only."), (["--not-after", parent, "--series"], ", this time only."),
        (["--series", "--after", parent, "--tag", "a"], ", from now on; what it waits for, this time only."),
        (["--after", "none"], ", this time only."), (["--parent", parent], ", from now on."),
        (["--parent", "none", "--tag", "b"], ", this time only; its parent from now on."),
        (["--series", "--on", "2026-11-25"], "every Monday → every Wednesday, from now on."),
        (["--repeat", "every day", "--priority", "high"], ", from now on."),
        (["--title", "Water one"], ", this time only."), (["--series", "--title", "Water one"], ", from now on."),
        (["--series", "--title", "Water one"], "No change"), (["--series", "--on", "none"], ", this time only."),
      ]
      for (edit, words) in rows {
        let outcome = try program.run(["edit", id] + edit)
        #expect(outcome.errors.contains(words), "\(edit): \(outcome.errors)")
      }
    }
  }

  /// After completion, the next task is counted from the completion, wherever this one was moved.
  @Test func anEditOfATaskAfterCompletionSaysWhatHoldsFromNowOn() throws {
    try withProgram { program in
      let rule = "3 days after completion"
      let id = try add(["Filter", "--on", "2026-11-23", "--due", "2026-11-24", "--repeat", rule], to: program)
      for (edit, words) in [
        (["--on", "2026-11-25", "--due", "2026-11-26"], ", this time only."),
        (["--due", "2026-11-27"], ", from now on."),
        (["--on", "2026-11-26", "--due", "2026-11-29"], ", from now on."), (["--tag", "home"], ", from now on."),
      ] {
        let outcome = try program.run(["edit", id, "--series"] + edit)
        #expect(outcome.errors.contains(words), "\(edit): \(outcome.errors)")
      }
    }
  }

  /// A series below a task that does not repeat ends with it, and that is said; below one that repeats, it begins again.
  @Test(
    arguments: [
      ([], "done", true), ([], "cancel", true), (["--on", "2026-11-23", "--repeat", "every week"], "done", false),
    ] as [([String], String, Bool)])
  func aSeriesThatEndsWithItsParentIsSaid(parent: [String], command: String, hasEnded: Bool) throws {
    try withProgram { program in
      let id = try add(["Garden"] + parent, to: program)
      _ = try add(["Water", "--on", "2026-11-23", "--repeat", "every day", "--parent", id], to: program)
      var outcome = try program.run([command, id])
      #expect(outcome.errors.contains("has ended.") == hasEnded, "\(outcome.errors)")
      // The copies of later parents have ids by which they are not found.
      for _ in 0..<10 where !hasEnded {
        outcome = try program.run([command, "--where", "Garden is:open"])
        #expect(outcome.status == 0 && !outcome.errors.contains("has ended."), "\(outcome.errors)")
      }
      #expect(!hasEnded || outcome.errors.contains(/The series of .*“Water” has ended\./), "\(outcome.errors)")
    }
  }

  @Test func aClosedTaskStandsForTheOpenOne() throws {
    try withProgram { program in
      let id = try add(["Water", "--today", "--repeat", "every day"], to: program)
      #expect(try program.run(["done", id]).status == 0)
      var outcome = try program.run(["edit", id, "--repeat", "every week"])
      #expect(outcome.status == 64 && outcome.errors.contains("its series goes on with"), "\(outcome.errors)")
      outcome = try program.run(["edit", id, "--series", "--title", "Water all"])
      #expect(outcome.errors.contains("Water all") && outcome.errors.contains(", from now on."), "\(outcome.errors)")
      let titles = try program.run(["find", "is:open", "--json"]).output
      #expect(titles.contains("Water all"))
      let last = try add(["Once", "--today", "--repeat", "FREQ=DAILY;COUNT=1"], to: program)
      #expect(try program.run(["done", last]).status == 0)
      let filter = ["edit", "--where", "Once or Water", "--series", "--priority", "high"]
      outcome = try program.run(filter)
      #expect(outcome.status == 0 && outcome.errors.contains("1 task is left out: no task of the"), "\(outcome.errors)")
      outcome = try program.run(["edit", last, "--series", "--title", "Twice"])
      #expect(outcome.status == 64 && outcome.errors.contains("No task of this series is open"), "\(outcome.errors)")
    }
  }

  /// A rule for a closed task would repeat nothing, unless its series goes on.
  @Test(arguments: [["--repeat", "every day for 1 time"], []])
  func aRuleForAClosedTaskIsRefused(options: [String]) throws {
    try withProgram { program in
      let id = try add(["Water", "--today"] + options, to: program)
      for close in ["done", "cancel"] {
        #expect(try program.run([close, id]).status == 0)
        for selection in [[id], ["--where", "water"]] {
          let outcome = try program.run(["edit", "--repeat", "every week"] + selection)
          #expect(outcome.status == 64 && outcome.errors.contains("so no task would repeat"), "\(outcome.errors)")
          #expect(outcome.errors.contains("its series has ended") == !options.isEmpty, "\(outcome.errors)")
          let command = try #require(outcome.errors.firstMatch(of: /: tally (reopen [0-9a-f]+)[;\n]/)).1
          #expect(try program.run(command.split(separator: " ").map(String.init)).status == 0)
          #expect(try program.run(["edit", "--repeat", "every week"] + selection).status == 0)
          #expect(try program.run(["edit", "--repeat", "none"] + selection).status == 0)
          if !options.isEmpty { #expect(try program.run(["edit", id] + options).status == 0) }
          #expect(try program.run([close, id]).status == 0)
        }
        #expect(try program.run(["edit", id, "--title", "Water all"]).status == 0)
        #expect(try program.run(["reopen", id]).status == 0)
      }
    }
  }

  @Test func aSubtaskThatGoesOnIsSaidToDoSo() throws {
    try withProgram { program in
      let id = try add(["Sprint", "--today", "--repeat", "every week"], to: program)
      let part = try add(["Stand-up", "--on", "2026-11-27", "--parent", id, "--repeat", "every day"], to: program)
      #expect(try program.run(["done", part]).status == 0)
      let outcome = try program.run(["done", id])
      #expect(outcome.errors.contains("1 sub-task goes on below the next one:"), "\(outcome.errors)")
      #expect(!outcome.errors.contains("stays open") && !outcome.errors.contains("Also changed"), "\(outcome.errors)")
    }
  }

  @Test func aFilterThatNamesNoListIsAnErrorWithTheNameAndItsColumn() throws {
    try withProgram { program in
      try Fixture.fill(program)
      for arguments in [["find"], ["count"], ["filters", "add", "name"]] {
        let outcome = try program.run(arguments + ["#home", "list:Nope"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("a list “Nope” that does not exist (column 12)"), "\(outcome.errors)")
      }
      #expect(try program.run(["filters"]).output.isEmpty)
    }
  }

  @Test func anOrderThatDoesNotExistIsAnErrorWithTheChoices() throws {
    try withProgram { program in
      let outcome = try program.run(["find", "--sort", "sideways"])
      #expect(outcome.status == 64 && outcome.errors.contains(", priority:reversed, "), "\(outcome.errors)")
    }
  }

  @Test func aSearchWithoutAWordIsAnError() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try program.run(["search", "!"]).status == 64)
    }
  }
}
