import Foundation
import Tally

/// One task in full, each field beside its label.
struct TaskSheet {
  let named: NamedTask
  let session: Session

  private static let labelWidth = 12

  var text: String {
    let title = named.task.title.escapedForDisplay().wrapped(toWidth: session.width ?? .max)
    let heading = title.map { session.painter.paint($0, .heading) }.joined(separator: "\n")
    return heading + "\n\n" + entries.flatMap { lines(label: $0.label, value: $0.value) }.joined(separator: "\n") + "\n"
  }

  /// The fields as `--plain` prints them, under the names that JSON uses.
  static func fields(of named: NamedTask) -> [(name: String, value: String?)] {
    let task = named.task
    return [
      ("id", task.id.text), ("handle", named.handle), ("title", task.title), ("notes", task.notes),
      ("state", task.state.name), ("scheduledDate", task.scheduledDate?.iso8601), ("dueDate", task.dueDate?.iso8601),
      ("reminderDate", task.reminderDate?.iso8601), ("listID", task.listID?.text), ("list", named.list?.name),
      ("sortOrder", String(task.sortOrder)), ("createdAt", task.createdAt.iso8601),
      ("updatedAt", task.updatedAt.iso8601), ("completedAt", task.completedAt?.iso8601),
    ]
  }
}

extension TaskSheet {
  private var entries: [(label: String, value: String)] {
    let (task, clock) = (named.task, session.clock)
    let entries: [(String, String?)] = [
      ("handle", named.handle),
      ("state", "\(task.state.glyph) \(task.state.words)"),
      ("list", named.list?.name.escapedForDisplay()),
      ("day", task.scheduledDate.map(clock.heading)),
      ("due", task.dueDate.map(dueInWords)),
      ("reminder", task.reminderDate.map(clock.name)),
      ("completed", task.completedAt.map(completionInWords)),
      ("created", clock.name(of: task.createdAt)),
      ("changed", clock.name(of: task.updatedAt)),
      ("id", task.id.text),
      ("notes", task.notes.map { $0.isEmpty ? " " : $0 }),
    ]
    return entries.compactMap { label, value in value.map { (label, $0) } }
  }

  private func dueInWords(_ due: Timestamp) -> String {
    let name = session.clock.name(of: due)
    return due < session.clock.now && !named.task.isCompleted
      ? session.painter.paint("\(name), overdue", .overdue) : name
  }

  /// The instant as the person's clock shows it, with the offset it was recorded with where that is another one.
  private func completionInWords(_ completed: OffsetTimestamp) -> String {
    let here = OffsetTimestamp(completed.instant, in: session.clock.timeZone)
    let name = session.clock.name(of: completed.instant)
    return here.utcOffsetInMinutes == completed.utcOffsetInMinutes ? name : "\(name) (\(completed.iso8601))"
  }

  /// The value's lines, the first beside the label: no line of a value can pass for a label.
  private func lines(label: String, value: String) -> [String] {
    let width = session.width.map { max(8, $0 - 2 - Self.labelWidth) } ?? .max
    // Only notes have line breaks of their own, which are kept; whatever else drives the terminal is shown.
    let lines =
      label == "notes"
      ? value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        .flatMap { $0.escapedForDisplay().wrapped(toWidth: width) }
      : session.painter.isEnabled ? [value] : value.wrapped(toWidth: width)
    return lines.enumerated().map { index, line in
      let margin = index == 0 ? label.padded(toWidth: Self.labelWidth) : String(repeating: " ", count: Self.labelWidth)
      return "  " + session.painter.paint(margin, .detail) + line
    }
  }
}
