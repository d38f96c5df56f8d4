import Tally
import TallySystem

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
    let fields = try FieldChange(options, clock)
    let lines = text == ["-"] ? try readLines() : [InputLine(number: nil, text: text.joined(separator: " "))]
    if lines.isEmpty { return try report(ChangeReport()) }
    try write(for: fields.namesSomething ? .changing : .adding) { transaction in
      let set = try fields.resolved(in: transaction)
      let tasks = try lines.map { line in
        try CommandFailure.replacing({ CommandFailure($0).atLine(line.number) }) {
          try transaction.add(line.text) { task in
            set(&task)
            task.state = state
            if let completion { task.wasCompleted(at: completion) }
          }
        }
      }
      // Named after all are added: each may make an earlier one's handle ambiguous.
      var change = ChangeReport()
      for task in tasks { change.append(try added(task, in: transaction)) }
      return change
    }
    guard state != .completed else { return }
    warnIfPast(reminder: fields.reminderDate)
    // Whoever pipes lines in knows that they are literal.
    if text != ["-"] { try hintAtQuick(lines.map(\.text), isAlone: options.isEmpty) }
  }

  /// Says which words of a title `quick` would have read, and, where nothing but a title was given, how to have them read.
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
    note("To have it read: \(lines.joined(separator: " && "))", wrapped: false)
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
    if let next = try transaction.successor(of: task).map({ try transaction.name($0) }) {
      change.append(ChangeReport(changed: [next], messages: [clock.sentence(aboutNext: next)]))
    }
    change.warnings += try [transaction.warningOfParent(of: named)].compactMap(\.self)
    return change
  }

  /// When a task is due and when its reminder comes, behind its place: `, due Mon 30 Nov, reminder tomorrow 09:00`.
  private func dates(of task: TaskItem) -> String {
    let due = task.dueDay.map(clock.relativeName) ?? task.dueDate.map(clock.relativeName)
    let reminder = task.reminderDate.map(clock.relativeName)
    return (due.map { ", due \($0)" } ?? "") + (reminder.map { ", reminder \($0)" } ?? "")
  }

  /// Where a task is, in words: `the inbox`, `today`, `Work`, `Work, Fri 27 Nov`.
  func placeInWords(_ named: NamedTask) -> String {
    let day = named.task.scheduledDate.map(clock.relativeName)
    let places = [named.list?.name.quotedForMessage, day].compactMap(\.self)
    return places.isEmpty ? "the inbox" : places.joined(separator: ", ")
  }
}

extension TaskItem {
  /// Sets when a new task was completed: it was there by then, or its time to completion would be negative.
  fileprivate mutating func wasCompleted(at completion: OffsetTimestamp) {
    completedAt = completion
    createdAt = min(createdAt, completion.instant)
  }
}
