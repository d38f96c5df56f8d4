import Tally

extension Session {
  /// What a move did to the place of a task: ` to “Work”, tomorrow`, ` off its day; it stays in “Work”`.
  ///
  /// - Returns: the words behind the title, with a blank before them; none if the task only changed its neighbours.
  func movement(from old: TaskItem, to new: NamedTask) -> String {
    let (oldDay, newDay) = (old.scheduledDate, new.task.scheduledDate)
    let (changesList, changesDay) = (old.listID != new.task.listID, oldDay != newDay)
    guard changesList || changesDay else { return "" }
    if new.task.listID == nil, newDay == nil { return " to the inbox" }
    let list = new.list?.name.quotedForMessage
    let day = newDay.map(clock.relativeName)
    let reached = [changesList ? list : nil, changesDay ? day : nil].compactMap(\.self)
    let left = [
      changesList && list == nil ? "out of its list" : nil, changesDay && day == nil ? "off its day" : nil,
    ].compactMap(\.self)
    if reached.isEmpty {
      let rest = list.map { "in \($0)" } ?? day.map { "planned for \($0)" } ?? ""
      return " \(left.joined(separator: " and ")); it stays \(rest)"
    }
    return " to \(reached.joined(separator: ", "))" + left.map { ", \($0)" }.joined()
  }

  /// What became of the reminder of a task that got other days: `; its reminder moves to tomorrow 09:00`.
  ///
  /// - Parameters:
  ///   - old: the task before the change.
  ///   - new: the task after it.
  ///   - namesMoves: whether to say where the reminder has moved, unless the fields of the task are named anyway.
  /// - Returns: the words behind those of the change; none if there is nothing to say.
  func reminderWords(from old: TaskItem, to new: TaskItem, namingMoves namesMoves: Bool = true) -> String {
    switch new.reminderMove(from: old, in: clock.timeZone) {
    case .moved(let instant): namesMoves ? "; its reminder moves to \(clock.relativeName(of: instant))" : ""
    case .stayed(let instant): "; its reminder stays: \(clock.relativeName(of: instant))"
    case nil: ""
    }
  }
}
