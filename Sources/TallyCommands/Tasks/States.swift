import ArgumentParser
import Foundation
import Tally

/// The commands that set the state of tasks, in the order of the help.
enum StateCommands {
  static let all: [LazyCommand] = [
    { StartCommand.self }, { DoneCommand.self }, { CancelCommand.self }, { SkipCommand.self }, { ReopenCommand.self },
  ]
}

/// `tally start TASK…`.
struct StartCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "start", "Mark tasks as in progress.", usage: "<task> ... | --where <filter>", discussion: SharedHelp.whereOption)

  @OptionGroup var selection: TaskSelection

  func run(in session: Session) throws {
    try session.changeTasks(selection, openOnly: true, "Started", session.clock.waitingSuffix) { task, transaction in
      try transaction.start(task.id)
    }
  }
}

/// `tally done TASK…`.
struct DoneCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "done", "Complete tasks, with their sub-tasks.", usage: "<task> ... | --where <filter> [--at <when>] [--only]",
    discussion: """
      \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally done 7f3a
        tally done 7f3a 91bc --at 2026-11-20T18:30:00+03:00
        tally done 7f3a --at 'yesterday 18:30'
        tally done 7f3a --at '2 hours ago'
        tally done --where 'day:today +home'
      """)

  @OptionGroup var selection: TaskSelection

  @Option(help: SharedHelp.completionTime)
  var at: String?

  @Flag(help: "Leave open sub-tasks open.")
  var only = false

  func run(in session: Session) throws {
    try session.closeTasks(selection, "Completed", at: at) { id, completedAt, transaction in
      try transaction.complete(id, at: completedAt, includingSubtasks: !only)
    }
  }
}

extension Session {
  /// Closes tasks at a time that has passed, or now; without a time, a task that is closed already keeps its own.
  fileprivate func closeTasks(
    _ selection: TaskSelection, _ verb: String, at text: String?,
    _ close: (UUID, OffsetTimestamp?, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    let closedAt = try text.map { try clock.completion($0, of: "--at") }
    let suffix = closedAt.map { ", " + clock.relativeName(of: $0.instant) } ?? ""
    try changeTasks(selection, openOnly: true, verb, { _ in suffix }) { task, transaction in
      try close(task.id, closedAt, &transaction)
    }
  }
}

extension LocalClock {
  /// Reads an instant that has passed, with its offset; one given by local day and time has the offset in force then.
  ///
  /// - Throws: ``CommandFailure``, also for an instant to come.
  func completion(_ text: String, of option: String) throws -> OffsetTimestamp {
    // A written offset is kept; everything else is read as a WHEN, whose errors are reported.
    let completion =
      try (try? OffsetTimestamp(iso8601: text))
      ?? OffsetTimestamp(instant(text, of: option, bareDay: .required, looking: .backward), in: timeZone)
    guard completion.instant <= exactNow else {
      throw CommandFailure.usage(
        "\(option): \(relativeName(of: completion.instant)) is still to come", code: "invalidInstant",
        remedy: "Give a time that has passed, or leave \(option) out")
    }
    return completion
  }
}

/// `tally cancel TASK…`.
struct CancelCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "cancel", "Close tasks that will not be done, with their sub-tasks.",
    usage: "<task> ... | --where <filter> [--at <when>] [--only]",
    discussion: """
      A cancelled task does not count as completed. 'reopen' takes it back. Of a repeating task, only this occurrence \
      is cancelled, as with 'skip'.

      \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally cancel 7f3a
        tally cancel 7f3a 91bc --at 'yesterday 18:30'
        tally cancel --where 'list:Trip day<today'
      """)

  @OptionGroup var selection: TaskSelection

  @Option(help: SharedHelp.cancellationTime)
  var at: String?

  @Flag(help: "Leave open sub-tasks open.")
  var only = false

  func run(in session: Session) throws {
    try session.closeTasks(selection, "Cancelled", at: at) { id, cancelledAt, transaction in
      try transaction.cancel(id, at: cancelledAt, includingSubtasks: !only)
    }
  }
}

/// `tally skip TASK…`.
struct SkipCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "skip", "Leave out this occurrence of repeating tasks; the next one follows.",
    usage: "<task> ... | --where <filter>",
    discussion: """
      The occurrence is cancelled and does not count as completed; 'reopen' takes it back.

      \(SharedHelp.whereOption)
      """)

  @OptionGroup var selection: TaskSelection

  func run(in session: Session) throws {
    try session.changeTasks(selection, openOnly: true, "Skipped") { task, transaction in
      guard task.recurrence != nil else {
        let named = try transaction.name(task)
        throw CommandFailure.usage(
          "\(named.inWords) does not repeat, so there is no next one", code: "inconsistentTask",
          remedy: "To close it without doing it: tally cancel \(named.handle)")
      }
      return try transaction.skip(task.id)
    }
  }
}

/// `tally reopen TASK…`.
struct ReopenCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "reopen", "Mark tasks as not started, from any state.", usage: "<task> ... | --where <filter>",
    discussion: SharedHelp.whereOption)

  @OptionGroup var selection: TaskSelection

  func run(in session: Session) throws {
    try session.changeTasks(selection, "Reopened") { task, transaction in try transaction.reopen(task.id) }
  }
}
