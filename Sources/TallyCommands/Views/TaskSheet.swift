import Tally

/// One task in full, each field next to its label.
struct TaskSheet {
  let named: NamedTask
  let session: Session

  private static let labelWidth = 12

  var text: String {
    let title = named.task.title.escapedForDisplay().wrapped(toWidth: session.width ?? .max)
    let heading = title.map { session.painter.paint($0, .heading) }.joined(separator: "\n")
    return heading + "\n\n" + entries.flatMap(lines).joined(separator: "\n") + "\n"
  }
}

extension TaskSheet {
  /// The values are escaped, except the line breaks of notes.
  private var entries: [(label: String, value: String?, role: Painter.Role?)] {
    let (task, clock) = (named.task, session.clock)
    let isOverdue = !task.isCompleted && task.dueDate.map { $0 < clock.now } ?? false
    let due = task.dueDate.map { clock.name(of: $0) + (isOverdue ? ", overdue" : "") }
    return [
      ("handle", named.handle, nil),
      ("state", "\(task.state.glyph) \(task.state.words)", nil),
      ("list", named.list?.name.escapedForDisplay(), nil),
      ("day", task.scheduledDate.map(clock.heading), nil),
      ("due", due, isOverdue ? .overdue : nil),
      ("reminder", task.reminderDate.map(clock.name), nil),
      ("completed", task.completedAt.map(completionInWords), nil),
      ("created", clock.name(of: task.createdAt), nil),
      ("changed", clock.name(of: task.updatedAt), nil),
      ("id", task.id.text, nil),
      ("notes", task.notes.map(Self.escapedNotes), nil),
    ]
  }

  /// The instant in the person's time zone, with its recorded offset if that differs.
  private func completionInWords(_ completed: OffsetTimestamp) -> String {
    let here = OffsetTimestamp(completed.instant, in: session.clock.timeZone)
    let name = session.clock.name(of: completed.instant)
    return here.utcOffsetInMinutes == completed.utcOffsetInMinutes ? name : "\(name) (\(completed.iso8601))"
  }

  /// Notes keep their line breaks; everything else that drives the terminal is escaped.
  private static func escapedNotes(_ notes: String) -> String {
    notes.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
      .map { $0.escapedForDisplay() }.joined(separator: "\n")
  }

  /// The value's lines, the first next to the label, so that no line of a value can pass for a label.
  private func lines(_ label: String, _ value: String?, _ role: Painter.Role?) -> [String] {
    let width = session.width.map { max(8, $0 - 2 - Self.labelWidth) } ?? .max
    return (value?.wrapped(toWidth: width) ?? []).enumerated().map { index, line in
      let margin = (index == 0 ? label : "").padded(toWidth: Self.labelWidth)
      return "  " + session.painter.paint(margin, .detail) + (role.map { session.painter.paint(line, $0) } ?? line)
    }
  }
}
