import Foundation
import Hummingbird
import Tally

/// A press on the circle of a task, which completes an open task and reopens a closed one.
///
/// The form says which of the two is meant, so that a second press on an old page does not do the opposite.
struct CirclePress: Sendable {
  let id: UUID
  let state: TaskState

  /// Reads the press; `nil` if another button has sent the form.
  init?(_ form: Form) throws {
    if let id = try form.id("complete") {
      (self.id, state) = (id, .completed)
    } else if let id = try form.id("reopen") {
      (self.id, state) = (id, .notStarted)
    } else {
      return nil
    }
  }
}

/// A change of one or several tasks, as a form names it.
enum TaskAction: Sendable {
  case state(TaskState)
  /// Cancels the open ones.
  case cancel
  /// Leaves out the repeating ones; the next ones follow.
  case skip
  case plan(CalendarDay?)
  case move(list: UUID?)
  /// To the inbox, which has neither list nor day.
  case inbox
  /// Before a task, and planned for a day if one is given.
  case before(UUID, CalendarDay?)
  /// After a task, and planned for a day if one is given.
  case after(UUID, CalendarDay?)
  /// Below a task, as its sub-task.
  case nest(UUID)
  /// Out of its parent, to the place of the parent.
  case unnest
  case tag(String)
  case untag(String)
  case priority(Priority)
  case delete
  /// Deletes tasks of series; the next ones follow.
  case deleteOnly

  /// Reads the fields `action`, `day`, `list`, `anchor`, `tag` and `priority` of a form.
  ///
  /// - Throws: `HTTPError` for an unknown action, errors of the library for its values.
  init(_ form: Form, _ reference: DateReference) throws {
    switch form["action"] {
    case "start": self = .state(.active)
    case "complete": self = .state(.completed)
    case "reopen": self = .state(.notStarted)
    case "cancel": self = .cancel
    case "skip": self = .skip
    case "today": self = .plan(reference.today)
    case "tomorrow": self = .plan(try reference.today.adding(days: 1))
    case "unplan": self = .plan(nil)
    case "plan":
      self = .plan(
        try refusing("day") {
          guard let day = form.text("day") else { throw HTTPError(.badRequest, message: "Choose a day first.") }
          return try DateExpression(day, as: .day).day(against: reference)
        })
    case "list":
      self = .move(
        list: try refusing("list") {
          guard let list = form.text("list") else { throw HTTPError(.badRequest, message: "Choose a list first.") }
          return list == "none" ? nil : try UUID(form: list)
        })
    case "inbox": self = .inbox
    case "before": self = .before(try Self.anchor(form), try Self.day(form, reference))
    case "after": self = .after(try Self.anchor(form), try Self.day(form, reference))
    case "nest": self = .nest(try Self.anchor(form))
    case "unnest": self = .unnest
    case "tag": self = .tag(form.text("tag") ?? "")
    case "untag": self = .untag(form.text("tag") ?? "")
    case "priority": self = .priority(try Priority(name: form["priority"] ?? ""))
    case "delete": self = .delete
    case "delete-only": self = .deleteOnly
    default: throw HTTPError(.badRequest, message: "The action is unknown.")
    }
  }

  private static func anchor(_ form: Form) throws -> UUID {
    guard let id = try form.id("anchor") else { throw HTTPError(.badRequest, message: "A place needs a neighbour.") }
    return id
  }

  /// The day of the tasks around the place of a drop.
  private static func day(_ form: Form, _ reference: DateReference) throws -> CalendarDay? {
    try form.text("day").map { try DateExpression($0, as: .day).day(against: reference) }
  }

  private static func plan(
    _ ids: [UUID], for day: CalendarDay?, in transaction: inout StoreWriteTransaction
  ) throws {
    guard let day else { return }
    for id in ids where try transaction.task(id)?.scheduledDate != day { try transaction.schedule(id, on: day) }
  }

  /// Changes the tasks, in their order.
  func apply(to ids: [UUID], in transaction: inout StoreWriteTransaction) throws {
    switch self {
    case .before(let anchor, let day):
      try Self.plan(ids, for: day, in: &transaction)
      return try transaction.move(ids, before: anchor)
    case .after(let anchor, let day):
      try Self.plan(ids, for: day, in: &transaction)
      return try transaction.move(ids, after: anchor)
    default: break
    }
    for id in ids {
      switch self {
      case .state(let state): try transaction.setState(state, of: id)
      case .cancel: if try transaction.task(id)?.isOpen == true { try transaction.cancel(id) }
      case .skip: try transaction.skip(id)
      case .plan(let day): try transaction.schedule(id, on: day)
      case .move(let list): try transaction.move(id, toList: list)
      case .inbox: try transaction.move(id, to: .inbox)
      case .before, .after: break
      case .nest(let parent): try transaction.update(id) { $0.parentID = parent }
      case .unnest:
        let parent = try transaction.task(id)?.parentID
        let grandparent = try parent.flatMap { try transaction.task($0)?.parentID }
        try transaction.update(id) { $0.parentID = grandparent }
      case .tag(let tag): try transaction.update(id) { $0.tags.insert(tag) }
      case .untag(let tag): try transaction.update(id) { $0.tags.remove(tag) }
      case .priority(let priority): try transaction.update(id) { $0.priority = priority }
      case .delete:
        // A sub-task goes with its parent.
        if try transaction.task(id) != nil { try transaction.delete(id) }
      case .deleteOnly: if try transaction.task(id) != nil { try transaction.deleteOccurrence(id) }
      }
    }
  }
}
