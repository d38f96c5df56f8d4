import Foundation
import Hummingbird
import Tally

/// A change of one or several tasks, as a form names it.
enum TaskAction: Sendable {
  /// To the next of the three states.
  case advance
  case state(TaskState)
  case plan(CalendarDay?)
  case move(list: UUID?)
  /// To the inbox, which has neither list nor day.
  case inbox
  case before(UUID)
  case after(UUID)
  /// Below a task, as its sub-task.
  case nest(UUID)
  /// Out of its parent, to where that is.
  case unnest
  case tag(String)
  case untag(String)
  case priority(Priority)
  case delete

  /// Reads the fields `action`, `day`, `list`, `anchor`, `tag` and `priority` of a form.
  ///
  /// - Throws: `HTTPError` for an unknown action, errors of the library for its values.
  init(_ form: Form, _ reference: DateReference) throws {
    switch form["action"] {
    case nil, "advance": self = .advance
    case "start": self = .state(.active)
    case "complete": self = .state(.completed)
    case "reopen": self = .state(.notStarted)
    case "today": self = .plan(reference.today)
    case "tomorrow": self = .plan(try reference.today.adding(days: 1))
    case "unplan": self = .plan(nil)
    case "plan":
      guard let day = form.text("day") else { throw HTTPError(.badRequest, message: "Choose a day first.") }
      self = .plan(try DateExpression(day, as: .day).day(against: reference))
    case "list":
      guard let list = form.text("list") else { throw HTTPError(.badRequest, message: "Choose a list first.") }
      self = .move(list: list == "none" ? nil : try UUID(form: list))
    case "inbox": self = .inbox
    case "before": self = .before(try Self.anchor(form))
    case "after": self = .after(try Self.anchor(form))
    case "nest": self = .nest(try Self.anchor(form))
    case "unnest": self = .unnest
    case "tag": self = .tag(form.text("tag") ?? "")
    case "untag": self = .untag(form.text("tag") ?? "")
    case "priority": self = .priority(try Priority(name: form["priority"] ?? ""))
    case "delete": self = .delete
    default: throw HTTPError(.badRequest, message: "The action is unknown.")
    }
  }

  private static func anchor(_ form: Form) throws -> UUID {
    guard let id = try form.id("anchor") else { throw HTTPError(.badRequest, message: "A place needs a neighbour.") }
    return id
  }

  /// Changes the tasks, in their order.
  func apply(to ids: [UUID], in transaction: inout StoreWriteTransaction) throws {
    switch self {
    case .before(let anchor): return try transaction.move(ids, before: anchor)
    case .after(let anchor): return try transaction.move(ids, after: anchor)
    default: break
    }
    for id in ids {
      switch self {
      case .advance: try transaction.advanceState(of: id)
      case .state(let state): try transaction.setState(state, of: id)
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
      }
    }
  }
}
