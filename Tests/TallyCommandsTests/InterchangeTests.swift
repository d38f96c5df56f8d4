import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// `export` and `import` as programs use them.
struct InterchangeTests {
  @Test func exportWithoutAFileTakesTheDefaultNameInTheCurrentDirectory() throws {
    try withProgram { program in
      let refused = try program.run(["export"])
      #expect(refused.status == 1, "an empty export must not replace a good one")
      _ = try program.run(["add", "one"])
      let outcome = try program.run(["export"])
      #expect(outcome.output == "Tally-Tasks-Export-2026-11-21.json\n")
      let path = program.directory.appending("Tally-Tasks-Export-2026-11-21.json").string
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func aCompletionWithoutADateIsSaidToBeUnknown() throws {
    try withProgram { program in
      for zone in ["Europe/Istanbul", "America/New_York"] {
        _ = try program.run(["import", "-", "--format", "todotxt"], input: "x Paid the rent\n")
        let all = try program.run(["all", "--time-zone", zone])
        #expect(all.output.contains("done, date unknown"), "\(all.output)")
        let handle = try #require(program.run(["all", "--plain"]).output.split(separator: "\t").first.map(String.init))
        let sheet = try program.run(["show", handle, "--time-zone", zone]).output
        #expect(sheet.contains("date unknown"), "\(sheet)")
        let completed = try program.run(["completed", "--time-zone", zone]).output
        #expect(completed.contains("Date unknown"), "\(completed)")
        for text in [all.output, sheet, completed] {
          #expect(!text.contains("1970") && !text.contains("1969"), "\(text)")
        }
        let json = try program.run(["show", handle, "--json"]).output
        #expect(json.contains("\"completedAt\":\"1970-01-01T00:00:00Z\""), "\(json)")
      }
    }
  }

  @Test func annotationsOfTaskwarriorAreShownAsLines() throws {
    try withProgram { program in
      let document = """
        [{"uuid":"0190a0b0-0000-7000-8000-00000000abcd","description":"Call","status":"pending",\
        "entry":"20261101T080000Z","annotations":[{"entry":"20261121T080000Z","description":"busy"},\
        {"entry":"soon","description":"try again"}]}]
        """
      let imported = try program.run(["import", "-", "--format", "taskwarrior"], input: document)
      #expect(imported.status == 0, "\(imported.errors)")
      let sheet = try program.run(["show", "abcd", "--time-zone", "Europe/Istanbul"]).output
      #expect(sheet.contains("Sat 21 Nov 11:00  busy\n") && !sheet.contains("[{"), "\(sheet)")
    }
  }

  @Test func exportImportedIntoAnotherStoreGivesTheSameBytes() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let first = try program.run(["export", "-o", "-"])
      let other = program.directory.appending("other").string
      #expect(try program.run(["--store", other, "import", "-"], input: first.output).status == 0)
      #expect(try program.run(["--store", other, "export", "-o", "-"]).output == first.output)
    }
  }

  @Test func failedImportLeavesTheStoreUnchanged() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let before = try program.run(["export", "-o", "-"]).output
      for document in [
        "{\"text\":\"a\"}\n{\"text\":\"b\"", "{\"text\":\"a\"}\n{\"state\":\"active\"}\n", "{\"text\":\"a\"}\n[]\n",
      ] {
        #expect(try program.run(["import", "-", "--format", "ndjson"], input: document).status == 65)
      }
      #expect(try program.run(["export", "-o", "-"]).output == before)
    }
  }

  @Test func interruptedImportLeavesTheStoreUnchanged() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let before = try program.run(["export", "-o", "-"]).output
      let path = Program.executable.path
      let outcome = try FailureTests.shell(
        program,
        """
        mkfifo input; exec 3<> input; echo '{"text":"a"}' >&3
        '\(path)' import - --format ndjson <&3 & process=$!
        until ls -l /proc/$process/fd | grep -q "(deleted)" || ! kill -0 $process; do sleep 0.02; done
        kill -INT $process; wait $process
        """
      )
      #expect(outcome.status == 130)
      #expect(try program.run(["export", "-o", "-"]).output == before)
      let names = try FileManager.default.contentsOfDirectory(atPath: program.store.string).sorted()
      #expect(names == ["access.lock", "data.mdb", "lock.mdb"])
    }
  }

  @Test func anInterruptedImportOfAFileSaysSoAndCreatesNoStore() throws {
    try withProgram { program in
      let path = Program.executable.path
      let outcome = try FailureTests.shell(
        program,
        """
        yes '{"text":"a"}' | head -n 300000 > input.ndjson
        '\(path)' import input.ndjson & process=$!
        until grep -qs tally.read /proc/$process/task/*/comm || ! kill -0 $process; do sleep 0.01; done
        kill -INT $process; wait $process
        """
      )
      #expect(outcome.status == 130)
      #expect(outcome.errors.contains("Importing was interrupted"), "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
    }
  }

  @Test func whatIsTooLargeToBeUndoneIsSaidBeforeAndAfterInEveryFormat() throws {
    try withProgram { program in
      let notes = String(repeating: "x", count: 9_000)
      let lines = (1...1_000).map { "{\"text\":\"task \($0)\",\"notes\":\"\(notes)\"}\n" }.joined()
      #expect(try program.run(["import", "-", "--format", "ndjson", "--quiet"], input: lines).status == 0)
      // Undoing the import would replace 9 MB, which the history does not hold.
      let before = try program.run(["undo", "--dry-run", "--json"]).errors
      #expect(before.contains("There is no room to record this change"), "\(before)")
      let after = try program.run(["undo"]).errors
      #expect(after.contains(": 0 changed, 1,000 deleted.\n"), "\(after)")
      #expect(after.contains("This cannot be redone"), "\(after)")
    }
  }

  /// The bug: a killed export or backup left a file with tasks that nothing removed.
  ///
  /// Whenever the command is killed, the next command of any kind that writes there leaves only its own file.
  @Test(arguments: [
    ("export -o out", "backup new"), ("backup out", "export -o new"), ("stats --html out", "backup new"),
    ("export -o out --format csv", "stats --html new"), ("backup out", "backup new"),
    ("export -o out --format markdown", "export -o new --format ical"),
  ])
  func whatAKilledCommandLeftGoesWithTheNextThatWritesThere(killed: String, next: String) throws {
    try withProgram { program in
      let lines = (1...3_000).map { "{\"text\":\"task \($0)\"}\n" }.joined()
      #expect(try program.run(["import", "-", "--format", "ndjson", "--quiet"], input: lines).status == 0)
      let path = Program.executable.path
      let outcome = try FailureTests.shell(
        program,
        """
        mkdir dir && cd dir && echo mine > .tally-export-Mine.tmp
        '\(path)' \(killed) > /dev/null 2>&1 & process=$!
        until ls -A | grep -q 'tally-[ec].*[0-9a-z]' || ! kill -0 $process 2> /dev/null; do :; done
        kill -KILL $process 2> /dev/null; wait $process 2> /dev/null
        # What a killed command leaves, in case a fast machine had finished it.
        mkdir .tally-copy.new-0b5c2a52-6c9d-4f4e-8c7c-8f1f8a9b0c1d && echo x > .tally-copy.new-*/data.mdb
        echo x > .tally-export-3x.tmp; rm -f out
        '\(path)' \(next) > /dev/null 2>&1; echo $? $(ls -A)
        """
      )
      #expect(outcome.output == "0 .tally-export-Mine.tmp new\n", "\(outcome.output) \(outcome.errors)")
    }
  }

  /// The bug: Ctrl-C while a pipe was read left a new store without tasks.
  @Test(arguments: ["INT", "TERM", "KILL"])
  func anImportFromAPipeThatIsInterruptedCreatesNoStore(signal: String) throws {
    try withProgram { program in
      let path = Program.executable.path
      let outcome = try FailureTests.shell(
        program,
        """
        mkfifo pipe; '\(path)' import - --format ndjson < pipe & process=$!
        exec 3> pipe; echo '{"text":"a"}' >&3
        # Waits until the program has opened the temporary file into which it copies the pipe.
        until [ -n "$(ls -l /proc/$process/fd 2> /dev/null | grep deleted)" ] || ! kill -0 $process; do :; done
        kill -\(signal) $process; wait $process 2> /dev/null; ls -A store 2> /dev/null
        exec 3>&-
        """
      )
      #expect(outcome.output == "", "\(outcome.output) \(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
      let whole = try FailureTests.shell(
        program, "echo '{\"text\":\"a\"}' | tally import - --format ndjson; tally count")
      #expect(whole.output.contains("1\n"), "\(whole.output) \(whole.errors)")
    }
  }

  @Test func interruptedExportLeavesNothingBehind() throws {
    try withProgram { program in
      let lines = (1...20_000).map { "{\"text\":\"task \($0)\"}\n" }.joined()
      #expect(try program.run(["import", "-", "--format", "ndjson", "--quiet"], input: lines).status == 0)
      let path = Program.executable.path
      let outcome = try FailureTests.shell(
        program,
        """
        mkdir out && cd out && echo old > backup.json
        '\(path)' export -o backup.json > /dev/null & process=$!
        until ls -a | grep -q '^.tally-export' || ! kill -0 $process 2> /dev/null; do :; done
        kill -INT $process 2> /dev/null; wait $process; echo $? $(ls -A) $(head -c 3 backup.json)
        """
      )
      // A machine fast enough may finish before the signal comes; then the export is whole.
      #expect(
        ["130 backup.json old\n", "0 backup.json {\n", "130 backup.json {\n"].contains(outcome.output),
        "\(outcome.output)"
      )
    }
  }
}
