import ArgumentParser
import Tally

/// `tally edit TASK…`.
struct EditCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change anything about tasks.",
    usage: """
      tally edit <task> ... | --where <filter> [--title <text>] [--on <day|none>] [--due <when|none>] [--tag <tag>] \
      [<options>]
      """,
    discussion: """
      Takes everything that 'tally add' takes; 'none' clears. Tags are added to those that a task has. All tasks are \
      changed in one step, and one undo undoes it. --editor opens the notes of one task in $VISUAL or $EDITOR.

      A reminder on the day that a task leaves moves along, and one on the day on which it is due moves as far as the due \
      time does; any other stays, and the answer says so. --remind sets it in any case.

      \(SharedHelp.day) \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally edit 7f3a --title 'Buy oat milk'
        tally edit 7f3a 91bc --on friday --due 'friday 17:00' --remind none
        tally edit 7f3a --tag home --untag work --priority high --set estimate=90
        tally edit 7f3a --repeat 'every 3 days after completion'
        tally edit --where 'is:overdue +home' --today
      """
  )

  @OptionGroup var selection: TaskSelection

  @Option(parsing: .unconditional, help: ArgumentHelp("The new title, of one task.", valueName: "text"))
  var title: String?

  @OptionGroup var fields: FieldOptions

  @Option(
    name: .customLong("untag"), help: ArgumentHelp("A tag to remove; may be given several times.", valueName: "tag"))
  var untags: [String] = []

  @Flag(help: "Edit the notes of one task in $VISUAL or $EDITOR.")
  var editor = false

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

  func validate(with global: GlobalOptions) throws {
    try selection.check()
    try fields.check()
    if editor, fields.notes != nil { throw ValidationError("Give only one of --editor and --notes.") }
    if title == nil, fields.isEmpty, untags.isEmpty, !editor {
      throw ValidationError(
        "Nothing to change: give --title, --notes, --on, --list, --due, --remind, --tag, --untag, --priority, "
          + "--parent, --repeat, --set or --editor.")
    }
  }

  func run(in session: Session) throws {
    let fields = try FieldChange(fields, session.clock)
    if editor {
      try session.editNotes(of: { try only(selection.tasks(in: $0), "--editor") }) { edited in
        try change(fields, edited, session)
      }
    } else {
      try change(fields, nil, session)
    }
    session.warnIfPast(reminder: fields.reminderDate)
  }

  private func change(_ fields: FieldChange, _ edited: EditedNotes?, _ session: Session) throws {
    try session.write { transaction in
      let tasks = try selection.tasks(in: transaction)
      if title != nil { _ = try only(tasks, "--title") }
      if let edited { try edited.checkUnchanged(in: transaction) }
      let set = try fields.resolved(in: transaction)
      let words = ChangeWords(clock: session.clock)
      var changes = TaskChanges(session.clock, countingUnchanged: selection.filter != nil)
      for task in tasks {
        try changes.change(
          task, in: &transaction,
          reporting: { old, new, transaction in
            let fields = try words.suffix(from: old, to: new.task, in: transaction)
            return ("Changed", fields + session.reminderWords(from: old, to: new.task, namingMoves: false))
          }
        ) { task, transaction in
          try transaction.update(task.id, keepingReminder: self.fields.remind != nil) { task in
            set(&task)
            for tag in untags { task.tags.remove(tag.withoutNumberSign) }
            if let title { task.title = title }
            if let edited { task.notes = edited.notes }
          }
        }
      }
      for tag in untags.map(\.withoutNumberSign) where !tasks.contains(where: { $0.tags.contains(tag) }) {
        changes.say("There was no #\(tag.escapedForDisplay()) to remove.")
      }
      return try changes.report(in: transaction)
    }
  }

  /// The task of an option that is for one task only.
  private func only(_ tasks: [TaskItem], _ option: String) throws -> TaskItem {
    guard tasks.count == 1 else {
      throw CommandFailure.usage(
        "\(option) is for one task, and these are \(tasks.count.grouped)",
        remedy: "Name one task; nothing was changed")
    }
    return tasks[0]
  }
}
