import Foundation
import Tally

/// What a command changed, and how to undo it.
struct ChangeReport {
  /// The command that undoes a change.
  struct Remedy {
    let purpose: String
    let command: String

    static let undo = Remedy(purpose: "To undo", command: "undo")
    static let redo = Remedy(purpose: "To redo", command: "redo")

    /// Restores the store that a file holds.
    static func restore(file: String) -> Remedy {
      Remedy(purpose: "To undo", command: "restore \(file.shellQuoted)")
    }
  }

  var changed: [NamedTask] = []
  var deleted: [UUID] = []
  var lists: [TaskList] = []
  /// What happened, one sentence each.
  var messages: [String] = []
  /// The command that is offered.
  var remedy = Remedy.undo
  /// Whether undo is possible: the change may have been too large to record.
  var isUndoable = true
}

extension ChangeReport {
  /// Whether nothing changed.
  var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && lists.isEmpty }

  var facts: Facts {
    [
      "changed": .array(changed.map(\.facts)), "deleted": .array(deleted.map { .id($0) }),
      "lists": .array(lists.map(\.facts)),
    ]
  }

  /// Adds another change that happened after this one.
  mutating func append(_ other: ChangeReport) {
    changed += other.changed
    messages += other.messages
  }
}

extension Session {
  /// Prints a change: facts to programs, messages to people.
  func report(_ change: ChangeReport) throws {
    let layout = RecordLayout.records([("changed", NamedTask.columns), ("lists", TaskList.columns), ("deleted", [])])
    try answer(change.facts, plain: layout) { printMessages(of: change) }
  }

  private func printMessages(of change: ChangeReport) {
    let shownCount = 20
    for message in change.messages.prefix(shownCount) { say(message) }
    if change.messages.count > shownCount { say("… and \((change.messages.count - shownCount).grouped) more.") }
    guard !change.isEmpty else { return }
    say(change.isUndoable ? offer(change.remedy) : "This cannot be undone: there was no room to record it.")
  }

  /// The sentence that offers a command.
  func offer(_ remedy: ChangeReport.Remedy) -> String {
    let program = ["tally"] + (options.store.map { ["--store", $0.shellQuoted] } ?? [])
    return "\(remedy.purpose): \((program + [remedy.command]).joined(separator: " "))"
  }
}
