import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// What the program says to people who guess: near misses, unknown options, waiting.
struct HintTests {
  @Test(arguments: [
    ("complete", ["done"]), ("finish", ["done"]), ("rm", ["delete"]), ("ls", ["list", "lists"]), ("dnoe", ["done"]),
    ("remove", ["delete"]), ("LS", ["list", "lists"]), ("xyzzy", []),
  ])
  func aNearMissIsSuggestedByMeaningAndSpelling(word: String, wanted: [String]) throws {
    try withProgram { program in
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
    try withProgram { program in
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
    try withProgram { program in
      let help = try program.runBare(["done", "--help"]).output
      #expect(help.contains("  --at <when>") && !help.contains("  --store <dir>"))
      #expect(help.contains("Every command also takes --store, --json"))
      #expect(try program.runBare(["--help"]).output.contains("  --store <dir>"))
      for option in GlobalOptions.helpLine.split(separator: " ").filter({ $0.hasPrefix("--") }) {
        let name = option.trimmingCharacters(in: .punctuationCharacters)
        #expect(try #require(CommandDescription(of: [])).arguments.contains { $0.spellings.contains("--\(name)") })
      }
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
