import ArgumentParser
import Tally

/// `tally agenda`, and `tally` alone.
struct AgendaCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "agenda",
    abstract: "Show what asks for attention today; 'tally' alone does the same.",
    usage: """
      tally [--limit <n>] [<options>]
      tally agenda [--waiting] [--limit <n>] [<options>]
      """,
    discussion: """
      Shows tasks that are overdue, due today, planned for today or left from yesterday, each once, and counts what else \
      waits. People see at most \(AgendaReport.yesterdayCount) tasks of yesterday; 'tally past' shows all that are left.

      With --plain, a line has these columns: \(AgendaReport.columns.joined(separator: ", ")).
      """
  )

  @OptionGroup var waiting: WaitingOption

  @OptionGroup var limited: LimitOption

  func run(in session: Session) throws {
    let report = try session.read { transaction in
      transaction.showsWaiting = waiting.isSet
      let agenda = try transaction.agenda()
      var lists: KnownLists = [:]
      var rest = limited.limit ?? .max
      var sections = try AgendaSection.all(of: agenda, session.clock).map { section in
        let tasks = section.items.prefix(rest)
        rest -= tasks.count
        var section = section
        section.tasks = try tasks.map {
          try transaction.name($0, knowing: &lists, withSeries: session.options.format == .json)
        }
        return section
      }
      let handleLength = sections.flatMap(\.tasks).map(\.handle.utf8.count).max() ?? 0
      for index in sections.indices {
        sections[index].tasks = sections[index].tasks.map { $0.withHandle(ofLength: handleLength) }
      }
      return AgendaReport(agenda: agenda, sections: sections, taskCount: try transaction.taskCount)
    }
    try session.answer(
      report.facts(in: session), plain: .records([("sections.tasks", AgendaReport.columns)]),
      text: report.text(in: session))
    if report.agenda.tasks.isEmpty {
      session.hint("Nothing is due or planned for today. Plan a task: tally add Buy milk --today")
    }
  }
}

/// The agenda, for people and for programs.
struct AgendaReport {
  static let columns = NamedTask.firstColumns + ["kind"] + NamedTask.laterColumns
  /// How many of yesterday's tasks people see.
  static let yesterdayCount = 5

  let agenda: Agenda
  let sections: [AgendaSection]
  /// The number of tasks in the store.
  let taskCount: Int
}

/// A part of the agenda.
struct AgendaSection {
  /// Its name in the JSON.
  let kind: String
  let heading: String
  /// The day that the tasks share; `nil` for none.
  var day: CalendarDay?
  /// All of its tasks.
  let items: [TaskItem]
  /// The tasks that are shown.
  var tasks: [NamedTask] = []
  /// The details that the lines of its tasks leave out.
  var hidden: Set<TaskRows.Detail> = []

  static let yesterday = "yesterday"

  static func all(of agenda: Agenda, _ clock: LocalClock) -> [AgendaSection] {
    [
      AgendaSection(kind: "overdue", heading: "Overdue", items: agenda.overdue),
      AgendaSection(kind: "dueToday", heading: "Due today", day: clock.today, items: agenda.dueToday),
      AgendaSection(
        kind: "planned", heading: "Planned for today", day: clock.today, items: agenda.planned,
        hidden: [.scheduledDay]),
      AgendaSection(
        kind: yesterday, heading: "Not done yesterday", day: try? clock.today.adding(days: -1),
        items: agenda.yesterday, hidden: [.scheduledDay]),
    ]
  }
}

extension AgendaReport {
  func facts(in session: Session) -> Facts {
    let sections: [Facts] = sections.map { section in
      let kind = Facts.text(section.kind)
      return [
        "kind": kind, "day": .day(section.day),
        "tasks": .array(section.tasks.map { $0.facts.adding([.init("kind", onlyIn: .plain): kind]) }),
      ]
    }
    return session.headFacts(ofView: "agenda", completedCount: agenda.completedCount).adding([
      "sections": .array(sections),
      "waiting": [
        "past": .count(agenda.pastCount), "inbox": .count(agenda.inboxCount),
        "missedReminders": .count(agenda.missedReminders.count), "start": .count(agenda.waitingCount),
      ],
    ])
  }

  func text(in session: Session) -> String {
    let painter = session.painter
    let (count, shownCount) = (agenda.tasks.count, sections.reduce(0) { $0 + $1.tasks.count })
    let title = session.clock.heading(of: session.clock.today)
    let first = shownCount < count ? ", the first \(shownCount.grouped)" : ""
    let summary = painter.paint(" — \(count.grouped) open\(first)", .detail)
    var text = count == 0 ? "" : painter.paint(title, .heading) + summary + "\n"
    for section in sections where !section.tasks.isEmpty {
      let rows = TaskRows(session, handleWidth: PrintedView.handleWidth(taskCount: taskCount), hiding: section.hidden)
      text += "\n" + painter.paint(section.heading, .heading) + "\n"
      let shown = section.tasks.prefix(section.kind == AgendaSection.yesterday ? Self.yesterdayCount : .max)
      text += shown.flatMap { rows.lines(of: $0) }.map { $0 + "\n" }.joined()
      if shown.count < section.tasks.count {
        let count = (section.tasks.count - shown.count).grouped
        text += painter.paint("  and \(count) more: \(session.line(running: "past"))", .detail) + "\n"
      }
    }
    let lines = waitingLines(session).map { painter.paint($0, .detail) + "\n" }
    return text + (lines.isEmpty || text.isEmpty ? "" : "\n") + lines.joined()
  }

  /// A line for each place where something else waits, with the command that shows it.
  private func waitingLines(_ session: Session) -> [String] {
    let clock = session.clock
    /// The command shows the whole place, which may include tasks that are listed above.
    func more(_ isInPlace: (TaskItem) -> Bool) -> String { agenda.tasks.contains(where: isInPlace) ? "more " : "" }
    var lines: [String] = []
    if agenda.pastCount > 0 {
      let more = more { $0.scheduledDate.map { $0 < clock.today } ?? false }
      lines.append("\(agenda.pastCount.grouped) \(more)left from earlier days: \(session.line(running: "past"))")
    }
    if agenda.inboxCount > 0 {
      let more = more { $0.listID == nil && $0.scheduledDate == nil }
      lines.append("\(agenda.inboxCount.grouped) \(more)in the inbox: \(session.line(running: "inbox --open"))")
    }
    if let first = agenda.missedReminders.first?.reminderInstants(in: clock.timeZone).first {
      let day = clock.wallTime(at: first).day
      let more = more { task in
        task.reminderInstants(in: clock.timeZone).contains { $0 < clock.now && clock.wallTime(at: $0).day >= day }
      }
      let count = agenda.missedReminders.count.counted("\(more)missed reminder")
      // A day alone means its morning, and the first one may be earlier.
      let start = "\(day.iso8601) 00:00"
      lines.append("\(count): \(session.line(running: "reminders --from \(start.shellQuoted)"))")
    }
    if agenda.waitingCount > 0 {
      let verb = agenda.waitingCount == 1 ? "waits" : "wait"
      lines.append(
        "\(agenda.waitingCount.counted("task")) \(verb) for a later day: \(session.line(running: "waiting"))")
    }
    if agenda.completedCount > 0 {
      lines.append("\(agenda.completedCount.grouped) done of today's: \(session.line(running: "today"))")
    }
    return lines
  }
}
