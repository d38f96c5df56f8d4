import Tally

extension StoreWriteTransaction {
  /// Moves tasks next to another task, in the given order.
  mutating func moveTasks(_ tasks: [TaskItem], _ side: Side, _ anchorName: String) throws -> ChangeReport {
    var anchor = try task(named: anchorName)
    var change = ChangeReport()
    for task in tasks {
      guard task.id != anchor.id else {
        throw CommandFailure.usage("A task cannot be moved next to itself", remedy: "Name two tasks")
      }
      let moved =
        switch side {
        case .before: try move(task.id, before: anchor.id)
        case .after: try move(task.id, after: anchor.id)
        }
      let place = " \(side) \(try handle(of: anchor.id))"
      change.append(try self.change(from: task, to: moved, "Moved", place))
      if side == .after { anchor = task }
    }
    return change
  }
}
