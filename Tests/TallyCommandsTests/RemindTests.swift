import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem
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

  @Test func eachReminderOfATaskIsDeliveredInThePersonsZone() throws {
    try withReminders(count: 0, script: "echo $TALLY_REMINDER_DATE >> delivered") { program, notifier in
      func run(_ arguments: [String], at now: String) throws {
        let outcome = try program.runBare(arguments + ["--now", now, "--time-zone", "Asia/Tokyo"])
        #expect(outcome.status == 0, "\(outcome.errors)")
      }
      let reminders = ["9:00 the day before", "2 hours before", "2026-11-22T00:00:00Z"].flatMap { ["--remind", $0] }
      try run(["add", "x", "--due", "2026-11-25"] + reminders, at: "2026-11-21T12:00:00Z")
      let expected = ["2026-11-22T00:00:00Z", "2026-11-24T00:00:00Z", "2026-11-24T22:00:00Z"]
      for (count, now) in ["2026-11-21T12:00:00Z", "2026-11-23T23:59:00Z", "2026-11-24T00:00:00Z"].enumerated() {
        try run(["remind", "--exec", notifier, "--once"], at: now)
        #expect(try delivered(program) == Array(expected.prefix(count)), "\(now)")
      }
      try run(["remind", "--exec", notifier, "--once"], at: "2026-11-26T00:00:00Z")
      #expect(try delivered(program) == expected)
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

  @Test func noMoreThanThirtyTwoProgramsRunAtOnce() throws {
    try withDueReminders(count: 40, script: "while [ ! -e go ]; do sleep 0.05; done") { program, arguments in
      let loop = try program.start(arguments)
      let started = { try journalLines(program).count { $0.hasPrefix("start") } }
      try waitUntil("as many as may run have been started") { try started() >= 32 }
      try Data().write(to: URL(filePath: program.directory.appending("go").string))
      loop.process.waitUntilExit()
      var (runningCount, maximum) = (0, 0)
      for line in try journalLines(program) {
        runningCount += line.hasPrefix("start") ? 1 : line.hasPrefix("end") ? -1 : 0
        maximum = max(maximum, runningCount)
      }
      #expect(maximum == 32 && runningCount == 0)
      #expect(try started() == 40)
    }
  }

  @Test(arguments: ["ran", "failed", "missed"])
  func anOutcomeIsReportedOnce(outcome: String) throws {
    try withDueReminders(count: 1, interpreter: outcome == "failed" ? "/no/such/program" : "/bin/sh") {
      program, arguments in
      if outcome == "missed" {
        let journal = try ReminderJournal(at: journalPath(program), ofStoreAt: program.store, now: .earliest)
        let store = try TaskStore(at: program.store)
        let due = try store.read { try $0.dueReminders(from: .earliest, through: .latest.adding(microseconds: -1)) }
        try store.close()
        try journal.begin(try #require(due.first).entry)
      }
      let first = try program.runBare(arguments)
      #expect(first.output.hasPrefix("\(outcome)\t"), "\(first)")
      #expect(try program.runBare(arguments).output == "")
    }
  }

  /// The bug: while another process held the store, it was reported as the reminder of a deleted task.
  @Test func anInterruptedReminderIsReportedOnceTheStoreIsFree() throws {
    try withDueReminders(count: 1) { program, _ in
      var configuration = TaskStore.Configuration()
      configuration.waitLimitInSeconds = 0
      let store = try TaskStore(at: program.store, configuration: configuration)
      let due = try store.read { try $0.dueReminders(from: .earliest, through: .latest.adding(microseconds: -1)) }
      try open(program).begin(try #require(due.first).entry)
      try store.suspend(waitingAtMost: .zero)
      let lock = try FileLock(opening: program.store.appending("access.lock"))
      #expect(try lock.tryAcquire(.exclusive))
      #expect(try runLoop(program, store) == "")
      lock.release()
      #expect(try runLoop(program, store).hasPrefix("missed\t"))
      #expect(try runLoop(program, store) == "")
    }
  }

  /// Runs the loop once in this process, with a store of its own; returns what it printed.
  private func runLoop(_ program: Program, _ store: TaskStore) throws -> String {
    let file = program.directory.appending(UUID().uuidString)
    let descriptor = try FileDescriptor.open(file, .writeOnly, options: [.create], permissions: .ownerReadWrite)
    return try descriptor.closeAfter {
      let invocation = Invocation(arguments: [], environment: program.environment, output: descriptor)
      let session = try Session(
        options: GlobalOptions.parse(["--plain"]), commandName: "remind", invocation: invocation,
        output: BufferedOutput(descriptor))
      let shell = try ReminderProgram("/bin/sh", store: program.store, environment: invocation.environment) { _ in [] }
      try ReminderLoop(session: session, store: store, journal: open(program), program: shell).run(once: true)
      try session.output.flush()
      return try String(contentsOfFile: file.string, encoding: .utf8)
    }
  }

  @Test func aReminderOfThisVeryInstantIsDue() throws {
    try withStore { store in
      let now = store.configuration.now()
      let ids = try store.writeAndWait { transaction in
        try [-1, 0, 1].map { (microseconds: Int64) in
          let date = now.adding(microseconds: microseconds)
          return try transaction.add(TaskDraft(title: "\(microseconds)", reminderDate: date)).id
        }
      }
      let due = try store.read { try $0.dueReminders(from: now, through: now).map(\.entry.taskID) }
      #expect(due == [ids[1]])
    }
  }

  @Test func aLineThatACrashCutOffDoesNotMergeWithTheNextOne() throws {
    try withProgram { program in
      let entry = ReminderJournal.Entry(date: TestClock.noon.now, taskID: UUID())
      try write("since 2026-11-21T12:00:00Z\nstart 2026-11-21T12:0", toJournalOf: program)
      try open(program).begin(entry)
      let journal = try open(program)
      #expect(journal.begun == [entry] && journal.interrupted == [entry])
    }
  }

  /// The bug, found by fuzzing: the rest of a first line stayed the first, and the journal was refused from then on.
  @Test(arguments: ["s", "sin", "since ", "since 2026-11-2"])
  func aFirstLineThatACrashCutOffIsNoObstacle(text: String) throws {
    try withProgram { program in
      let entry = ReminderJournal.Entry(date: TestClock.noon.now, taskID: UUID())
      try write(text, toJournalOf: program)
      try open(program).begin(entry)
      #expect(try open(program).begun == [entry])
    }
  }

  @Test func anyOtherFileIsNoJournal() throws {
    try withProgram { program in
      for text in ["", "sin", "since 2026-11-21T12:00:00Z\n"] {
        try write(text, toJournalOf: program)
        #expect(throws: Never.self) { try open(program) }
      }
      for text in ["notes\n", "Since\n", "start 2026-11-21T12:00:00Z\n"] {
        try write(text, toJournalOf: program)
        #expect(throws: CommandFailure.self) { try open(program) }
        #expect(try String(contentsOfFile: journalPath(program).string, encoding: .utf8) == text)
      }
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

  /// The bug: a reminder whose program failed was lost.
  @Test func aProgramThatFailsIsTriedAgainThreeTimes() throws {
    try withDueReminders(count: 1, script: "echo tried >> delivered; exit 3") { program, arguments in
      let start = Timestamp.now()
      func event(after seconds: Int64) throws -> String {
        let now = start.adding(seconds: seconds).iso8601
        return String(try program.runBare(["--now", now] + arguments).output.prefix { $0 != "\t" })
      }
      // After 30, 60 and 120 seconds; not before.
      let events = try [0, 20, 35, 80, 100, 200, 230, 300].map { try event(after: $0) }
      #expect(events == ["failed", "", "failed", "", "failed", "", "missed", ""])
      #expect(try delivered(program).count == 4)
    }
  }

  @Test func aReminderThatWasMovedIsNotTriedAgain() throws {
    try withDueReminders(count: 1, script: "echo tried >> delivered; exit 3") { program, arguments in
      let start = Timestamp.now()
      _ = try program.runBare(["--now", start.iso8601] + arguments)
      let handle = String(try program.runBare(["all", "--plain"]).output.prefix { $0 != "\t" })
      #expect(try program.runBare(["done", handle]).status == 0)
      let later = start.adding(seconds: 3_000).iso8601
      #expect(try program.runBare(["--now", later] + arguments).output == "")
      #expect(try delivered(program).count == 1)
    }
  }

  @Test func retriesSurviveARestart() throws {
    try withProgram { program in
      let entry = ReminderJournal.Entry(date: TestClock.noon.now, taskID: UUID())
      let now = TestClock.noon.now
      var next: [Timestamp?] = []
      for seconds in [0, 30, 90, 210] as [Int64] {
        let journal = try open(program)
        try journal.begin(entry)
        next.append(try journal.fail(entry, at: now.adding(seconds: seconds)))
      }
      #expect(next == [30, 90, 210].map { now.adding(seconds: $0) } + [nil])
      #expect(try open(program).retries.due(at: .latest).isEmpty)
      #expect(try open(program).interrupted.isEmpty)
    }
  }

  /// The bug: with `--store` the program's environment had no `TALLY_STORE`.
  @Test func theProgramGetsTheStoreAndTheTask() throws {
    let names = ["STORE", "TASK_ID", "TASK_DUE", "REMINDER_DATE"].map { "\"$TALLY_\($0)\"" }.joined(separator: " ")
    let script = "printf '%s\\n' \(names) > delivered"
    try withDueReminders(count: 1, script: script) { program, arguments in
      var elsewhere = program
      elsewhere.environment["TALLY_STORE"] = nil
      #expect(try elsewhere.runBare(["--store", "store"] + arguments).output.hasPrefix("ran\t"))
      let lines = try String(contentsOfFile: program.directory.appending("delivered").string, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[0] == program.store.string && UUID(uuidString: String(lines[1])) != nil && lines[2].isEmpty)
      #expect((try? Timestamp(iso8601: String(lines[3]))) != nil)
    }
  }

  /// The bug: while it waited the store was open, so that others could not replace its file.
  @Test func othersMayCompactWhileItWaits() throws {
    try withReminders(count: 0) { program, notifier in
      let loop = try start(program, notifier)
      try waitUntil("it has begun its journal") { FileManager.default.fileExists(atPath: journal(program)) }
      for _ in 0..<3 { #expect(try program.runBare(["compact"]).status == 0) }
      let soon = Timestamp.now().adding(seconds: 1).iso8601
      _ = try program.runBare(["add", "after", "--remind", soon])
      try waitUntil("it goes on with the new file") { try delivered(program) == ["after"] }
      loop.process.terminateNow()
    }
  }

  @Test func notificationsHaveNoMarkupOfTheUsers() throws {
    try withDueReminders(count: 1) { program, arguments in
      try withFakeNotifier(program) { program in
        let rest = Array(arguments.drop { $0 != "--plain" })
        let outcome = try program.runBare(["remind", "--notify"] + rest)
        #expect(outcome.output.hasPrefix("ran\t"), "\(outcome)")
        let words = try delivered(program)
        #expect(words.dropLast() == ["--app-name=Tally", "--", "reminder 0"])
        #expect(words.last?.hasPrefix("tally done ") == true)
      }
    }
  }

  @Test func theServiceStartsThisCommand() throws {
    try withProgram { program in
      let words = ["remind", "--service", "--exec", "x", "--journal", "j", "--", "100%", "$HOME\""]
      let outcome = try program.runBare(["--store", "a b"] + words)
      #expect(outcome.status == 0)
      let directory = program.directory.string
      let options = #""--store" "\#(directory)/a b" "--exec" "x" "--journal" "\#(directory)/j""#
      #expect(outcome.output.contains(#"" "remind" \#(options) "--" "100%%" "$$HOME\""#), "\(outcome)")
      #expect(try program.runBare(["remind", "--service", "--once"]).status == 64)
      #expect(try program.runBare(["remind"]).status == 64)
      #expect(try program.runBare(["remind", "--notify", "--exec", "x"]).status == 64)
    }
  }

  @Test func aMissingProgramIsAnError() throws {
    try withReminders(count: 0) { program, _ in
      let outcome = try program.runBare(["remind", "--exec", "no-such-program-of-ours"])
      #expect(outcome.status == 1)
    }
  }
}
