import Foundation
import Tally

/// Waits for reminders and runs a program for each.
final class ReminderLoop {
  private let session: Session
  private let store: TaskStore
  private let journal: ReminderJournal
  private let program: ReminderProgram
  private let clock: ReminderClock
  private var running: [(process: Process, named: NamedTask, entry: ReminderJournal.Entry)] = []
  /// Where the reminders begin that may still have to be run.
  private var earliest: Timestamp

  /// How often the store is checked, as other processes add tasks, too; a check costs a few microseconds.
  private static let pollIntervalInSeconds = 0.1
  /// Reminders that are set for a time already past are run up to this age.
  private static let graceInSeconds: Int64 = 3_600
  /// Programs that run at the same time; more reminders wait.
  private static let maximumRunningCount = 32

  init(session: Session, store: TaskStore, journal: ReminderJournal, program: ReminderProgram) {
    self.session = session
    self.store = store
    self.journal = journal
    self.program = program
    clock = ReminderClock(fixed: session.options.now.map { _ in session.clock.now })
    earliest = journal.since
  }

  /// Runs until it is interrupted or, with `isOnce`, until what is due has been run.
  func run(once isOnce: Bool) throws {
    try reportInterrupted()
    while true {
      let hasStartedAll = try startDue()
      try finishEnded()
      if isOnce, hasStartedAll, running.isEmpty { return }
      if Signals.isInterrupted { return try finishAll() }
      Thread.sleep(forTimeInterval: Self.pollIntervalInSeconds)
    }
  }

  /// Starts the program for each due reminder; false if some must wait for others to end.
  private func startDue() throws -> Bool {
    let now = clock.now
    // After a clock that was ahead has been set back; the reminders run by it are in the journal.
    earliest = min(earliest, now)
    let due = try store.read { transaction in
      try transaction.reminders(from: earliest, to: now.adding(microseconds: 1)).compactMap { task in
        try task.reminderDate.map { date in
          (entry: ReminderJournal.Entry(date: date, taskID: task.id), named: try transaction.name(task))
        }
      }
    }
    for (entry, named) in due where !journal.begun.contains(entry) {
      guard running.count < Self.maximumRunningCount else { return false }
      try journal.begin(entry)
      do {
        running.append((try program.start(for: named, date: entry.date), named, entry))
      } catch {
        try journal.end(entry)
        try report(named, entry, .failed, status: nil)
      }
    }
    earliest = max(earliest, now.adding(seconds: -Self.graceInSeconds))
    return true
  }

  private func finishEnded() throws {
    let ended = running.filter { !$0.process.isRunning }
    running.removeAll { running in ended.contains { $0.entry == running.entry } }
    for (process, named, entry) in ended {
      try journal.end(entry)
      try report(named, entry, .ran, status: process.terminationStatus)
    }
  }

  /// Waits for the running programs to end, so that none is reported as missed the next time.
  private func finishAll() throws {
    for entry in running { entry.process.waitUntilExit() }
    try finishEnded()
    throw CommandFailure(.interrupted, code: "cancelled", "Interrupted", remedy: "Start it again to continue")
  }

  private func reportInterrupted() throws {
    for entry in journal.interrupted {
      let named = try store.read { transaction in
        try transaction.task(entry.taskID).map { try transaction.name($0) }
      }
      try report(named, entry, .missed, status: nil)
      try journal.end(entry)
    }
  }
}

extension ReminderLoop {
  /// The outcome of a reminder.
  private enum Event: String {
    case ran, missed, failed
  }

  /// Reports the outcome of one reminder at once.
  private func report(_ named: NamedTask?, _ entry: ReminderJournal.Entry, _ event: Event, status: Int32?) throws {
    let facts: Facts = [
      "event": .text(event.rawValue), "id": .id(entry.taskID), "reminderDate": .instant(entry.date),
      "title": .text(named?.task.title), "status": .integer(status.map { Int64($0) }),
    ]
    try session.answer(facts, plain: .record(["event", "reminderDate", "id", "status", "title"])) {
      let task = named.map { "\($0.handle) \($0.task.title.quotedForMessage)" } ?? "a task that was deleted"
      try session.output.write("\(session.clock.name(of: entry.date))  \(Self.inWords(event, status))\(task)\n")
    }
    try session.output.flush()
  }

  private static func inWords(_ event: Event, _ status: Int32?) -> String {
    switch event {
    case .missed: "may have been missed, as tally was killed meanwhile: "
    case .failed: "could not be delivered, as the program did not start: "
    case .ran: status == 0 ? "" : "the program exited with status \(status ?? 0): "
    }
  }
}
