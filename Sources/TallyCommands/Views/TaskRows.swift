import Tally

/// Lays out a task on a line: handle, glyph, title, then details.
///
/// A long title wraps under itself; details that do not fit after it are on lines of their own below.
struct TaskRows {
  /// A detail that can follow a title.
  enum Detail {
    case list, scheduledDay, completionDay
    /// The scheduled day, if it is today.
    case today
  }

  let clock: LocalClock
  let painter: Painter
  let width: Int
  let handleWidth: Int
  let hidden: Set<Detail>

  /// - Parameters:
  ///   - session: Its clock, its colours and its width.
  ///   - handleWidth: The columns of a handle.
  ///   - hidden: The details that the lines leave out.
  init(_ session: Session, handleWidth: Int, hiding hidden: Set<Detail> = []) {
    (clock, painter, width) = (session.clock, session.painter, session.width ?? .max)
    (self.handleWidth, self.hidden) = (handleWidth, hidden)
  }

  /// The lines of a task, with the ranges of its title marked that matched a search.
  func lines(of named: NamedTask, matches: [Range<String.Index>] = []) -> [String] {
    let task = named.task
    let handle = named.handle.padded(toWidth: handleWidth)
    let steps = String(repeating: "  ", count: named.depth)
    let blanks = blanksBeforeTitle(behind: named.handle) + steps
    let room = max(8, width - blanks.utf8.count)
    let title = MarkedText(task.title, matches: matches).wrapped(toWidth: room)
    var lines = title.map { $0.painted(by: painter, rest: task.isClosed ? .detail : nil) }
    lines[0] = "  " + painter.paint(handle, .handle) + " " + steps + glyph(of: task.state) + " " + lines[0]
    for index in lines.indices.dropFirst() { lines[index] = blanks + lines[index] }
    let details = details(of: named)
    let detailsWidth = details.reduce(0) { $0 + 2 + $1.text.displayWidth }
    if title[title.count - 1].plain.displayWidth + detailsWidth <= room {
      lines[lines.count - 1] = details.reduce(lines[lines.count - 1]) { $0 + "  " + $1.painted(by: painter) }
      return lines
    }
    return lines + filledLines(of: details, within: room).map { blanks + $0 }
  }
}

extension TaskRows {
  /// The blanks up to where titles begin.
  func blanksBeforeTitle(behind handle: String) -> String {
    String(repeating: " ", count: 2 + max(handleWidth, handle.utf8.count) + 3)
  }

  private struct DetailText {
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
    case .cancelled: painter.paint(state.glyph, .detail)
    }
  }

  private func details(of named: NamedTask) -> [DetailText] {
    let task = named.task
    var texts = completion(of: task)
    if let list = named.list, !hidden.contains(.list) {
      texts.append(DetailText(text: "▪ " + list.name.escapedForDisplay(), colorHex: list.colorHex))
    }
    if let day = task.scheduledDate, !hides(day) {
      let (relative, name) = (clock.relativeName(of: day), clock.name(of: day))
      let completionDay = (task.completedAt ?? task.cancelledAt).map { clock.day(of: $0.instant) }
      if completionDay == nil {
        texts.append(DetailText(text: relative == name ? "on \(name)" : relative))
      } else if completionDay != day {
        texts.append(DetailText(text: "planned \(relative)"))
      }
    }
    if let blockers = named.blockers { texts.append(DetailText(text: blockers)) }
    if task.isWaiting(on: clock.today) {
      texts.append(DetailText(text: task.start?.day.map { "waits until " + clock.name(of: $0) } ?? "someday"))
    }
    if task.isOpen { texts += duties(of: task) }
    if task.priority != .none { texts.append(DetailText(text: "\(task.priority.name) priority")) }
    texts += task.tags.map { DetailText(text: "#" + $0.escapedForDisplay()) }
    if let recurrence = task.recurrence { texts.append(DetailText(text: recurrence.words)) }
    if task.notes != nil { texts.append(DetailText(text: "+ notes")) }
    return texts
  }

  private func hides(_ day: CalendarDay) -> Bool {
    hidden.contains(.scheduledDay) || day == clock.today && hidden.contains(.today)
  }

  private func completion(of task: TaskItem) -> [DetailText] {
    guard let instant = (task.completedAt ?? task.cancelledAt)?.instant else { return [] }
    let word = task.state.words
    guard instant != TaskDocument.longAgo else { return [DetailText(text: "\(word), \(clock.knownName(of: instant))")] }
    let day = hidden.contains(.completionDay) ? "" : clock.relativeDayName(of: instant) + " "
    return [DetailText(text: "\(word) \(day)\(clock.wallTime(at: instant).clock)")]
  }

  private func duties(of task: TaskItem) -> [DetailText] {
    var texts: [DetailText] = []
    if let due = task.dueDay.map(clock.relativeName) ?? task.dueDate.map(clock.relativeName) {
      let isOverdue = task.isOverdue(at: clock.now, on: clock.today)
      texts.append(
        DetailText(text: (isOverdue ? "overdue since " : "due ") + due, role: isOverdue ? .overdue : .detail))
    }
    if let reminder = task.nextReminder(from: clock.now, in: clock.timeZone) {
      let isMissed = reminder < clock.now
      texts.append(
        DetailText(text: "reminder " + clock.relativeName(of: reminder), role: isMissed ? .overdue : .detail))
    }
    return texts
  }

  /// As many details on each line as fit; one that is longer than a line is cut.
  private func filledLines(of details: [DetailText], within width: Int) -> [String] {
    var lines: [String] = []
    var used = 0
    for var detail in details {
      detail.text = detail.text.truncated(toWidth: width)
      let detailWidth = detail.text.displayWidth
      if let last = lines.last, used + 2 + detailWidth <= width {
        lines[lines.count - 1] = last + "  " + detail.painted(by: painter)
        used += 2 + detailWidth
      } else {
        lines.append(detail.painted(by: painter))
        used = detailWidth
      }
    }
    return lines
  }
}
