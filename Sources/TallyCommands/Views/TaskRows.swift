import Tally

/// Lays out a task on a line: handle, glyph, title, then details.
///
/// If title and details do not fit on one line, the details are on lines of their own below the title.
struct TaskRows {
  /// What can follow a title.
  enum Detail {
    case list, scheduledDay, completionDay
  }

  let clock: LocalClock
  let painter: Painter
  let width: Int
  let handleWidth: Int
  let hidden: Set<Detail>

  func lines(of named: NamedTask) -> [String] {
    let task = named.task
    let handle = named.handle.padded(toWidth: handleWidth)
    let indentation = 2 + handle.utf8.count + 3
    let title = task.title.escapedForDisplay().truncated(toWidth: max(8, width - indentation))
    let details = details(of: named)
    let start = "  " + painter.paint(handle, .handle) + " " + glyph(of: task.state) + " " + paintedTitle(title, task)
    let detailsWidth = details.reduce(0) { $0 + 2 + $1.text.displayWidth }
    if indentation + title.displayWidth + detailsWidth <= width {
      return [details.reduce(start) { $0 + "  " + $1.painted(by: painter) }]
    }
    let blanks = String(repeating: " ", count: indentation)
    return [start] + filledLines(of: details, within: max(8, width - indentation)).map { blanks + $0 }
  }
}

extension TaskRows {
  private struct Note {
    var text: String
    var role = Painter.Role.detail
    var colorHex: String?

    func painted(by painter: Painter) -> String {
      colorHex.map { painter.paint(text, colorHex: $0) } ?? painter.paint(text, role)
    }
  }

  private func glyph(of state: TaskState) -> String {
    switch state {
    case .notStarted: state.glyph
    case .active: painter.paint(state.glyph, .active)
    case .completed: painter.paint(state.glyph, .done)
    }
  }

  private func paintedTitle(_ title: String, _ task: TaskItem) -> String {
    task.isCompleted ? painter.paint(title, .detail) : title
  }

  private func details(of named: NamedTask) -> [Note] {
    let task = named.task
    var notes: [Note] = []
    if let list = named.list, !hidden.contains(.list) {
      notes.append(Note(text: "#" + list.name.escapedForDisplay(), colorHex: list.colorHex))
    }
    if let day = task.scheduledDate, !hidden.contains(.scheduledDay) {
      let (relative, name) = (clock.relativeName(of: day), clock.name(of: day))
      notes.append(Note(text: relative == name ? "on \(name)" : relative))
    }
    if let completed = task.completedAt {
      let time = clock.wallTime(at: completed.instant)
      let isDayShown = hidden.contains(.completionDay)
      notes.append(Note(text: isDayShown ? time.clock : "done \(clock.relativeName(of: time.day)) \(time.clock)"))
    } else {
      notes += duties(of: task)
    }
    if task.notes != nil { notes.append(Note(text: "+ notes")) }
    return notes
  }

  private func duties(of task: TaskItem) -> [Note] {
    var notes: [Note] = []
    if let due = task.dueDate {
      let isOverdue = due < clock.now
      let text = (isOverdue ? "overdue since " : "due ") + clock.relativeName(of: due)
      notes.append(Note(text: text, role: isOverdue ? .overdue : .detail))
    }
    if let reminder = task.reminderDate, reminder >= clock.now {
      notes.append(Note(text: "reminder " + clock.relativeName(of: reminder)))
    }
    return notes
  }

  /// As many details on each line as fit; one that is longer than a line is cut.
  private func filledLines(of notes: [Note], within width: Int) -> [String] {
    var lines: [String] = []
    var used = 0
    for var note in notes {
      note.text = note.text.truncated(toWidth: width)
      let noteWidth = note.text.displayWidth
      if let last = lines.last, used + 2 + noteWidth <= width {
        lines[lines.count - 1] = last + "  " + note.painted(by: painter)
        used += 2 + noteWidth
      } else {
        lines.append(note.painted(by: painter))
        used = noteWidth
      }
    }
    return lines
  }
}
