import Foundation
import Tally

/// What a command changed, and how to take it back.
struct Change {
  /// The command that takes a change back.
  enum Remedy {
    case undo, redo
    /// Puts the store back that a file holds.
    case restore(file: String)

    var purpose: String {
      switch self {
      case .undo, .restore: "To take it back"
      case .redo: "To do it again"
      }
    }

    var command: String {
      switch self {
      case .undo: "undo"
      case .redo: "redo"
      case .restore(let file): "restore \(file.shellQuoted)"
      }
    }
  }

  var changed: [NamedTask] = []
  var deleted: [UUID] = []
  var lists: [TaskList] = []
  /// What happened, a sentence each.
  var messages: [String] = []
  /// What is offered for taking it back.
  var remedy = Remedy.undo
  /// Whether what is offered works: there may have been no room for what that takes.
  var isUndoable = true
}

extension Change {
  /// Whether anything is other than it was.
  var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && lists.isEmpty }

  var facts: Facts {
    [
      "changed": .array(changed.map(\.facts)), "deleted": .array(deleted.map { .id($0) }),
      "lists": .array(lists.map(\.facts)),
    ]
  }

  /// Adds what happened to one task.
  mutating func append(_ named: NamedTask, _ message: String) {
    changed.append(named)
    messages.append(message)
  }
}

extension Session {
  /// Prints a change: the result to programs, the message to people.
  func report(_ change: Change) throws {
    let layout = RecordLayout.records([("changed", NamedTask.columns), ("lists", TaskList.columns), ("deleted", [])])
    try answer(change.facts, plain: layout) { printMessages(of: change) }
  }

  private func printMessages(of change: Change) {
    let shownCount = 20
    for message in change.messages.prefix(shownCount) { say(message) }
    if change.messages.count > shownCount { say("… and \((change.messages.count - shownCount).grouped) more.") }
    guard !change.isEmpty else { return }
    say(
      change.isUndoable ? offer(change.remedy) : "It cannot be taken back: there was no room to keep what it changed.")
  }

  /// Offers the command that takes a change back, or another one that follows it.
  func offer(_ remedy: Change.Remedy) -> String {
    let program = ["tally"] + (options.store.map { ["--store", $0.shellQuoted] } ?? [])
    return "\(remedy.purpose): \((program + [remedy.command]).joined(separator: " "))"
  }
}
