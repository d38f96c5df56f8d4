import Foundation
import Tally

/// Waits for reminders and runs a program for each.
///
/// The store is open only while it is read, so that others may compact or restore it in between.
final class ReminderLoop {
  private let session: Session
  private let store: TaskStore
  private let journal: ReminderJournal
  private let program: ReminderProgram
  private let clock: ReminderClock
  private var running: [(process: Process, named: NamedTask, entry: ReminderJournal.Entry)] = []
  /// The beginning of the time whose reminders may still have to be run.
  private var earliest: Timestamp
  /// The reminders whose programs an earlier run left in an unknown state, until they are reported.
  private var unreported: [ReminderJournal.Entry]

  /// How often the store is checked, as other processes add tasks, too; a check, which opens it, costs a millisecond.
  private static let pollIntervalInSeconds = 0.5
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
    unreported = journal.interrupted
  }

  /// Runs until it is interrupted or, with `isOnce`, until the due reminders have been run.
  func run(once isOnce: Bool) throws {
    while true {
      try reportInterrupted()
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
    let due = try read { try $0.dueReminders(from: earliest, through: now) }
    guard let due else { return true }
    for (entry, named) in due where !journal.begun.contains(entry) {
      guard try start(entry, named) else { return false }
    }
    earliest = max(earliest, now.adding(seconds: -Self.graceInSeconds))
    return try startAgain(at: now)
  }

  /// Starts the programs that failed and whose time has come, unless their reminders have changed since.
  private func startAgain(at now: Timestamp) throws -> Bool {
    for entry in journal.retries.due(at: now) where !running.contains(where: { $0.entry == entry }) {
      let found = try read { transaction in
        try transaction.task(entry.taskID)
          .flatMap { task in
            let dates = task.reminderInstants(in: transaction.calendar.timeZone)
            return task.isOpen && dates.contains(entry.date) ? try transaction.name(task) : nil
          }
      }
      // Another process has locked the store.
      guard let found else { return true }
      guard let named = found else {
        try journal.end(entry)
        continue
      }
      guard try start(entry, named) else { return false }
    }
    return true
  }

  /// Starts the program; false if as many run as may.
  private func start(_ entry: ReminderJournal.Entry, _ named: NamedTask) throws -> Bool {
    guard running.count < Self.maximumRunningCount else { return false }
    try journal.begin(entry)
    do {
      running.append((try program.start(for: named, date: entry.date), named, entry))
    } catch {
      try fail(named, entry, status: nil)
    }
    return true
  }

  /// Records a failure, and reports whether the program is tried again.
  private func fail(_ named: NamedTask?, _ entry: ReminderJournal.Entry, status: Int32?) throws {
    let next = try journal.fail(entry, at: clock.now)
    try report(named, entry, next == nil ? .missed : .failed, status: status, next: next)
  }

  /// Reads the store, which is then closed again; `nil` while another process has locked it.
  private func read<R>(_ body: (inout StoreReadTransaction) throws -> R) throws -> R? {
    do {
      try store.resume()
    } catch let error as TallyError where error.code == .storeBusy {
      return nil
    }
    defer { try? store.suspend(waitingAtMost: .zero) }
    return try store.read(body)
  }

  private func finishEnded() throws {
    let ended = running.filter { !$0.process.isRunning }
    running.removeAll { running in ended.contains { $0.entry == running.entry } }
    for (process, named, entry) in ended {
      let status = process.terminationStatus
      guard status == 0 else {
        try fail(named, entry, status: status)
        continue
      }
      try journal.end(entry)
      try report(named, entry, .ran, status: status)
    }
  }

  /// Waits for the running programs to end, so that none is reported as missed the next time.
  private func finishAll() throws {
    for entry in running { entry.process.waitUntilExit() }
    try finishEnded()
    throw CommandFailure(.interrupted, code: "cancelled", "Interrupted", remedy: "Start it again to continue")
  }

  private func reportInterrupted() throws {
    while let entry = unreported.first {
      let found = try read { transaction in
        try transaction.task(entry.taskID).map { try transaction.name($0) }
      }
      // Another process has locked the store.
      guard let named = found else { return }
      try report(named, entry, .missed, status: nil)
      try journal.end(entry)
      unreported.removeFirst()
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The reminders from one instant to another, both included, by time.
  func dueReminders(
    from earliest: Timestamp, through now: Timestamp
  ) throws -> [(entry: ReminderJournal.Entry, named: NamedTask)] {
    try scheduledReminders(from: earliest, to: now.adding(microseconds: 1)).map { reminder in
      (ReminderJournal.Entry(date: reminder.date, taskID: reminder.task.id), try name(reminder.task))
    }
  }
}

extension ReminderLoop {
  /// The outcome of a reminder.
  private enum Event: String {
    case ran, missed, failed
  }

  /// Reports the outcome of one reminder at once.
  private func report(
    _ named: NamedTask?, _ entry: ReminderJournal.Entry, _ event: Event, status: Int32?, next: Timestamp? = nil
  ) throws {
    let facts: Facts = [
      "event": .text(event.rawValue), "id": .id(entry.taskID), "reminderDate": .instant(entry.date),
      "title": .text(named?.task.title), "status": .integer(status.map { Int64($0) }),
    ]
    try session.answer(facts, plain: .record(["event", "reminderDate", "id", "status", "title"])) {
      let task = named.map { "\($0.handle) \($0.task.title.quotedForMessage)" } ?? "a task that was deleted"
      try session.output.write("\(session.clock.name(of: entry.date))  \(inWords(event, entry, status, next))\(task)\n")
    }
    try session.output.flush()
  }

  private func inWords(_ event: Event, _ entry: ReminderJournal.Entry, _ status: Int32?, _ next: Timestamp?) -> String {
    let failure = status.map { "the program exited with status \($0)" } ?? "the program did not start"
    return switch event {
    case .missed where journal.interrupted.contains(entry): "may have been missed: tally was killed while it ran: "
    case .missed: "missed, as \(failure) each time: "
    case .failed: "\(failure) and will be retried at \(next.map(session.clock.name) ?? "once"): "
    case .ran: ""
    }
  }
}

/// The time by which reminders fall due.
struct ReminderClock {
  /// The instant that `--now` gave; `nil` without it.
  let fixed: Timestamp?
  /// The wall clock.
  var wall: () -> Timestamp = Timestamp.now
  private let startedAt = ContinuousClock.now

  /// The wall clock, read each time, since it may be corrected; with `--now`, that instant and the time since.
  var now: Timestamp {
    guard let fixed else { return wall() }
    let (seconds, attoseconds) = (ContinuousClock.now - startedAt).components
    return fixed.adding(microseconds: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }
}
