public import ArgumentParser
public import Tally
public import TallyFormats

/// The options for everything about a task except its title, which `add`, `log` and `edit` share.
struct FieldOptions: ParsableArguments {
  @Flag(help: "Schedule it for today.")
  var today = false

  @Flag(help: "Schedule it for tomorrow.")
  var tomorrow = false

  @Option(help: ArgumentHelp("Schedule it for this day, or none.", valueName: "day"))
  var on: String?

  @Option(help: ArgumentHelp("Put it in this list, by name or id, or in none.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("When it is due, or none. \(SharedHelp.due)", valueName: "when"))
  var due: String?

  @Option(
    help: ArgumentHelp(
      "When to send a reminder; may be given several times; none removes all. " + SharedHelp.reminders,
      valueName: "when"))
  var remind: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("Notes; none for no notes.", valueName: "text"))
  var notes: String?

  @Option(
    name: .customLong("tag"),
    help: ArgumentHelp("A tag; may be given several times, 'none' removes all tags.", valueName: "tag"))
  var tags: [String] = []

  @Option(help: ArgumentHelp("low, medium, high or none.", valueName: "priority"))
  var priority: String?

  @Option(help: ArgumentHelp("The task that it is a part of, or none.", valueName: "task"))
  var parent: String?

  @Option(
    help: ArgumentHelp(
      "A task to be done before it; may be given several times, 'none' removes all such tasks.", valueName: "task"))
  var after: [String] = []

  @Option(name: .customLong("repeat"), help: ArgumentHelp(SharedHelp.repeats, valueName: "rule"))
  var recurrence: String?

  @Option(help: ArgumentHelp(SharedHelp.wait, valueName: "day"))
  var wait: String?

  @Option(
    help: ArgumentHelp(
      "The time zone in which a repeating task keeps its time, and of the times given here, or none for where you are.",
      valueName: "id"))
  var zone: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("A field of your own; may be given several times, 'none' removes it.", valueName: "name=value"))
  var attributes: [String] = []
}

extension FieldOptions {
  /// Refuses options that contradict each other.
  func check() throws {
    if [today, tomorrow, on != nil].count(where: \.self) > 1 {
      throw ValidationError("Give only one of --today, --tomorrow and --on.")
    }
  }

  /// Whether no option is given.
  var isEmpty: Bool {
    !today && !tomorrow && tags.isEmpty && attributes.isEmpty && after.isEmpty && remind.isEmpty
      && [on, list, due, notes, priority, parent, recurrence, wait, zone].allSatisfy { $0 == nil }
  }
}

/// The help of arguments that several commands share.
enum SharedHelp {
  static let task = ArgumentHelp("The task's handle, a longer tail of its id, or its id.", valueName: "task")
  static let tasks = ArgumentHelp("Handles, longer tails of ids, or ids.", valueName: "task")
  static let list = ArgumentHelp("The list's name, in any case, or its id.", valueName: "name")

  static let completionTime = ArgumentHelp(
    "When it was done, not in the future: a WHEN with its time. A weekday is the last one.", valueName: "when")
  static let cancellationTime = ArgumentHelp(
    "When it was given up, not in the future: a WHEN with its time. A weekday is the last one.", valueName: "when")
  static let whereOption = """
    Instead of tasks, --where takes a filter, as for 'tally find', in one argument. All tasks that it finds are changed in \
    one step, and one undo undoes it; if it finds none, the exit status is 1.
    """

  static let due = "A day alone is a due day: the task is overdue once it is over."
  static let wait = """
    The day on which it starts, someday, or none. Until then it waits: no view of what to do shows it without --waiting.
    """
  static let remind = "A day alone means 09:00."
  /// The forms of a reminder that counts from a date of its task.
  static let relativeReminders =
    "'1 day before', '2 hours before it is due', '1 day before it is planned' or '9:00 on the day'"
  static let reminders = "\(remind) Or before the task is due or planned, as in \(relativeReminders)."
  static let repeats = """
    How it repeats, or none: 'every 2 weeks', 'every monday', 'every month on the last friday', 'every weekday except in \
    august', 'every 1 march and 15 september', 'every 8 hours' with a due time or '3 days after completion', perhaps with \
    'from 1 april', 'until', 'for 10 times' or 'except', in any order; or an RRULE alone, with its own UNTIL or COUNT. \
    Words mean the last day of a month that is too short; an RRULE leaves that month out. A time alone is one on the first day. Once it is done, the next one is there.
    """
  static let day = """
    DAY is today, tomorrow, yesterday, a weekday or 'next monday', YYYY-MM-DD, '25 nov', +3d or 'in 2 weeks', eow, eom or \
    eoy (the end of the week, month or year). A weekday means the next one; today's weekday means the day a week from now.
    """
  static let when = """
    WHEN is a DAY, a time or both as in 'friday 14:00', '5pm' or 'tomorrow 9', a duration from now as in 10m, 2h or \
    1d12h, or an ISO 8601 instant as in 2026-11-21T12:00:00Z. Times are local: one that a clock change skips is moved \
    forward; if a time occurs twice, the first is used.
    """
  static let completionFilter = """
    A filter, as for 'tally find', selects tasks and completions. The list, the tags and the priority of a completion are \
    those of its moment; everything else is the task's own, and absent if the task has been deleted.
    """
  static let taskRecord = "With --plain, a line has these columns: \(NamedTask.columns.joined(separator: ", "))."
}

extension DateOrder: ExpressibleByArgument {}

extension DocumentFormat: ExpressibleByArgument {
  static let help = ArgumentHelp(
    "The format. Default: by the file's extension and contents.", valueName: "format")
}

/// A format of an export.
///
/// One that can be imported only is read as well, so that it can be refused by its name.
struct ExportedFormat: ExpressibleByArgument {
  let format: DocumentFormat

  static let help = ArgumentHelp("The format. Default: by the file's extension.", valueName: "format")
  static let allValueStrings = DocumentFormat.allCases.filter(\.isExported).map(\.rawValue)

  init?(argument: String) {
    guard let format = DocumentFormat(argument: argument) else { return nil }
    self.format = format
  }
}

extension Series.Unit: ExpressibleByArgument {}
