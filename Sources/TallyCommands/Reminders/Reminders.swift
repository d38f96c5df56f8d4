import ArgumentParser
import Tally

/// `tally reminders`.
struct RemindersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "reminders", "Show upcoming reminders, soonest first.", usage: "[--from <instant>] [--limit <n>]",
    discussion: """
      With --from an instant in the past, includes the reminders missed since then. A task with several reminders has a \
      line for each. Completed tasks have no reminders.

      With --plain, a line has these columns: \(columns.joined(separator: ", ")).
      """)

  private static let columns = ["handle", "reminderDate", "title", "id"]

  @Option(help: ArgumentHelp("Start at this instant instead of now.", valueName: "when"))
  var from: String?

  @OptionGroup var limited: LimitOption

  func run(in session: Session) throws {
    let start = try from.map { try session.clock.instant($0, of: "--from", bareDay: .morning) }
    let hasSeries = session.options.format == .json
    let reminders = try session.read { transaction in
      var lists: KnownLists = [:]
      return try transaction.scheduledReminders(from: start, limit: limited.limit ?? .max).map { reminder in
        var named = try transaction.name(reminder.task, knowing: &lists, withSeries: hasSeries)
        named.nextReminder = reminder.date
        return named
      }.withHandlesOfOneLength
    }
    let section: Facts = ["day": .day(nil), "tasks": .array(reminders.map(\.facts))]
    try session.answer(
      session.headFacts(ofView: "reminders", completedCount: 0).adding(["sections": .array([section])]),
      plain: .records([("sections.tasks", Self.columns)]), text: text(of: reminders, session))
    if reminders.isEmpty {
      session.hint("No upcoming reminders. Set one: tally edit TASK --remind 'tomorrow 10:00'")
    }
  }

  private func text(of reminders: [NamedTask], _ session: Session) -> String {
    let handleWidth = reminders.map(\.handle.utf8.count).max() ?? 0
    return reminders.map { named in
      let when = named.nextReminder.map(session.clock.relativeName) ?? ""
      let start = "  \(named.handle.padded(toWidth: handleWidth))  \(when)  "
      let room = session.width.map { max(8, $0 - start.displayWidth) } ?? .max
      let handle = session.painter.paint(named.handle.padded(toWidth: handleWidth), .handle)
      return "  \(handle)  \(session.painter.paint(when, .detail))  "
        + named.task.title.escapedForDisplay().truncated(toWidth: room) + "\n"
    }.joined()
  }
}

/// `tally snooze TASK…`.
struct SnoozeCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "snooze", "Postpone the reminders of tasks.", usage: "<task> ... | --where <filter> --until <when>",
    discussion: """
      Replaces the reminder of each task; of several, those that have passed, or else the next one. 'tally edit <task> \
      --remind none' removes all. Of a repeating task the next one has its own reminder again; 'tally edit <task> --series \
      --remind <when>' holds from now on. The time may also come last, without --until. Completed tasks have no reminders; \
      a filter leaves them out.

      \(SharedHelp.day) \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally snooze 7f3a --until 10m
        tally snooze 7f3a 1h
        tally snooze 7f3a 91bc --until 'tomorrow 9:00'
        tally snooze --where 'reminder=today' --until 'next monday'
      """)

  @OptionGroup var selection: TaskSelection

  @Option(help: ArgumentHelp("When to be reminded. \(SharedHelp.remind)", valueName: "when"))
  var until: String?

  /// The index at which the time begins among the names, as in `snooze 7f3a tomorrow 9:00`.
  private var trailingTime: Int? {
    guard until == nil, selection.filter == nil else { return nil }
    return selection.names.indices.dropFirst().suffix(Self.mostWordsOfTime).first { start in
      (try? DateExpression(selection.names[start...].joined(separator: " "))) != nil
    }
  }

  private static let mostWordsOfTime = 6

  private var missingTime: CommandFailure {
    let tasks = selection.filter.map { ["--where", $0.shellQuoted] } ?? selection.names.map(\.shellQuoted)
    return .usage(
      "The time is missing", remedy: "Say until when: tally snooze \(tasks.joined(separator: " ")) --until 1h")
  }

  func run(in session: Session) throws {
    guard until != nil || trailingTime != nil else {
      // The command that the error offers has to find its task.
      if let name = self.selection.names.first { _ = try session.read { try $0.task(named: name) } }
      throw missingTime
    }
    var selection = selection
    let text = trailingTime.map { selection.names[$0...].joined(separator: " ") }
    if let trailingTime { selection.names = Array(selection.names[..<trailingTime]) }
    let instant = try session.clock.instant(until ?? text ?? "", of: "--until", bareDay: .morning)
    let name = session.clock.relativeName(of: instant)
    try session.changeTasks(
      selection, openOnly: true, "Snoozed", { " until \(name)" + ($0.isReminderSnoozed ? ", this time only" : "") }
    ) { task, transaction in
      try transaction.snooze(task.id, until: instant)
    }
    session.warnIfPast(reminders: [instant])
  }
}
