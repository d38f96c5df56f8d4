import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// How the program ends if something outside it is wrong.
struct FailureTests {
  @Test func fullDiskBehindTheOutputIsReported() throws {
    try withProgram { program in
      try Fixture.fill(program)
      for arguments in ["all", "all --json", "export -o -", "--help", "--version"] {
        #expect(try Self.shell(program, "tally \(arguments) > /dev/full").status == 74, "\(arguments)")
      }
    }
  }

  @Test func readerThatLeavesEndsTheProgramQuietly() throws {
    try withProgram { program in
      let lines = (1...20_000).map { "task \($0)\n" }.joined()
      #expect(try program.run(["add", "-", "--quiet"], input: lines).status == 0)
      for arguments in ["all --json", "export -o -"] {
        let outcome = try Self.shell(program, "set -o pipefail; tally \(arguments) | head -c 10")
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
      }
    }
  }

  @Test func closedOutputNeverReachesTheStore() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try Self.shell(program, "tally add x --json >&-").status == 74)
      #expect(try Self.shell(program, "tally export -o - >&-").status == 74)
      #expect(try Self.shell(program, "tally add x --json <&- >&- 2>&-").status == 74)
      let store = try TaskStore(at: program.store, configuration: .testing())
      try checkInvariants(of: store)
      #expect(try store.read { try $0.taskCount } == 11)
      try store.close()
    }
  }

  #if os(Linux)
    /// Whichever stream is closed, no file of the store gets its number.
    @Test func closedStreamsAreKeptFromTheStore() throws {
      try withProgram { program in
        try Fixture.fill(program)
        let script = "#!/bin/sh\nfor number in 0 1 2; do readlink /proc/$PPID/fd/$number; done > streams\n"
        try Data(script.utf8).write(to: URL(filePath: program.directory.appending("notify").string))
        _ = try Self.shell(
          program,
          """
          chmod +x notify
          tally remind --exec true --once --journal journal --now 2020-01-01T00:00:00Z
          tally remind --exec ./notify --once --journal journal --now 2027-01-01T00:00:00Z <&- >&- 2>&-
          """)
        let streams = try String(contentsOfFile: program.directory.appending("streams").string, encoding: .utf8)
        #expect(streams == "/dev/null\n/dev/null\n/dev/null\n")
        #expect(try program.run(["verify"]).status == 0)
      }
    }
  #endif

  @Test func failedImportLeavesNoNewStore() throws {
    try withProgram { program in
      let importing = ["import", "-", "--format", "ndjson"]
      #expect(try program.run(importing, input: "{\"text\":\"a\"}\n{\"text\":\" \"}\n").status == 65)
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
      try FileManager.default.createDirectory(atPath: program.store.string, withIntermediateDirectories: true)
      #expect(try program.run(importing, input: "no document").status == 65)
      #expect(try FileManager.default.contentsOfDirectory(atPath: program.store.string) == [])
      #expect(try program.run(importing, input: "{\"text\":\"a\"}\n").status == 0)
      #expect(try program.run(importing, input: "no document").status == 65)
      #expect(try program.run(["all", "--plain"]).output.contains("a"))
    }
  }

  /// The bug: the store was not named, so that following the advice replaced another one.
  @Test func restoringIsUndoneInTheSameStore() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let other = program.directory.appending("the other one").string
      #expect(try program.run(["--store", other, "add", "theirs"]).status == 0)
      #expect(try program.run(["backup", "backup.mdb"]).status == 0)
      let errors = try program.run(["--store", other, "restore", "backup.mdb"]).errors
      let line = try #require(errors.split(separator: "\n").last { $0.hasPrefix("To undo: tally ") })
      let tally = Program.executable.path.shellQuotedForTests
      let before = try program.run(["all", "--plain"]).output
      #expect(try Self.shell(program, tally + line.dropFirst("To undo: tally".count)).status == 0)
      #expect(try program.run(["--store", other, "all", "--plain"]).output.contains("theirs"))
      #expect(try program.run(["all", "--plain"]).output == before)
    }
  }

  @Test func directoryIsNotABackup() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let outcome = try program.run(["restore", program.directory.string])
      #expect(outcome.status == 66)
      #expect(outcome.errors.contains("directory"))
    }
  }

  @Test func pipeIsNotABackupAndDoesNotBlock() throws {
    try withProgram { program in
      try Fixture.fill(program)
      // The status of a program that hangs would be 137; it defers the signal of `timeout`.
      let tally = Program.executable.path.shellQuotedForTests
      let outcome = try Self.shell(program, "mkfifo pipe; timeout --kill-after=1 20 \(tally) restore pipe")
      #expect(outcome.status == 66)
      #expect(outcome.errors.contains("pipe"))
    }
  }

  @Test func readWithoutAStoreSaysWhereItNeedsSpace() throws {
    try withProgram { program in
      var program = program
      // No one can create directories there, not even root.
      program.environment["TMPDIR"] = "/sys"
      let outcome = try program.run(["today"])
      #expect(outcome.status == 73)
      #expect(outcome.errors.contains("'/sys'"))
      #expect(outcome.errors.contains("TMPDIR"))
      _ = try program.run(["add", "x", "--today", "--quiet"])
      #expect(try program.run(["today", "--plain"]).output.contains("\tx\t"))
    }
  }

  @Test func argumentThatIsNotUTF8IsRefused() throws {
    try withProgram { program in
      for line in [
        #"tally add "$(printf 'bad \377')""#, #"tally --store "$(printf 'bad\377')" add x"#,
        #"TALLY_STORE="$(printf 'bad\377')" tally add x"#,
      ] {
        let outcome = try Self.shell(program, line)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("UTF-8"))
      }
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
    }
  }

  @Test func variableThatIsNotUTF8IsRefusedOnlyWhereItIsUsed() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let (tally, store) = (Program.executable.path.shellQuotedForTests, program.store.string.shellQuotedForTests)
      // Not set by bash itself, which would complain about them in its own words.
      func run(_ variables: [String], _ arguments: String) throws -> Outcome {
        let broken = variables.map { $0 + #"="$(printf '/tmp/\377')""# }.joined(separator: " ")
        return try Self.shell(program, "env \(broken) \(tally) \(arguments)")
      }
      for (variables, arguments) in [
        (["HOME"], "--help"), (["HOME"], "inbox"), (["TALLY_STORE"], "--store \(store) inbox"),
        (["TZ"], "--time-zone UTC inbox"), (["LANG", "COLUMNS", "FORCE_COLOR"], "inbox"),
        (["PATH", "HOME"], "remind --exec /bin/true --once --journal journal"),
      ] {
        let outcome = try run(variables, arguments)
        #expect(outcome.status == 0, "\(variables) \(arguments): \(outcome.errors)")
      }
      for (variable, arguments) in [
        ("TALLY_STORE", "inbox"), ("TZ", "inbox"), ("LC_TIME", "stats"), ("PATH", "remind --exec true --once"),
        ("XDG_STATE_HOME", "remind --exec /bin/true --once"), ("HOME", "remind --exec /bin/true --once"),
      ] {
        let outcome = try run([variable], arguments)
        #expect(outcome.status == 64 && outcome.errors.contains("\(variable) is not UTF-8"), "\(outcome.errors)")
      }
      for (variables, named) in [(["HOME"], "HOME"), (["XDG_DATA_HOME", "HOME"], "XDG_DATA_HOME")] {
        let outcome = try run(["-u TALLY_STORE \(variables[0])"] + variables.dropFirst(), "inbox")
        #expect(outcome.status == 64 && outcome.errors.contains("\(named) is not UTF-8"), "\(outcome.errors)")
      }
    }
  }

  /// A program would take U+FFFD for the variable's value.
  @Test func variableThatIsNotUTF8IsNotPassedOnChanged() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let file = program.directory.appending("variables").string
      try Data("#!/bin/sh\nenv > \(file)\n".utf8).write(to: URL(filePath: program.directory.appending("notify").string))
      let outcome = try Self.shell(
        program,
        """
        chmod +x notify; export BROKEN="$(printf '/tmp/\\377')" SOUND=ü
        tally remind --exec true --once --journal journal --now 2020-01-01T00:00:00Z
        tally remind --exec ./notify --once --journal journal --now 2027-01-01T00:00:00Z
        """)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let variables = try String(contentsOfFile: file, encoding: .utf8)
      #expect(variables.contains("SOUND=ü\n") && !variables.contains("BROKEN="))
    }
  }

  /// The bug: the file was overwritten, or lines were added to it, with status 0.
  @Test func noCommandWritesOverAFileOfAStore() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let before = try program.run(["all", "--plain"]).output
      for name in ["data.mdb", "lock.mdb", "access.lock"] {
        #expect(try Self.shell(program, "ln -f store/\(name) \(name).2").status == 0)
        for path in ["store/\(name)", "store/../store/\(name)"] {
          for arguments in [
            ["stats", "--html", path], ["export", "-o", path], ["backup", path],
            ["remind", "--exec", "true", "--once", "--journal", path],
          ] {
            #expect(try program.run(arguments).status == 73, "\(arguments)")
          }
        }
        let outcome = try program.run(["remind", "--exec", "true", "--once", "--journal", "\(name).2"])
        #expect(outcome.status == 73, "\(name).2")
      }
      #expect(try program.run(["restore", "store/data.mdb"]).status == 66)
      #expect(try program.run(["all", "--plain"]).output == before)
      #expect(try program.run(["verify"]).status == 0)
    }
  }

  /// The bug: the lock got no permissions at all, and only its creator's kind could open it again.
  @Test func filesOfAStoreHaveTheirPermissionsWhateverTheMask() throws {
    try withProgram { program in
      let outcome = try Self.shell(program, "umask 777; tally add x --quiet && umask 000 && tally add y --quiet")
      #expect(outcome.status == 0, "\(outcome.errors)")
      for name in ["data.mdb", "lock.mdb", "access.lock"] {
        #expect(try program.store.appending(name).stat().permissions == .ownerReadWrite, "\(name)")
      }
    }
  }

  /// The bug: ICU ended the process over a language of twelve letters or more.
  @Test(arguments: [
    "abcdefghijklmnop", "tr_TR.UTF-8", "C.UTF-8", "zh_Hant_TW", "_", "en_", "a_b_c_d_e_f",
    "tr_TR_abcdefghijklmnopqrstuv", "$(x)", "x@calendar=y", "é_É",
  ])
  func localeOfAnyNameDoesNotEndTheProgram(name: String) throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      for variable in ["LANG", "LC_MESSAGES", "LC_ALL"] {
        program.environment[variable] = name
        #expect(try program.run(["stats"]).status == 0)
      }
    }
  }

  @Test func journalThatIsNotARegularFileIsRefused() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try Self.shell(program, "mkfifo pipe").status == 0)
      for journal in ["pipe", "/dev/null", "/dev/zero", "store"] {
        let outcome = try program.run(["remind", "--exec", "true", "--once", "--journal", journal])
        #expect(outcome.status == 73, "\(journal): \(outcome.errors)")
      }
    }
  }

  /// The bug: each start counted reminders from its own time, and none was ever run.
  @Test(arguments: ["end 2026-11-21T12:00:00Z 00000000-0000-4000-8000-000000000000\n", "Dear diary,\n", "Dear diary"])
  func fileThatIsNotAJournalIsRefusedUnchanged(text: String) throws {
    try withProgram { program in
      try Fixture.fill(program)
      let path = program.directory.appending("file").string
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let outcome = try program.run(["remind", "--exec", "true", "--once", "--journal", path])
      #expect(outcome.status == 73)
      #expect(outcome.errors.contains("--journal"))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
  }

  @Test func journalWithoutADirectoryCannotBeCreated() throws {
    try withProgram { program in
      try Fixture.fill(program)
      var program = program
      program.environment["XDG_STATE_HOME"] = "/sys/tally"
      let outcome = try program.run(["remind", "--exec", "true", "--once"])
      #expect(outcome.status == 73)
      #expect(outcome.errors.contains("--journal"))
    }
  }

  @Test func negativeLimitIsAnInvalidValue() throws {
    try withProgram { program in
      let outcome = try program.run(["reminders", "--limit", "-1"])
      #expect(outcome.status == 64)
      #expect(outcome.errors.contains("--limit must be at least 1"))
    }
  }

  @Test func storePathOnAFileCannotBeCreated() throws {
    try withProgram { program in
      try Data("not a store".utf8).write(to: URL(filePath: program.store.string))
      for arguments in [["today"], ["add", "x"], ["info"]] {
        #expect(try program.run(arguments).status == 73, "\(arguments)")
      }
      #expect(try String(contentsOfFile: program.store.string, encoding: .utf8) == "not a store")
    }
  }

  @Test func unwritableDirectoryCannotHoldAStore() throws {
    try withProgram { program in
      // No one can create directories there, not even root.
      let outcome = try program.run(["--store", "/sys/tally/store", "add", "x", "--json"])
      #expect(outcome.status == 73)
      #expect(outcome.errors.contains(#"{"error":{"code":"permissionDenied""#))
    }
  }

  @Test func storeOfANewerFormatIsRefusedUntouched() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let file = URL(filePath: program.store.appending("data.mdb").string)
      // The header begins with its format, 2.0, and its features: one that is required, none for writers.
      var bytes = try Data(contentsOf: file)
      let store = try TaskStore(at: program.store, configuration: .testing())
      let id = try store.information().storeID
      try store.close()
      let digits = Array(id.uuidString.filter { $0 != "-" })
      let idBytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
      let header = Data([0, 2, 0, 0, 0, 1, 0, 0] + idBytes)
      // Older pages contain it, too.
      let copies = bytes.ranges(of: header)
      #expect(!copies.isEmpty)
      for copy in copies { bytes[copy.lowerBound + 1] = 3 }
      try bytes.write(to: file)
      for arguments in [["today"], ["add", "x"], ["info"], ["export", "-o", "-"]] {
        #expect(try program.run(arguments).status == 76, "\(arguments)")
      }
      #expect(try Data(contentsOf: file) == bytes)
    }
  }

  @Test(arguments: [100, 50_000])
  func fileThatIsNotAStoreIsLeftAlone(byteCount: Int) throws {
    try withProgram { program in
      try FileManager.default.createDirectory(atPath: program.store.string, withIntermediateDirectories: false)
      let garbage = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
      let file = URL(filePath: program.store.appending("data.mdb").string)
      try garbage.write(to: file)
      #expect(try program.run(["today"]).status == 73)
      #expect(try program.run(["add", "x"]).status == 73)
      #expect(try Data(contentsOf: file) == garbage)
    }
  }

  @Test func directoryOfOtherFilesIsLeftAlone() throws {
    try withProgram { program in
      try FileManager.default.createDirectory(atPath: program.store.string, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: URL(filePath: program.store.appending("notes.txt").string))
      #expect(try program.run(["add", "x"]).status == 73)
      #expect(try FileManager.default.contentsOfDirectory(atPath: program.store.string) == ["notes.txt"])
    }
  }

  @Test func inputThatIsNotUTF8NamesItsLineAndAddsNothing() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let outcome = try Self.shell(program, #"printf 'good\nbad \377\n' | tally add - --json"#)
      #expect(outcome.status == 65)
      #expect(outcome.errors.contains("line 2"))
      #expect(try !program.run(["all", "--plain"]).output.contains("good"))
    }
  }

  @Test func interruptionEndsTheProgramWith130() throws {
    try withProgram { program in
      // Waits for input that does not come. Bash starts it with SIGINT ignored, which is lost until the program handles it.
      let path = Program.executable.path
      let outcome = try Self.shell(
        program,
        """
        mkfifo input; exec 3<> input
        '\(path)' add - <&3 & process=$!
        until [ /proc/$process/exe -ef '\(path)' ] && grep -q "^SigCgt:.*[2367abef]$" /proc/$process/status; do
          sleep 0.02
        done
        kill -INT $process; wait $process
        """
      )
      #expect(outcome.status == 130)
      #expect(!FileManager.default.fileExists(atPath: program.store.string))
    }
  }

  /// Runs a line of bash in which `tally` is the built program.
  static func shell(_ program: Program, _ line: String) throws -> Outcome {
    let script = "tally() { \(Program.executable.path.shellQuotedForTests) \"$@\"; }\n\(line)\n"
    let file = program.directory.appending("script-\(UUID().uuidString)")
    try Data(script.utf8).write(to: URL(filePath: file.string))
    return try program.runExecutable(URL(filePath: "/bin/bash"), [file.string])
  }
}

extension String {
  fileprivate var shellQuotedForTests: String { "'" + replacing("'", with: "'\\''") + "'" }
}
