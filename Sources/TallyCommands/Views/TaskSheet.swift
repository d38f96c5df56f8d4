import ArgumentParser
import Foundation
import Tally

/// One task in full, each field next to its label.
struct TaskSheet {
  static let shownChangeCount = 5

  let named: NamedTask
  let subtasks: [NamedTask]
  let parent: NamedTask?
  let dependencies: TaskDependencies
  let changes: [NamedChange]
  let session: Session

  /// The task; in JSON also its sub-tasks and recent changes.
  var facts: Facts {
    named.facts.adding([
      .init("subtasks", onlyIn: .json): .array(subtasks.map(\.facts)),
      .init("changes", onlyIn: .json): .array(changes.map(\.facts)),
    ])
  }

  /// The width of a label in columns, with the blanks after it; the name of a long attribute is cut.
  private static let labelWidths = 12...24

  var text: String {
    let title = named.task.title.escapedForDisplay().wrapped(toWidth: session.width ?? .max)
    let heading = title.map { session.painter.paint($0, .heading) }.joined(separator: "\n")
    let entries = entries
    let longest = entries.map(\.label.displayWidth).max() ?? 0
    let labelWidth = min(max(longest + 2, Self.labelWidths.lowerBound), Self.labelWidths.upperBound)
    let rows = entries.flatMap { lines($0.label, $0.value, $0.role, labelWidth) }
    return heading + "\n\n" + rows.joined(separator: "\n") + "\n" + parts + recentChanges
  }
}

extension TaskSheet {
  private var parts: String {
    guard !subtasks.isEmpty else { return "" }
    let rows = TaskRows(session, handleWidth: subtasks.map(\.handle.count).max() ?? 0)
    let lines = subtasks.flatMap { rows.lines(of: $0) }.map { $0 + "\n" }
    return "\n" + session.painter.paint("Sub-tasks", .heading) + "\n" + lines.joined()
  }

  private var recentChanges: String {
    guard !changes.isEmpty else { return "" }
    return "\n" + session.painter.paint("Recent changes", .heading) + "\n"
      + changes.map { $0.text(in: session) }.joined()
  }

  private typealias Entry = (label: String, value: String?, role: Painter.Role?)

  /// The values are escaped, except the line breaks of notes.
  private var entries: [Entry] {
    let (task, clock) = (named.task, session.clock)
    let isOverdue = task.isOverdue(at: clock.now, on: clock.today)
    let due = (task.dueDay.map(clock.heading) ?? task.dueDate.map(clock.name)).map {
      $0 + (isOverdue ? ", overdue" : "")
    }
    let start = task.start.map {
      ($0.day.map(clock.heading) ?? "someday") + (task.isWaiting(on: clock.today) ? ", waits" : "")
    }
    let reminders = task.reminders.isEmpty ? nil : clock.words(for: task.reminders, of: task)
    let reminder = reminders.map { $0 + (task.isReminderSnoozed ? ", this time only" : "") }
    return [
      ("handle", named.handle, nil),
      ("state", "\(task.state.glyph) \(task.state.words)", nil),
      ("list", named.list?.name.escapedForDisplay(), nil),
      ("day", task.scheduledDate.map(clock.heading), nil),
      ("start", start, nil),
      ("due", due, isOverdue ? .overdue : nil),
      ("priority", task.priority == .none ? nil : task.priority.name, nil),
      ("tags", task.tags.inWords, nil),
      ("repeats", task.recurrence?.words, nil),
      ("zone", named.series?.timeZoneIdentifier, nil),
      ("part of", parent.map { "\($0.handle) \($0.task.title.escapedForDisplay())" }, nil),
      ("depends on", dependencies.before, nil),
      ("blocks", dependencies.after, nil),
      ("cycle", dependencies.cycle, nil),
      (task.reminders.count > 1 ? "reminders" : "reminder", reminder, nil),
      ("completed", task.completedAt.map(completionInWords), nil),
      ("cancelled", task.cancelledAt.map(completionInWords), nil),
      ("created", clock.knownName(of: task.createdAt), nil),
      ("changed", clock.knownName(of: task.updatedAt), nil),
      ("id", task.id.text, nil),
      ("notes", task.notes.map(Self.escapedNotes), nil),
    ] + attributeEntries
  }

  private var attributeEntries: [Entry] {
    named.task.ownAttributes.sorted { $0.key < $1.key }.map { name, value in
      ("@" + name.escapedForDisplay(), annotations(name, value) ?? value.text.escapedForDisplay(), nil)
    }
  }

  /// The annotations of Taskwarrior, which are kept as JSON: a line for each, with its day and time.
  private func annotations(_ name: String, _ value: AttributeValue) -> String? {
    guard name == "annotations", case .text(let text) = value,
      let entries = try? JSONDecoder().decode([Annotation].self, from: Data(text.utf8)), !entries.isEmpty
    else { return nil }
    return entries.map { annotation in
      let instant = annotation.instant.map { session.clock.name(of: $0) } ?? annotation.entry.escapedForDisplay()
      return "\(instant)  \(annotation.description.escapedForDisplay())"
    }.joined(separator: "\n")
  }

  private struct Annotation: Decodable {
    let entry: String
    let description: String

    /// The instant of an entry such as `20261121T080000Z`.
    var instant: Timestamp? {
      guard entry.count == 16 else { return nil }
      var text = entry
      for (offset, mark) in [(13, ":"), (11, ":"), (6, "-"), (4, "-")] as [(Int, Character)] {
        text.insert(mark, at: text.index(text.startIndex, offsetBy: offset))
      }
      return try? Timestamp(iso8601: text)
    }
  }

  /// The instant in the person's time zone, with its recorded offset if that differs.
  private func completionInWords(_ completed: OffsetTimestamp) -> String {
    let here = OffsetTimestamp(completed.instant, in: session.clock.timeZone)
    let name = session.clock.knownName(of: completed.instant)
    guard completed.instant != TaskDocument.longAgo else { return name }
    return here.utcOffsetInMinutes == completed.utcOffsetInMinutes ? name : "\(name) (\(completed.iso8601))"
  }

  /// Escapes notes but keeps their line breaks, so that no other character can control the terminal.
  private static func escapedNotes(_ notes: String) -> String {
    notes.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
      .map { $0.escapedForDisplay() }.joined(separator: "\n")
  }

  /// The value's lines, the first next to the label, so that no line of a value can pass for a label.
  private func lines(_ label: String, _ value: String?, _ role: Painter.Role?, _ labelWidth: Int) -> [String] {
    let width = session.width.map { max(8, $0 - 2 - labelWidth) } ?? .max
    let label = label.truncated(toWidth: labelWidth - 2)
    return (value?.wrapped(toWidth: width) ?? []).enumerated().map { index, line in
      let margin = (index == 0 ? label : "").padded(toWidth: labelWidth)
      return "  " + session.painter.paint(margin, .detail) + (role.map { session.painter.paint(line, $0) } ?? line)
    }
  }
}

/// The tasks that wait for each other with a task, a line for each; `nil` for none.
struct TaskDependencies {
  /// The tasks on which it depends.
  let before: String?
  /// The open tasks that depend on it.
  let after: String?
  /// The cycle that two devices have made; its tasks do not block each other.
  let cycle: String?

  init<Base: ~Copyable>(of task: TaskItem, in transaction: borrowing StoreTransaction<Base>) throws {
    let found = try task.dependsOn.map { (id: $0, task: try transaction.task($0)) }
    let known = try found.compactMap(\.task).map { try transaction.name($0) }.map(Self.line)
    let others = found.filter { $0.task == nil }.map { "task \($0.id.shownEnd), which does not exist here" }
    before = Self.lines(known + others)
    let dependents = try transaction.dependents(of: task.id).filter(\.isOpen)
    after = Self.lines(try dependents.map { Self.line(try transaction.name($0)) })
    let ring = try transaction.dependencyCycle(of: task.id).filter { $0.id != task.id }
    cycle =
      ring.isEmpty
      ? nil
      : "waits for itself through \(try transaction.words(for: ring)), so they do not block each other; end it with "
        + "'tally edit --not-after'"
  }

  private static func line(_ named: NamedTask) -> String {
    "\(named.task.state.glyph) \(named.handle) \(named.task.title.escapedForDisplay())"
  }

  private static func lines(_ lines: [String]) -> String? { lines.isEmpty ? nil : lines.joined(separator: "\n") }
}

/// `tally show TASK`.
struct ShowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "show", "Show one task in full, with its sub-tasks and recent changes.", usage: "<task>",
    discussion: "With --plain, prints one field per line: its name, a tab, its value.")

  @Argument(help: SharedHelp.task)
  var task: String

  func run(in session: Session) throws {
    try session.showSheet { try $0.task(named: task) }
  }
}

extension Session {
  /// Prints one task in full.
  func showSheet(of task: (borrowing StoreReadTransaction) throws -> TaskItem) throws {
    let sheet = try readChanges { transaction, devices in
      let task = try task(transaction)
      let words = ChangeWords(clock: clock)
      return TaskSheet(
        named: try transaction.name(task),
        subtasks: try transaction.subtasks(of: task.id).map { try transaction.name($0) }.withHandlesOfOneLength,
        parent: try task.parentID.flatMap { try transaction.task($0) }.map { try transaction.name($0) },
        dependencies: try TaskDependencies(of: task, in: transaction),
        changes: try transaction.history(of: task.id, limit: TaskSheet.shownChangeCount).map {
          try transaction.name($0, with: words, limit: .max, by: devices)
        },
        session: self)
    }
    try answer(sheet.facts, plain: .fields, text: sheet.text)
  }
}
