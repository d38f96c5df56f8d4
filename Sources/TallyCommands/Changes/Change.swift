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

  /// Adds what happened to one task.
  mutating func append(_ named: NamedTask, _ message: String) {
    changed.append(named)
    messages.append(message)
  }
}

extension Session {
  /// Prints a change: the result to programs, the message to people.
  func report(_ change: Change) throws {
    switch options.format {
    case .json: try output.write(json(of: change))
    case .plain: try output.write(records(of: change))
    case .human: tellPeople(of: change)
    }
  }

  private func json(of change: Change) -> [UInt8] {
    TerminalSafeJSON.line { json in
      json.object { json in
        json.array("changed", of: change.changed) { json, named in json.object { $0.members(of: named) } }
        json.array("deleted", of: change.deleted) { $0.value($1) }
        json.array("lists", of: change.lists) { json, list in json.object { $0.members(of: list) } }
      }
    }
  }

  private func records(of change: Change) -> String {
    change.changed.map(PlainRecords.record).joined() + change.lists.map(PlainRecords.record).joined()
      + change.deleted.map { PlainRecords.line([$0.text]) }.joined()
  }

  private func tellPeople(of change: Change) {
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
