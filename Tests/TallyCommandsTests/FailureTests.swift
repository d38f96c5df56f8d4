import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// How the program ends where something outside it is wrong.
struct FailureTests {
  @Test func fullDiskBehindTheOutputIsNoticed() throws {
    try withProgram { program in
      try Fixture.fill(program)
      for arguments in ["all", "all --json", "--help", "--version"] {
        #expect(try Self.shell(program, "tally \(arguments) > /dev/full").status == 74, "\(arguments)")
      }
    }
  }

  @Test func readerThatLeavesEndsTheProgramQuietly() throws {
    try withProgram { program in
      let lines = (1...20_000).map { "task \($0)\n" }.joined()
      #expect(try program.run(["add", "-", "--quiet"], input: lines).status == 0)
      let outcome = try Self.shell(program, "set -o pipefail; tally all --json | head -c 10")
      #expect(outcome.status == 0)
      #expect(outcome.errors.isEmpty)
    }
  }

  @Test func closedOutputNeverReachesTheStore() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try Self.shell(program, "tally add x --json >&-").status == 74)
      #expect(try Self.shell(program, "tally add x --json <&- >&- 2>&-").status == 74)
      let store = try TaskStore(at: program.store, configuration: .testing())
      try checkInvariants(of: store)
      #expect(try store.read { try $0.taskCount } == 11)
      try store.close()
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

  @Test func directoryOfOtherFilesIsLeftAlone() throws {
    try withProgram { program in
      try FileManager.default.createDirectory(atPath: program.store.string, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: URL(filePath: program.store.appending("notes.txt").string))
      #expect(try program.run(["add", "x"]).status == 73)
      #expect(try FileManager.default.contentsOfDirectory(atPath: program.store.string) == ["notes.txt"])
    }
  }

  @Test func inputThatIsNoTextNamesItsLineAndAddsNothing() throws {
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
      // Waits for input that does not come in time. Bash would start it with SIGINT ignored; the program handles it.
      let path = Program.executable.path
      let outcome = try Self.shell(
        program,
        """
        mkfifo input; exec 3<> input
        '\(path)' add - <&3 & process=$!
        sleep 0.5; kill -INT $process; wait $process
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
