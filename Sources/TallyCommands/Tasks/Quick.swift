import ArgumentParser
import Foundation
import Tally

/// `tally quick TEXT…`.
struct QuickCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "quick", "Capture a task from one sentence, with its dates, tags and more.",
    usage: "<text> ... [--remind <when>] [--dry-run]",
    discussion: """
      Understands days and times, 'due', 'by' and 'deadline' before them, 'remind me', tags as +home or @home, \
      priorities as p:high or p1, 'for', 'list:' or 'project:' before a list's name, 'every month', \
      'every day except sunday', 'every! 3 days' (after each completion), 'due every friday' and the like, with 'from', \
      'until', 'except' or 'for 10 times' before or after them; the rest is the title. No shell \
      changes these spellings; #home and !high need quotation marks. What a task cannot have, as 'for 1h', stays in \
      the title and is named. A backslash before a word, or quotation marks around some, keep them there.

      A day is the one the task is planned for; a time on it is that of a reminder. 'every 8 hours' without a time begins \
      at the next full hour. 'tally add' takes text literally.

      EXAMPLES
        tally quick Pay rent tomorrow 9am +home p:high every month
        tally quick Call Ann next tue at 14:30 for Work
        tally quick Tax return due 31 jan remind me in 3 weeks --dry-run
        tally quick Dentist tuesday 3pm remind me 1 day before and 2 hours before
      """)

  @Argument(help: ArgumentHelp("The sentence; its words are joined by spaces.", valueName: "text"))
  var text: [String]

  @Flag(help: "Show the task that the sentence gives, and add nothing.")
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "A further reminder; may be given several times. \(SharedHelp.reminders)", valueName: "when"))
  var remind: [String] = []

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func run(in session: Session) throws {
    let sentence = text.joined(separator: " ")
    let reference = try session.clock.reference()
    let further = try remind.filter { !$0.isNone }.map { try ReminderOption($0, session.clock) }
    if dryRun { return try showDraft(of: sentence, reference, further, session) }
    var reminderDate: Timestamp?
    try session.write(for: .adding) { transaction in
      let draft = try QuickDraft(sentence, reference, defaultList: session.settings[.defaultList], in: transaction)
      reminderDate = draft.entry.reminderDate
      let task = try add(draft.entry, to: draft.place, further, in: &transaction)
      var change = try session.added(task, namingDates: false, in: transaction)
      change.messages.append(draft.words(session.clock))
      change.warnings += draft.warnings
      change.details = draft.facts(isDryRun: false)
      return change
    }
    session.warnIfPast(reminders: [reminderDate].compactMap(\.self) + further.compactMap(\.instant))
  }

  /// Adds the task of a sentence, with further reminders.
  private func add(
    _ entry: QuickEntry, to place: CapturePlace, _ further: [ReminderOption],
    in transaction: inout StoreWriteTransaction
  ) throws -> TaskItem {
    try transaction.add(entry, to: place) { task in
      for option in further { task.reminders.append(try option.reminder(of: task)) }
    }
  }

  private func showDraft(
    of sentence: String, _ reference: DateReference, _ further: [ReminderOption], _ session: Session
  ) throws {
    let draft = try session.read {
      try QuickDraft(sentence, reference, defaultList: session.settings[.defaultList], in: $0)
    }
    // What the command would refuse, the dry run refuses, too. The store need not be there, and is not changed.
    try session.rehearse { transaction in
      if let name = draft.entry.listName { _ = try transaction.addList(name: name) }
      _ = try add(draft.entry, to: .inbox, further, in: &transaction)
    }
    let facts = ChangeReport(details: draft.facts(isDryRun: true)).facts
    try session.answer(facts, plain: .fields) {
      try session.writeWrapped("\(draft.entry.title.escapedForDisplay())\n\(draft.words(session.clock))")
    }
    for warning in draft.warnings { session.report(warning) }
    session.warnIfPast(reminders: [draft.entry.reminderDate].compactMap(\.self) + further.compactMap(\.instant))
  }
}

/// A task read from a sentence, and its list.
struct QuickDraft {
  let entry: QuickEntry
  let list: TaskList?
  /// A warning if the sentence names a list that does not exist.
  let warnings: [String]
  private let sentence: String

  /// Reads a sentence with the names of the store's lists; if it names none of them, the task goes to the default list.
  init<Base: ~Copyable>(
    _ sentence: String, _ reference: DateReference, defaultList: String?,
    in transaction: borrowing StoreTransaction<Base>
  ) throws {
    try QuickEntry.validate(sentence)
    self.sentence = sentence
    let names = try transaction.lists().map(\.name)
    entry = QuickEntry.parse(sentence, reference: reference, lists: names)
    list = try (entry.listName ?? defaultList).map { try transaction.list(named: $0) }
    let unknown = [entry.listName == nil ? Self.unknownList(in: sentence, reference) : nil].compactMap(\.self)
    warnings = unknown.map { name in
      let near = name.nearNames(among: names).first.map { " Did you mean \($0.quotedForMessage)?" } ?? ""
      return "Warning: there is no list \(name.quotedForMessage), so its name stays in the title.\(near)"
    }
  }

  /// The list that a sentence names with `list:` or the like, but that does not exist.
  private static func unknownList(in sentence: String, _ reference: DateReference) -> String? {
    let isNamed = ["list:", "project:", "proj:"].contains { sentence.lowercased().contains($0) }
    return isNamed ? QuickEntry.parse(sentence, reference: reference).listName : nil
  }

  /// The place of the task.
  var place: CapturePlace { list.map { .list($0.id) } ?? .inbox }
}

extension QuickDraft {
  /// The understood fields, in one sentence.
  func words(_ clock: LocalClock) -> String {
    let due = entry.dueDay.map(clock.relativeName) ?? entry.dueDate.map(clock.relativeName)
    let tags = entry.tags.map { "#\($0.escapedForDisplay())" }.joined(separator: " ")
    let parts: [String?] = [
      entry.scheduledDate.map { "planned for \(clock.relativeName(of: $0))" },
      due.map { "due \($0)" },
      entry.reminderDate.map { "reminder \(clock.relativeName(of: $0))" },
      entry.relativeReminders.isEmpty
        ? nil : "reminder \(entry.relativeReminders.map(\.description).joined(separator: " and "))",
      list.map { "list \($0.name.quotedForMessage)\(entry.listName == nil ? " by default" : "")" },
      entry.tags.isEmpty ? nil : tags,
      entry.priority == .none ? nil : "\(entry.priority.name) priority",
      entry.recurrence.map { "repeats \($0.words)" },
      entry.start.map(clock.words),
    ]
    let words = parts.compactMap(\.self).joined(separator: ", ")
    let understood = words.isEmpty ? "No dates or tags found; all of it is the title." : "Understood: \(words)."
    return leftoverWords.map { "\(understood)\n\($0)" } ?? understood
  }

  /// A sentence about the words that were not understood; `nil` if there are none.
  private var leftoverWords: String? {
    guard !entry.leftovers.isEmpty else { return nil }
    let words = entry.leftovers.map { leftover in
      let text = String(sentence[leftover.range]).escapedForDisplay()
      return leftover.reason == .timeSpan ? "the end of \(text)" : text
    }
    let firstWords = entry.leftovers.filter { $0.reason == .recurrence }.map { leftover in
      sentence[leftover.range].lowercased().prefix(while: \.isLetter)
    }
    let isDate =
      entry.leftovers.contains { $0.reason == .date }
      || firstWords.contains { ["until", "till", "from", "to"].contains($0) }
    let isRow = firstWords.contains { CalendarNames.weekday(String($0)) != nil }
    let isFrequency = entry.leftovers.contains { leftover in
      let words = sentence[leftover.range].lowercased()
      return leftover.reason == .recurrence
        && words.contains(#/^(?:twice|\w+ times?) (?:an?|per|every|each|\w+ly)\b/#)
    }
    let remedy =
      (isDate ? "; a date can always be written as YYYY-MM-DD" : "")
      + (isRow ? "; to repeat on several weekdays, write every before them" : "")
      + (isFrequency ? "; to repeat several times a week or a day, name the days or write every 8 hours" : "")
    return "Not understood: \(words.joined(separator: ", ")) (kept in the title\(remedy))"
  }

  /// The understood fields, and the words that gave them with their places: offsets and lengths count Unicode scalars.
  func facts(isDryRun: Bool) -> Facts {
    let parts: [Facts] = zip(entry.parts, places(of: entry.parts.map(\.range))).map { part, place in
      (["kind": .text(part.kind.rawValue)] as Facts).adding(place)
    }
    let leftovers: [Facts] = zip(entry.leftovers, places(of: entry.leftovers.map(\.range))).map { leftover, place in
      (["reason": .text(leftover.reason.rawValue)] as Facts).adding(place)
    }
    let reminders = ReminderSet(
      (entry.reminderDate.map { [.at($0)] } ?? []) + entry.relativeReminders.map { .before($0) })
    let draft: Facts = [
      "title": .text(entry.title), "scheduledDate": .day(entry.scheduledDate), "dueDate": .instant(entry.dueDate),
      "dueDay": .day(entry.dueDay), "reminderDate": .instant(entry.reminderDate),
      "reminders": .value(.reminders(reminders)),
      "list": .text(list?.name),
      "priority": .value(entry.priority == .none ? nil : .priority(entry.priority)), "tags": .value(.tags(entry.tags)),
      "recurrence": .value(entry.recurrence.map { .recurrence($0) }), "startDay": .day(entry.start?.day),
      "someday": .flag(entry.start == .someday), "parts": .array(parts),
      "leftovers": .array(leftovers),
    ]
    return ["understood": draft, "dryRun": .flag(isDryRun)]
  }

  /// The texts of ranges in order, with their places.
  private func places(of ranges: [Range<String.Index>]) -> [Facts] {
    zip(ranges, sentence.scalarOffsets(of: ranges)).map { range, offsets in
      ["text": .text(String(sentence[range])), "offset": .count(offsets.lowerBound), "length": .count(offsets.count)]
    }
  }
}
