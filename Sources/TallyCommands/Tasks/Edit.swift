import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem

/// `tally edit TASK…`.
struct EditCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "edit", "Change anything about tasks.",
    usage: "<task> ... | --where <filter> [--title <text>] [--on <day|none>] [--due <when|none>] [--tag <tag>]",
    discussion: """
      Takes everything that 'tally add' takes; 'none' clears. Tags are added to those that a task has. All tasks are \
      changed in one step, and one undo undoes it. --editor opens the notes of one task in $VISUAL or $EDITOR.

      A reminder on the day that a task leaves moves along, and one on the day on which it is due moves as far as the due \
      time does; any other stays, and the answer says so. --remind sets it in any case.

      Of a repeating task, only this occurrence changes; with --series, those that follow change, too, and a time alone \
      is one of the task's own day. A task that moves with --series takes a rule of one day along: 'every monday' becomes \
      'every friday'. Another rule and another zone always concern the series.

      \(SharedHelp.day) \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally edit 7f3a --title 'Buy oat milk'
        tally edit 7f3a --series --due 10:00
        tally edit 7f3a 91bc --on friday --due 'friday 17:00' --remind none
        tally edit 7f3a --tag home --untag work --priority high --set estimate=90
        tally edit 7f3a --repeat 'every 3 days after completion'
        tally edit 7f3a --after 91bc
        tally edit --where 'is:overdue +home' --today
      """)

  @OptionGroup var selection: TaskSelection

  @Option(parsing: .unconditional, help: ArgumentHelp("The new title, of one task.", valueName: "text"))
  var title: String?

  @OptionGroup var fields: FieldOptions

  @Option(
    name: .customLong("untag"), help: ArgumentHelp("A tag to remove; may be given several times.", valueName: "tag"))
  var untags: [String] = []

  @Option(help: ArgumentHelp("A task that it need not wait for; may be given several times.", valueName: "task"))
  var notAfter: [String] = []

  @Flag(help: "Change a repeating task and those that follow it.")
  var series = false

  @Flag(help: "Edit the notes of one task in $VISUAL or $EDITOR.")
  var editor = false

  func validate(with global: GlobalOptions) throws {
    try selection.check()
    try fields.check()
    if editor, fields.notes != nil { throw ValidationError("Give only one of --editor and --notes.") }
    if title == nil, fields.isEmpty, untags.isEmpty, notAfter.isEmpty, !editor {
      throw ValidationError(
        "Nothing to change: give --title, --notes, --on, --list, --due, --remind, --tag, --untag, --priority, "
          + "--parent, --after, --not-after, --repeat, --wait, --zone, --set or --editor.")
    }
  }

  /// Whether the zone of series is all that changes.
  private var changesOnlyZone: Bool {
    var others = fields
    others.zone = nil
    return fields.zone != nil && title == nil && others.isEmpty && untags.isEmpty && notAfter.isEmpty && !editor
  }

  func run(in session: Session) throws {
    let fields = try FieldChange(fields, ofSeries: series, session.clock)
    if editor {
      try session.editNotes(of: { try only(selection.tasks(in: $0), "--editor") }) { edited in
        try change(fields, edited, session)
      }
    } else {
      try change(fields, nil, session)
    }
    session.warnIfPast(reminders: fields.reminderDates)
  }

  private func change(_ fields: FieldChange, _ edited: EditedNotes?, _ session: Session) throws {
    try session.write { transaction in
      let selected = try selection.tasks(in: transaction)
      let tasks = try openTasks(of: selected, in: transaction)
      if title != nil { _ = try only(tasks, "--title") }
      if let edited { try edited.checkUnchanged(in: transaction) }
      let set = try fields.resolved(in: transaction)
      let removed = try notAfter.map { try dependency(named: $0, of: tasks, in: transaction) }
      let change = { (task: inout TaskItem) in
        try set(&task)
        for tag in untags { task.tags.remove(tag.withoutNumberSign) }
        for dependency in removed { task.dependsOn.remove(dependency) }
        if let title { task.title = title }
        if let edited { task.notes = edited.notes }
      }
      let words = ChangeWords(clock: session.clock)
      var changes = try TaskChanges(session.clock, of: selection, in: transaction)
      let ended =
        try series && selection.filter != nil
        ? selected.count { try transaction.openTask(ofSeriesWith: $0) == nil } : 0
      if ended > 0 {
        changes.say("\(ended.counted("task")) \(ended == 1 ? "is" : "are") left out: no task of the series is open.")
      }
      let known = try Set(
        tasks.flatMap { task in
          let ofSeries = series ? try transaction.series(of: task)?.template.tags : nil
          return Array(task.tags) + Array(ofSeries ?? [])
        })
      if fields.setsRule { for task in tasks { try requireRepeatable(task, in: transaction) } }
      for task in tasks {
        // The times of a series are those of its zone. A task without a series gets it with its rule.
        let isFirst = try fields.zone != nil && transaction.openTask(ofSeriesWith: task)?.recurrence != nil
        if let zone = fields.zone, isFirst || changesOnlyZone {
          try changes.setTimeZone(zone?.zone, ofSeriesWith: task.id, words, in: &transaction)
        }
        if !changesOnlyZone {
          try fields.inZone(of: &transaction) { transaction in
            try apply(change, to: task, words, &changes, session, in: &transaction)
            if let zone = fields.zone, !isFirst {
              try changes.setTimeZone(zone?.zone, ofSeriesWith: task.id, words, in: &transaction)
            }
          }
        }
      }
      for tag in untags.map(\.withoutNumberSign) where !known.contains(tag) {
        changes.say("There was no #\(tag.escapedForDisplay()) to remove.")
      }
      return try changes.report(in: transaction)
    }
  }

  /// Changes one task.
  ///
  /// - Parameters:
  ///   - change: changes it.
  ///   - task: the task.
  ///   - words: the words for fields.
  ///   - changes: the changes so far.
  ///   - session: the session.
  ///   - transaction: where to change it.
  /// - Throws: what the storage throws.
  private func apply(
    _ change: (inout TaskItem) throws -> Void, to task: TaskItem, _ words: ChangeWords, _ changes: inout TaskChanges,
    _ session: Session, in transaction: inout StoreWriteTransaction
  ) throws {
    var times: String?
    let former = try transaction.series(of: task)
    try changes.change(
      task, in: &transaction,
      reporting: { old, new, transaction in
        let fields = try words.suffix(from: old, to: new.task, in: transaction)
        let scope = scope(from: old, to: new.task, former, try transaction.series(of: new.task))
        let reminders = session.reminderWords(from: old, to: new.task, namingMoves: false)
        if new.task.recurrence?.hours != nil, old.recurrence != new.task.recurrence || series {
          times = try transaction.firstTimesInWords(of: new.task, session.clock)
        }
        return ("Changed", fields + scope + wait(from: old, to: new.task, session) + reminders)
      }
    ) { task, transaction in
      let keepsReminder = !fields.remind.isEmpty
      return series
        ? try transaction.updateSeries(of: task.id, keepingReminder: keepsReminder, change)
        : try transaction.update(task.id, keepingReminder: keepsReminder, change)
    }
    times.map { changes.say($0) }
  }

  /// Refuses a rule for a closed task that has no open one to repeat it.
  private func requireRepeatable(_ task: TaskItem, in transaction: borrowing StoreWriteTransaction) throws {
    guard task.isClosed, try transaction.openTask(ofSeriesWith: task)?.isOpen != true else { return }
    let name = try transaction.name(task)
    let end = task.recurrence == nil ? "" : ", and its series has ended"
    let filter = selection.filter == nil ? "" : "; or leave closed tasks out of the filter with is:open"
    throw CommandFailure.usage(
      "\(name.inWords) is \(task.state.name)\(end), so no task would repeat by this rule", code: "invalidRecurrence",
      remedy: "Reopen it first: tally reopen \(name.handle)\(filter)")
  }

  /// The tasks that an edit changes: with --series, the open ones of their series, each once.
  ///
  /// Of those that a filter finds, ended series are left out; one that is named is an error later.
  private func openTasks(
    of tasks: [TaskItem], in transaction: borrowing StoreWriteTransaction
  ) throws -> [TaskItem] {
    guard series else { return tasks }
    var seen: Set<UUID> = []
    return try tasks.compactMap { try transaction.openTask(ofSeriesWith: $0) ?? (selection.filter == nil ? $0 : nil) }
      .filter { seen.insert($0.id).inserted }
  }

  /// Which tasks of a series an edit has changed, in words: `, this time only`; none for a task that does not repeat.
  ///
  /// - Parameters:
  ///   - old: the task before the edit.
  ///   - new: the task after it.
  ///   - former: the series before the edit.
  ///   - current: the series after it.
  /// - Returns: the words.
  private func scope(
    from old: TaskItem, to new: TaskItem, _ former: TaskSeries?, _ current: TaskSeries?
  ) -> String {
    guard let former, let current, old.isOpen else { return "" }
    if !former.makesSameTasks(as: current) {
      return old.dependsOn == new.dependsOn ? ", from now on" : ", from now on; what it waits for, this time only"
    }
    var rest = old
    // The tasks that follow are created below the parent of the one before.
    (rest.parentID, rest.listID, rest.updatedAt) = (new.parentID, new.listID, new.updatedAt)
    guard old.parentID != new.parentID else { return ", this time only" }
    return rest == new ? ", from now on" : ", this time only; its parent from now on"
  }

  /// Words about a start that an open task got too late to wait for it, and about one that keeps it from the views of its
  /// new day; none for any other change.
  private func wait(from old: TaskItem, to new: TaskItem, _ session: Session) -> String {
    if old.scheduledDate != new.scheduledDate, old.start == new.start { return session.clock.waitingSuffix(of: new) }
    guard new.isOpen, old.start != new.start, let start = new.start, !new.isWaiting(on: session.clock.today) else {
      return ""
    }
    return "; it \(session.clock.words(for: start))"
  }

  /// The task that `--not-after` names, by its handle, or by the end of its id if it does not exist any more.
  private func dependency<Base: ~Copyable>(
    named name: String, of tasks: [TaskItem], in transaction: borrowing StoreTransaction<Base>
  ) throws -> UUID {
    let end = name.lowercased().filter { $0 != "-" }
    let known = Set(tasks.flatMap(\.dependsOn)).filter { $0.text.filter { $0 != "-" }.hasSuffix(end) }
    if let only = known.first, known.count == 1, end.count >= 4 { return only }
    return try transaction.task(named: name).id
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

/// The notes of a task as a person left them in an editor.
struct EditedNotes {
  /// The notes without the line break with which editors end a file; `nil` for none.
  let notes: String?
  fileprivate let task: TaskItem

  /// Ensures that nobody else has changed the notes meanwhile.
  ///
  /// - Throws: ``CommandFailure``.
  func checkUnchanged<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    guard let now = try transaction.task(task.id), now.notes == task.notes else {
      throw CommandFailure(
        .notFound, code: "notesChanged", "The notes were changed elsewhere while you edited them",
        remedy: "Edit them again, and copy what you need from your text")
    }
  }
}

extension Session {
  /// Opens the notes of a task in the editor, waits until it is closed, and passes the new notes to the body.
  ///
  /// The store is not open meanwhile. If anything fails, the new text stays in its file, which the error names.
  func editNotes(
    of find: (borrowing StoreReadTransaction) throws -> TaskItem, _ body: (EditedNotes) throws -> Void
  ) throws {
    let task = try read { try find($0) }
    let command = try editorCommand
    let file = try NotesFile(task.notes)
    do {
      try runEditor(command, file.path)
      try body(EditedNotes(notes: file.notes(), task: task))
    } catch {
      guard file.isUnchanged else {
        throw CommandFailure(error).adding(remedy: "Your text is in \(file.path.string.escapedForDisplay())")
      }
      file.remove()
      throw error
    }
    file.remove()
  }

  private var editorCommand: String {
    get throws {
      let names = ["VISUAL", "EDITOR"]
      if let command = try names.lazy.compactMap(invocation.environment.nonEmptyValue).first { return command }
      throw CommandFailure.usage(
        "Neither VISUAL nor EDITOR names an editor",
        remedy: "Set one of them, as in EDITOR=nano, or give the text with --notes")
    }
  }

  /// Runs the editor through the shell, as other programs do, so that its variable may hold arguments.
  private func runEditor(_ command: String, _ file: FilePath) throws {
    let status = try ForegroundProgram.run(
      "/bin/sh", ["-c", command + " \"$1\"", "sh", file.string], environment: invocation.environment.intact)
    guard status == 0 else {
      throw CommandFailure(
        .notFound, code: "editorFailed", "The editor '\(command.escapedForDisplay())' failed",
        remedy: "Check VISUAL and EDITOR; nothing was changed")
    }
  }
}

/// The file that an editor gets, in a directory that only its owner can enter.
private struct NotesFile {
  let path: FilePath
  private let original: Data

  init(_ notes: String?) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tally-edit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    path = FilePath(directory.path).appending("notes.txt")
    original = Data((notes.map { $0 + "\n" } ?? "").utf8)
    do {
      try original.write(to: URL(filePath: path.string))
    } catch {
      remove()
      throw error
    }
  }

  /// Whether the file has no text of its own, so that it can be deleted.
  var isUnchanged: Bool {
    (try? contents).map { $0 == original } ?? !FileManager.default.fileExists(atPath: path.string)
  }

  /// The notes in the file; `nil` for none.
  func notes() throws -> String? {
    guard var text = String(validating: try contents, as: UTF8.self) else {
      throw CommandFailure(
        .badData, code: "malformedDocument", "The text is not UTF-8", remedy: "Save it as UTF-8; nothing was changed")
    }
    if text.hasSuffix("\n") { text.removeLast() }
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  /// Deletes the file and its directory.
  func remove() { try? FileManager.default.removeItem(atPath: path.removingLastComponent().string) }

  private var contents: Data {
    get throws { Data(try WholeFile.read(path, atMost: Self.mostBytes)) }
  }

  /// The most bytes that a task's title and notes may take.
  private static let mostBytes = 1 << 30
}

/// Tasks that are put one after the other, before or after another task.
struct TaskRow {
  private let side: Side
  private let target: NamedTask
  /// The task next to which the next one goes.
  private var anchorID: UUID

  /// Finds the task that is named; `nil` if none is.
  init?<Base: ~Copyable>(
    before: String?, after: String?, in transaction: borrowing StoreTransaction<Base>
  ) throws {
    guard let name = before ?? after else { return nil }
    side = before == nil ? .after : .before
    target = try transaction.name(try transaction.task(named: name))
    anchorID = target.task.id
  }

  /// The place to which the tasks go, in words after a title: ` before 91bc`.
  var anchorInWords: String { " \(side) \(target.handle)" }

  /// Moves the next task to its spot.
  mutating func append(_ task: TaskItem, in transaction: inout StoreWriteTransaction) throws -> TaskItem {
    guard task.id != target.task.id else {
      throw CommandFailure.usage("A task cannot be moved next to itself", remedy: "Name two tasks")
    }
    guard side == .after else { return try transaction.move(task.id, before: anchorID) }
    let moved = try transaction.move(task.id, after: anchorID)
    anchorID = task.id
    return moved
  }
}

extension TaskRow {
  /// The ids that views show around the target, in their order; `nil` if all tasks have the target's state, as a move
  /// then always changes the order.
  func visibleOrder<Base: ~Copyable>(
    with tasks: [TaskItem], in transaction: borrowing StoreTransaction<Base>
  ) throws -> [UUID]? {
    guard tasks.contains(where: { $0.state != target.task.state }) else { return nil }
    let isDated = target.task.scheduledDate != nil
    let place: [TaskView] = target.task.listID.map { [.list($0)] } ?? (isDated ? [] : [.inbox])
    let views = place + (isDated ? [.past, .today, .upcoming] : [])
    var ids: [UUID] = []
    for view in views {
      try transaction.forEachTask(in: view) { task, _ in
        ids.append(task.id)
        return true
      }
    }
    return ids
  }
}
