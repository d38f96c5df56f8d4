import Foundation
import SystemPackage
import Tally
import TallyTestSupport

@testable import TallyCommands

// Stores with reminders, runs of the command, and its journal.

extension RemindTests {
  /// A store whose reminders fall due a second apart, five seconds from now on, and a program that records each title.
  func withReminders(
    count: Int, script: String = "printf '%s\\n' \"$TALLY_TASK_TITLE\" >> delivered",
    _ body: (Program, String) throws -> Void
  ) throws {
    try withProgram { program in
      let notifier = program.directory.appending("notifier").string
      try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: notifier))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: notifier)
      let store = try TaskStore(at: program.store)
      try store.writeAndWait { transaction in
        for number in 0..<count {
          // A busy machine may take seconds to start the command, which skips reminders that were due before.
          let date = transaction.now.adding(seconds: 5 + Int64(number))
          _ = try transaction.add(TaskDraft(title: "reminder \(number)", reminderDate: date))
        }
      }
      try store.close()
      try body(program, notifier)
    }
  }

  /// A store whose reminders are all overdue, and the arguments that run a program for each and end.
  func withDueReminders(
    count: Int, script: String = "exit 0", interpreter: String = "/bin/sh", _ body: (Program, [String]) throws -> Void
  ) throws {
    try withReminders(count: 0) { program, notifier in
      try Data("#!\(interpreter)\n\(script)\n".utf8).write(to: URL(filePath: notifier))
      try write("since 2026-11-21T12:00:00Z\n", toJournalOf: program)
      let store = try TaskStore(at: program.store)
      try store.writeAndWait { transaction in
        for number in 0..<count {
          let date = transaction.now.adding(seconds: -600)
          _ = try transaction.add(TaskDraft(title: "reminder \(number)", reminderDate: date))
        }
      }
      try store.close()
      try body(program, ["remind", "--exec", notifier, "--plain", "--once", "--journal", journalPath(program).string])
    }
  }

  /// Puts a program in the place of the desktop's that records its arguments.
  func withFakeNotifier(_ program: Program, _ body: (Program) throws -> Void) throws {
    let bin = program.directory.appending("bin")
    try FileManager.default.createDirectory(atPath: bin.string, withIntermediateDirectories: true)
    for name in ["notify-send", "osascript"] {
      let file = bin.appending(name).string
      try Data("#!/bin/sh\nprintf '%s\\n' \"$@\" > delivered\n".utf8).write(to: URL(filePath: file))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file)
    }
    var program = program
    program.environment["PATH"] = "\(bin.string):/usr/bin:/bin"
    try body(program)
  }

  func journalPath(_ program: Program) -> FilePath { program.directory.appending("journal") }

  func open(_ program: Program) throws -> ReminderJournal {
    try ReminderJournal(at: journalPath(program), ofStoreAt: program.store, now: TestClock.noon.now)
  }

  func write(_ text: String, toJournalOf program: Program) throws {
    try Data(text.utf8).write(to: URL(filePath: journalPath(program).string))
  }

  func journalLines(_ program: Program) throws -> [Substring] {
    try String(contentsOfFile: journalPath(program).string, encoding: .utf8).split(separator: "\n")
  }

  func start(
    _ program: Program, _ notifier: String, _ arguments: [String] = []
  ) throws -> (process: Process, output: FilePath) {
    try program.start(["remind", "--exec", notifier, "--plain"] + arguments)
  }

  func delivered(_ program: Program) throws -> [String] {
    let path = program.directory.appending("delivered").string
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  func missed(_ output: FilePath) throws -> Set<String> {
    let lines = try String(contentsOfFile: output.string, encoding: .utf8).split(separator: "\n")
    return Set(lines.filter { $0.hasPrefix("missed\t") }.compactMap { $0.split(separator: "\t").last.map(String.init) })
  }

  func journal(_ program: Program) -> String {
    let directory = program.directory.appending(".local/state/tally").string
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return directory + "/" + (names.first ?? "none")
  }
}

/// Polls the condition; gives up after a minute, so that a fault does not block the tests.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  for _ in 0..<1_200 {
    if try condition() { return }
    Thread.sleep(forTimeInterval: 0.05)
  }
  throw TimedOut(description: what)
}

private struct TimedOut: Error, CustomStringConvertible {
  let description: String
}

extension Process {
  /// Ends the process as a power cut would, and waits for it.
  func terminateNow() {
    kill(processIdentifier, SIGKILL)
    waitUntilExit()
  }
}

extension Program {
  /// Starts the program in a process of its own, with a file for its output.
  func start(_ arguments: [String]) throws -> (process: Process, output: FilePath) {
    let output = directory.appending("\(UUID().uuidString).out")
    try Data().write(to: URL(filePath: output.string))
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = URL(filePath: directory.string)
    process.standardOutput = FileHandle(forWritingAtPath: output.string)
    try process.run()
    return (process, output)
  }
}
