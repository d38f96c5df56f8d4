import ArgumentParser
import Tally

/// `tally quick TEXT…`.
struct QuickCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "quick",
    abstract: "Capture a task from one sentence, with its dates, tags and more.",
    usage: "tally quick <text> ... [--dry-run] [<options>]",
    discussion: """
      Understands days and times, 'due', 'by' and 'deadline' before them, 'remind me', tags as +home or @home, \
      priorities as p:high or p1, 'for', 'list:' or 'project:' before a list's name, and 'every month', 'every! 3 days' (after each \
      completion) and the like; the rest is the title. No shell changes these spellings; #home and !high need quotation \
      marks. What a task cannot have, such as 'for 1h', stays in the title and is named. A backslash before a word, or \
      quotation marks around some, keep them there.

      A day is the one the task is planned for; a time on it is that of a reminder. 'tally add' takes text literally.

      EXAMPLES
        tally quick Pay rent tomorrow 9am +home p:high every month
        tally quick Call Ann next tue at 14:30 for Work
        tally quick Tax return due 31 jan remind me in 3 weeks --dry-run
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The sentence; its words are joined by spaces.", valueName: "text"))
  var text: [String]

  @Flag(help: "Show the task that the sentence gives, and add nothing.")
  var dryRun = false

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func run(in session: Session) throws {
    let sentence = text.joined(separator: " ")
    let reference = try session.clock.reference()
    if dryRun { return try showDraft(of: sentence, reference, session) }
    var reminderDate: Timestamp?
    try session.write(for: .adding) { transaction in
      let draft = try QuickDraft(sentence, reference, defaultList: session.settings[.defaultList], in: transaction)
      reminderDate = draft.entry.reminderDate
      let task = try transaction.add(draft.entry, to: draft.place)
      var change = try session.added(task, namingDates: false, in: transaction)
      change.messages.append(draft.words(session.clock))
      change.warnings += draft.warnings
      change.details = draft.facts(isDryRun: false)
      return change
    }
    session.warnIfPast(reminder: reminderDate)
  }

  private func showDraft(of sentence: String, _ reference: DateReference, _ session: Session) throws {
    let draft = try session.read {
      try QuickDraft(sentence, reference, defaultList: session.settings[.defaultList], in: $0)
    }
    try TaskItem(title: draft.entry.title, createdAt: session.clock.now).validate()
    let facts = ChangeReport(details: draft.facts(isDryRun: true)).facts
    try session.answer(facts, plain: .fields) {
      try session.writeWrapped("\(draft.entry.title.escapedForDisplay())\n\(draft.words(session.clock))")
    }
    for warning in draft.warnings { session.note(warning) }
    session.warnIfPast(reminder: draft.entry.reminderDate)
  }
}
