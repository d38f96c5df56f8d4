import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// `tally remind` runs a program exactly once per reminder, even if it is killed.
@Suite(.serialized) struct RemindTests {
  @Test func eachReminderIsDeliveredOnceAcrossAKillAndARestart() throws {
    try withReminders(count: 10) { (program, notifier) throws in
      let first = try start(program, notifier)
      try waitUntil("some have been delivered") { try delivered(program).count >= 4 }
      first.process.terminateNow()
      let second = try start(program, notifier)
      try waitUntil("all have been delivered") { () throws -> Bool in
        let ran = Set(try delivered(program))
        return ran.union(try missed(second.output)).count == 10
      }
      second.process.interrupt()
      second.process.waitUntilExit()
      let (ran, reported) = (try delivered(program), try missed(second.output))
      #expect(Set(ran).count == ran.count, "delivered twice: \(ran)")
      #expect(Set(ran).union(reported) == Set((0..<10).map { "reminder \($0)" }))
      #expect(second.process.terminationStatus == 130)
    }
  }

  @Test func aReminderInterruptedByAKillIsReportedAndNotRunAgain() throws {
    try withReminders(count: 1, script: "echo begun >> delivered; sleep 2; echo $TALLY_TASK_TITLE >> delivered") {
      program, notifier in
      let first = try start(program, notifier)
      try waitUntil("it has begun") { try delivered(program).count == 1 }
      first.process.terminateNow()
      let outcome = try program.runBare(["remind", "--exec", notifier, "--once", "--plain"])
      #expect(outcome.output.hasPrefix("missed\t"), "\(outcome.output)")
      let lines = try delivered(program)
      #expect(lines.count { $0 == "begun" } == 1)
    }
  }

  @Test func tasksAddedByOtherProcessesAreNoticed() throws {
    try withReminders(count: 0) { program, notifier in
      let loop = try start(program, notifier)
      try waitUntil("it has begun its journal") { FileManager.default.fileExists(atPath: journal(program)) }
      let soon = Timestamp.now().adding(seconds: 1).iso8601
      let outcome = try program.runBare(["add", "added; touch evil", "--remind", soon])
      #expect(outcome.status == 0)
      try waitUntil("it has been delivered") { try delivered(program) == ["added; touch evil"] }
      loop.process.terminateNow()
      #expect(!FileManager.default.fileExists(atPath: program.directory.appending("evil").string))
    }
  }

  /// The bug: time was counted from the start of the program, so that it never noticed a clock that was corrected.
  @Test func theWallClockIsLookedAtAgain() throws {
    let wall = TestClock.noon
    let clock = ReminderClock(fixed: nil) { wall.now }
    #expect(clock.now == wall.now)
    for seconds in [-86_400, 7_200] as [Int64] {
      wall.now = wall.now.adding(seconds: seconds)
      #expect(clock.now == wall.now)
    }
    let fixed = ReminderClock(fixed: .earliest) { wall.now }
    #expect(fixed.now < Timestamp.earliest.adding(seconds: 3_600))
  }

  /// The bug: a journal begun while the clock was ahead kept every reminder before that time from being run.
  @Test func remindersAreRunAfterAClockThatWasAhead() throws {
    try withReminders(count: 1) { (program, notifier) throws in
      let journal = program.directory.appending("journal").string
      try Data("since 2126-01-01T00:00:00Z\n".utf8).write(to: URL(filePath: journal))
      let loop = try start(program, notifier, ["--journal", journal])
      try waitUntil("it has been delivered") { try delivered(program) == ["reminder 0"] }
      loop.process.terminateNow()
    }
  }

  @Test func onlyOneRunsForAStore() throws {
    try withReminders(count: 0) { program, notifier in
      let loop = try start(program, notifier)
      try waitUntil("it has begun its journal") { FileManager.default.fileExists(atPath: journal(program)) }
      let outcome = try program.runBare(["remind", "--exec", notifier, "--once"])
      #expect(outcome.status == 75)
      loop.process.terminateNow()
    }
  }

  @Test func aMissingProgramIsAnError() throws {
    try withReminders(count: 0) { program, _ in
      let outcome = try program.runBare(["remind", "--exec", "no-such-program-of-ours"])
      #expect(outcome.status == 1)
    }
  }
}

extension RemindTests {
  /// A store whose reminders fall due a second apart from now on, and a program that records each title.
  private func withReminders(
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
          let date = transaction.now.adding(microseconds: 1_500_000 + Int64(number) * 1_000_000)
          _ = try transaction.add(TaskDraft(title: "reminder \(number)", reminderDate: date))
        }
      }
      try store.close()
      try body(program, notifier)
    }
  }

  private func start(
    _ program: Program, _ notifier: String, _ arguments: [String] = []
  ) throws -> (process: Process, output: FilePath) {
    let output = program.directory.appending("remind-\(UUID().uuidString).out")
    try Data().write(to: URL(filePath: output.string))
    let process = Process()
    process.executableURL = Program.executable
    process.arguments = ["remind", "--exec", notifier, "--plain"] + arguments
    process.environment = program.environment
    process.currentDirectoryURL = URL(filePath: program.directory.string)
    process.standardOutput = FileHandle(forWritingAtPath: output.string)
    try process.run()
    return (process, output)
  }

  private func delivered(_ program: Program) throws -> [String] {
    let path = program.directory.appending("delivered").string
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func missed(_ output: FilePath) throws -> Set<String> {
    let lines = try String(contentsOfFile: output.string, encoding: .utf8).split(separator: "\n")
    return Set(lines.filter { $0.hasPrefix("missed\t") }.compactMap { $0.split(separator: "\t").last.map(String.init) })
  }

  private func journal(_ program: Program) -> String {
    let directory = program.directory.appending(".local/state/tally").string
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return directory + "/" + (names.first ?? "none")
  }

  /// Polls the condition; gives up after a minute, so that a fault does not block the tests.
  private func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<1_200 {
      if try condition() { return }
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw TimedOut(description: what)
  }
}

private struct TimedOut: Error, CustomStringConvertible {
  let description: String
}

extension Process {
  /// Ends the process as a power cut would, and waits for it.
  fileprivate func terminateNow() {
    kill(processIdentifier, SIGKILL)
    waitUntilExit()
  }
}
