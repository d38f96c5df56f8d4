import ArgumentParser

/// The help of arguments that several commands share.
enum SharedHelp {
  static let task = ArgumentHelp("The task's handle, a longer tail of its id, or its id.", valueName: "task")
  static let tasks = ArgumentHelp("Handles, longer tails of ids, or ids.", valueName: "task")
  static let list = ArgumentHelp("The list's name, in any case, or its id.", valueName: "name")

  static let due = "A day alone means its end: the task is overdue once the day is over."
  static let remind = "A day alone means 09:00."
  static let day = """
    DAY is today, tomorrow, yesterday, a weekday or YYYY-MM-DD. A weekday means the next one; today's weekday means \
    the day a week from now.
    """
  static let when = """
    WHEN is a DAY, a DAY and HH:MM in local time as in 'friday 14:00', or an ISO 8601 instant as in \
    2026-11-21T12:00:00Z. A local time that a clock change skips is moved forward; if a time occurs twice, the first is \
    used.
    """
  static let taskRecord = "With --plain, a line has these columns: \(NamedTask.columns.joined(separator: ", "))."
}
