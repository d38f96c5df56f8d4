import ArgumentParser
import Foundation
import Tally
import TallySystem

/// `tally add TEXT…`.
struct AddCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "add", "Capture a task.",
    usage: """
      <text> ... [--today | --tomorrow | --on <day>] [--list <name>]
      -
      """,
    discussion: """
      The words of the text are joined by spaces. Without a day or a list, the task goes to the inbox. With '-' as the \
      text, reads one task per line from standard input, without the blanks around it, and adds all of them or none.

      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally add Buy milk --today
        tally add 'Send the report' --list Work --due 'friday 17:00'
        tally add 'Call Ayşe' --remind 'tomorrow 10:00'
        tally add 'Renew the pass' --due '1 dec' --remind '1 week before' --remind '9:00 on the day'
        tally add 'Pay the rent' --repeat 'every month on the 1st'
        tally add 'Water the plants' --repeat 'every day except sunday starting 1 march'
        git log --format=%s | tally add - --list Releases
      """)

  @Argument(help: ArgumentHelp("The title, or '-' to read lines from standard input.", valueName: "text"))
  var text: [String]

  @OptionGroup var fields: FieldOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func validate(with global: GlobalOptions) throws { try fields.check() }

  func run(in session: Session) throws { try session.capture(text, fields) }
}

/// `tally log TEXT…`.
struct LogCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "log", "Record something that is done already.",
    usage: """
      <text> ... [--at <when>] [--list <name>] [--tag <tag>]
      - [--at <when>]
      """,
    discussion: """
      Adds a task and completes it in one step, now or at an earlier time. Takes everything that 'tally add' takes.

      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally log Fixed the tap --tag home
        tally log 'Wrote the minutes' --at 'yesterday 18:30' --list Work
        tally log 'Ran 5 km' --at '2 hours ago'
      """)

  @Argument(help: ArgumentHelp("The title, or '-' to read lines from standard input.", valueName: "text"))
  var text: [String]

  @Option(help: SharedHelp.completionTime)
  var at: String?

  @OptionGroup var fields: FieldOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func validate(with global: GlobalOptions) throws { try fields.check() }

  func run(in session: Session) throws {
    let completion = try at.map { try session.clock.completion($0, of: "--at") }
    try session.capture(text, fields, as: .completed, at: completion)
  }
}

/// `tally open URL`.
struct OpenCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "open", "Follow a link: add a task, or show one.", usage: "<url> [--scheme <scheme>]",
    discussion: """
      Links are tally://open-task?id=UUID and tally://create-task?title=TEXT, which may also have list=NAME, day=DAY, \
      due=WHEN, notes=TEXT and, several times, tag=TAG. Texts are percent-encoded; anything else is refused. A bare \
      tally://create-task adds nothing.

      EXAMPLES
        tally open 'tally://create-task?title=Buy%20stamps&list=Errands&due=friday&tag=post'
      """)

  @Argument(help: ArgumentHelp("The link.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The scheme of the link; applications have their own.", valueName: "scheme"))
  var scheme: String = TaskLink.defaultScheme

  func run(in session: Session) throws {
    switch try TaskLink(url, scheme: scheme) {
    case .createTask(let new): try create(new, session)
    case .openTask(let id): try session.showSheet { try $0.task(named: id.text) }
    }
  }

  private func create(_ new: TaskLink.NewTask, _ session: Session) throws {
    guard let title = new.title else {
      let link = "\(scheme)://create-task?title=Buy%20milk"
      return try session.report(
        ChangeReport(messages: ["Nothing was added: the link has no title. Give it one, as in \(link)"]))
    }
    let reference = try session.clock.reference()
    let day = try new.day?.day(against: reference)
    let due = try new.due?.resolved(against: reference)
    try session.write(for: new.list == nil ? .adding : .changing) { transaction in
      let listID = try new.list.map { try transaction.list(named: $0).id }
      let task = try transaction.add(title) { task in
        (task.listID, task.scheduledDate, task.notes, task.tags) = (listID, day, new.notes, new.tags)
        task.setDue(due)
      }
      return try session.added(task, in: transaction)
    }
  }
}

extension Session {
  /// Adds a task, or one for each line of standard input, in one transaction.
  ///
  /// - Parameters:
  ///   - text: the words of the title, or `-`.
  ///   - options: everything else about the task.
  ///   - state: its state.
  ///   - completion: when it was completed; `nil` for now.
  /// - Throws: ``CommandFailure``, or the library's error; nothing is added then.
  func capture(
    _ text: [String], _ options: FieldOptions, as state: TaskState = .notStarted, at completion: OffsetTimestamp? = nil
  ) throws {
    let fields = try FieldChange(options, ofNew: true, clock)
    let lines = text == ["-"] ? try readLines() : [InputLine(number: nil, text: text.joined(separator: " "))]
    if lines.isEmpty { return try report(ChangeReport()) }
    try write(for: fields.namesSomething ? .changing : .adding) { transaction in
      let set = try fields.resolved(in: transaction)
      let tasks = try lines.map { line in
        try CommandFailure.replacing({ CommandFailure($0).atLine(line.number) }) {
          let task = try fields.inZone(of: &transaction) { transaction in
            let task = try transaction.add(line.text) { task in
              try set(&task)
              task.state = state
              guard let completion else { return }
              // A task created after its completion would have a negative time to completion.
              (task.completedAt, task.createdAt) = (completion, min(task.createdAt, completion.instant))
            }
            try fields.setTimeZone(of: task, in: &transaction)
            return task
          }
          return try transaction.task(task.id) ?? task
        }
      }
      // Named after all are added: each may make an earlier one's handle ambiguous.
      var change = ChangeReport()
      for task in tasks { change.append(try added(task, in: transaction)) }
      return change
    }
    guard state != .completed else { return }
    warnIfPast(reminders: fields.reminderDates)
    // People who pipe lines in know that they are literal.
    if text != ["-"] { try hintAtQuick(lines.map(\.text), isAlone: options.isEmpty) }
  }

  /// Names the words of a title that `quick` would have read, and, if there is nothing but a title, the command for that.
  private func hintAtQuick(_ titles: [String], isAlone: Bool) throws {
    guard settings.hasHints, options.format == .human, let title = titles.first else { return }
    let entry = QuickEntry.parse(title, reference: try clock.reference(countingWeeks: false))
    // `for Work` is a list only where there is one.
    let parts = entry.parts.filter { $0.kind != .list || title[$0.range].contains(":") }
    let words = parts.map { String(title[$0.range]).escapedForDisplay().truncated(toWidth: 60) }
    guard let last = words.last else { return }
    let all = words.count == 1 ? last : "\(words.dropLast().joined(separator: ", ")) and \(last)"
    say("'tally quick' reads \(all); here \(words.count == 1 ? "it is" : "they are") part of the title.")
    guard isAlone else { return }
    let lines = [line(running: "undo"), line(running: "quick \(title.shellQuoted)")]
    report("To have it read: \(lines.joined(separator: " && "))", wrapped: false)
  }

  /// The change of a task that was added.
  ///
  /// - Parameters:
  ///   - task: the task.
  ///   - namesDates: whether to repeat when it is due and when the reminder comes.
  ///   - transaction: where it was added.
  /// - Returns: the change, with the next task of the series if the task was completed.
  /// - Throws: what the storage throws.
  func added(
    _ task: TaskItem, namingDates namesDates: Bool = true, in transaction: borrowing StoreWriteTransaction
  ) throws -> ChangeReport {
    let named = try transaction.name(task)
    let repeating = task.recurrence.map { ", \($0.words)" } ?? ""
    let message =
      if let completion = task.completedAt {
        "Logged \(named.inWords)\(named.list.map { " in \($0.name.quotedForMessage)" } ?? ""), done "
          + clock.relativeName(of: completion.instant) + repeating
      } else {
        "Added \(named.inWords) to \(placeInWords(named))\(namesDates ? dates(of: task) : "")\(repeating)"
      }
    var change = ChangeReport(changed: [named], messages: [message + "."])
    if let days = try transaction.firstTimesInWords(of: task, clock) { change.messages.append(days) }
    if let next = try transaction.successor(of: task).map({ try transaction.name($0) }) {
      change.append(ChangeReport(changed: [next], messages: [clock.sentence(aboutNext: next)]))
    }
    if let warning = try transaction.warningOfParent(of: named) { change.warnings.append(warning) }
    return change
  }

  /// When a task is due and when its reminder comes, in words after its place:
  /// `, due Mon 30 Nov, reminder tomorrow 09:00`.
  private func dates(of task: TaskItem) -> String {
    let due = task.dueDay.map(clock.relativeName) ?? task.dueDate.map(clock.relativeName)
    let reminders = task.reminderInstants(in: clock.timeZone).map(clock.relativeName)
    let label = reminders.count == 1 ? "reminder" : "reminders"
    let start = task.start.map { ", \(clock.words(for: $0))" }
    return (start ?? "") + (due.map { ", due \($0)" } ?? "")
      + (reminders.isEmpty ? "" : ", \(label) \(reminders.joined(separator: " and "))")
  }

  /// The place of a task, in words: `the inbox`, `today`, `Work`, `Work, Fri 27 Nov`.
  func placeInWords(_ named: NamedTask) -> String {
    let day = named.task.scheduledDate.map(clock.relativeName)
    let places = [named.list?.name.quotedForMessage, day].compactMap(\.self)
    return places.isEmpty ? "the inbox" : places.joined(separator: ", ")
  }
}

/// A line of standard input that is not blank, without the blanks around it, or a text from the arguments instead.
struct InputLine {
  /// Counted from 1, blank lines included; `nil` for a text from elsewhere.
  let number: Int?
  let text: String
}

extension StoreTransaction where Base: ~Copyable {
  /// The first three days of an open task that repeats by a rule, or its times if it repeats by hours, in a sentence, so
  /// that a person sees what the rule means.
  func firstTimesInWords(of task: TaskItem, _ clock: LocalClock) throws -> String? {
    guard !task.isCompleted, let place = task.series, let series = try series(of: task), case .rule = series.recurrence
    else { return nil }
    var places = [place]
    while places.count < 4, let next = series.next(after: places[places.count - 1]) { places.append(next) }
    let names = places.prefix(3).map { clock.name(of: $0, in: series) }
    guard let last = names.last, names.count > 1 else { return nil }
    return
      "Its \(series.recurrence.hours == nil ? "days" : "times") are \(names.dropLast().joined(separator: ", ")) and "
      + "\(last)\(places.count > names.count ? ", and so on" : "")."
  }
}

extension LocalClock {
  /// The day of a place in a series, or its time if the series repeats by hours.
  func name(of place: RecurrenceSeries, in series: TaskSeries) -> String {
    guard series.recurrence.hours != nil,
      let time = series.task(at: place, in: timeZone, createdAt: now).timeOfStep
    else { return relativeName(of: place.occurrence) }
    return relativeName(of: time)
  }
}

extension Session {
  /// A limit is needed because all lines are read before the first task is added: a mistake in any line adds none.
  private static let mostInputBytes = 256 << 20

  /// The lines of standard input, except blank ones.
  ///
  /// - Throws: ``CommandFailure`` if the input cannot be read, or for a line that is not UTF-8.
  func readLines() throws -> [InputLine] {
    let remedy = "Check what is connected to standard input"
    let input = try CommandFailure.replacing({ .unreadable("The input could not", $0, remedy: remedy) }) {
      try invocation.input.readToEnd(atMost: Self.mostInputBytes)
    }
    // Some editors put a byte order mark first, which is not part of a text (RFC 3629, section 6).
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = input.starts(with: byteOrderMark) ? input.dropFirst(byteOrderMark.count) : input[...]
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try lines.enumerated().compactMap { index, bytes in
      let content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
      guard let text = String(validating: content, as: UTF8.self) else {
        throw CommandFailure(
          .badData, code: "malformedDocument", "The text is not UTF-8",
          remedy: "Convert the input, for example with 'iconv -t UTF-8'; nothing was added"
        ).atLine(index + 1)
      }
      let title = text.trimmingCharacters(in: .whitespaces)
      return title.isEmpty ? nil : InputLine(number: index + 1, text: title)
    }
  }
}

extension Session {
  /// Warns of each time of a reminder that has passed, in any format, because it is likely a mistake.
  func warnIfPast(reminders: [Timestamp]) {
    for reminder in Set(reminders).sorted() where reminder < clock.now {
      report("Warning: the time of the reminder, \(clock.relativeName(of: reminder)), has passed.")
    }
  }
}
